"""Invalid descriptions of experiments.

All problems are reported at once, each with its place. The status is 2, and nothing is left behind.
"""

import datetime
import random
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cellyard import _engine, experiment as ex
from cellyard.experiment import examples as experiments, reading
from cellyard.experiment.description.problems import Problems, dotted
from cellyard.scenario import examples
from cellyard.system.errors import ExperimentError, UsageError
from conftest import Cli
from hypothesis import given, settings, strategies as st

GOOD = """\
name = "good"
base = { example = "lan-5" }
metrics = ["efficiency", "cell_loss_ratio"]
replications = 2

[[axis]]
path = "switch.west.ubr.buffer"
values = ["500 cells", "1000 cells"]

[question]
kind = "find"
axis = "buffer"
require = ["cell_loss_ratio < 0.001"]
"""

AXIS = 'path = "switch.west.ubr.buffer"'
VALUES = 'values = ["500 cells", "1000 cells"]'
#: Replacements in the valid description, and the beginning and a part of the expected error.
WRONG = {
    "path": (AXIS, 'name = "buffer"\npath = "switch.west.ubr.bufer"', "8:1: axis[0].path: switch[0].ubr.bufer", "did you mean `buffer`?"),
    "place": (AXIS, 'path = "switch.wset.ubr.buffer"', "7:1: axis[0].path: switch.wset.ubr.buffer", "did you mean `west`?"),
    "empty": (VALUES, "values = []", "8:1: axis[0].values = []: empty list", "one value or more"),
    "value": (VALUES, 'values = ["500 cells", "10 frames"]', "8:24: axis[0].values[1]: ", "unknown unit `frames`"),
    "elsewhere": (
        AXIS + "\n" + VALUES,
        'name = "buffer"\npath = "host.source.count"\nvalues = [5, 3]',
        '9:14: axis[0].values[1] = "3": vc[0].to = "sink": names a group of 5, but `from` is a group of 3',
        "groups of the same size",
    ),
    "set": (
        "replications = 2",
        'replications = 2\nset = { "host.source.count" = 4 }',
        '5:9: set.host.source.count = 4: vc[0].to = "sink": names a group of 5, but `from` is a group of 4',
        "groups of the same size",
    ),
    "set next to an axis": (
        "replications = 2",
        'replications = 2\nset = { "switch.west.ubr.buffer" = "10 cells" }',
        '8:1: axis[0].path = "switch.west.ubr.buffer": `set` sets it too; set each path once',
        "",
    ),
    "set next to an axis, spelled otherwise": (
        "replications = 2",
        'replications = 2\nset = { "switch.0.ubr.buffer" = "10 cells" }',
        '8:1: axis[0].path = "switch.west.ubr.buffer": `set` sets it too, spelled `switch.0.ubr.buffer`; set each path once',
        "",
    ),
    "set twice": (
        "replications = 2",
        'replications = 2\nset = { "vc.start" = "1 s", "vc.0.start" = "2 s", "vc.vc1.start" = "3 s" }',
        '5:29: set.vc.0.start = "2 s": `set` sets it twice, spelled `vc.start`; set each path once',
        "",
    ),
    "values": (VALUES, "values = 3", "8:1: axis[0].values = 3: is not a list", "a list"),
    "component": (
        f"{AXIS}\n{VALUES}", 'name = "buffer"\npath = "switch.west.ubr.drop"\nvalues = ["epd", { kind = "fba" }]',
        "9:18: axis[0].values[1]: switch[0].ubr.drop.policy: is missing, and `kind` is an unknown field", "did you mean `policy`?",
    ),
    "column of the answer": (
        f'{AXIS}\n{VALUES}\n\n[question]\nkind = "find"\naxis = "buffer"',
        f'{AXIS}\nname = "share_low"\n{VALUES}\n\n[question]\nkind = "find"\naxis = "share_low"',
        '8:1: axis[0].name = "share_low": names a column of the answer', "a name other than share, share_low,",
    ),
    "column": (
        '["efficiency", "cell_loss_ratio"]', '{ buffer_cells = "totals.max_queue_cells", cell_loss_ratio = "totals.cell_loss_ratio" }',
        '6:1: axis[0].name = "buffer": gets the column buffer_cells, which is also a metric', "a different name for the axis",
    ),
    "item": (VALUES, "values = [[1]]", "7:1: axis[0].path: switch[0].ubr.buffer = [1]: must not be a list", "unlimited"),
    "neither": (VALUES, "", "6:1: axis[0]: needs either values or range", "range = {"),
    "runs": (
        "replications = 2",
        "replications = 100000\n" + '[[axis]]\npath = "seed"\nrange = { from = 1, to = 1000, steps = 1000 }\n',
        "14:2: question: the experiment has 300000000 runs",
        "at most 10000000",
    ),
    "requirement": ("cell_loss_ratio < 0.001", "cell_loss < 0.001", "13:12: question.require[0] = ", "did you mean `cell_loss_ratio`?"),
    "condition": ("cell_loss_ratio < 0.001", "cell_loss_ratio", "13:12: question.require[0] = ", "is not a comparison"),
    "question": ('kind = "find"', 'kind = "fnd"', '11:1: question.kind = "fnd": unknown question', "did you mean `find`?"),
    "metric": ('"efficiency"', '"eficiency"', "3:12: metrics[0] = ", "did you mean `efficiency`?"),
    "vc": ('"efficiency"', '"vc.vc9.cells_dropped"', '3:12: metrics[0] = "vc9": unknown vc', "did you mean `vc1`?"),
    "formula": (
        'metrics = ["efficiency", "cell_loss_ratio"]',
        'metrics = { efficiency = "efficiency", ratio = "efficiency / lost" }',
        '3:40: metrics.ratio = "lost": is neither a metric of the experiment nor a total',
        "efficiency, ",
    ),
    "formula of a formula": (
        'metrics = ["efficiency", "cell_loss_ratio"]',
        'metrics = { efficiency = "efficiency", twice = "2 * efficiency", more = "twice + 1" }',
        '3:66: metrics.more = "twice": is itself a formula',
        "efficiency",
    ),
    "formula of paths": (
        'metrics = ["efficiency", "cell_loss_ratio"]',
        'metrics = { efficiency = "efficiency", ratio = "vc.vc1.goodput_mbps / vc.vc2.goodput_mbps" }',
        "3:40: metrics.ratio = ",
        "a formula of other metrics by their names, such as `near / far`",
    ),
    "malformed formula": (
        'metrics = ["efficiency", "cell_loss_ratio"]', 'metrics = { b = "efficiency +", cell_loss_ratio = "cell_loss_ratio" }',
        '3:13: metrics.b = "efficiency +": malformed formula: it is not a valid expression', "a formula of other metrics",
    ),
    "number in a formula": (
        'metrics = ["efficiency", "cell_loss_ratio"]', 'metrics = { b = "efficiency * 1e400", cell_loss_ratio = "cell_loss_ratio" }',
        '3:13: metrics.b = "efficiency * 1e400": malformed formula: it has a number above 1.8e+308: `1e400`', "a formula of",
    ),
    "bracket in a formula": (
        'metrics = ["efficiency", "cell_loss_ratio"]', 'metrics = { b = "100 * cell_loss_ratio )", cell_loss_ratio = "cell_loss_ratio" }',
        '3:13: metrics.b = "100 * cell_loss_ratio )": malformed formula: it is not a valid expression', "a formula of",
    ),
    "metrics": ('metrics = ["efficiency", "cell_loss_ratio"]', 'metrics = "efficiency"', "3:1: metrics = ", "is neither a list"),
    "example": ('"lan-5"', '"lan-6"', "2:10: base.example = ", "did you mean `lan-5`?"),
    "base": ('example = "lan-5"', 'file = "none.toml"', "2:10: base.file = ", "No such file"),
    "replications": ("replications = 2", "replications = 0", "4:1: replications = 0: is out of range", "from 1 to 100000"),
    "type": ("replications = 2", 'replications = "two"', "4:1: replications = ", "is not a whole number"),
    "field": ("replications = 2", "replicatons = 2", "4:1: replicatons = 2: unknown field", "did you mean `replications`?"),
    "axis": ('axis = "buffer"', 'axis = "bufer"', "12:1: question.axis = ", "did you mean `buffer`?"),
    "unit": (VALUES, 'range = { from = "1 cells", to = "2 kB", steps = 2 }', "8:29: axis[0].range.to = ", "the unit of `from`: cells"),
    "turned": (VALUES, "range = { from = 5, to = 2, steps = 2 }", "8:21: axis[0].range.to = 2: is not above", "more than `from`"),
    "not TOML": ("replications = 2", "replications = = 2", "4:16: not TOML", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_one_mistake_is_one_clear_error_and_leaves_nothing_behind(case: str, cli: Cli, tmp_path: Path) -> None:
    old, new, begins, has = WRONG[case]
    assert old in GOOD
    (tmp_path / "bad.toml").write_text(GOOD.replace(old, new))
    told = cli.refused("experiment", "run", "bad.toml", "--out", "results")
    (line,) = told.splitlines()
    assert line.startswith(f"bad.toml:{begins}"), line
    assert has in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.toml"]


def test_all_mistakes_are_reported_at_once_in_line_order(cli: Cli, tmp_path: Path) -> None:
    text = GOOD
    for case in ("field", "metric", "path", "question"):
        text = text.replace(*WRONG[case][:2])
    (tmp_path / "bad.toml").write_text(text)
    told = cli.refused("experiment", "check", "bad.toml")
    assert [int(line.split(":")[1]) for line in told.splitlines()] == [3, 4, 8, 12]


def test_mistakes_in_python_give_the_same_errors_without_lines() -> None:
    with pytest.raises(ExperimentError) as raised:
        ex.Experiment(
            name="bad",
            base=examples.scenario("lan-5"),
            axes=[ex.Axis("switch.west.ubr.bufer", ["500 cells"]), ex.Axis("seed", [])],
            metrics=["efficency"],
            question=ex.Find("buffer", ["efficiency > 0"]),
        )
    assert {problem.path for problem in raised.value.problems} >= {"axis[0].path", "axis[1].values", "metrics[0]"}
    assert all(problem.line is None for problem in raised.value.problems)
    with pytest.raises(UsageError, match="must be an Axis"):
        ex.Experiment(name="bad", base=examples.scenario("lan-5"), axes=["x"], metrics=["efficiency"])  # type: ignore[list-item]


def test_a_formula_of_a_faulty_metric_is_not_reported_too() -> None:
    for formula, blamed in (("loss / 2", []), ("loss / lost", [("metrics.ratio", '"lost"')])):
        metrics = f'{{ loss = "cell_los_ratio", ratio = "{formula}" }}'
        with pytest.raises(ExperimentError) as raised:
            ex.Experiment.from_toml(GOOD.replace('["efficiency", "cell_loss_ratio"]', metrics))
        reported = [(problem.path, problem.value) for problem in raised.value.problems if "metrics" in problem.path]
        assert reported == [("metrics.loss", '"cell_los_ratio"'), *blamed]


def test_a_condition_runs_no_code() -> None:
    for text in (
        "__import__('os')",
        "x.y < 1",
        "(lambda: 1)() < 2",
        "[1] < 2",
        "open('x') < 1",
        "1 < 2 if x else 3",
        "x" * 999,
    ):
        with pytest.raises(ExperimentError):
            ex.Experiment.from_toml(GOOD.replace("cell_loss_ratio < 0.001", text))


KEYS = st.sampled_from(["a", "b-c", "dé f", "x.y", "1", 'q"q'])
VALUES_OF = st.recursive(
    st.one_of(st.integers(-5, 5), st.booleans(), st.sampled_from(["", "a # b", "], }", 'q"', "two\nlines"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYS, VALUES_OF, max_size=4))
def test_every_key_has_its_line_and_column(data: dict[str, Any]) -> None:
    from cellyard.system.values import toml

    def key(name: str) -> str:
        return toml({name: 0})[2 : -len(" = 0 }")]

    lines = [f"  {key(name)}  =  {toml(value)} # x = 1" for name, value in data.items()]
    text = "# first\n" + "\n".join(lines) + "\n"
    read, found = _engine.read_tree(text, "")
    assert read == data == tomllib.loads(text)
    for number, name in enumerate(data):
        assert found[name,] == (number + 2, 3)

    def check(value: Any, path: tuple[str | int, ...]) -> None:
        assert path in found, dotted(path)
        for step, inner in (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        ):
            check(inner, (*path, step))

    for name, value in data.items():
        check(value, (name,))


def test_headers_lists_and_multiline_strings_have_lines_and_columns() -> None:
    text = 'a.b = 1\n[t."u v"]\nx = """\n]\n"""\n[[l]]\ny = [\n  1,\n  # no\n  2,\n]\n'
    text += "[l.in]\nz = 1979-05-27 07:32:00\n[[l]]\ny = '''a'''\n"
    found = _engine.read_tree(text, "")[1]
    assert (found["a",], found["a", "b"]) == ((1, 1), (1, 3))
    assert found["t", "u v"] == (2, 4)
    assert found["t", "u v", "x"] == (3, 1)
    assert (found["l", 0], found["l", 0, "y", 1], found["l", 0, "in", "z"]) == ((6, 1), (10, 3), (13, 1))
    assert (found["l", 1], found["l", 1, "y"]) == ((14, 1), (15, 1))


def test_an_inline_table_over_several_lines_is_read_as_in_a_scenario(lan: Path) -> None:
    text = f"""name = "e"
base = {{
    file = "{lan}",
}}
metrics = ["efficiency"]
question = {{
    kind = "precision",
    within = {{ efficiency = 0.1 }},  # a comment
}}
"""
    experiment = ex.Experiment.from_toml(text)
    assert isinstance(experiment.question, ex.Precision) and experiment.question.within


def test_a_missing_library_is_named_with_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = ex.Experiment.from_toml(GOOD)
    outcome = ex.Outcome(experiment)
    for name in ("polars", "pandas", "scipy"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"need the package polars: pip install polars"):
        outcome.to_frame()
    with pytest.raises(UsageError, match="need the package pandas: pip install pandas"):
        outcome.to_frame("pandas")
    from cellyard.experiment.description import design

    with pytest.raises(UsageError, match=r"designs cannot be used without scipy: pip install scipy"):
        design.load_scipy("designs")


WEIRD: list[Any] = [
    None, True, -1, 0, 3, 1e308, float("nan"), float("inf"), "", " ", "x", "\x00", "\ud800", "1 cells", "0 cells", "sobol", "*",
    [], [[]], {}, {"": 1}, {"kind": []}, ["a", 1], [None], {"a": {"b": [datetime.date(1996, 1, 1)]}}, datetime.date(1996, 1, 1),
    10**40, ["efficiency"], {"efficiency": "efficiency"}, "max(port.*.max_queue_cells)", {"from": 1, "to": 2}, "efficiency < 1",
]  # fmt: skip


def paths_of(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for step, inner in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from paths_of(inner, (*path, step))


def replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    if isinstance(data, dict):
        return {**data, path[0]: replaced(data[path[0]], path[1:], value)}
    return [replaced(item, path[1:], value) if index == path[0] else item for index, item in enumerate(data)]


@pytest.mark.parametrize("name", ["buffer", "minimum-rate", "policies", "precise", "service", "what-matters"])
def test_any_value_anywhere_is_read_or_refused(name: str) -> None:
    """Puts odd values in place of any field of a description.

    Each question is tried, with 40 values chosen by a fixed seed.
    """
    data = tomllib.loads(experiments.text(name))
    data["base"] = {"example": "lan-5"}
    data["set"] = {"switch.west.ubr.drop": "fba", "duration": "1 s"}
    for axis in data["axis"]:
        data["set"].pop(axis["path"], None)
    data["constraints"] = ["1 < 2"]
    cases = [(path, value) for path in paths_of(data) if path for value in WEIRD]
    refused = 0
    for path, value in random.Random(1996).sample(cases, 40):
        try:
            reading.read(replaced(data, path, value), Problems(), Path())
        except ExperimentError as error:
            refused += 1
            assert error.problems
    assert refused > 10


CONSTRAINED = """\
name = "constrained"
base = { example = "lan-5" }
metrics = ["efficiency"]
constraints = ["policy > 3"]
question = { kind = "table" }
[[axis]]
path = "switch.west.ubr.drop"
name = "policy"
values = ["epd", "tail-drop"]
"""


def test_a_constraint_that_cannot_be_evaluated_is_an_error(cli: Cli, tmp_path: Path) -> None:
    for condition, fault in {
        "policy > 3": "compares a number with a text",
        "2 * policy > 3": "does arithmetic with the text `epd`, which can only be compared",
    }.items():
        (tmp_path / "constrained.toml").write_text(CONSTRAINED.replace("policy > 3", condition))
        told = cli.refused("experiment", "check", "constrained.toml")
        message = f"constrained.toml:4:1: constraints: cannot be evaluated at every point: the condition `{condition}` {fault}"
        assert told == f"{message}, at policy = epd\n"


def test_unlimited_is_infinite_in_constraints() -> None:
    axis = ex.Axis("switch.west.ubr.buffer", ["100 cells", "unlimited", "500 cells"])
    for constraint, allowed in {
        "buffer >= 500": ["unlimited", "500 cells"],
        "buffer != 'unlimited'": ["100 cells", "500 cells"],
        "0.5 * buffer < 100": ["100 cells"],
    }.items():
        base = examples.scenario("lan-5")
        experiment = ex.Experiment(name="u", base=base, axes=[axis], metrics=["efficiency"], constraints=[constraint])
        assert [point.labels["buffer"] for point in experiment.plan.points()] == allowed


def test_a_metric_may_not_have_the_name_of_a_column(cli: Cli, tmp_path: Path) -> None:
    text = CONSTRAINED.replace('constraints = ["policy > 3"]\n', "").replace('["efficiency"]', '{ runs = "timeouts" }')
    (tmp_path / "named.toml").write_text(text)
    told = cli.refused("experiment", "check", "named.toml")
    assert "reserved name" in told


BIG = """\
name = "big"
base = { example = "lan-5" }
metrics = ["efficiency"]
replications = 1
question = "table"
"""


def big(*axes: str) -> str:
    return BIG + "".join(f"\n[[axis]]\n{axis}\n" for axis in axes)


RESERVE = 'path = "switch.west.ubr.drop.reserve"\nvalues = [{}]'
BUFFERS = 'path = "switch.west.ubr.buffer"\nrange = {{ from = "{} cells", to = "2000 cells", steps = 60 }}'
SEEDS = 'path = "seed"\nrange = { from = 1, to = 60, steps = 60 }'


def test_an_invalid_pair_of_values_is_found_in_a_sampled_grid(tmp_path: Path) -> None:
    """The value works with the buffer of the base.

    It is neither the first nor the last nor the middle value of its axis.
    """
    fine = ", ".join(f'"{cells} cells"' for cells in range(100, 130))
    file = tmp_path / "lan.toml"
    file.write_text(examples.text("lan-5").replace("1000 cells", "2000 cells"))
    late = big(BUFFERS.format(1000), RESERVE.format(f'{fine}, "1900 cells", "100 cells"'), SEEDS)
    with pytest.raises(ExperimentError, match=r"the values .*reserve = 1900 cells.* are invalid together"):
        ex.Experiment.from_toml(late.replace('example = "lan-5"', f'file = "{file}"'))
    many = ex.Experiment.from_toml(big(BUFFERS.format(1000), RESERVE.format(fine), SEEDS))
    points = many.plan.checked_points(1000)
    tried = {
        (axis.name, level) for point in points for axis in many.plan.axes for level in [dict(point.levels)[axis.name]]
    }
    assert tried == {(axis.name, level) for axis in many.plan.axes for level in axis.levels}
    assert len(points) <= 2 * (60 + 30 + 60) + 200 < many.expected().points == 60 * 30 * 60
    assert many.plan.checked_points(1000) == points


def test_an_invalid_value_in_a_long_list_is_reported_with_its_index() -> None:
    values = ", ".join(f'"{1000 + i} cells"' for i in range(1500)) + ', "12 frames"'
    with pytest.raises(ExperimentError, match=r"axis\[0\]\.values\[1500\]: .*unknown unit `frames`"):
        ex.Experiment.from_toml(big(f'path = "switch.west.ubr.buffer"\nvalues = [{values}]', SEEDS))


def test_repeated_values_cannot_be_compared_or_searched() -> None:
    axes = (
        'path = "switch.west.ubr.buffer"\nvalues = ["500 cells", "500 cells"]\ntogether = "a"',
        'path = "switch.west.ubr.drop"\nvalues = ["epd", "tail-drop"]\ntogether = "a"',
    )
    for question in (
        '{ kind = "compare", axis = "buffer" }',
        '{ kind = "find", axis = "buffer", require = "efficiency > 0" }',
    ):
        text = big(*axes).replace('"table"', question).replace("replications = 1", "replications = 2")
        with pytest.raises(ExperimentError, match=r'question\.axis = "buffer": has (repeated values|only one value)'):
            ex.Experiment.from_toml(text)


def test_a_fault_of_an_axis_is_not_reported_again_in_the_question() -> None:
    question = ex.Compare("buffer", ["efficiency"], against="small")
    axis = ex.Axis("switch.west.ubr.buffer", ["500 cells", "1000 cells"], labels=["small"])
    base = examples.scenario("lan-5")
    with pytest.raises(ExperimentError) as refused:
        ex.Experiment(name="x", base=base, axes=[axis], metrics=["efficiency"], question=question)
    assert str(refused.value) == (
        'axis[0].labels = ["small"]: has 1 label for 2 values (allowed: one label for each value of a list)'
    )


@pytest.mark.parametrize(
    ("metrics", "require", "place"),
    [
        ('["p99_transfr_s"]', "p99_transfr_s < 20 ms", "metrics[0]"),
        ('{ p99 = "p99_transfr_s" }', "p99 < 20 ms", "metrics.p99"),
        ('{ p99 = "max(vc.*.completd_s)" }', "p99 < 20 ms", "metrics.p99"),
        ('{ p99 = "p99_transfr_s", twice = "2 * p99" }', "twice < 20 ms", "metrics.p99"),
        ('"p99_transfer_s"', "p99_transfer_s < 20 ms", "metrics"),
        ('["p99_transfer_s"]', "p99_transfr_s < 20 ms", "question.require[0]"),
    ],
)
def test_an_unknown_metric_is_one_error_where_a_condition_has_a_unit(metrics: str, require: str, place: str) -> None:
    text = GOOD.replace('["efficiency", "cell_loss_ratio"]', metrics).replace("cell_loss_ratio < 0.001", require)
    with pytest.raises(ExperimentError) as raised:
        ex.Experiment.from_toml(text)
    (problem,) = raised.value.problems
    assert problem.path == place and "unit" not in problem.message
