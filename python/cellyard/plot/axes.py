"""Axes of figures. Numbers stand at their values on a linear or logarithmic axis; words have places in a row, without lines.

An axis begins at 0, unless that would hide the differences. Then its label says where it begins
(`cellyard.plot.drawing.Drawn`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from cellyard.plot.drawing import as_written, zero_at_the_bottom

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

#: Limit on the sideways shift of a series on an axis of numbers, relative to the width of the panel.
MOST_SHIFT = 0.02
#: Sideways distance of neighbouring series, relative to the width of the panel, if there are few.
STEP = 0.011
#: Part of the distance of two words over which the series at a word are spread, and their largest
#: distance from each other.
TOGETHER, APART = 0.7, 0.22

#: Least ratio of values for a logarithmic axis.
RATIO = 20
#: Limit on ticks of an axis of numbers that is not labelled with the values themselves.
MOST_TICKS = 5
#: Ratio of the ends of a logarithmic axis below which it has ticks between powers of ten.
MOST_DECADES = 200
#: Margin of an axis, relative to its length.
MARGIN = 0.05
#: Values are drawn from 0 on if the smallest is at most this part of the largest.
NEAR_ZERO = 0.7
#: Width of a digit of a tick label in inches.
DIGIT = 0.066


def is_word(value: Any) -> bool:
    """Whether a value has no place on an axis of numbers: a text, or unlimited."""
    return isinstance(value, str) or math.isinf(value)


def is_by_ratio(values: Sequence[float]) -> bool:
    """Whether values are spread by ratio: wide range, and a median nearer to the geometric than to the arithmetic middle.

    >>> is_by_ratio([10, 100, 1000]), is_by_ratio([10, 500, 1000]), is_by_ratio([100, 200, 400])
    (True, False, False)
    """
    if len(values) < 3 or min(values) <= 0 or max(values) / min(values) < RATIO:
        return False
    low, high, middle = min(values), max(values), median(values)
    return abs(math.log(middle / math.sqrt(low * high))) < abs(math.log(middle / ((low + high) / 2)))


def shifts(groups: int) -> list[float]:
    """The sideways shift of each of some series on an axis of numbers, relative to the width of the panel.

    >>> [f"{shift:.4f}" for shift in shifts(3)], shifts(1), max(shifts(9))
    (['-0.0110', '0.0000', '0.0110'], [0.0], 0.02)
    """
    step = min(STEP, 2 * MOST_SHIFT / max(groups - 1, 1))
    return [step * (number - (groups - 1) / 2) for number in range(groups)]


def shifted(axes: Axes, values: Iterable[float], shift: float) -> list[float]:
    """Values moved along the x axis by a part of the width of the panel, regardless of the scale of the axis."""
    low, high = axes.get_xlim()
    if axes.get_xscale() == "log":
        return [value * (high / low) ** shift for value in values]
    return [value + (high - low) * shift for value in values]


def in_a_row(groups: int) -> list[float]:
    """The place of each of some series next to a word, where words are 1 apart.

    >>> [f"{place:.2f}" for place in in_a_row(2)], in_a_row(1)
    (['-0.11', '0.11'], [0.0])
    """
    step = min(APART, TOGETHER / max(groups, 1))
    return [step * (number - (groups - 1) / 2) for number in range(groups)]


def number_axis(axes: Axes, values: Sequence[float], *, ratio: bool | None = None) -> None:
    """Make the x axis one of numbers that holds ``values``, with ticks at them if there is room.

    It is logarithmic if ``ratio`` is true; by default, if the values are spread by ratio.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    known = sorted(set(values))
    low, high = known[0], known[-1]
    by_ratio = is_by_ratio(known) if ratio is None else ratio
    axis = axes.xaxis
    if by_ratio:
        axes.set_xscale("log")
        margin = (high / low) ** MARGIN if high > low else 1.5
        axes.set_xlim(low / margin, high * margin)
    else:
        start = 0.0 if 0 <= low <= NEAR_ZERO * high else low
        margin = MARGIN * (high - start) or 0.5
        axes.set_xlim(start - margin * (start == low), high + 1.8 * margin)  # room for marks that are shifted
    axis.set_major_formatter(FuncFormatter(lambda value, place: number_tick(value)))
    axis.set_minor_formatter(NullFormatter())
    if ticks := _ticks(axes, known):
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_minor_locator(NullLocator())
    elif not by_ratio:
        few_ticks(axis)


