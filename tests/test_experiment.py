"""Experiments with the engine: command line, results and their folder, ready experiments, pages and frames."""

import csv
import json
import os
import pty
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cellyard import experiment as ex
from cellyard.commands.tables import answer_tables
from cellyard.experiment import examples, reading
from cellyard.experiment.description.problems import Problems
from cellyard.experiment.records import interval_of, merge_joint_axes
from cellyard.scenario import Scenario, examples as scenarios
from cellyard.show.text import format_range, format_value
from cellyard.store import open_store
from cellyard.system.errors import ExperimentError, UsageError
from conftest import ROOT, Cli, shown_until_the_end, stored

SMALL = """\
name = "small"
title = "Is EPD better here?"
base = { file = "lan.toml" }
metrics = { efficiency = "efficiency", queue = "max(port.*.max_queue_cells)" }
replications = 3

[set]
duration = "200 ms"

[[axis]]
name = "policy"
path = "switch.west.ubr.drop"
values = ["tail-drop", "epd", { policy = "fba", z = 0.8 }]

[[axis]]
path = "switch.west.ubr.buffer"
values = ["300 cells", "500 cells"]

[question]
kind = "table"
"""


@pytest.fixture
def small(lan: Path) -> Path:
    """Return a small valid experiment next to its base."""
    path = lan.parent / "small.toml"
    path.write_text(SMALL)
    return path


def test_run_answers_and_writes_its_files(small: Path, cli: Cli, tmp_path: Path) -> None:
    shown = cli.ok("experiment", "run", small, "--out", "results")
    assert "Is EPD better here?" in shown
    assert "6 points, 3 replications of each." in shown
    assert "\npoints of the axes, means of the runs, 95 % intervals:\n" in shown
    assert re.search(r"engine \S+: \d+\.\d s of CPU time in the engine, ", shown)
    folder = tmp_path / "results"
    document = json.loads((folder / "results.json").read_text())
    assert (document["complete"], document["runs"]) == (True, 18)
    points, runs = (list(csv.DictReader((folder / f"{name}.csv").open())) for name in ("points", "runs"))
    assert [(point["policy"], point["buffer_cells"]) for point in points] == [
        (policy, buffer) for policy in ("tail-drop", "epd", "fba z=0.8") for buffer in ("300", "500")
    ]
    efficiencies = [float(run["efficiency"]) for run in runs if run["policy"] == "epd" and run["buffer_cells"] == "500"]
    assert float(points[3]["efficiency.mean"]) == pytest.approx(sum(efficiencies) / 3)
    scenario = Scenario.read(tmp_path / "lan.toml", overrides={"duration": "200 ms"})
    assert efficiencies == scenario.with_values({"switch.west.ubr.drop": "epd"}).run(replications=3).values(
        "efficiency"
    )
    # Means of counts have at most one decimal.
    assert any(point["queue"]["mean"] % 1 for point in document["points"])
    for point, line in zip(document["points"], shown.partition("\npoints")[2].splitlines()[3:], strict=False):
        queue = point["queue"]
        assert isinstance(queue["min"], int) and isinstance(point["efficiency"]["min"], float)
        mean, ends = format_value(queue["mean"], is_count=True), interval_of(point, "queue")
        expected = [mean, format_range(ends, is_count=True)] if ends else [mean, "all", "equal"]
        assert line.split()[-len(expected) :] == expected
    # The folder has what a repetition needs.
    assert (folder / "experiment.toml").read_text() == SMALL and Scenario.read(folder / "base.toml") == scenario
    (folder / "lan.toml").write_text((folder / "base.toml").read_text())
    cli.ok("experiment", "check", folder / "experiment.toml")
    # A report, and an added metric, need no new run.
    small.write_text(SMALL.replace("metrics = {", 'metrics = { fairness = "fairness",'))
    cli.ok("experiment", "report", small, "--out", "results")
    assert "seed 1,\nall from the store.</p>" in (folder / "index.html").read_text()
    document = json.loads((folder / "results.json").read_text())
    assert document["timing"]["cpu_seconds"] == 0 < document["points"][0]["fairness"]["mean"]


