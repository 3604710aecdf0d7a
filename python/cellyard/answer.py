"""The answer of a study in a few sentences, each made from the rows that were simulated; none keeps a number or an outcome of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from cellyard.agreement import agreement, told_metrics
from cellyard.errors import UsageError
from cellyard.ranges import share_inside
from cellyard.rows import Row, Rows
from cellyard.study import Study
from cellyard.text import range_name

#: Means of a factor's values that lie this far apart decide; less than the second hardly matters.
DECIDES, LITTLE = 0.1, 0.03


@dataclass(frozen=True)
class Sentence:
    """What is said of the rows of some tables; part by part where these are told apart by the parameters ``parts``."""

    tables: tuple[str, ...]
    tell: Callable[[Rows], str]
    parts: tuple[str, ...] = ()

    def whole(self, study: Study, rows: Rows) -> Rows:
        """The rows that it may tell of: of each part, and without ``parts`` of its tables together, all rows or none."""

        def part(row: Row) -> tuple[Any, ...]:
            return tuple(row[name] for name in self.parts)

        needed = Counter(part(row) for name in self.tables for row in study.tables[name].rows)
        chosen = rows.where(table=self.tables)
        run = Counter(map(part, chosen))
        return Rows(row for row in chosen if run[part(row)] == needed[part(row)])


def sentence(*tables: str, parts: Sequence[str] = ()) -> Callable[[Callable[[Rows], str]], Sentence]:
    """Decorator that makes a function of rows a `Sentence`.

    It is told when all of ``tables`` were run whole. With ``parts`` it tells of each of their values by itself, and is told of those
    of which all rows were run.
    """
    return lambda tell: Sentence(tables, tell, tuple(parts))


def answer(study: Study, rows: Rows, replications: int | None) -> list[str]:
    """The study's own sentences whose rows were run, then one on how well the rows agree with what was published."""
    told = [one.tell(whole) for one in study.answer if (whole := one.whole(study, rows))]
    return [*told, *agreed(study, rows, replications)]


def untold(study: Study, rows: Rows) -> str:
    """How much is not told because only a part of a table was run; empty where nothing is left out for that."""
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
        f"Not told, as only a part of their tables was run: {' and '.join(left_out)}, on {', '.join(of_tables)}."
        if left_out
        else ""
    )


def agreed(study: Study, rows: Rows, replications: int | None) -> list[str]:
    """How far simulated values are from the published ones, and how many of these are inside their ensemble's range."""
    beside = [name for name, table in study.tables.items() if table.beside]
    judged = Rows(row for row in rows if row.table not in beside)
    of = {metric: agreement(judged, metric) for metric in told_metrics(study)}
    found = {metric: one for metric, one in of.items() if one["rows"]}
    if not found:
        return []
    errors = " and ".join(f"{one['mean_abs_error']:.3f} ({_named(metric)})" for metric, one in found.items())
    text = f"Simulated values are {errors} from the published ones on average"
    if replications is not None and replications > 1:
        values = sum(one["rows"] for one in found.values())
        inside = sum(one["inside_range"] for one in found.values())
        expected = round(values * share_inside(replications))
        than = "fewer than" if inside < expected else "no fewer than"
        text += (
            f"; {inside} of {values} published values lie inside their ensemble's range ({range_name(replications)}), {than} the "
            f"{expected} that would if each were one more draw"
        )
    return [text + "."]


def _named(metric: str) -> str:
    """A metric with its unit.

    >>> _named("fairness"), _named("throughput_mbps")
    ('fairness', 'throughput, Mb/s')
    """
    return f"{metric.removesuffix('_mbps')}, Mb/s" if metric.endswith("_mbps") else metric


def means(rows: Rows, parameter: str, metric: str = "efficiency") -> dict[Any, float]:
    """Mean of a metric by value of a parameter, over the rows where it is defined; raises `UsageError` where it is in none."""
    values = {row[parameter]: rows.where(**{parameter: row[parameter]}).values(metric) for row in rows}
    for value, found in values.items():
        if not found:
            raise UsageError(
                f"{metric} is defined in no row with {parameter} = {value}, so that nothing can be said of its mean"
            )
    return {value: mean(found) for value, found in values.items()}


def apart(of: Mapping[Any, float]) -> float:
    """How far the highest is above the lowest."""
    return max(of.values()) - min(of.values())


def ranked(of: Mapping[Any, float], name: Callable[[Any], str]) -> str:
    """The highest first.

    >>> ranked({"epd": 0.5, "fba": 0.75}, str.upper)
    'FBA (0.75), EPD (0.50)'
    """
    return ", ".join(f"{name(key)} ({of[key]:.2f})" for key in sorted(of, key=lambda key: -of[key]))


def matters(spread: float) -> str:
    """How much a factor matters whose means lie so far apart.

    >>> [matters(spread) for spread in (0.2, 0.05, 0.01)]
    ['decides', 'matters a little for', 'hardly matters for']
    """
    return "decides" if spread >= DECIDES else "matters a little for" if spread >= LITTLE else "hardly matters for"


def changes(gain: float) -> str:
    """What happens to a mean.

    >>> [changes(gain) for gain in (0.25, -0.25, 0.001)]
    ['rises by 0.25', 'falls by 0.25', 'stays as it is']
    """
    if abs(gain) < 0.005:
        return "stays as it is"
    return f"{'rises' if gain > 0 else 'falls'} by {abs(gain):.2f}"
