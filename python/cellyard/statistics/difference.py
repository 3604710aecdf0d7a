"""Mean differences with their confidence intervals and verdicts."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from cellyard.statistics.student import CONFIDENCE, log_probability_outside, student_quantile

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
        """Returns 1 or -1 if the interval excludes 0, else 0."""
        if self.low is None or self.high is None:
            return 0
        return (self.low > 0) - (self.high < 0)

    @property
    def verdict(self) -> str:
        """What the replications show about the difference.

        >>> [Difference(*ends).verdict for ends in ((0.2, 0.1, 0.3), (0.2, -0.1, 0.5), (0.2,))]
        ['significant', 'not significant', 'not decided']
        """
        if self.low is None:
            return "not decided"
        return "significant" if self.sign else "not significant"

    def __format__(self, form: str) -> str:
        """The mean with its interval, each number in this format.

        >>> f"{Difference(-0.25, -0.5, 0.0)}", f"{Difference(0.0125):.3f}"
        ('-0.25 [-0.50, +0.00]', '+0.013')
        """
        parts = [f"{number:+{form or '.2f'}}" for number in self if number is not None]
        return parts[0] + (f" [{', '.join(parts[1:])}]" if len(parts) > 1 else "")


def from_values(values: Sequence[float], comparisons: int = 1) -> Difference:
    """Mean and interval of independent values. The interval holds for ``comparisons`` jointly (Bonferroni).

    Fewer than `FEWEST` values have no interval; see `at_confidence` for more.

    >>> f"{from_values([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])}", f"{from_values([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], comparisons=10)}"
    ('+2.00 [+1.06, +2.94]', '+2.00 [+0.26, +3.74]')
    >>> from_values([1.0, 2.0, 3.0]), from_values([0.5] * 6), from_values([0.5] * 6, comparisons=2)
    (Difference(mean=2.0, low=None, high=None), Difference(mean=0.5, low=0.5, high=0.5), Difference(mean=0.5, low=None, high=None))
    """
    if len(values) < FEWEST:
        return Difference(fmean(values))
    return at_confidence(values, 1 - (1 - CONFIDENCE) / comparisons)


def at_confidence(values: Sequence[float], confidence: float) -> Difference:
    """Mean and interval of independent values. The interval is Student's: mean +- t s / sqrt(n).

    Equal values other than 0 have no interval, since a spread of zero says nothing about further
    values. The exception is so many that `log_no_difference` makes their equal signs significant.
    """
    mean = fmean(values)
    if len(values) < 2:
        return Difference(mean)
    spread = _spread(values)
    if not spread:
        mean = round(mean, 12)
        is_known = not mean or math.exp(log_no_difference(values)) < 1 - confidence
        return Difference(mean, mean, mean) if is_known else Difference(mean)
    half = student_quantile((1 + confidence) / 2, len(values) - 1) * spread / math.sqrt(len(values))
    return Difference(mean, mean - half, mean + half)


def log_no_difference(values: Sequence[float]) -> float:
    """Natural logarithm of the two-sided p-value of Student's test that the mean of the values is 0.

    Student's test does not apply to equal values. Their p-value is the probability that n signs are
    equal by chance, 2^(1 - n). It is 1 for equal values of 0, for fewer than `FEWEST` equal values,
    and for fewer than two values.

    >>> samples = ([1.0, 2.0, 3.0], [1.0], [1.0] * 5, [1.0] * 6, [0.0] * 6)
    >>> [round(math.exp(log_no_difference(values)), 4) for values in samples]
    [0.0742, 1.0, 1.0, 0.0312, 1.0]
    """
    if len(values) < 2:
        return 0.0
    spread, mean = _spread(values), fmean(values)
    if spread:
        return log_probability_outside(abs(mean) * math.sqrt(len(values)) / spread, len(values) - 1)
    return (1 - len(values)) * math.log(2) if round(mean, 12) and len(values) >= FEWEST else 0.0


def log_no_majority(signs: Sequence[int]) -> float:
    """Natural logarithm of the two-sided p-value of the sign test that a difference is as often above as below 0.

    Signs are 1, -1, or 0 if not known. The latter count against the more frequent sign. The p-value is
    1 for fewer than `FEWEST` signs.

    >>> [round(math.exp(log_no_majority(signs)), 4) for signs in ([1] * 6, [1] * 9 + [0], [0] * 6, [-1] * 5)]
    [0.0312, 0.0215, 1.0, 1.0]
    """
    count, most = len(signs), max(signs.count(1), signs.count(-1))
    if count < FEWEST:
        return 0.0
    ways = sum(math.comb(count, k) for k in range(most, count + 1))
    return min(0.0, math.log(ways) + (1 - count) * math.log(2))


def _spread(values: Sequence[float]) -> float:
    """Standard deviation. The rounding error of equal values counts as zero."""
    return round(stdev(values), 12)
