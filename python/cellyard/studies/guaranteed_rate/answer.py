"""The study's question, what a minimum rate does for TCP under VBR of higher priority, answered path by path."""

from dataclasses import replace
from statistics import mean

from cellyard.plot.rows import named
from cellyard.study import Rows
from cellyard.study.answer import changes, of_values, sentence, turns
from cellyard.study.separation import (
    Candidates,
    Evidence,
    Number,
    Statement,
    average,
    contrast,
    either,
    gain,
    replicated,
    within,
)

FACTORS = {"tcp": "TCP variant", "gr": "guaranteed rate", "drop_policy": "drop policy"}

#: Paths by the table that has their rows.
PATHS = {"3-5": "LAN", "4-6": "WAN", "7-8-9": "satellite path"}


def _factor(rows: Rows, factor: str) -> Candidates:
    found = of_values(rows, factor, "efficiency", lambda value: named(factor, value))
    return replace(found, what=f"efficiency by {FACTORS[factor]}")


def _further(first: Candidates, other: Candidates) -> Evidence:
    """How much farther apart the means of one factor lie; the interval is for all pairs of factors and of their values."""
    (high, low), (top, bottom) = ((of.order[0], of.order[-1]) for of in (first, other))
    centre = abs(first.spread.mean) - abs(other.spread.mean)
    by = contrast(
        [first.runs[high], other.runs[bottom]],
        [first.runs[low], other.runs[top]],
        centre,
        3 * first.pairs * other.pairs,
    )
    return Evidence(f"distance of the means: {first.what} - {other.what}", by)


@sentence(*PATHS)
def guarantee(rows: Rows) -> Statement:
    """What half of the link does for UBR: the two largest changes, the direction of the third, and what it costs VBR."""
    gains, numbers = {}, []
    for table, path in PATHS.items():
        chosen = rows.where(table=table)
        gains[path] = gain(chosen.pairs("gr", 0.0, 0.5), "efficiency", 3)
    first, second, third = sorted(gains, key=lambda path: -abs(gains[path].mean))
    guaranteed = rows.where(table=tuple(PATHS), gr=0.5)
    for metric, what, scale in (
        ("vbr_max_queue_cells", "longest VBR queue in cells", 1.0),
        ("vbr_cell_delay_variation_s", "VBR delay variation in ms", 1e3),
    ):
        runs = [None if one is None else scale * one for one in replicated(guaranteed, metric)]
        numbers.append(Number(f"{what}, GR = 0.5", average(runs, scale * mean(guaranteed.values(metric)))))
    return Statement(
        f"With half of the link guaranteed the efficiency {changes(gains[first])} on the {first}, {changes(gains[second])} on the "
        f"{second} and {turns(gains[third])} on the {third}.",
        tuple(Evidence(f"efficiency, {path}: GR = 0.5 - GR = 0", by) for path, by in gains.items()),
        tuple(numbers),
    )


def _decisive(rows: Rows, path: str, expected: str) -> Statement:
    """Which factor's means lie farthest apart, and whether it is the one that the text names."""
    of = {factor: _factor(rows, factor) for factor in FACTORS}
    order = sorted(of, key=lambda factor: -abs(of[factor].spread.mean))
    first, *others = order
    evidence = [_further(of[first], of[other]) for other in others]
    rivals = [other for other, by in zip(others, evidence, strict=True) if not by.value.sign] if of[first].known else []
    best, worst = (of[first].name(of[first].order[k]) for k in (0, -1))
    tied = [FACTORS[one] for one in (first, *rivals)]
    most = f"the {either(tied)}" if len(tied) < len(FACTORS) else "no single factor (no significant difference)"
    text = "the paper agrees" if [first, *rivals] == [expected] else f"the paper names the {FACTORS[expected]}"
    return Statement(
        f"On the {path}, efficiency depends most on {most}: with {best} it is "
        f"{within(of[first].spread)} higher than with {worst}; {text}.",
        (*evidence, *of[first].evidence(where=path)),
        (
            *(Number(f"distance of the means, {path}: {FACTORS[one]}", of[one].spread) for one in order),
            *(number for one in order for number in of[one].numbers(path)),
        ),
    )


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


ANSWER = (guarantee, on_the_lan, on_the_wan, on_the_satellite_path)
