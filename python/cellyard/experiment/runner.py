"""Computes metrics at points of an experiment by the engine."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from cellyard.experiment.coverage import Coverage
from cellyard.experiment.description.design import Point
from cellyard.experiment.plan import Plan
from cellyard.results import RunResult, run_notes
from cellyard.runs.batch import Job
from cellyard.runs.runner import EngineRunner
from cellyard.statistics.bounded import Value


class PointRunner(EngineRunner[Point]):
    """Runs the points of ``plan`` and reads the metrics at their paths."""

    def __init__(self, plan: Plan, **options: Any) -> None:
        super().__init__(**options)
        self.plan = plan

    @cached_property
    def coverage(self) -> Coverage:
        """What the values measured so far do not cover."""
        return Coverage(self.plan.metrics)

    def job(self, point: Point) -> Job:
        """The run of a point; raises `ScenarioError` when its scenario is invalid."""
        return Job(self.plan.scenario(point.levels).canonical)

    def read(self, result: Mapping[str, Any]) -> tuple[dict[str, Value], run_notes.Facts]:
        """The metrics of a run, and its facts."""
        run = RunResult(result)
        self.coverage.add(run)
        return {name: path.value_in(run) for name, path in self.plan.metrics.items()}, run_notes.facts(result)
