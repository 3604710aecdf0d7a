"""The notes of `run` appear wherever its runs appear."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cellyard import Scenario
from cellyard.results import run_notes
from conftest import EXAMPLES, ROOT, Cli
from test_cli_notes import CROWDED_HOST
from test_ties import IN_PHASE

NODE = shutil.which("node")

#: Four TCPs meet in a buffer for one of their frames; one of them starts later and finishes its files.
INCAST = """\
duration = "2 s"
tie_order = "rotating"
measure = { max_goodput = "130 Mbps" }
host = [{ name = "a", count = 4 }, { name = "b" }]
switch = [{ name = "s", ubr = { buffer = "200 cells" } }]
link = [{ from = "a", to = "s", rate = "144 Mbps" }, { from = "s", to = "b", rate = "144 Mbps" }]
vc = [
  { from = "a1", to = "b", start = "10 ms", traffic = { kind = "tcp", mss = "9180 bytes", file_size = "20 kB", files = "unlimited" } },
  { from = "a2", to = "b", traffic = { kind = "tcp", mss = "9180 bytes", file_size = "20 kB" } },
  { from = "a3", to = "b", traffic = { kind = "tcp", mss = "9180 bytes", file_size = "20 kB" } },
  { from = "a4", to = "b", traffic = { kind = "tcp", mss = "9180 bytes", file_size = "20 kB" } },
]
"""
#: A third input of IN_PHASE whose source starts after the end.
IDLE_INPUT = (
    IN_PHASE.replace('name = "c" }', 'name = "c" }, { name = "d" }', 1)
    .replace(
        "vc = [",
        'vc = [{ from = "d", to = "c", class = "ubr", start = "1 s", traffic = { kind = "cbr", rate = "1 Mbps" } },',
    )
    .replace("link = [", 'link = [{ from = "d", to = "s", rate = "155.52 Mbps" },')
)
UNFINISHED = "TCPs that send files"
#: A study of INCAST.
STUDY = {
    "study.toml": (
        'name = "incast"\nquestion = "?"\n[citation]\ntitle = "t"\nauthors = "a"\nwhere = "w"\nyear = 2000\n'
        '[metrics]\ntotals = ["efficiency"]\nlongest_transfer_s = "max(vc.*.completed_s)"\n[shared]\n'
        '[[table]]\nname = "1"\nfile = "1.csv"\ntitle = "a table"\nmetrics = ["efficiency"]\n'
    ),
    "tables/1.csv": "buffer,efficiency\n200 cells,0.5\nunlimited,0.5\n",
    "scenario.py": (
        "import cellyard\nfrom pathlib import Path\n\n\ndef scenario(row, shared):\n"
        "    text = (Path(__file__).parent / 'incast.toml').read_text()\n"
        "    return cellyard.Scenario.from_toml(text).with_values({'switch.s.ubr.buffer': row['buffer']})\n"
    ),
    "incast.toml": INCAST,
}


def experiment(text: str, metrics: str) -> str:
    """Return an experiment on the scenario, with two buffers."""
    return (
        f'name = "notes"\nbase = {{ file = "{text}" }}\nreplications = 2\nmetrics = [{metrics}]\nquestion = "table"\n'
        '[[axis]]\npath = "switch.s.ubr.buffer"\nvalues = ["200 cells", "unlimited"]\n'
    )


def test_results_hold_the_notes_that_run_prints(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "crowded.toml").write_text(CROWDED_HOST)
    done = cli("run", "crowded.toml", "--out", "out")
    notes = json.loads((tmp_path / "out/results.json").read_text())["notes"]
    assert done.stderr.splitlines() == [f"note: {note}" for note in notes] and len(notes) == 2


def test_an_experiment_has_them_with_its_points(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "incast.toml").write_text(INCAST)
    (tmp_path / "notes.toml").write_text(experiment("incast.toml", '"p99_transfer_s"'))
    assert cli("experiment", "report", "notes.toml", "--out", "report").returncode == 0
    notes = json.loads((tmp_path / "report/results.json").read_text())["notes"]
    (note,) = [note for note in notes if UNFINISHED in note]
    assert note.startswith("4 of 16 TCPs that send files, over all runs, did not finish") and note.endswith(
        " (at buffer = 200 cells)"
    )
    assert note.partition(" (")[0] in (tmp_path / "report/index.html").read_text()
    printed = " ".join(cli("experiment", "run", "notes.toml").stdout.split())
    assert f"note: {note}" in printed
    # Runs in the store give the same notes, and a metric without durations none of this kind.
    again = cli("experiment", "run", "notes.toml", "--store", "report/runs.sqlite", "--format", "json")
    assert json.loads(again.stdout)["notes"] == notes
    (tmp_path / "notes.toml").write_text(experiment("incast.toml", '"efficiency"'))
    assert UNFINISHED not in cli("experiment", "run", "notes.toml").stdout


def test_an_experiment_warns_of_refusals_at_ties_unless_it_states_their_order(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ties.toml").write_text(IN_PHASE)
    text = experiment("ties.toml", '"cell_loss_ratio"').replace("unlimited", "20 cells")
    for stated, warns in (("", True), (', tie_order = "rotating"', False)):
        (tmp_path / "notes.toml").write_text(f'set = {{ "ensemble.start_jitter" = "0 s"{stated} }}\n{text}')
        assert ("results depend on `tie_order`" in cli("experiment", "run", "notes.toml").stdout) is warns


def test_a_study_has_them_with_its_rows_also_from_a_store(cli: Cli, tmp_path: Path) -> None:
    for name, text in STUDY.items():
        (tmp_path / "incast" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "incast" / name).write_text(text)
    run = ("study", "run", "./incast", "--store", "runs.sqlite")
    for _ in range(2):
        (note,) = json.loads(cli(*run, "--format", "json").stdout)["notes"]
        assert note.startswith("3 of 8 TCPs that send files, over all runs, did not finish")
        assert note.endswith(" (in 1 of 2 rows; first: table 1, buffer = 200 cells)")
    assert f"note: {note}" in " ".join(cli(*run).stdout.split())
    assert cli(*run, "--format", "csv").stderr.endswith(f"note: {note}\n")
    assert cli("study", "report", "./incast", "--replications", 2, "--out", "report").returncode == 0
    for page in ("index.html", "README.md"):
        assert "TCPs that send files, over all runs, did not finish" in (tmp_path / "report" / page).read_text()


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_explorer_has_the_same_sentences_on_a_run() -> None:
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES] + [INCAST, IN_PHASE, IDLE_INPUT, CROWDED_HOST]
    scenarios = [Scenario.from_toml(text).with_values({"probe": []}) for text in texts]
    lan = Scenario.read(ROOT / "examples/lan-5.toml")
    short = {"duration": "200 ms", "tie_order": "fixed"}
    scenarios += [lan.with_values({**short, "measure.max_goodput": most}) for most in ("1 Mbps", "default")]
    # Frames of ten TCPs that start together do not fit the buffer.
    for duration in ("2 s", "5 s"):
        changes = {"vc.*.traffic.mss": "9180 bytes", "switch.*.ubr.buffer": "200 cells", "duration": duration}
        scenarios.append(lan.with_values(changes))
    runs: list[dict[str, Any]] = [dict(scenario.run().only.data) for scenario in scenarios]
    runs.append({**runs[0], "measured_s": 0.1, "ports": [{**runs[0]["ports"][0], "efficiency": 1.01}]})
    script = ROOT / "tests/explorer/notes.mjs"
    done = subprocess.run([str(NODE), script], input=json.dumps(runs), capture_output=True, text=True, check=True)
    expected = [run_notes.notes([run_notes.facts(run)]) for run in runs]
    assert json.loads(done.stdout) == [[note.text for note in notes] for notes in expected]
    assert {note.kind for notes in expected for note in notes} == set(run_notes.KINDS)
