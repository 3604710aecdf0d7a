"""Figures of an experiment, drawn from its document. Needs the extra ``plot``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cellyard.experiment.answer_figures import differences, indices
from cellyard.experiment.description.expression import Condition
from cellyard.experiment.figure_parts import (
    CHARACTER,
    INTERVALS,
    LEAST_ACROSS,
    MOST_ACROSS,
    MOST_LEVELS,
    WIDTH,
    axis_label,
    explained,
    in_lines,
    is_log,
    label,
    listed,
    message,
    note,
    noun_of,
    pages,
    panels_of,
    tick_text,
    title,
    with_unit,
    wrapped,
)
from cellyard.experiment.plan import CONFIDENCE
from cellyard.experiment.questions.question import JUDGED
from cellyard.experiment.questions.search import DEFAULT_SHARE
from cellyard.experiment.records import interval_of, merge_joint_axes
from cellyard.plot import (
    COLOURS,
    DASHES,
    MARKERS,
    MOST_PANELS,
    Drawn,
    groups_of,
    heat,
    legend,
    log_axis,
    number_axis,
    panels_grid,
    value_axis,
    word_axis,
)
from cellyard.plot.axes import is_word, shifted, shifts
from cellyard.show.text import format_value
from cellyard.statistics.inference import share_interval
from cellyard.system.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Ratio of the largest to the smallest mean from which an axis of values is logarithmic.
DECADES = 100
#: The panel of a search: the share of runs that meet its conditions.
SHARE = "share of runs that meet the requirement"
#: Half of an interval below which a mean has the digits of a table.
MOST_CERTAIN = 1e-4


def figures(document: Mapping[str, Any], **facts: Any) -> list[Drawn]:
    """The figures that suit the question, and the metrics over the axes.

    ``facts`` are not in the document: ``noun`` is what a reader calls a cell, ``tcp`` names the TCPs,
    and ``log`` the axes that are ranges by ratio.
    """
    document = {**document, **facts}
    kind = document["question"]["kind"]
    drawn: list[Drawn] = []
    if kind == "compare" and document.get("comparisons"):
        drawn += differences(document)
    if kind == "sensitivity" and document.get("indices"):
        drawn += indices(document)
    if kind == "find":
        document |= {"points": [_with_share(point) for point in document["points"]]}
        document["metrics"] = [SHARE, *document["metrics"]]
    if document["points"]:
        answered = {"answer": ()} if drawn else {}  # which is the title of the first figure
        drawn += _over_axes({**document, **answered, "points": merge_joint_axes(document, named=False)})
    return drawn


def _with_share(point: Mapping[str, Any]) -> dict[str, Any]:
    """A point with the share of its runs that meet the conditions of a search in the place of a metric."""
    met, runs, share = point["met"], point["runs"], point["share"]
    low, high = (None, None) if share is None else share_interval(met, runs, CONFIDENCE)
    return {**point, SHARE: {"mean": share, "low": low, "high": high}}


def columns_of(document: Mapping[str, Any]) -> list[str]:
    """The columns of the axes in the points of a document."""
    others = ("runs", *JUDGED, *document["metrics"])
    return [name for name in document["points"][0] if name not in others]


def _over_axes(document: Mapping[str, Any]) -> list[Drawn]:
    """Lines for one axis, heat maps for two, small multiples for three; dots if the points are not a grid.

    If one of two axes has words and the other numbers, each word has a line. Panels that exceed a
    figure are in further ones.
    """
    axes, metrics = columns_of(document), document["metrics"]
    if not axes:
        return []
    if len(axes) == 1:
        return [_lines(document, axes[0], page, name) for name, page in pages("lines", metrics)]
    if 1 < len(axes) <= 3 and _is_grid(document, axes):
        if two := _numbers_and_words(document, axes):
            return [_grouped(document, two[0], two[1], page, name) for name, page in pages("lines", metrics)]
        if len(axes) == 2:
            return [_maps(document, axes, [{}], page, name) for name, page in pages("map", metrics)]
        return [
            _maps(document, axes[:2], page, [metric], name)
            for metric in metrics
            for name, page in pages(f"maps-{metric}", _others(document, axes[2]))
        ]
    if len(axes) <= MOST_ACROSS:
        return [_dots(document, axes, page, name) for name, page in pages("dots", metrics, MOST_PANELS // len(axes))]
    named = [("dots" if metric == metrics[0] else f"dots-{metric}", metric) for metric in metrics]
    return [_dots(document, page, [metric], name) for first, metric in named for name, page in pages(first, axes)]


def one_figure(document: Mapping[str, Any], **facts: Any) -> Drawn:
    """All metrics over the only axis in one figure; raises `UsageError` for too many metrics.

    ``facts`` are those of `figures`, and what a user asked for: a ``heading``, a ``width`` in inches,
    and ``labels`` of axes and metrics.
    """
    (axis,), metrics = columns_of(document), document["metrics"]
    if len(metrics) > MOST_PANELS:
        raise UsageError(f"{len(metrics)} panels are more than {MOST_PANELS}: ask for fewer metrics")
    return _lines({**document, **facts}, axis, metrics)


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
    """The mean of each metric over one axis, with a band for its interval; over words, marks with bars."""
    points = document["points"]
    words = _words(points, axis)
    figure, places, across = panels_of(metrics, words, total=document.get("width"))
    marked = []
    for at, (place, metric) in enumerate(zip(places, metrics, strict=True)):
        required = _required(document, metric)
        log = not words and _spans_decades(points, metric, required)
        _line(place, document, axis, metric, words=words)
        for value in _found(document, axis):
            place.axvline(value, color=COLOURS[1], linestyle="--", linewidth=0.9)
            marked.append("dashed: the value found")
        if words:
            place.set_xlabel(label(document, metric))
            place.tick_params(labelleft=at % across == 0)
            place.set_ylabel(axis_label(document, axis) if at % across == 0 else "")
        else:
            place.set_xlabel(axis_label(document, axis))
            place.set_ylabel(label(document, metric))
        for _, limit in required:
            (place.axvline if words else place.axhline)(
                limit, color=COLOURS[1], linestyle=":", linewidth=1.2, label="_"
            )
            (place.update_datalim)([(limit, 0) if words else (place.dataLim.x0, limit)])
            marked.append("dotted: the requirement")
        if log:
            log_axis(place)
        else:
            value_axis([place], down=not words)
    how = dict.fromkeys([explained(points), *marked])
    drawn = title(f"{listed(document, metrics)} over {listed(document, [axis])}")
    caption = f"Means, with {INTERVALS}. {' '.join(part.capitalize() + '.' for part in dict.fromkeys(marked))}".strip()
    return Drawn(name, drawn, caption, figure, note(document, *how), message(document, drawn))


def _required(document: Mapping[str, Any], metric: str) -> list[tuple[str, float]]:
    """The limits of a metric that a search requires, each with its comparison."""
    if document["question"]["kind"] != "find":
        return []
    if metric == SHARE:
        return [(">=", document["question"].get("share", DEFAULT_SHARE))]
    texts = document["question"].get("require", [])
    texts = [texts] if isinstance(texts, str) else texts
    return [(sign, limit) for text in texts for name, sign, limit in Condition(text).limits() if name == metric]


def _spans_decades(points: Sequence[Mapping[str, Any]], metric: str, required: Sequence[tuple[str, float]]) -> bool:
    """Whether the means, or they and a requirement, differ by so much that a linear axis would hide the small ones."""
    means = [mean for point in points if (mean := point[metric]["mean"]) is not None]
    means += [limit for _, limit in required] if means else []
    return bool(means) and min(means) > 0 and max(means) / min(means) >= DECADES


def _words(points: Sequence[Mapping[str, Any]], axis: str) -> list[Any]:
    """The values of an axis in order if any is a word; empty for an axis of numbers."""
    values = sorted({point[axis] for point in points}, key=_order(points, axis))
    return values if any(map(is_word, values)) else []


def _line(
    place: Axes,
    document: Mapping[str, Any],
    axis: str,
    metric: str,
    *,
    group: int = 0,
    groups: int = 1,
    name: str | None = None,
    words: Sequence[Any] = (),
    points: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Means over an axis of numbers with a band of intervals, or with bars for several groups. On an axis of words: marks with bars.

    ``points`` are those of the group, by default all.
    """
    every = document["points"]
    own = [
        (p[axis], mean, interval_of(p, metric) or (mean, mean))
        for p in (every if points is None else points)
        if (mean := p[metric]["mean"]) is not None
    ]
    values, means = [value for value, _, _ in own], [mean for _, mean, _ in own]
    low, high = [end for _, _, (end, _) in own], [end for _, _, (_, end) in own]
    bars = [
        [max(m - a, 0) for m, a in zip(means, low, strict=True)],
        [max(b - m, 0) for m, b in zip(means, high, strict=True)],
    ]
    look: Any = {"color": COLOURS[group % len(COLOURS)], "label": name or "_", "marker": MARKERS[group % len(MARKERS)]}
    look |= {"markersize": 3.4, "elinewidth": 0.9}
    if words:
        word_axis(place, [wrapped(tick_text(word)) for word in words], down=True)
        at = [words.index(value) for value in values]
        place.errorbar(means, at, xerr=bars, linestyle="", **look)
        return
    number_axis(place, [point[axis] for point in every], ratio=is_log(document, axis))
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
    figure, places, across = panels_of(metrics, above=0.6)
    marked: list[str] = []
    for place, metric in zip(places, metrics, strict=True):
        for group, value in enumerate(values):
            own = [point for point in points if point[by] == value]
            _line(place, document, axis, metric, group=group, groups=len(values), name=tick_text(value), points=own)
        required = _required(document, metric)
        for _, limit in required:
            place.axhline(limit, color="0.3", linestyle=":", linewidth=1.2, label="_")
            place.update_datalim([(place.dataLim.x0, limit)])
            marked.append("dotted: the requirement")
        place.set_xlabel(axis_label(document, axis))
        place.set_ylabel(label(document, metric))
        value_axis([place])
    entries = groups_of(places[0])
    legend(
        figure, entries, loc="outside upper center", ncols=min(len(entries), 5 * across), title=axis_label(document, by)
    )
    drawn = title(f"{listed(document, metrics)} over {listed(document, [axis])}, by {listed(document, [by])}")
    how = note(document, *dict.fromkeys([explained(points), *marked]))
    caption = f"Means, with {INTERVALS}.{' Dotted: the requirement.' if marked else ''}"
    return Drawn(name, drawn, caption, figure, how, message(document, drawn))


