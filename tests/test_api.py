"""The typed Python interface."""

import dataclasses
import json
from typing import Any

import cellyard as cy
import numpy as np
import pytest
from conftest import LAN
from hypothesis import given, settings, strategies as st


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
    document = json.loads(json.dumps(result.only.to_dict()))
    assert document["series"][0]["value"] == list(series.value)
    assert cy.RunResult(document) == result.only


def test_replications_are_an_ensemble_and_jobs_change_nothing() -> None:
    results = lan().run(replications=4, jobs=1)
    assert [run.replication for run in results] == [0, 1, 2, 3]
    again = lan().run(replications=4, jobs=3)
    assert results.to_dict() == again.to_dict()
    low, high = results.interval("goodput_mbps") or (0, 0)
    assert low < (results.median("goodput_mbps") or 0) < high
    # Metrics that totals lack, by the paths of studies and experiments.
    assert results.values("vc.vc2.goodput_mbps") == [run.vcs["vc2"].goodput_mbps for run in results]
    longest = [max(port.mean_queue_cells for port in run.ports.values()) for run in results]
    assert results.interval("max(port.*.mean_queue_cells)") == (min(longest), max(longest))
    with pytest.raises(ValueError, match="there are 4: index them"):
        _ = results.totals


def test_the_digest_is_computed_only_on_request() -> None:
    assert lan().run().only.digest is None
    first, second = (lan().run(digest=True, seed=seed).only.digest for seed in (1, 2))
    assert first is not None and first == second  # no random draws outside an ensemble


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
    wrongs: list[dict[str, Any]] = [
        *({"replications": number} for number in (0, 1.5, 10**9, True)),
        *({"jobs": 0}, {"jobs": 10**30}, {"seed": -1}, {"kernel": "z"}),
    ]
    for wrong in wrongs:
        with pytest.raises(cy.UsageError, match=next(iter(wrong))):
            lan().run(**wrong)
    with pytest.raises(cy.UsageError, match="metric `fairnes` does not exist; did you mean `fairness`"):
        lan().run().median("fairnes")
    with pytest.raises(cy.UsageError, match="vc `vc9` does not exist; did you mean"):
        lan().run().median("vc.vc9.goodput_mbps")
    with pytest.raises(cy.UsageError, match=r"cannot serve the port .*: its scheduler keeps a queue for each VC;"):
        lan(switches=[cy.Switch(name="west", scheduler=cy.PerVc()), cy.Switch(name="east")]).run(kernel="arithmetic")
    with pytest.raises(AttributeError):
        _ = cy.Nothing


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_errors_about_non_finite_numbers_name_the_field(number: float) -> None:
    queue = cy.Queue(buffer="500 cells", drop=cy.SelectiveDrop(z=number))
    with pytest.raises(cy.UsageError, match=rf"switches\[0\].ubr.drop.z = {number}: must be a finite number"):
        lan(switches=[cy.Switch(name="west", ubr=queue), cy.Switch(name="east")])
    with pytest.raises(cy.UsageError, match=rf"link.\*.lose_probability = {number}: must be a finite number"):
        lan().with_values({"link.*.lose_probability": number})


def test_values_can_be_replaced() -> None:
    fba = cy.Fba(z=0.5)
    other = lan().with_values(
        {"switch.west.ubr.drop": fba, "host.*.count": 3, "vc.traffic.delayed_ack": "100 ms", "seed": 4}
    )
    assert [vc["name"] for vc in other.to_dict()["vcs"]] == ["vc1", "vc2", "vc3"]
    assert other.to_dict()["switches"][0]["queues"][0]["drop"]["z"] == {"num": 5, "den": 10}
    assert other.seed == 4 and other.with_values({"seed": None}).seed == lan().seed
    restored = other.with_values(
        {"switch.west.ubr.drop": "epd", "host.*.count": 2, "vc.traffic.delayed_ack": None, "seed": None}
    )
    assert restored == lan()
    assert cy.Scenario.from_toml(LAN).with_values({"duration": "3 s"}) == lan(duration="3 s")
    with pytest.raises(cy.ScenarioError, match="no switch is called `wset`"):
        lan().with_values({"switch.wset.ubr": cy.Queue()})
    for scenario in (
        lan(),
        cy.Scenario.from_toml(LAN),
    ):  # where the text alone is valid, the message names the override too
        with pytest.raises(
            cy.ScenarioError,
            match=r"scenario.*vc\[0\].to = .* a group of 3 .*; with duration=3 s, host.source.count=3$",
        ):
            scenario.with_values({"duration": "3 s"}).with_values({"host.source.count": 3})


