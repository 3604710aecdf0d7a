"""Figures of series over time. Nothing is simulated. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from cellyard.plot.drawing import (
    COLOURS,
    DASHES,
    MOST_PANELS,
    as_written,
    legend,
    say_starts,
    sizes,
    style,
    zero_at_the_bottom,
)
from cellyard.results import DroppedCell, Series
from cellyard.show.figure import empty
from cellyard.system.errors import UsageError
from cellyard.system.terminal import printable
from cellyard.system.values import as_python, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Part = TypeVar("Part", Series, DroppedCell)

#: First and last second shown.
Window: TypeAlias = tuple[float | None, float | None]

#: Limit on named lines of a panel.
MOST_LABELS = 12
#: Quantities recorded at ports. All others belong to a VC.
PORTS = frozenset({"queue", "drops", "link-share", "credit", "average-queue"})
#: Sums over intervals, which are stamped with the interval's end. All other values hold from their
#: time on.
WHERE: Mapping[str, Literal["pre"]] = {"goodput": "pre", "link-share": "pre", "drops": "pre"}
#: Quantities drawn in the panel of another quantity, if that was recorded too.
JOINED = {"acknowledged": "sequence"}

#: Format of numbers on an axis, with all their digits.
TICKS = "{x:.10g}"
#: Units of a time axis, with their number per second.
TIMES = ((1, "s"), (1_000, "ms"), (1_000_000, "us"))


def over_time(
    series: Sequence[Series] | Mapping[str, Sequence[Series]],
    *,
    trace: Sequence[DroppedCell] = (),
    window: Window = (None, None),
) -> Figure:
    """One panel per kind of series, from top to bottom over a shared time axis, with a line for each VC, port or class.

    Acknowledged bytes are drawn among the segments if both were recorded: a time-sequence diagram.
    An envelope is a line for the mean, in a band from the least to the greatest value.

    A VC has one colour in all panels, different from that of a port in its panels. Lines of one
    colour in a panel differ in style. The figure has the look of `style`, wherever it is made.
    Among segments, a ring marks one that was retransmitted, and a cross one that lost a cell, as far
    as ``trace`` contains that. ``window`` is the first and last second shown, by default everything.

    Several runs are given by name, such as ``{"epd": first.series, "fba": second.series}``. Each has
    its own panels, with its name as title, and panels of one quantity share a scale.

    Raises `UsageError` without series, for several runs with more than `MOST_PANELS` panels, for
    invalid series, trace or window, and for a window that begins after the last value.
    """
    named = series if isinstance(series, Mapping) else {"": series}
    runs = {name: _all("series", one, Series) for name, one in named.items()}
    trace, window = _all("trace", trace, DroppedCell), _window(window)
    if not any(runs.values()):
        raise UsageError(
            'there are no series to draw: probes record them, such as cy.QueueProbe(of=..., interval="1 ms")'
        )
    with style():  # which says so if matplotlib is missing
        return _over_time(runs, trace, window)


def quantities(recorded: Iterable[str]) -> dict[str, str]:
    """The quantity whose panel shows each recorded one."""
    found = set(recorded)
    return {what: onto if (onto := JOINED.get(what, what)) in found else what for what in found}


def _over_time(runs: Mapping[str, Sequence[Series]], trace: Sequence[DroppedCell], window: Window) -> Figure:
    series = [one for of_run in runs.values() for one in of_run]
    panel_of = quantities(one.what for one in series)

    def kind_of(one: Series) -> tuple[str, str]:
        return panel_of[one.what], one.unit

    kinds = dict.fromkeys(map(kind_of, series))
    whose = dict.fromkeys((_of_vc(one), _whose(one)) for one in series)
    ports = [key for key in whose if not key[0]]
    # VCs and ports are counted separately, unless a panel shows both.
    both = any(len({_of_vc(one) for one in series if one.what == what}) > 1 for what, _ in kinds)
    numbers = {key: number for number, key in enumerate(ports)}
    numbers |= {key: number for number, key in enumerate((key for key in whose if key[0]), len(ports) if both else 0)}
    end = max((float(one.time_s[-1]) for one in series if len(one.time_s)), default=0.0)
    first, last = window
    if (first is not None and first > end) or (last is not None and last <= 0):
        raise UsageError(f"window = {shown(window)}: contains no value, as the series are from 0 to {end:g} s")
    parts = {
        kind: {name: own for name, of_run in runs.items() if (own := [one for one in of_run if kind_of(one) == kind])}
        for kind in kinds
    }
    several = len(runs) > 1
    down = sum(map(len, parts.values()))
    if several and down > MOST_PANELS:
        raise UsageError(f"{len(runs)} runs have {down} panels: a figure has at most {MOST_PANELS}")
    figure = empty(*sizes(7.2, 0.6 + (1.5 if several else 2.0) * down))
    panels: list[Axes] = list(figure.subplots(down, 1, sharex=True, squeeze=False)[:, 0])
    places = iter(panels)
    for (what, unit), of_runs in parts.items():
        alike = list(islice(places, len(of_runs)))
        for axes, (name, own) in zip(alike, of_runs.items(), strict=True):
            _panel(axes, own, trace, window, what=what, numbers=numbers, end=end)
            axes.set_ylabel(f"{what} [{unit}]")
            as_written([axes.set_title(printable(name), loc="left")])
        _share_scale(alike)
        if len(alike[0].lines) <= MOST_LABELS:
            # Put the legend above the panel, where no line is.
            columns = min(5, len(alike[0].lines))
            legend(alike[0], loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.1, ncols=columns)
    panels[-1].set_xlim(left=first, right=last)
    _label_times(panels[-1])
    say_starts(figure)
    return figure


def _panel(
    axes: Axes,
    series: Sequence[Series],
    trace: Sequence[DroppedCell],
    window: Window,
    *,
    what: str,
    numbers: Mapping[tuple[bool, tuple[str, str | None]], int],
    end: float,
) -> None:
    """Draw the series of a quantity of one run. ``numbers`` choose colours, and states hold until ``end``."""
    from matplotlib.ticker import StrMethodFormatter

    looks = set[tuple[str, str]]()
    for one, ends in _with_bands(series):
        number = numbers[_of_vc(one), _whose(one)]
        colour = COLOURS[number % len(COLOURS)]
        statistic = None if ends else one.statistic
        label = " ".join(part for part in (one.of, one.service_class, one.vc, statistic) if part)
        if one.what != what:
            label = f"{label} {one.what}"
        if one.what == "sequence":
            _segments(axes, one, trace, window, label=label, colour=colour)
        elif one.what == "rtt":
            inside = _inside(one, window)
            axes.plot(one.time_s[inside], one.value[inside], ".", label=label, color=colour, markersize=3)
        else:
            dashes = DASHES[number // len(COLOURS) % len(DASHES)]
            dashes = next((free for free in (dashes, *DASHES) if (colour, free) not in looks), dashes)
            looks.add((colour, dashes))
            time, value = _shown(*_whole(one, end), window)
            # Lines with fewer points lie higher, since one that changes with every cell would
            # hide the others.
            above = 2 + 1 / (1 + len(time))
            look: Any = {"color": colour, "linestyle": dashes, "zorder": above}
            axes.step(time, value, where=_where(one), label=label, **look)
            if ends:
                (time, least), (_, greatest) = (_shown(*_whole(part, end), window) for part in ends)
                axes.fill_between(time, least, greatest, step="pre", color=colour, alpha=0.25, linewidth=0)
    axes.yaxis.set_major_formatter(StrMethodFormatter(TICKS))
    zero_at_the_bottom(axes)
    axes.margins(x=0)


def _share_scale(panels: Sequence[Axes]) -> None:
    """Give panels the y axis that holds the values of all."""
    ends = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


def _label_times(axes: Axes) -> None:
    """Label a time axis, in milliseconds or microseconds if it is short: a port at 100 Gb/s sends 236 cells in one microsecond."""
    from matplotlib.ticker import FuncFormatter

    first, last = axes.get_xlim()
    scale, unit = next((one for one in TIMES if (last - first) * one[0] >= 0.5), TIMES[-1])
    axes.set_xlabel(f"time [{unit}]")
    axes.xaxis.set_major_formatter(FuncFormatter(partial(_scaled, scale)))


def _scaled(scale: int, value: float, place: int | None) -> str:
    return TICKS.format(x=value * scale)


def _whose(one: Series) -> tuple[str, str | None]:
    """Owner of a colour: a VC, for any quantity, or a class of a port."""
    return (one.vc, None) if one.vc else (one.of, one.service_class)


def _of_vc(one: Series) -> bool:
    return bool(one.vc) or one.what not in PORTS


def _where(one: Series) -> Literal["pre", "post"]:
    """The side of a point on which its value holds."""
    return "pre" if one.statistic else WHERE.get(one.what, "post")


def _with_bands(series: Sequence[Series]) -> Iterator[tuple[Series, tuple[Series, Series] | None]]:
    """Yield each line to draw. The mean of an envelope comes with its least and greatest values if all three exist."""
    envelopes: dict[Any, dict[str, Series]] = {}
    for one in series:
        if one.statistic:
            envelopes.setdefault(_envelope(one), {})[one.statistic] = one
    for one in series:
        parts = envelopes.get(_envelope(one), {})
        if not one.statistic or len(parts) < 3:
            yield one, None
        elif one.statistic == "mean":
            yield one, (parts["min"], parts["max"])


def _envelope(one: Series) -> tuple[object, ...]:
    """Return what the three series of an envelope have in common."""
    return one.what, one.of, one.service_class, one.vc, len(one.time_s)


def _whole(one: Series, end: float) -> tuple[Any, Any]:
    """Times and values over the whole time.

    Sums over intervals begin at the start of the first interval, which would otherwise be a spike
    at its end. A state holds until ``end``.
    """
    import numpy as np

    time, value = one.time_s, one.value
    if not len(time):
        return time, value
    if _where(one) == "post":
        return (np.append(time, end), np.append(value, value[-1])) if time[-1] < end else (time, value)
    interval = time[1] - time[0] if len(time) > 1 else time[0]
    return np.append(max(float(time[0] - interval), 0.0), time), np.append(value[0], value)


def _shown(time: Any, value: Any, window: Window) -> tuple[Any, Any]:
    """Points in the window and the next on either side, so that lines reach its edges."""
    import numpy as np

    first, last = window
    begin = 0 if first is None else max(int(np.searchsorted(time, first, side="right")) - 1, 0)
    end = len(time) if last is None else int(np.searchsorted(time, last)) + 1
    return time[begin:end], value[begin:end]


def _inside(one: Series, window: Window) -> Any:
    """Whether each point lies in the window."""
    first, last = window
    return (one.time_s >= (0 if first is None else first)) & (one.time_s <= (inf if last is None else last))


def _segments(
    axes: Axes,
    one: Series,
    trace: Sequence[DroppedCell],
    window: Window,
    *,
    label: str,
    colour: str,
) -> None:
    """Segments as dots at their sending times, with marks for those sent again and those that lost a cell."""
    import numpy as np

    highest = np.maximum.accumulate(one.value) if len(one.value) else one.value
    again = np.zeros(len(one.value), bool)
    again[1:] = one.value[1:] <= highest[:-1]
    # Segments are the frames of their VC in the order of sending.
    lost = np.zeros(len(one.value), bool)
    lost[
        sorted(
            {cell.frame for cell in trace if cell.vc == one.of and cell.direction == "data" and cell.frame < len(lost)}
        )
    ] = True
    inside = _inside(one, window)
    axes.plot(one.time_s[inside], one.value[inside], ".", label=label, color=colour, markersize=2)
    for chosen, marker, size, text in ((again, "o", 5.5, "sent again"), (lost, "x", 5.0, "lost")):
        if (chosen & inside).any():
            named = f"{label} {text}"
            axes.plot(
                one.time_s[chosen & inside], one.value[chosen & inside], linestyle="", marker=marker, markersize=size,
                fillstyle="none", markeredgewidth=0.9, color="#111111" if marker == "x" else colour, label=named,
            )  # fmt: skip


def _all(name: str, given: object, kind: type[Part]) -> Sequence[Part]:
    """``given`` as a sequence of this kind; raises `UsageError` for anything else."""
    items = list(given) if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)) else None
    if items is None or not all(isinstance(item, kind) for item in items):
        raise UsageError(f"{name} = {shown(given)}: must be the {name} of a run, as result.{name} is")
    return items


def _window(given: object) -> Window:
    """The first and last second; raises `UsageError` for anything that is not a time window."""
    made = as_python(given)
    if isinstance(made, (tuple, list)) and len(made) == 2:
        ends = [end for end in map(as_python, made) if end is not None]
        real = all(isinstance(end, (int, float)) and not isinstance(end, bool) and isfinite(end) for end in ends)
        if real and (len(ends) < 2 or ends[0] < ends[1]):
            first, last = made
            return first, last
    raise UsageError(f"window = {shown(given)}: must be the first and the last second shown, or None for either")
