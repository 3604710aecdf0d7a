"""Figures as functions of rows or series: choose x, y and group; nothing is simulated here.

Needs the extra ``plot`` (matplotlib).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cellyard.errors import UsageError
from cellyard.figure import empty
from cellyard.results import Series
from cellyard.study import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours that stay apart in print and for the colour-blind (Okabe and Ito, 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: More lines of a panel are not named.
MOST_LABELS = 12
#: Sums over intervals are told at the interval's end; everything else holds from its time on.
WHERE: Mapping[str, Literal["pre"]] = {"goodput": "pre", "link-share": "pre", "drops": "pre"}

_STYLE: Any = {
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.labelcolor": "#333333",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "figure.dpi": 160,
    "font.size": 9,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "svg.hashsalt": "cellyard",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
}


@dataclass(frozen=True)
class Drawn:
    """A figure with what is to be seen on it."""

    name: str
    title: str
    text: str
    figure: Figure


@contextmanager
def style() -> Iterator[None]:
    """One look for all figures; raises `UsageError` when matplotlib is missing."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise UsageError("figures need matplotlib: pip install 'cellyard[plot]'") from None
    with mpl.rc_context(_STYLE):
        yield


def panels(number: int, *, width: float = 7.2, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side."""
    figure = empty(width, height)
    axes = figure.subplots(1, number, squeeze=False)
    return figure, list(axes[0])


def can_save(path: Path) -> None:
    """Raise `UsageError` unless a figure can be written to ``path``."""
    with style():
        from matplotlib.backend_bases import FigureCanvasBase

        kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lstrip(".").lower() not in kinds:
        raise UsageError(f"{path}: not a kind of figure; its name must end in one of: {', '.join(kinds)}")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")


def over_time(series: Sequence[Series]) -> Figure:
    """One panel per kind of series, from top to bottom over the same time, a line for each VC, port or class."""
    if not series:
        raise UsageError(
            'there are no series to draw: probes record them, such as cy.QueueProbe(of=..., interval="1 ms")'
        )
    kinds = list(dict.fromkeys((one.what, one.unit) for one in series))
    figure = empty(7.2, 0.6 + 2.0 * len(kinds))
    panels = figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (what, unit) in zip(panels, kinds, strict=True):
        chosen = [one for one in series if one.what == what]
        for one, colour in zip(chosen, cycle(COLOURS)):
            parts = (one.of, one.service_class, one.vc)
            label = " ".join(part for part in parts if part)
            if what == "sequence":
                axes.plot(one.time_s, one.value, ".", label=label, color=colour, markersize=2)
            else:
                axes.step(one.time_s, one.value, where=WHERE.get(what, "post"), label=label, color=colour)
        axes.set_ylabel(f"{what} [{unit}]")
        axes.margins(x=0)
        if len(chosen) <= MOST_LABELS:
            # Above the panel, where no line is.
            axes.legend(
                fontsize=7.5, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.1, ncols=min(4, len(chosen))
            )
    panels[-1].set_xlabel("time [s]")
    return figure


def lines(axes: Axes, series: Mapping[str, Series], *, steps: bool = True, scale: float = 1.0) -> None:
    """Values over time, one line per label."""
    for (label, one), colour in zip(series.items(), COLOURS, strict=False):
        axes.plot(
            one.time_s, one.value * scale, label=label, color=colour, drawstyle="steps-post" if steps else "default"
        )
    axes.set_xlabel("time [s]")
    axes.margins(x=0)


def level(axes: Axes, value: float, text: str) -> None:
    """A dashed horizontal line with its name at the right end."""
    axes.axhline(value, color="#333333", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.annotate(
        text, (1, value), xycoords=("axes fraction", "data"), xytext=(-3, 2), textcoords="offset points",
        ha="right", va="bottom", fontsize=8, color="#333333",
    )  # fmt: skip


def efficiency_fairness(
    axes: Axes, rows: Rows, *, group: str, symbol: str | None = None, legend: bool = True, low: float = 0.0
) -> None:
    """Fairness over efficiency from ``low`` on, a colour per value of ``group``, a marker per value of ``symbol``."""
    groups = list(dict.fromkeys(row.parameters[group] for row in rows))
    symbols = list(dict.fromkeys(row.parameters[symbol] for row in rows)) if symbol else [None]
    for value, colour in zip(groups, COLOURS, strict=False):
        for kind, marker in zip(symbols, MARKERS, strict=False):
            wanted = {group: value, **({symbol: kind} if symbol else {})}
            chosen = rows.where(**wanted)
            axes.scatter(
                chosen.values("efficiency"), chosen.values("fairness"), s=22, alpha=0.85, linewidths=0,
                color=colour, marker=marker,
            )  # fmt: skip
    if legend:
        _legend(axes, group, groups, symbol, symbols)
    margin = 0.04 * (1 - low)
    widest = max([1.0, *rows.values("efficiency")])
    axes.set(xlabel="efficiency", ylabel="fairness", xlim=(low, widest + margin), ylim=(low, 1 + margin))


def _legend(axes: Axes, group: str, groups: Sequence[Any], symbol: str | None, symbols: Sequence[Any]) -> None:
    from matplotlib.lines import Line2D

    def entry(text: str, colour: str, marker: str) -> Line2D:
        return Line2D([], [], color=colour, marker=marker, linestyle="", markersize=5, label=text)

    entries = [entry(f"{_name(group)} {g}", c, "o") for g, c in zip(groups, COLOURS, strict=False)]
    if symbol:
        entries += [entry(f"{_name(symbol)} {s}", "#777777", m) for s, m in zip(symbols, MARKERS, strict=False)]
    axes.legend(handles=entries, fontsize=7.5, loc="lower left", handletextpad=0.2, labelspacing=0.3)


def _name(parameter: str) -> str:
    short = {
        "vbr_period_ms": "VBR period [ms]",
        "r_fraction": "R/K =",
        "z": "Z =",
        "gr": "GR =",
        "buffer_cells": "K =",
        "sources": "N =",
    }
    return short.get(parameter, parameter.replace("_", " "))


def against_published(axes: Axes, rows: Rows, metric: str, *, group: str) -> None:
    """Simulated over published values with their 5 to 95 % ranges; on the diagonal they agree."""
    axes.plot([0, 1.05], [0, 1.05], color="#bbbbbb", linewidth=0.8)
    for value, colour in zip(dict.fromkeys(row.parameters[group] for row in rows), COLOURS, strict=False):
        chosen = [
            row
            for row in rows.where(**{group: value})
            if row.published.get(metric) is not None
            and metric not in row.doubtful
            and row.simulated[metric] is not None
        ]
        x = [float(row.published[metric] or 0) for row in chosen]
        y = [float(row.simulated[metric]) for row in chosen]
        below = [v - min(row.ranges.get(metric, (v, v))[0], v) for row, v in zip(chosen, y, strict=True)]
        above = [max(row.ranges.get(metric, (v, v))[1], v) - v for row, v in zip(chosen, y, strict=True)]
        axes.errorbar(
            x, y, yerr=[below, above], fmt="o", markersize=3.6, elinewidth=0.7, alpha=0.85, color=colour, label=value
        )
    axes.set(xlabel=f"published {metric}", ylabel=f"simulated {metric}", xlim=(0, 1.05), ylim=(0, 1.05))
    axes.set_aspect("equal")
    axes.legend(fontsize=7.5, loc="lower right", handletextpad=0.2)


def table_figure(rows: Rows, metrics: Sequence[str], *, group: str) -> Figure:
    """One panel per metric of simulated against published values."""
    figure, axes = panels(len(metrics), width=3.5 * len(metrics), height=3.5)
    for one, metric in zip(axes, metrics, strict=True):
        against_published(one, rows, metric, group=group)
    return figure