def _of_panel(other: Mapping[str, Any], noun: str) -> list[str]:
    """Values that a panel shows, for its title: numbers have units.

    >>> [_of_panel(one, "cell") for one in ({"mss_bytes": 512}, {"policy": "EPD"}, {"buffer_cells": math.inf})]
    [['mss = 512 bytes'], ['policy = EPD'], ['buffer = unlimited']]
    """
    said = []
    for name, value in other.items():
        stem, _, unit = with_unit(name, noun=noun).partition(" [")
        said.append(f"{stem} = {tick_text(value)}{f' {unit[:-1]}' if unit and value != math.inf else ''}")
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
        found = {(p[down_axis], p[across_axis]): p for p in points if all(p[k] == v for k, v in other.items())}
        cells = [[found.get((row, column)) for column in columns] for row in rows]
        values = [[point and point[metric]["mean"] for point in line] for line in cells]
        texts = [["" if point is None else _in_cell(point, metric) for point in line] for line in cells]
        # One scale for each metric makes panels comparable.
        known = [p[metric]["mean"] for p in points if p[metric]["mean"] is not None]
        ends = (min(known), max(known)) if known else None
        names = [tick_text(value) for value in columns], [wrapped(tick_text(value)) for value in rows]
        heat(place, values, texts, ends=ends, columns=names[0], rows=names[1])
        place.set_xlabel(axis_label(document, across_axis))
        place.set_ylabel(axis_label(document, down_axis))
        place.set_title(", ".join([label(document, metric), *_of_panel(other, noun_of(document))]))
        _turn(place, columns, size)
    for place in places[len(wanted) :]:
        place.set_visible(False)
    drawn = title(f"{listed(document, metrics)} over {listed(document, axes)}")
    return Drawn(name, drawn, "Means over the replications.", figure, note(document, "means"), message(document, drawn))


