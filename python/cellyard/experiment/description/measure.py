"""The metrics of an experiment: names for places in the results of a run, or for formulas of such values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from cellyard.experiment.description.expression import ALLOWED_IN_FORMULAS, ConditionError, Formula
from cellyard.experiment.description.problems import Path, Problems
from cellyard.results import RunResult, Totals
from cellyard.results.path import MetricPath, metric_path
from cellyard.scenario import Scenario
from cellyard.statistics.ranges import Number
from cellyard.system.errors import UsageError

#: Names with another meaning in tables and conditions.
RESERVED = ("runs", "metric", "value", "replication", "point", "share", "and", "or", "not", "min", "max", "abs")

ALLOWED = (
    'names of totals or paths, as ["efficiency", "max(port.*.max_queue_cells)"], or a table of names with their paths, '
    "or with formulas of other metrics"
)


@dataclass(frozen=True)
class Derived:
    """A metric computed from others of a run by a formula."""

    formula: Formula
    parts: Mapping[str, MetricPath]

    @property
    def text(self) -> str:
        """The formula as written."""
        return self.formula.text

    def of(self, run: RunResult) -> Number:
        """The metric of a run; ``None`` where it is undefined."""
        return self.formula.of({name: path.of(run) for name, path in self.parts.items()})


#: Source of a metric's values.
Metric: TypeAlias = MetricPath | Derived


def read(stated: Any, problems: Problems) -> dict[str, Metric]:
    """Valid metrics by name, from a list of names of totals and of paths, or from a table of paths and formulas."""
    entries: list[tuple[str, Any, Path]] = []
    if isinstance(stated, Mapping):
        entries = [(str(name), text, ("metrics", str(name))) for name, text in stated.items()]
    elif isinstance(stated, (list, tuple)):
        entries = [
            (text if isinstance(text, str) else "", text, ("metrics", place)) for place, text in enumerate(stated)
        ]
    else:
        message = "is missing" if stated is None else "is neither a list nor a table"
        problems.add(("metrics",), "" if stated is None else stated, message, allowed=ALLOWED)
        return {}
    if not entries:
        problems.add(("metrics",), stated, "is empty", allowed=ALLOWED)
    found: dict[str, Metric | None] = {}
    formulas: dict[str, tuple[Formula, Path]] = {}
    for name, text, path in entries:
        if not isinstance(text, str):
            problems.add(path, text, "is not text", allowed="a name of totals, or a path as class.vbr.cell_loss_ratio")
            continue
        plain = text.strip()
        if name in RESERVED:
            problems.add(path, name, "is a name of something else", allowed=f"another name; not {', '.join(RESERVED)}")
            continue
        if isinstance(stated, Mapping) and (formula := _formula(plain)):
            found[name], formulas[name] = None, (formula, path)  # in its place
            continue
        try:
            if plain in Totals.numbers() or ("." not in plain and "(" not in plain):
                if plain not in Totals.numbers():
                    problems.add(path, text, "unknown metric", near=Totals.numbers())
                    continue
                found[name or plain] = metric_path(f"totals.{plain}")
            else:
                found[name] = metric_path(plain)
        except UsageError as error:
            hint = ALLOWED_IN_FORMULAS if _OPERATOR.search(plain) else ""
            problems.add(path, text, f"leads nowhere: {error}", allowed=hint)
    told = {name for name, _, _ in entries} - found.keys()
    for name, (formula, path) in formulas.items():
        found[name] = _derived(formula, found, path, problems, told)
    return {name: metric for name, metric in found.items() if metric}


#: Operators of a formula, with blanks. Names of VCs and ports may contain operators, but no blanks.
_OPERATOR = re.compile(r"\s[-+*/]\s")


def _formula(text: str) -> Formula | None:
    """The formula in a text; ``None`` for a path, which has dots between names."""
    try:
        return Formula(text)
    except ConditionError:
        return None


def _derived(
    formula: Formula, there: Mapping[str, Metric | None], path: Path, problems: Problems, told: Collection[str]
) -> Derived | None:
    """A formula with the places of its operands: metrics of the experiment that are not formulas themselves, and totals.

    Problems of the names in ``told`` have already been reported.
    """
    paths = {name: metric for name, metric in there.items() if isinstance(metric, MetricPath)}
    parts: dict[str, MetricPath] = {}
    for name in formula.names:
        if name in paths:
            parts[name] = paths[name]
        elif name in Totals.numbers():
            parts[name] = metric_path(f"totals.{name}")
        elif name not in told:
            what = "is a formula itself" if name in there else "is neither a metric of the experiment nor a total"
            problems.add(path, name, what, near=list(dict.fromkeys([*paths, *Totals.numbers()])))
    return Derived(formula, parts) if len(parts) == len(set(formula.names)) else None


def check_names(metrics: Mapping[str, Metric], stated: Any, scenario: Scenario, problems: Problems) -> None:
    """Report VCs and ports in metrics that ``scenario`` does not have."""
    paths = {name: path for name, path in metrics.items() if isinstance(path, MetricPath)}
    if not any(step.word in ("vc", "port") for path in paths.values() for step in path.steps):
        return
    there = {
        "vc": [vc["name"] for vc in scenario.to_dict()["vcs"]],
        "port": [port["name"] for port in scenario.describe()["ports"]],
    }
    for number, (name, path) in enumerate(paths.items()):
        step = path.steps[0]
        if step.word in there and not any(fnmatchcase(one, step.name) for one in there[step.word]):
            place = ("metrics", name) if isinstance(stated, Mapping) else ("metrics", number)
            problems.add(place, step.name, f"unknown {step.word}", near=there[step.word])
