"""Experiments and their outcomes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cellyard.experiment import coverage, notes, reading, records
from cellyard.experiment.description.axes import Axis, Range
from cellyard.experiment.description.design import Design, Point
from cellyard.experiment.description.expression import ConditionError
from cellyard.experiment.description.problems import Problems
from cellyard.experiment.plan import Answer, Expected, Plan
from cellyard.experiment.questions.question import Question
from cellyard.experiment.runner import PointRunner
from cellyard.results import run_notes
from cellyard.runs.batch import Job, check_memory
from cellyard.runs.expected import outline, process_bytes, seconds
from cellyard.runs.runner import RUNS_PER_BATCH, CachedRunner, Runner
from cellyard.scenario import Scenario, read_text
from cellyard.show import frame
from cellyard.show.columns import as_columns
from cellyard.show.hints import USE_FAIR_SHARES
from cellyard.show.notebook import sentences_html, table_html
from cellyard.show.text import format_value
from cellyard.show.words import counted
from cellyard.statistics.bounded import Value, field_value
from cellyard.system.errors import ScenarioError, UsageError
from cellyard.system.format import common_noun, of_scenario
from cellyard.system.progress import NotebookProgress
from cellyard.system.terminal import printable
from cellyard.system.values import as_python, plain

if TYPE_CHECKING:
    from cellyard.plot import Drawn
    from cellyard.runs.cluster import Workers
    from cellyard.store import Store

#: Limit on the points whose scenarios are asked for their cost. Beyond it, the cost is
#: extrapolated.
MOST_COSTED = 200


class Experiment:
    """A checked experiment: ``base`` varied along ``axes``, ``metrics`` measured, one ``question`` answered.

    ``base`` is a scenario, or a table as in a file: ``{"example": "lan-5"}``. ``set`` holds values
    to set in it. ``metrics`` are names of `Totals` and paths, or a mapping of names to paths.
    Raises `cellyard.errors.ExperimentError` with all problems.
    """

    def __init__(
        self,
        *,
        name: str,
        base: Scenario | Mapping[str, Any],
        metrics: Sequence[str] | Mapping[str, str],
        question: Question | str = "table",
        axes: Sequence[Axis] = (),
        title: str = "",
        set: Mapping[str, Any] | None = None,  # noqa: A002
        constraints: Sequence[str] = (),
        design: Design | str = "grid",
        replications: int = 20,
        seed: int | None = None,
    ) -> None:
        data: dict[str, Any] = {
            "name": name,
            "axis": [_axis_data(axis, i) for i, axis in enumerate(axes)],
            "metrics": dict(metrics)
            if isinstance(metrics, Mapping)
            else metrics
            if isinstance(metrics, str)
            else list(metrics),
            "question": question if isinstance(question, str) else _table(question),
            "design": design if isinstance(design, str) else _table(design),
            "replications": as_python(replications),
        }
        scenario = base if isinstance(base, Scenario) else None
        optional = {
            "title": title or None,
            "base": None if scenario else base,
            "set": {key: plain(value, key) for key, value in set.items()} if set else None,
            "constraints": [constraints] if isinstance(constraints, str) else list(constraints) or None,
            "seed": as_python(seed),
        }
        data |= {key: value for key, value in optional.items() if value is not None}
        self.plan, self.question = reading.read(data, Problems(), Path(), scenario=scenario, run_code=True)

    @classmethod
    def from_plan(cls, plan: Plan, question: Question) -> Experiment:
        """The experiment of a plan whose base is known."""
        made = cls.__new__(cls)
        made.plan, made.question = plan, question
        return made

    @classmethod
    def from_toml(
        cls, text: str, *, file: str = "experiment", folder: Path | None = None, run_code: bool = False
    ) -> Experiment:
        """Read an experiment from TOML text. Files that it names are relative to ``folder``, by default the current one.

        If the base is a row of a study in a folder, the code of that study makes the scenario. The
        code runs only with ``run_code``; otherwise such a description raises `UsageError`.
        """
        plan, question = reading.read_toml(text, file, folder or Path(), run_code=run_code)
        if plan.code:
            code = plan.code / "scenario.py"
            raise UsageError(
                printable(f"{file}: base.study: code in {code} builds the scenario; set run_code=True to run it")
            )
        return cls.from_plan(plan, question)

    @classmethod
    def read(cls, path: str | Path, *, run_code: bool = False) -> Experiment:
        """Read an experiment from a TOML file, like `from_toml`; raises `UsageError` when the file cannot be read."""
        return cls.from_toml(read_text(Path(path)), file=str(path), folder=Path(path).parent, run_code=run_code)

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self.plan.name

    def _repr_html_(self) -> str:
        """Show the question, the base, the axes with their values, and the expected cost."""
        plan, cost = self.plan, self.cost()
        most = "at most " if cost.expected.at_most else ""
        sentences = [
            f"Question: {self.question.kind}. Base: {plan.base_summary}. Metrics: {', '.join(plan.metrics)}.",
            f"{most}{counted(cost.expected.points, 'point')}, {counted(cost.expected.runs, 'run')}, "
            f"about {cost.cpu_seconds:.2g} s of CPU time in the engine",
            *(f"note: {note}" for note in self.notes),
        ]
        axes = [[axis.name, ", ".join(axis.paths), _values_in_short(axis)] for axis in plan.axes]
        return sentences_html(plan.title or plan.name, sentences) + table_html(["axis", "path", "values"], axes)

    def expected(self) -> Expected:
        """Number of points and runs, an upper bound where the question may stop earlier."""
        return self.question.expected(self.plan)

    def check_memory(self, memory: str | int | None) -> None:
        """Raise the `UsageError` of `run` if a run of a sample of the points may need more than ``memory``."""
        jobs = [Job(scenario.canonical, 0) for scenario in self._sampled_scenarios()]
        check_memory(jobs, runs=min(self.expected().runs, RUNS_PER_BATCH), memory=memory)

    def cost(self) -> Cost:
        """Predicted cost."""
        expected = self.expected()
        facts = [outline(scenario.canonical) for scenario in self._sampled_scenarios()]
        mean = sum(seconds(fact, replicated=True) for fact in facts) / len(facts)
        most = max(int(fact["memory_bytes"]) for fact in facts)
        return Cost(expected, mean * expected.runs, most, max(map(process_bytes, facts)))

    @cached_property
    def noun(self) -> str:
        """What a reader calls a cell of these scenarios: "cell" or "packet"."""
        return common_noun(of_scenario(scenario.canonical).noun for scenario in self._sampled_scenarios())

    @property
    def figure_facts(self) -> dict[str, Any]:
        """What figures show besides results, for `cellyard.experiment.figures.figures`."""
        from cellyard.plot.notes import tcps

        scenarios = [scenario.canonical for scenario in self._sampled_scenarios()]
        return {
            "noun": self.noun,
            "tcp": tcps(scenarios),
            "log": [axis.name for axis in self.plan.axes if axis.is_log],
        }

    def _sampled_scenarios(self) -> Iterator[Scenario]:
        """The scenarios of a sample of the points."""
        return map(self.scenario, self.plan.sample_points(MOST_COSTED) or [Point(())])

    @cached_property
    def notes(self) -> list[str]:
        """Notes about the scenarios, each once with its points. Of many points only a sample is checked."""
        return notes.notes(self.plan, self.question, self.scenario)

    def scenario(self, point: Point) -> Scenario:
        """The scenario of a point; raises `ScenarioError` when it is invalid."""
        return self.plan.scenario(point.levels)

    def engine(self, on_progress: Callable[..., None] | None = None, **options: Any) -> PointRunner:
        """The runner that simulates; ``options`` are further arguments of `cellyard.runs.batch.run_jobs`."""
        return PointRunner(self.plan, on_progress=on_progress, **options)

    def run(
        self,
        *,
        jobs: int | None = None,
        memory: str | int | None = None,
        store: Store | None = None,
        on: str | Workers | None = None,
        workers: int | None = None,
        runner: Runner[Point] | None = None,
    ) -> Outcome:
        """Answer the question; ``jobs``, ``memory``, ``store``, ``on`` and ``workers`` are as for `Scenario.run`.

        Workers serve all runs of the experiment, whether they are started here or found by a
        scheduler's address. ``runner`` replaces the engine. A notebook shows progress. Raises
        `cellyard.RunError` when a run fails, and `cellyard.UsageError` when something required is
        missing.
        """
        outcome = Outcome(self)
        if runner:
            outcome.ask(runner)
            return outcome
        expected = self.expected()
        with ExitStack() as until_done:
            cluster = on
            if on is not None and workers is not None:
                raise UsageError("give either on (a running cluster) or workers (a cluster to start), not both")
            if isinstance(on, str) or workers is not None:
                from cellyard.runs.cluster import Workers

                cluster = until_done.enter_context(Workers(on if isinstance(on, str) else None, workers))
            progress = until_done.enter_context(
                NotebookProgress(self.name, expected.runs, points=expected.points, at_most=expected.at_most)
            )
            outcome.ask(self.engine(progress.update, threads=jobs, memory=memory, store=store, on=cluster))
        if store and store.failure:
            raise store.failure
        return outcome


@dataclass(frozen=True)
class Cost:
    """Predicted cost of an experiment: CPU time of the engine for all runs, memory of the largest one, and that of the process."""

    expected: Expected
    cpu_seconds: float
    memory_bytes: int
    process_bytes: float


@dataclass
class Outcome:
    """Outcome of an experiment: the answer, and the metrics of every run."""

    experiment: Experiment
    answer: Answer | None = None
    runner: CachedRunner[Point] = field(default_factory=lambda: CachedRunner(lambda _: ()))

    def ask(self, runner: Runner[Point]) -> None:
        """Ask the question. After an interrupt, the metrics measured so far are kept, but there is no answer."""
        self.runner = CachedRunner(runner)
        try:
            self.answer = self.experiment.question.answer(self.experiment.plan, self.runner)
        except ScenarioError as error:
            raise UsageError(
                f"{self.experiment.name}: the scenario of a point is invalid: {error.problems[0].summary}"
            ) from None
        except ConditionError as error:
            raise UsageError(f"{self.experiment.name}: the condition {error}") from None

    def figures(self, style: str = "paper") -> list[Drawn]:
        """Draw the figures of the report, in the style ``paper`` or ``slide``. Needs matplotlib; raises `UsageError` without it."""
        from cellyard import plot
        from cellyard.experiment.figures import figures

        with plot.style(style):
            return figures(self.to_dict(), **self.experiment.figure_facts)

    def _repr_html_(self) -> str:
        """Show the question, the answer, the first figure if matplotlib is installed, and the points."""
        plan, metrics = self.experiment.plan, self.experiment.plan.metrics
        sentences = [
            *(self.answer.sentences if self.answer else [self.text]),
            *(f"note: {note}" for note in self.notes),
        ]
        shown = sentences_html(plan.title or plan.name, sentences)
        points = self.points()
        try:
            drawn = self.figures()[:1] if points else []
        except UsageError:  # no matplotlib
            drawn = []
        shown += "".join(figure._repr_html_() for figure in drawn)
        if points:
            keys = [name for name in points[0] if name not in metrics]
            rows = [
                [point[key] for key in keys] + [_mean_in_short(point[metric]) for metric in metrics] for point in points
            ]
            shown += table_html([*keys, *metrics], rows)
        return shown

    @property
    def complete(self) -> bool:
        """Whether the question was answered."""
        return self.answer is not None

    @property
    def text(self) -> str:
        """The answer in sentences."""
        return " ".join(self.answer.sentences) if self.answer else "No answer: the experiment was interrupted."

    @property
    def measured(self) -> dict[Point, dict[int, Mapping[str, Value]]]:
        """The metrics of every run, by point and replication."""
        return self.runner.measured

    @property
    def runs(self) -> int:
        """Number of measured runs."""
        return self.runner.runs

    @property
    def notes(self) -> list[str]:
        """Notes about possibly misleading answers: notes on scenarios and on finished runs, and what values leave out."""
        plan = self.experiment.plan
        measured = [list(samples.values()) for samples in self.measured.values()]
        return [
            *self.experiment.notes,
            *notes.of_runs(plan, self.experiment.scenario, list(self._begun), self.runner),
            *self._efficiency_above_one(),
            *coverage.undefined_runs(plan.metrics, measured),
            *self._left_out,
        ]

    @property
    def _left_out(self) -> list[str]:
        """Sentences on what delays do not cover, if the engine measured them."""
        return runner.coverage.notes if isinstance(runner := self.runner.runner, PointRunner) else []

    def _efficiency_above_one(self) -> list[str]:
        """A sentence on an efficiency above 1, if any."""
        names = [name for name, path in self.experiment.plan.metrics.items() if path.text == "totals.efficiency"]
        runs = (sample for samples in self.measured.values() for sample in samples.values())
        most = max((float(sample[name] or 0) for sample in runs for name in names), default=0.0)  # type: ignore[arg-type]
        if most <= run_notes.MOST_EFFICIENCY:
            return []
        base = self.experiment.plan.base.to_dict()
        has_no_other = base["measure"]["max_goodput"] == "fair shares" or any(
            "changes" in link for link in base["links"]
        )
        advice = "" if has_no_other else f" If an axis changes what the links can deliver, {USE_FAIR_SHARES}."
        return [
            f"{names[0]} reaches {most:.3f}: more was delivered than measure.max_goodput allows.{advice} Data received behind a "
            "gap during the warm-up counts later, when the gap is filled.",
        ]

    def _columns(self) -> list[dict[str, Any]]:
        """The values of each measured point, in the order of the axes, with units in the names."""
        return as_columns([{name: point.labels[name] for name in self._names} for point in self._begun])

    @property
    def _begun(self) -> dict[Point, dict[int, Mapping[str, Value]]]:
        """Points with at least one finished run, in the order of their values. After an interrupt, other points may exist."""
        positions = {
            axis.name: {level: index for index, level in enumerate(dict.fromkeys(axis.levels))}
            for axis in self.experiment.plan.axes
            if not axis.is_range
        }

        def order(point: Point) -> list[Any]:
            levels = dict(point.levels)
            return [positions[name][levels[name]] if name in positions else levels[name].value for name in self._names]

        begun = [point for point, samples in self.measured.items() if samples]
        return {point: self.measured[point] for point in sorted(begun, key=order)}

    def _together(self) -> list[dict[str, Any]]:
        """Columns of axes that vary together, the column whose labels name the setting, and the column of the question."""
        column = dict(zip(self._names, next(iter(self._columns()), {}), strict=False))
        question_axis = getattr(self.experiment.question, "axis", None)
        return [
            {
                "columns": [column[axis.name] for axis in dimension.axes],
                "named_by": dimension.named_by and column[dimension.named_by.name],
                "asked": next((column[axis.name] for axis in dimension.axes if axis.name == question_axis), None),
            }
            for dimension in self.experiment.plan.space
            if column and len(dimension.axes) > 1
        ]

    @property
    def _names(self) -> list[str]:
        return [axis.name for axis in self.experiment.plan.axes]

    def points(self) -> list[dict[str, Any]]:
        """One record per begun point: values, number of runs, those that meet the conditions of ``find``, and each metric in short."""
        found = []
        for values, runs in zip(self._columns(), self._begun.values(), strict=True):
            samples = [runs[number] for number in sorted(runs)]
            judged = self.experiment.question.judged(samples)
            found.append(
                {**values, "runs": len(runs), **judged, **records.summaries(samples, self.experiment.plan.metrics)}
            )
        return found

    def to_frame(self, kind: Literal["polars", "pandas"] = "polars", *, form: Literal["long", "wide"] = "long") -> Any:
        """Every run as a frame of polars or pandas, with units in the names of the columns.

        ``long`` has a line for each run and metric: columns of the axes, ``replication``,
        ``metric`` and ``value``. ``wide`` has a line for each run, with a column for each metric.
        Raises `UsageError` when the library is missing.
        """
        return frame.records_frame(list(self.records(form)), kind)

    def records(self, form: str = "wide") -> Iterator[dict[str, Any]]:
        """One record per run, or per metric of each run; see `to_frame`."""
        return records.run_records(self._columns(), list(self._begun.values()), form)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        from cellyard import _engine

        plan, answer = self.experiment.plan, self.answer
        return {
            "experiment": plan.name,
            "title": plan.title,
            "engine_version": _engine.version(),
            "seed": plan.base.seed,
            "replications": plan.replications,
            "duration_s": plan.duration_s,
            "question": {"kind": self.experiment.question.kind, **_question_data(plan)},
            "complete": self.complete,
            "answer": answer.sentences if answer else [],
            "notes": self.notes,
            "axes": [axis.name for axis in plan.axes],
            "together": self._together(),
            "metrics": list(plan.metrics),
            "paths": {name: metric.text for name, metric in plan.metrics.items()},
            "points": self.points(),
            **(answer.tables if answer else {}),
            "runs": self.runs,
        }


def _question_data(plan: Plan) -> dict[str, Any]:
    question = plan.description.get("question", {})
    return {} if isinstance(question, str) else dict(question)


def _table(component: Any) -> dict[str, Any]:
    """A question or a design as the table of a file, without default values."""
    if not dataclasses.is_dataclass(component):
        raise UsageError(
            f"question or design = {str(component)[:60]}: must be a question or design of cellyard.experiment, or its name"
        )
    table: dict[str, Any] = {"kind": component.kind} if hasattr(component, "kind") else {}
    for argument in dataclasses.fields(component):
        value = getattr(component, argument.name)
        factory = argument.default_factory
        default = factory() if factory is not dataclasses.MISSING else argument.default
        if value != default and value is not None:
            table[argument.name] = list(value) if isinstance(value, tuple) else as_python(value)
    return table


def _axis_data(axis: Any, index: int) -> dict[str, Any]:
    if not isinstance(axis, Axis):
        raise UsageError(f"axes[{index}] = {str(axis)[:60]}: must be an Axis")
    table: dict[str, Any] = {"path": list(axis.paths)}
    table |= {key: value for key, value in (("name", axis.name), ("together", axis.together)) if value}
    if axis.labels:
        table["labels"] = [as_python(label) for label in axis.labels]
    if isinstance(axis.values, Range):
        range_table = {
            "from": as_python(axis.values.first),
            "to": as_python(axis.values.last),
            "steps": as_python(axis.values.steps),
            "scale": axis.values.scale,
            "whole": axis.values.whole,
        }
        return table | {"range": {key: value for key, value in range_table.items() if value is not None}}
    values = as_python(axis.values)
    return table | {
        "values": [plain(value, f"axes[{index}].values") for value in values]
        if isinstance(values, (list, tuple, range))
        else values
    }


def _values_in_short(axis: Axis) -> str:
    """The values of an axis, or the ends of its range."""
    if isinstance(axis.values, Range):
        steps = f" in {axis.values.steps} steps" if axis.values.steps else ""
        return f"{axis.values.first} to {axis.values.last}{steps}"
    return ", ".join(str(label) for label in axis.labels or axis.values)


def _mean_in_short(statistics: Mapping[str, Any]) -> str:
    """A mean with its confidence interval, if it has one."""
    mean, low, high = (field_value(statistics.get, key) for key in ("mean", "low", "high"))
    return (
        f"{format_value(mean)} [{format_value(low)}, {format_value(high)}]"
        if None not in (low, high)
        else format_value(mean)
    )
