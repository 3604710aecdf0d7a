"""The style of all figures, and figures of series over time; `cellyard.plot.rows` draws rows. Nothing is simulated.

Needs matplotlib.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from cellyard.plot.alt import START, described
from cellyard.results import DroppedCell, Series
from cellyard.show.figure import empty
from cellyard.show.notebook import picture_html
from cellyard.system.errors import UsageError, unknown
from cellyard.system.limits import whole
from cellyard.system.terminal import printable
from cellyard.system.values import as_python, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

Part = TypeVar("Part", Series, DroppedCell)

#: First and last second shown.
Window: TypeAlias = tuple[float | None, float | None]

#: Colours that are distinct in print and for the colour-blind (Okabe and Ito, 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: Metadata by file format: without the date, so that files are reproducible, and the keys of the
#: alternative text.
DATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
TEXT_KEYS = {"pdf": "Subject", "svg": "Description", "png": "Description"}

#: Line styles for the first, second and third use of the colours.
DASHES = ("-", "--", ":")

#: Label of published values beside simulated ones.
PUBLISHED = "published"

#: Limit on runs that lie over each other, so that each has a colour of its own.
MOST_OVERLAID = len(COLOURS)
#: Limit on panels of a figure that is still legible on a page.
MOST_PANELS = 9
#: Limits: panels side by side, and the size of a figure in inches. At 160 dots an inch, no backend
#: draws larger ones.
MOST_SIDE_BY_SIDE, MOST_INCHES = 100, 400

#: Limit on named lines of a panel.
MOST_LABELS = 12
#: Quantities recorded at ports. All others belong to a VC.
PORTS = frozenset({"queue", "drops", "link-share", "credit", "average-queue"})
#: Sums over intervals, which are stamped with the interval's end. All other values hold from their
#: time on.
WHERE: Mapping[str, Literal["pre"]] = {"goodput": "pre", "link-share": "pre", "drops": "pre"}
#: Quantities drawn in the panel of another quantity, if that was recorded too.
JOINED = {"acknowledged": "sequence"}

#: Suffixes of files that a figure can be written to.
KINDS = (".png", ".svg", ".pdf")

#: Format of numbers on an axis, with all their digits.
TICKS = "{x:,.10g}"
#: Units of a time axis, with their number per second.
TIMES = ((1, "s"), (1_000, "ms"), (1_000_000, "us"))

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
    "legend.fontsize": "small",
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "pdf.fonttype": 42,
    "svg.hashsalt": "cellyard",
    "xtick.color": "#555555",
    "xtick.labelsize": "small",
    "ytick.color": "#555555",
    "ytick.labelsize": "small",
}


@dataclass(frozen=True)
class Style:
    """What a figure is for.

    Type has the same size in all styles: 10 points in titles, 9 in labels of axes, 7.5 in ticks,
    legends and cells. ``size`` is the size of the figure relative to that on paper, so on a slide,
    where a figure is shown larger, type is larger too. ``dpi`` is the resolution of PNG files.
    """

    size: float
    dpi: int


#: The styles by name: for two columns of a paper, 7.2 inches wide, and for a slide.
STYLES: Mapping[str, Style] = {"paper": Style(1.0, 200), "slide": Style(0.75, 356)}
_chosen: ContextVar[Style] = ContextVar("style", default=STYLES["paper"])


@dataclass(frozen=True)
class Drawn:
    """A figure with a caption."""

    name: str
    title: str
    text: str
    figure: Figure

    def __post_init__(self) -> None:
        say_starts(self.figure)
        fit(self.figure)

    @property
    def alt(self) -> str:
        """The alternative text: the title, and what the panels show."""
        return f"{self.title}. {described(self.figure)}"

    def _repr_html_(self) -> str:
        """Show the picture with its title and caption."""
        return picture_html(self.title, saved(self, "png"), self.alt, self.text)


#: Draws a figure.
Drawing: TypeAlias = Callable[[], Drawn]


@contextmanager
def style(name: str = "paper") -> Iterator[None]:
    """The style of all figures, one of `STYLES`; raises `UsageError` for another, and when matplotlib is missing."""
    if name not in STYLES:
        raise unknown("style", name, STYLES)
    try:
        with _quietly():
            import matplotlib as mpl
    except ImportError:
        raise UsageError("figures need matplotlib: pip install matplotlib") from None
    before = _chosen.set(STYLES[name])
    try:
        with mpl.rc_context(_STYLE):
            yield
    finally:
        _chosen.reset(before)


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress warnings of matplotlib. Without a cache, as in a read-only home, it still draws."""
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def panels(number: int, *, width: float = 7.2, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, ``width`` and ``height`` in inches on paper.

    Raises `UsageError` for an invalid number of panels or size.
    """
    figure = empty(*_sizes(width, height))
    axes = figure.subplots(1, _count("number", number), squeeze=False)
    return figure, list(axes[0])


def panels_grid(
    down: int, across: int, *, width: float, height: float, dense: bool = False
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with a grid of panels; sizes and errors as for `panels`. A dense one has its size on paper in every style."""
    size = _inches("width", width), _inches("height", height)
    figure = empty(*(size if dense else _sizes(width, height)))
    axes = figure.subplots(_count("down", down), _count("across", across), squeeze=False)
    return figure, [list(line) for line in axes]


def _count(name: str, value: object) -> int:
    """A number of panels; raises `UsageError` if it is invalid."""
    found = whole(name, value, most=MOST_SIDE_BY_SIDE)
    if found is None:
        raise UsageError(f"{name} = None: must be a whole number from 1 to {MOST_SIDE_BY_SIDE}")
    return found


def _sizes(width: object, height: object) -> tuple[float, float]:
    """Width and height in the chosen style."""
    size = _chosen.get().size
    return _inches("width", width) * size, _inches("height", height) * size


def _inches(name: str, value: object) -> float:
    """A size of a figure; raises `UsageError` if it is invalid."""
    size = as_python(value)
    if isinstance(size, bool) or not isinstance(size, (int, float)) or not 0 < size <= MOST_INCHES:
        raise UsageError(f"{name} = {shown(value)}: must be a number of inches above 0, at most {MOST_INCHES}")
    return float(size)


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


def can_save(path: Path) -> None:
    """Raise `UsageError` unless a figure can be written to ``path``."""
    with style():  # which says so where matplotlib is missing
        pass
    if path.suffix.lower() not in KINDS:
        raise UsageError(f"{path}: not a kind of figure; its name must end in one of: {', '.join(KINDS)}")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")


def saved(shown: Figure | Drawn, kind: str, **options: Any) -> bytes:
    """A figure as a reproducible file of this kind ("png"); ``options`` are those of ``savefig``.

    The file has an alternative text in its metadata, and the title of a `Drawn`.
    """
    figure = shown.figure if isinstance(shown, Drawn) else shown
    kind = kind.lower()
    metadata: dict[str, Any] = dict(DATED.get(kind, {}))
    if isinstance(shown, Drawn):
        metadata["Title"] = printable(shown.title)
    if kind in TEXT_KEYS:
        metadata[TEXT_KEYS[kind]] = shown.alt if isinstance(shown, Drawn) else described(figure)
    if kind == "png":
        options.setdefault("dpi", _chosen.get().dpi)
    content = BytesIO()
    figure.savefig(content, format=kind, metadata=metadata, **options)
    return content.getvalue()


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

    Several runs lie over each other if ``series`` has the series of each by a name, such as
    ``{"epd": first.series, "fba": second.series}``. The names stand before those of VCs and ports.

    Raises `UsageError` without series, for more than `MOST_OVERLAID` runs, for invalid series, trace
    or window, and for a window that begins after the last value.
    """
    if isinstance(series, Mapping):
        series = _overlaid(series)
    series, trace = _all("series", series, Series), _all("trace", trace, DroppedCell)
    window = _window(window)
    if not series:
        raise UsageError(
            'there are no series to draw: probes record them, such as cy.QueueProbe(of=..., interval="1 ms")'
        )
    with style():  # which says so where matplotlib is missing
        return _over_time(series, trace, window)


def _overlaid(runs: Mapping[str, Sequence[Series]]) -> list[Series]:
    """The series of several runs, each with the name of its run before its own."""
    if len(runs) > MOST_OVERLAID:
        raise UsageError(f"series of {len(runs)} runs: at most {MOST_OVERLAID} can lie over each other")
    return [
        replace(one, vc=f"{name}: {one.vc}") if one.vc else replace(one, of=f"{name}: {one.of}")
        for name, series in runs.items()
        for one in _all("series", series, Series)
    ]


def _over_time(series: Sequence[Series], trace: Sequence[DroppedCell], window: Window) -> Figure:
    from matplotlib.ticker import StrMethodFormatter

    recorded = {one.what for one in series}
    panel_of = {what: onto if onto in recorded else what for what, onto in JOINED.items()}
    kinds = list(dict.fromkeys((panel_of.get(one.what, one.what), one.unit) for one in series))
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
    figure = empty(*_sizes(7.2, 0.6 + 2.0 * len(kinds)))
    panels = figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (what, unit) in zip(panels, kinds, strict=True):
        chosen = [one for one in series if (panel_of.get(one.what, one.what), one.unit) == (what, unit)]
        looks = set[tuple[str, str]]()
        for one, ends in _with_bands(chosen):
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
        axes.set_ylabel(f"{what} [{unit}]")
        axes.yaxis.set_major_formatter(StrMethodFormatter(TICKS))
        zero_at_the_bottom(axes)
        axes.margins(x=0)
        if len(axes.lines) <= MOST_LABELS:
            # Put the legend above the panel, where no line is.
            columns = min(5, len(axes.lines))
            legend(axes, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.1, ncols=columns)
    panels[-1].set_xlim(left=first, right=last)
    _label_times(panels[-1])
    say_starts(figure)
    return figure


def _label_times(axes: Axes) -> None:
    """Label a time axis, in milliseconds or microseconds if it is short: a port at 100 Gb/s sends 236 cells in one microsecond."""
    from matplotlib.ticker import FuncFormatter

    first, last = axes.get_xlim()
    scale, unit = next((one for one in TIMES if (last - first) * one[0] >= 0.5), TIMES[-1])
    axes.set_xlabel(f"time [{unit}]")
    axes.xaxis.set_major_formatter(FuncFormatter(partial(_scaled, scale)))


def _scaled(scale: int, value: float, place: int | None) -> str:
    return TICKS.format(x=value * scale)


def legend(place: Axes | Figure, entries: Sequence[Line2D] | None = None, **options: Any) -> None:
    """A legend of ``entries``, by default of all lines of a panel, with their labels unchanged.

    By default, matplotlib omits labels that begin with ``_`` and typesets ``$`` as formulas.
    ``options`` are those of matplotlib. The legend has fewer than ``ncols`` columns if these exceed
    the width of the figure. For a legend outside the panels, the figure grows as needed.
    """
    handles: Any = getattr(place, "lines", ()) if entries is None else entries
    columns = max(min(int(options.pop("ncols", 1)), len(handles)), 1)
    made = _legend(place, handles, ncols=columns, **options)
    figure: Any = made.get_figure(root=True)
    extent, first = made.get_window_extent(), made.get_window_extent().height
    while columns > 1 and extent.width > figure.bbox.width:
        lines = -(-len(handles) // (columns - 1))
        columns = -(-len(handles) // lines)  # lines of about equal length
        made.remove()
        made = _legend(place, handles, ncols=columns, **options)
        extent = made.get_window_extent()
    if made.axes is None:
        width, height = figure.get_size_inches()
        wider = max(extent.width / figure.dpi, width)
        figure.set_size_inches(wider, height + (extent.height - first) / figure.dpi)


def groups_of(axes: Axes) -> list[Line2D]:
    """Entries of a legend for the groups of a panel that were drawn with ``errorbar``."""
    from matplotlib.lines import Line2D

    drawn: list[Any] = axes.containers
    looks = [(one.lines[0], one.get_label()) for one in drawn]
    return [
        Line2D(
            [], [], color=line.get_color(), marker=line.get_marker(), linestyle=line.get_linestyle(), markersize=4,
            markerfacecolor=line.get_markerfacecolor(), label=label,
        )
        for line, label in looks
    ]  # fmt: skip


def _legend(place: Axes | Figure, handles: Sequence[Any], **options: Any) -> Legend:
    names = [str(line.get_label()) for line in handles]
    made = place.legend(list(handles), [str(number) for number in range(len(names))], **options)
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_text(printable(name))
    as_written(made.get_texts())
    return made


def say_starts(figure: Figure) -> None:
    """Add to the label of each linear axis that begins above 0 where it begins. An axis of time needs no such note."""
    for panel in figure.axes:
        for axis, ends in ((panel.xaxis, panel.get_xlim()), (panel.yaxis, panel.get_ylim())):
            start, label = min(ends), axis.get_label_text()
            is_shown = panel.get_visible() and any(tick.label1.get_visible() for tick in axis.get_major_ticks())
            if start <= 0 or axis.get_scale() != "linear" or not is_shown or START in label or label.startswith("time"):
                continue
            axis.set_label_text(f"{label}\n({START} {start:.3g})".lstrip())


def fit(figure: Figure) -> None:
    """Enlarge a figure until all titles and labels fit their panels. Otherwise matplotlib lets them overlap or leave the figure."""
    panels = [axes for axes in figure.axes if axes.get_visible()]
    if not panels:
        return
    figure.draw_without_rendering()
    grids = [spec.get_gridspec() for axes in panels if (spec := axes.get_subplotspec())]
    across, down = max(grid.ncols for grid in grids), max(grid.nrows for grid in grids)
    wide = max(
        text.get_window_extent().width - axes.bbox.width for axes in panels for text in (axes.title, axes.xaxis.label)
    )
    high = max(axes.yaxis.label.get_window_extent().height - axes.bbox.height for axes in panels)
    width, height = figure.get_size_inches()
    width += max(across * wide / figure.dpi, 0)
    height += max(down * high / figure.dpi, 0)
    figure.set_size_inches(min(width, MOST_INCHES), min(height, MOST_INCHES))


def as_written(texts: Iterable[Text]) -> None:
    """Make matplotlib show texts of a figure literally, so that ``$`` begins no formula."""
    for text in texts:
        text.set_parse_math(False)


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


def zero_at_the_bottom(axes: Axes) -> None:
    """Draw values that are always 0 at the bottom. By default, matplotlib centres them on a scale of a few hundredths."""
    low, high = axes.dataLim.intervaly
    if low == high == 0 or low > high:  # without any point the ends are infinite
        axes.set_ylim(-0.05, 1.05)  # the margin of other panels, so that the line is not hidden by the axis


def lines(axes: Axes, series: Mapping[str, Series], *, scale: float = 1.0) -> None:
    """Values over time, one line per label."""
    for (label, one), colour in zip(series.items(), COLOURS, strict=False):
        axes.plot(one.time_s, one.value * scale, label=label, color=colour, drawstyle="steps-post")
    axes.set_xlabel("time [s]")
    axes.margins(x=0)


def level(axes: Axes, value: float, text: str) -> None:
    """A dashed horizontal line, named on the right of the panel, where no data is."""
    axes.axhline(value, color="#333333", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.annotate(
        text, (1, value), xycoords=("axes fraction", "data"), xytext=(3, 0), textcoords="offset points",
        ha="left", va="center", fontsize="small", color="#333333",
    )  # fmt: skip
