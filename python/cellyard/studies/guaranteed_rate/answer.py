"""The study's question, what a minimum rate does for TCP under VBR of higher priority, answered path by path."""

from __future__ import annotations

from statistics import mean

from cellyard.answer import apart, changes, means, ranked, sentence
from cellyard.plot_rows import named
from cellyard.study import Rows

FACTORS = {"tcp": "TCP", "gr": "guaranteed rate", "drop_policy": "drop policy"}


def _decisive(rows: Rows, path: str, expected: str) -> str:
    """Which factor's means lie farthest apart, and whether it is the one that the text names."""
    of = {factor: means(rows, factor) for factor in FACTORS}
    first, *others = sorted(of, key=lambda factor: -apart(of[factor]))
    rest = " and ".join(f"the {FACTORS[factor]} ({apart(of[factor]):.2f})" for factor in others)
    text = "as the text says" if first == expected else f"where the text names the {FACTORS[expected]}"
    return (
        f"On the {path} the {FACTORS[first]} matters most for the efficiency, {text}: {ranked(of[first], lambda v: named(first, v))}, "
        f"{apart(of[first]):.2f} apart, more than by {rest}."
    )


@sentence("3-5")
def on_the_lan(rows: Rows) -> str:
    """Section 5.1.1, first observation."""
    return _decisive(rows.where(table="3-5"), "LAN", "drop_policy")


@sentence("4-6")
def on_the_wan(rows: Rows) -> str:
    """Section 5.1.1, second observation."""
    return _decisive(rows.where(table="4-6"), "WAN", "gr")


@sentence("7-8-9")
def on_the_satellite_path(rows: Rows) -> str:
    """Section 5.1.1, third observation."""
    return _decisive(rows.where(table="7-8-9"), "satellite path", "tcp")


@sentence("3-5", "4-6", "7-8-9")
def guarantee(rows: Rows) -> str:
    """What half of the link does for UBR, and to VBR."""
    gains, queue, variation = [], [], []
    for table, path in (("3-5", "LAN"), ("4-6", "WAN"), ("7-8-9", "satellite path")):
        chosen = rows.where(table=table)
        gains.append(f"{changes(mean(chosen.gains('efficiency', 'gr', 0.0, 0.5)))} on the {path}")
        queue += chosen.where(gr=0.5).values("vbr_max_queue_cells")
        variation += chosen.where(gr=0.5).values("vbr_cell_delay_variation_s")
    return (
        f"With half of the link guaranteed instead of nothing the mean efficiency {gains[0]}, {gains[1]} and {gains[2]}; VBR then "
        f"queues {mean(queue):.0f} cells at most, on average over the rows, and its delay varies by {1e3 * mean(variation):.0f} ms."
    )


ANSWER = (on_the_lan, on_the_wan, on_the_satellite_path, guarantee)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = guarantee
