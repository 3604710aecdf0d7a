"""Each example shows what its first line says: one check for each example.

Runs are identical on every machine, so a bound without a theory is a measured value with a margin.
Cells that find their port idle do not wait. A cell time is 424 bits at the rate of the line.
"""

import math
from collections.abc import Callable
from pathlib import Path

import cellyard as cy
import numpy as np
import pytest
from cellyard.results import RunResult
from cellyard.study import load, select
from conftest import EXAMPLES

Check = Callable[[], None]
CHECKS: dict[str, Check] = {}


def shows(name: str) -> Callable[[Check], Check]:
    """Return a decorator that registers a check of an example."""

    def enter(check: Check) -> Check:
        CHECKS[name] = check
        return check

    return enter


def run(name: str, **values: str) -> RunResult:
    """Return the run of an example, with values changed by path; ``__`` stands for a dot."""
    return scenario(name, **values).run().only


def scenario(name: str, **values: str) -> cy.Scenario:
    (path,) = (path for path in EXAMPLES if path.stem == name)
    return cy.Scenario.read(path, overrides=[(key.replace("__", "."), value) for key, value in values.items()])


@shows("cbr")
def the_queue_repeats_itself_every_period() -> None:
    result = run("cbr")
    cell, period = 424 / 150e6, 424 / 13.5e6
    # In every period, ten cells come at once. One is served and nine wait, one fewer after each
    # cell time.
    (queue,) = result.series
    first = slice(1, 11)
    assert list(queue.value[first]) == list(range(9, -1, -1))
    assert np.diff(queue.time_s[first]) == pytest.approx(cell, rel=1e-6)
    full = queue.time_s[queue.value == 9]
    assert np.diff(full) == pytest.approx(period, rel=1e-9)
    assert len(full) == math.ceil(1 / period) == 31840
    assert (queue.time_s[0], queue.value[0], queue.time_s[-1]) == (0, 0, 1)
    assert result.classes["cbr"].cell_delay_variation_s == pytest.approx(9 * cell)
    port = result.ports["west->sink"]
    assert port.utilisation == pytest.approx(0.9, rel=1e-4)
    assert port.mean_queue_cells == pytest.approx(sum(range(10)) * cell / period, rel=1e-4)
    assert (queue.value[:-1] * np.diff(queue.time_s)).sum() == pytest.approx(port.mean_queue_cells)
    # A buffer of nine cells is just large enough.
    assert result.totals.cell_loss_ratio == 0
    assert run("cbr", switch__west__cbr__buffer="8 cells").totals.cell_loss_ratio == pytest.approx(0.1, rel=1e-4)


@shows("poisson")
def the_mean_wait_is_that_of_m_d_1() -> None:
    """In a tree of servers with one service time, waits before the root and at it add up to that of one server.

    The expected wait is 2 cell times, of which 0.02 are spent in the NICs of the sources (0.04 / (2
    x 0.96)). The mean over T = 3.2e6 cell times has a standard error of sqrt(s^6 / (2 d^4 T)) =
    0.007 cell times. This models reflected Brownian motion with drift d = 0.2 and variance s^2 =
    0.8. Four standard errors are exceeded with probability 6e-5. The number of cells sent has a
    standard deviation of 1700.
    """
    result = run("poisson")
    cell = 424 / 150e6
    wait = (result.totals.mean_cell_transfer_delay_s or 0) / cell - 2 * 5e-6 / cell - 1
    assert wait == pytest.approx(2 - 0.04 / 1.92, abs=4 * 0.007)
    assert result.ports["west->sink"].utilisation == pytest.approx(0.8, abs=4 * 1700 * cell / 10)


@shows("zero-loss")
def a_buffer_of_the_longest_queue_is_just_enough() -> None:
    result = run("zero-loss")
    longest = result.totals.max_queue_cells
    assert longest == 7591
    # A window of 65535 bytes holds 127 segments of 12 cells. Cells that are not queued are in
    # flight.
    assert 0.99 * 5 * 127 * 12 < longest <= 5 * 127 * 12
    assert max(result.series[0].value) <= longest
    assert result.totals.cell_loss_ratio == result.totals.retransmitted_segments == 0
    assert result.totals.efficiency == pytest.approx(1, abs=1e-4)
    assert result.totals.fairness == pytest.approx(1, abs=1e-4)
    assert run("zero-loss", switch__west__ubr__buffer="7591 cells").totals == result.totals
    assert run("zero-loss", switch__west__ubr__buffer="7590 cells").ports["west->east"].dropped_cells.full > 0


