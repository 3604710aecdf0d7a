"""The notes of `run` appear wherever its runs appear."""

import json
import pickle
import shutil
import subprocess
from html import escape
from pathlib import Path
from typing import Any

import pytest
from cellyard import Scenario, examples
from cellyard.commands.grid_notes import HINTS
from cellyard.results import run_notes
from cellyard.runs.expected import outline
from conftest import EXAMPLES, ROOT, Cli, chain
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
#: A program that is asked about first cells that find the port busy, at a port that keeps up.
ASKED = """\
duration = "20 ms"
format = "ethernet"
measure = { max_goodput = "fair shares" }
host = [{ name = "a" }, { name = "b" }, { name = "c" }]
switch = [{ name = "s", ubr = { buffer = "50 cells", drop = { policy = "program", refuse = "X < 2" } } }]
link = [
    { from = "a", to = "s", rate = "10 Mbps" }, { from = "c", to = "s", rate = "10 Mbps" },
    { from = "s", to = "b", rate = "100 Mbps" },
]
vc = [{ from = "a", to = "b", traffic = { kind = "udp", datagram_size = "1472 bytes", rate = "9 Mbps" } }]
"""
UNFINISHED = "did not finish"
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


def crowd(buffer: str, senders: int, files: int = 1, **tcp: str) -> Scenario:
    """Return TCPs that send a file of one window each into one buffer at once."""
    more = "".join(f', {field} = "{value}"' for field, value in tcp.items())
    traffic = 'kind = "tcp", mss = "1460 bytes", initial_window = 10, file_size = "14600 bytes"'
    text = chain(
        *("a", "1 Gbps", "s", "1 Gbps", "b"),
        vc=f"traffic = {{ {traffic}, files = {files}{more} }}",
        delay="1 us",
        count=senders,
        name="crowd",
        duration="60 s",
        format="ethernet",
        tie_order="fixed",
        measure='{ max_goodput = "fair shares" }',
        switch=f'[{{ name = "s", ubr = {{ buffer = "{buffer}" }} }}]',
    )
    return Scenario.from_toml(text)


#: Files both ways, of which the slowest wait for their first samples.
BOTH_WAYS = crowd("20 cells", 40, profile="linux").with_values({"vc.0.traffic.both_ways": True})


def told(scenario: Scenario, metrics: str) -> list[str]:
    """Return the notes on a run of the scenario that concern the metrics."""
    facts = run_notes.facts(scenario.run().only.data)
    return [note.text for note in run_notes.concerning(run_notes.notes([facts]), metrics)]


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
        assert ("(`tie_order`) decided" in cli("experiment", "run", "notes.toml").stdout) is warns


def test_a_study_has_them_with_its_rows_also_from_a_store(cli: Cli, tmp_path: Path) -> None:
    for name, text in STUDY.items():
        (tmp_path / "incast" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "incast" / name).write_text(text)
    run = ("study", "run", "./incast", "--store", "runs.sqlite")
    for _ in range(2):
        (note,) = cli.json(*run)["notes"]
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
    scenarios += [crowd("20 cells", 64, profile="linux"), BOTH_WAYS, Scenario.from_toml(ASKED)]
    scenarios += [lan.with_values({**short, "measure.max_goodput": most}) for most in ("1 Mbps", "default")]
    pause = [{"at": "0.5 s", "rate": "10 Mbps"}, {"at": "0.75 s", "rate": "0 bps"}]
    scenarios.append(Scenario.from_toml(CROWDED_HOST).with_values({"link.a->s.changes": pause}))
    # Two inputs are refused equally often.
    memory = {"probe": [], "switch.*.pool": {"buffer": "300 kB", "cell": "208 bytes"}}
    scenarios.append(Scenario.read(ROOT / "examples/incast-shared.toml").with_values(memory))
    # Frames of ten TCPs that start together do not fit the buffer.
    for duration in ("2 s", "5 s"):
        changes = {"vc.*.traffic.mss": "9180 bytes", "switch.*.ubr.buffer": "200 cells", "duration": duration}
        scenarios.append(lan.with_values(changes))
    runs: list[dict[str, Any]] = [dict(scenario.run().only.data) for scenario in scenarios]
    runs.append({**runs[0], "measured_s": 0.1, "ports": [{**runs[0]["ports"][0], "efficiency": 1.01}]})
    script = ROOT / "tests/explorer/notes.mjs"
    done = subprocess.run([str(NODE), script], input=json.dumps(runs), capture_output=True, text=True, check=True)
    shown = "efficiency completed_s totals.p99_cell_transfer_delay_s"
    expected = [run_notes.concerning(run_notes.notes([run_notes.facts(run)]), shown) for run in runs]
    assert json.loads(done.stdout) == [[note.text for note in notes] for notes in expected]
    assert {note.kind for notes in expected for note in notes} == set(run_notes.KINDS)


