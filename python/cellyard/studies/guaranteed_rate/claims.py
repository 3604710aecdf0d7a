"""What the text says, judged on simulated rows."""

from collections.abc import Mapping
from statistics import mean
from typing import Any

from cellyard.study import Rows, claim, count
from cellyard.study.answer import apart, means
from cellyard.study.verdicts import Verdict, every, share

#: VBR cells that may wait for the UBR cell in service, or arrive together with others.
FEW_CELLS = 3

#: Factors with their names in a sentence.
FACTORS = {"tcp": "TCPs", "gr": "guaranteed rates", "drop_policy": "drop policies"}


def _show(of: Mapping[Any, float]) -> str:
    return ", ".join(f"{value} {e:.2f}" for value, e in of.items())


def _decisive(rows: Rows, factor: str) -> tuple[str, list[float]]:
    """Mean efficiencies by value of each factor, and how much farther apart they lie for ``factor`` than for the others."""
    by = {name: means(rows, name) for name in FACTORS}
    spreads = {name: apart(of) for name, of in by.items()}
    shown = ". ".join(f"By {name}: {_show(of)} (spread {spreads[name]:.2f})" for name, of in by.items())
    lead = ", ".join(f"{spreads[name]:.2f} between {of}" for name, of in FACTORS.items())
    return f"Mean efficiencies differ by up to {lead}. {shown}", [
        spreads[factor] - spreads[other] for other in FACTORS if other != factor
    ]


@claim("Longer VBR periods lower the efficiency of TCP.", "1-2")
def longer_periods_hurt(rows: Rows) -> Verdict:
    """Section 5.1, tables 1 and 2."""
    chosen = rows.where(table="1-2")
    parts: list[str] = []
    losses: list[float] = []
    for configuration in ("lan", "wan"):
        here = chosen.where(configuration=configuration)
        gains = here.gains("efficiency", "vbr_period_ms", 50, 300)
        held, of = count(gain < 0 for gain in gains)
        losses += [-gain for gain in gains]
        parts.append(
            f"{configuration.upper()}, mean efficiency by period in ms: {_show(means(here, 'vbr_period_ms'))}. "
            f"It is lower with 300 ms than with 50 ms in {held} of {of} rows"
        )
    held, of = count(loss > 0 for loss in losses)
    lead = f"Efficiency is lower with 300 ms than with 50 ms in {held} of {of} rows"
    return Verdict(". ".join([lead, *parts]), share(losses))


@claim("On the LAN the drop policy matters most.", "3-5")
def lan_policy(rows: Rows) -> Verdict:
    """Section 5.1.1, first observation."""
    shown, more = _decisive(rows.where(table="3-5"), "drop_policy")
    return Verdict(shown, every(more))


@claim("On the LAN Selective Drop helps for every TCP and guaranteed rate.", "3-5")
def lan_selective_drop(rows: Rows) -> Verdict:
    """Section 5.1.1, first observation."""
    chosen = rows.where(table="3-5")
    wins = {}
    for tcp in ("sack", "reno", "vanilla"):
        for gr in (0.5, 0.1, 0.0):
            these = chosen.where(tcp=tcp, gr=gr)
            metrics = ("efficiency", "fairness")
            gain = mean(g for m in metrics for g in these.gains(m, "drop_policy", "tail-drop", "selective-drop"))
            wins[f"{tcp} GR {gr}"] = gain
    helped, of = count(gain > 0 for gain in wins.values())
    return Verdict(
        f"The mean gain of efficiency and fairness over tail drop is positive in {helped} of {of} combinations. Each gain: "
        + ", ".join(f"{name} {gain:+.2f}" for name, gain in wins.items()),
        every(wins.values()),
    )


