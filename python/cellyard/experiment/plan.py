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

#: Runs of one experiment, refused before memory is taken.
MOST_RUNS = 10_000_000

#: Points of a large grid that are drawn to be tried beforehand, and values of a range that a question fills in by itself.
DRAWN, BETWEEN = 200, 20

#: How sure intervals are unless the question says otherwise.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Plan:
    """What is simulated. ``told`` is how the base is named; ``stated`` is the whole description as plain data.

    ``code`` is the folder of a user's study whose code makes the base, where no code was to be run. Then there is no ``base``: what needs
    one is not checked.
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
        """Its dimensions: axes, those that vary together as one."""
        return design.dimensions(self.axes)

    @property
    def paths(self) -> Mapping[str, tuple[str, ...]]:
        """The paths of each axis."""
        return {axis.name: axis.paths for axis in self.axes}

    def dimension(self, name: str) -> Dimension:
        """The dimension of an axis."""
        return next(one for one in self.space if any(axis.name == name for axis in one.axes))

    def points(self, *, without: Dimension | None = None) -> list[Point]:
        """The points of the design, over all dimensions but one."""
        return design.points([one for one in self.space if one is not without], self.design, self.constraints)

    def size(self, *, without: Dimension | None = None) -> int:
        """How many points there are before constraints."""
        return design.size([one for one in self.space if one is not without], self.design)

    def allows(self, point: Point) -> bool:
        """Whether a point keeps to all constraints."""
        return all(condition.holds(point.values) for condition in self.constraints)

    def some_points(self, most: int) -> list[Point]:
        """All points of the design where they are few, else ``most`` of them: of a grid by a fixed draw, of anything else the first."""
        if self.design.kind != "grid" or self.size() <= most:
            return self.points()[:most]
        draw = random.Random(1)
        drawn = (Point(self._level(draw.randrange(one.size) for one in self.space)) for _ in range(most))
        return [point for point in dict.fromkeys(drawn) if self.allows(point)]

    def tried_points(self, most: int, *, drawn: int = DRAWN) -> list[Point]:
        """The points at which scenarios are made beforehand: all where they are at most so many.

        Of a larger grid these are each value of each axis beside the first values of the others and beside their last ones, and ``drawn``
        of all. Of an axis with more than ``most`` values so many are tried, evenly apart, of a range without steps `BETWEEN`.
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
        """Metrics that are efficiency, of what no scenario of the experiment states: the largest possible goodput."""
        asked = tuple(name for name, path in self.metrics.items() if path.text == "totals.efficiency")
        stated = self._varies("measure.max_goodput") or self.base.to_dict()["measure"]["max_goodput"] is not None
        return asked if asked and not stated else ()

    @property
    def measures_a_part(self) -> bool:
        """Whether a measuring time is stated or varied that may not be the whole run."""
        measure = self.base.to_dict()["measure"]
        stated = measure["window"] is not None or bool(measure["warm_up"])
        return stated or self._varies("measure.warm_up") or self._varies("measure.window")

    def _varies(self, field: str) -> bool:
        """Whether an axis changes this field of a scenario, or what holds it."""
        paths = (path for paths in self.paths.values() for path in paths)
        return any(f"{field}.".startswith(f"{path}.") for path in paths)

    def _level(self, places: Iterable[int]) -> tuple[tuple[str, Level], ...]:
        """The levels of all axes at these places of the dimensions."""
        return tuple(pair for one, place in zip(self.space, places, strict=True) for pair in one.place(place))

    @property
    def draws(self) -> range:
        """The replications of each point."""
        return range(self.replications)


def _has_steps(axis: Axis) -> bool:
    """Whether its values are stated, and not chosen by the question."""
    return not isinstance(axis.values, Range) or axis.values.steps is not None


@dataclass(frozen=True)
class Expected:
    """What a question will ask for: points, and runs in all; ``at_most`` when it may stop earlier."""

    points: int
    runs: int
    at_most: bool = False


@dataclass
class Answer:
    """What came out: sentences, tables of records by title, and what figures need to know."""

    sentences: list[str]
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    #: Metrics that the answer is about; all by default.
    metrics: Sequence[str] = ()


def defined_or_refuse(values: Iterable[float | None], metric: str, what: str, plan: Plan) -> list[float]:
    """The values; raises `UsageError` when one is not defined, with ``what`` needs it."""
    found = list(values)
    missing = sum(value is None for value in found)
    if missing:
        raise UsageError(
            f"metric {metric} is not defined at {missing} of {len(found)} points, and {what} needs it at each"
            f"{f': {UNSTATED}' if metric in plan.lacking else ''}"
        )
    return [value for value in found if value is not None]
