"""The look of all figures, and figures of series over time; those of rows are in `cellyard.plot_rows`. Nothing is simulated here.

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

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours that stay apart in print and for the colour-blind (Okabe and Ito, 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: How published values are called beside simulated ones.
PUBLISHED = "published"

#: More lines of a panel are not named.
MOST_LABELS = 12
#: Sums over intervals are told at the interval's end; everything else holds from its time on.
WHERE: Mapping[str, Literal["pre"]] = {"goodput": "pre", "link-share": "pre", "drops": "pre"}

_STYLE: Any = {
    "axes.axisbelow": True,
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
    "pdf.fonttype": 42,
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


def panels_grid(down: int, across: int, *, width: float, height: float) -> tuple[Figure, list[list[Axes]]]:
    """A figure with lines of panels below each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    axes = figure.subplots(down, across, squeeze=False)
    return figure, [list(line) for line in axes]


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
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6},
    )  # fmt: skip
