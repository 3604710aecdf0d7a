"""Figures of an experiment, drawn from its document. Needs the extra ``plot``."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeVar

from cellyard.experiment.questions.compare import COLUMNS, UNDECIDED
from cellyard.experiment.records import merge_joint_axes, range_of
from cellyard.plot import (
    COLOURS,
    DASHES,
    MARKERS,
    MOST_PANELS,
    Drawn,
    groups_of,
    heat,
    legend,
    number_axis,
    panels_grid,
    value_axis,
    word_axis,
)
from cellyard.plot.axes import in_a_row, is_word, shifted, shifts
from cellyard.show.text import format_value, range_name
from cellyard.show.words import number
from cellyard.system.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Item = TypeVar("Item")

#: Limits: levels of an axis on a heat map, and panels side by side.
MOST_LEVELS, MOST_ACROSS = 16, 3
#: Least number of values of a numeric axis for lines instead of a heat map.
LEAST_ACROSS = 3
#: Units at the ends of names, and how axes show them. Cells are shown as the format calls them.
UNITS = {"s": "s", "ms": "ms", "mbps": "Mb/s", "bytes": "bytes"}
#: Limit on the rows of a figure of differences.
MOST_ROWS = 60
#: Size of a panel in inches, and of a line of its labels.
WIDTH, HEIGHT, LINE, CHARACTER = 3.4, 2.8, 0.14, 0.062
#: Limit on the characters of a line of a label.
LONGEST_LINE = 32


def figures(document: Mapping[str, Any], *, noun: str = "cell") -> list[Drawn]:
    """The figures that suit the question, and the metrics over the axes. ``noun`` is what a reader calls a cell."""
    document = {**document, "noun": noun}
    kind = document["question"]["kind"]
    drawn: list[Drawn] = []
    if kind == "compare" and document.get("comparisons"):
        drawn += _differences(document)
    if kind == "sensitivity" and document.get("indices"):
        drawn += _indices(document["indices"])
    if document["points"]:
        drawn += _over_axes({**document, "points": merge_joint_axes(document, named=False)})
    return drawn


def columns_of(document: Mapping[str, Any]) -> list[str]:
    """The columns of the axes in the points of a document."""
    return [name for name in document["points"][0] if name != "runs" and name not in document["metrics"]]


def _over_axes(document: Mapping[str, Any]) -> list[Drawn]:
    """Lines for one axis, heat maps for two, small multiples for three; dots if the points are not a grid.

    If one of two axes has words and the other numbers, each word has a line. Panels that exceed a
    figure are in further ones.
    """
    axes, metrics = columns_of(document), document["metrics"]
    if not axes:
        return []
    if len(axes) == 1:
        return [_lines(document, axes[0], page, name) for name, page in _pages("lines", metrics)]
    if 1 < len(axes) <= 3 and _is_grid(document, axes):
        if two := _numbers_and_words(document, axes):
            return [_grouped(document, two[0], two[1], page, name) for name, page in _pages("lines", metrics)]
        if len(axes) == 2:
            return [_maps(document, axes, [{}], page, name) for name, page in _pages("map", metrics)]
        return [
            _maps(document, axes[:2], page, [metric], name)
            for metric in metrics
            for name, page in _pages(f"maps-{metric}", _others(document, axes[2]))
        ]
    if len(axes) <= MOST_ACROSS:
        return [_dots(document, axes, page, name) for name, page in _pages("dots", metrics, MOST_PANELS // len(axes))]
    named = [("dots" if metric == metrics[0] else f"dots-{metric}", metric) for metric in metrics]
    return [_dots(document, page, [metric], name) for first, metric in named for name, page in _pages(first, axes)]


def _pages(name: str, items: Sequence[Item], most: int = MOST_PANELS) -> Iterator[tuple[str, Sequence[Item]]]:
    """Items of one figure each, with its name."""
    for place in range(0, len(items), most):
        yield (f"{name}-{place // most + 1}" if place else name), items[place : place + most]


def one_figure(document: Mapping[str, Any], *, noun: str = "cell") -> Drawn:
    """All metrics over the only axis in one figure; ``noun`` is what a reader calls a cell. Raises `UsageError` for too many metrics."""
    (axis,), metrics = columns_of(document), document["metrics"]
    if len(metrics) > MOST_PANELS:
        raise UsageError(f"{len(metrics)} panels are more than {MOST_PANELS}: ask for fewer metrics")
    return _lines({**document, "noun": noun}, axis, metrics)


def with_unit(name: str, path: str = "", *, noun: str = "cell") -> str:
    """The name of a column or metric for an axis, with the unit in brackets. It is at the end of the name, or of the metric's path.

    >>> [with_unit(name) for name in ("buffer_cells", "mean_cell_transfer_delay_s", "efficiency")]
    ['buffer [cells]', 'mean cell transfer delay [s]', 'efficiency']
    >>> with_unit("near", "vc.near.goodput_mbps"), with_unit("max(port.*.max_queue_cells)")
    ('near [Mb/s]', 'max(port.*.max_queue_cells) [cells]')
    >>> with_unit("buffer_cells", noun="packet")
    'buffer [packets]'
    >>> with_unit("ratio", "near_mbps / far_mbps")
    'ratio'
    """
    units = {**UNITS, "cells": f"{noun}s"}
    stem, _, unit = name.rpartition("_")
    if stem.isidentifier() and unit in units:
        return f"{stem.replace('_', ' ')} [{units[unit]}]"
    end = (path or name).rpartition("_")[2].rstrip(")")
    is_path = " " not in path and "." in (path or name)
    return f"{name} [{units[end]}]" if is_path and end in units else name


def _label(document: Mapping[str, Any], metric: str) -> str:
    """A metric with its unit, for an axis."""
    return with_unit(metric, document.get("paths", {}).get(metric, ""), noun=_noun(document))


def _axis_label(document: Mapping[str, Any], axis: str) -> str:
    """An axis of the experiment with its unit."""
    return with_unit(axis, noun=_noun(document))


def _noun(document: Mapping[str, Any]) -> str:
    """What a reader calls a cell."""
    return str(document.get("noun", "cell"))


def _is_grid(document: Mapping[str, Any], axes: Sequence[str]) -> bool:
    """Whether the points fill most of a grid that is small enough to draw."""
    points = document["points"]
    sizes = [len({point[axis] for point in points}) for axis in axes]
    return len(points) >= 0.6 * math.prod(sizes) and max(sizes) <= MOST_LEVELS


def _numbers_and_words(document: Mapping[str, Any], axes: Sequence[str]) -> list[str]:
    """A numeric axis and an axis of few words, in this order; empty for any other axes."""
    values = {axis: {point[axis] for point in document["points"]} for axis in axes}
    numbers = [axis for axis in axes if len(values[axis]) >= LEAST_ACROSS and not any(map(is_word, values[axis]))]
    words = [axis for axis in axes if len(values[axis]) <= len(COLOURS) and any(map(is_word, values[axis]))]
    return [*numbers, *words] if len(axes) == 2 and numbers and words else []


def _others(document: Mapping[str, Any], axis: str) -> list[dict[str, Any]]:
    """The values of an axis that has its own panels."""
    return [{axis: value} for value in dict.fromkeys(point[axis] for point in document["points"])]


def _lines(document: Mapping[str, Any], axis: str, metrics: Sequence[str], name: str = "lines") -> Drawn:
    """The mean of each metric over one axis, with a band for the range of the runs; over words, marks with bars."""
    points = document["points"]
    words = _words(points, axis)
    figure, places, across = _panels_of(metrics, words)
    for at, (place, metric) in enumerate(zip(places, metrics, strict=True)):
        _line(place, points, axis, metric, words=words)
        for value in _found(document, axis):
            place.axvline(value, color=COLOURS[1], linestyle="--", linewidth=0.9)
        if words:
            place.set_xlabel(_label(document, metric))
            place.tick_params(labelleft=at % across == 0)
            place.set_ylabel(_axis_label(document, axis) if at % across == 0 else "")
        else:
            place.set_xlabel(_axis_label(document, axis))
            place.set_ylabel(_label(document, metric))
        value_axis([place], down=not words)
    marked = " The dashed line is at the value found." if _found(document, axis) else ""
    _explain_range(figure, points)
    return Drawn(name, f"{_and(metrics)} over {axis}", f"Means, and {_range(points)}.{marked}", figure)


def _words(points: Sequence[Mapping[str, Any]], axis: str) -> list[Any]:
    """The values of an axis in order if any is a word; empty for an axis of numbers."""
    values = sorted({point[axis] for point in points}, key=_order(points, axis))
    return values if any(map(is_word, values)) else []


def _panels_of(
    metrics: Collection[str], words: Sequence[Any] = (), *, groups: int = 1, above: float = 0.0
) -> tuple[Figure, list[Axes], int]:
    """A panel for each metric, and how many are side by side, with room ``above`` in inches.

    With words, a panel has a row for each beside its name.
    """
    across = min(len(metrics), MOST_ACROSS)
    width, height = max(4.4, WIDTH * across), HEIGHT
    if words:
        texts = [_wrapped(_tick(word)) for word in words]
        lines = sum(max(text.count("\n") + 1, 0.8 * groups) + 0.8 for text in texts)
        longest = max(len(line) for text in texts for line in text.split("\n"))
        width, height = 0.8 + longest * CHARACTER + 2.2 * across, 0.8 + LINE * lines
    down = -(-len(metrics) // across)
    figure, grid = panels_grid(down, across, width=width, height=above + height * down)
    return figure, [place for (place,) in _in_lines(grid, len(metrics), 1)], across


def _line(
    place: Axes,
    points: Sequence[Mapping[str, Any]],
    axis: str,
    metric: str,
    *,
    group: int = 0,
    groups: int = 1,
    label: str | None = None,
    words: Sequence[Any] = (),
    every: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Means over an axis of numbers with a band of the runs, or with bars for several groups. On an axis of words: marks with bars.

    ``every`` holds the points of all panels, which share a scale.
    """
    own = [(p[axis], p[metric]["mean"], ends) for p in points if (ends := range_of(p, metric))]
    values, means = [value for value, _, _ in own], [mean for _, mean, _ in own]
    low, high = [end for _, _, (end, _) in own], [end for _, _, (_, end) in own]
    # A mean may lie outside of the range of the runs.
    bars = [
        [max(m - a, 0) for m, a in zip(means, low, strict=True)],
        [max(b - m, 0) for m, b in zip(means, high, strict=True)],
    ]
    look: Any = {"color": COLOURS[group % len(COLOURS)], "label": label or "_", "marker": MARKERS[group % len(MARKERS)]}
    look |= {"markersize": 3.4, "elinewidth": 0.9}
    if words:
        word_axis(place, [_wrapped(_tick(word)) for word in words], down=True)
        at = [words.index(value) for value in values]
        place.errorbar(means, at, xerr=bars, linestyle="", **look)
        return
    number_axis(place, [point[axis] for point in every or points])
    look["linestyle"] = DASHES[group // len(COLOURS) % len(DASHES)]
    if groups > 1:
        place.errorbar(shifted(place, values, shifts(groups)[group]), means, yerr=bars, **look)
        return
    place.fill_between(values, low, high, color=look["color"], alpha=0.18, linewidth=0, label="")
    place.errorbar(values, means, **look)


def _grouped(
    document: Mapping[str, Any],
    axis: str,
    by: str,
    metrics: Sequence[str],
    name: str,
) -> Drawn:
    """A line for each value of ``by``; a panel for each metric, side by side."""
    points = document["points"]
    values = list(dict.fromkeys(point[by] for point in points))
    figure, places, across = _panels_of(metrics, above=0.6)
    for place, metric in zip(places, metrics, strict=True):
        for group, value in enumerate(values):
            own = [point for point in points if point[by] == value]
            _line(place, own, axis, metric, group=group, groups=len(values), label=_tick(value), every=points)
        place.set_xlabel(_axis_label(document, axis))
        place.set_ylabel(_label(document, metric))
        value_axis([place])
    entries, title = groups_of(places[0]), _axis_label(document, by)
    legend(figure, entries, loc="outside upper center", ncols=min(len(entries), 5 * across), title=title)
    over = " for each value of ".join([axis, by])
    _explain_range(figure, points)
    return Drawn(name, f"{_and(metrics)} over {over}", f"Means, and {_range(points)}.", figure)


def _in_lines(grid: Sequence[Sequence[Any]], count: int, each: int) -> list[list[Any]]:
    """Rearrange panels into ``count`` rows of ``each``; the rest of the grid is hidden."""
    places = [place for line in grid for place in line]
    for place in places[count * each :]:
        place.set_visible(False)
    return [places[i * each : (i + 1) * each] for i in range(count)]


def _of_panel(other: Mapping[str, Any], noun: str) -> list[str]:
    """Values that a panel shows, for its title: numbers have units.

    >>> [_of_panel(one, "cell") for one in ({"mss_bytes": 512}, {"policy": "EPD"}, {"buffer_cells": math.inf})]
    [['mss = 512 bytes'], ['policy = EPD'], ['buffer = unlimited']]
    """
    said = []
    for name, value in other.items():
        stem, _, unit = with_unit(name, noun=noun).partition(" [")
        said.append(f"{stem} = {_tick(value)}{f' {unit[:-1]}' if unit and value != math.inf else ''}")
    return said


def _found(document: Mapping[str, Any], axis: str) -> list[float]:
    """Results of a search, as numbers of the axis."""
    if document["question"]["kind"] != "find":
        return []
    labels = dict.fromkeys(one.get(document["question"]["axis"]) for one in document.get("found", []))
    return [value for label in labels if label and isinstance(value := _as_column(document, axis, label), (int, float))]


def _as_column(document: Mapping[str, Any], axis: str, label: str) -> Any:
    from cellyard.show.columns import as_columns

    made = as_columns([{document["question"]["axis"]: label}])[0]
    return made.get(axis)


def _maps(
    document: Mapping[str, Any],
    axes: Sequence[str],
    others: Sequence[Mapping[str, Any]],
    metrics: Sequence[str],
    name: str,
) -> Drawn:
    """A heat map with numbers for each metric, or for each value of a third axis."""
    points = document["points"]
    across_axis, down_axis = axes[1], axes[0]
    columns = sorted({point[across_axis] for point in points}, key=_order(points, across_axis))
    rows = sorted({point[down_axis] for point in points}, key=_order(points, down_axis))
    wanted = [(metric, other) for metric in metrics for other in others]
    most = MOST_ACROSS if len(columns) <= 6 else 2
    across = len(others) if 1 < len(others) <= most else min(len(wanted), most)
    down = -(-len(wanted) // across)
    size = max(WIDTH, 0.55 * len(columns) + 1.4)
    figure, grid = panels_grid(down, across, width=size * across, height=max(2.2, 0.32 * len(rows) + 1.2) * down)
    places = [place for line in grid for place in line]
    for place, (metric, other) in zip(places, wanted, strict=False):
        found = {
            (p[down_axis], p[across_axis]): p[metric]["mean"]
            for p in points
            if all(p[k] == v for k, v in other.items())
        }
        values = [[found.get((row, column)) for column in columns] for row in rows]
        texts = [["" if value is None else format_value(value) for value in line] for line in values]
        # One scale for each metric makes panels comparable.
        known = [p[metric]["mean"] for p in points if p[metric]["mean"] is not None]
        ends = (min(known), max(known)) if known else None
        names = [_tick(value) for value in columns], [_wrapped(_tick(value)) for value in rows]
        heat(place, values, texts, ends=ends, columns=names[0], rows=names[1])
        place.set_xlabel(_axis_label(document, across_axis))
        place.set_ylabel(_axis_label(document, down_axis))
        place.set_title(", ".join([_label(document, metric), *_of_panel(other, _noun(document))]))
        _turn(place, columns, size)
    for place in places[len(wanted) :]:
        place.set_visible(False)
    return Drawn(name, f"{_and(metrics)} over {_and(axes)}", "Means over the replications.", figure)


def _turn(place: Axes, columns: Sequence[Any], width: float) -> None:
    """Turn the labels below a map of some width if they have no room side by side."""
    if sum(len(_tick(value)) + 2 for value in columns) * CHARACTER > width - 1.0:
        place.tick_params(axis="x", rotation=30)


def _dots(document: Mapping[str, Any], axes: Sequence[str], metrics: Sequence[str], name: str) -> Drawn:
    """Each metric against each axis, a dot for each point."""
    points = document["points"]
    across = min(len(axes), MOST_ACROSS)
    figure, grid = panels_grid(
        -(-len(axes) // across) * len(metrics),
        across,
        width=2.6 * across,
        height=2.4 * len(metrics) * -(-len(axes) // across),
    )
    for line, metric in zip(_in_lines(grid, len(metrics), len(axes)), metrics, strict=True):
        for number_of, (place, axis) in enumerate(zip(line, axes, strict=True)):
            own = [(p[axis], p[metric]["mean"]) for p in points if p[metric]["mean"] is not None]
            words = _words(points, axis)
            if words:
                word_axis(place, [_wrapped(_tick(word), 12) for word in words])
            else:
                number_axis(place, [point[axis] for point in points])
            x = [words.index(value) if words else value for value, _ in own]
            means = [mean for _, mean in own]
            place.plot(x, means, linestyle="", marker=".", markersize=4, color=COLOURS[0], alpha=0.7, label="_")
            place.set_xlabel(_axis_label(document, axis))
            if number_of % across == 0:
                place.set_ylabel(_label(document, metric))
        value_axis(line)
        for place in line[::across]:
            place.tick_params(labelleft=True)
    return Drawn(name, f"{_and(metrics)} at every point", "Means over the replications; a dot for each point.", figure)


def _indices(records: Sequence[Mapping[str, Any]]) -> list[Drawn]:
    """The first-order and total index of each axis with their intervals, axes from the top."""
    drawn = []
    for name, metrics in _pages("indices", list(dict.fromkeys(one["metric"] for one in records))):
        found = {
            metric: [one for one in records if one["metric"] == metric and one["total"] is not None]
            for metric in metrics
        }
        words = list(dict.fromkeys(one["axis"] for own in found.values() for one in own))
        figure, places, across = _panels_of(metrics, words or [""], groups=2, above=0.4)
        for at, (place, metric) in enumerate(zip(places, metrics, strict=True)):
            word_axis(place, [_wrapped(word) for word in words], down=True)
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
        drawn.append(Drawn(name, "Sensitivity to each axis", "Sobol's indices with their intervals.", figure))
    return drawn


def _differences(document: Mapping[str, Any]) -> list[Drawn]:
    """The interval of each difference, by metric, from the top."""
    records = document["comparisons"]
    metrics = list(dict.fromkeys(one["metric"] for one in records))
    known = {
        metric: found
        for metric in metrics
        if (found := [one for one in records if one["metric"] == metric and one["difference_low"] is not None])
    }
    many = max(map(len, known.values()), default=0)
    first = f" The first {MOST_ROWS} of {many}; comparisons.csv has all." if many > MOST_ROWS else ""
    text = f"Intervals by Holm's method; grey: no significant difference.{first}"
    return [
        Drawn(
            name, "Differences", text, _of_differences(document, {metric: known[metric][:MOST_ROWS] for metric in page})
        )
        for name, page in _pages("differences", list(known))
    ]


def _of_differences(document: Mapping[str, Any], shown: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    names = {metric: [_compared(one) for one in own] for metric, own in shown.items()}
    figure, places, across = _panels_of(shown, max(names.values(), key=len) or [""])
    left: list[str] = []
    for at, (place, (metric, own)) in enumerate(zip(places, shown.items(), strict=True)):
        word_axis(place, names[metric], down=True)
        for y, one in enumerate(own):
            colour = COLOURS[0] if one["better"] not in UNDECIDED else "#888888"
            ends = one["difference_low"], one["difference_high"]
            bars = [[max(one["difference"] - ends[0], 0)], [max(ends[1] - one["difference"], 0)]]
            place.errorbar(
                [one["difference"]], [y], xerr=bars, linestyle="", marker="o", markersize=4, elinewidth=1.6, color=colour,
                label=names[metric][y],
            )  # fmt: skip
        is_as_left = at % across > 0 and names[metric] == left
        place.tick_params(labelleft=not is_as_left)
        left = names[metric]
        place.axvline(0, color="#333333", linewidth=0.8, label="_")
        place.margins(x=0.08)
        place.locator_params(axis="x", nbins=4)
        place.set_xlabel(f"difference of {_label(document, metric)}")
    return figure


def _compared(one: Mapping[str, Any]) -> str:
    """What a difference is of, in lines."""
    others = (f"{key} {value}" for key, value in one.items() if key not in COLUMNS)
    return "\n".join(_wrapped(part) for part in [f"{one['variant']} - {one['against']}", *others])


def _wrapped(text: str, most: int = LONGEST_LINE) -> str:
    r"""A long label in lines.

    >>> _wrapped("atm-red min_th=200 cells max_th=1000 cells")
    'atm-red min_th=200 cells\nmax_th=1000 cells'
    """
    return fill(text, most, break_long_words=False, break_on_hyphens=False)


def _range(points: Sequence[Mapping[str, Any]]) -> str:
    """Meaning of bands and bars, in words."""
    names = [range_name(run(point["runs"] for point in points)) for run in (max, min)]
    return f"the range of the runs ({', of fewer runs '.join(dict.fromkeys(names))})"


def _explain_range(figure: Figure, points: Sequence[Mapping[str, Any]]) -> None:
    """Explain bands and bars below the panels, since a figure may be shown without its page."""
    if any(point["runs"] > 1 for point in points):
        figure.supxlabel(f"means, and {_range(points)}", fontsize=7.5, color="#666666")


def _order(points: Sequence[Mapping[str, Any]], axis: str) -> Any:
    places = {value: place for place, value in enumerate(dict.fromkeys(point[axis] for point in points))}
    return lambda value: (0, value) if isinstance(value, (int, float)) else (1, places[value])


def _tick(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "unlimited" if math.isinf(value) else number(value)


def _and(words: Sequence[str]) -> str:
    return ", ".join(words[:4]) + (", ..." if len(words) > 4 else "")
