"""What the slides say, judged on simulated rows."""

from itertools import combinations, pairwise
from statistics import geometric_mean, mean

from cellyard.plot.rows import named
from cellyard.study import Rows, claim, count
from cellyard.study.verdicts import Verdict, every, share

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


def _lost(rows: Rows) -> Rows:
    return Rows(row for row in rows if row.simulated["cell_loss_ratio"] > 0)


@claim(
    "Zero loss needs a buffer of about the sum of the receiver windows, which grows with the number of sources.",
    "zero-loss",
)
def zero_loss(rows: Rows) -> Verdict:
    """UBR Results, first point; Observations about UBR, first and second points."""
    parts, margins, missing = [], [], []
    for window in dict.fromkeys(row["receiver_window_bytes"] for row in rows.where(table="zero-loss")):
        chosen = rows.where(table="zero-loss", receiver_window_bytes=window)
        queue = {row["sources"]: row.simulated["max_queue_cells"] for row in chosen}
        total = {sources: sources * window_cells(window) for sources in queue}
        margins += [total[n] + 0.5 - queue[n] for n in queue] + [queue[b] - queue[a] for a, b in pairwise(queue)]
        missing += [total[n] - queue[n] for n in queue if total[n] > 2 * ROUND_TRIP_CELLS]
        parts.append(f"With {window} bytes, " + ", ".join(f"N = {n}: {queue[n]:.0f} of {total[n]}" for n in queue))
    return Verdict(
        f"Above two round trips of {ROUND_TRIP_CELLS} cells, the longest queue is at most {max(missing):.0f} cells below the sum of "
        f"the windows. What is in flight does not wait. Longest queue, of the sum of the windows, in cells, by window. {'. '.join(parts)}",
        every(margins, 1.1 * ROUND_TRIP_CELLS - max(missing)),
    )


@claim("TCP performs best without loss; loss costs it considerable throughput.", "ubr", "buffers")
def loss_costs(rows: Rows) -> Verdict:
    """Observations about TCP, third point; Summary, first point."""
    chosen = rows.where(table=("ubr", "buffers"))
    lossy = _lost(chosen)
    with_loss = lossy.values("efficiency")
    without = Rows(row for row in chosen if row not in lossy).values("efficiency")
    return Verdict(
        f"efficiency without loss {min(without):.2f} to {max(without):.2f} ({len(without)} rows), with loss {min(with_loss):.2f} to "
        f"{max(with_loss):.2f}, {mean(with_loss):.2f} on average ({len(with_loss)} rows)",
        every(min(without) - max(with_loss), mean(without) - mean(with_loss) - 0.1),
    )


@claim("A receiver window of a round trip is needed for full throughput.", "windows")
def round_trip_needed(rows: Rows) -> Verdict:
    """Observations about UBR, third point; of all sources together."""
    parts, margins = [], []
    half, whole = (rows.where(table="windows", window_share=window).values("efficiency") for window in (0.5, 1))
    for sources in dict.fromkeys(row["sources"] for row in rows.where(table="windows")):
        chosen = rows.where(table="windows", sources=sources)
        of = {row["window_share"]: row.simulated["efficiency"] for row in chosen}
        best = max(of.values())
        margins += [
            value - 0.98 * best if window >= 1 else (window + 0.05) * best - value for window, value in of.items()
        ]
        parts.append(
            f"With {sources} source{'s' * (sources > 1)}, "
            + ", ".join(f"{window:g}: {e:.2f}" for window, e in of.items())
        )
    return Verdict(
        f"Efficiency is at most {max(half):.2f} with windows of half a round trip, and at least {min(whole):.2f} with one round trip. "
        f"By the sum of the windows in round trips of the link. {'. '.join(parts)}",
        every(margins),
    )


@claim("Timer granularity decides how much time is lost.", "granularity")
def timers(rows: Rows) -> Verdict:
    """Observations about TCP, last point."""
    chosen = rows.where(table="granularity")
    order = sorted(dict.fromkeys(row["granularity_ms"] for row in chosen))
    steps = [gain for a, b in pairwise(order) for gain in chosen.gains("efficiency", "granularity_ms", a, b)]
    ends = chosen.gains("efficiency", "granularity_ms", order[0], order[-1])
    down, of = count(step < 0 for step in steps)
    means = ", ".join(f"{ms} ms: {mean(chosen.where(granularity_ms=ms).values('efficiency')):.2f}" for ms in order)
    return Verdict(
        f"From ticks of {order[0]} ms to {order[-1]} ms efficiency falls by {-max(ends):.2f} to {-min(ends):.2f}. "
        f"Mean efficiency with ticks of {means}. The next coarser tick lowers it in {down} of {of} steps",
        share(-step for step in steps),
        every(-0.1 - end for end in ends),
    )


