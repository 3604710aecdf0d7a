"""What no path of study.toml can say: numbers of the row's own VC, its ideal rate, and short-term behaviour from series."""

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from statistics import mean, median, pstdev
from typing import Any

import cellyard as cy
from cellyard.study import Row, load
from cellyard.system.format import aal5


def metrics(run: cy.RunResult, row: Row) -> dict[str, float | None]:
    """What the row's VC gets in all and late, its excess over MCR, the ideal of chapter 6; of watched rows the short term besides."""
    vc = run.vcs[row["vc"]]
    return {
        "throughput_mbps": vc.throughput_mbps,
        "goodput_mbps": vc.goodput_mbps,
        "excess_mbps": vc.throughput_mbps - row["mcr_mbps"],
        "ideal_mbps": ideal(row),
        "delay_ms": 1e3 * vc.mean_cell_transfer_delay_s if vc.mean_cell_transfer_delay_s is not None else None,
        "late_mbps": late(run, row),
        "repeated_percent": repeated(run, row),
        **short_term(run, row),
    }


@cache
def shared() -> Mapping[str, Any]:
    """Values that all rows have."""
    values: Mapping[str, Any] = load("gfr-leaky-bucket").info["shared"]
    return values


def link_mbps() -> float:
    """Cell rate of the congested links."""
    number, unit = shared()["rate"].split()
    assert unit == "Mbps"
    return float(number)


def ideal(row: Row) -> float:
    """R_i = MCR_i + (R_out - sum of MCR) / N over the VCs of a congested link; in the chain all three are alike."""
    rates = [*shared()["chain_mcr_mbps" if row["network"] == "chain" else "mcr_mbps"]] * 2
    return float(row["mcr_mbps"] + (link_mbps() - sum(rates)) / len(rates))


def late(run: cy.RunResult, row: Row) -> float | None:
    """Throughput in the second half of the run, when all buckets are full; `None` if goodput is not given in halves."""
    goodput = [value for one in run.series if (one.what, one.of) == ("goodput", row["vc"]) for value in one.value]
    vc = run.vcs[row["vc"]]
    if "packet_bytes" in row.parameters or len(goodput) != 2:
        return None
    # 53 bytes for every cell to the data of its frame.
    return float(goodput[1]) * vc.throughput_mbps / vc.goodput_mbps if vc.goodput_mbps else 0.0


def repeated(run: cy.RunResult, row: Row) -> float | None:
    """Of the frames delivered to the row's VC in a run that counts from its start those that had been delivered before, in percent."""
    vc = run.vcs[row["vc"]]
    if run.measured_s < run.duration_s or not vc.cells_delivered:
        return None
    first_cells = round(vc.throughput_mbps * 1e6 * run.duration_s / aal5().cell_bits)
    return 100 - 100 * first_cells / vc.cells_delivered


def short_term(run: cy.RunResult, row: Row) -> dict[str, float | None]:
    """Median peak and growth of VC10's window, mean queue, and how much the row's VC's goodput varies, all after the warm-up."""
    if "packet_bytes" not in row.parameters:
        return dict.fromkeys(("cwnd_peak_kb", "ramp_s", "queueing_ms", "variation"))
    from_s = run.duration_s - run.measured_s
    series = {(one.what, one.of): one for one in run.series}
    cwnd = after(series["cwnd", "VC10"], from_s)
    queue = after(series["queue", "west->east"], from_s)
    goodput = after(series["goodput", row["vc"]], from_s)
    values = [value for _, value in goodput]
    peak = median(peaks(cwnd))
    if not values or not queue:
        return dict.fromkeys(("cwnd_peak_kb", "ramp_s", "queueing_ms", "variation"))
    return {
        "cwnd_peak_kb": peak / 1000,
        "ramp_s": ramp(cwnd, peak),
        "queueing_ms": 1e3 * mean(value for _, value in queue) * aal5().cell_bits / (link_mbps() * 1e6),
        "variation": pstdev(values) / mean(values) if any(values) else None,
    }


def after(series: Any, from_s: float) -> list[tuple[float, float]]:
    """The points of a series from a time on."""
    pairs = zip(series.time_s, series.value, strict=True)
    return [(float(time), float(value)) for time, value in pairs if time >= from_s]


def peaks(cwnd: list[tuple[float, float]]) -> list[float]:
    """The window before each reduction to less than three quarters; the last value if there is none."""
    found, highest = [], 0.0
    for (_, before), (_, later) in pairwise(cwnd):
        highest = max(highest, before)
        if later < 0.75 * highest:
            # Of the reductions of one recovery the first counts.
            if highest > 0:
                found.append(highest)
            highest = later
    return found or [value for _, value in cwnd[-1:]] or [0.0]


def ramp(cwnd: list[tuple[float, float]], peak: float) -> float | None:
    """How long linear growth takes to the peak: the peak over the mean slope where the window grows slowly."""
    grown, took = 0.0, 0.0
    for (t, before), (u, later) in pairwise(cwnd):
        # A step of slow start or of recovery is larger than a twentieth.
        if before < later < 1.05 * before:
            grown += later - before
            took += u - t
    return peak * took / grown if grown else None
