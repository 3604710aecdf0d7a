"""The study's question, what a minimum rate does for TCP under VBR of higher priority, answered path by path."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

from cellyard.plot.rows import named
from cellyard.study import Rows
from cellyard.study.answer import changes, of_values, sentence
from cellyard.study.separation import Candidates, Evidence, Statement, contrast, gain

FACTORS = {"tcp": "TCP", "gr": "guaranteed rate", "drop_policy": "drop policy"}


def _factor(rows: Rows, factor: str) -> Candidates:
    found = of_values(rows, factor, "efficiency", lambda value: named(factor, value))
    return replace(found, what=FACTORS[factor])


def _further(first: Candidates, other: Candidates) -> Evidence:
    """How much farther apart the means of one factor lie; the interval is for all pairs of factors and of their values."""
    (high, low), (top, bottom) = ((of.order[0], of.order[-1]) for of in (first, other))
    centre = first.centres[high] - first.centres[low] - other.centres[top] + other.centres[bottom]
    by = contrast(
        [first.runs[high], other.runs[bottom]],
        [first.runs[low], other.runs[top]],
        centre,
        3 * first.pairs * other.pairs,
    )
    return Evidence(f"spread of efficiency: {first.what} - {other.what}", by)


def _decisive(rows: Rows, path: str, expected: str) -> Statement:
    """Which factor's means lie farthest apart, and whether it is the one that the text names."""
    of = {factor: _factor(rows, factor) for factor in FACTORS}
    first, *others = sorted(of, key=lambda factor: -_apart(of[factor]))
    evidence = [_further(of[first], of[other]) for other in others]
    rest = " and ".join(f"the {FACTORS[other]} ({_apart(of[other]):.2f})" for other in others)
    matter = [
        FACTORS[first],
        *(FACTORS[other] for other, by in zip(others, evidence, strict=True) if not by.value.sign),
    ]
    if not of[first].known:
        most = "it is not known what matters most for the efficiency"
    elif len(matter) > 1:
        most = f"the {' or the '.join(matter)} matters most for the efficiency (not separated)"
    else:
        most = f"the {matter[0]} matters most for the efficiency"
    text = "as the text says" if matter == [FACTORS[expected]] else f"where the text names the {FACTORS[expected]}"
    return Statement(
        f"On the {path} {most}, {text}: {of[first].ranked()}, {_apart(of[first]):.2f} apart, beside {rest}.",
        (*evidence, *of[first].evidence(where=path)),
    )


def _apart(of: Candidates) -> float:
    return of.centres[of.order[0]] - of.centres[of.order[-1]]


@sentence("3-5")
def on_the_lan(rows: Rows) -> Statement:
    """Section 5.1.1, first observation."""
    return _decisive(rows.where(table="3-5"), "LAN", "drop_policy")


@sentence("4-6")
def on_the_wan(rows: Rows) -> Statement:
    """Section 5.1.1, second observation."""
    return _decisive(rows.where(table="4-6"), "WAN", "gr")


@sentence("7-8-9")
def on_the_satellite_path(rows: Rows) -> Statement:
    """Section 5.1.1, third observation."""
    return _decisive(rows.where(table="7-8-9"), "satellite path", "tcp")


@sentence("3-5", "4-6", "7-8-9")
def guarantee(rows: Rows) -> Statement:
    """What half of the link does for UBR, and to VBR."""
    gains, queue, variation = {}, [], []
    for table, path in (("3-5", "LAN"), ("4-6", "WAN"), ("7-8-9", "satellite path")):
        chosen = rows.where(table=table)
        gains[path] = gain(chosen.pairs("gr", 0.0, 0.5), "efficiency", 3)
        queue += chosen.where(gr=0.5).values("vbr_max_queue_cells")
        variation += chosen.where(gr=0.5).values("vbr_cell_delay_variation_s")
    lan, wan, satellite = (f"{changes(by)} on the {path}" for path, by in gains.items())
    return Statement(
        f"With half of the link guaranteed instead of nothing the mean efficiency {lan}, {wan} and {satellite}; VBR then "
        f"queues {mean(queue):.0f} cells at most, on average over the rows, and its delay varies by {1e3 * mean(variation):.0f} ms.",
        tuple(Evidence(f"efficiency, {path}: GR = 0.5 - GR = 0", by) for path, by in gains.items()),
    )


ANSWER = (on_the_lan, on_the_wan, on_the_satellite_path, guarantee)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = guarantee
