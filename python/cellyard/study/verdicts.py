"""Verdicts on claims: what the replications show of the numbers on which a claim rests."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

from cellyard.statistics.difference import FEWEST, at_confidence
from cellyard.statistics.student import CONFIDENCE
from cellyard.study.rows import Row, Rows
from cellyard.system.errors import UsageError

#: The three verdicts. docs/studies.md defines them.
HOLDS, CONTRADICTED, NOT_DECIDED = "holds", "contradicted", "not decided"
#: Share of comparisons by which a claim about many rows holds.
MOSTLY = 5 / 6


@dataclass(frozen=True)
class Rule:
    """At least ``least`` of the ``margins`` must exceed 0. A margin is a number by which a condition is met."""

    margins: tuple[float, ...]
    least: int


def every(*margins: float | Iterable[float]) -> Rule:
    """The rule that all numbers exceed 0.

    >>> every(0.5, [0.1, -0.2])
    Rule(margins=(0.5, 0.1, -0.2), least=3)
    """
    flat = [one for each in margins for one in ([each] if isinstance(each, (int, float)) else each)]
    return Rule(tuple(map(float, flat)), len(flat))


def share(margins: Iterable[float], least: float = MOSTLY) -> Rule:
    """The rule that at least this share of the numbers exceeds 0.

    >>> share([1, 2, 3, 4, 5, -6]).least, share([1, 2, 3, 4, 5], 0.25).least
    (5, 2)
    """
    found = tuple(map(float, margins))
    return Rule(found, math.ceil(round(least * len(found), 9)))


@dataclass(frozen=True)
class Verdict:
    """The numbers behind a claim, in words, and the rules by which they decide it."""

    evidence: str
    rules: tuple[Rule, ...]

    def __init__(self, evidence: str, *rules: Rule) -> None:
        object.__setattr__(self, "evidence", evidence)
        object.__setattr__(self, "rules", rules)
        if not rules or not all(isinstance(rule, Rule) for rule in rules):
            raise UsageError("claims.py: Verdict(evidence, rule, ...) needs rules, made by every() or share()")


class Replications:
    """Rows with their means over the replications, also with each replication left out in turn."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.count = min((len(values) for row in rows for values in row.samples.values()), default=0)

    @cached_property
    def whole(self) -> Rows:
        """Rows with the means over all replications."""
        return self._means(None)

    @cached_property
    def without(self) -> list[Rows]:
        """For each replication, rows with the means over the others."""
        return [self._means(left_out) for left_out in range(self.count)]

    def _means(self, left_out: int | None) -> Rows:
        def centre(values: Sequence[float | None]) -> float | None:
            kept = [value for k, value in enumerate(values) if k != left_out and value is not None]
            return fmean(kept) if kept else None

        def mean(row: Row) -> Row:
            simulated = {metric: centre(values) for metric, values in row.samples.items()}
            return replace(row, simulated={**row.simulated, **simulated})

        return Rows(map(mean, self.rows))

    def decide(self, judge: Callable[[Rows], Verdict]) -> tuple[str, str]:
        """The verdict on a claim, and its evidence, with the number of conditions that are shown unless all are.

        The interval of a margin is that of its jackknife pseudo-values, which is exact for a mean.
        """
        verdict = judge(self.rows)
        if self.count < FEWEST:
            return NOT_DECIDED, verdict.evidence
        whole = judge(self.whole).rules
        parts = [judge(rows).rules for rows in self.without]
        shape = [len(rule.margins) for rule in whole]
        if any([len(rule.margins) for rule in rules] != shape for rules in (verdict.rules, *parts)):
            return NOT_DECIDED, verdict.evidence  # which numbers are compared depends on a single replication
        signs, shown = [], []
        for place, rule in enumerate(whole):
            values = [
                [self.count * margin - (self.count - 1) * rules[place].margins[k] for rules in parts]
                for k, margin in enumerate(rule.margins)
            ]
            sign, up, down = _sign(rule, values, verdict.rules[place].margins, rules=len(whole))
            signs.append(sign)
            if up < len(rule.margins) > 1:
                needed = f" ({rule.least} needed)" if rule.least < len(rule.margins) else ""
                shown.append(
                    f"Of {len(rule.margins)} conditions{needed}, {up} are shown to hold and {down} to be violated"
                )
        decided = -1 if -1 in signs else min(signs)
        return {1: HOLDS, -1: CONTRADICTED, 0: NOT_DECIDED}[decided], ". ".join([verdict.evidence, *shown])


def _sign(
    rule: Rule, values: Sequence[Sequence[float]], centres: Sequence[float], *, rules: int
) -> tuple[int, int, int]:
    """1 if enough margins are shown to exceed 0, -1 if too many are shown to be below, else 0; and both numbers.

    Intervals hold jointly for as many margins as could be wrong (the test of a partial conjunction). A
    margin whose interval contradicts the value of the tables, such as a median, shows nothing.
    """
    count, least = len(values), rule.least

    def shown(sign: int, comparisons: int) -> int:
        confidence = 1 - (1 - CONFIDENCE) / max(1, comparisons)
        signs = (at_confidence(of_margin, confidence).sign for of_margin in values)
        return sum(found == sign and centre * sign >= 0 for found, centre in zip(signs, centres, strict=True))

    up, down = shown(1, count - least + 1), shown(-1, least * rules)
    return (1 if up >= least else -1 if down > count - least else 0), up, down
