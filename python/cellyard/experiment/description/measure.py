"""The metrics of an experiment: names for places in the results of a run, or for formulas of such values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from cellyard.experiment.description.expression import ALLOWED_IN_FORMULAS, ConditionError, Formula
from cellyard.experiment.description.problems import Path, Problems
from cellyard.results import RunResult, Totals
from cellyard.results.path import MetricPath, metric_path
from cellyard.scenario import Scenario
from cellyard.statistics.bounded import Value
from cellyard.system.errors import UsageError

if TYPE_CHECKING:
    from cellyard.study import Row, Study

#: Names that tables and conditions use in another sense.
RESERVED = ("runs", "metric", "value", "replication", "point", "met", "share", "and", "or", "not", "min", "max", "abs")

ALLOWED = (
    'a list of totals or paths, such as ["efficiency", "max(port.*.max_queue_cells)"], or a table of names with paths '
    "or formulas"
)


@dataclass(frozen=True)
class Derived:
    """A metric computed from others of a run by a formula."""

    formula: Formula
    parts: Mapping[str, Metric]

    @property
    def text(self) -> str:
        """The formula as written."""
        return self.formula.text

    @property
    def may_be_bounded(self) -> bool:
        """Whether runs may give only bounds of the metric."""
        return any(path.may_be_bounded for path in self.parts.values())

    def value_in(self, run: RunResult) -> Value:
        """The metric of a run, or its bounds; ``None`` if it is undefined."""
        return self.formula.value({name: path.value_in(run) for name, path in self.parts.items()})


@dataclass(frozen=True)
class RowMetric:
    """A metric that a study's own code computes, for the row that is the base."""

    study: Study
    row: Row
    text: str
    #: Functions of a study return numbers.
    may_be_bounded: ClassVar[bool] = False

    def value_in(self, run: RunResult) -> Value:
        """The metric of a run; ``None`` if it is undefined."""
        value: Value = self.study.measures.of(run, self.row)[self.text]
        return value


#: Source of a metric's values.
Metric: TypeAlias = MetricPath | Derived | RowMetric


def row_metrics(study: Study, row: Row) -> dict[str, Metric]:
    """The metrics that a study defines, by name. Its code runs only to compute a value."""
    stated = study.info.get("metrics", {})
    paths = {name: metric_path(text) for name, text in stated.items() if name not in ("totals", "vcs", "own")}
    return {**paths, **{name: RowMetric(study, row, name) for name in stated.get("own", ())}}


def read(data: Any, problems: Problems, of_study: Mapping[str, Metric] | None = None) -> dict[str, Metric]:
    """Valid metrics by name, from a list of names of totals and of paths, or from a table of paths and formulas.

    Metrics ``of_study``, of the study whose row is the base, take precedence over totals of the same name.
    """
    known = dict(of_study or {})
    entries: list[tuple[str, Any, Path]] = []
    if isinstance(data, Mapping):
        entries = [(str(name), text, ("metrics", str(name))) for name, text in data.items()]
    elif isinstance(data, (list, tuple)):
        entries = [(text if isinstance(text, str) else "", text, ("metrics", index)) for index, text in enumerate(data)]
    else:
        message = "is missing" if data is None else "is neither a list nor a table"
        problems.add(("metrics",), "" if data is None else data, message, allowed=ALLOWED)
        return {}
    if not entries:
        problems.add(("metrics",), data, "is empty", allowed=ALLOWED)
    metrics: dict[str, Metric | None] = {}
    formulas: dict[str, tuple[Formula, Path]] = {}
    for name, text, path in entries:
        if not isinstance(text, str):
            problems.add(path, text, "is not a text", allowed="a total, or a path such as class.vbr.cell_loss_ratio")
            continue
        plain = text.strip()
        if name in RESERVED:
            problems.add(path, name, "reserved name", allowed=f"a name other than {', '.join(RESERVED)}")
            continue
        if isinstance(data, Mapping):
            try:
                formulas[name] = Formula(plain), path
                metrics[name] = None  # in its place
                continue
            except ConditionError as error:
                if _has_operators(plain):
                    problems.add(path, text, f"malformed formula: it {error}", allowed=ALLOWED_IN_FORMULAS)
                    continue
        try:
            if plain in known:
                metrics[name or plain] = known[plain]
            elif plain in Totals.numbers() or ("." not in plain and "(" not in plain):
                if plain not in Totals.numbers():
                    problems.add(path, text, "unknown metric", near=[*known, *Totals.numbers()])
                    continue
                metrics[name or plain] = metric_path(f"totals.{plain}")
            else:
                metrics[name] = metric_path(plain)
        except UsageError as error:
            hint = ALLOWED_IN_FORMULAS if _OPERATOR.search(plain) else ""
            problems.add(path, text, f"is not the path of a metric: {error}", allowed=hint)
    reported = {name for name, _, _ in entries} - metrics.keys()
    for name, (formula, path) in formulas.items():
        metrics[name] = _derived(formula, metrics, path, problems, reported, known)
    return {name: metric for name, metric in metrics.items() if metric}


#: Operators of a formula, with blanks. Names of VCs and ports may contain operators, but no blanks.
_OPERATOR = re.compile(r"\s[-+*/]\s")


def _has_operators(text: str) -> bool:
    """Whether a text can only be meant as a formula: it has operators that no path contains."""
    is_path = "." in text or "(" in text
    return bool(_OPERATOR.search(text) or (not is_path and re.search(r"[-+*/)]", text)))


def _derived(
    formula: Formula,
    metrics: Mapping[str, Metric | None],
    path: Path,
    problems: Problems,
    reported: Collection[str],
    known: Mapping[str, Metric],
) -> Metric | None:
    """A formula with the places of its operands: metrics of the experiment that are not formulas themselves, and totals.

    Problems of the names in ``reported`` have already been reported.
    """
    paths = {name: metric for name, metric in metrics.items() if isinstance(metric, (MetricPath, RowMetric))}
    parts: dict[str, Metric] = {}
    if formula.text in known:
        return known[formula.text]
    for name in formula.names:
        if name in paths:
            parts[name] = paths[name]
        elif name in known:
            parts[name] = known[name]
        elif name in Totals.numbers():
            parts[name] = metric_path(f"totals.{name}")
        elif name not in reported:
            is_formula = name in metrics
            message = (
                "is itself a formula, and formulas contain only totals and metrics with a path"
                if is_formula
                else "is neither a metric of the experiment nor a total"
            )
            problems.add(path, name, message, near=list(dict.fromkeys([*paths, *known, *Totals.numbers()])))
    return Derived(formula, parts) if len(parts) == len(set(formula.names)) else None


def check_names(metrics: Mapping[str, Metric], data: Any, scenario: Scenario, problems: Problems) -> None:
    """Report VCs and ports in metrics that ``scenario`` does not have."""
    paths = {name: path for name, path in metrics.items() if isinstance(path, MetricPath)}
    if not any(step.word in ("vc", "port") for path in paths.values() for step in path.steps):
        return
    known = {
        "vc": [vc["name"] for vc in scenario.to_dict()["vcs"]],
        "port": [port["name"] for port in scenario.describe()["ports"]],
    }
    for index, (name, path) in enumerate(paths.items()):
        step = path.steps[0]
        if step.word in known and not any(fnmatchcase(candidate, step.name) for candidate in known[step.word]):
            position = ("metrics", name) if isinstance(data, Mapping) else ("metrics", index)
            problems.add(position, step.name, f"unknown {step.word}", near=known[step.word])