@shows("lan-5")
def it_is_a_row_of_the_first_study_where_epd_refuses_whole_frames() -> None:
    result = run("lan-5")
    study = load("ubr-plus")
    where = {"configuration": "lan", "sources": "5", "buffer_cells": "1000", "drop_policy": "epd"}
    (row,) = select(study, ["2-3"], where)
    assert study.scenario(row).run().totals == result.totals
    best = 155.52 * 512 / 636
    assert result.totals.efficiency == pytest.approx(result.totals.goodput_mbps / best, rel=1e-7)
    port = result.ports["west->east"]
    dropped = port.dropped_cells
    assert (dropped.full, dropped.rest) == (0, 0) and dropped.policy > 0 == dropped.policy % 12
    # Frames are refused above 800 cells. Each of the five sources may still deliver the rest of one
    # frame.
    assert 800 < port.max_queue_cells <= 800 + 5 * 11
    # The line is idle while the sources wait for their timers. Otherwise nearly all its traffic is
    # new data.
    assert result.totals.timeouts > 0
    assert port.utilisation == pytest.approx(result.totals.efficiency, rel=0.02) and port.utilisation < 0.5


@shows("cells-256")
def goodput_is_the_line_less_headers_and_padding() -> None:
    result = run("cells-256")
    # A segment has 1460 bytes of data, 40 of headers and 4 of the frame, in 7 cells that carry 240
    # bytes each.
    cells = math.ceil((1460 + 40 + 4) / 240)
    assert cells == 7
    assert result.totals.goodput_mbps == pytest.approx(10_000 * 1460 / (cells * 256), rel=1e-4)
    assert sum(vc.throughput_mbps for vc in result.vcs.values()) == pytest.approx(10_000, rel=1e-4)
    assert result.totals.efficiency == pytest.approx(1, abs=1e-4)
    assert result.totals.fairness == pytest.approx(1, abs=1e-3)
    assert result.totals.cell_loss_ratio == result.totals.retransmitted_segments == 0


@shows("incast")
def bursts_in_step_overflow_the_buffer_by_a_closed_form() -> None:
    packet, delay = 1538 * 8 / 10e9, 1e-6

    def incast(senders: int, packets: int, buffer: int, **values: str) -> RunResult:
        """Return the run in which each of `senders` sends `packets` packets back to back."""
        changed = {
            "host__sender__count": f"{senders}",
            "switch__switch__ubr__buffer": f"{buffer} cells",
            "vc__0__stop": f"{round((packets - 0.5) * packet * 1e9)} ns",
        }
        return run("incast", **{**changed, **values})

    # As stated: 20 packets from each of two.
    assert run("incast").totals == incast(2, 20, 16).totals
    for senders, packets, buffer in [(2, 20, 16), (2, 20, 20), (2, 200, 1), (3, 2, 1), (8, 20, 16), (32, 50, 1000)]:
        # N packets arrive at each of n instants, one packet time apart, and the first goes into
        # service at once. By the last arrivals n packets have begun service. With arrivals first it
        # is one fewer, because the departure of that instant is still to come. The others wait, or
        # are lost: the queue grows at each instant, and once full it is full after all arrivals.
        for first, begun in (("true", packets - 1), ("false", packets)):
            waiting = senders * packets - begun
            port = incast(senders, packets, buffer, arrival_first=first).ports["switch->receiver"]
            assert port.arrived_cells == senders * packets
            assert port.max_queue_cells == min(buffer, waiting)
            assert port.dropped_cells.full == port.dropped_cells.total == max(0, waiting - buffer)
            assert port.refusals == port.dropped_cells.full
            # Equal senders in step lose equally often.
            refused = [brought.tied_refusals for brought in port.inputs]
            assert max(refused) - min(refused) <= 1
    # Without loss, the port sends N n packets back to back, and the last one arrives after all
    # others have left. A TCP with a window of the whole file sends the same burst. Its file is done
    # when the ACK of 84 bytes is back.
    tcp = '{ kind = "tcp", mss = "1460 bytes", file_size = "29200 bytes", initial_window = 20 }'
    for senders in (2, 8):
        least = senders * 20 - 19
        last = (senders * 20 + 1) * packet + 2 * delay
        lossless = incast(senders, 20, least)
        assert lossless.totals.max_queue_cells == least and lossless.totals.cell_loss_ratio == 0
        waits = max(vc.max_cell_transfer_delay_s or 0 for vc in lossless.vcs.values())
        assert waits == pytest.approx(last - 20 * packet, rel=1e-9)
        files = incast(senders, 20, least, vc__0__traffic=tcp, vc__0__stop="default").vcs.values()
        done = max(vc.completed_s or math.inf for vc in files)
        assert done == pytest.approx(last + 2 * (84 * 8 / 10e9 + delay), rel=1e-9)


