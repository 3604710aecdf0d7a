"""The study's question, how buffers and drop policies decide TCP's efficiency and fairness over UBR, answered by tables 2 and 3."""

from cellyard.plot.rows import named
from cellyard.study import Rows
from cellyard.study.answer import changes, matters, of_values, sentence
from cellyard.study.separation import Evidence, Runs, Statement, contrast, gain


def _policy(value: object) -> str:
    return named("drop_policy", value)


def _efficiency(rows: Rows, place: str) -> Statement:
    of = of_values(rows.where(table="2-3", configuration=place), "drop_policy", "efficiency", _policy)
    where = place.upper()
    return Statement(
        f"On the {where} the drop policy {matters(of.spread)} the efficiency: {of.lead()}.",
        tuple(of.evidence(where=where)),
        tuple(of.numbers(where)),
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
    centre = (of.values["selective-drop"].mean + of.values["fba"].mean) / 2 - of.values["epd"].mean
    per_vc = contrast(both, [of.runs["epd"]], centre, of.pairs)
    return Statement(
        f"Fairness {changes(of_frames)} from tail drop to EPD and {changes(per_vc)} from EPD to policies that count the cells of each VC.",
        (*of.evidence(), Evidence("fairness: policies that count the cells of each VC - EPD", per_vc)),
        tuple(of.numbers()),
    )


def half(runs: Runs) -> list[float | None]:
    """Half of each value."""
    return [None if one is None else one / 2 for one in runs]


@sentence("2-3")
def buffers(rows: Rows) -> Statement:
    """What the largest buffer adds to the smallest."""
    gains, numbers = {}, []
    for place, small, large in (("lan", 1000, 3000), ("wan", 12000, 36000)):
        chosen = rows.where(table="2-3", configuration=place)
        gains[f"{place.upper()}: {large} - {small} cells"] = gain(
            chosen.pairs("buffer_cells", small, large), "efficiency", 2
        )
        numbers += of_values(chosen, "buffer_cells", name=lambda cells: f"{cells} cells").numbers(place.upper())
    lan, wan = map(changes, gains.values())
    return Statement(
        f"With a buffer three times as large the efficiency {lan} on the LAN and {wan} on the WAN.",
        tuple(Evidence(f"efficiency, {what}", by) for what, by in gains.items()),
        tuple(numbers),
    )


ANSWER = (on_the_lan, on_the_wan, fairness, buffers)
