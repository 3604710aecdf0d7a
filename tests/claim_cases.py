"""Builds the tables of test_claims.py: cases, and rules that set a metric row by row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cellyard.study import Row

Rule = Callable[[Row], float]
#: Rule for a metric that may be undefined.
AnyRule = Callable[[Row], float | None]


@dataclass(frozen=True)
class Case:
    """A table, and the verdict on a claim there; ``shown`` is part of its evidence."""

    claim: str
    why: str
    verdict: str
    shown: str
    rules: Mapping[str, AnyRule]


def holds(claim: str, why: str, shown: str = "", /, **rules: AnyRule) -> Case:
    """Return a case on which a claim holds."""
    return Case(claim, why, "holds", shown, rules)


def fails(claim: str, why: str, shown: str = "", /, **rules: AnyRule) -> Case:
    """Return a case that contradicts a claim."""
    return Case(claim, why, "contradicted", shown, rules)


def undecided(claim: str, why: str, shown: str = "", /, **rules: AnyRule) -> Case:
    """Return a case on the bound between both, or without a difference."""
    return Case(claim, why, "not decided", shown, rules)


NEUTRAL = {
    "efficiency": 0.5,
    "fairness": 0.5,
    "timeouts": 0,
    "vbr_max_queue_cells": 0,
    "vbr_cell_delay_variation_s": 0,
    "max_queue_cells": 0,
    "cell_loss_ratio": 0,
    "goodput": 0.5,
    "mean_queue_cells": 0,
    "unfinished_sources": 0,
}


def added(**effects: Mapping[Any, float]) -> Rule:
    """Return a rule: 0.5 plus the effects of a row's parameters, where values not named have no effect."""
    return lambda row: 0.5 + sum(effect.get(row[parameter], 0) for parameter, effect in effects.items())


def always(value: float) -> Rule:
    """Return a rule that gives all rows one value."""
    return lambda _: value


def unless(rule: Rule, other: Rule, **where: Any) -> Rule:
    """Return a rule that gives ``other`` in rows that match ``where``, and ``rule`` elsewhere."""
    return lambda row: other(row) if row.matches(where) else rule(row)


EVEN = always(0.5)

# First row, and first two rows, of the six rows of a configuration in tables of three buffers.
ONE_OF_SIX = {"sources": 5, "buffer_cells": (1000, 12000)}
TWO_OF_SIX = {"sources": 5, "buffer_cells": (1000, 2000, 12000, 24000)}
