"""Quantiles of values pooled over replications, with intervals that allow for equal fates within a replication."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from cellyard.statistics.bounded import Value, ends_of, lifted
from cellyard.statistics.difference import FEWEST
from cellyard.statistics.student import CONFIDENCE, student_quantile


class Quantile(NamedTuple):
    """A pooled quantile and the ends of its interval (`CONFIDENCE`), ``None`` if not known or above the largest value."""

    value: Value
    low: Value = None
    high: Value = None


def quantile(groups: Sequence[Sequence[Value]], share: float) -> Quantile:
    """The least value that ``share`` of all values do not exceed; ``groups`` has the values of each replication.

    The interval is Woodruff's (1952): the share of values up to the quantile varies among
    replications, and the ends are the values at both ends of that share's interval. It is at
    least as wide as for independent values. It needs `FEWEST` replications.

    >>> quantile([[3.0, 1.0], [2.0, 4.0]], 0.5)
    Quantile(value=2.0, low=None, high=None)
    >>> quantile([[float(n) for n in range(1, 101)]] * 6, 0.95)
    Quantile(value=95.0, low=93.0, high=98.0)
    """
    groups = [group for group in groups if group]
    values = [value for group in groups for value in group]
    if not values:
        return Quantile(None)

    def at(of: float) -> Value:
        rank = math.ceil(round(of * len(values), 9))
        return lifted(lambda ends: sorted(ends)[max(rank, 1) - 1])(values) if rank <= len(values) else None

    found = at(share)
    if len(groups) < FEWEST:
        return Quantile(found)
    half = student_quantile((1 + CONFIDENCE) / 2, len(groups) - 1) * _error(groups, found, share)
    return Quantile(found, at(share - half), at(share + half))


def _error(groups: Sequence[Sequence[Any]], found: Any, share: float) -> float:
    """Standard error of the share of values up to ``found``, of replications as clusters, and at least that of independent values."""
    count, least = sum(map(len, groups)), ends_of(found)[0]
    apart = [sum(ends_of(value)[0] <= least for value in group) - share * len(group) for group in groups]
    runs = len(groups)
    mean = sum(apart) / runs
    clustered = math.sqrt(runs / (runs - 1) * sum((one - mean) ** 2 for one in apart)) / count
    return max(clustered, math.sqrt(share * (1 - share) / count))