@shows("tcp-incast")
def each_server_waits_for_a_timeout_unless_all_first_windows_fit() -> None:
    result = run("tcp-incast")
    assert result.totals.max_queue_cells == 200 and result.totals.finished_transfers == 64
    for vc in result.vcs.values():
        # The smallest RTO is 200 ms. One timeout repairs each file; an ACK may wait for a tick of 40 ms.
        assert vc.timeouts == 1 and 0.2 < (vc.completed_s or 0) < 0.2 + 2 * 0.04 + 1e-3
    # With room for all windows and the ACKs of all handshakes, a file takes as long as these on the
    # line, behind the opening of its connection.
    packet, ack = 1538 * 8 / 10e9, 84 * 8 / 10e9
    roomy = run("tcp-incast", switch__switch__ubr__buffer=f"{64 * 11} cells")
    assert roomy.totals.cell_loss_ratio == roomy.totals.timeouts == 0
    last = max(vc.completed_s or math.inf for vc in roomy.vcs.values())
    assert last == pytest.approx(64 * (10 * packet + 2 * ack) + 6 * 1e-6, rel=0.01)


@shows("ties")
def the_order_of_ties_decides_who_loses() -> None:
    found = {order: run("ties", tie_order=order) for order in ("fixed", "rotating", "random", "fair")}
    for result in found.values():
        port = result.ports["switch->sink"]
        assert port.tied_refusals == port.dropped_cells.total >= 20
        assert result.totals.efficiency == pytest.approx(1, abs=1e-3)
    first, second = found["fixed"].vcs.values()
    assert first.cells_dropped == 0 < second.cells_dropped
    assert first.goodput_mbps > 1000 * second.goodput_mbps
    fairness = [result.totals.fairness or 0 for result in found.values()]
    assert fairness[0] < 0.51 < 0.7 < fairness[1] < 0.9 < 0.99 < fairness[2]


@shows("dumbbell-100g")
def packets_fill_the_line_and_the_queue_is_what_the_windows_leave() -> None:
    line, packet, ack = 100_000 * 1460 / 1538, 1538 * 8 / 100e9, 84 * 8 / 100e9
    result = run("dumbbell-100g")
    port = result.ports["west->east"]
    # EPD refuses packets above 2000 - 200, and a packet is a whole frame.
    assert port.dropped_cells.policy == port.dropped_cells.total > 0 and port.max_queue_cells == 1801
    # The link never idles after slow start. A gap that is filled late counts for the measuring time.
    assert port.utilisation > 0.997 and port.measured_utilisation == pytest.approx(1, abs=1e-5)
    assert result.totals.goodput_mbps == pytest.approx(line, rel=1e-3) and result.totals.timeouts == 0
    # A window of 48 KiB holds 33 segments. The windows hold more than the path and less than path
    # and buffer, so nothing is lost and the link is full.
    windows = run("dumbbell-100g", vc__traffic__rwnd="48 KiB")
    assert windows.totals.goodput_mbps == pytest.approx(line, rel=1e-4)
    assert windows.totals.fairness == pytest.approx(1, abs=1e-4)
    assert windows.totals.cell_loss_ratio == windows.totals.retransmitted_segments == 0
    # All packets wait but those in service, on the way, or acknowledged by an ACK on its way.
    trip = 3 * packet + 3 * ack + 2 * 20e-6
    assert windows.totals.max_queue_cells == 64 * 33 - math.floor(trip / packet) == 1784


@shows("leaf-spine")
def each_spine_carries_the_vcs_of_the_rule_and_each_vc_gets_an_eighth() -> None:
    result = run("leaf-spine")
    leaf = {f"{letter}{n}": 1 + "abcd".index(letter) for letter in "abcd" for n in range(1, 9)}
    loads: dict[str, int] = {}
    for vc in result.vcs.values():
        s, d = leaf[vc.source], leaf[vc.destination]
        spine = f"spine{1 + (s + d) % 2}"
        up, down = f"leaf{s}->{spine}", f"{spine}->leaf{d}"
        assert [port.port for port in vc.ports] == [up, down, f"leaf{d}->{vc.destination}"]
        for link in (up, down):
            loads[link] = loads.get(link, 0) + 1
    assert len(result.vcs) == 64 and len(loads) == 16 and set(loads.values()) == {8}
    # Each link between leaf and spine also carries the ACKs of eight other VCs, one of 84 bytes for
    # each segment.
    for vc in result.vcs.values():
        assert vc.goodput_mbps == pytest.approx(25_000 / 8 * 1460 / (1538 + 84), rel=0.01)
    assert result.totals.efficiency == pytest.approx(1538 / (1538 + 84), rel=2e-3)
    assert result.totals.cell_loss_ratio == 0 and (result.totals.fairness or 0) > 0.9999
    # Eight windows of 44 segments are all that can wait, besides ACKs. Nearly all of them wait at
    # the uplinks.
    for link in loads:
        port = result.ports[link]
        assert port.measured_utilisation == pytest.approx(1, abs=1e-3)
        assert (0.9 * 8 * 44 < port.max_queue_cells <= 8 * 44) if link.startswith("leaf") else port.max_queue_cells < 20