def test_a_first_timeout_that_decides_the_slowest_files_is_noted() -> None:
    # Three timeouts of 1, 2 and 4 s, each less a part of a tick.
    crowded = crowd("20 cells", 64, profile="linux")
    run = crowded.run().only
    slowest = max((t for vc in run.vcs.values() for t in vc.transfers), key=lambda t: t.duration_s)
    assert slowest.initial_timeouts_s == pytest.approx(7 - 3 * 0.001)
    (note,) = [note for note in told(crowded, "p99_transfer_s") if "initial_rto" in note]
    assert note == (
        f"`initial_rto` decides p99_transfer_s: of the slowest file's {slowest.duration_s:.3g} s, 7 s passed in timeouts "
        "before a first round-trip sample, and at least half of the time of each file from p99 on"
    )
    assert not [note for note in told(crowded, "p50_transfer_s") if "initial_rto" in note]
    assert told(BOTH_WAYS, "p99_transfer_s")[0].startswith("`initial_rto` decides p99_transfer_s")
    # Timeouts after a sample do not count.
    later = crowd("200 cells", 64, profile="linux")
    run = later.run().only
    assert run.totals.timeouts and not any(t.initial_timeouts_s for vc in run.vcs.values() for t in vc.transfers)
    for scenario in (later, crowd("unlimited", 64)):
        assert not [note for note in told(scenario, "p99_transfer_s") if "initial_rto" in note]


def test_a_quantile_that_is_the_maximum_is_noted() -> None:
    def quantiles(senders: int, metrics: str, files: int = 1) -> list[str]:
        return [note for note in told(crowd("unlimited", senders, files), metrics) if "quantile" in note]

    note = "p99_transfer_s is the maximum of at most {} values: a 99 % quantile is smaller only with 100 values or more"
    assert quantiles(64, "totals.p99_transfer_s") == quantiles(64, "p99_transfer_s") == [note.format(64)]
    assert quantiles(99, "p99_transfer_s") == [note.format(99)]
    assert quantiles(100, "p99_transfer_s") == quantiles(64, "p95_transfer_s p50_transfer_s efficiency") == []
    for senders, is_longest in ((99, True), (100, False)):
        run = crowd("unlimited", senders).run().only
        longest = max(t.duration_s for vc in run.vcs.values() for t in vc.transfers)
        assert (run.totals.p99_transfer_s == longest) is is_longest
    assert quantiles(19, "p95_transfer_s") and not quantiles(20, "p95_transfer_s")
    of_vcs = quantiles(3, "max(vc.*.p95_transfer_s)", files=5)
    assert of_vcs == [
        "p95_transfer_s of 3 VCs is the maximum of at most 5 values: a 95 % quantile is smaller only with 20 values or more"
    ]
    assert quantiles(3, "vc.vc2.p95_transfer_s", files=20) == []
    delays = told(Scenario.from_toml(ASKED), "vc.*.p99_cell_transfer_delay_s")
    assert [note for note in delays if note.startswith("p99_cell_transfer_delay_s of 1 VC is the maximum of at most 1")]
    longer = Scenario.from_toml(ASKED).with_values({"duration": "1 s"})
    assert not [note for note in told(longer, "vc.*.p99_cell_transfer_delay_s") if "quantile" in note]


