"""Metrics that a study measures in every run: the entry ``[metrics]`` of its ``study.toml``, and its module ``metrics``."""

import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from cellyard.results import RunResult, Totals, VcResult, run_notes
from cellyard.results.part import ResultPart
from cellyard.results.path import MetricPath, metric_path
from cellyard.statistics.bounded import Bounded
from cellyard.statistics.ranges import Number
from cellyard.study.rows import Row
from cellyard.system.errors import UsageError, unknown

#: Default totals.
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

#: Default metrics of each VC.
VC_METRICS = ("goodput_mbps",)


@dataclass(frozen=True)
class Measures:
    """Metrics of every run: totals, numbers at paths, results of the study's own function, and metrics of each VC.

    ``file`` is the source of the metrics, for errors.
    """

    file: Path
    totals: tuple[str, ...] = METRICS
    vcs: tuple[str, ...] = VC_METRICS
    paths: Mapping[str, MetricPath] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    module: ModuleType | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Metrics with one number per run."""
        return (*self.totals, *self.paths, *self.own)

    @property
    def vc_names(self) -> tuple[str, ...]:
        """Metrics with one number per VC, in the scenario's order."""
        return tuple(f"vc_{name}" for name in self.vcs)

    @cached_property
    def bounded(self) -> frozenset[str]:
        """Metrics of which runs may give only bounds, and then have no value here."""
        paths = {name: metric_path(f"totals.{name}") for name in self.totals} | dict(self.paths)
        paths |= {name: metric_path(f"max(vc.*.{of})") for name, of in zip(self.vc_names, self.vcs, strict=True)}
        return frozenset(name for name, path in paths.items() if path.may_be_bounded)

    @cached_property
    def identity(self) -> str:
        """A text that differs whenever other metrics are measured, or in another way."""
        source = inspect.getsource(self.module) if self.module else None
        paths = {name: path.text for name, path in self.paths.items()}
        return json.dumps([self.totals, self.vcs, paths, self.own, source])

    def of(self, run: RunResult, row: Row) -> dict[str, Any]:
        """All metrics of a run of ``row``, ``None`` if not known; raises `UsageError` when a path does not exist in it."""
        found: dict[str, Any] = {name: getattr(run.totals, name) for name in self.totals}
        for name, path in self.paths.items():
            try:
                value = path.value_in(run)
                found[name] = None if isinstance(value, Bounded) else value
            except UsageError as error:
                raise UsageError(f"{_place(self.file, name, path.text)}: {run.name}: {error}") from None
        found |= self._own(run, row)
        of_vcs = zip(self.vc_names, self.vcs, strict=True)
        return found | {name: [getattr(vc, number) for vc in run.vcs.values()] for name, number in of_vcs}

    def _own(self, run: RunResult, row: Row) -> dict[str, Number]:
        if not self.module:
            return {}
        given: dict[str, Number] = self.module.metrics(run, row)
        if set(given) != set(self.own):
            names = ", ".join(sorted(given)) or "nothing"
            raise UsageError(f"{self.file}: [metrics] own = {list(self.own)}: its module metrics gives {names}")
        for name, value in given.items():
            if not (value is None or (isinstance(value, (int, float)) and math.isfinite(value))):
                raise UsageError(f"{self.file}: its module metrics gives {name} = {value!r}: must be a number or None")
        return {name: given[name] for name in self.own}


@dataclass(frozen=True)
class RowMetrics:
    """The kept part of a run for ``rows`` with one scenario.

    It holds the metrics of each row, what notes on finished runs need, and cell counts that measure
    the work.
    """

    measures: Measures
    rows: tuple[Row, ...]

    @cached_property
    def identity(self) -> str:
        """A text that differs whenever something else would be kept of the run."""
        own = [[row.table, dict(row.parameters)] for row in self.rows]
        return json.dumps([self.measures.identity, own if self.measures.module else len(own), "facts"])

    def __call__(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """The kept part of the engine's document of a run."""
        run = RunResult(result)
        totals = run.totals
        metrics = [self.measures.of(run, row) for row in self.rows]
        return {
            "metrics": metrics,
            "facts": run_notes.facts(result),
            "cells": totals.cells,
            "bottleneck_cells": totals.bottleneck_cells,
        }


def read(stated: Mapping[str, Any], file: Path, own_module: Callable[[], ModuleType]) -> Measures:
    """Read ``[metrics]`` of ``file``; raises `UsageError` naming the file for invalid metrics.

    ``totals`` and ``vcs`` list fields of `Totals` and of each `VcResult`. ``own`` lists results of
    the function ``metrics(run, row)`` of the study's module. Any other entry maps a metric's name
    to its path.
    """
    paths = {}
    for name, text in stated.items():
        if name in ("totals", "vcs", "own"):
            continue
        try:
            if not isinstance(text, str):
                raise UsageError("must be a path in quotes: class.vbr.cell_loss_ratio")
            paths[name] = metric_path(text)
        except UsageError as error:
            raise UsageError(f"{_place(file, name, text)}: {error}") from None
    own = _names(stated, "own", (), file)
    measures = Measures(
        file,
        _fields(stated, "totals", METRICS, Totals, file),
        _fields(stated, "vcs", VC_METRICS, VcResult, file),
        paths,
        own,
        own_module() if own else None,
    )
    names = [*measures.names, *measures.vc_names]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{file}: [metrics]: {name} is stated twice")
    return measures


def _names(stated: Mapping[str, Any], key: str, default: tuple[str, ...], file: Path) -> tuple[str, ...]:
    given = stated.get(key, default)
    if not (isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given)):
        raise UsageError(f"{_place(file, key, given)}: must be a list of names")
    return tuple(given)


def _fields(
    stated: Mapping[str, Any], key: str, default: tuple[str, ...], kind: type[ResultPart], file: Path
) -> tuple[str, ...]:
    names = _names(stated, key, default, file)
    for name in names:
        if name not in kind.numbers():
            raise unknown(f"{file}: [metrics] {key}: metric", name, kind.numbers())
    return names


def _place(file: Path, name: str, value: Any) -> str:
    return f"{file}: [metrics] {name} = {json.dumps(value)}"
