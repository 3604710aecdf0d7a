"""Two rows of a study compared run by run: replications of one number draw alike, so their differences vary less than the rows do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import fmean, stdev
from typing import NamedTuple

from cellyard.rows import Row

#: How sure an interval is.
CONFIDENCE = 0.95

#: Fewest replications that show anything at this level. With five, equal signs of all differences have a chance of 1 in 16.
FEWEST = 6


class Difference(NamedTuple):
    """A mean difference with its confidence interval (`CONFIDENCE`); without an interval both ends are ``None``, and nothing is known."""

    mean: float
    low: float | None = None
    high: float | None = None

    @property
    def sign(self) -> int:
        """1 or -1 where the interval leaves out 0, else 0."""
        if self.low is None or self.high is None:
            return 0
        return (self.low > 0) - (self.high < 0)

    @property
    def verdict(self) -> str:
        """What the replications show of the difference.

        >>> [Difference(*ends).verdict for ends in ((0.2, 0.1, 0.3), (0.2, -0.1, 0.5), (0.2,))]
        ['separated', 'not separated', 'not known']
        """
        if self.low is None:
            return "not known"
        return "separated" if self.sign else "not separated"

    def __format__(self, form: str) -> str:
        """The mean with its interval, each number of this form.

        >>> f"{Difference(-0.25, -0.5, 0.0)}", f"{Difference(0.0125):.3f}"
        ('-0.25 [-0.50, +0.00]', '+0.013')
        """
        told = [f"{one:+{form or '.2f'}}" for one in self if one is not None]
        return told[0] + (f" [{', '.join(told[1:])}]" if len(told) > 1 else "")


def differences(a: Row, b: Row, metric: str) -> list[float]:
    """``metric`` of ``b`` less that of ``a``, replication by replication where both have one; of rows without runs, of their centres.

    >>> one, other = (Row("1", {}, {}, samples={"efficiency": values}) for values in ((0.5, 0.6), (0.7, None)))
    >>> differences(one, other, "efficiency")
    [0.19999999999999996]
    """
    here, there = a.samples.get(metric), b.samples.get(metric)
    if here is None or there is None:
        here, there = (a.simulated.get(metric),), (b.simulated.get(metric),)
    return [y - x for x, y in zip(here, there, strict=True) if x is not None and y is not None]


def paired(pairs: Iterable[tuple[Row, Row]], metric: str, comparisons: int = 1) -> Difference | None:
    """How much higher ``metric`` is in the second row of each pair, on average over the pairs, with an interval over replications (`of`).

    Every pair must have as many runs. ``None`` where nothing is defined.
    """
    found = [differences(a, b, metric) for a, b in pairs]
    if not found or not all(found) or len({len(one) for one in found}) > 1:
        return None
    return of(list(map(fmean, zip(*found, strict=True))), comparisons)


def of(values: Sequence[float], comparisons: int = 1) -> Difference:
    """Mean and interval of independent values, which holds for so many ``comparisons`` together (Bonferroni).

    The interval is Student's: mean +- t s / sqrt(n). Fewer than `FEWEST` values have none. Nor have equal values that are not 0, unless so
    many equal signs are significant by themselves: a spread of zero says nothing of the spread of further draws.

    >>> f"{of([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])}", f"{of([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], comparisons=10)}"
    ('+2.00 [+1.06, +2.94]', '+2.00 [+0.26, +3.74]')
    >>> of([1.0, 2.0, 3.0]), of([0.5] * 6), of([0.5] * 6, comparisons=2)
    (Difference(mean=2.0, low=None, high=None), Difference(mean=0.5, low=0.5, high=0.5), Difference(mean=0.5, low=None, high=None))
    """
    mean, alpha = fmean(values), (1 - CONFIDENCE) / comparisons
    if len(values) < FEWEST:
        return Difference(mean)
    # What rounding of floats leaves of a difference of 0 is none.
    spread = round(stdev(values), 12)
    if not spread:
        mean = round(mean, 12)
        return Difference(mean) if mean and 2.0 ** (1 - len(values)) > alpha else Difference(mean, mean, mean)
    half = student(1 - alpha / 2, len(values) - 1) * spread / math.sqrt(len(values))
    return Difference(mean, mean - half, mean + half)


@cache
def student(p: float, freedom: int) -> float:
    """Quantile ``p`` >= 0.5 of Student's law with so many degrees of freedom, from its closed form (Abramowitz and Stegun, 26.7.3 and 4).

    >>> [round(student(0.975, freedom), 3) for freedom in (1, 2, 9, 19, 100)]
    [12.706, 4.303, 2.262, 2.093, 1.984]
    """
    low, high = 0.0, 1.0
    while inside(high, freedom) < 2 * p - 1:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle, freedom) < 2 * p - 1 else (low, middle)
    return (low + high) / 2


def inside(t: float, freedom: int) -> float:
    """Probability that Student's variable with so many degrees of freedom lies between -t and t."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    term = total = cosine if freedom % 2 else 1.0
    for k in range(3 if freedom % 2 else 2, freedom, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if freedom % 2:
        return 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0))
    return sine * total


def log_outside(t: float, freedom: int) -> float:
    """Natural logarithm of the probability that Student's variable lies outside -t to t, t >= 0, also where 1 less `inside` would be 0.

    The probability is the incomplete beta function I_x(f / 2, 1 / 2) at x = f / (f + t^2) (Abramowitz and Stegun, 26.7.1 with 26.5.2).

    >>> round(math.exp(log_outside(12.706205, 1)), 6), round(log_outside(1e9, 100))
    (0.05, -1845)
    """
    if math.isinf(t):
        return -math.inf
    ratio = min(t, 1e150) ** 2 / freedom
    return log_beta(1 / (1 + ratio), ratio / (1 + ratio), freedom / 2, 0.5)


def log_beta(x: float, rest: float, a: float, b: float) -> float:
    """Natural logarithm of the incomplete beta function I_x(a, b); ``rest`` is 1 - x, given beside it so that neither loses digits.

    >>> round(math.exp(log_beta(0.25, 0.75, 2, 3)), 6)  # 1 - 0.75^4 - 4 * 0.25 * 0.75^3
    0.261719
    """
    if not x or not rest:
        return 0.0 if x else -math.inf
    front = a * math.log(x) + b * math.log(rest) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    if x < (a + 1) / (a + b + 2):
        return front + math.log(_fraction(x, a, b) / a)
    return math.log1p(-math.exp(front) * _fraction(rest, b, a) / b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), which is quick for x < (a + 1) / (a + b + 2).

    Evaluated from the front after Lentz, until a step changes nothing.
    """
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + step * d), 1 + step / c
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
