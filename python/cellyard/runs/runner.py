"""Measures runs at points, by the engine or by any runner with the interface, and keeps what was measured.

A point is anything with a scenario: values of an experiment's axes, or a network of a study's rows.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from cellyard.results import run_notes
from cellyard.runs.batch import Job, run_jobs

#: A point.
P = TypeVar("P", bound=Hashable)

#: Number of runs of an experiment handed to the engine at a time.
RUNS_PER_BATCH = 5000


@dataclass(frozen=True)
class Replicate(Generic[P]):
    """A run: a point and a replication number. Replications with one number use common random numbers at all points."""

    point: P
    replication: int


def replicates(points: Iterable[P], replications: Sequence[int]) -> list[Replicate[P]]:
    """The given replications of each point."""
    return [Replicate(point, replication) for point in points for replication in replications]


#: Computes the metrics of replicates: gives the index of each with its metrics by name, in any order;
#: ``None`` if a metric is undefined.
Runner = Callable[[Sequence[Replicate[P]]], Iterable[tuple[int, Mapping[str, Any]]]]


class EngineRunner(ABC, Generic[P]):
    """Runs points by the engine and reads the results.

    ``on_progress`` is called with the number of finished runs and with ``points``, that of finished
    points. ``options`` are further arguments of `cellyard.runs.batch.run_jobs`.
    """

    #: Number of runs handed to the engine at a time.
    batch = RUNS_PER_BATCH
    #: Whether each replication has random draws; otherwise runs are as described.
    is_drawn = True

    def __init__(self, on_progress: Callable[..., None] | None = None, **options: Any) -> None:
        self.on_progress, self.options = on_progress, options
        self.cpu_seconds, self.runs = 0.0, 0
        #: What notes on finished runs need of each, without runs that have nothing.
        self.facts: dict[Replicate[P], run_notes.Facts] = {}
        self._done: set[P] = set()

    @abstractmethod
    def job(self, point: P) -> Job:
        """The run of a point, without a replication."""

    @abstractmethod
    def read(self, result: Mapping[str, Any]) -> tuple[Mapping[str, Any], run_notes.Facts]:
        """The metrics of a run by name, and what notes on finished runs need of it."""

    def __call__(self, replicates: Sequence[Replicate[P]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The index and metrics of each replicate as it finishes; raises what `run_jobs` raises."""
        for start in range(0, len(replicates), self.batch):
            for index, measured in self._run_batch(replicates[start : start + self.batch]):
                yield start + index, measured

    def _run_batch(self, replicates: Sequence[Replicate[P]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        # Points are numbered, since hashing one takes about as long as reading a metric.
        numbers: dict[P, int] = {}
        number_of = [numbers.setdefault(replicate.point, len(numbers)) for replicate in replicates]
        of_points = [self.job(point) for point in numbers]
        unfinished = Counter(number_of)
        jobs = [
            Job(of_points[number].scenario, one.replication if self.is_drawn else None, of_points[number].keep)
            for number, one in zip(number_of, replicates, strict=True)
        ]
        before = self.runs

        def report(done: float) -> None:
            if self.on_progress:
                self.on_progress(before + done, points=len(self._done))

        for finished in run_jobs(jobs, on_progress=report, **self.options):
            replicate, number = replicates[finished.index], number_of[finished.index]
            measured, facts = self.read(finished.result)
            self.cpu_seconds += finished.cpu_seconds
            self.runs += 1
            if facts:
                self.facts[replicate] = facts
            unfinished[number] -= 1
            if not unfinished[number]:
                self._done.add(replicate.point)
            yield finished.index, measured


class CachedRunner(Generic[P]):
    """A runner that keeps the answers of another: what was measured at each point, by replication."""

    def __init__(self, runner: Runner[P]) -> None:
        self.runner = runner
        self.measured: dict[P, dict[int, Mapping[str, Any]]] = {}

    def __call__(self, replicates: Sequence[Replicate[P]]) -> list[Mapping[str, Any]]:
        """The metrics of each replicate, in order."""
        for _ in self.advance(replicates):
            pass
        return [self.measured[replicate.point][replicate.replication] for replicate in replicates]

    def advance(self, replicates: Sequence[Replicate[P]]) -> Iterator[Replicate[P]]:
        """Measure those that are not known, and yield each as it becomes known."""
        # This also fixes the order of points, whichever finishes first.
        known = [self.measured.setdefault(replicate.point, {}) for replicate in replicates]
        new: dict[tuple[int, int], int] = {}
        for index, (replicate, of_point) in enumerate(zip(replicates, known, strict=True)):
            if replicate.replication not in of_point:
                new.setdefault((id(of_point), replicate.replication), index)
        indices = list(new.values())
        for place, metrics in self.runner([replicates[index] for index in indices]):
            replicate = replicates[indices[place]]
            known[indices[place]][replicate.replication] = metrics
            yield replicate

    def samples(self, points: Sequence[P], replications: Sequence[int]) -> list[list[Mapping[str, Any]]]:
        """The metrics of the given replications of each point."""
        metrics, count = self(replicates(points, replications)), len(replications)
        return [metrics[i * count : (i + 1) * count] for i in range(len(points))]

    @property
    def runs(self) -> int:
        """Number of measured runs."""
        return sum(map(len, self.measured.values()))

    def notes(
        self, points: Iterable[P], metrics: Iterable[str], states_tie_order: Callable[[P], bool]
    ) -> Iterator[tuple[run_notes.Note, list[P]]]:
        """The notes on runs of ``points`` that concern the metrics, given by names or paths, each with its points.

        Refusals at ties are left out if the first of their points states the order at ties.
        """
        runs = [Replicate(point, number) for point in points for number in sorted(self.measured[point])]
        facts = self.runner.facts if isinstance(self.runner, EngineRunner) else {}
        found = run_notes.notes([facts.get(run, {}) for run in runs])
        for note in run_notes.concerning(found, " ".join(metrics)):
            affected = list(dict.fromkeys(runs[place].point for place in note.runs))
            if note.kind != "tied_refusals" or not states_tie_order(affected[0]):
                yield note, affected
