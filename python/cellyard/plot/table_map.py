"""Heat maps of whole tables of a study. Nothing is simulated. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from cellyard.plot.axes import is_word
from cellyard.plot.drawing import panels_grid
from cellyard.plot.heat import divide, heat
from cellyard.plot.rows import combinations, is_printed, named, quantity, word
from cellyard.study.rows import Row, Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def table_map(
    rows: Rows,
    metrics: Sequence[str],
    *,
    down: Sequence[str],
    across: tuple[str, str],
    mean: bool = False,
    ends: tuple[float, float] = (0.0, 1.0),
) -> Figure:
    """A heat map for each metric: the values of ``down`` from the top, those of ``across`` side by side, in groups of the first.

    Cells hold the simulated value, and the published one in brackets. With ``mean``, a last column
    has the means of the rows of the map. A frame marks the highest values of this column, and without
    it those of each column. ``ends`` are the values of the darkest and the brightest colour.
    """
    lines = combinations(rows, down)
    columns = combinations(rows, across)
    figure, (axes,) = panels_grid(1, len(metrics), width=7.2, height=0.95 + 0.34 * len(lines), dense=True)
    for one, metric in zip(axes, metrics, strict=True):
        cells = [[rows.where(**line, **column) for column in columns] for line in lines]
        values = [[own[0].simulated[metric] if own else None for own in line] for line in cells]
        texts = [[_cell(own, metric) for own in line] for line in cells]
        ticks = [_level(across[1], column[across[1]]) for column in columns]
        if mean:
            known = [[value for value in line if value is not None] for line in values]
            averages = [fmean(line) if line else None for line in known]
            values = [[*line, average] for line, average in zip(values, averages, strict=True)]
            texts = [[*line, f"{average:.2f}"] for line, average in zip(texts, averages, strict=True)]
            ticks = [*ticks, "mean"]
        judged = [len(columns)] if mean else list(range(len(columns)))
        best = [place for column in judged for place in _highest(values, column)]
        heat(one, values, texts, columns=ticks, rows=[_names(line) for line in lines], best=best, ends=ends)
        one.tick_params(labelleft=one is axes[0])
        one.set_xlabel(quantity(across[1], short=True))
        one.set_title(quantity(metric), pad=6 + 14 * len(named(across[0], columns[0][across[0]]).split("\n")))
        last = [k for k in range(len(columns) - 1) if columns[k][across[0]] != columns[k + 1][across[0]]]
        divide(
            one,
            after_columns=[*last, *([len(columns) - 1] if mean else [])],
            after_rows=[k for k in range(len(lines) - 1) if lines[k][down[0]] != lines[k + 1][down[0]]],
        )
        for start, end in zip([0, *(k + 1 for k in last)], [*last, len(columns) - 1], strict=True):
            place = ((start + end) / 2, -0.62)
            one.text(*place, named(across[0], columns[start][across[0]]), ha="center", va="bottom", fontsize="small")
    return figure


def _level(parameter: str, value: Any) -> str:
    """A value below a column of a map if the axis names the parameter."""
    return word(value) if is_word(value) else f"{value:g}"


def _names(chosen: Mapping[str, Any]) -> str:
    return ", ".join(named(key, value) for key, value in chosen.items())


def _cell(rows: Sequence[Row], metric: str) -> str:
    """The text of a cell: the simulated value, and the published one in brackets."""
    if not rows or (value := rows[0].simulated[metric]) is None:
        return "-" if rows else ""
    published = f"\n({rows[0].published[metric]:.2f})" if is_printed(rows[0], metric) else ""
    return f"{value:.2f}{published}"


def _highest(values: Sequence[Sequence[float | None]], column: int) -> list[tuple[int, int]]:
    """Row and column of the highest cells of a column; none if all are equal to two digits."""
    rounded = {i: round(value, 2) for i, line in enumerate(values) if (value := line[column]) is not None}
    different = len(set(rounded.values())) > 1
    return [(i, column) for i, value in rounded.items() if different and value == max(rounded.values())]
