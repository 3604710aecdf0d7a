"""An experiment without its question: what is varied, how often, and what is measured."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from cellyard.experiment.description import design
from cellyard.experiment.description.axes import Axis, Level, Range
from cellyard.experiment.description.design import Design, Dimension, Point
from cellyard.experiment.description.expression import Condition
from cellyard.experiment.description.measure import Metric
from cellyard.scenario import Scenario
from cellyard.scenario.hints import UNSTATED
from cellyard.system.errors import UsageError

#: Limit on the runs of an experiment, checked before memory is allocated.
MOST_RUNS = 10_000_000

#: Number of points of a large grid drawn for checks, and of values checked on a range that a
#: question fills in.
DRAWN, BETWEEN = 200, 20

#: Default confidence of intervals.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Plan:
    """What is simulated. ``told`` describes the base; ``stated`` is the whole description as plain data.

    ``code`` is the folder of a user's study whose code makes the base, if running code was not
    allowed. Then ``base`` is missing, and checks that need it are skipped.
    """

    name: str
    title: str
    base: Scenario
    told: str
    axes: tuple[Axis, ...]
    constraints: tuple[Condition, ...]
    design: Design
    replications: int
    metrics: Mapping[str, Metric]
    stated: Mapping[str, Any] = field(default_factory=dict)
    code: Path | None = None

    @cached_property
    def space(self) -> list[Dimension]:
        """Dimensions of the design. Axes that vary together form one."""
        return design.dimensions(self.axes)

    @property
    def paths(self) -> Mapping[str, tuple[str, ...]]:
        """The paths of each axis."""
        return {axis.name: axis.paths for axis in self.axes}

    def dimension(self, name: str) -> Dimension:
        """The dimension of the axis ``name``."""
        return next(one for one in self.space if any(axis.name == name for axis in one.axes))

    def points(self, *, without: Dimension | None = None) -> list[Point]:
        """The points of the design, over all dimensions but ``without``."""
        return design.points([one for one in self.space if one is not without], self.design, self.constraints)

    def size(self, *, without: Dimension | None = None) -> int:
        """Number of points before constraints."""
        return design.size([one for one in self.space if one is not without], self.design)

    def allows(self, point: Point) -> bool:
        """Whether a point satisfies all constraints."""
        return all(condition.holds(point.values) for condition in self.constraints)

    def some_points(self, most: int) -> list[Point]:
        """At most ``most`` points of the design. Those of a grid are drawn with a fixed seed; otherwise the first are taken."""
        if self.design.kind != "grid" or self.size() <= most:
            return self.points()[:most]
        draw = random.Random(1)
        drawn = (Point(self._level(draw.randrange(one.size) for one in self.space)) for _ in range(most))
        return [point for point in dict.fromkeys(drawn) if self.allows(point)]

    def tried_points(self, most: int, *, drawn: int = DRAWN) -> list[Point]:
        """The points at which scenarios are checked beforehand: all of them if at most ``most``.

        For a larger grid, these are each value of each axis with the first values of the others and
        with their last ones, and ``drawn`` points of the whole grid. An axis with more than
        ``most`` values is sampled evenly; a range without steps has `BETWEEN` values.
        """
        if self.design.kind != "grid" or self.size() <= most:
            return self.points()[:most]
        sizes = [one.size for one in self.space]
        found = []
        for axis, size in enumerate(sizes):
            steps = min(size, most if all(_has_steps(one) for one in self.space[axis].axes) else BETWEEN)
            places = sorted({i * (size - 1) // max(steps - 1, 1) for i in range(steps)})
            for others in ([0] * len(sizes), [other - 1 for other in sizes]):
                found += [Point(self._level([*others[:axis], place, *others[axis + 1 :]])) for place in places]
        kept = [point for point in dict.fromkeys(found) if self.allows(point)]
        return list(dict.fromkeys([*kept, *self.some_points(drawn)]))

    @cached_property
    def lacking(self) -> tuple[str, ...]:
        """Metrics that need the largest possible goodput, which no scenario of the experiment states."""
        asked = tuple(name for name, path in self.metrics.items() if path.text == "totals.efficiency")
        stated = self._varies("measure.max_goodput") or self.base.to_dict()["measure"]["max_goodput"] is not None
        return asked if asked and not stated else ()

    @property
    def measures_a_part(self) -> bool:
        """Whether the measuring time is set or varied, so that it may not be the whole run."""
        measure = self.base.to_dict()["measure"]
        stated = measure["window"] is not None or bool(measure["warm_up"])
        return stated or self._varies("measure.warm_up") or self._varies("measure.window")

    def _varies(self, field: str) -> bool:
        """Whether an axis changes this field of a scenario, or a table around it."""
        paths = (path for paths in self.paths.values() for path in paths)
        return any(f"{field}.".startswith(f"{path}.") for path in paths)

    def _level(self, places: Iterable[int]) -> tuple[tuple[str, Level], ...]:
        """The levels of all axes at these places of the dimensions."""
        return tuple(pair for one, place in zip(self.space, places, strict=True) for pair in one.place(place))

    @property
    def draws(self) -> range:
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


def defined_or_refuse(values: Iterable[float | None], metric: str, what: str, plan: Plan) -> list[float]:
    """The values; raises `UsageError` when one is undefined. ``what`` names the purpose in the message."""
    found = list(values)
    missing = sum(value is None for value in found)
    if missing:
        raise UsageError(
            f"metric {metric} is not defined at {missing} of {len(found)} points, and {what} needs it at each"
            f"{f': {UNSTATED}' if metric in plan.lacking else ''}"
        )
    return [value for value in found if value is not None]
