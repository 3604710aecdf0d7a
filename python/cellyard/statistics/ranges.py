"""Describes one number over many runs: its centre, its range, and how likely a further run is to lie inside.

If only bounds of some values are known (`cellyard.statistics.bounded`), so it is of what they decide.
"""

import math
import statistics
from collections.abc import Sequence

from cellyard.statistics.bounded import lifted

#: A number, or ``None`` if it is undefined.
Number = int | float | None


def median(values: Sequence[float]) -> float | None:
    """Median; ``None`` without values.

    >>> median([3.0, 1.0, 2.0]), median([0.0, 1.0])
    (2.0, 0.5)
    >>> from cellyard.statistics.bounded import Bounded
    >>> late = Bounded(0.3, math.inf)
    >>> median([0.1, 0.2, late]), str(median([0.1, late])), str(interval([0.1, late])[1])
    (0.2, '> 0.2', '> 0.3')
    """
    return lifted(statistics.median)(values) if values else None


def whole_count(value: float | None, *, is_count: bool) -> float | int | None:
    """The centre of counts as an ``int`` if it is whole; any other value unchanged.

    >>> whole_count(3.0, is_count=True), whole_count(3.5, is_count=True), whole_count(1.0, is_count=False)
    (3, 3.5, 1.0)
    """
    return int(value) if is_count and isinstance(value, float) and value.is_integer() else value


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; ``None`` without values.

    >>> mean([3.0, 1.0, 2.0])
    2.0
    """
    return lifted(math.fsum)(values) / len(values) if values else None


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Range between the values whose ranks are nearest to the 5 % and the 95 % quantile; ``None`` without values.

    Both ends are values of runs: between two modes there are no others. Of up to 10 values they are
    the smallest and the largest.

    >>> interval([float(i) for i in range(101)]), interval([3.0, 1.0, 2.0]), interval([0.01] * 18 + [3.0] * 2)
    ((5.0, 95.0), (1.0, 3.0), (0.01, 3.0))
    """
    left_out = _left_out(len(values))
    return (_ranked(values, left_out), _ranked(values, -1 - left_out)) if values else None


def _ranked(values: Sequence[float], rank: int) -> float:
    """The value of a rank, counted from 0 or from -1 downwards."""
    return lifted(lambda ends: sorted(ends)[rank])(values)  # type: ignore[no-any-return]


def _left_out(runs: int) -> int:
    """Number of values beyond each end of the range, of ``runs``: 0.05 (runs - 1), rounded."""
    return (runs + 9) // 20


def has_quantiles(runs: int) -> bool:
    """Whether the range of this many runs leaves out any. At most 10 runs reveal little about the tails."""
    return _left_out(runs) > 0


def share_inside(runs: int) -> float:
    """Probability that one more value lies inside the `interval` of this many runs, under any continuous law.

    The value has each rank among the others with probability 1 / (n + 1).

    >>> [round(share_inside(n), 3) for n in (4, 20, 100)]
    [0.6, 0.81, 0.881]
    """
    return (runs - 1 - 2 * _left_out(runs)) / (runs + 1)