def test_interval_probes_sample_at_their_times_and_none_gets_lost() -> None:
    probes = [
        cy.CwndProbe(of="vc1"),
        cy.CwndProbe(of="vc1", interval="50 ms"),
        cy.GoodputProbe(of="vc1", interval="100 ms"),
        cy.GoodputProbe(of="vc1", interval="50 ms"),
        cy.DeliveredProbe(of="vc", interval="100 ms"),
        cy.SequenceProbe(of="vc1"),
    ]
    result = lan(duration="1 s", probes=probes).run().only
    changes, sampled, coarse, fine, delivered, _, sequence = result.series
    assert list(sampled.time_s) == pytest.approx([0.05 * n for n in range(21)])
    for time, value in zip(sampled.time_s[1:], sampled.value[1:], strict=True):
        before = changes.value[changes.time_s < time]
        assert value == (before[-1] if len(before) else changes.value[0])
    assert coarse.value.sum() * 2 == pytest.approx(fine.value.sum())
    assert delivered.value[-1] <= result.vcs["vc1"].delivered_bytes
    assert delivered.value[-1] == pytest.approx(coarse.value.sum() * 0.1e6 / 8, rel=0.01)
    assert len(sequence.value) == result.vcs["vc1"].segments
    again = sum(sequence.value <= np.maximum.accumulate(np.concatenate([[-1], sequence.value[:-1]])))
    assert again == result.vcs["vc1"].retransmitted_segments > 0


def test_p99_of_tcps_is_undefined_if_unknown() -> None:
    plain = lan()
    assert plain.run().totals.p99_cell_transfer_delay_s is not None
    fields = {"hosts": [cy.Host(name="source", count=2), cy.Host(name="sink", count=2)]}
    vcs = [
        cy.Vc(from_="source", to="sink", traffic=cy.Tcp(recovery="vanilla")),
        cy.Vc(name="cbr", from_="source1", to="sink2", class_="ubr", traffic=cy.Cbr(rate="1 Mbps")),
    ]
    mixed = lan(vcs=vcs, **fields).run()
    assert mixed.totals.p99_cell_transfer_delay_s is None
    assert mixed.classes["ubr"].p99_cell_transfer_delay_s is not None
    longest = max(service_class.max_queue_cells for port in mixed.only.ports.values() for service_class in port.classes)
    assert mixed.classes["ubr"].max_queue_cells == longest > 0


def test_components_are_frozen_and_keyword_only() -> None:
    policy = cy.Fba(r=0.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.r = 0.9  # type: ignore[misc]
    with pytest.raises(TypeError):
        cy.Fba(0.5)  # type: ignore[call-arg]
    assert dataclasses.asdict(policy) == {"r": 0.5, "z": 0.8, "k_fba": None}


def test_parameters_of_a_program_stand_beside_its_fields() -> None:
    program = cy.Program(refuse="X > R", parameters={"R": np.float64(400)})
    table = {"policy": "program", "refuse": "X > R", "R": 400}
    assert lan().with_values({"switch.west.ubr.drop": program}) == lan().with_values({"switch.west.ubr.drop": table})
    assert hash(program) == hash(cy.Program(refuse="X > R")) and program != cy.Program(refuse="X > R")
    for name in ("refuse", "policy", "asked"):
        with pytest.raises(cy.UsageError, match=f"'{name}' is the name of a field of Program"):
            lan().with_values({"switch.west.ubr.drop": cy.Program(refuse="X > 1", parameters={name: 1})})
    with pytest.raises(cy.UsageError, match="must map names to values"):
        lan().with_values({"switch.west.ubr.drop": cy.Program(refuse="X > 1", parameters="R")})  # type: ignore[arg-type]


def test_every_public_name_is_accessible() -> None:
    names = dir(cy)
    assert {"Scenario", "traffic", "Results", "errors", "version"} <= set(names)
    assert all(
        getattr(cy, name) is not None
        for name in [*names, *(name for name in vars(cy.components) if name[0].isupper()), "ScenarioError"]
    )


thresholds = st.one_of(st.integers(0, 1000).map(lambda n: f"{n} cells"), st.integers(0, 1000).map(lambda n: n / 1000))
drops = st.one_of(
    st.just(cy.TailDrop()),
    st.just(cy.Ppd()),
    st.builds(cy.Epd, reserve=st.integers(0, 1000).map(lambda n: f"{n} cells")),
    st.builds(cy.Epd, threshold=thresholds),
    st.builds(cy.SelectiveDrop, r=thresholds, z=st.integers(0, 3000).map(lambda n: n / 1000)),
    st.builds(cy.Fba, r=thresholds, z=st.integers(0, 3000).map(lambda n: n / 1000)),
    st.builds(
        cy.Program,
        refuse=st.just("X > R and Y * N > asked_ * X"),
        asked=st.sampled_from(["frames", "cells"]),
        parameters=st.fixed_dictionaries({"R": thresholds, "asked_": st.integers(0, 3000).map(lambda n: n / 1000)}),
    ),
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
def test_components_survive_a_round_trip_through_toml(
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


def test_the_trace_has_the_reason_of_each_drop() -> None:
    result = lan(duration="100 ms", probes=[cy.TraceProbe(of="vc1")]).run().only
    assert len(result.trace) == result.vcs["vc1"].cells_dropped > 0
    refused = [cell for cell in result.trace if cell.reason == "policy"]
    assert refused and all(cell.port == "west->east" and cell.vc == "vc1" for cell in result.trace)
    first = [cell for cell in refused if cell.cell == 0]
    assert first and all((cell.waiting_cells or 0) > 300 == cell.threshold_cells for cell in first)  # K - 200
