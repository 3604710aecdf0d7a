"""Metrics against numbers worked out by hand.

A burst of ten cells, one every 0.1 ms, meets a port that takes 1 ms for each. Cell i = 0 .. 9 has left its host at
0.1 (i + 1) ms and the port at 1.1 + i ms, so its transfer delay is 1 + 0.9 i ms, 0.9 i ms of which it waits.
"""

from __future__ import annotations

from typing import Any

import cellyard as cy
import pytest

KERNELS = ("auto", "slotted", "twin")


def burst(kernel: str, **queue: Any) -> cy.RunResult:
    """The result of that burst in a run of 100 ms."""
    scenario = cy.Scenario(
        duration="100 ms",
        hosts=[cy.Host(name="video"), cy.Host(name="screen")],
        switches=[cy.Switch(name="west", vbr=cy.Queue(**queue))],
        links=[
            cy.Link(from_="video", to="west", rate="4.24 Mbps"),
            cy.Link(from_="west", to="screen", rate="424 kbps"),
        ],
        vcs=[cy.Vc(name="vbr", from_="video", to="screen", traffic=cy.Vbr(rate="4.24 Mbps", on="1 ms", off="99 ms"))],
    )
    return scenario.run(kernel=kernel).only


@pytest.mark.parametrize("kernel", KERNELS)
def test_delays_queue_and_goodput_of_a_burst(kernel: str) -> None:
    result = burst(kernel)
    vc = result.vcs["vbr"]
    assert (vc.cells_sent, vc.cells_delivered, vc.cells_dropped) == (10, 10, 0)
    assert vc.goodput_mbps == pytest.approx(10 * 48 * 8 / 0.1 / 1e6)
    assert vc.mean_cell_transfer_delay_s == pytest.approx(5.05e-3)
    assert vc.max_cell_transfer_delay_s == pytest.approx(9.1e-3)
    assert vc.cell_delay_variation_s == pytest.approx(8.1e-3)
    of_class = result.classes["vbr"]
    assert of_class.cell_loss_ratio == 0
    assert of_class.mean_cell_transfer_delay_s == pytest.approx(5.05e-3)
    assert of_class.p99_cell_transfer_delay_s == pytest.approx(9.1e-3)
    assert of_class.cell_delay_variation_s == pytest.approx(8.1e-3)
    port = result.ports["west->screen"]
    assert (port.arrived_cells, port.accepted_cells, port.sent_cells, port.held_cells) == (10, 10, 10, 0)
    assert port.max_queue_cells == port.classes[0].max_queue_cells == 9  # the first is in service
    assert port.mean_queue_cells == pytest.approx(0.9 * sum(range(10)) / 100)
    assert port.utilisation == pytest.approx(10 / 100)
    assert port.efficiency is None  # that is for TCPs
    totals = result.totals
    assert (totals.cells, totals.bottleneck_cells) == (20, 10)
    assert (totals.goodput_mbps, totals.fairness) == (0, None)
    assert totals.mean_cell_transfer_delay_s == pytest.approx(5.05e-3)
    assert totals.p99_cell_transfer_delay_s == pytest.approx(9.1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_loss_of_a_burst_in_a_finite_buffer(kernel: str) -> None:
    result = burst(kernel, buffer="5 cells")
    # One in service and five waiting before the first has left.
    assert result.vcs["vbr"].cells_dropped == 4
    assert result.classes["vbr"].cell_loss_ratio == pytest.approx(0.4)
    assert result.classes["vbr"].cell_delay_variation_s == pytest.approx(0.9e-3 * 5)
    port = result.ports["west->screen"]
    assert port.dropped_cells.full == port.dropped_cells.total == port.classes[0].dropped_cells == 4
    assert port.max_queue_cells == 5
    assert result.totals.cell_loss_ratio == pytest.approx(0.4)


@pytest.mark.parametrize("kernel", KERNELS)
def test_tcp_without_loss_reaches_its_share_of_the_line(kernel: str) -> None:
    scenario = cy.Scenario(
        duration="2 s",
        measure=cy.Measure(warm_up="1 s", window="500 ms", max_goodput="10 Mbps"),
        hosts=[cy.Host(name="source", count=2), cy.Host(name="sink")],
        switches=[cy.Switch(name="west")],
        links=[
            cy.Link(from_="source", to="west", rate="16.96 Mbps"),
            cy.Link(from_="west", to="sink", rate="8.48 Mbps"),
        ],
        vcs=[cy.Vc(from_="source", to="sink", traffic=cy.Tcp(mss="512 bytes"))],
    )
    result = scenario.run(kernel=kernel).only
    # 512 bytes of 12 cells; the port never idles.
    best = 8.48 * 512 / (12 * 53)
    assert result.totals.goodput_mbps == pytest.approx(best, rel=2e-3)
    assert result.totals.efficiency == pytest.approx(best / 10, rel=2e-3)
    assert result.totals.fairness == pytest.approx(1, abs=1e-3)
    assert result.ports["west->sink"].efficiency == pytest.approx(1, rel=2e-3)
    assert result.ports["west->sink"].utilisation == pytest.approx(1, rel=2e-3)