@shows("home-line")
def acks_wait_behind_an_upload_and_a_short_buffer_drops_them_instead() -> None:
    """An ACK takes 64 of the 31 250 bytes, so none is lost, but each waits behind the upload."""
    result = run("home-line")
    port = result.ports["modem->isp"]
    (queue,) = port.classes
    assert queue.buffer_bytes == 31_250 and 0.9 * 31_250 < (port.max_queue_bytes or 0) <= 31_250
    down = [vc for name, vc in result.vcs.items() if name.startswith("down")]
    # Only packets of the upload are dropped.
    assert port.dropped_cells.total == result.vcs["up"].cells_dropped == port.dropped_cells.full > 20
    line = 10 * 1460 / 1538
    assert 0.4 * line < sum(vc.goodput_mbps for vc in down) < 0.5 * line
    # In a buffer of 20 packets, most of what is dropped are ACKs, and the line down is nearly full.
    places = run("home-line", switch__modem__ubr__buffer="20 packets")
    port, up = places.ports["modem->isp"], places.vcs["up"]
    assert port.dropped_cells.total > 50 * up.cells_dropped > 0
    assert sum(vc.goodput_mbps for name, vc in places.vcs.items() if name != "up") > 0.95 * line
    assert up.goodput_mbps < result.vcs["up"].goodput_mbps


@shows("wan-15")
def selective_drop_keeps_them_fair() -> None:
    result = run("wan-15")
    port = result.ports["west->east"]
    # All drops are whole frames of VCs above their share, once the queue exceeds 0.9 of the buffer.
    assert port.dropped_cells.policy == port.dropped_cells.total > 0 == port.dropped_cells.policy % 12
    assert 0.9 * 12000 < port.max_queue_cells < 12000
    assert (result.totals.efficiency or 0) > 0.9 and (result.totals.fairness or 0) > 0.95
    fairness = {
        drop: scenario("wan-15", switch__west__ubr__drop=drop).run(replications=5).median("fairness") or 0
        for drop in ("tail-drop", "epd", "selective-drop")
    }
    assert fairness["tail-drop"] + 0.02 < fairness["epd"] < fairness["selective-drop"] - 0.02


@shows("mixed-rates")
def one_source_alone_makes_a_queue() -> None:
    result = run("mixed-rates")
    port = result.ports["west->east"]
    assert port.utilisation > 0.99 and port.max_queue_cells <= 1000
    assert (result.totals.fairness or 0) > 0.99
    # While the twelve cells of a first segment arrive, 2.6 leave. At equal line rates the port
    # could not queue.
    alone = {"host__source__count": "1", "host__sink__count": "1", "duration": "1 ms"}
    assert run("mixed-rates", **alone).ports["west->east"].max_queue_cells in (8, 9)
    assert not run("mixed-rates", **alone, link__1__rate="155.52 Mbps").ports["west->east"].can_queue


@shows("two-hops")
def the_long_tcps_lose_at_both_bottlenecks() -> None:
    result = run("two-hops")
    for name in ("west->mid", "mid->east"):
        port = result.ports[name]
        assert port.utilisation > 0.9
        assert 0.9 * 2000 < port.max_queue_cells <= 2000
        assert port.dropped_cells.policy > 0.9 * port.dropped_cells.total > 0
    goodput = {
        name: [vc.goodput_mbps for vc in result.vcs.values() if vc.name.startswith(name)]
        for name in ("long", "first", "second")
    }
    assert [len(of) for of in goodput.values()] == [3, 3, 3]
    # Long VCs can lose at two hops and have a longer round trip: each gets less than any short one,
    # and none starves.
    assert 5 < min(goodput["long"]) < max(goodput["long"]) < min(goodput["first"] + goodput["second"])


