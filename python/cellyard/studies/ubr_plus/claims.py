"""What the text says, judged on simulated rows."""

from itertools import pairwise
from statistics import mean

from cellyard.study import Rows, claim, count
from cellyard.study.verdicts import Rule, Verdict, every, share

LAN_WINDOW_CELLS = 127 * 12  # 65535 bytes are 127 whole segments of 512 bytes, 12 cells each
WAN_WINDOW_CELLS = 1171 * 12


def _tally(gains: list[float]) -> tuple[int, int, float]:
    """How many gains are positive, of how many, and their mean."""
    up, of = count(gain > 0 for gain in gains)
    return up, of, mean(gains)


@claim(
    "Zero loss needs a buffer of about the sum of the windows, growing linearly with the number of sources.",
    "1",
    "zero-loss",
)
def zero_loss(rows: Rows) -> Verdict:
    """Sections 4 and 8, table 1."""
    parts, margins, first = [], [], []
    for configuration, window in (("lan", LAN_WINDOW_CELLS), ("wan", WAN_WINDOW_CELLS)):
        chosen = rows.where(table="zero-loss", configuration=configuration)
        queue = {row["sources"]: row.simulated["max_queue_cells"] for row in chosen}
        numbers = [n for n in queue if n <= 15]  # the range of the text
        shares = [queue[n] / (n * window) for n in numbers]
        steps = [(queue[b] - queue[a]) / (b - a) / window for a, b in pairwise(numbers)]
        margins += [of - 0.8 for of in shares[1:]] + [1 + 1e-9 - of for of in shares] + [0.1 - max(steps) + min(steps)]
        first.append(f"{min(shares):.2f} to {max(shares):.2f} on the {configuration.upper()}")
        sizes = ", ".join(f"N = {n}: {cells}" for n, cells in queue.items())
        parts.append(
            f"{configuration.upper()}: {sizes} cells. This is {shares[0]:.2f} of the sum of the windows with N = {numbers[0]} and "
            f"{min(shares[1:]):.2f} to {max(shares[1:]):.2f} up to N = {numbers[-1]}, and each further source adds "
            f"{min(steps):.2f} to {max(steps):.2f} of a window"
        )
        beyond = chosen.where(sources=20)
        if timeouts := sum(beyond.values("timeouts")):
            parts.append(
                f"With N = 20 the queue outlasts the retransmission timer ({timeouts:.0f} timeouts without a loss)"
            )
    lead = f"Longest queue relative to the sum of the windows, up to 15 sources: {', '.join(first)}"
    return Verdict(". ".join([lead, *parts]), every(margins))


@claim("UBR (tail drop) is poor on the LAN (efficiency below 0.5 with 1000 cells) and good on the WAN.", "2-3")
def ubr_lan_and_wan(rows: Rows) -> Verdict:
    """Section 4."""
    ubr = rows.where(table="2-3", drop_policy="tail-drop")
    small = ubr.where(configuration="lan", buffer_cells=1000).values("efficiency")
    lan = ubr.where(configuration="lan").values("efficiency")
    wan = ubr.where(configuration="wan").values("efficiency")
    return Verdict(
        f"efficiency on the LAN with 1000 cells: {' and '.join(f'{e:.2f}' for e in small)}; "
        f"with all buffers: {min(lan):.2f} to {max(lan):.2f}; on the WAN: {min(wan):.2f} to {max(wan):.2f}",
        every((0.5 - of for of in small), (of - 0.75 for of in wan), min(wan) - max(lan)),
    )


def _monotone(rows: Rows, table: str, parameter: str, order: tuple[int, ...], what: str) -> Verdict:
    chosen = rows.where(table=table)
    steps = [gain for a, b in pairwise(order) for gain in chosen.gains("efficiency", parameter, a, b)]
    up, of, _ = _tally(steps)
    ends = chosen.gains("efficiency", parameter, order[0], order[-1])
    best, of_ends, gain = _tally(ends)
    means = ", ".join(f"{v}: {mean(chosen.where(**{parameter: v}).values('efficiency')):.2f}" for v in order)
    return Verdict(
        f"From {order[0]} to {order[-1]} {what}, efficiency changes by {gain:+.2f} on average, and rises in {best} of {of_ends} rows. "
        f"Means: {means}. At single steps it rises in {up} of {of}",
        share(ends),
    )


@claim("Smaller windows raise the efficiency of UBR on the LAN.", "windows")
def smaller_windows(rows: Rows) -> Verdict:
    """Section 4, second observation."""
    return _monotone(rows, "windows", "rwnd_bytes", (65535, 32768, 16384, 8192), "bytes")


@claim("Finer timers raise the efficiency of UBR on the LAN.", "granularity")
def finer_timers(rows: Rows) -> Verdict:
    """Sections 3.1 and 8."""
    return _monotone(rows, "granularity", "granularity_ms", (500, 100, 10), "ms")


@claim("Larger segments raise the efficiency of UBR on the LAN.", "segments")
def larger_segments(rows: Rows) -> Verdict:
    """Section 3.1; efficiency is relative to what segments of that size can reach."""
    return _monotone(rows, "segments", "mss_bytes", (512, 1460, 4352, 9140), "bytes")


