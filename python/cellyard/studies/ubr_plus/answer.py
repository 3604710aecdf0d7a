"""The study's question, how buffers and drop policies decide TCP's efficiency and fairness over UBR, answered by tables 2 and 3."""

from __future__ import annotations

from statistics import mean

from cellyard.answer import apart, changes, matters, means, ranked, sentence
from cellyard.plot_rows import named
from cellyard.study import Rows


def _policy(value: object) -> str:
    return named("drop_policy", value)


def _efficiency(rows: Rows, place: str) -> str:
    of = means(rows.where(table="2-3", configuration=place), "drop_policy")
    return (
        f"On the {place.upper()} the drop policy {matters(apart(of))} the efficiency, on average over buffers and numbers of sources: "
        f"{ranked(of, _policy)}."
    )


@sentence("2-3")
def on_the_lan(rows: Rows) -> str:
    """Efficiency by drop policy on the LAN."""
    return _efficiency(rows, "lan")


@sentence("2-3")
def on_the_wan(rows: Rows) -> str:
    """Efficiency by drop policy on the WAN."""
    return _efficiency(rows, "wan")


@sentence("2-3")
def fairness(rows: Rows) -> str:
    """What EPD adds to UBR, and accounting per VC to EPD."""
    of = means(rows.where(table="2-3"), "drop_policy", "fairness")
    per_vc = mean([of["selective-drop"], of["fba"]])
    return (
        f"Fairness {changes(of['epd'] - of['tail-drop'])} from UBR to EPD and {changes(per_vc - of['epd'])} from there to the policies "
        f"that count the cells of each VC: {ranked(of, _policy)}."
    )


@sentence("2-3")
def buffers(rows: Rows) -> str:
    """What the largest buffer adds to the smallest."""
    gains = {}
    for place, small, large in (("lan", 1000, 3000), ("wan", 12000, 36000)):
        chosen = rows.where(table="2-3", configuration=place)
        gains[place] = mean(chosen.gains("efficiency", "buffer_cells", small, large))
    return (
        f"With a buffer three times as large the mean efficiency {changes(gains['lan'])} on the LAN (1000 to 3000 cells) and "
        f"{changes(gains['wan'])} on the WAN (12000 to 36000)."
    )


ANSWER = (on_the_lan, on_the_wan, fairness, buffers)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = on_the_lan