@shows("two-way")
def acks_queue_and_are_lost_with_the_data_of_the_other_direction() -> None:
    result = run("two-way", probe='[{ what = "trace", of = "eastward1" }]')
    for port in (result.ports["west->east"], result.ports["east->west"]):
        # An ACK takes two cells, and the segment that it acknowledges twelve.
        assert port.utilisation == pytest.approx((port.efficiency or 0) * 14 / 12, rel=0.005)
        assert 800 < port.max_queue_cells <= 1000 and port.mean_queue_cells > 100
    lost = {(cell.direction, cell.port) for cell in result.trace}
    assert lost == {("data", "west->east"), ("ack", "east->west")}
    one_way = run("two-way", vc='[{ from = "left", to = "right", traffic = "tcp" }]').ports["east->west"]
    assert one_way.max_queue_cells <= 5 and one_way.dropped_cells.total == 0  # one cell of each at once


@shows("satellite")
def the_path_is_275_ms_long_and_the_window_doubles_each_550_ms() -> None:
    result = run("satellite")
    cell = 424 / 155.52e6
    for vc in result.vcs.values():
        longest, variation = vc.max_cell_transfer_delay_s or 0, vc.cell_delay_variation_s or 0
        # The delay is that of two hops and two cell times; the buffer adds at most its 200000
        # cells.
        assert longest - variation == pytest.approx(0.275005 + 5e-6 + 2 * cell, abs=1e-9)
        assert variation <= 200_001 * cell
    port = result.ports["west->east"]
    # Five windows exceed what path and buffer hold. Frames of 193 cells are refused, for all VCs
    # alike.
    assert port.max_queue_cells == 200_000 and port.dropped_cells.policy % 193 == 0 < port.dropped_cells.policy
    assert 200_000 + 0.55 / cell < 5 * 8_704_000 / 9180 * 193
    assert (result.totals.fairness or 0) > 0.999
    # Each TCP sends one segment in the first round trip and two in the second.
    sent = [run("satellite", duration=f"{550 * trips} ms").totals.segments for trips in (1, 2, 3, 4)]
    assert sent == [5 * (2**trips - 1) for trips in (1, 2, 3, 4)]
    # The payload is 9180 of 10229 bytes on the line.
    assert result.totals.efficiency == pytest.approx(result.totals.goodput_mbps / (155.52 * 9180 / 10229), rel=1e-6)


@shows("vbr-guaranteed-rate")
def a_tenth_of_the_link_keeps_the_tcps_alive_in_bursts() -> None:
    kept, starved = run("vbr-guaranteed-rate"), run("vbr-guaranteed-rate", switch__west__scheduler='"strict-priority"')
    slots = 0.02 * 155.52e6 / 424
    for result, share in ((kept, 0.1), (starved, 0.0)):
        for series in result.series:
            # Bursts and pauses last 15 intervals each; every burst starts and ends some
            # microseconds late.
            burst = (np.arange(len(series.value)) % 30) < 15
            expected = share if series.service_class == "ubr" else 1 - share
            assert series.value[burst] == pytest.approx(expected, abs=6 / slots), series.service_class
    # Cells that VBR may not send in 300 ms wait, and leave later at nine tenths of the line rate.
    vbr = kept.classes["vbr"]
    assert vbr.cell_loss_ratio == 0
    assert vbr.cell_delay_variation_s == pytest.approx(0.1 * 0.3 / 0.9, rel=1e-3)
    assert (starved.classes["vbr"].cell_delay_variation_s or 0) < 3 * 424 / 155.52e6
    assert kept.totals.timeouts < starved.totals.timeouts / 5
    assert (starved.totals.efficiency or 0) < (kept.totals.efficiency or 0) <= 1
    assert (kept.totals.efficiency or 0) > 0.97


@shows("come-and-go")
def the_tcp_takes_back_what_the_cells_leave_and_completes_what_it_sent() -> None:
    result = run("come-and-go")
    tcp, cells = result.vcs["tcp"], result.vcs["cells"]
    # Cells take half of the line in two seconds, the last just before they end; values are per
    # tenth of a second.
    assert cells.cells_sent == cells.cells_delivered == math.ceil(2 * 5e6 / 424)
    share = {series.service_class: series.value for series in result.series}
    slots = 0.1 * 10e6 / 424
    assert share["cbr"] == pytest.approx([0.5 if 20 <= n < 40 else 0 for n in range(70)], abs=2 / slots)
    # The TCP first has the whole line. It loses a window to the cells and waits for its timer, then
    # has half of the line, and finally the whole line again.
    assert share["ubr"][:20] == pytest.approx(1, abs=10 / slots) == share["ubr"][40:60]
    assert min(share["ubr"][20:24]) < 0.01 and share["ubr"][24:40] == pytest.approx(0.5, abs=2 / slots)
    # After its stop, the TCP resends what was lost and is then silent, with no byte missing.
    # Endless data never complete.
    assert np.count_nonzero(share["ubr"][60:]) <= 2
    sent = (tcp.segments - tcp.retransmitted_segments) * 512
    assert tcp.retransmitted_segments > 0 and tcp.delivered_bytes == sent
    assert (tcp.began_s, tcp.completed_s) == (0, None)


