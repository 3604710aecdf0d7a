"""A published study as data plus a small script, and the one runner that reproduces it.

A study is a folder with ``study.toml`` (citation, shared values, what is assumed), ``tables/*.csv`` as published,
``scenario.py`` (a row of a table -> a scenario), ``claims.py`` (what the text says -> does it hold) and
``figures.py``. The runner simulates each row, puts the simulated value beside the published one and judges.
"""

from __future__ import annotations

import csv
import importlib
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from cellyard.errors import UsageError, unknown
from cellyard.limits import MOST_REPLICATIONS, whole
from cellyard.results import RunResult, interval, mean, median, whole_count
from cellyard.run import Job, Store, run_jobs
from cellyard.scenario import Scenario

FOLDER = Path(__file__).parent / "studies"

#: A parameter of a row as read from its table.
Value = str | int | float

#: Metrics of `Totals` that every row reports.
METRICS = (
    "efficiency",
    "fairness",
    "goodput_mbps",
    "bottleneck_cells",
    "cells",
    "max_queue_cells",
    "cell_loss_ratio",
    "retransmitted_segments",
    "timeouts",
    "mean_cell_transfer_delay_s",
    "p99_cell_transfer_delay_s",
)


#: What is told of a class that the study names as its background, with the class's name before it.
BACKGROUND_METRICS = (
    "cell_loss_ratio",
    "max_queue_cells",
    "mean_cell_transfer_delay_s",
    "p99_cell_transfer_delay_s",
    "cell_delay_variation_s",
)


@dataclass(frozen=True)
class Row:
    """One row of a table: its parameters, what was published, and what was simulated once it has run.

    ``simulated`` holds the single run's value, or the study's `Study.centre` of an ensemble, whose 5 to 95 % ranges are in
    ``ranges``. ``doubtful`` names metrics whose printed value is in doubt; they are shown and not judged.
    """

    table: str
    parameters: Mapping[str, Any]
    published: Mapping[str, float | None]
    note: str = ""
    doubtful: frozenset[str] = frozenset()
    simulated: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __getitem__(self, parameter: str) -> Any:
        return self.parameters[parameter]

    def get(self, parameter: str, default: Any = None) -> Any:
        """A parameter that some tables lack."""
        return self.parameters.get(parameter, default)

    def matches(self, wanted: Mapping[str, Any]) -> bool:
        """Whether table and parameters are as ``wanted``; a collection means any of its values."""
        own = {"table": self.table, **self.parameters}
        return all(
            key in own and (own[key] in value if isinstance(value, (tuple, list, set)) else own[key] == value)
            for key, value in wanted.items()
        )

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
    """Rows to choose from; what claims and figures work on."""

    __slots__ = ()

    def where(self, **wanted: Any) -> Rows:
        """Rows whose table and parameters are as given; a collection means any of its values."""
        return Rows(row for row in self if row.matches(wanted))

    def values(self, metric: str) -> list[float]:
        """Simulated values of a metric, where it is defined."""
        return [float(row.simulated[metric]) for row in self if row.simulated[metric] is not None]

    def gains(self, metric: str, parameter: str, low: Value, high: Value) -> list[float]:
        """How much a metric is higher with ``parameter`` = ``high`` than with ``low``, for each of `pairs`."""
        found = ((a.simulated[metric], b.simulated[metric]) for a, b in self.pairs(parameter, low, high))
        return [b - a for a, b in found if a is not None and b is not None]

    def pairs(self, parameter: str, low: Value, high: Value) -> list[tuple[Row, Row]]:
        """Rows that differ in one parameter only: with its value ``low`` and ``high``."""

        def others(row: Row) -> tuple[Any, ...]:
            return (row.table, *((k, v) for k, v in row.parameters.items() if k != parameter))

        partner = {others(row): row for row in self if row.get(parameter) == high}
        return [(row, partner[others(row)]) for row in self if row.get(parameter) == low and others(row) in partner]


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and the numbers that say so."""

    holds: bool
    evidence: str


@dataclass(frozen=True)
class Claim:
    """Something that a study's text says, judged on the rows of the tables it needs."""

    text: str
    tables: tuple[str, ...]
    judge: Callable[[Rows], Verdict]


def claim(text: str, *tables: str) -> Callable[[Callable[[Rows], Verdict]], Claim]:
    """Decorator that makes a function of rows a `Claim`; it is judged when all of ``tables`` were run."""
    return lambda judge: Claim(text, tables, judge)


def count(pairs: Iterable[bool]) -> tuple[int, int]:
    """How many hold, of how many.

    >>> count([True, False, True])
    (2, 3)
    """
    held = list(pairs)
    return sum(held), len(held)