@pytest.mark.parametrize("points", [100, 101])
def test_a_long_table_counts_omitted_points_and_names_the_full_file(lan: Path, cli: Cli, points: int) -> None:
    path = lan.parent / "long.toml"
    path.write_text(
        'name = "long"\nbase = { file = "lan.toml" }\nset = { duration = "10 us" }\nreplications = 1\nmetrics = ["cells"]\n'
        f'[[axis]]\npath = "seed"\nvalues = {list(range(1, points + 1))}\n[question]\nkind = "table"\n'
    )
    plain, there = (
        cli("experiment", "run", path).stdout,
        cli("experiment", "run", path, "--out", cli.folder / "o").stdout,
    )
    _, _, lines = plain.partition("\npoints")
    assert len(lines.partition("\n\n")[0].splitlines()) == 3 + 100
    assert ("1 more point: --format csv prints all, --out DIR writes all to points.csv" in plain) == (points > 100)
    assert (f"1 more point: {cli.folder / 'o' / 'points.csv'} has all" in there) == (points > 100)
    assert len((cli.folder / "o" / "points.csv").read_text().splitlines()) == 1 + points


def test_a_metric_can_be_a_formula_of_others_in_each_run() -> None:
    base = scenarios.scenario("lan-5").with_values({"duration": "1 s"})
    formulas = {"part": "mine / goodput_mbps", "none": "1 / (mine - mine)", "most": "max(mine, 2 * mine)"}
    asked = ex.Experiment(name="shares", base=base, metrics={**formulas, "mine": "vc.vc1.goodput_mbps"}, replications=3)
    (measured,) = asked.run().measured.values()
    samples = [measured[replication] for replication in range(3)]
    runs = base.run(replications=3)
    mine = [run.vcs["vc1"].goodput_mbps for run in runs]
    assert [sample["most"] for sample in samples] == [2 * goodput for goodput in mine]
    assert [sample["part"] for sample in samples] == [
        goodput / run.totals.goodput_mbps for goodput, run in zip(mine, runs, strict=True)
    ]
    assert {sample["none"] for sample in samples} == {None}
    # The direction of a formula is unknown, and so are bounds of its mean.
    with pytest.raises(ExperimentError, match=r"better\.part.*is missing"):
        ex.Experiment(
            name="better",
            base=base,
            axes=[ex.Axis("switch.west.ubr.drop", ["epd", "fba"], name="drop")],
            metrics={"part": "efficiency - fairness"},
            question=ex.Compare("drop"),
        )


