"""The style of all figures; `cellyard.plot.series` draws series over time, and `cellyard.plot.rows` rows. Nothing is simulated.

Needs matplotlib.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

from cellyard.plot.alt import START, described
from cellyard.results import Series
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

#: Colours that are distinct in print and for the colour-blind (Okabe and Ito, 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: Metadata by file format: without the date, so that files are reproducible, and the keys of the
#: alternative text.
DATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
TEXT_KEYS = {"pdf": "Subject", "svg": "Description", "png": "Description"}

#: Line styles for the first, second and third use of the colours.
DASHES = ("-", "--", ":")

#: Label of published values next to simulated ones.
PUBLISHED = "published"

#: Limit on panels of a figure that is still legible on a page.
MOST_PANELS = 9
#: Limits: panels side by side, and the size of a figure in inches. At 160 dots an inch, no backend
#: draws larger ones.
MOST_SIDE_BY_SIDE, MOST_INCHES = 100, 400

#: Title and note of a figure: size in points, and width of a character relative to it.
TITLE, NOTE = (10.0, 0.61), (7.5, 0.53)
#: Height of their lines relative to the size, and the space around each in inches.
LINE_HEIGHT, STRIP = 1.25, 0.12

#: Suffixes of files that a figure can be written to.
KINDS = (".png", ".svg", ".pdf")

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
    """A figure with a caption. In the file stand ``note``, such as "20 runs per point", and ``message``, by default the title."""

    name: str
    title: str
    text: str
    figure: Figure
    note: str = ""
    message: str = ""

    def __post_init__(self) -> None:
        say_starts(self.figure)
        fit(self.figure)
        frame(self.figure, self.message or self.title, self.note)

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
    figure = empty(*sizes(width, height))
    axes = figure.subplots(1, _count("number", number), squeeze=False)
    return figure, list(axes[0])


def panels_grid(
    down: int, across: int, *, width: float, height: float, dense: bool = False
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with a grid of panels; sizes and errors as for `panels`. A dense one has its size on paper in every style."""
    size = _inches("width", width), _inches("height", height)
    figure = empty(*(size if dense else sizes(width, height)))
    axes = figure.subplots(_count("down", down), _count("across", across), squeeze=False)
    return figure, [list(line) for line in axes]


def _count(name: str, value: object) -> int:
    """A number of panels; raises `UsageError` if it is invalid."""
    found = whole(name, value, most=MOST_SIDE_BY_SIDE)
    if found is None:
        raise UsageError(f"{name} = None: must be a whole number from 1 to {MOST_SIDE_BY_SIDE}")
    return found


def sizes(width: object, height: object) -> tuple[float, float]:
    """Width and height in the chosen style."""
    size = _chosen.get().size
    return _inches("width", width) * size, _inches("height", height) * size


def _inches(name: str, value: object) -> float:
    """A size of a figure; raises `UsageError` if it is invalid."""
    size = as_python(value)
    if isinstance(size, bool) or not isinstance(size, (int, float)) or not 0 < size <= MOST_INCHES:
        raise UsageError(f"{name} = {shown(value)}: must be a number of inches above 0, at most {MOST_INCHES}")
    return float(size)


def can_save(path: Path) -> None:
    """Raise `UsageError` unless a figure can be written to ``path``."""
    with style():  # which says so if matplotlib is missing
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


def frame(figure: Figure, title: str, note: str = "") -> None:
    """Write a title above all panels and legends, and a note below them; the figure grows by their height.

    A file is often shown without its page, so it has to say itself what it shows and of what.
    """
    width, height = figure.get_size_inches()
    above, top = _strip(title, *TITLE, width)
    below, bottom = _strip(note, *NOTE, width)
    tall = height + top + bottom
    figure.set_size_inches(width, tall)
    # Panels and legends share what is between the two. A legend outside the panels stands at its upper edge.
    legends = [one for one in figure.legends if getattr(one, "_outside_loc", None)]
    of_legends = max((one.get_window_extent().height / figure.dpi + 0.06 for one in legends), default=0.0)
    engine: Any = figure.get_layout_engine()
    if engine is not None:
        engine.set(rect=(0, bottom / tall, 1, 1 - (top + of_legends + bottom) / tall))
    for one in legends:
        one.set_bbox_to_anchor((0, 0, 1, 1 - top / tall), transform=figure.transFigure)
    look: Any = {"ha": "left", "parse_math": False, "x": 0.06 / width}
    more: Any
    for y, text, more in (
        (1 - STRIP / 2 / tall, above, {"va": "top", "fontsize": TITLE[0], "weight": "bold", "color": "#222222"}),
        (STRIP / 2 / tall, below, {"va": "bottom", "fontsize": NOTE[0], "color": "#555555"}),
    ):
        if text:
            figure.text(y=y, s=text, **look, **more)


def _strip(text: str, points: float, character: float, width: float) -> tuple[str, float]:
    """A text in lines that fit a figure of this width, and their height; both in inches."""
    most = max(int(72 * width / (points * character)), 10)
    lines = [part for line in printable(text).split("\n") for part in wrap(line, most, break_on_hyphens=False)]
    return "\n".join(lines), points * LINE_HEIGHT * len(lines) / 72 + STRIP if lines else 0.0


def as_written(texts: Iterable[Text]) -> None:
    """Make matplotlib show texts of a figure literally, so that ``$`` begins no formula."""
    for text in texts:
        text.set_parse_math(False)


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