@shows("file-transfers")
def each_file_takes_its_rounds_of_slow_start_and_a_handshake_takes_one_more() -> None:
    cell, delay = 424 / 42.4e6, 10e-3
    segment, trip = 12 * cell, (12 + 2) * cell + 2 * delay
    # There are four round trips. In the last, of eight segments, seven wait for the first.
    rounds = 4 * trip + 7 * segment
    files = run("file-transfers").vcs["files"]
    durations = [transfer.duration_s for transfer in files.transfers]
    assert durations == pytest.approx([rounds] * 12, rel=1e-9)
    assert [transfer.number for transfer in files.transfers] == list(range(1, 13)) and files.finished_transfers == 12
    assert (files.p50_transfer_s, files.p95_transfer_s) == pytest.approx((rounds, rounds), rel=1e-9)
    began = [transfer.began_s for transfer in files.transfers]
    assert np.diff(began) == pytest.approx(rounds + 5e-3, rel=1e-9) and began[0] == 0
    assert files.completed_s == pytest.approx(12 * rounds + 11 * 5e-3, rel=1e-9)
    assert files.acknowledged_bytes == files.delivered_bytes == 12 * 7680
    # SYN and SYN-ACK, of two cells each, cross the network before; the ACK leaves before the first
    # segment.
    opened = run("file-transfers", vc__0__traffic__handshake="true").vcs["files"]
    opening = (2 + 2 + 2) * cell + 2 * delay
    assert [transfer.duration_s for transfer in opened.transfers] == pytest.approx([opening + rounds] * 12, rel=1e-9)
    assert opened.segments == files.segments + 12
    # On a single connection, too, each file begins with slow start. The last ssthresh exceeds the
    # size of a file.
    same = run("file-transfers", vc__0__traffic__next_file="same-connection").vcs["files"]
    assert [transfer.duration_s for transfer in same.transfers] == pytest.approx([rounds] * 12, rel=1e-9)


@shows("access-red")
def red_keeps_the_queue_short_and_loses_frames_as_its_curve_says() -> None:
    red = run("access-red")
    port, (average,) = red.ports["west->east"], red.series
    # The policy alone discards frames, and only whole ones: the buffer of 4000 cells is never full.
    assert port.dropped_cells.total == port.dropped_cells.policy and port.max_queue_cells < 4000
    sent, lost = (sum(getattr(vc, of) for vc in red.vcs.values()) for of in ("frames_sent", "frames_lost"))
    assert port.dropped_cells.policy == pytest.approx(32 * lost, rel=0.01)
    # After slow start, the average stays below the upper threshold. Frames are lost as often, on
    # average, as the curve states.
    settled = average.value[average.time_s >= 10]
    assert 400 < settled.mean() < 1000 and settled.max() < 2000
    curve = np.clip(0.1 * (settled - 400) / (2000 - 400), 0, None).mean()
    assert lost / sent == pytest.approx(curve, rel=0.15)


