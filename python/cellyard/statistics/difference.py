"""Mean differences with their confidence intervals and verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from cellyard.statistics.student import CONFIDENCE, student_quantile

#: Fewest replications that can be significant. With five, all differences have equal signs with
#: probability 1/16.
FEWEST = 6


class Difference(NamedTuple):
    """A mean difference with its confidence interval (`CONFIDENCE`). Both ends are ``None`` without an interval."""

    mean: float
    low: float | None = None
    high: float | None = None

    @property
    def sign(self) -> int:
        """Returns 1 or -1 where the interval excludes 0, else 0."""
        if self.low is None or self.high is None:
            return 0
        return (self.low > 0) - (self.high < 0)

    @property
    def verdict(self) -> str:
        """What the replications show about the difference.

        >>> [Difference(*ends).verdict for ends in ((0.2, 0.1, 0.3), (0.2, -0.1, 0.5), (0.2,))]
        ['separated', 'not separated', 'not known']
        """
        if self.low is None:
            return "not known"
        return "separated" if self.sign else "not separated"

    def __format__(self, form: str) -> str:
        """The mean with its interval, each number in this format.

        >>> f"{Difference(-0.25, -0.5, 0.0)}", f"{Difference(0.0125):.3f}"
        ('-0.25 [-0.50, +0.00]', '+0.013')
        """
        parts = [f"{number:+{form or '.2f'}}" for number in self if number is not None]
        return parts[0] + (f" [{', '.join(parts[1:])}]" if len(parts) > 1 else "")


def from_values(values: Sequence[float], comparisons: int = 1) -> Difference:
    """Mean and interval of independent values. The interval holds for ``comparisons`` jointly (Bonferroni).

    The interval is Student's: mean +- t s / sqrt(n). Fewer than `FEWEST` values have no interval.
    Equal values other than 0 have none either, since a spread of zero says nothing about further
    values. The exception is so many equal signs that they are significant alone.

    >>> f"{from_values([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])}", f"{from_values([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], comparisons=10)}"
    ('+2.00 [+1.06, +2.94]', '+2.00 [+0.26, +3.74]')
    >>> from_values([1.0, 2.0, 3.0]), from_values([0.5] * 6), from_values([0.5] * 6, comparisons=2)
    (Difference(mean=2.0, low=None, high=None), Difference(mean=0.5, low=0.5, high=0.5), Difference(mean=0.5, low=None, high=None))
    """
    mean, alpha = fmean(values), (1 - CONFIDENCE) / comparisons
    if len(values) < FEWEST:
        return Difference(mean)
    # Treat the rounding error of a zero difference as zero.
    spread = round(stdev(values), 12)
    if not spread:
        mean = round(mean, 12)
        return Difference(mean) if mean and 2.0 ** (1 - len(values)) > alpha else Difference(mean, mean, mean)
    half = student_quantile(1 - alpha / 2, len(values) - 1) * spread / math.sqrt(len(values))
    return Difference(mean, mean - half, mean + half)
