"""Figures of the answers of experiments: differences between variants, and sensitivities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cellyard.experiment.figure_parts import (
    MOST_ROWS,
    MOST_TOGETHER,
    label,
    message,
    note,
    pages,
    panels_of,
    wrapped,
)
from cellyard.experiment.questions.compare import COLUMNS, UNDECIDED
from cellyard.plot import COLOURS, MARKERS, Drawn, groups_of, legend, value_axis, word_axis
from cellyard.plot.axes import in_a_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: How to read a figure of differences.
READING = "differences of means, with 95 % intervals by Holm's method; grey: no significant difference"


def indices(document: Mapping[str, Any]) -> list[Drawn]:
    """The first-order and total index of each axis with their intervals, axes from the top."""
    drawn, records = [], document["indices"]
    for name, metrics in pages("indices", list(dict.fromkeys(one["metric"] for one in records))):
        found = {
            metric: [one for one in records if one["metric"] == metric and one["total"] is not None]
            for metric in metrics
        }
        words = list(dict.fromkeys(one["axis"] for own in found.values() for one in own))
        figure, places, across = panels_of(metrics, words or [""], groups=2, above=0.4)
        for at, (place, metric) in enumerate(zip(places, metrics, strict=True)):
            word_axis(place, [wrapped(word) for word in words], down=True)
            for group, which in enumerate(("first", "total")):
                own = found[metric]
                # An axis without influence has no interval.
                ends = [(one[which], one[f"{which}_low"], one[f"{which}_high"]) for one in own]
                bars = [
                    [0 if low is None else max(value - low, 0) for value, low, _ in ends],
                    [0 if high is None else max(high - value, 0) for value, _, high in ends],
                ]
                place.errorbar(
                    [value for value, _, _ in ends], [words.index(one["axis"]) + in_a_row(2)[group] for one in own], xerr=bars,
                    linestyle="", marker=MARKERS[group], markersize=4, elinewidth=0.9, color=COLOURS[group], label=f"{which} order",
                )  # fmt: skip
            place.axvline(0, color="#333333", linewidth=0.6, label="_")
            place.tick_params(labelleft=at % across == 0)
            place.set_xlabel("share of the variance")
            place.set_title(metric)
            value_axis([place], down=False)
        legend(figure, groups_of(places[0]), loc="outside upper center", ncols=2)
        title = "Sensitivity to each axis"
        how = note(document, "Sobol's indices, with 95 % intervals")
        drawn.append(Drawn(name, title, "Sobol's indices with their intervals.", figure, how, message(document, title)))
    return drawn


def differences(document: Mapping[str, Any]) -> list[Drawn]:
    """The interval of each difference, from the top: a panel for each metric, or if they are many for each group."""
    records = [one for one in document["comparisons"] if one["difference_low"] is not None]
    drawn: list[Drawn] = []
    metrics = list(dict.fromkeys(one["metric"] for one in records))
    groups = list(dict.fromkeys(_group(one) for one in records))
    apart = (
        len(groups) > 1 and max(sum(one["metric"] == metric for one in records) for metric in metrics) > MOST_TOGETHER
    )
    if apart:
        for metric in metrics:
            own = {group: [r for r in records if r["metric"] == metric and _group(r) == group] for group in groups}
            title = f"Differences of {metric}"
            for name, page in pages(f"differences-{metric}", [group for group in groups if own[group]]):
                shown = {group: own[group] for group in page}
                drawn.append(_drawn(document, name if drawn else "differences", title, shown, metric))
    else:
        for name, page in pages("differences", metrics):
            shown = {metric: [one for one in records if one["metric"] == metric] for metric in page}
            drawn.append(_drawn(document, name, "Differences", shown))
    return drawn


def _group(one: Mapping[str, Any]) -> str:
    """Where variants were compared: the values of all other axes."""
    return ", ".join(f"{key} {value}" for key, value in one.items() if key not in COLUMNS)


def _drawn(
    document: Mapping[str, Any],
    name: str,
    title: str,
    shown: Mapping[str, Sequence[Mapping[str, Any]]],
    about: str = "",
) -> Drawn:
    """A figure with a panel for each group or metric of ``shown``."""
    many = max(map(len, shown.values()), default=0)
    first = f" The first {MOST_ROWS} of {many}; comparisons.csv has all." if many > MOST_ROWS else ""
    shown = {key: own[:MOST_ROWS] for key, own in shown.items()}
    names = {key: [_compared(one, grouped=key == _group(one)) for one in own] for key, own in shown.items()}
    figure, places, across = panels_of(shown, max(names.values(), key=len) or [""])
    left: list[str] = []
    for at, (place, (key, own)) in enumerate(zip(places, shown.items(), strict=True)):
        _differences(place, own, names[key])
        place.tick_params(labelleft=not (at % across > 0 and names[key] == left))
        left = names[key]
        place.set_xlabel(f"difference of {label(document, own[0]['metric'])}")
        if key == _group(own[0]):
            place.set_title(wrapped(key))
    if any(key == _group(own[0]) for key, own in shown.items()):
        value_axis(places, down=False)
    text = f"{READING[0].upper()}{READING[1:]}.{first}"
    return Drawn(name, title, text, figure, note(document, f"{READING}{first}"), message(document, title, about))


def _differences(place: Axes, own: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Draw differences with their intervals, from the top."""
    word_axis(place, names, down=True)
    for y, one in enumerate(own):
        colour = COLOURS[0] if one["better"] not in UNDECIDED else "#888888"
        bars = [
            [max(one["difference"] - one["difference_low"], 0)],
            [max(one["difference_high"] - one["difference"], 0)],
        ]
        place.errorbar(
            [one["difference"]], [y], xerr=bars, linestyle="", marker="o", markersize=4, elinewidth=1.6, color=colour,
            label=names[y],
        )  # fmt: skip
    place.axvline(0, color="#333333", linewidth=0.8, label="_")
    place.margins(x=0.08)
    place.locator_params(axis="x", nbins=4)


def _compared(one: Mapping[str, Any], *, grouped: bool) -> str:
    """What a difference is of, in lines; ``grouped`` in a panel that names the group."""
    others = [] if grouped else [_group(one)]
    return "\n".join(wrapped(part) for part in [f"{one['variant']} - {one['against']}", *others] if part)
