"""Figures that display themselves in notebooks, with any settings of matplotlib."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def empty(width: float, height: float) -> Figure:
    """An empty figure of this size in inches."""
    return _figure_class()(figsize=(width, height))


@cache
def _figure_class() -> type[Figure]:
    """The class of figures. Created on demand, so that matplotlib is imported by the first figure only."""
    from matplotlib.figure import Figure

    class Shown(Figure):
        """A figure that a notebook shows as a picture, without pyplot or a backend."""

        def _repr_png_(self) -> bytes:
            picture = BytesIO()
            self.savefig(picture, format="png")
            return picture.getvalue()

    return Shown
