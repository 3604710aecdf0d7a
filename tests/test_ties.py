"""Ties among the inputs of a port: their counts in results, and the warning of ``run``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import cellyard as cy
import pytest
from cellyard.commands import grid_notes
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

NOTE = "drops fell on ties; results depend on `tie_order`: --grid tie_order=fixed,rotating,random shows how much\n"


@pytest.fixture
def in_phase(tmp_path: Path) -> Path:
    (tmp_path / "in-phase.toml").write_text(IN_PHASE)
    return Path("in-phase.toml")


def test_inputs_in_phase_tie_at_every_cell(in_phase: Path, tmp_path: Path) -> None:
    scenario = cy.Scenario.read(tmp_path / in_phase)
    port = scenario.run().ports["s->c"]
    assert port.tied_cells == port.arrived_cells
    assert port.tied_dropped_cells == port.dropped_cells.total > 300
    assert [brought.link for brought in port.inputs] == ["a->s", "b->s"]
    assert {brought.tied_cells for brought in port.inputs} == {port.arrived_cells // 2}
    assert scenario.run(kernel="twin").ports["s->c"] == port
    apart = scenario.with_values({"vc.two.start": "1 us"}).run().ports["s->c"]
    assert apart.dropped_cells.total > 300
    assert apart.tied_cells == apart.tied_dropped_cells == 0


def test_run_warns_of_drops_on_ties_only_without_a_stated_order(cli: Cli, in_phase: Path) -> None:
    done = cli("run", in_phase)
    count = done.stderr.split()[1]
    assert int(count) > 300
    assert done.stderr == f"note: {count} of {count} {NOTE}"
    head = next(line.split() for line in done.stdout.splitlines() if line.startswith("port "))
    assert head[head.index("link") :][1:4] == ["tied", "tied_dropped", "max_queue"]
    for stated in (
        ("--set", "tie_order=rotating"),
        ("--grid", "tie_order=fixed,rotating,random"),
        ("--set", "vc.two.start=1 us"),
        ("--set", "duration=50 us"),
    ):
        assert cli("run", in_phase, *stated).stderr == ""


def test_order_stated_in_the_file_gives_no_warning(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "stated.toml").write_text(f'tie_order = "rotating"\n{IN_PHASE}')
    assert cli("run", "stated.toml").stderr == ""


@pytest.mark.parametrize(
    ("tied", "dropped", "warns"), [(10, 20, True), (9, 20, False), (19, 19, False), (20, 41, False), (21, 41, True)]
)
def test_half_of_twenty_drops_is_enough(tied: int, dropped: int, warns: bool) -> None:
    port = {"can_queue": True, "tied_dropped_cells": tied, "dropped_cells": {"full": dropped, "link": 100}}
    scenario = cy.Scenario.from_toml(IN_PHASE)
    notes = grid_notes.tie_notes(scenario, [{"ports": [port]}])
    assert [note.partition(";")[0] for note in notes] == [f"{tied} of {dropped} drops fell on ties"] * warns


def test_a_note_on_several_runs_counts_them() -> None:
    runs = [
        {"ports": [{"can_queue": True, "tied_dropped_cells": tied, "dropped_cells": {"full": 40}}]}
        for tied in (40, 3, 20)
    ]
    (note,) = grid_notes.tie_notes(cy.Scenario.from_toml(IN_PHASE), runs)
    assert note.startswith("in 2 of 3 runs, at least half of the drops fell on ties; results depend on `tie_order`: ")


def test_a_scenario_says_what_it_states() -> None:
    scenario = cy.Scenario.from_toml(IN_PHASE)
    assert scenario.states("name") and not scenario.states("tie_order")
    assert scenario.with_values({"tie_order": "fixed"}).states("tie_order")
    assert cy.Scenario.from_toml(f'tie_order = "fixed"\n{IN_PHASE}').states("tie_order")


def test_results_of_earlier_versions_do_not_know_ties(in_phase: Path, tmp_path: Path) -> None:
    scenario = cy.Scenario.read(tmp_path / in_phase)
    data = json.loads(json.dumps({"ports": scenario.run().only.data["ports"]}))
    for port in data["ports"]:
        for name in ("tied_cells", "tied_dropped_cells", "inputs"):
            del port[name]
    port = RunResult(data).ports["s->c"]
    assert port.tied_cells is None and port.tied_dropped_cells is None and port.inputs == ()
    assert grid_notes.tie_notes(scenario, [data]) == []


def test_inputs_have_a_file_and_metrics(cli: Cli, in_phase: Path, tmp_path: Path) -> None:
    assert cli("run", in_phase, "--out", "out").returncode == 0
    rows = list(csv.DictReader((tmp_path / "out/port_inputs.csv").open(encoding="utf-8")))
    assert [(row["port"], row["link"]) for row in rows] == [("s->c", "a->s"), ("s->c", "b->s")]
    run = cy.Scenario.read(tmp_path / in_phase).run().only
    assert metric_path("port.s->c.input.a->s.tied_cells").value_in(run) == int(rows[0]["tied_cells"]) > 300
    assert metric_path("port.s->c.tied_cells").value_in(run) == run.ports["s->c"].arrived_cells