def _in_cell(point: Mapping[str, Any], metric: str) -> str:
    """A mean with as many decimals as its interval leaves certain.

    >>> [_in_cell({"m": {"mean": 0.3451, "low": low, "high": 0.3751}}, "m") for low in (0.3151, None)]
    ['0.35', '0.345']
    """
    mean, ends = point[metric]["mean"], interval_of(point, metric)
    half = (ends[1] - ends[0]) / 2 if ends else 0
    if mean is None or not half or half < MOST_CERTAIN:
        return format_value(mean)
    return f"{mean:.{max(0, -math.floor(math.log10(half)))}f}"


def _turn(place: Axes, columns: Sequence[Any], width: float) -> None:
    """Turn the labels below a map of some width if they have no room side by side."""
    if sum(len(tick_text(value)) + 2 for value in columns) * CHARACTER > width - 1.0:
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
    for line, metric in zip(in_lines(grid, len(metrics), len(axes)), metrics, strict=True):
        for number_of, (place, axis) in enumerate(zip(line, axes, strict=True)):
            own = [(p[axis], p[metric]["mean"]) for p in points if p[metric]["mean"] is not None]
            words = _words(points, axis)
            if words:
                word_axis(place, [wrapped(tick_text(word), 12) for word in words])
            else:
                number_axis(place, [point[axis] for point in points], ratio=is_log(document, axis))
            x = [words.index(value) if words else value for value, _ in own]
            means = [mean for _, mean in own]
            place.plot(x, means, linestyle="", marker=".", markersize=4, color=COLOURS[0], alpha=0.7, label="_")
            place.set_xlabel(axis_label(document, axis))
            if number_of % across == 0:
                place.set_ylabel(label(document, metric))
        value_axis(line)
        for place in line[::across]:
            place.tick_params(labelleft=True)
    drawn, caption = (
        title(f"{listed(document, metrics)} at every point"),
        "Means over the replications; a dot for each point.",
    )
    return Drawn(name, drawn, caption, figure, note(document, "means"), message(document, drawn))


def _order(points: Sequence[Mapping[str, Any]], axis: str) -> Any:
    places = {value: place for place, value in enumerate(dict.fromkeys(point[axis] for point in points))}
    return lambda value: (0, value) if isinstance(value, (int, float)) else (1, places[value])