def _ticks(axes: Axes, known: Sequence[float]) -> list[float]:
    """The values that have room for a tick, from the first on; empty if half of them have none."""
    figure: Any = axes.get_figure(root=True)
    width = axes.bbox.width / figure.dpi
    places = [axes.transAxes.inverted().transform(axes.transData.transform((value, 0)))[0] for value in known]
    kept: list[int] = []
    for number, place in enumerate(places):
        wide = (len(number_tick(known[number])) + 0.7) * DIGIT / width
        if not kept or place - places[kept[-1]] >= wide:
            kept.append(number)
    if kept[-1] != len(known) - 1:  # the last value is named rather than the one before
        kept[-1] = len(known) - 1
    few = [known[number] for number in kept]
    return few if 2 * len(few) > len(known) or axes.get_xscale() == "log" else []


def number_tick(value: float) -> str:
    """A number below an axis.

    >>> number_tick(1000.0), number_tick(0.25), number_tick(36000), number_tick(0.30000000000000004)
    ('1000', '0.25', '36000', '0.3')
    """
    return f"{value:.10g}"


def word_axis(axes: Axes, words: Sequence[str], *, down: bool = False) -> None:
    """Make the x axis, or with ``down`` the y axis from the top, one of words in a row, which boxes tell apart."""
    axis = axes.yaxis if down else axes.xaxis
    axis.set_ticks(range(len(words)), list(words))
    as_written(axis.get_ticklabels())
    ends = (len(words) - 0.5, -0.5) if down else (-0.5, len(words) - 0.5)
    (axes.set_ylim if down else axes.set_xlim)(*ends)
    axis.grid(visible=False)
    axis.set_tick_params(length=0)
    line = axes.axhline if down else axes.axvline
    for place in range(1, len(words)):
        line(place - 0.5, color="#e4e4e4", linewidth=0.8, zorder=0, label="_")


def value_axis(axes: Sequence[Axes], *, down: bool = True) -> None:
    """Give the value axes of some panels one scale with a margin; only the first has labels.

    This is the y axis, or without ``down`` the x axis.
    """
    side: Literal["y", "x"] = "y" if down else "x"
    ends = [end for one in axes for end in getattr(one.dataLim, f"interval{side}")]
    low, high = min(ends), max(ends)  # infinite without any point
    if math.isfinite(low) and (low or high):
        start, end = scale(low, high)
        for one in axes:
            getattr(one, f"set_{side}lim")(start, end)
            few_ticks(getattr(one, f"{side}axis"))
    else:
        for one in axes:
            zero_at_the_bottom(one)
    for number, one in enumerate(axes):
        if down:
            one.tick_params(labelleft=number == 0)


def log_axis(axes: Axes, *, across: bool = False) -> None:
    """Make the y axis, or the one ``across``, logarithmic; ticks are at 1, 2 and 5 times powers of ten if there are few of these."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    set_scale, axis = (axes.set_xscale, axes.xaxis) if across else (axes.set_yscale, axes.yaxis)
    set_scale("log", nonpositive="clip")
    low, high = axes.get_xlim() if across else axes.get_ylim()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < MOST_DECADES else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, place: number_tick(value)))
    axis.set_minor_formatter(NullFormatter())


def few_ticks(axis: Axis) -> None:
    """Give an axis few round ticks, all with equally many digits after the point."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    axis.set_major_locator(MaxNLocator(MOST_TICKS, steps=[1, 2, 2.5, 5, 10]))
    formatter = ScalarFormatter(useOffset=False)
    formatter.set_scientific(False)
    axis.set_major_formatter(formatter)


def scale(low: float, high: float) -> tuple[float, float]:
    """The ends of an axis for values from ``low`` to ``high``. It begins at 0, or at a round number if all are far above.

    >>> scale(0.2, 1.0), scale(0.91, 0.99), scale(0.0, 1.0)
    ((0.0, 1.05), (0.905, 0.994), (-0.05, 1.05))
    """
    margin = MARGIN * (high - low) or MARGIN * abs(high)
    if low <= 0:
        return low - margin, high + margin
    if low <= NEAR_ZERO * high or low == high:
        return 0.0, (1 + MARGIN) * high
    unit = 10 ** math.floor(math.log10(20 * margin)) / 2
    return round(math.floor((low - margin / 4) / unit) * unit, 12), round(high + margin, 12)
