"""Heat maps with a number in every cell. Nothing is simulated. Needs the extra ``plot`` (matplotlib)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from cellyard.plot.drawing import as_written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A sequential colour map that is also distinct in grey and for the colour-blind (Nunez et al., 2018).
MAP = "cividis"
#: Luminance of a cell from which its number is black.
BRIGHT = 0.45

#: A number in a cell; ``None`` if there is none.
Cells = Sequence[Sequence[float | None]]


def heat(
    axes: Axes,
    values: Cells,
    texts: Sequence[Sequence[str]],
    *,
    columns: Sequence[str],
    rows: Sequence[str],
    ends: tuple[float, float] | None = None,
    best: Collection[tuple[int, int]] = (),
    low_is_good: bool = False,
    ratio: bool = False,
    size: str | float = "small",
    colours: str = MAP,
) -> Any:
    """Draw a cell for each value, with its text. Bright is good: high, or with ``low_is_good`` low, in a map of ``colours``.

    ``ends`` are the values of the darkest and the brightest colour, by default of all values; with
    ``ratio``, colours are logarithmic. Cells in ``best``, as row and column, have a frame and bold
    text. Returns the image.
    """
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.patches import Rectangle

    found = [value for line in values for value in line if value is not None]
    low, high = ends or ((min(found), max(found)) if found else (0.0, 1.0))
    if ratio:
        above = [value for value in found if value > 0]
        low = max(low, min(above, default=1.0))
    high = high if high > low else low + 1
    norm = (LogNorm if ratio else Normalize)(low, high, clip=True)
    shown = [[math.nan if value is None else value for value in line] for line in values]
    image = axes.imshow(shown, cmap=colours + "_r" * low_is_good, norm=norm, aspect="auto")
    for i, (line, labels) in enumerate(zip(values, texts, strict=True)):
        for j, (value, text) in enumerate(zip(line, labels, strict=True)):
            if value is None:
                axes.text(j, i, text, ha="center", va="center", fontsize=size, color="#777777", parse_math=False)
                continue
            red, green, blue, _ = image.cmap(norm(value))
            colour = "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > BRIGHT else "white"
            look: Any = {"weight": "bold"} if (i, j) in best else {}
            axes.text(j, i, text, ha="center", va="center", fontsize=size, color=colour, parse_math=False, **look)
    for i, j in best:
        axes.add_patch(
            Rectangle((j - 0.47, i - 0.47), 0.94, 0.94, fill=False, edgecolor="#D55E00", linewidth=1.8, zorder=4)
        )
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set_yticks(range(len(rows)), list(rows))
    as_written([*axes.get_xticklabels(), *axes.get_yticklabels()])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return image


def divide(axes: Axes, *, after_rows: Collection[int] = (), after_columns: Collection[int] = ()) -> None:
    """Draw white lines after some rows and columns of a heat map, so that groups of cells stand apart."""
    for row in after_rows:
        axes.axhline(row + 0.5, color="white", linewidth=3, label="_")
    for column in after_columns:
        axes.axvline(column + 0.5, color="white", linewidth=3, label="_")
