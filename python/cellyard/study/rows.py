"""Rows of a study's tables: parameters, published and simulated values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cellyard.results.types import Totals

#: Totals that are counts.
COUNTS = frozenset(name for name, is_count in Totals.numbers().items() if is_count)

#: Default rounding of published values.
PRINTED = 0.01

#: A parameter of a row as read from its table.
Value = str | int | float


@dataclass(frozen=True)
class Row:
    """One row of a table: its parameters, its published values, and its simulated values once it has run.

    ``simulated`` holds the value of a single run, or the study's `Study.centre` of an ensemble of
    ``runs``. ``ranges`` holds the ensemble's ranges (`cellyard.statistics.ranges.interval`), and
    ``samples`` its values by replication. ``doubtful`` names metrics whose printed value is in
    doubt; they are shown but not judged. ``counts`` names metrics that are whole numbers in every
    run and were printed as such. The others were rounded to ``printed``, for all or by metric.
    """

    table: str
    parameters: Mapping[str, Any]
    published: Mapping[str, float | None]
    note: str = ""
    doubtful: frozenset[str] = frozenset()
    simulated: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    samples: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    counts: frozenset[str] = COUNTS
    runs: int = 1
    printed: float | Mapping[str, float] = PRINTED

    def __getitem__(self, parameter: str) -> Any:
        return self.parameters[parameter]

    def watched(self, *probes: Any) -> Row:
        """The row with ``probes`` in its scenario."""
        return replace(self, parameters={**self.parameters, "probes": probes})

    def get(self, parameter: str, default: Any = None) -> Any:
        """A parameter, or ``default`` if the table lacks it."""
        return self.parameters.get(parameter, default)

    def matches(self, wanted: Mapping[str, Any]) -> bool:
        """Whether table and parameters match ``wanted``; a collection means any of its values."""
        own = {"table": self.table, **self.parameters}
        return all(
            key in own and (own[key] in value if isinstance(value, (tuple, list, set)) else own[key] == value)
            for key, value in wanted.items()
        )

    def rounded_to(self, metric: str) -> float:
        """Rounding of a published value that is not a count, in the metric's unit; by default 0.01.

        >>> Row("1", {}, {}, printed={"goodput_mbps": 0.1}).rounded_to("goodput_mbps")
        0.1
        """
        return self.printed.get(metric, PRINTED) if isinstance(self.printed, Mapping) else self.printed

    def to_dict(self) -> dict[str, Any]:
        """The row's JSON document."""
        document: dict[str, Any] = {"table": self.table, **self.parameters}
        document["simulated"] = dict(self.simulated)
        document["published"] = dict(self.published)
        if self.ranges:
            document["range"] = {metric: list(ends) for metric, ends in self.ranges.items()}
        if self.note:
            document["note"] = self.note
        if self.doubtful:
            document["not_judged"] = sorted(self.doubtful)
        return document


class Rows(tuple[Row, ...]):
    """A sequence of rows with selections, for claims and figures."""

    __slots__ = ()

    def where(self, **wanted: Any) -> Rows:
        """Rows whose table and parameters match; a collection means any of its values."""
        return Rows(row for row in self if row.matches(wanted))

    def values(self, metric: str) -> list[float]:
        """Simulated values of a metric, where it is defined."""
        return [float(row.simulated[metric]) for row in self if row.simulated[metric] is not None]

    def gains(self, metric: str, parameter: str, low: Value, high: Value) -> list[float]:
        """Increase of a metric from ``parameter`` = ``low`` to ``high``, for each of `pairs`."""
        found = ((a.simulated[metric], b.simulated[metric]) for a, b in self.pairs(parameter, low, high))
        return [b - a for a, b in found if a is not None and b is not None]

    def pairs(self, parameter: str, low: Value, high: Value) -> list[tuple[Row, Row]]:
        """Pairs of rows that differ only in one parameter: with its value ``low`` and ``high``."""

        def others(row: Row) -> tuple[Any, ...]:
            return (row.table, *((k, v) for k, v in row.parameters.items() if k != parameter))

        partner = {others(row): row for row in self if row.get(parameter) == high}
        return [(row, partner[others(row)]) for row in self if row.get(parameter) == low and others(row) in partner]
