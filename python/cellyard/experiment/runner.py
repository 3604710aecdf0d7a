"""Computes metrics at points: by the engine, or by any runner with the interface."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from cellyard.experiment.coverage import Coverage
from cellyard.experiment.description.design import Point
from cellyard.experiment.plan import Plan
from cellyard.results import RunResult, run_notes
from cellyard.runs.batch import Finished, Job, run_jobs
from cellyard.scenario import Scenario
from cellyard.statistics.bounded import Value

#: Number of runs handed to the engine at a time.
RUNS_PER_BATCH = 5000


@dataclass(frozen=True)
class Replicate:
    """A run: a point and a replication number. Replications with one number use common random numbers at all points."""

    point: Point
    replication: int


class Runner(Protocol):
    """Computes the metrics of replicates."""

    def __call__(self, replicates: Sequence[Replicate], /) -> Iterable[tuple[int, Mapping[str, Value]]]:
        """The index of each replicate with its metrics by name, in any order; ``None`` where a metric is undefined."""


@dataclass
class EngineRunner:
    """Runs the points of ``plan`` and reads the metrics of their results.

    ``on_progress`` is called with the number of finished runs and, as ``points``, that of finished points.
    """

    plan: Plan
    on_progress: Callable[..., None] | None = None
    #: Further arguments of `run_jobs` by name.
    options: Mapping[str, Any] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    runs: int = 0
    #: What notes on finished runs need of each, without runs that have nothing.
    facts: dict[Replicate, run_notes.Facts] = field(default_factory=dict)
    _done: set[Point] = field(default_factory=set)

    @cached_property
    def coverage(self) -> Coverage:
        """What the values measured so far do not cover."""
        return Coverage(self.plan.metrics)

    def __call__(self, replicates: Sequence[Replicate]) -> Iterator[tuple[int, Mapping[str, Value]]]:
        """The index and metrics of each replicate as it finishes; raises what `run_jobs` raises."""
        for start in range(0, len(replicates), RUNS_PER_BATCH):
            for index, measured in self._run_batch(replicates[start : start + RUNS_PER_BATCH]):
                yield start + index, measured

    def scenario(self, point: Point) -> Scenario:
        """The scenario of a point; raises `ScenarioError` when it is invalid."""
        return self.plan.scenario(point.levels)

    def _run_batch(self, replicates: Sequence[Replicate]) -> Iterator[tuple[int, Mapping[str, Value]]]:
        # Points are numbered, since hashing one takes about as long as reading a metric.
        numbers: dict[Point, int] = {}
        number_of = [numbers.setdefault(replicate.point, len(numbers)) for replicate in replicates]
        texts = [self.scenario(point).canonical for point in numbers]
        unfinished = Counter(number_of)
        jobs = [Job(texts[number], one.replication) for number, one in zip(number_of, replicates, strict=True)]
        for finished in self._run(jobs):
            run, replicate, number = RunResult(finished.result), replicates[finished.index], number_of[finished.index]
            self.coverage.add(run)
            self.cpu_seconds += finished.cpu_seconds
            self.runs += 1
            if found := run_notes.facts(finished.result):
                self.facts[replicate] = found
            unfinished[number] -= 1
            if not unfinished[number]:
                self._done.add(replicate.point)
            yield finished.index, {name: path.value_in(run) for name, path in self.plan.metrics.items()}

    def _run(self, jobs: Sequence[Job]) -> Iterator[Finished]:
        """Run jobs. The only place where an experiment calls the engine."""
        before, on_progress = self.runs, self.on_progress

        def report(done: float) -> None:
            if on_progress:
                on_progress(before + done, points=len(self._done))

        return run_jobs(jobs, on_progress=report, **self.options)


class CachedRunner:
    """A runner that caches the answers of another."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.cache: dict[Point, dict[int, Mapping[str, Value]]] = {}

    def __call__(self, replicates: Sequence[Replicate]) -> list[Mapping[str, Value]]:
        """The metrics of each replicate, in order."""
        # This also fixes the order of points, whichever finishes first.
        answers = [self.cache.setdefault(replicate.point, {}) for replicate in replicates]
        new: dict[tuple[int, int], int] = {}
        for index, (replicate, known) in enumerate(zip(replicates, answers, strict=True)):
            if replicate.replication not in known:
                new.setdefault((id(known), replicate.replication), index)
        indices = list(new.values())
        for place, measured in self._runner([replicates[index] for index in indices]):
            answers[indices[place]][replicates[indices[place]].replication] = measured
        return [known[replicate.replication] for replicate, known in zip(replicates, answers, strict=True)]

    def samples(self, points: Sequence[Point], replications: range) -> list[list[Mapping[str, Value]]]:
        """The metrics of the given replications of each point."""
        metrics = self([Replicate(point, replication) for point in points for replication in replications])
        count = len(replications)
        return [metrics[i * count : (i + 1) * count] for i in range(len(points))]
