"""Refusals at ties among the inputs of a port: their counts in results, and the warning of ``run``."""

import csv
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import cellyard as cy
import pytest
from cellyard.results import run_notes
from cellyard.results.path import metric_path
from cellyard.results.run import RunResult
from conftest import Cli

#: Two sources of cells at the rate of the port, in phase. The buffer loses every second cell.
IN_PHASE = """\
name = "in phase"
duration = "1 ms"
host = [{ name = "a" }, { name = "b" }, { name = "c" }]
switch = [{ name = "s", ubr = { buffer = "10 cells" } }]
link = [
  { from = "a", to = "s", rate = "155.52 Mbps" },
  { from = "b", to = "s", rate = "155.52 Mbps" },
  { from = "s", to = "c", rate = "155.52 Mbps" },
]
vc = [
  { name = "one", from = "a", to = "c", class = "ubr", traffic = { kind = "cbr", rate = "155.52 Mbps" } },
  { name = "two", from = "b", to = "c", class = "ubr", traffic = { kind = "cbr", rate = "155.52 Mbps" } },
]
"""

ORDER = "the order of cells that arrived at the same instant (`tie_order`) decided"
HINT = "the results may depend on it: --grid tie_order=fixed,rotating,random,fair shows how much"


@pytest.fixture
def in_phase(tmp_path: Path) -> Path:
    (tmp_path / "in-phase.toml").write_text(IN_PHASE)
    return Path("in-phase.toml")


def test_fair_refuses_sources_in_step_equally_often_and_rotating_does_not() -> None:
    text = IN_PHASE.replace('{ name = "c" }', '{ name = "c" }, { name = "idle", count = 8 }').replace(
        "vc = [", 'vc = [\n  { from = "idle", to = "c", start = "1 ms", traffic = { kind = "udp" } },'
    )
    text = text.replace("link = [", 'link = [\n  { from = "idle", to = "s", rate = "155.52 Mbps" },')

    def refused(order: str) -> list[int]:
        inputs = cy.Scenario.from_toml(f'tie_order = "{order}"\n{text}').run().ports["s->c"].inputs
        assert all(brought.refusals == 0 for brought in inputs if "idle" in brought.link)
        return sorted(brought.tied_refusals for brought in inputs if "idle" not in brought.link)

    few, many = refused("fair")
    assert many - few <= 1
    # Of ten inputs, two neighbours: one goes first in nine of ten turns.
    few, many = refused("rotating")
    assert 7 < many / few < 11
    (note,) = notes_on_ties([cy.Scenario.from_toml(f'tie_order = "fair"\n{text}').run().only.data])
    assert re.search(
        r"; s->c refused ([ab])->s most \(\d+ cells\) and (?!\1)[ab]->s least \(\d+\), and never 8 of 10 inputs;", note
    )


def test_run_warns_of_refusals_at_ties_only_without_a_stated_order(cli: Cli, in_phase: Path) -> None:
    done = cli("run", in_phase)
    (count,) = re.findall(r"decided (\d+) of", done.stderr)
    assert int(count) > 300
    run = cli.json("run", in_phase)
    (port,) = [port for port in run["runs"][0]["ports"] if port["name"] == "s->c"]
    least, most = sorted(port["inputs"], key=lambda brought: brought["tied_refusals"])
    assert done.stderr == (
        f"note: {ORDER} {count} of {count} refusals; s->c refused {most['link']} most "
        f"({most['tied_refusals']} cells) and {least['link']} least ({least['tied_refusals']}); {HINT}\n"
    )
    head = next(line.split() for line in done.stdout.splitlines() if line.startswith("port "))
    assert head[head.index("link") :][1:3] == ["tied_refusals", "max_queue"]
    for stated in (
        ("--set", "tie_order=rotating"),
        ("--grid", "tie_order=fixed,rotating,random,fair"),
        ("--set", "vc.two.start=1 us"),
        ("--set", "duration=50 us"),
    ):
        assert cli("run", in_phase, *stated).stderr == ""


def contested(tied: int, refused: int, of_a: int = 1) -> dict[str, Any]:
    """A run without VCs whose port refused cells of two inputs."""
    inputs = [{"link": "a->s", "tied_refusals": of_a}, {"link": "b->s", "tied_refusals": tied - of_a}]
    counts = {"refusals": refused, "tied_refusals": tied, "inputs": inputs}
    port = {"name": "s->c", "can_queue": True, "efficiency": None, **counts}
    totals = {"finished_transfers": 0, "efficiency": None}
    return {"ports": [port], "vcs": [], "totals": totals, "measured_s": 1.0, "duration_s": 1.0, "replication": None}


