"""Figures of an experiment, drawn from its document. Needs matplotlib."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from cellyard.experiment.questions.compare import COLUMNS, UNDECIDED
from cellyard.experiment.records import merge_joint_axes, range_of
from cellyard.plot import (
    COLOURS,
    DASHES,
    MARKERS,
    MOST_PANELS,
    TICKS,
    Drawn,
    fit_titles,
    legend,
    panels,
    panels_grid,
    zero_at_the_bottom,
)
from cellyard.plot.rows import share_scale
from cellyard.show.text import format_value, range_name
from cellyard.show.words import number
from cellyard.system.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Limits: levels of an axis on a heat map, panels side by side, and panels side by side that differ
#: in metric.
MOST_LEVELS, MOST_ACROSS, MOST_METRICS_ACROSS = 16, 4, 3
#: Limit on values per side of a requested heat map. Numbers appear up to `MOST_LEVELS`.
MOST_ON_MAP = 60
#: Limit on ticks of a numeric axis, so that labels do not overlap.
MOST_TICKS = 5
#: Least number of values of a numeric axis for lines instead of a heat map.
LEAST_ACROSS = 3
#: Least ratio of values for a logarithmic axis.
RATIO = 20
#: Units at the ends of names, and how axes show them.
UNITS = {"s": "s", "mbps": "Mb/s", "cells": "cells", "bytes": "bytes"}
#: Limit on the rows of a figure of differences.
MOST_ROWS = 60
#: Size of a panel in inches.
WIDTH, HEIGHT = 3.4, 2.8


def figures(document: Mapping[str, Any]) -> list[Drawn]:
    """The figures that suit the question, and the metrics over the axes."""
    kind = document["question"]["kind"]
    drawn = []
    if kind == "compare" and document.get("comparisons"):
        drawn.append(_differences(document["comparisons"]))
    if kind == "sensitivity" and document.get("indices"):
        drawn.append(_indices(document["indices"]))
    if kind == "optimise" and len(document["question"].get("goals", {})) > 1 and document["points"]:
        drawn.append(_front(document))
    if document["points"]:
        drawn += _over_axes({**document, "points": merge_joint_axes(document, named=False)})
    for figure in drawn:
        fit_titles(figure.figure)
    return drawn


def columns_of(document: Mapping[str, Any]) -> list[str]:
    """The columns of the axes in the points of a document."""
    return [name for name in document["points"][0] if name != "runs" and name not in document["metrics"]]


def _over_axes(document: Mapping[str, Any]) -> list[Drawn]:
    """Lines for one axis, heat maps for two, small multiples for three; dots if the points are not a grid.

    If one of two axes has words and the other numbers, each word has a line.
    """
    axes, metrics = columns_of(document), document["metrics"]
    if not axes:
        return []
    if len(axes) == 1 and document["question"]["kind"] != "optimise":
        return [_lines(document, axes[0], metrics)]
    if 1 < len(axes) <= 3 and _is_grid(document, axes):
        if two := _numbers_and_words(document, axes):
            return [_grouped(document, two[0], two[1], [{}])]
        if len(axes) == 2:
            return [_maps(document, axes, [{}], metrics, "map")]
        return [
            _maps(document, axes[:2], _panel_values(document, axes[2]), [metric], f"maps-{metric}")
            for metric in metrics
        ]
    return [_dots(document, axes, metrics)]


def one_figure(document: Mapping[str, Any], *, lines: bool = False) -> Drawn:
    """All metrics over the axes in one figure, the first axis across. With ``lines``, one line per value of the second.

    Raises `UsageError` for more values than a figure can show.
    """
    axes, metrics = columns_of(document), document["metrics"]
    panel_values = _panel_values(document, axes[2]) if len(axes) > 2 else [{}]
    if len(panel_values) * len(metrics) > MOST_PANELS:
        raise UsageError(
            f"the figure would have {len(panel_values) * len(metrics)} panels, and at most {MOST_PANELS} are allowed: "
            "choose fewer values or metrics"
        )
    if len(axes) == 1:
        drawn = _lines(document, axes[0], metrics)
    elif lines:
        drawn = _grouped(document, axes[0], axes[1], panel_values)
    else:
        _refuse_many(document, axes)
        drawn = _maps(document, [axes[1], axes[0]], panel_values, metrics, "map")
    fit_titles(drawn.figure)
    return drawn


def _refuse_many(document: Mapping[str, Any], axes: Sequence[str]) -> None:
    """Raise `UsageError` for a heat map with more values on a side than are legible."""
    for axis in axes[:2]:
        count = len({point[axis] for point in document["points"]})
        if count > MOST_ON_MAP:
            raise UsageError(
                f"{axis} has {count} values, and a heat map shows at most {MOST_ON_MAP}: draw lines instead (--lines)"
            )


def with_unit(name: str) -> str:
    """The name of a column or metric for an axis, with the unit in brackets.

    >>> [with_unit(name) for name in ("buffer_cells", "mean_cell_transfer_delay_s", "efficiency", "max(port.*.max_queue_cells)")]
    ['buffer [cells]', 'mean cell transfer delay [s]', 'efficiency', 'max(port.*.max_queue_cells)']
    """
    stem, _, unit = name.rpartition("_")
    return f"{stem.replace('_', ' ')} [{UNITS[unit]}]" if stem.isidentifier() and unit in UNITS else name


def _is_grid(document: Mapping[str, Any], axes: Sequence[str]) -> bool:
    """Whether the points fill most of a grid that is small enough to draw."""
    points = document["points"]
    sizes = [len({point[axis] for point in points}) for axis in axes]
    return len(points) >= 0.6 * math.prod(sizes) and max(sizes) <= MOST_LEVELS


def _numbers_and_words(document: Mapping[str, Any], axes: Sequence[str]) -> list[str]:
    """A numeric axis and an axis of few words, in this order; empty for any other axes."""
    values = {axis: {point[axis] for point in document["points"]} for axis in axes}
    numbers = [axis for axis in axes if len(values[axis]) >= LEAST_ACROSS and not any(map(_is_word, values[axis]))]
    words = [axis for axis in axes if len(values[axis]) <= len(COLOURS) and any(map(_is_word, values[axis]))]
    return [*numbers, *words] if len(axes) == 2 and numbers and words else []


def _panel_values(document: Mapping[str, Any], axis: str) -> list[dict[str, Any]]:
    """The values of an axis that has its own panels."""
    return [{axis: value} for value in dict.fromkeys(point[axis] for point in document["points"])]


def _lines(document: Mapping[str, Any], axis: str, metrics: Sequence[str]) -> Drawn:
    """The mean of each metric over one axis, with a band for the range of the runs."""
    points = document["points"]
    across = min(len(metrics), MOST_METRICS_ACROSS)
    down = -(-len(metrics) // across)
    figure, grid = panels_grid(down, across, width=max(4.4, WIDTH * across), height=3.0 * down)
    for (panel,), metric in zip(_in_lines(grid, len(metrics), 1), metrics, strict=True):
        _line(panel, points, axis, metric)
        zero_at_the_bottom(panel)
        for value in _values_found(document, axis):
            panel.axvline(value, color=COLOURS[1], linestyle="--", linewidth=0.9)
        panel.set_xlabel(with_unit(axis))
        panel.set_title(metric)
    marked = " The dashed line is at the value found." if _values_found(document, axis) else ""
    _explain_range(figure, points)
    return Drawn("lines", f"{_and(metrics)} over {axis}", f"Means, and {_range(points)}.{marked}", figure)


def _line(
    panel: Any,
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
    """A line of means with bands of the runs. On an axis of words: marks with bars, with groups side by side.

    ``every`` holds the points of all panels, which share a scale.
    """
    drawn_points = [(p[axis], p[metric]["mean"], ends) for p in points if (ends := range_of(p, metric))]
    means = [mean for _, mean, _ in drawn_points]
    low, high = map(list, zip(*(end for _, _, end in drawn_points), strict=True)) if drawn_points else ([], [])
    look: Any = {"color": COLOURS[group % len(COLOURS)], "label": label, "markersize": 3}
    look["marker"] = MARKERS[group % len(MARKERS)]
    x = [value for value, _, _ in drawn_points]
    words = list(words) or (x if any(map(_is_word, x)) else [])
    if not words:
        panel.fill_between(x, low, high, color=look["color"], alpha=0.18, linewidth=0)
        panel.plot(x, means, linestyle=DASHES[group // len(COLOURS) % len(DASHES)], **look)
        _scale(panel, [point[axis] for point in every or points])
        return
    shift = 0.5 * (group - (groups - 1) / 2) / max(groups, 1)
    errors = [
        [m - a for m, a in zip(means, low, strict=True)],
        [b - m for m, b in zip(means, high, strict=True)],
    ]
    panel.errorbar(
        [words.index(value) + shift for value in x], means, yerr=errors, linestyle="", capsize=3, elinewidth=0.9, **look
    )
    panel.set_xticks(range(len(words)), [_tick(word) for word in words], rotation=20, ha="right")
    panel.set_xlim(-0.5, len(words) - 0.5)


def _is_word(value: Any) -> bool:
    """Whether a value has no place on a numeric axis: a text, or unlimited."""
    return isinstance(value, str) or math.isinf(value)


def _scale(panel: Any, values: Sequence[float]) -> None:
    """Scale an axis from the smallest to the largest value, logarithmically if the values are spread by ratio."""
    if not is_by_ratio(sorted(set(values))):
        panel.locator_params(axis="x", nbins=MOST_TICKS)
        margin = 0.03 * (max(values) - min(values)) or 0.5
        panel.set_xlim(min(values) - margin, max(values) + margin)
        return
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    panel.set_xscale("log")
    if ticks := ticks_by_ratio(values):
        panel.set_xticks(ticks, [_tick(value) for value in ticks])
    else:
        panel.xaxis.set_major_formatter(StrMethodFormatter(TICKS))
    panel.xaxis.set_minor_formatter(NullFormatter())
    factor = (max(values) / min(values)) ** 0.03
    panel.set_xlim(min(values) / factor, max(values) * factor)


def is_by_ratio(values: Sequence[float]) -> bool:
    """Whether values are spread by ratio: wide range, and a median nearer to the geometric than to the arithmetic middle.

    >>> is_by_ratio([10, 100, 1000]), is_by_ratio([10, 500, 1000]), is_by_ratio([100, 200, 400])
    (True, False, False)
    """
    if len(values) < 3 or min(values) <= 0 or max(values) / min(values) < RATIO:
        return False
    low, high, middle = min(values), max(values), median(values)
    return abs(math.log(middle / math.sqrt(low * high))) < abs(math.log(middle / ((low + high) / 2)))


def ticks_by_ratio(values: Sequence[float]) -> list[float]:
    """Ticks at the values if they are few, without those too near to another. Decades alone may be too few ticks.

    >>> ticks_by_ratio([256, 512, 1000, 2000, 8000]), ticks_by_ratio([100, 110, 1000, 10000]), ticks_by_ratio(range(1, 100))
    ([256, 512, 1000, 2000, 8000], [100, 1000, 10000], [])
    """
    few = sorted(set(values))
    if len(few) > MOST_LEVELS:
        return []
    least = (few[-1] / few[0]) ** (1 / (MOST_TICKS + 2))
    ticks: list[float] = []
    for value in few:
        if not ticks or value >= least * ticks[-1]:
            ticks.append(value)
    return ticks


def _grouped(document: Mapping[str, Any], axis: str, by: str, panel_values: Sequence[Mapping[str, Any]]) -> Drawn:
    """A line for each value of ``by``; a panel for each metric and each of ``panel_values``, side by side."""
    from matplotlib.lines import Line2D

    points, metrics = document["points"], document["metrics"]
    values = list(dict.fromkeys(point[by] for point in points))
    across = sorted({point[axis] for point in points}, key=_order(points, axis))
    words = across if any(map(_is_word, across)) else []
    across_page = len(panel_values) if len(panel_values) > 1 else min(len(metrics), MOST_METRICS_ACROSS)
    down = -(-len(metrics) * len(panel_values) // across_page)
    figure, grid = panels_grid(
        down, across_page, width=max(5.0, 1.15 * WIDTH * across_page), height=0.6 + HEIGHT * down
    )
    for row, metric in zip(_in_lines(grid, len(metrics), len(panel_values)), metrics, strict=True):
        for panel, panel_value in zip(row, panel_values, strict=True):
            for group, value in enumerate(values):
                group_points = [
                    p for p in points if p[by] == value and all(p[key] == v for key, v in panel_value.items())
                ]
                _line(panel, group_points, axis, metric, group=group, groups=len(values), words=words, every=points)
            panel.set_xlabel(with_unit(axis))
            panel.set_title(", ".join(_of_panel(panel_value)))
        row[0].set_ylabel(with_unit(metric))
        share_scale(row)
    entries = []
    for i, value in enumerate(values):
        look: Any = {"linestyle": "" if words else DASHES[i // len(COLOURS) % len(DASHES)], "label": _tick(value)}
        look |= {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "markersize": 4}
        entries.append(Line2D([], [], **look))
    legend(
        figure,
        entries,
        loc="outside upper center",
        ncols=min(len(entries), 5 * across_page),
        fontsize=8,
        title=with_unit(by),
    )
    over = " for each value of ".join([axis, by])
    _explain_range(figure, points)
    return Drawn("lines", f"{_and(metrics)} over {over}", f"Means, and {_range(points)}.", figure)


def _in_lines(grid: Sequence[Sequence[Any]], count: int, each: int) -> list[list[Any]]:
    """Rearrange panels into ``count`` rows of ``each``; the rest of the grid is hidden."""
    all_panels = [panel for row in grid for panel in row]
    for panel in all_panels[count * each :]:
        panel.set_visible(False)
    return [all_panels[i * each : (i + 1) * each] for i in range(count)]


def _of_panel(panel_value: Mapping[str, Any]) -> list[str]:
    """Values that a panel shows, for its title: numbers have units.

    >>> _of_panel({"mss_bytes": 512}), _of_panel({"policy": "EPD"}), _of_panel({"buffer_cells": math.inf})
    (['mss = 512 bytes'], ['policy = EPD'], ['buffer = unlimited'])
    """
    texts = []
    for name, value in panel_value.items():
        stem, _, unit = with_unit(name).partition(" [")
        texts.append(f"{stem} = {_tick(value)}{f' {unit[:-1]}' if unit and value != math.inf else ''}")
    return texts


def _values_found(document: Mapping[str, Any], axis: str) -> list[float]:
    """Results of a search, as numbers of the axis."""
    if document["question"]["kind"] != "find":
        return []
    labels = dict.fromkeys(record.get(document["question"]["axis"]) for record in document.get("found", []))
    return [value for label in labels if label and isinstance(value := _as_column(document, axis, label), (int, float))]


def _as_column(document: Mapping[str, Any], axis: str, label: str) -> Any:
    from cellyard.show.columns import as_columns

    columns = as_columns([{document["question"]["axis"]: label}])[0]
    return columns.get(axis)


def _maps(
    document: Mapping[str, Any],
    axes: Sequence[str],
    panel_values: Sequence[Mapping[str, Any]],
    metrics: Sequence[str],
    name: str,
) -> Drawn:
    """A heat map with numbers for each metric, or for each value of a third axis."""
    points = document["points"]
    across_axis, down_axis = axes[1], axes[0]
    columns = sorted({point[across_axis] for point in points}, key=_order(points, across_axis))
    rows = sorted({point[down_axis] for point in points}, key=_order(points, down_axis))
    drawn = [(metric, panel_value) for metric in metrics for panel_value in panel_values]
    most_across = MOST_ACROSS if len(columns) <= 6 else 2
    across = len(panel_values) if 1 < len(panel_values) <= most_across else min(len(drawn), most_across)
    down = -(-len(drawn) // across)
    size = max(WIDTH, 0.55 * len(columns) + 1.4)
    figure, grid = panels_grid(down, across, width=size * across, height=max(2.2, 0.32 * len(rows) + 1.2) * down)
    all_panels = [panel for line in grid for panel in line]
    for panel, (metric, panel_value) in zip(all_panels, drawn, strict=False):
        means = {
            (p[down_axis], p[across_axis]): p[metric]["mean"]
            for p in points
            if all(p[k] == v for k, v in panel_value.items())
        }
        values = [[means.get((row, column)) for column in columns] for row in rows]
        # Use one scale for each metric, so that panels are comparable.
        ends = [p[metric]["mean"] for p in points if p[metric]["mean"] is not None]
        _map(panel, values, ends, numbers=max(len(rows), len(columns)) <= MOST_LEVELS)
        panel.set_xticks(range(len(columns)), [_tick(value) for value in columns], rotation=30, ha="right")
        panel.set_yticks(range(len(rows)), [_tick(value) for value in rows])
        panel.set_xlabel(with_unit(across_axis))
        panel.set_ylabel(with_unit(down_axis))
        panel.set_title(", ".join([metric, *_of_panel(panel_value)]))
    for panel in all_panels[len(drawn) :]:
        panel.set_visible(False)
    return Drawn(name, f"{_and(metrics)} over {_and(axes)}", "Means over the replications.", figure)


def _map(panel: Any, values: Sequence[Sequence[float | None]], ends: Sequence[float], *, numbers: bool = True) -> None:
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    numbers_or_nan = [[float("nan") if value is None else value for value in row] for row in values]
    image = panel.imshow(numbers_or_nan, cmap="viridis", aspect="auto", vmin=low, vmax=high if high > low else low + 1)
    if not numbers:  # only colours show the values
        panel.get_figure().colorbar(image, ax=panel)
    panel.grid(visible=False)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if value is not None and numbers:
                bright = value > low + 0.6 * (high - low)
                panel.text(
                    j,
                    i,
                    format_value(value),
                    ha="center",
                    va="center",
                    fontsize=7,
                    color="black" if bright else "white",
                )


def _dots(document: Mapping[str, Any], axes: Sequence[str], metrics: Sequence[str]) -> Drawn:
    """Each metric against each axis, a dot for each point."""
    points = document["points"]
    figure, grid = panels_grid(len(metrics), len(axes), width=min(WIDTH * len(axes), 20), height=2.4 * len(metrics))
    for row, metric in zip(grid, metrics, strict=True):
        for panel, axis in zip(row, axes, strict=True):
            values = [(p[axis], p[metric]["mean"]) for p in points if p[metric]["mean"] is not None]
            numeric = not any(_is_word(value) for value, _ in values)
            x = [value if numeric else str(value) for value, _ in values]
            panel.plot(
                x, [mean for _, mean in values], linestyle="", marker=".", markersize=4, color=COLOURS[0], alpha=0.7
            )
            panel.set_xlabel(with_unit(axis))
            panel.set_ylabel(with_unit(metric))
    return Drawn(
        "dots", f"{_and(metrics)} at every point", "Means over the replications; a dot for each point.", figure
    )


def _front(document: Mapping[str, Any]) -> Drawn:
    """Two goals against each other, with the Pareto-optimal points. A third goal is shown by colour."""
    first, second, *others = document["question"]["goals"]
    figure, (panel,) = panels(1, width=5.2, height=3.8)
    points = [p for p in document["points"] if p[first]["mean"] is not None and p[second]["mean"] is not None]
    panel.plot(
        [p[first]["mean"] for p in points],
        [p[second]["mean"] for p in points],
        linestyle="",
        marker=".",
        color="#bbbbbb",
        label="tried",
    )
    best = sorted(document.get("best", []), key=lambda point: (point[first], point[second]))
    a, b = [point[first] for point in best], [point[second] for point in best]
    # With more than two goals, the best points do not form a line in this plane.
    line = "" if others else "-"
    panel.plot(a, b, linestyle=line, marker=MARKERS[0], markersize=4, color=COLOURS[1], label="best")
    if others and best:
        shown = panel.scatter(a, b, c=[point[others[0]] for point in best], marker=MARKERS[0], s=25, zorder=3)
        figure.colorbar(shown, ax=panel, label=with_unit(others[0]))
    panel.set_xlabel(with_unit(first))
    panel.set_ylabel(with_unit(second))
    legend(figure, panel.lines, loc="outside upper center", ncols=2)
    return Drawn(
        "front",
        f"The Pareto front of {first} and {second}",
        f"Means. No trial beats any of the best points in {'every goal' if others else 'both goals'}."
        f"{f' Colour shows {others[0]}.' if others else ''}",
        figure,
    )


def _indices(records: Sequence[Mapping[str, Any]]) -> Drawn:
    """Bars of the first and total index of each axis, with their intervals."""
    from matplotlib.patches import Patch

    metrics = list(dict.fromkeys(record["metric"] for record in records))
    figure, all_panels = panels(len(metrics), width=max(4.4, WIDTH * len(metrics)), height=3.0)
    for panel, metric in zip(all_panels, metrics, strict=True):
        records_of_metric = [record for record in records if record["metric"] == metric and record["total"] is not None]
        for shift, (order, colour) in enumerate((("first", COLOURS[4]), ("total", COLOURS[0]))):
            x = [i + (shift - 0.5) * 0.36 for i in range(len(records_of_metric))]
            heights = [record[order] for record in records_of_metric]
            # An axis without influence has no interval.
            ends = [(record[f"{order}_low"], record[f"{order}_high"]) for record in records_of_metric]
            errors = [
                [
                    0 if low is None else max(record[order] - low, 0)
                    for record, (low, _) in zip(records_of_metric, ends, strict=True)
                ],
                [
                    0 if high is None else max(high - record[order], 0)
                    for record, (_, high) in zip(records_of_metric, ends, strict=True)
                ],
            ]
            panel.bar(x, heights, width=0.34, color=colour)
            panel.errorbar(x, heights, yerr=errors, fmt="none", ecolor="#333333", capsize=2, linewidth=0.8)
        panel.axhline(0, color="#333333", linewidth=0.6)
        panel.set_xticks(range(len(records_of_metric)), [record["axis"] for record in records_of_metric])
        panel.set_title(metric)
    handles = [
        Patch(color=colour, label=f"{order} order") for order, colour in (("first", COLOURS[4]), ("total", COLOURS[0]))
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    text = "Sobol indices: shares of the variance, with their intervals."
    return Drawn("indices", "Influence of each axis", text, figure)


def _differences(records: Sequence[Mapping[str, Any]]) -> Drawn:
    """The interval of each difference, by metric."""
    metrics = list(dict.fromkeys(record["metric"] for record in records))
    known = {
        metric: [record for record in records if record["metric"] == metric and record["difference"] is not None]
        for metric in metrics
    }
    shown = {metric: records_of_metric[:MOST_ROWS] for metric, records_of_metric in known.items()}
    rows = max(map(len, shown.values()), default=1)
    across = min(len(metrics), MOST_METRICS_ACROSS)
    down = -(-len(metrics) // across)
    figure, grid = panels_grid(
        down, across, width=max(5.0, 4.2 * across), height=max(2.0, (0.3 if down == 1 else 0.2) * rows + 1.0) * down
    )
    all_panels = [panel for (panel,) in _in_lines(grid, len(metrics), 1)]
    left_names: list[str] = []
    for i, (panel, metric) in enumerate(zip(all_panels, metrics, strict=True)):
        for y, record in enumerate(shown[metric]):
            sure = record["better"] not in UNDECIDED
            panel.plot(
                [record["difference_low"], record["difference_high"]],
                [y, y],
                color=COLOURS[0] if sure else "#999999",
                linewidth=2,
            )
            panel.plot([record["difference"]], [y], marker="o", markersize=4, color=COLOURS[0] if sure else "#999999")
        names = [
            ", ".join(
                [
                    f"{record['variant']} - {record['against']}",
                    *(f"{k} {v}" for k, v in record.items() if k not in COLUMNS),
                ]
            )
            for record in shown[metric]
        ]
        is_as_left = i % across > 0 and names == left_names
        panel.set_yticks(range(len(names)), [""] * len(names) if is_as_left else names)
        left_names = left_names if is_as_left else names
        panel.set_ylim(len(names) - 0.5, -0.5)
        panel.axvline(0, color="#333333", linewidth=0.8)
        panel.locator_params(axis="x", nbins=MOST_TICKS - 1)
        panel.set_title(f"difference of {metric}")
    count = max(map(len, known.values()), default=0)
    first = f" The first {MOST_ROWS} of {count}; comparisons.csv has all." if count > MOST_ROWS else ""
    text = f"Differences with the intervals of Holm's correction; grey ones are not separated from 0.{first}"
    return Drawn("differences", "Differences", text, figure)


def _range(points: Sequence[Mapping[str, Any]]) -> str:
    """Meaning of bands and bars, in words."""
    names = [range_name(run(point["runs"] for point in points)) for run in (max, min)]
    return f"the range of the runs ({', of fewer runs '.join(dict.fromkeys(names))})"


def _explain_range(figure: Figure, points: Sequence[Mapping[str, Any]]) -> None:
    """Explain bands and bars below the panels, since a figure may be shown without its page."""
    if any(point["runs"] > 1 for point in points):
        figure.supxlabel(f"means, and {_range(points)}", fontsize=7.5, color="#666666")


def _order(points: Sequence[Mapping[str, Any]], axis: str) -> Any:
    positions = {value: position for position, value in enumerate(dict.fromkeys(point[axis] for point in points))}
    return lambda value: (0, value) if isinstance(value, (int, float)) else (1, positions[value])


def _tick(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "unlimited" if math.isinf(value) else number(value)


def _and(words: Sequence[str]) -> str:
    return ", ".join(words[:4]) + (", ..." if len(words) > 4 else "")
