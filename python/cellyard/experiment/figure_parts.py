"""Parts of the figures of experiments: labels, panels and notes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeVar

from cellyard.experiment.plan import CONFIDENCE
from cellyard.plot import MOST_PANELS, panels_grid
from cellyard.plot.notes import runs
from cellyard.show.words import number

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
#: Parameters whose last word does not say what they are.
NAMES = {"drop": "drop policy"}
#: Limits on the rows of a figure of differences: in all, and without a panel for each group.
MOST_ROWS, MOST_TOGETHER = 60, 8
#: Size of a panel in inches, and of a line of its labels.
WIDTH, HEIGHT, LINE, CHARACTER = 3.4, 2.8, 0.14, 0.062
#: Limit on the characters of a line of a label.
LONGEST_LINE = 32
#: Limit on the characters of a sentence that is the title of a figure.
MOST_MESSAGE = 220
#: What bars and bands are.
INTERVALS = f"{100 * CONFIDENCE:g} % confidence intervals"


def pages(name: str, items: Sequence[Item], most: int = MOST_PANELS) -> Iterator[tuple[str, Sequence[Item]]]:
    """Items of one figure each, with its name."""
    for place in range(0, len(items), most):
        yield (f"{name}-{place // most + 1}" if place else name), items[place : place + most]


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
    name = NAMES.get(name, name)
    stem, _, unit = name.rpartition("_")
    if stem.isidentifier() and unit in units:
        return f"{stem.replace('_', ' ')} [{units[unit]}]"
    end = (path or name).rpartition("_")[2].rstrip(")")
    is_path = " " not in path and "." in (path or name)
    return f"{name} [{units[end]}]" if is_path and end in units else name


def label(document: Mapping[str, Any], metric: str) -> str:
    """A metric with its unit, for an axis, or the label that was asked for."""
    return document.get("labels", {}).get(metric) or with_unit(
        metric, document.get("paths", {}).get(metric, ""), noun=noun_of(document)
    )


def axis_label(document: Mapping[str, Any], axis: str) -> str:
    """An axis of the experiment with its unit, or the label that was asked for."""
    return document.get("labels", {}).get(axis) or with_unit(axis, noun=noun_of(document))


def noun_of(document: Mapping[str, Any]) -> str:
    """What a reader calls a cell."""
    return str(document.get("noun", "cell"))


def is_log(document: Mapping[str, Any], axis: str) -> bool | None:
    """True if an axis is a range by ratio; None if its values decide on the scale."""
    return True if {axis, axis.rpartition("_")[0]} & set(document.get("log", ())) else None


def message(document: Mapping[str, Any], otherwise: str, about: str = "") -> str:
    """What a figure says: the title asked for, the first sentence of the answer that names ``about``, or what is drawn.

    A long sentence is no title.
    """
    first = next((sentence for sentence in document.get("answer", ()) if about in sentence), "")
    return str(document.get("heading") or (first if 0 < len(first) <= MOST_MESSAGE else otherwise))


def note(document: Mapping[str, Any], *parts: str) -> str:
    """What was simulated, and how to read it."""
    of = [runs(point["runs"] for point in document["points"])] if document.get("points") else []
    return "; ".join(part for part in [*of, document.get("tcp", ""), *parts] if part)


def explained(points: Sequence[Mapping[str, Any]]) -> str:
    """What marks and bars are."""
    return f"means, with {INTERVALS}" if any(point["runs"] > 1 for point in points) else ""


def panels_of(
    metrics: Collection[str],
    words: Sequence[Any] = (),
    *,
    groups: int = 1,
    above: float = 0.0,
    total: float | None = None,
) -> tuple[Figure, list[Axes], int]:
    """A panel for each metric, and how many are side by side, with room ``above``, and a ``total`` width; in inches.

    With words, a panel has a row for each next to its name.
    """
    across = min(len(metrics), MOST_ACROSS)
    width, height = max(4.4, WIDTH * across), HEIGHT
    if words:
        texts = [wrapped(tick_text(word)) for word in words]
        lines = sum(max(text.count("\n") + 1, 0.8 * groups) + 0.8 for text in texts)
        longest = max(len(line) for text in texts for line in text.split("\n"))
        width, height = 0.8 + longest * CHARACTER + 2.2 * across, 0.8 + LINE * lines
    down = -(-len(metrics) // across)
    figure, grid = panels_grid(down, across, width=total or width, height=above + height * down)
    return figure, [place for (place,) in in_lines(grid, len(metrics), 1)], across


def in_lines(grid: Sequence[Sequence[Any]], count: int, each: int) -> list[list[Any]]:
    """Rearrange panels into ``count`` rows of ``each``; the rest of the grid is hidden."""
    places = [place for line in grid for place in line]
    for place in places[count * each :]:
        place.set_visible(False)
    return [places[i * each : (i + 1) * each] for i in range(count)]


def wrapped(text: str, most: int = LONGEST_LINE) -> str:
    r"""A long label in lines.

    >>> wrapped("atm-red min_th=200 cells max_th=1000 cells")
    'atm-red min_th=200 cells\nmax_th=1000 cells'
    """
    return fill(text, most, break_long_words=False, break_on_hyphens=False)


def tick_text(value: Any) -> str:
    """A value of an axis."""
    if isinstance(value, str):
        return value
    return "unlimited" if math.isinf(value) else number(value)


def listed(document: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of some axes or metrics, without their units.

    >>> listed({}, ["efficiency", "buffer_cells"]), listed({}, ["drop"])
    ('efficiency and buffer', 'drop policy')
    """
    words = [label(document, name).partition(" [")[0] for name in names]
    if len(words) > 4:
        return f"{', '.join(words[:4])}, ..."
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def title(text: str) -> str:
    """A title with a capital letter."""
    return text[:1].upper() + text[1:]