@claim("EPD raises efficiency on the LAN.", "2-3")
def epd_efficiency(rows: Rows) -> Verdict:
    """Section 5."""
    chosen = rows.where(table="2-3", configuration="lan")
    gains = chosen.gains("efficiency", "drop_policy", "tail-drop", "epd")
    up, of, gain = _tally(gains)
    return Verdict(
        f"efficiency higher than with tail drop in {up} of {of} rows; mean over all {of}: {gain:+.2f}", share(gains)
    )


@claim("EPD improves fairness little.", "2-3")
def epd_fairness(rows: Rows) -> Verdict:
    """Section 5; judged against what Selective Drop does to the same rows."""
    chosen = rows.where(table="2-3")
    up, of, gain = _tally(chosen.gains("fairness", "drop_policy", "tail-drop", "epd"))
    _, _, selective = _tally(chosen.gains("fairness", "drop_policy", "tail-drop", "selective-drop"))
    return Verdict(
        f"fairness higher than with tail drop in {up} of {of} rows; mean over all {of}: {gain:+.2f}, with Selective Drop {selective:+.2f}",
        every(max(0.05 - gain, selective - 2 * gain)),
    )


@claim("Selective Drop and FBA are fairer than EPD.", "2-3")
def selective_fairness(rows: Rows) -> Verdict:
    """Sections 6 and 7."""
    chosen = rows.where(table="2-3")
    of_sd, of_fba = (chosen.gains("fairness", "drop_policy", "epd", policy) for policy in ("selective-drop", "fba"))
    (sd, of, sd_gain), (fba, _, fba_gain) = _tally(of_sd), _tally(of_fba)
    return Verdict(
        f"Selective Drop fairer in {sd} of {of} rows ({sd_gain:+.3f}), FBA in {fba} of {of} ({fba_gain:+.3f})",
        share(of_sd),
        share(of_fba),
    )


@claim("Fairness of Selective Drop and FBA falls with the number of sources.", "2-3")
def fairness_falls(rows: Rows) -> Verdict:
    """Section 6."""
    chosen = rows.where(table="2-3", drop_policy=("selective-drop", "fba"))
    gains = chosen.gains("fairness", "sources", 5, 15)
    up, of, gain = _tally(gains)
    return Verdict(
        f"fairness falls from 5 to 15 sources in {of - up} of {of} rows; mean over all {of}: by {-gain:.3f}",
        share(-gain for gain in gains),
    )


@claim("Efficiency grows with the buffer.", "2-3")
def buffer_helps(rows: Rows) -> Verdict:
    """Section 4, third observation."""
    chosen = rows.where(table="2-3")
    steps = ((1000, 2000), (2000, 3000), (12000, 24000), (24000, 36000))
    gains = [gain for a, b in steps for gain in chosen.gains("efficiency", "buffer_cells", a, b)]
    up, of, gain = _tally(gains)
    return Verdict(
        f"efficiency higher with the next larger buffer in {up} of {of} pairs; mean over all {of}: {gain:+.2f}",
        share(gains),
    )


@claim("FBA with small R and small Z: fairness near 1 and efficiency near 0 on the LAN.", "5")
def small_r_small_z(rows: Rows) -> Verdict:
    """Section 7.3, first observation."""
    corner = rows.where(table="5", r_fraction=0.1, z=0.2)
    rest = [row for row in rows.where(table="5") if row not in corner]
    fair, efficient = corner.values("fairness"), corner.values("efficiency")
    others = mean(row.simulated["efficiency"] for row in rest)
    printed = {metric: [row.published[metric] or 0 for row in corner] for metric in ("fairness", "efficiency")}
    return Verdict(
        f"R = 0.1 K, Z = 0.2: fairness {min(fair):.2f} to {max(fair):.2f}, efficiency {min(efficient):.2f} to "
        f"{max(efficient):.2f} ({mean(efficient):.2f} on average). With the other parameters it is {others:.2f}. As printed in the "
        "table, " + ", ".join(f"{metric} {min(of):.2f} to {max(of):.2f}" for metric, of in printed.items()),
        every((of - 0.9 for of in fair), (0.2 - of for of in efficient)),
    )


@claim("FBA with R = 0.9 K and Z = 0.8 is near the best.", "5", "6")
def best_parameters(rows: Rows) -> Verdict:
    """Section 7.3: judged by efficiency and fairness averaged over all sources and buffers."""
    chosen = rows.where(table=("5", "6"))
    scores = {}
    for r in (0.9, 0.5, 0.1):
        for z in (0.8, 0.5, 0.2):
            these = chosen.where(r_fraction=r, z=z)
            scores[r, z] = (mean(these.values("efficiency")), mean(these.values("fairness")))
    ranked = sorted(scores, key=lambda key: -sum(scores[key]))
    place = ranked.index((0.9, 0.8)) + 1
    best = ranked[0]
    short = sum(scores[best]) - sum(scores[0.9, 0.8])
    totals = {key: sum(of) for key, of in scores.items()}
    ahead = [totals[0.9, 0.8] - of for key, of in totals.items() if key != (0.9, 0.8)]
    return Verdict(
        f"place {place} of 9 by mean efficiency plus mean fairness: {scores[0.9, 0.8][0]:.2f} and "
        f"{scores[0.9, 0.8][1]:.2f}. Best R = {best[0]} K, Z = {best[1]}: {scores[best][0]:.2f} and {scores[best][1]:.2f}",
        Rule(tuple(ahead), len(ahead) - 2),  # place 3 or better
        every(0.05 - short),
    )
