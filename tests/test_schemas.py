"""The JSON Schemas agree with the readers, and editors find them.

Every valid file is valid, a mistake is found at its field, and the bounds are those of the reader.
"""

import copy
import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cellyard import experiment as ex
from cellyard.experiment import examples as experiments
from cellyard.scenario import examples
from cellyard.system import schemas
from cellyard.system.errors import ExperimentError
from cellyard.system.values import toml as text_of
from conftest import ROOT, Cli
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

SCHEMAS: dict[str, Any] = {name: json.loads(schemas.text(name)) for name in schemas.NAMES}
EXPERIMENTS = {name: tomllib.loads(experiments.text(name)) for name in experiments.names()}
#: Version of Taplo, the checker behind TOML editors.
TAPLO = "@taplo/cli@0.7.0"


def mistakes(schema: str, document: Any) -> list[tuple[str, str]]:
    """Return the places and messages of what a schema finds wrong."""
    found = Draft202012Validator(SCHEMAS[schema]).iter_errors(document)
    return [(error.json_path.removeprefix("$").removeprefix("."), error.message) for error in found]


@pytest.mark.parametrize("name", schemas.NAMES)
def test_each_schema_is_one_and_has_its_address(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    repository = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
    file = schemas.file(name).relative_to(ROOT).as_posix()
    assert SCHEMAS[name]["$id"] == f"{repository}/raw/main/{file}"


@pytest.mark.parametrize("name", examples.names())
def test_example_scenarios_are_valid(name: str) -> None:
    assert not mistakes("scenario", tomllib.loads(examples.text(name)))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_example_experiments_are_valid(name: str) -> None:
    assert not mistakes("experiment", EXPERIMENTS[name])


#: A drop policy as a program, with its own parameters.
PROGRAM = {"policy": "program", "refuse": "X > R and Y * N > Z * X", "R": "900 cells", "Z": 0.8}

#: Mistakes in the example `lan-5`: the place, its new value, and where and how the schema finds it.
SCENARIO: dict[str, tuple[tuple[Any, ...], Any, str, str]] = {
    "field": (("link", 0, "delai"), "1 ms", "link[0]", "'delai' was unexpected"),
    "unit": (("duration",), "10 m", "duration", "does not match"),
    "number": (("host", 0, "count"), 0, "host[0].count", "less than the minimum"),
    "drop": (("switch", 0, "ubr", "drop"), "epdd", "switch[0].ubr.drop", "is not one of ['tail-drop'"),
    "policy": (("switch", 0, "ubr", "drop"), {"policy": "epdd"}, "switch[0].ubr.drop.policy", "is not one of"),
    "tag": (("switch", 0, "ubr", "drop"), {"kind": "fba"}, "switch[0].ubr.drop", "'policy' is a required property"),
    "of a policy": (("switch", 0, "ubr", "drop"), {"policy": "fba", "zz": 1}, "switch[0].ubr.drop", "'zz' was"),
    "of another": (("switch", 0, "ubr", "drop"), {"policy": "epd", "z": 1}, "switch[0].ubr.drop", "'z' was"),
    "value": (("switch", 0, "ubr", "drop"), {"policy": "fba", "z": -1}, "switch[0].ubr.drop.z", "less than the minimum"),
    "text": (("switch", 0, "ubr", "drop"), {"policy": "fba", "z": "a"}, "switch[0].ubr.drop.z", "does not match"),
    "program by name": (("switch", 0, "ubr", "drop"), "program", "switch[0].ubr.drop", "is not one of ['tail-drop'"),
    "program": (("switch", 0, "ubr", "drop"), {**PROGRAM, "refuse": 1}, "switch[0].ubr.drop.refuse", "is not of type"),
    "parameter": (("switch", 0, "ubr", "drop"), {**PROGRAM, "R": "9 cels"}, "switch[0].ubr.drop.R", "does not match"),
    "traffic": (("vc", 0, "traffic", "kind"), "tpc", "vc[0].traffic.kind", "is not one of"),
    "recovery": (("vc", 0, "traffic", "recovery"), "rino", "vc[0].traffic.recovery", "is not one of"),
    "missing": (("vc", 0, "traffic"), {"kind": "vbr", "rate": "1 Mbps", "on": "1 ms"}, "vc[0].traffic", "'off' is"),
    "probe": (("probe",), [{"what": "queue"}], "probe[0]", "is a required property"),
}  # fmt: skip

#: Mistakes in example experiments: the name of the experiment, and then as above.
EXPERIMENT: dict[str, tuple[str, tuple[Any, ...], Any, str, str]] = {
    "field": ("buffer", ("replicatons",), 2, "", "'replicatons' was unexpected"),
    "name": ("buffer", ("name",), "a b", "name", "does not match"),
    "metric": ("buffer", ("metrics", 0), "cell_loss_rato", "metrics[0]", "is not one of"),
    "no metrics": ("buffer", ("metrics",), [], "metrics", "empty"),
    "example": ("service", ("base", "example"), "lan-6", "base.example", "is not one of"),
    "two bases": ("service", ("base", "file"), "lan.toml", "base", "'example' was unexpected"),
    "row": ("service", ("base", "row"), {}, "base", "'row' was unexpected"),
    "no base": ("service", ("base",), {}, "base", "'study' is a required property"),
    "values and range": ("buffer", ("axis", 0, "values"), [1], "axis[0]", "'values' was unexpected"),
    "neither": ("policies", ("axis", 0), {"path": "seed"}, "axis[0]", "'values' is a required property"),
    "no path": ("policies", ("axis", 0), {"values": [1]}, "axis[0]", "'path' is a required property"),
    "value": ("policies", ("axis", 0, "values", 1), None, "axis[0].values[1]", "is not of type"),
    "axis name": ("policies", ("axis", 0, "name"), "drop-policy", "axis[0].name", "does not match"),
    "end": ("buffer", ("axis", 0, "range", "to"), "many cells", "axis[0].range.to", "does not match"),
    "steps": ("buffer", ("axis", 0, "range", "steps"), 0, "axis[0].range.steps", "less than the minimum"),
    "scale": ("buffer", ("axis", 0, "range", "scale"), "cubic", "axis[0].range.scale", "is not one of"),
    "design": ("buffer", ("design",), "sobol", "design", "is not one of"),
    "points": ("buffer", ("design",), {"kind": "sobol"}, "design", "'points' is a required property"),
    "no points": ("buffer", ("design",), {"points": 4}, "design", "'points' was unexpected"),
    "kind": ("buffer", ("question", "kind"), "fnd", "question.kind", "is not one of"),
    "no kind": ("buffer", ("question",), {"axis": "buffer"}, "question", "'kind' is a required property"),
    "of another question": ("buffer", ("question", "trials"), 4, "question", "'trials' was unexpected"),
    "want": ("buffer", ("question", "want"), "least", "question.want", "is not one of"),
    "share": ("buffer", ("question", "share"), 1.5, "question.share", "greater than the maximum"),
    "width": ("precise", ("question", "within", "efficiency"), 0, "question.within.efficiency", "less than or equal"),
    "word": ("buffer", ("question",), "find", "question", "is not one of"),
}  # fmt: skip


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value at a path."""
    made = copy.deepcopy(document)
    place = made
    for word in path[:-1]:
        place = place[word]
    place[path[-1]] = value
    return made


@pytest.mark.parametrize(
    "change", [{}, {"R": 900}, {"R": "0.9 K"}, {"R": "5 ms"}, {"R": "2 Mbps"}, {"asked": "cells"}, {"never_below": 0.5}]
)
def test_a_program_with_its_parameters_is_valid(change: dict[str, Any]) -> None:
    data = changed(tomllib.loads(examples.text("lan-5")), ("switch", 0, "ubr", "drop"), {**PROGRAM, **change})
    assert not mistakes("scenario", data)
    assert examples.scenario("lan-5").with_values({"switch.west.ubr.drop": {**PROGRAM, **change}})


@pytest.mark.parametrize("case", SCENARIO)
def test_a_mistake_in_a_scenario_is_found_at_its_field(case: str) -> None:
    path, value, place, message = SCENARIO[case]
    found = mistakes("scenario", changed(tomllib.loads(examples.text("lan-5")), path, value))
    assert [where for where, _ in found] == [place] and message in found[0][1], found


@pytest.mark.parametrize("case", EXPERIMENT)
def test_a_mistake_in_an_experiment_is_found_at_its_field(case: str) -> None:
    name, path, value, place, message = EXPERIMENT[case]
    data = changed(EXPERIMENTS[name], path, value)
    found = mistakes("experiment", data)
    assert {where for where, _ in found} == {place} and any(message in text for _, text in found), found
    # The reader refuses it, too.
    with pytest.raises(ExperimentError):
        ex.Experiment.from_toml(toml(data))


def toml(value: Any) -> str:
    """Return an experiment as TOML."""
    return "".join(f"{key} = {text_of(one)}\n" for key, one in value.items())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_bounds_of_experiments_are_those_of_the_reader(name: str) -> None:
    data = EXPERIMENTS[name]
    for path, schema in integers(name):
        least, most = schema["minimum"], schema["maximum"]
        for value, valid in ((least - 1, False), (least, True), (most, True), (most + 1, False)):
            if path[-1] == "steps" and value == most:  # The reader tries a value of each step, which takes seconds.
                continue
            made = changed(data, path, value)
            assert (not mistakes("experiment", made)) is valid, (path, value)
            assert ("is out of range" not in refusal(toml(made))) is valid, (path, value)


def integers(name: str) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the paths of the whole numbers that an experiment may state, with their schemas."""
    whole, parts = SCHEMAS["experiment"], SCHEMAS["experiment"]["$defs"]
    kind = EXPERIMENTS[name]["question"]["kind"]
    tables: list[tuple[tuple[Any, ...], Any]] = [((), whole), (("question",), parts[f"question.{kind}"])]
    if "range" in EXPERIMENTS[name]["axis"][0]:
        tables.append((("axis", 0, "range"), parts["axis"]["properties"]["range"]))
    for path, table in tables:
        for field, schema in table["properties"].items():
            if schema.get("type") == "integer":
                yield (*path, field), schema


def refusal(text: str) -> str:
    """Return the errors of an experiment, without running anything."""
    try:
        ex.Experiment.from_toml(text)
    except ExperimentError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", ["scenario", "experiment"])
def test_an_example_names_its_schema_and_is_read(cli: Cli, tmp_path: Path, kind: str) -> None:
    command = ["example", "lan-5"] if kind == "scenario" else ["example", "--experiments", "buffer"]
    shown = cli(*command).stdout
    first, _, rest = shown.partition("\n")
    assert first == f"#:schema {schemas.file(kind).as_uri()}" and rest.startswith("# ")
    (tmp_path / "shown.toml").write_text(shown)
    words = ["check", "shown.toml"] if kind == "scenario" else ["experiment", "check", "shown.toml"]
    assert cli(*words).returncode == 0


def test_no_text_of_the_project_names_a_schema_on_one_machine() -> None:
    texts = [path for folder in ("docs", "python/cellyard") for path in (ROOT / folder).rglob("*.[tm][od]*")]
    named = {line for path in texts for line in path.read_text("utf-8").splitlines() if "#:schema file:" in line}
    assert named == {"#:schema file:///usr/lib/python3/dist-packages/cellyard/schemas/scenario.schema.json"}


def test_schemas_are_listed_printed_and_written(cli: Cli, tmp_path: Path) -> None:
    listed = cli("schema").stdout
    assert all(name in listed and str(schemas.file(name)) in listed for name in schemas.NAMES)
    assert cli("schema", "scenario").stdout == schemas.text("scenario")
    assert cli("schema", "--out", "all/of").returncode == 0
    files = {path.name: path.read_text() for path in (tmp_path / "all/of").iterdir()}
    assert files == {f"{name}.schema.json": schemas.text(name) for name in schemas.NAMES}
    assert cli("schema", "experiment", "--out", "one").stdout == f"wrote {Path('one/experiment.schema.json')}\n"
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["experiment.schema.json"]
    told = cli.refused("schema", "scenaro")
    assert "did you mean `scenario`?" in told


@pytest.fixture
def taplo(tmp_path: Path) -> Path:
    """Return the command of Taplo, which checks TOML files as editors do."""
    if not (npm := shutil.which("npm")):
        pytest.skip("needs npm")
    install = [npm, "install", "--silent", "--no-save", "--prefix", str(tmp_path / "npm"), TAPLO]
    try:
        done = subprocess.run(install, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not answer")
    if done.returncode:
        pytest.skip(f"{TAPLO} cannot be installed: {done.stderr.strip()[-200:]}")
    return tmp_path / "npm/node_modules/.bin/taplo"


def test_an_editor_checks_examples_by_their_first_line(cli: Cli, tmp_path: Path, taplo: Path) -> None:
    folder = tmp_path / "with a blank"
    cli("schema", "--out", str(folder / "schemas"))
    wrong = {
        "scenario": (cli("example", "lan-5").stdout, '"epd"', '{ policy = "fba", zz = 1 }'),
        "experiment": (cli("example", "--experiments", "buffer").stdout, "share =", "shar ="),
    }
    for name, (text, old, new) in wrong.items():
        # With the schema of the installation, and with one next to the file.
        near = text.replace(text.partition("\n")[0], f"#:schema schemas/{name}.schema.json")
        for place, stated in (("installed", text), ("near", near)):
            (folder / f"{name}-{place}.good.toml").write_text(stated)
            assert old in stated
            (folder / f"{name}-{place}.bad.toml").write_text(stated.replace(old, new))
    program = wrong["scenario"][0].replace('"epd"', text_of(PROGRAM))
    (folder / "program.good.toml").write_text(program)
    good = subprocess.run([taplo, "lint", *sorted(folder.glob("*.good.toml"))], capture_output=True, text=True)
    assert good.returncode == 0 and "total=5" in good.stderr, good.stderr
    bad = subprocess.run([taplo, "lint", *sorted(folder.glob("*.bad.toml"))], capture_output=True, text=True)
    faulty = set(re.findall(r'failed path="[^"]*?/([a-z-]+)\.bad\.toml"', bad.stderr))
    assert bad.returncode == 1
    assert faulty == {f"{name}-{place}" for name in wrong for place in ("installed", "near")}, bad.stderr
    assert "('zz' was unexpected)" in bad.stderr and "('shar' was unexpected)" in bad.stderr
