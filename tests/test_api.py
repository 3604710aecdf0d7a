"""The typed Python interface."""

from __future__ import annotations

import dataclasses
from typing import Any

import cellyard as cy
import pytest
from conftest import LAN
from hypothesis import given, settings
from hypothesis import strategies as st


def lan(**changes: Any) -> cy.Scenario:
    fields: dict[str, Any] = {
        "name": "two TCPs",
        "duration": "1 s",
        "measure": cy.Measure(max_goodput="125.198491 Mbps"),
        "hosts": [cy.Host(name="source", count=2), cy.Host(name="sink", count=2)],
        "switches": [cy.Switch(name="west", ubr=cy.Queue(buffer="500 cells", drop="epd")), cy.Switch(name="east")],
        "links": [
            cy.Link(from_="source", to="west", rate="155.52 Mbps", delay="5 us"),
            cy.Link(from_="west", to="east", rate="155.52 Mbps", delay="5 us"),
            cy.Link(from_="east", to="sink", rate="155.52 Mbps", delay="5 us"),
        ],
        "vcs": [cy.Vc(from_="source", to="sink", traffic=cy.Tcp(recovery="vanilla"))],
    }
    return cy.Scenario(**{**fields, **changes})


def test_python_and_toml_build_the_same_scenario() -> None:
    assert lan() == cy.Scenario.from_toml(LAN)
    assert lan(seed=7) == cy.Scenario.from_toml(LAN, overrides=[("seed", "7")]) == lan().with_seed(7)


def test_resolved_toml_reads_back() -> None:
    assert cy.Scenario.from_toml(lan().to_toml()) == lan()


def test_results_are_typed_and_agree_with_the_document() -> None:
    result = lan(probes=[cy.QueueProbe(of="west->east", interval="10 ms")]).run()
    assert result.vcs["vc1"].goodput_mbps == result.only.to_dict()["vcs"][0]["goodput_mbps"]
    assert result.vcs["vc1"].source == "source1" and result.vcs["vc1"].service_class == "ubr"
    port = result.ports["west->east"]
    assert port.arrived_cells == port.accepted_cells + port.dropped_cells.total
    assert port.accepted_cells == port.sent_cells + port.held_cells
    assert port.dropped_cells.policy > 0 and port.classes[0].buffer_cells == 500
    assert result.totals.fairness is not None and 0.5 <= result.totals.fairness <= 1
    assert result.classes["ubr"].cells_sent == sum(vc.cells_sent for vc in result.vcs.values())
    (series,) = result.series
    assert len(series.time_s) == len(series.value) and series.unit == "cells"
    assert 0 < series.value.max() <= port.max_queue_cells


def test_replications_are_an_ensemble_and_jobs_change_nothing() -> None:
    results = lan().run(replications=4, jobs=1)
    assert [run.replication for run in results] == [0, 1, 2, 3]
    again = lan().run(replications=4, jobs=3)
    assert results.to_dict() == again.to_dict()
    low, high = results.interval("goodput_mbps") or (0, 0)
    assert low < (results.median("goodput_mbps") or 0) < high
    with pytest.raises(ValueError, match="there are 4 runs"):
        _ = results.totals


def test_digest_only_when_asked_for() -> None:
    assert lan().run().only.digest is None
    one, other = (lan().run(digest=True, seed=seed).only.digest for seed in (1, 2))
    assert one is not None and one == other  # nothing is drawn outside an ensemble


def test_a_probe_changes_nothing() -> None:
    plain, probed = (
        lan().run(),
        lan(probes=[cy.CwndProbe(of="vc"), cy.DropsProbe(of="west->east", interval="1 ms")]).run(),
    )
    assert plain.only.data["vcs"] == probed.only.data["vcs"] and len(probed.series) == 3


def test_scenario_errors_carry_every_problem() -> None:
    with pytest.raises(cy.ScenarioError) as caught:
        lan(
            duration="1 parsec",
            switches=[cy.Switch(name="west", ubr=cy.Queue(buffer="0 cells")), cy.Switch(name="east")],
        )
    paths = {problem.path for problem in caught.value.problems}
    assert paths == {"duration", "switch[0].ubr.buffer"}
    assert all(problem.message and problem.line == 0 for problem in caught.value.problems)
    assert isinstance(caught.value, ValueError)