def test_a_program_that_was_never_asked_is_noted() -> None:
    idle = Scenario.from_toml(ASKED)
    (note,) = [note for note in told(idle, "") if "program" in note]
    assert note.startswith("the program at s->b was never asked: it is asked about first cells of frames that find")
    asked = idle.with_values({"switch.s.ubr.drop": '{ policy = "program", refuse = "X < 2", asked = "cells" }'})
    busy = idle.with_values({"link.s->b.rate": "5 Mbps"})
    fixed = idle.with_values({"switch.s.ubr.drop": "epd"})
    assert not [note for one in (asked, busy, fixed) for note in told(one, "") if "program" in note]


def test_a_note_of_some_runs_of_a_grid_says_of_how_many(cli: Cli, tmp_path: Path) -> None:
    scenario = crowd("20 cells", 64, profile="linux")
    (tmp_path / "crowd.toml").write_text(scenario.to_toml())
    both = cli("run", "crowd.toml", "--grid", "switch.s.ubr.buffer=20 cells,unlimited").stderr
    assert "note: `initial_rto` decides p99_transfer_s in 1 of 2 runs: " in both
    windows = "the windows of 64 TCPs hold at most"
    larger = crowd("unlimited", 64).with_values({"vc.*.traffic.file_size": "1 MB", "switch.s.ubr.buffer": "4992 cells"})
    assert [windows in note for one in (larger, scenario) for note in one.notes()].count(True) == 1


def test_a_jitter_that_replications_add_to_simultaneous_starts_is_noted(cli: Cli, tmp_path: Path) -> None:
    scenario = crowd("200 cells", 64)
    (tmp_path / "crowd.toml").write_text(scenario.source)
    drawn = (
        "64 TCPs that send files start at one instant, but each replication delays each of them at random, by up to 100 us "
        '(the default of `ensemble.start_jitter`); state "0 s" to keep them together'
    )
    for options, noted in (
        *((("--replications", 2), True), (("--replication", 0), True), ((), False)),
        *((("--replications", 2, "--set", f"ensemble.start_jitter={jitter}"), False) for jitter in ("0 s", "100 us")),
        (("--replications", 2, "--set", 'ensemble={ start_jitter = "1 s" }'), False),
        (("--replications", 2, "--set", "ensemble.timer_phase=false"), True),
    ):
        assert (f"note: {drawn}\n" in cli("run", "crowd.toml", *options).stderr) is noted, options
    assert drawn in scenario.run(replications=2).notes and drawn not in scenario.run().notes
    for first, second in (("0 s", "1 ms"), ("0 s", "60 s")):  # one alone, and one that starts after the end
        apart = crowd("200 cells", 2).with_values({"vc.vc1.start": first, "vc.vc2.start": second})
        assert not [note for note in apart.notes(replicated=True) if "jitter" in note]
    text = experiment("crowd.toml", '"p99_transfer_s"')
    for place, states in ((text, False), ('set = { "ensemble.start_jitter" = "0 s" }\n' + text, True)):
        (tmp_path / "notes.toml").write_text(place)
        assert (f"note: {drawn}" in " ".join(cli("experiment", "run", "notes.toml").stdout.split())) is not states
    for name, content in {**STUDY, "incast.toml": scenario.source}.items():
        (tmp_path / "incast" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "incast" / name).write_text(content)
    for options, replicated in ((("--replications", 2), True), ((), False)):
        notes = cli.json("study", "run", "./incast", *options)["notes"]
        assert (drawn in notes) is replicated


