"""Metrics compared with hand calculations.

A burst of ten cells, one every 0.1 ms, meets a port that takes 1 ms for each. Cell i = 0 .. 9
leaves its host at 0.1 (i + 1) ms and the port at 1.1 + i ms. Its transfer delay is thus 1 + 0.9 i
ms, of which it waits 0.9 i ms.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import cellyard as cy
import numpy as np
import pytest
from cellyard.results.path import metric_path
from conftest import Cli, chain

KERNELS = ("auto", "slotted", "twin")


def line(*sources: Any, rates: tuple[str, str] = ("4.24 Mbps", "424 kbps"), **fields: Any) -> cy.Scenario:
    """Return a scenario of traffic from the host a through the switch west to the host b, or of VCs."""
    links = [cy.Link(from_="a", to="west", rate=rates[0]), cy.Link(from_="west", to="b", rate=rates[1])]
    usual: dict[str, Any] = {"duration": "100 ms", "hosts": [cy.Host(name="a"), cy.Host(name="b")], "links": links}
    vcs = [one if isinstance(one, cy.Vc) else cy.Vc(from_="a", to="b", traffic=one) for one in sources]
    return cy.Scenario(**{**usual, "switches": [cy.Switch(name="west")], **fields, "vcs": vcs})


def burst(kernel: str, measure: cy.Measure | None = None, **queue: Any) -> cy.RunResult:
    """Return the result of that burst in a run of 100 ms."""
    video = cy.Vbr(rate="4.24 Mbps", on="1 ms", off="99 ms")
    west = cy.Switch(name="west", vbr=cy.Queue(**queue))
    return line(video, measure=measure or cy.Measure(), switches=[west]).run(kernel=kernel).only


@pytest.mark.parametrize("kernel", KERNELS)
def test_ports_count_cells_of_the_measuring_time(kernel: str) -> None:
    # Between 2 and 5 ms, cells leave at 2.1, 3.1 and 4.1 ms. Before the first 8 cells wait, then 7,
    # 6 and 5.
    port = burst(kernel, cy.Measure(warm_up="2 ms", window="3 ms")).ports["west->b"]
    assert (port.measured_arrived_cells, port.measured_sent_cells, port.measured_max_queue_cells) == (0, 3, 8)
    assert port.measured_mean_queue_cells == pytest.approx((0.1 * 8 + 7 + 6 + 0.9 * 5) / 3)
    assert port.measured_utilisation == 1
    assert (port.arrived_cells, port.sent_cells, port.max_queue_cells) == (10, 10, 9)
    # Until 0.75 ms seven cells arrive: one is in service, three wait, and the buffer refuses three.
    port = burst(kernel, cy.Measure(window="0.75 ms"), buffer="3 cells").ports["west->b"]
    assert (port.measured_arrived_cells, port.measured_dropped_cells, port.measured_sent_cells) == (7, 3, 0)
    assert port.measured_utilisation == pytest.approx(0.65 / 0.75)  # of the cell that leaves at 1.1 ms
    assert port.measured_cell_loss_ratio == port.classes[0].measured_cell_loss_ratio == pytest.approx(3 / 7)
    assert port.cell_loss_ratio == port.classes[0].cell_loss_ratio > 3 / 7
    # A port that cannot queue has no counters.
    lone = cy.examples.scenario("lan-5", overrides={"duration": "20 ms"}).run().ports["east->sink1"]
    assert (lone.measured_arrived_cells, lone.measured_utilisation) == (None, None)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "cells", ["ethernet", "{ cell = '1538 bytes', carries = '1500 bytes', frame_overhead = '0 bytes' }"]
)
def test_utilisation_includes_the_packet_that_the_end_cuts(kernel: str, cells: str) -> None:
    # Packets of 1538 bytes take 0.6152 ms on the way in and twice as long at the port, which is busy
    # from the first arrival on. A port behind it sends them as they come.
    vc = 'traffic = { kind = "udp", datagram_size = "1472 bytes" }'
    ways = ("a", "20 Mbps", "s", "10 Mbps", "t", "10 Mbps", "z")
    text = chain(*ways, vc=vc, duration="12 ms", format=cells, measure='{ warm_up = "5 ms" }')
    ports = cy.Scenario.from_toml(text).run(kernel=kernel).only.ports
    assert ports["s->t"].utilisation == pytest.approx((12 - 0.6152) / 12)
    assert ports["s->t"].measured_utilisation == 1
    # Packets arrive there at the very instants at which others leave: none waits for any time.
    assert (ports["t->z"].can_queue, ports["t->z"].max_queue_cells) == (False, 0)
    assert ports["t->z"].utilisation == pytest.approx((12 - 3 * 0.6152) / 12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_delays_queue_and_goodput_of_a_burst(kernel: str) -> None:
    result = burst(kernel)
    vc = result.vcs["vc1"]
    assert (vc.cells_sent, vc.cells_delivered, vc.cells_dropped) == (10, 10, 0)
    assert vc.goodput_mbps == pytest.approx(10 * 48 * 8 / 0.1 / 1e6)
    assert vc.mean_cell_transfer_delay_s == pytest.approx(5.05e-3)
    assert vc.p50_cell_transfer_delay_s is not None
    assert 4.6e-3 <= vc.p50_cell_transfer_delay_s <= 4.6e-3 * (1 + 1 / 64)  # the fifth of ten
    assert vc.p95_cell_transfer_delay_s == vc.p99_cell_transfer_delay_s == vc.max_cell_transfer_delay_s
    assert vc.max_cell_transfer_delay_s == pytest.approx(9.1e-3)
    assert vc.cell_delay_variation_s == pytest.approx(8.1e-3)
    of_class = result.classes["vbr"]
    assert of_class.cell_loss_ratio == 0
    assert of_class.mean_cell_transfer_delay_s == pytest.approx(5.05e-3)
    assert of_class.p99_cell_transfer_delay_s == pytest.approx(9.1e-3)
    assert of_class.cell_delay_variation_s == pytest.approx(8.1e-3)
    port = result.ports["west->b"]
    assert (port.arrived_cells, port.accepted_cells, port.sent_cells, port.held_cells) == (10, 10, 10, 0)
    assert port.max_queue_cells == port.classes[0].max_queue_cells == 9  # the first is in service
    assert port.mean_queue_cells == pytest.approx(0.9 * sum(range(10)) / 100)
    assert port.utilisation == pytest.approx(10 / 100)
    assert port.efficiency is None  # only for TCPs
    assert (port.measured_arrived_cells, port.measured_dropped_cells, port.measured_max_queue_cells) == (10, 0, 9)
    assert (port.measured_mean_queue_cells, port.measured_utilisation) == (port.mean_queue_cells, port.utilisation)
    totals = result.totals
    assert (totals.cells, totals.bottleneck_cells) == (20, 10)
    assert (totals.goodput_mbps, totals.fairness) == (0, None)
    assert totals.mean_cell_transfer_delay_s == pytest.approx(5.05e-3)
    assert totals.p99_cell_transfer_delay_s == pytest.approx(9.1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_loss_of_a_burst_in_a_finite_buffer(kernel: str) -> None:
    result = burst(kernel, buffer="5 cells")
    # One cell is in service and five wait before the first has left.
    vc = result.vcs["vc1"]
    assert vc.cells_dropped == 4 and vc.cell_loss_ratio == pytest.approx(0.4)
    (there,) = vc.ports
    assert (there.port, there.dropped_cells.full, there.dropped_cells.total) == ("west->b", 4, 4)
    assert result.classes["vbr"].cell_loss_ratio == pytest.approx(0.4)
    assert result.classes["vbr"].cell_delay_variation_s == pytest.approx(0.9e-3 * 5)
    port = result.ports["west->b"]
    assert port.dropped_cells.full == port.dropped_cells.total == port.classes[0].dropped_cells == 4
    assert port.max_queue_cells == 5
    assert result.totals.cell_loss_ratio == pytest.approx(0.4)


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_vc_reports_its_losses_by_port_and_reason(kernel: str) -> None:
    """Ten cells of `a` and ten of `b` arrive at once at a port with a buffer of five cells.

    The link behind loses the first cell of each VC that gets so far.
    """
    on, off = "1 ms", "99 ms"
    scenario = cy.Scenario(
        duration="100 ms",
        hosts=[cy.Host(name="a"), cy.Host(name="b"), cy.Host(name="c")],
        switches=[cy.Switch(name="west", vbr=cy.Queue(buffer="5 cells")), cy.Switch(name="east")],
        links=[
            cy.Link(from_="a", to="west", rate="4.24 Mbps", lose_frames=[9]),
            cy.Link(from_="b", to="west", rate="4.24 Mbps"),
            cy.Link(from_="west", to="east", rate="424 kbps"),
            cy.Link(from_="east", to="c", rate="424 kbps"),
        ],
        vcs=[
            cy.Vc(name=name, from_=name, to="c", traffic=cy.Vbr(rate="4.24 Mbps", on=on, off=off), start=start)
            for name, start in (("a", "0 ms"), ("b", "50 ms"))
        ],
    )
    run = scenario.run(kernel=kernel).only
    lost = {
        name: {there.port: there.dropped_cells for there in vc.ports if there.dropped_cells.total}
        for name, vc in run.vcs.items()
    }
    # Of ten cells, one is in service and five wait before the first has left. The tenth cell of `a`
    # never arrives there.
    assert {name: list(ports) for name, ports in lost.items()} == {"a": ["a->west", "west->east"], "b": ["west->east"]}
    assert (lost["a"]["a->west"].link, lost["a"]["a->west"].total) == (1, 1)
    assert (lost["a"]["west->east"].full, lost["b"]["west->east"].full) == (3, 4)
    assert [vc.cells_dropped for vc in run.vcs.values()] == [4, 4]
    assert run.ports["west->east"].dropped_cells.full == 7
    assert metric_path("vc.a.port.a->west.dropped_cells.link").value_in(run) == 1
    assert metric_path("sum(vc.*.port.west->east.dropped_cells.total)").value_in(run) == 7


def datagrams(kernel: str, duration: str, **west: Any) -> cy.RunResult:
    """Return the result of ten datagrams of three cells each, sent back to back from 0 to 30 ms.

    The link to the switch loses the third and the last datagram. A VC of cells shares nothing with
    them.
    """
    scenario = cy.Scenario(
        duration=duration,
        hosts=[cy.Host(name=name) for name in ("a", "b", "c", "d")],
        switches=[cy.Switch(name="west", **west), cy.Switch(name="other")],
        links=[
            cy.Link(from_="a", to="west", rate="424 kbps", lose_frames=[2, 9]),
            cy.Link(from_="west", to="b", rate="424 kbps"),
            cy.Link(from_="c", to="other", rate="424 kbps"),
            cy.Link(from_="other", to="d", rate="424 kbps", lose_probability=0.5),
        ],
        vcs=[
            cy.Vc(
                name="udp",
                from_="a",
                to="b",
                class_="gfr",
                traffic=cy.Udp(datagram_size="100 bytes"),
                stop="30 ms",
                contract=cy.Contract(pcr="282.7 kbps", cdvt="600 us", mcr="1 kbps"),
            ),
            cy.Vc(name="cbr", from_="c", to="d", traffic=cy.Cbr(rate="424 kbps")),
        ],
    )
    return scenario.run(kernel=kernel).only


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_frame_is_lost_once_none_of_its_cells_is_under_way(kernel: str) -> None:
    for duration, delivered, lost in (("31 ms", 8, 2), ("29.5 ms", 8, 1), ("27.5 ms", 7, 1), ("7.5 ms", 2, 0)):
        result = datagrams(kernel, duration)
        udp, cbr = result.vcs.values()
        assert (udp.frames_delivered, udp.frames_lost) == (delivered, lost), duration
        assert udp.frames_sent == min(10, int(float(duration[:-3]) / 3) + 1)
        ratio = pytest.approx(lost / (lost + delivered))
        assert udp.frame_loss_ratio == result.totals.frame_loss_ratio == result.classes["gfr"].frame_loss_ratio == ratio
        assert cbr.frames_lost == cbr.cells_dropped > 0
        assert cbr.frame_loss_ratio is result.classes["cbr"].frame_loss_ratio is None


@pytest.mark.parametrize("kernel", KERNELS)
def test_frames_without_their_last_cell_count_as_lost(kernel: str) -> None:
    """One cell comes every millisecond, where one per 1.5 ms is allowed, up to 0.6 ms early.

    Every third cell is dropped.
    """
    result = datagrams(kernel, "40 ms", gfr=cy.Queue(police=cy.FGcra(action="tag")))
    udp = result.vcs["udp"]
    assert (udp.frames_sent, udp.frames_delivered, udp.frames_damaged, udp.frames_lost) == (10, 0, 0, 10)
    assert (udp.cells_dropped, udp.frame_loss_ratio) == (2 * 3 + 8, 1.0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_overloaded_host_reports_unsent_data(kernel: str) -> None:
    """In 1 s, 2123 and 1887 cells are handed to a link that sends 2358.

    The remainder counts neither as lost nor as delayed.
    """
    sources = [cy.Cbr(rate="900 kbps"), cy.Cbr(rate="800 kbps")]
    run = line(*sources, rates=("1 Mbps", "10 Mbps"), duration="1 s").run(kernel=kernel).only
    first, second = run.vcs.values()
    assert [vc.cells_sent + vc.cells_not_sent for vc in (first, second)] == [2123, 1887]
    assert first.cells_sent + second.cells_sent == 2358
    assert run.totals.cell_loss_ratio == 0 and run.classes["cbr"].cell_loss_ratio == 0
    for vc in (first, second):
        assert vc.host_load == pytest.approx(1.7) and vc.host_overloaded
        assert vc.host_queue_cells == first.cells_not_sent + second.cells_not_sent == 4010 - 2358
        # The last cell is handed over at 2122 x 424 / 900000 s, while the 2358th is in service. It
        # leaves as the 4010th.
        assert vc.max_host_queue_cells == 4010 - 2358
        assert vc.max_host_delay_s == pytest.approx(4010 * 424e-6 - 2122 * 424 / 9e5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_window_waits_at_its_host_without_overloading_it(kernel: str) -> None:
    """Four segments of twelve cells come at once, on a link that takes 1 ms per cell.

    The tenth cell leaves as the run ends.
    """
    window = line(cy.Tcp(mss="512 bytes", initial_window=4), rates=("424 kbps", "10 Mbps"), duration="10 ms")
    vc = window.run(kernel=kernel).only.vcs["vc1"]
    assert (vc.frames_sent, vc.cells_sent, vc.cells_not_sent, vc.host_queue_cells) == (4, 9, 39, 39)
    assert (vc.max_host_queue_cells, vc.host_load) == (47, 0)
    assert vc.max_host_delay_s == pytest.approx(48e-3)
    # The link can carry both sources: a cell finds at most one cell before it.
    both = line(cy.Cbr(rate="500 kbps"), cy.Cbr(rate="400 kbps"), rates=("1 Mbps", "10 Mbps"), duration="1 s")
    calm = both.run(kernel=kernel).only.vcs["vc1"]
    assert calm.host_load == pytest.approx(0.9) and not calm.host_overloaded and calm.max_host_queue_cells == 1
    assert calm.max_host_delay_s == pytest.approx(2 * 424e-6)


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_cell_in_service_at_the_end_is_held_even_without_a_queue(kernel: str, watched: bool) -> None:
    # A cell takes 42.4 us on either link. At 50 us, the first cell is in service at the switch.
    for duration, counts in (("42 us", (0, 0, 0, 0)), ("50 us", (1, 1, 0, 1)), ("90 us", (2, 2, 1, 1))):
        probes = [cy.QueueProbe(of="west->b")] if watched else []
        scenario = line(cy.Cbr(rate="10 Mbps"), rates=("10 Mbps", "10 Mbps"), duration=duration, probes=probes)
        port = scenario.run(kernel=kernel).only.ports["west->b"]
        assert not port.can_queue
        assert (port.arrived_cells, port.accepted_cells, port.sent_cells, port.held_cells) == counts, duration


@pytest.mark.parametrize("kernel", KERNELS)
def test_tcp_without_loss_reaches_its_share_of_the_line(kernel: str) -> None:
    tcp, rates = cy.Tcp(mss="512 bytes"), ("16.96 Mbps", "8.48 Mbps")
    measure = cy.Measure(warm_up="1 s", window="500 ms", max_goodput="10 Mbps")
    scenario = line(
        tcp, hosts=[cy.Host(name="a", count=2), cy.Host(name="b")], rates=rates, duration="2 s", measure=measure
    )
    result = scenario.run(kernel=kernel).only
    # A segment of 512 bytes takes 12 cells, and the port is never idle.
    best = 8.48 * 512 / (12 * 53)
    assert result.totals.goodput_mbps == pytest.approx(best, rel=2e-3)
    assert result.totals.efficiency == pytest.approx(best / 10, rel=2e-3)
    assert result.totals.fairness == pytest.approx(1, abs=1e-3)
    assert result.ports["west->b"].efficiency == pytest.approx(1, rel=2e-3)
    assert result.ports["west->b"].utilisation == pytest.approx(1, rel=2e-3)


@pytest.mark.parametrize("classes", [("vbr", "vbr", "vbr"), ("ubr", "vbr", "cbr")])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_99_percent_quantile_is_neither_that_of_95_percent_nor_the_largest(
    kernel: str, classes: tuple[Any, ...]
) -> None:
    """Of 200 cells on separate lines, 190 are in flight for 1 ms, 8 for 2 ms and 2 for 3 ms.

    The quantile is the 198th value, 2 ms.
    """
    parts = [(190, "1 ms"), (8, "2 ms"), (2, "3 ms")]
    scenario = cy.Scenario(
        duration="1 s",
        hosts=[cy.Host(name=f"{end}-{cells}") for cells, _ in parts for end in ("from", "to")],
        links=[cy.Link(from_=f"from-{n}", to=f"to-{n}", rate="424 kbps", delay=delay) for n, delay in parts],
        # A cell takes 1 ms.
        vcs=[
            cy.Vc(
                from_=f"from-{n}",
                to=f"to-{n}",
                class_=c,
                traffic=cy.Vbr(rate="424 kbps", on=f"{n} ms", off=f"{1000 - n} ms"),
            )
            for (n, _), c in zip(parts, classes, strict=True)
        ],
    )
    result = scenario.run(kernel=kernel).only
    assert sum(c.cells_delivered for c in result.classes.values()) == 200
    for vc, delay in zip(result.vcs.values(), (1e-3, 2e-3, 3e-3), strict=True):
        quantiles = {vc.p50_cell_transfer_delay_s, vc.p95_cell_transfer_delay_s, vc.p99_cell_transfer_delay_s}
        assert quantiles == {vc.max_cell_transfer_delay_s} and quantiles.pop() == pytest.approx(delay)
        assert vc.ports == ()  # nothing can be lost on a separate line
    found = [(result.totals.p99_cell_transfer_delay_s, result.totals.mean_cell_transfer_delay_s)]
    together = [c for c in result.classes.values() if c.cells_delivered == 200]
    found += [(c.p99_cell_transfer_delay_s, c.mean_cell_transfer_delay_s) for c in together]
    for p99, mean in found:
        # Bins of at most 1/64 relative width round up, never down.
        assert p99 is not None
        assert 2e-3 <= p99 <= 2e-3 * (1 + 1 / 64)
        assert mean == pytest.approx((190 * 1e-3 + 8 * 2e-3 + 2 * 3e-3) / 200)


def widest_gap(phases: list[float]) -> float:
    """Return the widest gap between fractions of a circle; 1 if all are equal."""
    ordered = sorted(phases)
    return max(b - a for a, b in zip(ordered, [*ordered[1:], ordered[0] + 1], strict=True))


# Weyl sequences of n points leave no gap wider than 2.6 / n. If all replications had one phase, the
# gap would be 1.
N = 20


def test_attributes_of_a_run_are_refused_for_several_runs() -> None:
    short = cy.examples.scenario("lan-5").with_values({"duration": "5 ms"})
    single, several = short.run(digest=True), short.run(replications=2)
    for name, kind in vars(cy.RunResult).items():
        if (
            not name.startswith("_")
            and isinstance(kind, (property, cached_property))
            and not name.endswith("_on_demand")
        ):
            assert getattr(single, name) == getattr(single.only, name), name
            with pytest.raises(cy.UsageError, match="there are 2: index them"):
                getattr(several, name)
            assert not hasattr(several, name) and hasattr(several[0], name)


def test_replications_spread_the_phase_of_the_timers_evenly() -> None:
    """The first frame is lost, so the second leaves at a timer tick.

    The tick is at the phase of the timer after a multiple of 500 ms.
    """
    scenario = cy.Scenario(
        duration="5 s",
        ensemble=cy.Ensemble(timer_phase=True),
        hosts=[cy.Host(name="source"), cy.Host(name="sink")],
        links=[cy.Link(from_="source", to="sink", rate="42.4 Mbps", lose_frames=[0])],
        vcs=[cy.Vc(name="tcp", from_="source", to="sink", traffic=cy.Tcp(granularity="500 ms"))],
        probes=[cy.SequenceProbe(of="tcp")],
    )
    resent = [run.series[0].time_s[1] for run in scenario.run(replications=N)]
    assert widest_gap([time / 0.5 % 1 for time in resent]) < 2.6 / N


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_file_has_a_duration_and_a_goodput_of_its_own(kernel: str) -> None:
    files = [("small", "10 ms", "512 bytes"), ("endless", "30 ms", None), ("late", "99 ms", "9 MB")]
    scenario = line(
        *(
            cy.Vc(name=name, from_="a", to="b", start=start, traffic=cy.Tcp(mss="512 bytes", file_size=size))
            for name, start, size in files
        ),
        rates=("4.24 Mbps", "4.24 Mbps"),
    ).with_values({"link.delay": "5 us"})
    vcs = scenario.run(kernel=kernel).only.vcs
    small = vcs["small"]
    # Twelve cells travel there and two back. Each takes 0.1 ms on two links, one after the other on
    # the first, plus 5 us on each.
    took = (12 + 1 + 2 + 1) * 1e-4 + 4 * 5e-6
    assert small.began_s == 0.01
    assert small.completed_s == pytest.approx(0.01 + took)
    assert small.file_goodput_mbps == pytest.approx(512 * 8e-6 / took)
    assert [vc.file_size_bytes for vc in vcs.values()] == [512, None, 9_000_000]
    assert small.goodput_mbps == pytest.approx(512 * 8e-6 / 0.1)
    for name, began in (("endless", 0.03), ("late", 0.099)):
        assert vcs[name].began_s == pytest.approx(began)
        assert vcs[name].completed_s is None
        assert vcs[name].file_goodput_mbps is None
    late = vcs["late"]
    assert (late.completed_s_above, vcs["endless"].completed_s_above, small.completed_s_above) == (0.1, None, None)
    # The 9 MB would take longer than the run even at the rate of the link.
    assert late.file_goodput_mbps_below == 4.24 and vcs["endless"].file_goodput_mbps_below is None


def test_an_envelope_summarises_all_changes(cli: Cli, tmp_path: Path) -> None:
    scenario = cy.examples.scenario("lan-5", overrides={"duration": "25 ms"})
    every, enveloped = ({"what": "queue", "of": "west->east", **more} for more in ({}, {"envelope": "10 ms"}))
    run = scenario.with_values({"probe": [every, enveloped]}).run().only
    changes, *parts = run.series
    assert [series.statistic for series in parts] == ["min", "mean", "max"]
    assert all(series.time_s.tolist() == [0.01, 0.02, 0.025] for series in parts)
    least, mean, greatest = (series.value for series in parts)
    assert least.min() == changes.value.min() and greatest.max() == changes.value.max() > 100
    held = np.diff([*changes.time_s, 0.025])
    assert (mean * [0.01, 0.01, 0.005]).sum() == pytest.approx((changes.value * held).sum(), rel=1e-9)
    document = tmp_path / "with.toml"
    document.write_text(scenario.with_values({"probe": [enveloped]}).to_toml())
    assert cli("run", document, "--out", tmp_path / "out").returncode == 0
    head, first, *_ = (tmp_path / "out" / "series.csv").read_text().splitlines()
    assert head == "replication,what,of,class,vc,unit,statistic,time_s,value"
    assert first == f",queue,west->east,,,cells,min,0.01,{float(least[0])}"
    frame = scenario.with_values({"probe": [enveloped]}).run().to_frame(of="series")
    assert frame["statistic"].to_list() == [name for name in ("min", "mean", "max") for _ in range(3)]


def test_frames_have_a_line_for_each_run_vc_port_and_point_of_all_runs() -> None:
    scenario = cy.examples.scenario("lan-5", overrides={"duration": "100 ms"})
    runs = scenario.with_values({"probe": [{"what": "queue", "of": "west->east", "interval": "10 ms"}]}).run(
        replications=2
    )
    totals = runs.to_frame()
    assert totals["efficiency"].to_list() == runs.values("efficiency")
    vcs = runs.to_frame("pandas", of="vcs")
    assert len(vcs) == 10
    assert vcs[vcs["vc"] == "vc2"]["goodput_mbps"].tolist() == [run.vcs["vc2"].goodput_mbps for run in runs]
    assert runs.to_frame(of="ports")["port"].to_list() == 2 * list(runs[0].ports)
    points = runs.to_frame(of="series")
    assert points["value"].to_list() == [value for run in runs for value in run.series[0].value.tolist()]
    assert set(points["unit"]) == {"cells"} and points["run"].to_list() == 11 * [0] + 11 * [1]
    again = runs.to_frame("pandas", of="series")
    assert again["time_s"].tolist() == points["time_s"].to_list() and list(again) == points.columns
    assert again["of"].dtype == "category" and again[again["of"] == "west->east"].shape == (22, 10)
    assert len(scenario.run().to_frame(of="series")) == 0
    with pytest.raises(cy.UsageError, match="did you mean `ports`"):
        runs.to_frame(of="port")
    files = cy.examples.scenario("file-transfers").run(replications=2)
    transfers = files.to_frame(of="transfers")
    assert transfers.columns == ["run", "replication", "vc", "number", "began_s", "duration_s", "initial_timeouts_s"]
    assert transfers["number"].to_list() == 2 * list(range(1, 13)) and set(transfers["vc"]) == {"files"}
    assert transfers["duration_s"].to_list()[12:] == [
        transfer.duration_s for transfer in files[1].vcs["files"].transfers
    ]


def test_vcs_on_demand_are_created_on_access() -> None:
    whole = burst("auto").data
    data = {**whole, "vcs": [*whole["vcs"], {"name": "incomplete"}]}
    run = cy.RunResult(data)
    assert run.vcs_on_demand["vc1"] is run.vcs_on_demand["vc1"] == cy.RunResult(whole).vcs["vc1"]
    assert metric_path("vc.vc1.cells_sent").value_in(run) == 10
    assert metric_path("max(vc.v*.cells_sent)").value_in(run) == 10
    with pytest.raises(TypeError):
        run.vcs  # noqa: B018


@pytest.mark.parametrize("size", [100, 513, 1461, 2000])
@pytest.mark.parametrize(
    "cells", ["aal5", "ethernet", "{ cell = '256 bytes', carries = '240 bytes', frame_overhead = '4 bytes' }"]
)
def test_efficiency_of_short_files_is_their_throughput(cells: str, size: int) -> None:
    # Nothing is lost or sent again, so the cells of new data are those of the goodput, except for files
    # that the end of the run cuts.
    vc = f'traffic = {{ kind = "tcp", mss = "1460 bytes", file_size = "{size} bytes", files = "unlimited" }}'
    ways = ("a", "10 Mbps", "s", "8 Mbps", "t", "10 Mbps", "z")
    text = chain(*ways, vc=vc, delay="1 ms", duration="4 s", format=cells)
    result = cy.Scenario.from_toml(text).run().only
    port = result.ports["s->t"]
    assert port.efficiency == pytest.approx(result.vcs["vc1"].throughput_mbps / port.rate_mbps, rel=2e-3)


def test_the_largest_frame_of_short_files_is_a_file() -> None:
    traffic = 'traffic = { kind = "tcp", mss = "9180 bytes", file_size = "100 bytes", files = "unlimited" }'
    vc = f'contract = {{ scr = "100 kbps", pcr = "100 Mbps" }}, {traffic}'
    switch = '[{ name = "s", ubr = { buffer = "20 cells", police = { kind = "gcra", action = "drop" } } }]'
    text = chain("a", "100 Mbps", "s", "8 Mbps", "z", vc=vc, delay="1 ms", duration="500 ms", switch=switch)
    # A file has 100 + 40 + 16 bytes, in 4 cells; by default MBS is two frames.
    by_default = cy.Scenario.from_toml(text)
    with_mbs = cy.Scenario.from_toml(text, overrides={"vc.contract.mbs": "8 cells"})
    assert by_default.run().only.vcs["vc1"] == with_mbs.run().only.vcs["vc1"]
    assert not [note for note in by_default.notes() if "a frame of" in note]
    with pytest.raises(cy.ScenarioError, match="less than one frame, which has 4 cells"):
        cy.Scenario.from_toml(text, overrides={"vc.contract.mbs": "3 cells"})


@pytest.mark.parametrize("name", ["abr-erica", "abr-shares"])
def test_the_queue_of_an_abr_end_system_is_not_that_of_its_link(name: str) -> None:
    """The host's link never has more than one cell of these TCPs. What they may not send yet waits before it."""
    for vc in cy.examples.scenario(name).run().vcs.values():
        assert vc.host_queue_cells <= vc.max_host_queue_cells + 1 <= 2
        if vc.end_systems:
            assert vc.end_systems[0].max_queue_cells >= vc.cells_not_sent - 1 > 10_000