@dataclass(frozen=True)
class Table:
    """A table of a study; ``metrics`` are its published columns, ``published`` is false for rows of our own.

    ``beside`` names the table whose rows these are with one option changed: its results make a second column there
    and do not count in the overall agreement.
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    rows: Rows
    published: bool
    beside: str | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameter columns."""
        return tuple(self.rows[0].parameters) if self.rows else ()


@dataclass(frozen=True)
class Study:
    """A study: its folder and what its files say."""

    name: str
    folder: Path
    info: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Title of the publication."""
        return str(self.info["citation"]["title"])

    @property
    def group_by(self) -> tuple[str, ...]:
        """Parameters by which agreement is also summed up group by group."""
        return tuple(self.info["group_by"])

    @cached_property
    def tables(self) -> dict[str, Table]:
        """Tables by name, in order."""
        return {entry["name"]: _read_table(self, entry) for entry in self.info["table"]}

    @property
    def centre(self) -> str:
        """What an ensemble's ``simulated`` values are: ``median`` (default), or ``mean`` where outcomes have two modes.

        The median of two modes is one of them, and a few draws more or less decide which.
        """
        return str(self.info.get("centre", "median"))

    @property
    def background(self) -> str | None:
        """The class of the traffic beside the TCPs whose loss, queue and delay are metrics of every row."""
        return self.info.get("background")

    @property
    def simulated_metrics(self) -> tuple[str, ...]:
        """Metrics that every row reports: `METRICS`, and those of the background as ``vbr_max_queue_cells``."""
        own = BACKGROUND_METRICS if self.background else ()
        return (*METRICS, *(f"{self.background}_{metric}" for metric in own))

    def part(self, name: str) -> ModuleType:
        """One of the study's own modules: ``scenario``, ``claims`` or ``figures``."""
        return importlib.import_module(f"cellyard.studies.{self.folder.name}.{name}")

    def second_column(self, table: Table, rows: Rows) -> tuple[Table, list[Row | None]] | None:
        """The table beside ``table`` in ``rows``, if there is one, and its row for each row of ``table``."""
        for other in self.tables.values():
            if other.beside == table.name and (theirs := rows.where(table=other.name)):
                same = {tuple(row.parameters[p] for p in table.parameters): row for row in theirs}
                own = rows.where(table=table.name)
                return other, [same.get(tuple(row.parameters.values())) for row in own]
        return None

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the text says, in order."""
        return tuple(self.part("claims").CLAIMS)

    def scenario(self, row: Row) -> Scenario:
        """The scenario of a row."""
        made: Scenario = self.part("scenario").scenario(row, self.info["shared"])
        return made


def studies() -> dict[str, Study]:
    """All studies by name."""
    found = {}
    for path in sorted(FOLDER.glob("*/study.toml")):
        info = tomllib.loads(path.read_text(encoding="utf-8"))
        found[info["name"]] = Study(info["name"], path.parent, info)
    return found


def load(name: str) -> Study:
    """The study of that name; raises `UsageError` when there is none."""
    known = studies()
    if name not in known:
        raise unknown("study", name, known)
    return known[name]


def select(study: Study, tables: Sequence[str] = (), where: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> Rows:
    """Rows of ``tables`` (all when empty) whose parameters are as ``where`` says.

    A name that comes more than once in ``where`` may have any of its values. Raises `UsageError` on unknown names, and on
    values that no row has.
    """
    for name in tables:
        if name not in study.tables:
            raise unknown(f"{study.name}: table", name, study.tables)
    chosen = [table for name, table in study.tables.items() if not tables or name in tables]
    rows = Rows(row for table in chosen for row in table.rows)
    wanted: dict[str, list[str]] = {}
    for key, text in where.items() if isinstance(where, Mapping) else where:
        wanted.setdefault(key, []).append(text)
    for key, texts in wanted.items():
        known = {parameter for table in chosen for parameter in table.parameters}
        if key not in known:
            raise unknown("parameter", key, known)
        there = dict.fromkeys(str(row.parameters[key]) for row in rows if key in row.parameters)
        for text in texts:
            if not rows.where(**{key: _value(text)}):
                known_values = f"there are: {', '.join(there)}" if there else f"the rows chosen so far have no {key}"
                raise UsageError(f"no row has {key} = {text}; {known_values}")
        rows = rows.where(**{key: [_value(text) for text in texts]})
    return rows


def _value(text: str) -> Value:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_table(study: Study, entry: Mapping[str, Any]) -> Table:
    metrics = tuple(entry["metrics"])
    doubts = [doubt for doubt in study.info.get("doubtful", ()) if doubt["table"] == entry["name"]]
    rows = []
    with (study.folder / "tables" / entry["file"]).open(encoding="utf-8", newline="") as file:
        for record in csv.DictReader(file):
            note = record.pop("note", "") or ""
            published = {m: float(text) if (text := record.pop(m, "")) else None for m in metrics}
            row = Row(entry["name"], {k: _value(v) for k, v in record.items()}, published, note)
            doubtful = {m for doubt in doubts if row.matches(doubt["row"]) for m in doubt["metrics"]}
            rows.append(replace(row, doubtful=frozenset(doubtful)))
    return Table(entry["name"], entry["title"], metrics, Rows(rows), entry.get("published", True), entry.get("beside"))


class Reproduction:
    """A study, or some of its rows, being simulated.

    Iterate over `advance` to run it; `rows`, `summary` and `claims` can be read at any time and cover
    the rows that are complete. ``replications`` is ``None`` for a single run of each row as published. Raises `UsageError`
    when it is out of bounds.
    """

    def __init__(self, study: Study, rows: Rows, *, replications: int | None = None, seed: int = 1) -> None:
        whole("replications", replications, most=MOST_REPLICATIONS)
        self.study = study
        self.replications = replications
        self.seed = seed
        self.cpu_seconds = 0.0
        self._rows = rows
        draws: tuple[int | None, ...] = (None,) if replications is None else tuple(range(replications))
        self._jobs: list[Job] = []
        for row in rows:
            text = study.scenario(row).with_seed(seed).canonical
            self._jobs.extend(Job(text, draw) for draw in draws)
        self._per_row = len(draws)
        self._results: dict[int, RunResult] = {}

    @property
    def total(self) -> int:
        """Number of runs."""
        return len(self._jobs)

    def advance(self, *, threads: int | None = None, store: Store | None = None) -> Iterator[int]:
        """Simulate; yields the number of finished runs after each. Close the iterator to stop: what was finished stays."""
        for finished in run_jobs(self._jobs, threads=threads, store=store, keep=_needed):
            self._results[finished.index] = RunResult(finished.result)
            self.cpu_seconds += finished.cpu_seconds
            yield len(self._results)

    @property
    def complete(self) -> bool:
        """Whether every run has finished."""
        return len(self._results) == self.total

    @property
    def rows(self) -> Rows:
        """Rows with all their runs, in the order of the tables."""
        rows = []
        for place, row in enumerate(self._rows):
            runs = [self._results.get(place * self._per_row + i) for i in range(self._per_row)]
            if all(runs):
                rows.append(self._judge(row, [run for run in runs if run]))
        return Rows(rows)

    def _judge(self, row: Row, runs: Sequence[RunResult]) -> Row:
        totals = [{**run.data["totals"], **self._background(run)} for run in runs]
        centre = {"mean": mean, "median": median}[self.study.centre]
        simulated: dict[str, Any] = {}
        ranges = {}
        for metric in self.study.simulated_metrics:
            values = [float(t[metric]) for t in totals if t.get(metric) is not None]
            simulated[metric] = whole_count(centre(values), is_count=metric.endswith(("cells", "segments", "timeouts")))
            ends = interval(values)
            if self.replications is not None and ends:
                ranges[metric] = ends
        flows = [[vc["goodput_mbps"] for vc in run.data["vcs"]] for run in runs]
        simulated["vc_goodput_mbps"] = [centre(values) for values in zip(*flows, strict=True)]
        return replace(row, simulated=simulated, ranges=ranges)

    def _background(self, run: RunResult) -> dict[str, Any]:
        """Metrics of the study's background in a run; none when the run has no such class."""
        name = self.study.background
        found = [of_class for of_class in run.data["classes"] if of_class["class"] == name]
        return {f"{name}_{metric}": of_class[metric] for of_class in found for metric in BACKGROUND_METRICS}

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Every claim whose tables were run whole, judged."""
        rows = self.rows
        whole = {name for name, table in self.study.tables.items() if len(rows.where(table=name)) == len(table.rows)}
        judged = []
        for item in self.study.claims:
            if whole.issuperset(item.tables):
                verdict = item.judge(rows)
                judged.append({"text": item.text, "holds": verdict.holds, "evidence": verdict.evidence})
        return judged

    def summary(self) -> dict[str, dict[str, Any]]:
        """Agreement with the published values by metric, over all rows and per table and group.

        Tables beside others (`Table.beside`) are groups only; ``without_tables`` names them.
        """
        rows = self.rows
        metrics = dict.fromkeys(m for table in self.study.tables.values() for m in table.metrics)
        found = {}
        beside = [name for name, table in self.study.tables.items() if table.beside and rows.where(table=name)]
        without = {"without_tables": beside} if beside else {}
        for metric in metrics:
            whole = agreement(Rows(row for row in rows if row.table not in beside), metric)
            if whole["rows"]:
                found[metric] = {**whole, **without, "groups": self._groups(rows, metric)}
        return found

    def _groups(self, rows: Rows, metric: str) -> list[dict[str, Any]]:
        keys: dict[tuple[tuple[str, Any], ...], None] = {}
        for row in rows:
            group = tuple((k, row.parameters[k]) for k in self.study.group_by if k in row.parameters)
            keys.setdefault((("table", row.table),))
            keys.setdefault((("table", row.table), *group))
        groups = []
        for key in keys:
            chosen = dict(key)
            judged = agreement(Rows(row for row in rows if row.matches(chosen)), metric)
            if judged["rows"]:
                groups.append({**chosen, **judged})
        return groups

    def to_dict(self, *, wall_seconds: float) -> dict[str, Any]:
        """The JSON document; everything but ``timing`` is the same for any number of threads."""
        from cellyard import _engine

        rows = self.rows
        return {
            "study": self.study.name,
            "engine_version": _engine.version(),
            "seed": self.seed,
            "replications": self.replications,
            "centre": None if self.replications is None else self.study.centre,
            "complete": self.complete,
            "rows": [row.to_dict() for row in rows],
            "summary": self.summary(),
            "claims": self.claims,
            "cells": sum(run.data["totals"]["cells"] for run in self._results.values()),
            "bottleneck_cells": sum(run.data["totals"]["bottleneck_cells"] for run in self._results.values()),
            "timing": {"cpu_seconds": self.cpu_seconds, "wall_seconds": wall_seconds},
        }


def _needed(result: dict[str, Any]) -> dict[str, Any]:
    """Totals, goodputs and classes: thousands of runs with all their ports would be large."""

    def longest_queue(name: str) -> int:
        of_ports = (of_class for port in result["ports"] for of_class in port["classes"])
        return max((c["max_queue_cells"] for c in of_ports if c["class"] == name), default=0)

    classes = [{**of_class, "max_queue_cells": longest_queue(of_class["class"])} for of_class in result["classes"]]
    vcs = [{key: vc[key] for key in ("name", "traffic", "goodput_mbps")} for vc in result["vcs"]]
    return {"name": result["name"], "totals": result["totals"], "vcs": vcs, "classes": classes}


def agreement(rows: Rows, metric: str) -> dict[str, Any]:
    """How well a metric agrees with its published values.

    Mean absolute error in the metric's own unit, Spearman's rank correlation (``None`` for fewer than three
    rows or constant values), and how many published values lie inside the ensemble's 5 to 95 % range
    (``None`` without replications).
    """
    judged = [
        row
        for row in rows
        if row.published.get(metric) is not None
        and metric not in row.doubtful
        and row.simulated.get(metric) is not None
    ]
    simulated = [float(row.simulated[metric]) for row in judged]
    published = [float(row.published[metric] or 0) for row in judged]
    errors = [abs(s - p) for s, p in zip(simulated, published, strict=True)]
    inside = [inside_range(row, metric) for row in judged if metric in row.ranges]
    return {
        "rows": len(judged),
        "mean_abs_error": sum(errors) / len(errors) if errors else None,
        "rank_correlation": rank_correlation(simulated, published),
        "inside_range": sum(inside) if inside else None,
    }


def inside_range(row: Row, metric: str) -> bool:
    """Whether the published value, which was rounded for print, can be one from the ensemble's range."""
    low, high = row.ranges[metric]
    half = 0.5 if metric.endswith("cells") else 0.005
    return low - half <= float(row.published[metric] or 0) <= high + half


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Spearman's rank correlation: Pearson's correlation of the ranks, ties sharing their mean rank.

    >>> rank_correlation([1, 2, 3], [10, 30, 20])
    0.5
    >>> rank_correlation([1, 1, 1], [1, 2, 3]) is None
    True
    """
    import numpy as np

    if len(a) < 3:
        return None
    ranks = []
    for values in (a, b):
        _, place, times = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
        last = np.cumsum(times)
        ranks.append((last - (times - 1) / 2)[place])
    x, y = (r - r.mean() for r in ranks)
    scale = math.sqrt(float((x * x).sum() * (y * y).sum()))
    return float((x * y).sum()) / scale if scale else None