def test_an_interrupt_keeps_finished_runs_and_the_next_run_continues(lan: Path, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(SMALL.replace("200 ms", "2 s").replace("replications = 3", "replications = 20"))
    command = [sys.executable, "-c", INTERRUPTED, "experiment", "run", str(path), "--out", "results"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 130, done.stderr
    assert "interrupted: 19 of 120 runs finished" in done.stderr
    assert "No answer: the experiment was interrupted." in done.stdout
    document = json.loads((tmp_path / "results/results.json").read_text())
    assert (document["complete"], document["runs"], document["answer"]) == (False, 19, [])
    with open_store(tmp_path / "results") as store:
        kept = list(store.runs())
    assert 19 <= len(kept) < 120
    resumed, fresh = (cli.json("experiment", "run", path, *out) for out in (["--out", "results"], []))
    assert {**resumed, "timing": 0, "provenance": 0} == {**fresh, "timing": 0, "provenance": 0} and resumed["complete"]
    # Runs that were kept stay, and the reported time is that of the others.
    with open_store(tmp_path / "results") as store:
        there = list(store.runs())
    assert there[: len(kept)] == kept and len(there) == 120
    assert resumed["timing"]["cpu_seconds"] == pytest.approx(sum(run.cpu_s for run in there[len(kept) :]))


#: Code of a command line that a signal interrupts when it looks at the 20th finished run. The main
#: thread gets the signal before it continues. The time limit suffices to write and print on a busy
#: machine.
INTERRUPTED = """
import signal, sys
from cellyard.system import signals
from cellyard.experiment import runner
signals.GRACE_SECONDS = 60.0
signal.signal(signal.SIGINT, signal.default_int_handler)
result, seen = runner.RunResult, []
def until(document):
    seen.append(1)
    if len(seen) == 20:
        signal.raise_signal(signal.SIGINT)
    return result(document)
runner.RunResult = until
sys.argv[0] = "cellyard"
from cellyard.__main__ import main
main()
"""


def test_check_shows_points_runs_and_cost_without_running(small: Path, cli: Cli, tmp_path: Path) -> None:
    shown = cli.ok("experiment", "check", small)
    assert re.search(r"6 points, 18 runs: about 0\.\d+ s of CPU time in the engine, ", shown)
    assert "MB of memory" in shown
    assert "axis policy: tail-drop, epd and fba z=0.8, at switch.west.ubr.drop" in shown
    ends = 'range = { from = "300 cells", to = "500 cells", steps = 5 }'
    small.write_text(SMALL.replace('values = ["300 cells", "500 cells"]', ends))
    assert "axis buffer: 300 cells to 500 cells, 5 values, at switch" in cli("experiment", "check", small).stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lan.toml", "small.toml"]


def test_report_is_one_page_with_question_answer_figures_tables_and_command(small: Path, cli: Cli) -> None:
    small.write_text(SMALL.replace("Is EPD", "Is <b>EPD"))
    shown = cli.ok("experiment", "report", small)
    assert shown == "small-report/index.html\n"
    page = (cli.folder / "small-report/index.html").read_text()
    assert "Is &lt;b&gt;EPD better here?" in page
    assert "efficiency is highest at policy = " in page
    assert page.count("data:image/png;base64,") == 1
    assert "cellyard experiment report small.toml" in page
    assert (cli.folder / "small-report/map.pdf").exists()


JOINT = """
[[axis]]
name = "drop"
path = "switch.west.ubr.drop"
values = ["epd", "fba", { policy = "fba", z = 0.8 }]
together = "one"

[[axis]]
path = "switch.west.ubr.buffer"
values = ["300 cells", "400 cells", "500 cells"]

[[axis]]
name = "policy"
path = "switch.west.scheduler"
values = ["strict-priority", "strict-priority", "strict-priority"]
together = "one"
labels = ["EPD", "FBA", "FBA, less"]

[question]
kind = "table"
"""


def test_joint_axes_are_shown_as_the_axis_with_labels(small: Path, cli: Cli, tmp_path: Path) -> None:
    small.write_text(SMALL.partition("[[axis]]")[0] + JOINT)
    cli.ok("experiment", "report", small)
    document = json.loads((tmp_path / "small-report/results.json").read_text())
    assert document["together"] == [{"columns": ["drop", "policy"], "named_by": "policy", "asked": None}]
    answer = " ".join(document["answer"])
    assert (
        " drop = " not in answer
        and "policy = FBA, less and FBA (2 points): " in answer
        and "lowest at policy = EPD" in answer
    )
    assert (tmp_path / "small-report/points.csv").read_text().startswith("drop,buffer_cells,policy,runs,")
    page = (tmp_path / "small-report/index.html").read_text()
    assert ", by policy" in page
    assert "<th>policy</th>" in page and "<th>drop</th>" not in page
    assert (tmp_path / "small-report/lines.png").exists()
    done = cli("experiment", "run", small, "--out", "small-report")
    assert re.search(r"^policy +buffer_cells +runs +efficiency", done.stdout, re.MULTILINE)


def test_joint_axes_without_labels_are_distinguished_by_one_or_all_columns() -> None:
    numbers = {"mean": 0.5, "low": 0.4, "high": 0.6, "p5": 0.4, "p95": 0.6, "min": 0.3, "max": 0.7}
    for values, names in (
        ([("epd", 0.5), ("fba", 0.5), ("fba", 0.8)], ["drop, z"]),
        ([("epd", 0.5), ("fba", 0.6), ("fba", 0.8)], ["z"]),
    ):
        points = [{"drop": drop, "z": z, "runs": 3, "efficiency": numbers} for drop, z in values]
        document = {"points": points, "together": [{"columns": ["drop", "z"], "named_by": None, "asked": None}]}
        assert [list(point) for point in merge_joint_axes(document, named=False)] == [
            [*names, "runs", "efficiency"]
        ] * 3
        assert merge_joint_axes(document, named=True) == points
    # The question is about the column `z`, which `drop` names: `z` stays, and figures are over it.
    about = {**document, "together": [{"columns": ["drop", "z"], "named_by": "drop", "asked": "z"}]}
    assert merge_joint_axes(about, named=True) == points
    assert [list(point) for point in merge_joint_axes(about, named=False)] == [["z", "runs", "efficiency"]] * 3
    merged = merge_joint_axes({**document, "points": [{"drop": "fba", "z": 1}, {"drop": "fba", "z": 1}]}, named=False)
    assert merged == [{"drop": "fba"}] * 2


def test_frames_are_long_with_units_in_the_names_of_columns() -> None:
    made = ex.Experiment(
        name="frame",
        base=scenarios.scenario("lan-5"),
        set={"duration": "100 ms"},
        axes=[
            ex.Axis("switch.west.ubr.buffer", ["500 cells", "1000 cells"]),
            ex.Axis("switch.west.ubr.drop", ["epd", "fba"]),
        ],
        metrics=["efficiency", "max_queue_cells"],
        replications=2,
    )
    outcome = made.run()
    long = outcome.to_frame()
    assert long.columns == ["buffer_cells", "drop", "replication", "metric", "value"]
    assert long.shape == (2 * 2 * 2 * 2, 5)
    wide = outcome.to_frame("pandas", form="wide")
    assert list(wide.columns) == ["buffer_cells", "drop", "replication", "efficiency", "max_queue_cells"]
    assert sorted(wide["max_queue_cells"]) == sorted(long.filter(long["metric"] == "max_queue_cells")["value"])


def test_a_file_and_python_make_the_same_experiment() -> None:
    text = examples.text("policies")
    data = tomllib.loads(text)
    question = {**data["question"]}
    question.pop("kind")
    built = ex.Experiment(
        name=data["name"],
        title=data["title"],
        base=data["base"],
        axes=[ex.Axis(axis["path"], axis["values"], axis["name"]) for axis in data["axis"]],
        metrics=data["metrics"],
        question=ex.Compare(question["axis"], data["metrics"], against=question["against"]),
        replications=data["replications"],
    )
    read = examples.experiment("policies")
    assert built.question == read.question
    points = read.plan.points()
    assert [built.scenario(p) for p in built.plan.points()] == [read.scenario(p) for p in points]


SMALLER: dict[str, dict[str, Any]] = {
    "find": {},
    "compare": {},
    "table": {},
    "precision": {"most": 8},
    "sensitivity": {"samples": 4},
}


@pytest.mark.parametrize("name", examples.names())
def test_example_experiments_run_in_a_small_form(name: str) -> None:
    data = tomllib.loads(examples.text(name))
    assert examples.text(name).startswith("# ")
    assert data["name"] == name
    data["question"] |= SMALLER[data["question"]["kind"]]
    data["replications"] = 5
    data["set"] = {**data.get("set", {}), "duration": "300 ms", "measure.warm_up": "default"}
    experiment = ex.Experiment.__new__(ex.Experiment)
    experiment.plan, experiment.question = reading.read(data, Problems(), Path())
    outcome = experiment.run()
    assert outcome.answer is not None
    assert outcome.text.endswith(".")
    assert outcome.runs <= experiment.expected().runs
    tables = {title for title, records in outcome.answer.tables.items() if records}
    assert set(answer_tables(outcome.to_dict())) == tables, "a table is named as another part of the document"
    assert all(point["runs"] >= 1 for point in outcome.points())


def test_every_question_is_documented_and_has_a_documented_example() -> None:
    kinds = {examples.experiment(name).question.kind for name in examples.names()}
    assert kinds == set(reading.QUESTIONS)
    page = (ROOT / "docs/experiments.md").read_text(encoding="utf-8")
    for kind, module in reading.QUESTIONS.items():
        (question,) = (
            member
            for member in vars(module).values()
            if getattr(member, "__module__", "") == module.__name__ and hasattr(member, "kind")
        )
        assert question.kind == kind
        assert getattr(ex, question.__name__) is question
        assert f"| `{kind}` |" in page and f"`ex.{question.__name__}`" in page
    ready = (ROOT / "docs/ready-experiments.md").read_text(encoding="utf-8")
    for name in examples.names():
        assert f"\n## {name}\n" in ready
        file = f"../python/cellyard/experiment/examples/{name}.toml"
        assert f"\n```{{literalinclude}} {file}\n" in ready and f"]({file})" in ready


def test_examples_are_listed_and_printed(cli: Cli) -> None:
    listed = cli("example", "--experiments")
    assert all(name in listed.stdout for name in examples.names())
    assert cli("example", "--experiments", "buffer").stdout.partition("\n")[2] == examples.text("buffer")
    told = cli.refused("example", "--experiments", "bufer")
    assert "did you mean `buffer`?" in told


def imported(code: str) -> str:
    """Return the heavy modules that are loaded after ``code``."""
    heavy = "'scipy', 'polars', 'pandas', 'matplotlib', 'cellyard.experiment.experiment'"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint([module for module in ({heavy}) if module in sys.modules])"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_optional_libraries_are_imported_only_when_needed() -> None:
    assert imported("import cellyard, cellyard.cli.main, cellyard.experiment") == "[]"
    reading_one = "from cellyard.experiment import examples\nexamples.experiment('buffer')"
    assert imported(reading_one) == "['cellyard.experiment.experiment']"


def test_an_experiment_from_python_stores_and_reuses_its_runs(tmp_path: Path) -> None:
    def make(replications: int) -> ex.Experiment:
        return ex.Experiment(
            name="kept",
            base=scenarios.scenario("lan-5"),
            set={"duration": "100 ms"},
            axes=[ex.Axis("switch.west.ubr.buffer", ["500 cells", "1000 cells"])],
            metrics=["efficiency"],
            replications=replications,
        )

    with open_store(tmp_path / "runs.sqlite", create=True) as store:
        first = make(2).run(store=store)
        assert store.kept == 4
        more = make(3).run(store=store)
        assert store.kept == 6
    assert more.points() == make(3).run(jobs=1).points()
    assert first.runs == 4
    assert stored(tmp_path / "runs.sqlite") == 6


def test_an_experiment_from_python_runs_on_workers_that_are_started_once() -> None:
    made = ex.Experiment(
        name="spread",
        base=scenarios.scenario("lan-5"),
        set={"duration": "100 ms"},
        axes=[ex.Axis("switch.west.ubr.buffer", ex.Range("500 cells", "4000 cells", steps=8))],
        metrics=["cell_loss_ratio"],
        question=ex.Find("buffer", ["cell_loss_ratio < 0.5"]),
        replications=3,
    )
    here, there = made.run(), made.run(workers=1)
    assert there.text == here.text and there.points() == here.points()
    with pytest.raises(UsageError, match=r"give either on .* or workers .*, not both"):
        made.run(on="tcp://127.0.0.1:1", workers=1)


#: Ten TCPs whose first segments of 192 cells meet in a buffer of 256 cells.
MEETING = """\
duration = "1 s"
ensemble = { start_jitter = "1 us" }
measure = { max_goodput = "126.944145 Mbps" }
host = [{ name = "source", count = 10 }, { name = "sink" }]
switch = [
  { name = "west", ubr = { buffer = "256 cells" }, processing = { kind = "latency", per = "cell", mean = "3 us", spread = "3 us" } },
]
link = [{ from = "source", to = "west", rate = "141.333 Mbps" }, { from = "west", to = "sink", rate = "141.333 Mbps" }]
vc = [{ from = "source", to = "sink", traffic = { kind = "tcp", mss = "9140 bytes", granularity = "0.1 ms", initial_rto = "10 ms" } }]
"""
SYNCHRONISED = (
    "TCPs that start within ensemble.start_jitter of each other may overflow the same buffer again at each timeout"
)


def meeting(folder: Path, cli: Cli, path: str, values: list[object], metric: str = "efficiency") -> list[str]:
    """Return the notes of an experiment on these TCPs."""
    (folder / "meeting.toml").write_text(MEETING)
    (folder / "one.toml").write_text(
        f'name = "one"\nbase = {{ file = "meeting.toml" }}\nreplications = 2\nmetrics = ["{metric}"]\n'
        f'[[axis]]\npath = "{path}"\nvalues = {values}\n[question]\nkind = "table"\n'
    )
    notes: list[str] = cli.json("experiment", "run", "one.toml")["notes"]
    return notes


@pytest.mark.parametrize("metric", ["efficiency", "goodput_mbps"])
def test_runs_in_which_no_tcp_delivers_anything_are_noted_with_their_points(cli: Cli, metric: str) -> None:
    (note,) = meeting(cli.folder, cli, "ensemble.start_jitter", ["1 us", "100 ms"], metric)
    assert note.startswith(f"no TCP delivered anything in 2 of 4 runs: {SYNCHRONISED}")
    assert note.endswith(" (at start_jitter = 1 us)")


def test_single_scenarios_have_the_note_and_whether_a_timeout_can_come(cli: Cli) -> None:
    (cli.folder / "meeting.toml").write_text(MEETING)
    command = ("run", "meeting.toml", "--replications", 2)
    assert f"no TCP delivered anything: {SYNCHRONISED}" in cli(*command).stderr
    lost = "no TCP delivered anything: they lost their first segments, and the run ends before the first timeout"
    assert lost in cli(*command, "--set", "duration=9 ms").stderr


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("vc.*.start", ["1 s", "2 s"]),  # none starts
        ("host.source.count", [1]),  # there is no other TCP to meet
        ("vc.*.traffic", ["'udp'"]),
    ],
)
def test_runs_without_synchronised_tcps_get_no_note_on_timeouts(cli: Cli, path: str, values: list[object]) -> None:
    assert not [note for note in meeting(cli.folder, cli, path, values) if "no TCP" in note and "timeout" in note]


def test_progress_shows_points_runs_pace_and_time_left(small: Path, cli: Cli) -> None:
    small.write_text(SMALL.replace("200 ms", "20 s"))
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "150", "TERM": "xterm"}
    options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": theirs, "env": environment}
    with cli.begun("experiment", "run", small, "--jobs", 1, **options):
        os.close(theirs)
        shown = shown_until_the_end(ours).decode()
    assert all(part in shown for part in (" of 6 points, ", " of 18 runs, ", " runs/s, about "))
