"""An experiment without its question: what is varied, how often, and what is measured."""

import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from cellyard.experiment.description import base as bases, design
from cellyard.experiment.description.axes import Axis, Level, Range
from cellyard.experiment.description.design import Design, Dimension, Point
from cellyard.experiment.description.expression import Condition
from cellyard.experiment.description.measure import Metric
from cellyard.scenario import Scenario
from cellyard.show.hints import NO_MAX_GOODPUT
from cellyard.system.errors import UsageError
from cellyard.system.format import of_scenario

#: Limit on the runs of an experiment, checked before memory is allocated.
MOST_RUNS = 10_000_000

#: Number of points of a large grid sampled for checks, and of values checked on a range that a
#: question fills in.
SAMPLED_POINTS, RANGE_SAMPLES = 200, 20

#: Default confidence of intervals.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Plan:
    """What is simulated. ``base_summary`` names the base, and ``description`` is the whole description as plain data.

    ``code`` is the folder of a user's study whose code makes the base, if running code was not
    allowed. Then ``base`` is missing, and checks that need it are skipped.
    """

    name: str
    title: str
    base: Scenario
    base_summary: str
    axes: tuple[Axis, ...]
    constraints: tuple[Condition, ...]
    design: Design
    replications: int
    metrics: Mapping[str, Metric]
    description: Mapping[str, Any] = field(default_factory=dict)
    code: Path | None = None
    #: The base before ``set``; missing as ``base`` is.
    before_set: Scenario | None = None

    @cached_property
    def space(self) -> list[Dimension]:
        """Dimensions of the design. Axes that vary together form one."""
        return design.dimensions(self.axes)

    @cached_property
    def noun(self) -> str:
        """What a reader calls a cell of the base: "cell" or "packet"; "cell" if there is no base."""
        return of_scenario(self.base.canonical).noun if hasattr(self.base, "canonical") else "cell"

    @property
    def duration_s(self) -> float | None:
        """Simulated time of each run, s; ``None`` if an axis varies it."""
        if any("duration" in paths for paths in self.paths.values()) or not hasattr(self.base, "canonical"):
            return None
        from cellyard.runs.expected import outline

        return float(outline(self.base.canonical)["duration_s"])

    @property
    def paths(self) -> Mapping[str, tuple[str, ...]]:
        """The paths of each axis."""
        return {axis.name: axis.paths for axis in self.axes}

    def scenario(self, levels: Iterable[tuple[str, Level]]) -> Scenario:
        """The base with the values of these levels of axes; raises `ScenarioError` when it is invalid."""
        pairs = [(path, level.text) for name, level in levels for path in self.paths[name]]
        return bases.at_levels(self.base, pairs, is_kept=self.keeps_rest)

    @cached_property
    def keeps_rest(self) -> bool:
        """Whether ``set`` or an axis states what becomes of the rest of a damaged frame."""
        return bases.states_rest(self.description)

    def dimension(self, name: str) -> Dimension:
        """The dimension of the axis ``name``."""
        return next(found for found in self.space if any(axis.name == name for axis in found.axes))

    def points(self, *, without: Dimension | None = None) -> list[Point]:
        """The points of the design, over all dimensions but ``without``."""
        return design.points(
            [dimension for dimension in self.space if dimension is not without], self.design, self.constraints
        )

    def size(self, *, without: Dimension | None = None) -> int:
        """Number of points before constraints."""
        return design.size([dimension for dimension in self.space if dimension is not without], self.design)

    def allows(self, point: Point) -> bool:
        """Whether a point satisfies all constraints."""
        return all(condition.holds(point.values) for condition in self.constraints)

    def sample_points(self, most: int) -> list[Point]:
        """At most ``most`` points of the design: a random sample of a grid with a fixed seed, or the first of another design."""
        if self.design.kind != "grid" or self.size() <= most:
            return self.points()[:most]
        generator = random.Random(1)
        sampled = (
            Point(self._levels(generator.randrange(dimension.size) for dimension in self.space)) for _ in range(most)
        )
        return [point for point in dict.fromkeys(sampled) if self.allows(point)]

    def checked_points(self, most: int, *, sampled: int = SAMPLED_POINTS) -> list[Point]:
        """The points at which scenarios are checked beforehand: all of them if at most ``most``.

        For a larger grid, these are each value of each axis with the first values of the others and
        with their last ones, and ``sampled`` points of the whole grid. An axis with more than
        ``most`` values is sampled evenly; a range without steps has
        `RANGE_SAMPLES` values.
        """
        if self.design.kind != "grid" or self.size() <= most:
            return self.points()[:most]
        sizes = [dimension.size for dimension in self.space]
        candidates = []
        for position, size in enumerate(sizes):
            steps = min(size, most if all(map(_has_steps, self.space[position].axes)) else RANGE_SAMPLES)
            indices = sorted({i * (size - 1) // max(steps - 1, 1) for i in range(steps)})
            for others in ([0] * len(sizes), [other - 1 for other in sizes]):
                before, after = others[:position], others[position + 1 :]
                candidates += [Point(self._levels([*before, index, *after])) for index in indices]
        allowed = [point for point in dict.fromkeys(candidates) if self.allows(point)]
        return list(dict.fromkeys([*allowed, *self.sample_points(sampled)]))

    @cached_property
    def undefined_metrics(self) -> tuple[str, ...]:
        """Metrics that are undefined because no scenario of the experiment states the largest possible goodput."""
        efficiencies = tuple(name for name, path in self.metrics.items() if path.text == "totals.efficiency")
        is_stated = self._varies("measure.max_goodput") or self.base.to_dict()["measure"]["max_goodput"] is not None
        return () if is_stated else efficiencies

    @property
    def may_measure_part(self) -> bool:
        """Whether the measuring time is set or varied, so that it may not be the whole run."""
        measure = self.base.to_dict()["measure"]
        is_set = measure["window"] is not None or bool(measure["warm_up"])
        return is_set or self._varies("measure.warm_up") or self._varies("measure.window")

    def _varies(self, field: str) -> bool:
        """Whether an axis changes this field of a scenario, or a table around it."""
        paths = (path for paths in self.paths.values() for path in paths)
        return any(f"{field}.".startswith(f"{path}.") for path in paths)

    def _levels(self, indices: Iterable[int]) -> tuple[tuple[str, Level], ...]:
        """The levels of all axes at these indices of the dimensions."""
        levels = (dimension.at_index(index) for dimension, index in zip(self.space, indices, strict=True))
        return tuple(itertools.chain.from_iterable(levels))

    @property
    def replication_numbers(self) -> range:
        """The replication numbers of each point."""
        return range(self.replications)


def _has_steps(axis: Axis) -> bool:
    """Whether the values are given in the description instead of chosen by the question."""
    return not isinstance(axis.values, Range) or axis.values.steps is not None


@dataclass(frozen=True)
class Expected:
    """What a question requests: points, and total runs. ``at_most`` means that it may stop earlier."""

    points: int
    runs: int
    at_most: bool = False


@dataclass
class Answer:
    """Answer of a question: sentences, tables of records by title, and data for figures."""

    sentences: list[str]
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    #: Metrics that the answer is about; all when empty.
    metrics: Sequence[str] = ()


def require_defined(values: Iterable[float | None], metric: str, purpose: str, plan: Plan) -> list[float]:
    """The values; raises `UsageError` when one is undefined. ``purpose`` says what needs them."""
    all_values = list(values)
    defined = [value for value in all_values if value is not None]
    if missing := len(all_values) - len(defined):
        cause = f": {NO_MAX_GOODPUT}" if metric in plan.undefined_metrics else ""
        raise UsageError(
            f"metric {metric} is undefined at {missing} of {len(all_values)} points, but {purpose} needs it at every point{cause}"
        )
    return defined
