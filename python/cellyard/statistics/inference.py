"""Confidence intervals and tests over many runs."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

from cellyard.statistics.bounded import Bounded, Value
from cellyard.statistics.student import log_beta, student_quantile


class Estimate(NamedTuple):
    """A mean with its confidence interval. For a single value, and for equal values, both ends are ``None``."""

    mean: float
    low: float | None
    high: float | None

    @property
    def half(self) -> float:
        """Half the width of the interval; infinite without one."""
        return math.inf if self.low is None or self.high is None else (self.high - self.low) / 2


def defined(samples: Sequence[Mapping[str, Value]], metric: str) -> list[float]:
    """The values of a metric if it is defined and known."""
    values = (sample[metric] for sample in samples)
    return [float(value) for value in values if value is not None and not isinstance(value, Bounded)]


def estimate(values: Sequence[float], confidence: float) -> Estimate | None:
    """Mean of independent values with Student's interval, mean +- t s / sqrt(n); ``None`` without values.

    Equal values have no interval, since a spread of zero says nothing about further values.

    >>> estimate([0.5, 0.5, 0.5], 0.95)
    Estimate(mean=0.5, low=None, high=None)
    """
    if not values:
        return None
    mean = fmean(values)
    spread = stdev(values) if len(values) > 1 else 0.0
    if not spread:
        return Estimate(mean, None, None)
    half = student_quantile((1 + confidence) / 2, len(values) - 1) * spread / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half)


class HolmResult(NamedTuple):
    """A corrected comparison: the adjusted p-value, and the confidence of the interval for its step."""

    probability: float
    confidence: float


def holm(logarithms: Sequence[float], confidence: float) -> list[HolmResult]:
    """Holm's correction (1979): the probability that any equal pair is declared different stays below 1 - ``confidence``.

    The k-th smallest of m p-values is judged at (1 - confidence) / (m - k + 1), and none after the
    first that is not below. The interval at that level excludes 0 exactly when the pair is declared
    different. Equal p-values are judged at the level of the first of them, which decides for all.
    P-values are given as natural logarithms, which keep their order even if p-values underflow.

    >>> given = [math.log(p) for p in (0.01, 0.04, 0.03)]
    >>> [(round(result.probability, 3), round(result.confidence, 4)) for result in holm(given, 0.95)]
    [(0.03, 0.9833), (0.06, 0.975), (0.06, 0.975)]
    """
    alpha, count = 1 - confidence, len(logarithms)
    results: list[HolmResult] = [HolmResult(1.0, confidence)] * count
    highest, stopped, level, last = 0.0, 0.0, alpha, math.nan
    for k, index in enumerate(sorted(range(count), key=lambda i: logarithms[i])):
        if logarithms[index] != last:
            level, last = stopped or alpha / (count - k), logarithms[index]
        if math.exp(logarithms[index]) >= level:
            stopped = level
        highest = max(highest, math.exp(min(0.0, math.log(count - k) + logarithms[index])))
        results[index] = HolmResult(highest, 1 - level)
    return results


def share_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Interval of a proportion, given the number of successes and of trials (Wilson, 1927).

    >>> [round(end, 3) for end in share_interval(19, 20, 0.95)]
    [0.764, 0.991]
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, scale = successes / trials, 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return max(0.0, centre - half), min(1.0, centre + half)


@cache
def exact_share_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Exact binomial interval of a proportion, given the number of successes and of trials (Clopper and Pearson, 1934).

    The interval contains the true proportion with at least the stated confidence, for any true
    proportion.

    >>> [round(end, 4) for end in exact_share_interval(0, 20, 0.95)], [round(end, 4) for end in exact_share_interval(3, 20, 0.95)]
    ([0.0, 0.1684], [0.0321, 0.3789])
    """
    log_tail = math.log((1 - confidence) / 2)

    def end(log_probability: Callable[[float], float]) -> float:
        """The proportion at which a count this extreme has probability (1 - ``confidence``) / 2.

        ``log_probability`` is the logarithm of that probability, and must increase with the proportion.
        """
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if log_probability(middle) < log_tail else (low, middle)
        return (low + high) / 2

    low_end = end(lambda p: log_beta(p, 1 - p, successes, trials - successes + 1)) if successes else 0.0
    high_end = 1 - end(lambda p: log_beta(p, 1 - p, trials - successes, successes + 1)) if successes < trials else 1.0
    return low_end, high_end


def skewness(values: Sequence[float]) -> float:
    """Third standardised moment of a sample, unbiased for normal samples; 0 if all values are equal.

    >>> round(skewness([0, 0, 0, 1]), 4)  # n^2 / ((n - 1)(n - 2)) m_3 / s^3 with n = 4, m_3 = 3/32, s = 1/2
    2.0
    """
    n, mean, spread = len(values), fmean(values), stdev(values)
    if n < 3 or spread == 0:
        return 0.0
    return n * sum(((value - mean) / spread) ** 3 for value in values) / ((n - 1) * (n - 2))
