"""The study's question, how buffers and drop policies decide TCP's efficiency and fairness over UBR, answered by tables 2 and 3."""

from __future__ import annotations

from cellyard.plot.rows import named
from cellyard.study import Rows
from cellyard.study.answer import changes, matters, of_values, sentence
from cellyard.study.separation import Evidence, Runs, Statement, contrast, gain


def _policy(value: object) -> str:
    return named("drop_policy", value)


def _efficiency(rows: Rows, place: str) -> Statement:
    of = of_values(rows.where(table="2-3", configuration=place), "drop_policy", "efficiency", _policy)
    return Statement(
        f"On the {place.upper()} the drop policy {matters(of.spread)} the efficiency, on average over buffers and numbers of sources: "
        f"{of.ranked()}.",
        tuple(of.evidence(where=place.upper())),
    )


@sentence("2-3")
def on_the_lan(rows: Rows) -> Statement:
    """Efficiency by drop policy on the LAN."""
    return _efficiency(rows, "lan")


@sentence("2-3")
def on_the_wan(rows: Rows) -> Statement:
    """Efficiency by drop policy on the WAN."""
    return _efficiency(rows, "wan")


@sentence("2-3")
def fairness(rows: Rows) -> Statement:
    """What EPD adds to UBR, and accounting per VC to EPD."""
    of = of_values(rows.where(table="2-3"), "drop_policy", "fairness", _policy)
    of_frames = of.difference("epd", "tail-drop")
    both = [half(of.runs[policy]) for policy in ("selective-drop", "fba")]
    centre = (of.centres["selective-drop"] + of.centres["fba"]) / 2 - of.centres["epd"]
    per_vc = contrast(both, [of.runs["epd"]], centre, of.pairs)
    return Statement(
        f"Fairness {changes(of_frames)} from UBR to EPD and {changes(per_vc)} from there to the policies that count the cells of each VC: "
        f"{of.ranked()}.",
        (*of.evidence(), Evidence("fairness: policies that count the cells of each VC - EPD", per_vc)),
    )


def half(runs: Runs) -> list[float | None]:
    """Half of each value."""
    return [None if one is None else one / 2 for one in runs]


@sentence("2-3")
def buffers(rows: Rows) -> Statement:
    """What the largest buffer adds to the smallest."""
    gains = {}
    for place, small, large in (("lan", 1000, 3000), ("wan", 12000, 36000)):
        pairs = rows.where(table="2-3", configuration=place).pairs("buffer_cells", small, large)
        gains[place] = gain(pairs, "efficiency", 2)
    return Statement(
        f"With a buffer three times as large the mean efficiency {changes(gains['lan'])} on the LAN (1000 to 3000 cells) and "
        f"{changes(gains['wan'])} on the WAN (12000 to 36000).",
        tuple(Evidence(f"efficiency, {place.upper()}: largest - smallest buffer", by) for place, by in gains.items()),
    )


ANSWER = (on_the_lan, on_the_wan, fairness, buffers)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = on_the_lan