def test_unknown_fields_and_bad_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="durations"):
        lan(durations="1 s")
    with pytest.raises(TypeError):
        cy.Host(nam="a")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="replications"):
        lan().run(replications=0)
    with pytest.raises(ValueError, match=r"replications = 1\.5: must be a whole number"):
        lan().run(replications=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="jobs"):
        lan().run(jobs=0)
    with pytest.raises(cy.UsageError, match="metric 'fairnes' does not exist; did you mean 'fairness'"):
        lan().run().median("fairnes")
    with pytest.raises(cy.UsageError, match="kernel A needs"):
        lan(switches=[cy.Switch(name="west", scheduler=cy.PerVc()), cy.Switch(name="east")]).run(kernel="a")
    with pytest.raises(AttributeError):
        _ = cy.Nothing


def test_components_are_frozen_and_keyword_only() -> None:
    policy = cy.Fba(r=0.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.r = 0.9  # type: ignore[misc]
    with pytest.raises(TypeError):
        cy.Fba(0.5)  # type: ignore[call-arg]
    assert dataclasses.asdict(policy) == {"r": 0.5, "z": 0.8, "k_fba": None}


def test_every_public_name_can_be_had() -> None:
    names = dir(cy)
    assert {"Scenario", "Tcp", "Results", "ScenarioError", "version"} <= set(names)
    assert all(getattr(cy, name) is not None for name in names)


thresholds = st.one_of(st.integers(0, 1000).map(lambda n: f"{n} cells"), st.integers(0, 1000).map(lambda n: n / 1000))
drops = st.one_of(
    st.just(cy.TailDrop()),
    st.just(cy.Ppd()),
    st.builds(cy.Epd, reserve=st.integers(0, 1000).map(lambda n: f"{n} cells")),
    st.builds(cy.Epd, threshold=thresholds),
    st.builds(cy.SelectiveDrop, r=thresholds, z=st.integers(0, 3000).map(lambda n: n / 1000)),
    st.builds(cy.Fba, r=thresholds, z=st.integers(0, 3000).map(lambda n: n / 1000)),
)
tcps = st.builds(
    cy.Tcp,
    recovery=st.sampled_from(["vanilla", "tahoe", "reno", "new-reno", "sack"]),
    mss=st.integers(1, 9180).map(lambda n: f"{n} bytes"),
    rwnd=st.integers(9180, 10**6).map(lambda n: f"{n} bytes"),
    granularity=st.integers(1, 500).map(lambda n: f"{n} ms"),
)


@settings(deadline=None, max_examples=60)
@given(st.builds(cy.Queue, buffer=st.just("1000 cells"), drop=drops), tcps, st.booleans(), st.integers(0, 2**63 - 1))
def test_what_components_say_survives_the_way_through_toml(
    queue: cy.Queue, tcp: cy.Tcp, arrival_first: bool, seed: int
) -> None:
    made = lan(
        switches=[cy.Switch(name="west", ubr=queue), cy.Switch(name="east")],
        vcs=[cy.Vc(from_="source", to="sink", traffic=tcp)],
        arrival_first=arrival_first,
        seed=seed,
    )
    assert cy.Scenario.from_toml(made.to_toml()) == made
    assert made.seed == seed and made.to_dict()["arrival_first"] is arrival_first


def test_trace_tells_why_each_cell_was_dropped() -> None:
    result = lan(duration="100 ms", probes=[cy.TraceProbe(of="vc1")]).run().only
    assert len(result.trace) == result.vcs["vc1"].cells_dropped > 0
    refused = [cell for cell in result.trace if cell.reason == "policy"]
    assert refused and all(cell.port == "west->east" and cell.vc == "vc1" for cell in result.trace)
    first = [cell for cell in refused if cell.cell == 0]
    assert first and all(cell.waiting_cells > 300 == cell.threshold_cells for cell in first)  # K - 200