def _with_epd(rows: Rows, metric: str) -> tuple[list[float], list[float]]:
    """Gains by EPD where plain UBR loses cells: of the rows of the slides, and of all with the additional ones."""
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
    for gains, whose in ((every, ""), (slides, " of the slides")):
        up, of = count(gain > 0 for gain in gains)
        parts.append(
            f"in {up} of {of} pairs{whose} ({mean(gains):+.3f} on average, {min(gains):+.2f} to {max(gains):+.2f})"
        )
    return f"Higher with EPD {'. Higher with EPD '.join(parts)}"


@claim("EPD improves the throughput of UBR.", "ubr", "buffers")
def epd_efficiency(rows: Rows) -> Verdict:
    """UBR Results, second point."""
    _, gains = _with_epd(rows, "efficiency")
    small = Rows(row for row in rows.where(table=("ubr", "buffers")) if row["buffer_cells"] <= 3000)
    few = small.gains("efficiency", "epd", "no", "yes")
    return Verdict(
        f"{_told(rows, 'efficiency')}. With up to 3000 cells it changes by {mean(few):+.3f}",
        share(gains),
        every(mean(gains)),
    )


@claim("EPD does not improve the fairness of UBR.", "ubr", "buffers")
def epd_fairness(rows: Rows) -> Verdict:
    """UBR Results, second point."""
    _, gains = _with_epd(rows, "fairness")
    return Verdict(_told(rows, "fairness"), every(0.05 - mean(gains)))


@claim("UBR is unfair in many cases.", "ubr")
def unfair(rows: Rows) -> Verdict:
    """Observations about UBR, fourth point."""
    lossy = _lost(rows.where(table="ubr"))
    fairness = lossy.values("fairness")
    below, of = count(value < 0.9 for value in fairness)
    return Verdict(
        f"fairness below 0.9 in {below} of {of} rows with loss, {min(fairness):.2f} the lowest",
        share((0.9 - value for value in fairness), 1 / 4),
    )


def _needs(rows: Rows, most: float, where: str) -> Verdict:
    """Whether with one TBE the queue of no number of sources exceeds ``most`` round trips, with all queues."""
    below, told = [], []
    for tbe in dict.fromkeys(row["tbe_cells"] for row in rows):
        chosen = rows.where(tbe_cells=tbe)
        below.append(most - max(chosen.values("queue_round_trips")))
        of = ", ".join(f"N = {row['sources']}: {row.simulated['queue_round_trips']:.1f}" for row in chosen)
        told.append(f"With TBE = {tbe}, {of}")
    parts = (
        f"The longest queue is {most - max(below):.1f} round trips with the better of two TBEs. "
        f"{where[0].upper()}{where[1:]}, in round trips of 30 ms, with a feedback delay of 10 ms. {'. '.join(told)}"
    )
    return Verdict(parts, every(max(below)))


@claim(
    "With buffers of four round trips ABR loses no cell for any number of TCP sources, even with VBR.", "abr-sources"
)
def four_round_trips(rows: Rows) -> Verdict:
    """Observations About ABR, second to fourth points; sources that all start together, the worst of cases."""
    return _needs(rows.where(table="abr-sources", vbr="yes"), 4, "with VBR")


@claim("Without VBR, buffers of three round trips suffice.", "abr-sources")
def three_round_trips(rows: Rows) -> Verdict:
    """Observations About ABR, fourth point."""
    return _needs(rows.where(table="abr-sources", vbr="no"), 3, "without VBR")


@claim("Under many circumstances buffers of one round trip suffice.", "abr-sources", "abr-delays")
def one_round_trip(rows: Rows) -> Verdict:
    """Observations About ABR, fifth point."""
    chosen = rows.where(table=("abr-sources", "abr-delays"))
    enough, of = count(value <= 1 for value in chosen.values("queue_round_trips"))
    most = max((row["sources"] for row in chosen if row.simulated["queue_round_trips"] <= 1), default=0)
    return Verdict(
        f"the longest queue is at most one round trip in {enough} of {of} rows, up to N = {most}",
        share((1 + 1e-9 - value for value in chosen.values("queue_round_trips")), 1 / 4),
    )


