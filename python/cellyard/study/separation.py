"""Decides which of several candidates the replications of a study separate, with the numbers behind it.

Replications with one number use common random numbers in rows whose hosts and VCs have equal names.
So candidates are compared replication by replication. The intervals of all pairs of candidates hold
jointly at 95 % (`cellyard.statistics.difference.from_values`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

from cellyard.statistics import difference
from cellyard.statistics.difference import FEWEST, Difference
from cellyard.study.rows import Row, Rows


class Evidence(NamedTuple):
    """A number behind a sentence: its meaning, its 95 % interval, and the verdict of the replications."""

    what: str
    value: Difference

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        value = self.value
        return {
            "what": self.what, "value": value.mean, "low": value.low, "high": value.high, "verdict": value.verdict,
        }  # fmt: skip


class Statement(NamedTuple):
    """A sentence, and the numbers behind it."""

    text: str
    evidence: tuple[Evidence, ...] = ()


#: A value for each replication; ``None`` where undefined.
Runs = Sequence[float | None]


def replicated(rows: Iterable[Row], *metrics: str, value: Callable[..., float] = float) -> list[float | None]:
    """The mean over rows of ``value`` of their ``metrics``, by replication; ``None`` where a metric is undefined.

    >>> rows = [Row("1", {}, {}, samples={"efficiency": values}) for values in ((0.5, 0.6), (0.7, None))]
    >>> replicated(rows, "efficiency")
    [0.6, None]
    """
    columns = [[row.samples.get(metric, ()) for metric in metrics] for row in rows]
    replications = min((len(one) for of_row in columns for one in of_row), default=0)
    found: list[float | None] = []
    for k in range(replications):
        drawn = [[one[k] for one in of_row] for of_row in columns]
        is_defined = all(one is not None for of_row in drawn for one in of_row)
        found.append(fmean(value(*of_row) for of_row in drawn) if is_defined else None)
    return found


def contrast(plus: Iterable[Runs], minus: Iterable[Runs], centre: float, comparisons: int = 1) -> Difference:
    """The mean over replications of the sum of ``plus`` minus the sum of ``minus``; ``centre`` without replications.

    ``centre`` may be a difference of medians, for example. An interval that excludes 0 on the other
    side than ``centre`` shows nothing, and is widened to include 0.
    """
    signed = [(1, runs) for runs in plus] + [(-1, runs) for runs in minus]
    replications = min((len(runs) for _, runs in signed), default=0)
    drawn = [[sign * one for sign, runs in signed if (one := runs[k]) is not None] for k in range(replications)]
    values = [math.fsum(terms) for terms in drawn if len(terms) == len(signed)]
    if not values:
        return Difference(centre)
    found = difference.from_values(values, comparisons)
    if found.low is None or found.high is None or found.sign * centre >= 0:
        return found
    return Difference(found.mean, min(found.low, 0.0), max(found.high, 0.0))


@dataclass(frozen=True)
class Candidates:
    """Candidates for a comparison: the centre of each, and its value in each replication.

    ``name`` formats a candidate, ``what`` names the compared number, and with ``lowest`` less is
    better.
    """

    centres: Mapping[Any, float]
    runs: Mapping[Any, Runs]
    what: str
    name: Callable[[Any], str] = str
    lowest: bool = False

    @property
    def pairs(self) -> int:
        """Number of pairs of candidates."""
        return math.comb(len(self.centres), 2)

    @cached_property
    def order(self) -> list[Any]:
        """The candidates, best first."""
        return sorted(self.centres, key=lambda one: self.centres[one] if self.lowest else -self.centres[one])

    @property
    def known(self) -> bool:
        """Whether there are enough replications to compare candidates."""
        return min((sum(one is not None for one in runs) for runs in self.runs.values()), default=0) >= FEWEST

    def difference(self, a: Any, b: Any, comparisons: int | None = None) -> Difference:
        """By how much ``a`` exceeds ``b``. The interval holds jointly for all pairs, or for ``comparisons`` comparisons."""
        of_pair = self.centres[a] - self.centres[b]
        return contrast([self.runs[a]], [self.runs[b]], of_pair, comparisons or self.pairs)

    @property
    def spread(self) -> Difference:
        """Difference between the best and the last."""
        return self.difference(self.order[0], self.order[-1])

    @cached_property
    def groups(self) -> list[list[Any]]:
        """The candidates in order, in groups separated from all later ones. A single group where nothing is known."""
        if not self.known:
            return [list(self.centres)]
        order, found = self.order, [self.order[:1]]
        for k in range(1, len(order)):
            if all(self.difference(a, b).sign for a in order[:k] for b in order[k:]):
                found.append([order[k]])
            else:
                found[-1].append(order[k])
        return found

    @property
    def best(self) -> str:
        """The best candidate with those that are not separated from it, in words; says so where nothing is known.

        >>> drawn = {"epd": [0.5, 0.6] * 5, "fba": [0.7, 0.8] * 5, "ppd": [0.8, 0.7] * 5}
        >>> Candidates({one: fmean(runs) for one, runs in drawn.items()}, drawn, "goodput", str.upper).best
        'FBA or PPD (not separated)'
        """
        if not self.known:
            return "not known"
        first = self.groups[0]
        return " or ".join(map(self.name, first)) + " (not separated)" * (len(first) > 1)

    def ranked(self, form: str = ".2f") -> str:
        """The candidates, best first; "or" joins those not separated. Where nothing is known, they keep the order of their table.

        >>> drawn = {"epd": [0.5, 0.6] * 5, "fba": [0.7, 0.8] * 5, "ppd": [0.8, 0.7] * 5}
        >>> centres = {one: fmean(runs) for one, runs in drawn.items()}
        >>> Candidates(centres, drawn, "goodput", str.upper).ranked()
        'FBA (0.75) or PPD (0.75) (not separated), EPD (0.55)'
        >>> Candidates(centres, {one: runs[:3] for one, runs in drawn.items()}, "goodput", str.upper).ranked()
        'EPD (0.55), FBA (0.75), PPD (0.75) (order not known)'
        """

        def shown(one: Any) -> str:
            return f"{self.name(one)} ({self.centres[one]:{form}})"

        if not self.known:
            return ", ".join(map(shown, self.centres)) + " (order not known)"
        return ", ".join(" or ".join(map(shown, one)) + " (not separated)" * (len(one) > 1) for one in self.groups)

    def evidence(self, *, best_only: bool = False, where: str = "") -> list[Evidence]:
        """The differences of all pairs, or of the best and each other candidate."""
        pairs = [(self.order[0], other) for other in self.order[1:]] if best_only else combinations(self.order, 2)
        what = f"{self.what}{where and ', '}{where}"
        return [Evidence(f"{what}: {self.name(a)} - {self.name(b)}", self.difference(a, b)) for a, b in pairs]


def candidates(
    rows: Rows,
    parameter: str,
    metric: str,
    centres: Mapping[Any, float],
    name: Callable[[Any], str] = str,
    *,
    lowest: bool = False,
) -> Candidates:
    """The values of a parameter as candidates, compared by a metric over the rows where it is defined."""
    chosen = {
        one: [row for row in rows if row[parameter] == one and row.simulated[metric] is not None] for one in centres
    }
    runs = {one: replicated(of, metric) for one, of in chosen.items()}
    return Candidates(centres, runs, metric, name, lowest)


def gain(pairs: Sequence[tuple[Row, Row]], metric: str, comparisons: int = 1) -> Difference:
    """Mean increase of a metric from the first to the second row of each pair, over the pairs where it is defined."""
    of = [pair for pair in pairs if None not in (pair[0].simulated[metric], pair[1].simulated[metric])]
    before, after = ([pair[k] for pair in of] for k in (0, 1))
    centre = fmean(b.simulated[metric] - a.simulated[metric] for a, b in of)
    return contrast([replicated(after, metric)], [replicated(before, metric)], centre, comparisons)
