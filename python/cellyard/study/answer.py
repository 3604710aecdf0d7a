"""The answer of a study in a few sentences. Each is made from simulated rows and contains no fixed number or outcome."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, mean
from typing import Any

from cellyard.show.words import counted
from cellyard.statistics.difference import FEWEST, Difference
from cellyard.statistics.student import CONFIDENCE
from cellyard.study.agreement import agreement, told_metrics
from cellyard.study.rows import Row, Rows
from cellyard.study.separation import Candidates, Evidence, Number, Statement, candidates, within
from cellyard.study.study import Study
from cellyard.system.errors import UsageError

#: Differences of means from which a factor decides, and below which it has almost no effect.
DECIDES, LITTLE = 0.1, 0.03


@dataclass(frozen=True)
class Sentence:
    """A sentence about the rows of some tables. With ``parts``, it is made for each value of these parameters."""

    tables: tuple[str, ...]
    tell: Callable[[Rows], str | Statement]
    parts: tuple[str, ...] = ()

    def whole(self, study: Study, rows: Rows) -> Rows:
        """The rows that the sentence may use: complete parts, or without ``parts``, its tables if all are complete."""

        def part(row: Row) -> tuple[Any, ...]:
            return tuple(row[name] for name in self.parts)

        needed = Counter(part(row) for name in self.tables for row in study.tables[name].rows)
        chosen = rows.where(table=self.tables)
        run = Counter(map(part, chosen))
        return Rows(row for row in chosen if run[part(row)] == needed[part(row)])


def sentence(*tables: str, parts: Sequence[str] = ()) -> Callable[[Callable[[Rows], str | Statement]], Sentence]:
    """Decorator that makes a function of rows a `Sentence`. A `Statement` returned by it adds the numbers behind the sentence.

    The sentence appears when all of ``tables`` were run completely. With ``parts``, it is made
    separately for each of their values whose rows were all run.
    """
    return lambda tell: Sentence(tables, tell, tuple(parts))


def answer(study: Study, rows: Rows, replications: int | None) -> list[Statement]:
    """The study's sentences whose rows were run, then one on the agreement with published values."""
    told = [one.tell(whole) for one in study.answer if (whole := one.whole(study, rows))]
    too_few = undecided(replications)
    return [
        *([Statement(too_few)] if told and too_few else []),
        *(one if isinstance(one, Statement) else Statement(one) for one in told),
        *agreed(study, rows, replications),
    ]


def undecided(replications: int | None) -> str:
    """How many replications decide, if these are too few; empty otherwise.

    >>> undecided(None), undecided(3), undecided(6)
    ('Not decided: 1 run of each row decides nothing, 6 replications do (--replications 6).', 'Not decided: 3 replications of \
each row decide nothing, 6 replications do (--replications 6).', '')
    """
    if (replications or 1) >= FEWEST:
        return ""
    few = counted(replications, "replication") if replications and replications > 1 else "1 run"
    return f"Not decided: {few} of each row decide{'s' * (few == '1 run')} nothing, {FEWEST} replications do (--replications {FEWEST})."


def untold(study: Study, rows: Rows) -> str:
    """Numbers of sentences and claims left out because only a part of a table was run, in words; empty if none."""
    run = {name: len(rows.where(table=name)) for name in study.tables}
    part = {name: f"{name} ({run[name]} of {len(table.rows)} rows)"
            for name, table in study.tables.items() if 0 < run[name] < len(table.rows)}  # fmt: skip
    if not part:
        return ""
    sentences = [one for one in study.answer if not part.keys().isdisjoint(one.tables) and not one.whole(study, rows)]
    claims = [one for one in study.claims if not part.keys().isdisjoint(one.tables)]
    counted = ((sentences, "sentence", " of the answer"), (claims, "claim", ""))
    left_out = [f"{len(found)} {name}{'s' * (len(found) > 1)}{of}" for found, name, of in counted if found]
    of_tables = [text for name, text in part.items() if any(name in one.tables for one in (*sentences, *claims))]
    return (
        f"Not shown, as only a part of their tables was run: {' and '.join(left_out)}, on {', '.join(of_tables)}."
        if left_out
        else ""
    )