@claim(
    "The buffer that ABR needs depends on round trip, feedback delay and VBR, not on the number of sources.",
    "abr-sources",
    "abr-delays",
)
def need(rows: Rows) -> Verdict:
    """Observations About ABR, third and sixth points; that UBR's need grows with the sources is Observations about UBR, second point."""
    delays, sources = rows.where(table="abr-delays"), rows.where(table="abr-sources")
    near, far = delays.where(access_ms=1, exit_ms=9), delays.where(access_ms=9, exit_ms=1)
    short, long = delays.where(access_ms=1, exit_ms=1), delays.where(access_ms=15, exit_ms=15)
    factors = {
        "the feedback delay (18 ms instead of 2 ms, round trip 30 ms)": _factor(near, far),
        "the round trip (70 ms instead of 14 ms)": _factor(short, long),
        "VBR (yes instead of no)": _factor(sources.where(vbr="no"), sources.where(vbr="yes")),
        "sources (200 instead of 2)": _factor(sources.where(sources=2), sources.where(sources=200)),
    }
    *named, by_sources = factors.values()
    return Verdict(
        f"200 sources instead of 2 multiply the longest queue by {by_sources:.1f}. "
        "What it is multiplied by. "
        + ". ".join(f"{name[0].upper()}{name[1:]}: {value:.1f}" for name, value in factors.items()),
        every(1.5 - by_sources, max(named) - 1.5),
    )


def _factor(before: Rows, after: Rows) -> float:
    """By what the longest queue is multiplied, on geometric average."""
    pairs = zip(before.values("max_queue_cells"), after.values("max_queue_cells"), strict=True)
    return geometric_mean(b / a for a, b in pairs)


@claim("A higher cell loss ratio need not mean lower throughput.", "abr")
def loss_tells_little(rows: Rows) -> Verdict:
    """Simulation Results: Summary, second point."""
    values = [
        (row.simulated["cell_loss_percent"], row.simulated["throughput_mbps"])
        for row in _lossy(rows.where(table="abr"))
    ]
    products = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in combinations(values, 2)]
    both, of = count(product > 0 for product in products)
    told = ", ".join(f"{loss:.2f} %: {throughput:.1f}" for loss, throughput in sorted(values))
    return Verdict(
        f"Of two rows with loss, the one with more loss has the higher throughput in {both} of {of} pairs. Mb/s by cell loss ratio: {told}",
        share(products or [-1.0], 1 / 5),
    )


def _lossy(rows: Rows) -> Rows:
    return Rows(row for row in rows if row.simulated["cell_loss_percent"] > 0)


@claim("Throughput falls with less buffer by far more than cells are lost.", "abr")
def loss_and_throughput(rows: Rows) -> Verdict:
    """Simulation Results: Summary, third point: cell loss ratio and throughput are an order of magnitude apart."""
    lossy = _lossy(rows.where(table="abr"))
    losses = lossy.values("cell_loss_percent") or [0.0]
    missing = [100 - value for value in lossy.values("percent_of_max")] or [0.0]
    ratio = min((lost / loss for lost, loss in zip(missing, losses, strict=True) if loss), default=0)
    return Verdict(
        f"rows that lose {min(losses):.2f} to {max(losses):.2f} % of their cells miss {min(missing):.0f} to {max(missing):.0f} % of the "
        f"throughput, at least {ratio:.0f} times as much",
        every(ratio - 10),
    )


@claim("ABR is fair.", "abr", "abr-sources")
def abr_is_fair(rows: Rows) -> Verdict:
    """ABR vs UBR."""
    lossy, without = (rows.where(table=table).values("fairness") for table in ("abr", "abr-sources"))
    return Verdict(
        f"fairness {min(lossy):.3f} to {max(lossy):.3f} with the buffers of the slides, {min(without):.3f} to "
        f"{max(without):.3f} without loss",
        every(value - 0.9 for value in (*lossy, *without)),
    )


@claim("ABR queues in the source, UBR in the network.", "services")
def where_it_queues(rows: Rows) -> Verdict:
    """ABR vs UBR."""
    more: dict[str, list[float]] = {}
    for service in ("abr", "ubr"):
        chosen = rows.where(table="services", service=service)
        more[service] = [float(row.simulated["host_queue_cells"] - row.simulated["max_queue_cells"]) for row in chosen]
    (abr, of), (ubr, of_ubr) = (count(cells > 0 for cells in more[service]) for service in ("abr", "ubr"))
    return Verdict(
        f"the longest queue of a host is longer than that of the switch in {abr} of {of} rows over ABR, in {ubr} of {of_ubr} over UBR",
        share(more["abr"], 1 / 2),
        share(-cells for cells in more["ubr"]),
    )


@claim("UBR may be OK for a LAN without VBR with a small number of sources.", "services")
def small_lan(rows: Rows) -> Verdict:
    """Conclusion on UBR: OK if it is at most slightly less efficient than ABR there."""
    chosen = rows.where(table="services", configuration="lan", vbr="no", sources=5)
    of = {row["service"]: row.simulated["efficiency"] for row in chosen}
    told = ", ".join(f"{named('service', service)} {value:.2f}" for service, value in of.items())
    return Verdict(
        f"With five sources, UBR has an efficiency of {of['ubr']:.2f} and ABR of {of['abr']:.2f}. All services: {told}",
        every(of["ubr"] - of["abr"] + 0.1),
    )
