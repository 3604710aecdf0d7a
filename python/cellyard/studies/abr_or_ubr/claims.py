"""What the slides say, judged on simulated rows."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

from cellyard.study import Rows, Verdict, claim, count

#: Cells of a segment of 512 bytes.
SEGMENT_BYTES, SEGMENT_CELLS = 512, 12
#: Cells that the link sends in a round trip of 30 ms.
ROUND_TRIP_CELLS = 11004


def window_cells(window_bytes: int) -> int:
    """Cells of the whole segments of a receiver window.

    >>> window_cells(120000), window_cells(600000)
    (2808, 14052)
    """
    return window_bytes // SEGMENT_BYTES * SEGMENT_CELLS


def _mostly(part: int, whole: int) -> bool:
    """At least five of six."""
    return 6 * part >= 5 * whole


def _lost(rows: Rows) -> Rows:
    return Rows(row for row in rows if row.simulated["cell_loss_ratio"] > 0)


@claim(
    "No loss needs buffers of about the sum of the receiver windows, so what is needed grows with the number of sources.",
    "zero-loss",
)
def zero_loss(rows: Rows) -> Verdict:
    """UBR Results, first point; Observations about UBR, first and second points."""
    parts, holds, missing = [], True, []
    for window in dict.fromkeys(row["receiver_window_bytes"] for row in rows.where(table="zero-loss")):
        chosen = rows.where(table="zero-loss", receiver_window_bytes=window)
        queue = {row["sources"]: row.simulated["max_queue_cells"] for row in chosen}
        total = {sources: sources * window_cells(window) for sources in queue}
        holds &= all(queue[n] <= total[n] for n in queue) and all(queue[a] < queue[b] for a, b in pairwise(queue))
        missing += [total[n] - queue[n] for n in queue if total[n] > 2 * ROUND_TRIP_CELLS]
        parts.append(f"{window} bytes " + ", ".join(f"N = {n}: {queue[n]:.0f} of {total[n]}" for n in queue))
    return Verdict(
        holds and max(missing) < 1.1 * ROUND_TRIP_CELLS,
        f"longest queue with unlimited buffers, of the sum of the windows, in cells: {'; '.join(parts)}. Where the sum exceeds two round "
        f"trips of {ROUND_TRIP_CELLS} cells, the queue is at most {max(missing):.0f} cells less: what is in flight does not wait",
    )


@claim("TCP performs best without loss; loss costs it considerable throughput.", "ubr", "buffers")
def loss_costs(rows: Rows) -> Verdict:
    """Observations about TCP, third point; Summary, first point."""
    chosen = rows.where(table=("ubr", "buffers"))
    lossy = _lost(chosen)
    with_loss = lossy.values("efficiency")
    without = Rows(row for row in chosen if row not in lossy).values("efficiency")
    return Verdict(
        min(without) > max(with_loss) and mean(without) > mean(with_loss) + 0.1,
        f"efficiency without loss {min(without):.2f} to {max(without):.2f} ({len(without)} rows), with loss {min(with_loss):.2f} to "
        f"{max(with_loss):.2f}, {mean(with_loss):.2f} on average ({len(with_loss)} rows)",
    )


@claim("A receiver window of a round trip is needed for full throughput.", "windows")
def round_trip_needed(rows: Rows) -> Verdict:
    """Observations about UBR, third point; of all sources together."""
    parts, holds = [], True
    for sources in dict.fromkeys(row["sources"] for row in rows.where(table="windows")):
        chosen = rows.where(table="windows", sources=sources)
        of = {row["window_share"]: row.simulated["efficiency"] for row in chosen}
        best = max(of.values())
        holds &= all(
            value > 0.98 * best if share >= 1 else value < (share + 0.05) * best for share, value in of.items()
        )
        parts.append(
            f"{sources} source{'s' * (sources > 1)} " + ", ".join(f"{share:g}: {e:.2f}" for share, e in of.items())
        )
    return Verdict(holds, f"efficiency by the sum of the windows in round trips of the link, {'; '.join(parts)}")


@claim("Timer granularity is the key in determining the time lost.", "granularity")
def timers(rows: Rows) -> Verdict:
    """Observations about TCP, last point."""
    chosen = rows.where(table="granularity")
    order = sorted(dict.fromkeys(row["granularity_ms"] for row in chosen))
    steps = [gain for a, b in pairwise(order) for gain in chosen.gains("efficiency", "granularity_ms", a, b)]
    ends = chosen.gains("efficiency", "granularity_ms", order[0], order[-1])
    down, of = count(step < 0 for step in steps)
    means = ", ".join(f"{ms} ms: {mean(chosen.where(granularity_ms=ms).values('efficiency')):.2f}" for ms in order)
    return Verdict(
        _mostly(down, of) and max(ends) < -0.1,
        f"mean efficiency with ticks of {means}; lower with the next coarser in {down} of {of} steps, from first to last by "
        f"{-max(ends):.2f} to {-min(ends):.2f}",
    )


def _with_epd(rows: Rows, metric: str) -> tuple[list[float], list[float]]:
    """Gains by EPD where plain UBR loses cells: of the rows of the slides, and of all with those of our own."""
    losing = {
        (row["buffer_cells"], row["receiver_window_bytes"])
        for row in _lost(rows.where(table=("ubr", "buffers"), epd="no"))
    }
    chosen = Rows(
        row
        for row in rows.where(table=("ubr", "buffers"))
        if (row["buffer_cells"], row["receiver_window_bytes"]) in losing
    )
    return chosen.where(table="ubr").gains(metric, "epd", "no", "yes"), chosen.gains(metric, "epd", "no", "yes")


def _told(rows: Rows, metric: str) -> str:
    slides, every = _with_epd(rows, metric)
    parts = []
    for gains, whose in ((slides, "of the slides"), (every, "with ours")):
        up, of = count(gain > 0 for gain in gains)
        parts.append(
            f"in {up} of {of} pairs {whose} ({mean(gains):+.3f} on average, {min(gains):+.2f} to {max(gains):+.2f})"
        )
    return f"higher with EPD {', '.join(parts)}"


@claim("EPD improves the throughput of UBR.", "ubr", "buffers")
def epd_efficiency(rows: Rows) -> Verdict:
    """UBR Results, second point."""
    _, gains = _with_epd(rows, "efficiency")
    small = Rows(row for row in rows.where(table=("ubr", "buffers")) if row["buffer_cells"] <= 3000)
    few = small.gains("efficiency", "epd", "no", "yes")
    return Verdict(
        _mostly(*count(gain > 0 for gain in gains)) and mean(gains) > 0,
        f"{_told(rows, 'efficiency')}; with up to 3000 cells {mean(few):+.3f}",
    )


@claim("EPD does not improve the fairness of UBR.", "ubr", "buffers")
def epd_fairness(rows: Rows) -> Verdict:
    """UBR Results, second point."""
    _, gains = _with_epd(rows, "fairness")
    return Verdict(mean(gains) < 0.05, _told(rows, "fairness"))


@claim("UBR is unfair in many cases.", "ubr")
def unfair(rows: Rows) -> Verdict:
    """Observations about UBR, fourth point."""
    lossy = _lost(rows.where(table="ubr"))
    fairness = lossy.values("fairness")
    below, of = count(value < 0.9 for value in fairness)
    return Verdict(
        4 * below >= of, f"fairness below 0.9 in {below} of {of} rows with loss, {min(fairness):.2f} the lowest"
    )


CLAIMS = (zero_loss, loss_costs, round_trip_needed, timers, epd_efficiency, epd_fairness, unfair)