def agreed(study: Study, rows: Rows, replications: int | None) -> list[Statement]:
    """Distance of simulated from published values, and how many of the latter are inside their ensemble's range."""
    beside = [name for name, table in study.tables.items() if table.beside]
    judged = Rows(row for row in rows if row.table not in beside)
    of = {metric: agreement(judged, metric, study.centre) for metric in told_metrics(study)}
    found = {metric: one for metric, one in of.items() if one["rows"]}
    if not found:
        return []
    errors = [Number(f"{_named(metric)}: mean error", _error(one)) for metric, one in found.items()]
    first = next(iter(found))
    text = f"The mean error of {_named(first)} is {within(errors[0].value, 3)}"
    if replications is None or replications < 2 or any(one["inside_range"] is None for one in found.values()):
        return [Statement(f"{text}.", (), tuple(errors))]
    values, inside = (sum(one[key] for one in found.values()) for key in ("rows", "inside_range"))
    expected = sum(one["expected_inside"] for one in found.values())
    # Assumes independent rows.
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * (expected * (1 - expected / values)) ** 0.5
    less = Difference(inside - expected, inside - expected - half, inside - expected + half)
    than = "as" if not less.sign else "more than" if less.sign > 0 else "fewer than"
    text += (
        f"; {inside} of {values} published values lie within the range of the replications, {than} random draws would"
    )
    text += "." if less.sign else " (not significant)."
    by_chance = Number(
        "published values inside, if they were random draws", Difference(expected, expected - half, expected + half)
    )
    return [
        Statement(
            text, (Evidence("published values inside: found - if they were random draws", less),), (*errors, by_chance)
        )
    ]


def _error(judged: Mapping[str, Any]) -> Difference:
    """A mean absolute error, with its margin if known."""
    error, margin = judged["mean_abs_error"], judged["error_margin"]
    return Difference(error) if margin is None else Difference(error, error - margin, error + margin)


def _named(metric: str) -> str:
    """A metric with its unit.

    >>> _named("fairness"), _named("throughput_mbps")
    ('fairness', 'throughput in Mb/s')
    """
    return f"{metric.removesuffix('_mbps')} in Mb/s" if metric.endswith("_mbps") else metric


def means(rows: Rows, parameter: str, metric: str = "efficiency") -> dict[Any, float]:
    """Mean of a metric by value of a parameter, over the rows where it is defined; raises `UsageError` if there are none."""
    values = {row[parameter]: rows.where(**{parameter: row[parameter]}).values(metric) for row in rows}
    for value, found in values.items():
        if not found:
            raise UsageError(
                f"{metric} is defined in no row with {parameter} = {value}, so that nothing can be said of its mean"
            )
    return {value: mean(found) for value, found in values.items()}


def of_values(
    rows: Rows, parameter: str, metric: str = "efficiency", name: Callable[[Any], str] = str, *, lowest: bool = False
) -> Candidates:
    """The values of a parameter as candidates, compared by the mean of a metric over their rows."""
    return candidates(rows, parameter, metric, means(rows, parameter, metric), name, lowest=lowest)


def apart(of: Mapping[Any, float]) -> float:
    """Difference between the highest and the lowest mean."""
    return max(of.values()) - min(of.values())


def matters(spread: Difference) -> str:
    """How much a factor with this difference of means matters.

    >>> [matters(Difference(*ends)) for ends in ((0.2, 0.1, 0.3), (0.05, 0.04, 0.06), (0.01, -0.01, 0.02))]
    ['decides', 'matters a little for', 'barely affects']
    >>> matters(Difference(0.2, -0.1, 0.5)), matters(Difference(0.2))
    ('has no clear effect on', 'may matter for')
    """
    if spread.low is None or spread.high is None:
        return "may matter for"
    if spread.mean < LITTLE and spread.high < DECIDES:
        return "barely affects"
    if not spread.sign:
        return "has no clear effect on"
    return "decides" if spread.mean >= DECIDES else "matters a little for"


def changes(gain: Difference, digits: int = 2) -> str:
    """How a mean changes, in words.

    >>> [changes(Difference(*ends)) for ends in ((0.25, 0.2, 0.3), (-0.25, -0.3, -0.2), (0.001, 0.0, 0.002))]
    ['rises by 0.25 ± 0.05', 'falls by 0.25 ± 0.05', 'stays the same (± 0.01)']
    >>> changes(Difference(0.2, -0.1, 0.5)), changes(Difference(0.2)), changes(Difference(2.0, 1.5, 2.5), 1)
    ('changes by +0.20 ± 0.30 (not significant)', 'changes by +0.20 (not decided)', 'rises by 2.0 ± 0.5')
    """
    if gain.low is None or gain.high is None:
        return f"changes by {gain.mean:+.{digits}f} (not decided)"
    least = 0.5 * 0.1**digits
    if max(abs(gain.low), abs(gain.high)) < least:
        return f"stays the same (± {2 * least:.{digits}f})"
    if not gain.sign:
        return f"changes by {'-' if gain.mean < 0 else '+'}{within(gain, digits)} (not significant)"
    return f"{'rises' if gain.sign > 0 else 'falls'} by {within(gain, digits)}"


def turns(gain: Difference) -> str:
    """The direction in which a mean changes, in words.

    >>> [turns(Difference(*ends)) for ends in ((0.25, 0.2, 0.3), (-0.25, -0.3, -0.2), (0.1, -0.1, 0.3), (0.1,))]
    ['rises significantly', 'falls significantly', 'changes (not significant)', 'changes (not decided)']
    """
    if gain.low is None:
        return "changes (not decided)"
    return {1: "rises significantly", -1: "falls significantly", 0: "changes (not significant)"}[gain.sign]