def notes_on_ties(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The notes on refusals at contested ties."""
    found = run_notes.notes([run_notes.facts(run) for run in runs])
    return [note.text for note in found if note.kind == "tied_refusals"]


@pytest.mark.parametrize(
    ("tied", "refused", "warns"), [(10, 20, True), (9, 20, False), (19, 19, False), (20, 41, False), (21, 41, True)]
)
def test_half_of_twenty_refusals_is_enough(tied: int, refused: int, warns: bool) -> None:
    notes = notes_on_ties([contested(tied, refused)])
    stated = f"{ORDER} {tied} of {refused} refusals"
    assert [note.partition(";")[0] for note in notes] == [stated] * warns


def test_inputs_refused_equally_often_are_neither_most_nor_least() -> None:
    (note,) = notes_on_ties([contested(20, 20, of_a=10)])
    assert "; s->c refused 10 cells of each of 2 inputs; " in note


def test_a_note_on_several_runs_counts_them() -> None:
    (note,) = notes_on_ties([contested(tied, 40) for tied in (40, 3, 20)])
    assert note == f"in 2 of 3 runs, {ORDER} at least half of the refusals; the results may depend on it"


@pytest.mark.parametrize(
    ("form", "order"),
    [
        ('"aal5"', "rotating"),
        ('"ethernet"', "fair"),
        ('{ cell = "64 bytes", carries = "64 bytes" }', "fair"),
    ],
)
def test_the_default_order_is_fair_in_every_format_but_aal5(form: str, order: str) -> None:
    traffic = '{ kind = "udp", datagram_size = "100 bytes" }'
    text = f"format = {form}\n{IN_PHASE}".replace('{ kind = "cbr", rate = "155.52 Mbps" }', traffic)
    assert cy.Scenario.from_toml(text).to_dict()["tie_order"] == order


def test_a_scenario_says_what_it_states() -> None:
    scenario = cy.Scenario.from_toml(IN_PHASE)
    assert scenario.states("name") and not scenario.states("tie_order")
    assert scenario.with_values({"tie_order": "fixed"}).states("tie_order")
    assert cy.Scenario.from_toml(f'tie_order = "fixed"\n{IN_PHASE}').states("tie_order")
    # The engine's TOML may have a line break within an inline table, and Python's may not.
    table = cy.Scenario.from_toml(f'ensemble = {{\n  start_jitter = "0 s"\n}}\n{IN_PHASE}')
    assert table.states("ensemble.start_jitter") and not table.states("ensemble.timer_phase")


def test_results_of_earlier_versions_do_not_know_refusals(in_phase: Path, tmp_path: Path) -> None:
    scenario = cy.Scenario.read(tmp_path / in_phase)
    data = json.loads(json.dumps({**scenario.run().only.data}))
    assert notes_on_ties([data])
    for port in data["ports"]:
        for name in ("refusals", "tied_refusals", "inputs"):
            del port[name]
    port = RunResult(data).ports["s->c"]
    assert port.refusals is None and port.tied_refusals is None and port.inputs == ()
    assert notes_on_ties([data]) == []


def test_inputs_have_a_file_and_metrics(cli: Cli, in_phase: Path, tmp_path: Path) -> None:
    assert cli("run", in_phase, "--out", "out").returncode == 0
    rows = list(csv.DictReader((tmp_path / "out/port_inputs.csv").open(encoding="utf-8")))
    assert [(row["port"], row["link"]) for row in rows] == [("s->c", "a->s"), ("s->c", "b->s")]
    run = cy.Scenario.read(tmp_path / in_phase).run().only
    of_input = metric_path("port.s->c.input.a->s.tied_refusals").value_in(run)
    assert of_input == int(rows[0]["tied_refusals"]) > 100
    assert metric_path("port.s->c.tied_refusals").value_in(run) == run.ports["s->c"].tied_refusals


def test_tcps_that_go_on_after_others_are_done_share_the_line_under_fair() -> None:
    long = cy.Tcp(recovery="sack", mss="1460 bytes", granularity="1 ms")
    short = cy.Tcp(recovery="sack", mss="1460 bytes", granularity="1 ms", file_size="20 kB")
    scenario = cy.Scenario(
        name="leftover",
        duration="4 s",
        format="ethernet",
        hosts=[cy.Host(name="long", count=2), cy.Host(name="short", count=14), cy.Host(name="z")],
        switches=[cy.Switch(name="w", ubr=cy.Queue(buffer="64 cells"))],
        links=[cy.Link(from_=name, to="w", rate="1 Gbps", delay="5 us") for name in ("long", "short")]
        + [cy.Link(from_="w", to="z", rate="1 Gbps", delay="5 us")],
        measure=cy.Measure(warm_up="1 s"),
        vcs=[cy.Vc(from_="long", to="z", traffic=long), cy.Vc(from_="short", to="z", traffic=short)],
    )

    def shares(order: str) -> tuple[float, float]:
        """Mean over 20 replications of the difference of the two goodputs, and half its 95 % interval, in Mb/s."""
        runs = scenario.with_values({"tie_order": order}).run(replications=20).runs
        differences = [run.vcs["vc1"].goodput_mbps - run.vcs["vc2"].goodput_mbps for run in runs]
        return fmean(differences), 2.093 * stdev(differences) / len(differences) ** 0.5

    for order in ("fair", "random"):
        mean, half = shares(order)
        assert abs(mean) <= half, order
    mean, half = shares("rotating")
    assert abs(mean) - half > 200


def test_a_note_on_one_refused_input_says_that_no_other_was() -> None:
    (note,) = notes_on_ties([contested(30, 40, of_a=0)])
    assert "; s->c refused only b->s (30 cells) of 2 inputs; " in note
