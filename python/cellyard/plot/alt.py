"""Alternative texts: what a figure shows, in words made from the data that it draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cellyard.system.terminal import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: How the label of an axis says where it begins.
START = "axis from"
#: Limit on the characters of a text. Further panels are counted.
LONGEST = 1500
#: Limit on the series of a panel that are named one by one.
MOST_SERIES = 8


def described(figure: Figure) -> str:
    """A sentence for each panel: its quantity, and for each series the first and last, or the least and greatest value."""
    panels = [axes for axes in figure.axes if axes.get_visible()]
    sentences = [text for axes in panels if (text := _panel(axes, panels))]
    kept: list[str] = []
    for text in sentences:
        if kept and len(" ".join([*kept, text])) > LONGEST:
            more = len(sentences) - len(kept)
            kept.append(f"{more} more panel{'s' * (more > 1)}.")
            break
        kept.append(text)
    return printable(" ".join(kept))


def _panel(axes: Axes, panels: Sequence[Axes]) -> str:
    """The sentence of a panel; empty if it shows no data, as a colour bar."""
    told = _cells(axes) if axes.images else list(_series(axes))
    if not told:
        return ""
    column, line = (
        [one for one in panels if _place(one, side) == _place(axes, side)] for side in ("colspan", "rowspan")
    )
    title = _line(axes.get_title() or next((text for one in column if (text := one.get_title())), ""))
    x = _label(axes.get_xlabel(), [one.get_xlabel() for one in reversed(column)])
    y = _label(axes.get_ylabel(), [one.get_ylabel() for one in line])
    over = (", " if _is_across(axes) else " over ").join(text for text in (y, x) if text)
    head = ", ".join(text for text in (title, over) if text)
    more = f"; {len(told) - MOST_SERIES} more" if len(told) > MOST_SERIES else ""
    return f"{head}: {'; '.join(told[:MOST_SERIES])}{more}." if head else f"{'; '.join(told[:MOST_SERIES])}{more}."


def _label(label: str, others: Iterable[str]) -> str:
    """The label of an axis. One that is missing, or only says where the axis begins, takes its quantity from the ``others``."""
    if label and not label.startswith(f"({START}"):
        return _line(label)
    quantity = next((other for other in others if other and not other.startswith(f"({START}")), "")
    return _line(f"{quantity} {label}".strip())


def _place(axes: Axes, side: str) -> object:
    """The column or the line of a panel in the grid of its figure."""
    spec = axes.get_subplotspec()
    return (id(spec.get_gridspec()), getattr(spec, side)) if spec else id(axes)


def _cells(axes: Axes) -> list[str]:
    """The highest and lowest cell of a heat map."""
    names = (
        axis.get_major_formatter().format_ticks(list(axis.get_majorticklocs())) for axis in (axes.xaxis, axes.yaxis)
    )
    columns, rows = ([_line(text) for text in of] for of in names)
    shown: Any = axes.images[0].get_array()
    cells = [
        (float(value), f"{rows[i]}, {columns[j]}" if i < len(rows) and j < len(columns) else "")
        for i, line in enumerate(shown.tolist())
        for j, value in enumerate(line)
        if value is not None and math.isfinite(value)
    ]
    if not cells:
        return []
    (low, lowest), (high, highest) = min(cells), max(cells)
    return [f"highest {_number(high)} ({highest})", f"lowest {_number(low)} ({lowest})"]


def _series(axes: Axes) -> Iterator[str]:
    """Each series with a name, and the only one without."""
    named = list(_drawn(axes))
    for label, line in named:
        if label.startswith("_") and len(named) > 1:
            continue
        points = [(float(x), float(y)) for x, y in line if math.isfinite(float(x)) and math.isfinite(float(y))]
        if not points:
            continue
        name = "" if label.startswith("_") else f"{_line(label)} "
        values = [x if _is_across(axes) else y for x, y in points]
        yield f"{name}{_span(values)}"


def _is_across(axes: Axes) -> bool:
    """Whether the values of a panel are on its x axis."""
    drawn: list[Any] = [container for container in axes.containers if getattr(container, "lines", None)]
    return any(container.has_xerr and not container.has_yerr for container in drawn)


def _drawn(axes: Axes) -> Iterator[tuple[str, Any]]:
    """Label and points of each series."""
    drawn: list[Any] = [container for container in axes.containers if getattr(container, "lines", None)]
    of_bars = set[Any]()
    for container in drawn:
        line, caps, _ = container.lines
        of_bars |= {line, *caps}
        yield str(container.get_label()), line.get_xydata()
    others: Any = axes.lines
    for one in others:
        if one not in of_bars and one.get_transform().contains_branch(axes.transData) and len(one.get_xdata()) > 1:
            yield str(one.get_label()), one.get_xydata()
    for group in axes.collections:
        offsets: Any = getattr(group, "get_offsets", list)()
        if len(offsets) > 1 and str(group.get_label()):
            yield str(group.get_label()), offsets


def _span(values: Sequence[float]) -> str:
    """The first and last value, and any that lies outside of them."""
    first, last, low, high = values[0], values[-1], min(values), max(values)
    if low == high:
        return _number(low)
    told = f"{_number(first)} to {_number(last)}" if len(values) > 1 else _number(first)
    outside = [
        _number(end) for end, beyond in ((low, low < min(first, last)), (high, high > max(first, last))) if beyond
    ]
    return (
        f"{told} (up to {outside[-1]})"
        if outside and high > max(first, last)
        else f"{told} (down to {outside[0]})"
        if outside
        else told
    )


def _number(value: float) -> str:
    """A number with three digits.

    >>> [_number(value) for value in (0.12345, 7591.0, 123456.0, 1.0)]
    ['0.123', '7591', '123456', '1']
    """
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _line(text: str) -> str:
    """A label in one line."""
    return " ".join(text.split())