@claim("On the WAN the guaranteed rate matters most, and 0.1 or more helps.", "4-6")
def wan_guaranteed_rate(rows: Rows) -> Verdict:
    """Section 5.1.1, second observation."""
    chosen = rows.where(table="4-6")
    shown, more = _decisive(chosen, "gr")
    gains = [gain for gr in (0.1, 0.5) for gain in chosen.gains("efficiency", "gr", 0.0, gr)]
    better, of = count(gain > 0 for gain in gains)
    return Verdict(f"{shown}. GR 0.1 or 0.5 is above GR 0 in {better} of {of} pairs", every(more), share(gains))


@claim("On the satellite path the TCP matters most: SACK is best and Reno worst.", "7-8-9")
def satellite_tcp(rows: Rows) -> Verdict:
    """Section 5.1.1, third observation."""
    chosen = rows.where(table="7-8-9")
    shown, more = _decisive(chosen, "tcp")
    of = means(chosen, "tcp")
    return Verdict(shown, every(more, of["sack"] - of["vanilla"], of["vanilla"] - of["reno"]))


@claim(
    "On the satellite path the guaranteed rate matters little while VBR bursts are shorter than the round trip.",
    "7-8-9",
)
def satellite_guaranteed_rate(rows: Rows) -> Verdict:
    """Section 5.1.1, third observation: bursts of 300 ms, a round trip of 550 ms."""
    of = means(rows.where(table="7-8-9"), "gr")
    sack = means(rows.where(table="7-8-9", tcp="sack"), "gr")
    return Verdict(
        f"Mean efficiencies differ by up to {apart(of):.2f} between guaranteed rates. By GR: {_show(of)} (spread {apart(of):.2f}); "
        f"SACK alone {_show(sack)}",
        every(0.1 - apart(of)),
    )


@claim(
    "On the satellite path the guaranteed rate matters once VBR bursts are longer than the round trip.",
    "long-bursts",
)
def satellite_long_bursts(rows: Rows) -> Verdict:
    """Section 5.1.1, announced there: bursts of 300 ms, 600 ms and 1 s."""
    gains, parts = {}, []
    for period in (300, 600, 1000):
        of = means(rows.where(table="long-bursts", vbr_period_ms=period), "gr")
        gains[period] = max(of[0.5], of[0.1]) - of[0.0]
        parts.append(f"{period} ms: GR {_show(of)}")
    return Verdict(
        f"A guarantee adds {gains[300]:+.2f} to the efficiency with bursts of 300 ms, and {gains[1000]:+.2f} with bursts of 1 s. "
        "Mean efficiency by burst, " + "; ".join(parts) + ". Gain of a guarantee: "
        + ", ".join(f"{gain:+.2f}" for gain in gains.values()),
        every(gains[1000] - 0.05, gains[1000] - gains[300]),
    )  # fmt: skip


@claim("VBR cells queue only if UBR has a guarantee, and longer with a higher one.", "3-5", "4-6")
def vbr_queues(rows: Rows) -> Verdict:
    """Section 3, figure 2."""
    chosen = rows.where(table=("3-5", "4-6"))
    queue = means(chosen, "gr", "vbr_max_queue_cells")
    variation = means(chosen, "gr", "vbr_cell_delay_variation_s")
    longest = max(chosen.where(gr=0.0).values("vbr_max_queue_cells"))
    steps = [
        gain for low, high in ((0.0, 0.1), (0.1, 0.5)) for gain in chosen.gains("vbr_max_queue_cells", "gr", low, high)
    ]
    held, of = count(gain > 0 for gain in steps)
    return Verdict(
        f"At most {longest:.0f} of VBR's cells wait with GR = 0, and {queue[0.5]:.0f} with GR = 0.5 on average. "
        "Longest VBR queue, mean by GR: "
        + ", ".join(f"{gr} {cells:.0f} cells" for gr, cells in queue.items())
        + ". Peak-to-peak delay variation: "
        + ", ".join(f"{gr} {1e3 * seconds:.2f} ms" for gr, seconds in variation.items())
        + f". The queue grows with GR in {held} of {of} pairs",
        every(FEW_CELLS + 0.5 - longest, steps),
    )