@shows("lossy-link")
def each_recovery_repairs_the_four_losses_in_its_way() -> None:
    resent = {}
    for recovery in ("sack", "new-reno", "reno", "tahoe", "vanilla"):
        result = run("lossy-link", vc__traffic__recovery=recovery)
        assert {(cell.frame, cell.reason) for cell in result.trace} == {(n, "link") for n in (14, 24, 26, 28)}
        (sequence,) = (series for series in result.series if series.what == "sequence")
        again = [n for n in range(1, len(sequence.value)) if sequence.value[n] in sequence.value[:n]]
        resent[recovery] = [(int(sequence.value[n]) // 1000, sequence.time_s[n]) for n in again]
        timeouts, fast = result.totals.timeouts, result.totals.fast_retransmits
        expected = {"sack": (0, 1), "new-reno": (0, 1), "reno": (1, 2), "tahoe": (0, 1), "vanilla": (1, 0)}
        assert (timeouts, fast) == expected[recovery], recovery
        # A segment takes 22 cells. In the last 10 s one arrives every 10 ms, as fast as the line
        # allows.
        assert np.count_nonzero(sequence.time_s >= 10) in (999, 1000, 1001)
    trip = 0.2 + (22 + 2) * 424 / 932.8e3
    # SACK repairs all losses in one round trip and NewReno one per round trip. Tahoe and Vanilla go
    # back to the first loss.
    assert [n for n, _ in resent["sack"]] == [n for n, _ in resent["new-reno"]] == [14, 24, 26, 28]
    assert resent["sack"][-1][1] - resent["sack"][0][1] < trip
    assert np.diff([time for _, time in resent["new-reno"]]) == pytest.approx(trip, rel=1e-9)
    assert [n for n, _ in resent["reno"]] == [14, 24, 26, 28, 29]
    assert [n for n, _ in resent["tahoe"]] == [n for n, _ in resent["vanilla"]] == [14, 24, 25, 26, 27, 28, 29]
    # Recovery starts with a third duplicate ACK, or with the timer of at least 1 s.
    assert all(resent[recovery][0][1] == resent["sack"][0][1] for recovery in ("new-reno", "reno", "tahoe"))
    assert resent["vanilla"][0][1] > 1


@shows("gfr-beside-udp")
def each_gets_its_minimum_rate_and_an_equal_share() -> None:
    vcs = run("gfr-beside-udp").vcs
    # The expected rate is (150 - 50) / 4 Mb/s plus the MCR. Data that a receiver gets twice do not
    # count.
    ideal = {"tcp5": 30, "tcp20": 45, "udp5": 30, "udp20": 45}
    found = {name: vc.throughput_mbps for name, vc in vcs.items()}
    assert found == pytest.approx(ideal, abs=1.2)
    assert found["udp5"] == pytest.approx(30, abs=0.2) and found["udp20"] == pytest.approx(45, abs=0.2)


@shows("abr-erica")
def the_windows_wait_at_the_hosts_and_the_rates_follow_vbr() -> None:
    result = run("abr-erica")
    port = result.ports["west->east"]
    tcps = [vc for vc in result.vcs.values() if vc.service_class == "abr"]
    window = 600_000 // 512 * 12
    assert len(tcps) == 5
    for vc in tcps:
        assert 0.95 * window < (vc.max_paced_queue_cells or 0) <= window
    assert port.max_queue_cells < 0.05 * 5 * window
    assert result.totals.cell_loss_ratio == result.totals.timeouts == 0
    assert (result.totals.fairness or 0) > 0.9999
    # The target is nine tenths of the line, and VBR takes half of the line in its 20 ms. A load of
    # 10 % above the target may stay.
    target, vbr = 0.9 * 155.52, 0.5 * 155.52
    assert 0.9 < port.utilisation < 0.99
    for series in result.series:
        phase = np.round(series.time_s * 1000) % 40
        late = series.time_s >= 1
        for begins, ends, share in ((10, 20, (target - vbr) / 5), (32, 40, target / 5)):
            acr = float(np.median(series.value[late & (phase >= begins) & (phase < ends)]))
            assert share <= acr < 1.1 * share
    # Without a reserve, which `qdlf` bounds, nothing drains the queue of ERICA+.
    plus = '{ kind = "erica-plus", qdlf = %s }'
    drained, kept = (
        run("abr-erica", switch__west__abr__feedback=plus % qdlf).ports["west->east"].max_queue_cells
        for qdlf in (0.5, 1)
    )
    assert kept > 10 * drained


@shows("policed")
def cells_pass_at_the_sustained_rate_and_whole_frames_at_the_minimum_rate() -> None:
    result = run("policed")
    cells_per_mbps = 2 * 1e6 / 424
    video, frames = result.vcs["video"], result.vcs["frames"]
    assert video.cells_sent > 38 * cells_per_mbps and frames.cells_sent > 19 * cells_per_mbps
    # In addition to the rate, a burst of MBS passes; by default that is two frames.
    assert 20 * cells_per_mbps <= video.cells_delivered <= 20 * cells_per_mbps + 500
    assert 10 * cells_per_mbps <= frames.cells_delivered <= 10 * cells_per_mbps + 3 * 23
    assert frames.frames_delivered * 23 == frames.cells_delivered and frames.frames_damaged == 0
    assert all(port.dropped_cells.police == port.arrived_cells - port.sent_cells for port in result.ports.values())
    with pytest.raises(cy.ScenarioError, match="less than one frame, which has 23 cells"):
        scenario("policed", vc__frames__contract__mfs='"22 cells"')


@shows("abr-shares")
def each_has_its_minimum_rate_and_a_third_of_the_rest() -> None:
    result = run("abr-shares")
    target = 0.9 * 149.76
    third = (target - 10 - 30 - 50) / 3
    found = {vc.name: vc.mean_acr_mbps for vc in result.vcs.values()}
    assert found == pytest.approx({"ten": 10 + third, "thirty": 30 + third, "fifty": 50 + third}, rel=0.005)
    port = result.ports["west->east"]
    assert port.utilisation == pytest.approx(0.9, abs=0.001) and port.dropped_cells.total == 0


def restates(name: str, policy: str | dict[str, str]) -> None:
    """Register the check that the program of an example drops what `policy` drops."""

    @shows(f"program-{name}")
    def it_drops_what_the_policy_drops() -> None:
        program = scenario(f"program-{name}", duration="2 s")
        of_class = "gfr" if name in ("dfba", "gcra-epd") else "ubr"
        restated = program.with_values({f"switch.west.{of_class}.drop": policy})
        ours, theirs = program.run().only, restated.run().only
        assert ours.totals == theirs.totals and ours.totals.cell_loss_ratio > 0


@shows("chip-threshold")
def queues_take_half_of_what_is_left_one_after_the_other() -> None:
    # tests/test_alpha_page.py has all published numbers.
    result = run("chip-threshold")
    fills = [result.ports[f"t0->b-t0-{queue}"].max_queue_cells for queue in range(1, 51)]
    assert fills[:3] == [120117, 60096, 30085] and fills[-1] == 74
    shared = 240086 - sum(fill - 74 for fill in fills)
    assert shared == 0 and result.pools["t0"].max_used_places == result.pools["t0"].buffer_places


@shows("incast-shared")
def a_burst_below_the_closed_form_loses_nothing_and_a_longer_one_does() -> None:
    result = run("incast-shared")
    burst = [vc for vc in result.vcs.values() if vc.name.startswith("burst")]
    assert sum(vc.cells_sent for vc in burst) == 480 < 500 and not any(vc.cells_dropped for vc in burst)
    assert result.ports["tor->busy"].max_queue_cells == 500
    longer = run("incast-shared", vc__burst__stop='"2250 us"')
    assert sum(vc.cells_dropped for vc in longer.vcs.values() if vc.name.startswith("burst")) > 0
    # The threshold of the burst's queue is what is free, as alpha is 1.
    pool, _, queue, threshold = result.series
    assert (pool.unit, queue.unit, threshold.unit) == ("packets",) * 3
    assert (pool.value + threshold.value == 1000).all() and (queue.value <= threshold.value + 1).all()


def limits(name: str, **built_in: str | int) -> None:
    """Register the check that the program of an example drops what these settings of a queue in a pool drop."""

    @shows(f"program-{name}")
    def it_drops_what_the_settings_drop() -> None:
        program = scenario(f"program-{name}")
        settings: dict[str, str | int] = {"drop": "tail-drop", **built_in}
        restated = program.with_values({f"switch.tor.ubr.{field}": value for field, value in settings.items()})
        ours, theirs = program.run().only, restated.run().only
        assert ours.totals == theirs.totals and ours.totals.cell_loss_ratio > 0
        assert ours.pools == theirs.pools and ours.pools["tor"].max_used_places > 200


def schedules(name: str) -> None:
    """Register the check that the program of an example serves as the scheduler `name`."""

    @shows(f"program-scheduler-{name}")
    def it_serves_as_the_scheduler_does() -> None:
        program = scenario(f"program-scheduler-{name}", duration="2 s")
        unit = {"per-vc": "cell", "bytes": "byte"}.get(name)
        built_in = {"kind": "per-vc", "class": "ubr", "unit": unit} if unit else name
        ours, theirs = program.run().only, program.with_values({"switch.west.scheduler": built_in}).run().only
        assert ours.totals == theirs.totals and ours.totals.cell_loss_ratio > 0
        fifo = program.with_values({"switch.west.scheduler": "fifo"}).run().only
        assert (ours.totals == fifo.totals) == (name == "fifo")
        if name == "bytes":
            assert [vc.throughput_mbps for vc in ours.vcs.values()] == pytest.approx([20] * 5, rel=0.01)


limits("dynamic-threshold", alpha=1)
limits("static-threshold", buffer="200 cells")
schedules("bytes")
schedules("fifo")
schedules("per-vc")
schedules("strict-priority")
restates("dfba", {"policy": "dfba", "low": "500 cells", "high": "900 cells"})
restates("epd", "epd")
restates("fba", "fba")
restates("gcra-epd", {"policy": "gcra-epd", "threshold": "500 cells"})
restates("packet-red", "packet-red")
restates("selective-drop", "selective-drop")
restates("tail-drop", "tail-drop")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_shows_what_it_says(path: Path) -> None:
    CHECKS[path.stem]()


def test_no_check_is_left_without_its_example() -> None:
    assert sorted(CHECKS) == sorted(path.stem for path in EXAMPLES)
