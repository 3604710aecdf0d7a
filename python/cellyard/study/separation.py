"""Decides which of several candidates the replications of a study distinguish, with the numbers behind it.

Replications with one number use common random numbers in rows whose hosts and VCs have equal names.
So candidates are compared replication by replication. The intervals of all pairs of candidates hold
jointly at 95 % (`cellyard.statistics.difference.from_values`).
"""

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


class Number(NamedTuple):
    """A number that a sentence rests on, with its 95 % interval."""

    what: str
    value: Difference

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {"what": self.what, "value": self.value.mean, "low": self.value.low, "high": self.value.high}


class Statement(NamedTuple):
    """A sentence, the differences that decide it, and the numbers that have no room in it."""

    text: str
    evidence: tuple[Evidence, ...] = ()
    numbers: tuple[Number, ...] = ()


#: A value for each replication; ``None`` if undefined.
Runs = Sequence[float | None]


def replicated(rows: Iterable[Row], *metrics: str, value: Callable[..., float] = float) -> list[float | None]:
    """The mean over rows of ``value`` of their ``metrics``, by replication; ``None`` if a metric is undefined.

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


def average(runs: Runs, centre: float) -> Difference:
    """The mean over the replications that define a number, with its 95 % interval; ``centre`` if none does."""
    defined = [one for one in runs if one is not None]
    return difference.from_values(defined) if defined else Difference(centre)


def within(value: Difference, digits: int = 2) -> str:
    """The size of a number, and half the width of its 95 % interval, rounded up.

    >>> within(Difference(-0.25, -0.301, -0.199)), within(Difference(0.25, 0.25, 0.25)), within(Difference(0.2))
    ('0.25 ± 0.06', '0.25 ± 0.00', '0.20 (no interval)')
    """
    size = f"{abs(value.mean):.{digits}f}"
    if value.low is None or value.high is None:
        return f"{size} (no interval)"
    half = round(max(value.mean - value.low, value.high - value.mean), 9)
    return f"{size} ± {math.ceil(half * 10**digits) / 10**digits:.{digits}f}"


#: Limit on the names of candidates that share a place in a sentence.
MOST_NAMES = 3


def either(names: Sequence[str]) -> str:
    """Candidates that share a place, in words.

    >>> either(["FBA"]), either(["FBA", "EPD"]), either(["FBA", "EPD", "RED", "PPD"])
    ('FBA', 'FBA or EPD (no significant difference)', 'FBA, EPD or others (no significant difference)')
    """
    if len(names) == 1:
        return names[0]
    shown = [*names[: MOST_NAMES - 1], "others"] if len(names) > MOST_NAMES else list(names)
    return f"{', '.join(shown[:-1])} or {shown[-1]} (no significant difference)"


@dataclass(frozen=True)
class Candidates:
    """Candidates for a comparison: the centre of each, and its value in each replication.

    ``name`` formats a candidate, ``what`` names the compared number, and with ``lowest`` less is
    better. The centre counts only for a candidate that no replication defines.
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
    def values(self) -> Mapping[Any, Difference]:
        """The mean of each candidate over the replications, with its 95 % interval."""
        return {one: average(self.runs[one], centre) for one, centre in self.centres.items()}

    @cached_property
    def order(self) -> list[Any]:
        """The candidates, best first."""
        return sorted(self.values, key=lambda one: self.values[one].mean * (1 if self.lowest else -1))

    @property
    def known(self) -> bool:
        """Whether there are enough replications to compare candidates."""
        return min((sum(one is not None for one in runs) for runs in self.runs.values()), default=0) >= FEWEST

    def difference(self, a: Any, b: Any) -> Difference:
        """By how much ``a`` exceeds ``b``. The interval holds jointly for all pairs."""
        of_pair = self.values[a].mean - self.values[b].mean
        return contrast([self.runs[a]], [self.runs[b]], of_pair, self.pairs)

    @property
    def spread(self) -> Difference:
        """Difference between the best and the last."""
        return self.difference(self.order[0], self.order[-1])

    @cached_property
    def first(self) -> list[Any]:
        """The best candidate, then those that differ from it by nothing significant. All candidates if nothing is known.

        A candidate that differs significantly from the best is not among them, even if it does not differ from another of them.

        >>> drawn = {"epd": [0.7] * 10, "fba": [0.6, 0.9] * 5, "ppd": [0.8] * 10}
        >>> Candidates({one: fmean(runs) for one, runs in drawn.items()}, drawn, "goodput").first
        ['ppd', 'fba']
        """
        best, *others = self.order
        return [best, *(one for one in others if not (self.known and self.difference(best, one).sign))]

    @property
    def best(self) -> str:
        """The best candidate with those that differ from it by nothing significant, in words; says so if nothing is known.

        >>> drawn = {"epd": [0.5, 0.6] * 5, "fba": [0.7, 0.8] * 5, "ppd": [0.8, 0.7] * 5}
        >>> Candidates({one: fmean(runs) for one, runs in drawn.items()}, drawn, "goodput", str.upper).best
        'FBA or PPD (no significant difference)'
        >>> two = {one: drawn[one] for one in ("epd", "fba")}
        >>> Candidates({one: fmean(runs) for one, runs in two.items()}, two, "goodput", str.upper).best
        'FBA (significant)'
        """
        if not self.known:
            return f"{self.leaders} (not decided)"
        return self.leaders if len(self.first) > 1 else f"{self.leaders} (significant)"

    @property
    def leaders(self) -> str:
        """The best candidate with those that differ from it by nothing significant, or alone if nothing is known."""
        return either([self.name(one) for one in (self.first if self.known else self.order[:1])])

    @property
    def ahead(self) -> str:
        """The best candidate, and its distance from the last, in words.

        >>> drawn = {"epd": [0.5, 0.6] * 5, "fba": [0.7, 0.8] * 5, "ppd": [0.8, 0.7] * 5}
        >>> centres = {one: fmean(runs) for one, runs in drawn.items()}
        >>> Candidates(centres, drawn, "goodput", str.upper).ahead
        'FBA or PPD (no significant difference), 0.20 ± 0.00 above EPD'
        >>> Candidates(centres, {**drawn, "epd": drawn["fba"]}, "goodput", str.upper).ahead
        'none (no significant difference)'
        """
        if self.known and len(self.first) == len(self.order):
            return "none (no significant difference)"
        side = "below" if self.lowest else "above"
        return f"{self.leaders}, {within(self.spread)} {side} {self.name(self.order[-1])}"

    def lead(self, unit: str = "") -> str:
        """The value of the best, and its distance from the last, in words. ``unit`` follows the first value.

        >>> drawn = {"epd": [0.5, 0.6] * 5, "fba": [0.7, 0.8] * 5, "ppd": [0.8, 0.7] * 5}
        >>> centres = {one: fmean(runs) for one, runs in drawn.items()}
        >>> Candidates(centres, drawn, "goodput", str.upper).lead()
        'up to 0.75 with FBA or PPD (no significant difference), 0.20 ± 0.00 more than with EPD'
        >>> few = {one: runs[:4] for one, runs in drawn.items()}
        >>> Candidates(centres, few, "goodput", str.upper).lead()
        '0.75 with FBA and 0.55 with EPD (not decided)'
        >>> Candidates(centres, {**drawn, "epd": drawn["fba"]}, "goodput", str.upper).lead()
        '0.75 to 0.75 (no significant difference)'
        """
        first, last = self.order[0], self.order[-1]
        best, worst = (f"{self.values[one].mean:.2f}" for one in (first, last))
        if not self.known:
            return f"{best}{unit} with {self.name(first)} and {worst} with {self.name(last)} (not decided)"
        if len(self.first) == len(self.order):
            return f"{min(best, worst)} to {max(best, worst)}{unit} (no significant difference)"
        more = "less" if self.lowest else "more"
        if len(self.first) > 1:  # the value is that of the best of them
            best = f"{'down' if self.lowest else 'up'} to {best}"
        return f"{best}{unit} with {self.leaders}, {within(self.spread)} {more} than with {self.name(last)}"

    def numbers(self, where: str = "") -> list[Number]:
        """The value of each candidate, best first."""
        what = f"{self.what}{where and ', '}{where}"
        return [Number(f"{what}: {self.name(one)}", self.values[one]) for one in self.order]

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