#: Beginnings of the notes on replications that draw nothing, or only the timer phase.
NOTHING_DRAWN, ONLY_PHASE = (
    "nothing is drawn, so all replications are the same run",
    "replications draw only the timer phase",
)
TOGETHER = {"ensemble.start_jitter": "0 s", "tie_order": "fair"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_replications_said_to_draw_nothing_or_only_the_timer_phase_do_so(path: Path) -> None:
    """Each example with starts together and fair ties: without the timer phase, runs are equal if and only if a note says so."""
    example = examples.scenario(path.stem).with_values({**TOGETHER, "measure.warm_up": "0 s", "probe": []})
    if outline(example.canonical)["duration_s"] > 1:
        example = example.with_values({"duration": "1 s"})
    notes = [note for note in example.notes(replicated=True) if note.startswith((NOTHING_DRAWN, ONLY_PHASE))]
    assert not [note for note in example.notes() if note.startswith((NOTHING_DRAWN, ONLY_PHASE))]
    still = example.with_values({"ensemble.timer_phase": False})
    first, second = ({**run.to_dict(), "replication": 0} for run in still.run(replications=2))
    if notes:
        assert first == second
        assert notes[0].startswith(ONLY_PHASE) == any(vc["traffic"]["kind"] == "tcp" for vc in example.to_dict()["vcs"])
        assert len([note for note in still.notes(replicated=True) if note.startswith(NOTHING_DRAWN)]) == 1
    else:
        assert first != second
    apart = example.with_values({"ensemble.start_jitter": "1 us"})
    assert not [note for note in apart.notes(replicated=True) if note.startswith((NOTHING_DRAWN, ONLY_PHASE))]


def test_run_and_experiments_note_replications_that_draw_only_the_timer_phase(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "crowd.toml").write_text(crowd("200 cells", 4).source)
    note = (
        f"note: {ONLY_PHASE}, since `ensemble.start_jitter` is 0 s and `tie_order` is fixed, so their intervals may be too narrow: "
        "set `ensemble.start_jitter` (default 100 us), or `tie_order` to random"
    )
    together = ("--set", "ensemble.start_jitter=0 s")
    for options, is_noted in (
        ((*together, "--replications", 2), True),
        (together, False),
        (("--replications", 2), False),
        ((*together, "--replications", 2, "--set", "tie_order=random"), False),
    ):
        assert (f"{note}\n" in cli("run", "crowd.toml", *options).stderr) is is_noted, options
    text = experiment("crowd.toml", '"p99_transfer_s"')
    for stated, is_noted in (("0 s", True), ("10 us", False)):
        (tmp_path / "notes.toml").write_text(f'set = {{ "ensemble.start_jitter" = "{stated}" }}\n{text}')
        assert (note in " ".join(cli("experiment", "run", "notes.toml").stdout.split())) is is_noted


@pytest.mark.parametrize(("name", "replications"), [("crowd", None), ("crowd", 2), ("ties", None)])
def test_a_notebook_shows_the_notes_that_run_prints(cli: Cli, name: str, replications: int | None) -> None:
    scenario = crowd("20 cells", 64, profile="linux") if name == "crowd" else Scenario.from_toml(IN_PHASE)
    (cli.folder / "notes.toml").write_text(scenario.source)
    stderr = cli("run", "notes.toml", *([] if replications is None else ["--replications", str(replications)])).stderr
    told = [line.removesuffix(HINTS["tied_refusals"]) for line in stderr.splitlines() if line.startswith("note: ")]
    results = scenario.run(replications=replications)
    assert told and told == [f"note: {note}" for note in results.notes] == repr(results).splitlines()[1:]
    shown = results._repr_html_()
    assert all(f"<p>note: {escape(note)}</p>" in shown for note in results.notes)
    again = pickle.loads(pickle.dumps(results))
    assert again == results and again.notes == results.notes
