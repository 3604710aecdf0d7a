"""Descriptions of result folders, and protection against overwriting."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import cellyard as cy
from cellyard import _engine
from cellyard.outputs.folder import ResultFolder
from cellyard.system.files import FileSet, checksums
from conftest import LAN, Cli

EXPERIMENT = """\
name = "e"
base = { file = "lan.toml" }
set = { duration = "50 ms" }
replications = 2
metrics = ["efficiency"]
axis = [{ name = "drop", path = "switch.west.ubr.drop", values = ["epd", "tail-drop"] }]
question = { kind = "compare", axis = "drop", against = "tail-drop" }
"""


def origin(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_results_have_their_provenance(cli: Cli, lan: Path, tmp_path: Path) -> None:
    options = ["--set", "duration=500 ms", "--grid", "switch.west.ubr.drop=epd,fba", "--seed", 7]
    cli("run", lan, *options, "--out", "out")
    provenance = origin(tmp_path / "out/results.json")["provenance"]
    assert provenance["set"] == ["duration=500 ms"]
    assert provenance["grid"] == ["switch.west.ubr.drop=epd,fba"]
    assert provenance["seed"] == 7
    expected = f"cellyard run {lan} --set 'duration=500 ms' --grid switch.west.ubr.drop=epd,fba --seed 7 --out out"
    assert provenance["command"] == expected
    assert provenance["engine_build"] == _engine.build() and set(provenance["machine"]) == {
        "os",
        "architecture",
        "cores",
    }
    assert provenance["source"] == LAN and provenance["date"].endswith("+00:00")
    overrides = [("duration", "500 ms"), ("seed", "7"), ("switch.west.ubr.drop", "epd")]
    first = cy.Scenario.from_toml(LAN, overrides=overrides)
    assert (tmp_path / "out/scenario.toml").read_text() == provenance["scenario"]
    assert cy.Scenario.from_toml(provenance["scenario"]).canonical == cy.Scenario.from_toml(first.to_toml()).canonical
    mark = origin(tmp_path / "out/provenance.json")
    assert {**mark, **provenance} == mark  # there before the first run has finished


def test_repeated_commands_differ_only_in_provenance_and_timing(cli: Cli, lan: Path) -> None:
    first, second = (cli.json("run", lan, "--jobs", n) for n in (1, 2))
    apart = {"timing": 0, "provenance": 0}
    assert first | apart == second | apart and first["provenance"]["command"] != second["provenance"]["command"]


def test_another_scenario_is_not_written_over(cli: Cli, lan: Path, tmp_path: Path) -> None:
    assert cli("run", lan, "--out", "out").returncode == 0
    kept = (tmp_path / "out/results.json").read_text()
    for old, new, message in (
        ("two TCPs", "other", "holds results of the scenario two TCPs, not the scenario other"),
        ("500 cells", "600 cells", "holds results of another version of the scenario two TCPs"),
    ):
        (tmp_path / "other.toml").write_text(LAN.replace(old, new))
        told = cli.refused("run", "other.toml", "--out", "out")
        assert told.startswith(f"out: {message}; ") and "--overwrite" in told
        assert (tmp_path / "out/results.json").read_text() == kept
    assert cli("study", "run", "ubr-plus", "--table", "1", "--out", "out").returncode == 2
    assert cli("run", "other.toml", "--out", "out", "--overwrite").returncode == 0
    assert "600 cells" in origin(tmp_path / "out/results.json")["provenance"]["source"]
    assert cli("run", lan, "--out", "out").returncode == 2


def test_files_of_others_are_not_written_over(cli: Cli, lan: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / ".hidden").touch()
    assert cli("run", lan, "--out", "mine", "--replications", 1).returncode == 0
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "runs.csv").write_text("my thesis")
    told = cli.refused("run", lan, "--out", "thesis")
    assert told.startswith("thesis: holds files that Cellyard did not write (runs.csv); ")
    assert [path.name for path in other.iterdir()] == ["runs.csv"] and (other / "runs.csv").read_text() == "my thesis"


def test_one_command_at_a_time_writes_into_a_folder(cli: Cli, lan: Path, tmp_path: Path) -> None:
    with ResultFolder(tmp_path / "out", command="run", holds="a", content="a", provenance={}):
        told = cli.refused("run", lan, "--out", "out")
        assert told == "out: another command is writing there; wait until it ends, or choose another folder\n"
    assert cli("run", lan, "--out", "out", "--overwrite").returncode == 0


def test_two_commands_started_at_once_on_a_new_folder(lan: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cellyard", "run", str(lan), "--out", "out"]
    started = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in "ab"
    ]
    ended = [(*process.communicate(timeout=120), process.returncode) for process in started]
    assert 0 in [status for _, _, status in ended]
    for _, err, status in ended:
        assert (status, err) == (0, "") or (status == 2 and err.startswith("out: another command is writing there"))
    assert origin(tmp_path / "out/results.json")["complete"]


def test_the_folder_of_a_study_has_the_scenario_of_each_row(cli: Cli, tmp_path: Path) -> None:
    options = ["ubr-plus", "--table", "1", "--where", "configuration=lan", "--out", "out"]
    assert cli("study", "run", *options, "--seed", 3).returncode == 0
    five, _ = map(json.loads, (tmp_path / "out/ubr-plus-scenarios.jsonl").read_text().splitlines())
    assert (five["table"], five["configuration"], five["sources"]) == ("1", "lan", 5)
    assert cy.Scenario.from_toml(five["scenario"]).seed == 3
    found = origin(tmp_path / "out/ubr-plus.json")
    assert found["provenance"]["command"].startswith("cellyard study run ubr-plus --table 1")
    (scenario := tmp_path / "five.toml").write_text(five["scenario"])
    again = cli.json("run", scenario)
    assert again["runs"][0]["totals"]["max_queue_cells"] == found["rows"][0]["simulated"]["max_queue_cells"] == 7591


def test_a_command_removes_no_file_that_another_command_made(tmp_path: Path) -> None:
    """Random sequences of commands on one folder: each file stays until the command that wrote it last omits it."""
    draw = random.Random(1)
    commands, names = ["experiment run", "experiment report", "run"], ["a.csv", "b.csv", "c.csv", "d.csv"]
    expected: dict[str, tuple[str, str]] = {}
    for number in range(60):
        command, chosen = draw.choice(commands), draw.sample(names, draw.randint(1, 3))
        with ResultFolder(
            tmp_path, command=command, holds="a", content=draw.choice("ab"), provenance={}, overwrite=True
        ) as folder:

            def add(files: FileSet, chosen: list[str] = chosen, text: str = str(number)) -> None:
                for name in chosen:
                    files.add(name, text)

            assert folder.publish(add) == ""
        expected = {name: found for name, found in expected.items() if found[0] != command}
        expected |= {name: (command, str(number)) for name in chosen}
        found = {path.name: path.read_text() for path in tmp_path.glob("*.csv")}
        assert found == {name: text for name, (_, text) in expected.items()}
        sums = {name for name in checksums(tmp_path) if name.endswith(".csv")}
        assert sums == found.keys()
    label = origin(tmp_path / "provenance.json")["made_by"]
    assert {name: by for name, by in label.items() if name in expected} == {n: by for n, (by, _) in expected.items()}


def test_a_report_stays_when_its_experiment_or_study_runs_again(cli: Cli, lan: Path, tmp_path: Path) -> None:
    assert lan.parent == tmp_path
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    for first, *commands in (
        ["e-report", ["experiment", "report", "e.toml"], ["experiment", "run", "e.toml"]],
        [
            "s-report",
            *(["study", verb, "ubr-plus", "--table", "1", "--replications", "2"] for verb in ("report", "run")),
        ],
    ):
        report, run = ([*command, "--out", str(first)] for command in commands)
        done = cli(*report)
        assert done.returncode == 0 and "earlier results" not in done.stderr
        made = {path.name: path.read_bytes() for path in (tmp_path / str(first)).iterdir()}
        assert "index.html" in made
        done = cli(*run)
        assert done.returncode == 0
        assert f"note: {first}/index.html and " in done.stderr
        assert f"made by `{' '.join(report[:2])}` from earlier results; run that command again" in done.stderr
        found = {path.name: path.read_bytes() for path in (tmp_path / str(first)).iterdir()}
        assert found.keys() == made.keys() and found["index.html"] == made["index.html"]
        assert "earlier results" not in cli(*report).stderr
