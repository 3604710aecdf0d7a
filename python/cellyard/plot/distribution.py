"""Figure of a distribution: the share of values up to each value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from cellyard.plot.axes import log_axis
from cellyard.plot.drawing import COLOURS, DASHES, Drawn, legend, panels
from cellyard.statistics.bounded import Value, ends_of
from cellyard.system.errors import UsageError

#: Ratio of the ends of the values from which their axis is logarithmic.
RATIO = 20


def distribution(
    values: Mapping[str, Sequence[Value]], *, across: str, title: str, note: str, width: float | None = None
) -> Drawn:
    """A line for each label: the share of its ``values`` that are at most so large.

    If only bounds of some values are known, a band reaches from the least possible share to the
    largest. ``across`` is the label of the axis of values. Raises `UsageError` for too many lines.
    """
    if len(values) > len(COLOURS):
        raise UsageError(f"{len(values)} distributions are more than {len(COLOURS)}: choose fewer with --where")
    figure, (place,) = panels(1, width=width or 5.2, height=3.2)
    largest = max(
        end for of_label in values.values() for value in of_label for end in ends_of(value) if math.isfinite(end)
    )
    least = min((ends_of(value)[1] for of_label in values.values() for value in of_label), default=largest)
    for at, (label, of_label) in enumerate(values.items()):
        # Up to the lower and the upper bound of each value.
        most, fewest = (np.sort([ends_of(value)[end] for value in of_label]) for end in (0, 1))
        steps = np.unique(np.concatenate([most, fewest[np.isfinite(fewest)], [largest]]))
        low, high = (np.searchsorted(ends, steps, side="right") / len(of_label) for ends in (fewest, most))
        colour, dash = COLOURS[at], DASHES[at % len(DASHES)]
        place.plot([0, *steps], [0, *low], drawstyle="steps-post", label=label, color=colour, linestyle=dash)
        if not np.array_equal(low, high):
            place.fill_between(steps, low, high, step="post", color=colour, alpha=0.2, linewidth=0)
    place.set_xlabel(across)
    place.set_ylabel("share of files")
    place.set_ylim(0, 1.02)
    if least > 0 and largest / least >= RATIO:
        place.set_xlim(left=least)
        log_axis(place, across=True)
    else:
        place.set_xlim(left=0)
    if len(values) > 1:
        legend(figure, place.lines, loc="outside upper left", ncols=len(values))
    return Drawn("distribution", title, "", figure, note)
