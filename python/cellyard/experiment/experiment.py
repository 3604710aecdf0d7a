"""Experiments and their outcomes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cellyard.experiment import notes, reading, records
from cellyard.experiment.description.axes import Axis, Range
from cellyard.experiment.description.design import Design, Point
from cellyard.experiment.description.expression import ConditionError
from cellyard.experiment.description.problems import Problems
from cellyard.experiment.plan import Answer, Expected, Plan
from cellyard.experiment.questions.question import Question
from cellyard.experiment.runner import CachedRunner, Engine, ProgressListener, Runner
from cellyard.runs.cluster import Workers
from cellyard.runs.expected import outline, seconds
from cellyard.scenario import Scenario, read_text
from cellyard.scenario.hints import CURE
from cellyard.show import frame
from cellyard.show.columns import as_columns
from cellyard.statistics.ranges import Number
from cellyard.system.errors import ScenarioError, UsageError
from cellyard.system.progress import InNotebook
from cellyard.system.terminal import printable
from cellyard.system.values import own, plain

if TYPE_CHECKING:
    from cellyard.store import Store

#: Limit on the points whose scenarios are asked for their cost. Beyond it, the cost is
#: extrapolated.
MOST_ASKED = 200
#: Efficiency above this cannot be explained by rounding of `measure.max_goodput`.
MOST_EFFICIENCY = 1.0005


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
            "replications": own(replications),
        }
        scenario = base if isinstance(base, Scenario) else None
        optional = {
            "title": title or None,
            "base": None if scenario else base,
            "set": {key: plain(value, key) for key, value in set.items()} if set else None,
            "constraints": [constraints] if isinstance(constraints, str) else list(constraints) or None,
            "seed": own(seed),
        }
        data |= {key: value for key, value in optional.items() if value is not None}
        self.plan, self.question = reading.read(data, Problems(), Path(), scenario=scenario, run_code=True)

    @classmethod
    def of(cls, plan: Plan, question: Question) -> Experiment:
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
            would = f"{file}: base.study: the code in {plan.code / 'scenario.py'} makes the scenario"
            raise UsageError(printable(f"{would}; run_code = True lets it run"))
        return cls.of(plan, question)

    @classmethod
    def read(cls, path: str | Path, *, run_code: bool = False) -> Experiment:
        """Read an experiment from a TOML file, like `from_toml`; raises `UsageError` when the file cannot be read."""
        return cls.from_toml(read_text(Path(path)), file=str(path), folder=Path(path).parent, run_code=run_code)

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self.plan.name

    def expected(self) -> Expected:
        """Number of points and runs, an upper bound where the question may stop earlier."""
        return self.question.expected(self.plan)

    def cost(self) -> Cost:
        """Predicted cost."""
        expected = self.expected()
        points = self.plan.some_points(MOST_ASKED) or [Point(())]
        facts = [outline(self.engine().scenario(point).canonical) for point in points]
        mean = sum(map(seconds, facts)) / len(facts)
        return Cost(expected, mean * expected.runs, max(int(fact["memory_bytes"]) for fact in facts))

    @cached_property
    def notes(self) -> list[str]:
        """Warnings about the scenarios, each once with its points. Of many points only a sample is checked."""
        return notes.notes(self.plan, self.question, self.engine().scenario)

    def engine(
        self,
        *,
        threads: int | None = None,
        memory: str | int | None = None,
        store: Store | None = None,
        progress: ProgressListener | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Engine:
        """The runner that simulates; ``options`` are further arguments of `cellyard.runs.batch.run_jobs`."""
        plan = self.plan
        return Engine(plan.base, plan.paths, plan.metrics, threads, memory, store, progress, options or {})

    def run(
        self,
        *,
        jobs: int | None = None,
        memory: str | int | None = None,
        store: Store | None = None,
        on: str | Workers | None = None,
        workers: int | None = None,
        runner: Runner | None = None,
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
                raise UsageError("on and workers exclude each other: a cluster that is there, or one to be started")
            if isinstance(on, str) or workers is not None:
                cluster = until_done.enter_context(Workers(on if isinstance(on, str) else None, workers))
            progress = until_done.enter_context(InNotebook(self.name, expected.runs, points=expected.points))
            options = {"on": cluster}
            outcome.ask(self.engine(threads=jobs, memory=memory, store=store, progress=progress, options=options))
        if store and store.failure:
            raise store.failure
        return outcome


@dataclass(frozen=True)
class Cost:
    """Predicted cost of an experiment: CPU time of all runs, and memory of the largest one."""

    expected: Expected
    cpu_seconds: float
    memory_bytes: int


@dataclass
class Outcome:
    """Outcome of an experiment: the answer, and the metrics of every run."""

    experiment: Experiment
    answer: Answer | None = None
    measured: dict[Point, dict[int, Mapping[str, Number]]] = field(default_factory=dict)

    def ask(self, runner: Runner) -> None:
        """Ask the question. After an interrupt, the metrics measured so far are kept, but there is no answer."""
        remembered = CachedRunner(runner)
        self.measured = remembered.kept
        try:
            self.answer = self.experiment.question.answer(self.experiment.plan, remembered)
        except ScenarioError as error:
            raise UsageError(f"{self.experiment.name}: a point makes no scenario: {error.problems[0].text}") from None
        except ConditionError as error:
            raise UsageError(f"{self.experiment.name}: a condition {error}") from None

    @property
    def complete(self) -> bool:
        """Whether the question was answered."""
        return self.answer is not None

    @property
    def text(self) -> str:
        """The answer in sentences."""
        return " ".join(self.answer.sentences) if self.answer else "not answered: it was interrupted."

    @property
    def runs(self) -> int:
        """Number of measured runs."""
        return sum(map(len, self.measured.values()))

    @property
    def notes(self) -> list[str]:
        """Warnings about possibly misleading answers: notes on scenarios, runs without deliveries, efficiencies above 1."""
        return [*self.experiment.notes, *self._of_nothing(), *self._beyond()]

    def _of_nothing(self) -> list[str]:
        """A sentence on runs in which no TCP delivered anything, if any."""
        return notes.of_nothing(self.experiment.plan, self.experiment.engine().scenario, self._begun)

    def _beyond(self) -> list[str]:
        """A sentence on an efficiency above 1, if any."""
        names = [name for name, path in self.experiment.plan.metrics.items() if path.text == "totals.efficiency"]
        runs = (one for kept in self.measured.values() for one in kept.values())
        most = max((float(one[name] or 0) for one in runs for name in names), default=0.0)
        if most <= MOST_EFFICIENCY:
            return []
        return [
            f"{names[0]} is up to {most:.3f}: more was delivered than measure.max_goodput says can be. Where an axis changes what "
            f"the links can deliver, {CURE}; after a warm-up, data that came before its end, "
            "behind a gap, counts once the gap is filled.",
        ]

    def _columns(self) -> list[dict[str, Any]]:
        """The values of each measured point, in the order of the axes, with units in the names."""
        return as_columns([{name: point.labels[name] for name in self._names} for point in self._begun])

    @property
    def _begun(self) -> dict[Point, dict[int, Mapping[str, Number]]]:
        """Points with at least one finished run, in the order of their values. After an interrupt, other points may exist."""
        places = {
            axis.name: {one: place for place, one in enumerate(dict.fromkeys(axis.levels))}
            for axis in self.experiment.plan.axes
            if not axis.is_range
        }

        def order(point: Point) -> list[Any]:
            own = dict(point.levels)
            return [places[name][own[name]] if name in places else own[name].value for name in self._names]

        begun = [point for point, kept in self.measured.items() if kept]
        return {point: self.measured[point] for point in sorted(begun, key=order)}

    def _together(self) -> list[dict[str, Any]]:
        """Columns of axes that vary together, the column whose labels name the setting, and the column of the question."""
        column = dict(zip(self._names, next(iter(self._columns()), {}), strict=False))
        asked = getattr(self.experiment.question, "axis", None)
        return [
            {
                "columns": [column[axis.name] for axis in one.axes],
                "named_by": one.named_by and column[one.named_by.name],
                "asked": next((column[axis.name] for axis in one.axes if axis.name == asked), None),
            }
            for one in self.experiment.plan.space
            if column and len(one.axes) > 1
        ]

    @property
    def _names(self) -> list[str]:
        return [axis.name for axis in self.experiment.plan.axes]

    def points(self) -> list[dict[str, Any]]:
        """One record per point: values, number of runs, and the mean, interval and range of each metric.

        Points that the question gave up before all replications are left out; see `given_up`.
        """
        return [one for one in self._summed_up() if not self._is_given_up(one["runs"])]

    def given_up(self) -> list[dict[str, Any]]:
        """One record per point given up before all its replications: values, number of runs, means."""
        metrics = self.experiment.plan.metrics
        given_up = [one for one in self._summed_up() if self._is_given_up(one["runs"])]
        return [{**one, **{metric: one[metric]["mean"] for metric in metrics}} for one in given_up]

    def _is_given_up(self, runs: int) -> bool:
        """Whether a point with ``runs`` runs was given up. Without an interrupt, all other points have all replications."""
        return self.complete and runs < self.experiment.plan.replications

    def _summed_up(self) -> list[dict[str, Any]]:
        found = []
        for values, kept in zip(self._columns(), self._begun.values(), strict=True):
            samples = [kept[number] for number in sorted(kept)]
            found.append({**values, "runs": len(kept), **records.summed_up(samples, self.experiment.plan.metrics)})
        return found

    def to_frame(self, kind: Literal["polars", "pandas"] = "polars", *, form: Literal["long", "wide"] = "long") -> Any:
        """Every run as a frame of polars or pandas, with units in the names of the columns.

        ``long`` has a line for each run and metric: columns of the axes, ``replication``,
        ``metric`` and ``value``. ``wide`` has a line for each run, with a column for each metric.
        Raises `UsageError` when the library is missing.
        """
        return frame.of_records(list(self.records(form)), kind)

    def records(self, form: str = "wide") -> Iterator[dict[str, Any]]:
        """One record per run, or per metric of each run; see `to_frame`."""
        return records.of_runs(self._columns(), list(self._begun.values()), form)

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
            "question": {"kind": self.experiment.question.kind, **_stated(plan)},
            "complete": self.complete,
            "answer": answer.sentences if answer else [],
            "notes": self.notes,
            "axes": [axis.name for axis in plan.axes],
            "together": self._together(),
            "metrics": list(plan.metrics),
            "points": self.points(),
            **(answer.tables if answer else {}),
            **({"given_up": given_up} if (given_up := self.given_up()) else {}),
            "runs": self.runs,
        }


def _stated(plan: Plan) -> dict[str, Any]:
    stated = plan.stated.get("question", {})
    return {} if isinstance(stated, str) else dict(stated)


def _table(thing: Any) -> dict[str, Any]:
    """A question or a design as the table of a file, without default values."""
    if not dataclasses.is_dataclass(thing):
        raise UsageError(f"question or design = {str(thing)[:60]}: must be one of cellyard.experiment's, or its name")
    table: dict[str, Any] = {"kind": thing.kind} if hasattr(thing, "kind") else {}
    for one in dataclasses.fields(thing):
        value = getattr(thing, one.name)
        default = one.default_factory() if one.default_factory is not dataclasses.MISSING else one.default
        if value != default and value is not None:
            table[one.name] = list(value) if isinstance(value, tuple) else own(value)
    return table


def _axis_data(axis: Any, place: int) -> dict[str, Any]:
    if not isinstance(axis, Axis):
        raise UsageError(f"axes[{place}] = {str(axis)[:60]}: must be an Axis")
    table: dict[str, Any] = {"path": list(axis.paths)}
    table |= {key: value for key, value in (("name", axis.name), ("together", axis.together)) if value}
    if axis.labels:
        table["labels"] = [own(label) for label in axis.labels]
    if isinstance(axis.values, Range):
        stated = {
            "from": own(axis.values.first),
            "to": own(axis.values.last),
            "steps": own(axis.values.steps),
            "scale": axis.values.scale,
            "whole": axis.values.whole,
        }
        return table | {"range": {key: value for key, value in stated.items() if value is not None}}
    values = own(axis.values)
    return table | {
        "values": [plain(value, f"axes[{place}].values") for value in values]
        if isinstance(values, (list, tuple, range))
        else values
    }


__all__ = ["Cost", "Experiment", "Outcome", "printable"]
