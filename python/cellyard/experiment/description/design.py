"""Designs: which points of the axes are simulated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from cellyard.experiment.description.axes import Axis, Level
from cellyard.experiment.description.expression import Condition
from cellyard.show.words import listed
from cellyard.system.errors import UsageError

#: Limit on values of an axis that a place names.
MOST_NAMED = 4

Kind: TypeAlias = Literal["grid", "latin-hypercube", "sobol"]
#: Names of the designs.
DESIGNS = ("grid", "latin-hypercube", "sobol")


@dataclass(frozen=True)
class Design:
    """``grid`` takes every combination. ``latin-hypercube`` and ``sobol`` fill the space with ``points``, drawn with ``seed``."""

    kind: Kind = "grid"
    points: int | None = None
    seed: int = 1


@dataclass(frozen=True)
class Point:
    """One level for each axis."""

    levels: tuple[tuple[str, Level], ...]

    @cached_property
    def values(self) -> Mapping[str, float | int | str]:
        """Values by axis name: numbers in the units of results, or labels."""
        return {name: level.value for name, level in self.levels}

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels by axis name, as tables of data show them."""
        return {name: level.label for name, level in self.levels}

    @property
    def shown_labels(self) -> Mapping[str, str]:
        """Labels as an answer shows them. Of axes that vary together, only the one whose labels name the whole setting appears."""
        return {name: level.label for name, level in self.levels if level.is_shown}

    def with_levels(self, others: Sequence[tuple[str, Level]]) -> Point:
        """A copy of the point with more axes."""
        return Point((*self.levels, *others))

    def __str__(self) -> str:
        return ", ".join(f"{name} = {label}" for name, label in self.shown_labels.items()) or "the unchanged base"


@dataclass(frozen=True)
class Dimension:
    """One axis, or several that vary side by side."""

    axes: tuple[Axis, ...]

    @cached_property
    def named_by(self) -> Axis | None:
        """The axis whose labels name the whole setting, if several vary together."""
        several = self.axes if len(self.axes) > 1 else ()
        return next((axis for axis in several if axis.labels and len(set(axis.labels)) == len(axis.labels)), None)

    @property
    def name(self) -> str:
        """Name of the axis. Of several, the one that names them, or else the first."""
        return (self.named_by or self.axes[0]).name

    @cached_property
    def size(self) -> int:
        """Number of levels of a grid on the dimension."""
        return min(len(axis.levels) for axis in self.axes)

    def at_index(self, index: int) -> tuple[tuple[str, Level], ...]:
        """The level of each axis at an index of the grid."""
        return tuple((axis.name, self._visible(axis, axis.levels[index])) for axis in self.axes)

    def at(self, share: float) -> tuple[tuple[str, Level], ...]:
        """The level of each axis at a fraction of the way, from 0 to 1."""
        return tuple((axis.name, self._visible(axis, axis.at(share))) for axis in self.axes)

    def _visible(self, axis: Axis, level: Level) -> Level:
        """The level, hidden if another axis names the setting."""
        return level if self.named_by in (None, axis) else replace(level, is_shown=False)


def dimensions(axes: Sequence[Axis]) -> list[Dimension]:
    """The dimensions of the axes. Axes that vary together form one."""
    groups: dict[object, list[Axis]] = {}
    for index, axis in enumerate(axes):
        groups.setdefault(axis.together or index, []).append(axis)
    return [Dimension(tuple(group)) for group in groups.values()]


def size(space: Sequence[Dimension], design: Design) -> int:
    """Number of points before constraints."""
    return math.prod(dimension.size for dimension in space) if design.kind == "grid" else (design.points or 0)


def points(space: Sequence[Dimension], design: Design, constraints: Sequence[Condition] = ()) -> list[Point]:
    """The distinct points of a design that satisfy the constraints on axes of ``space``."""
    if design.kind == "grid" or not space:
        candidates: Iterator[Point] = _grid(space)
    else:
        candidates = (at_shares(space, shares) for shares in _space_filling(design, len(space)))
    names = {axis.name for dimension in space for axis in dimension.axes}
    applicable = [condition for condition in constraints if names.issuperset(condition.names)]
    allowed = (point for point in candidates if all(condition.holds(point.values) for condition in applicable))
    return list(dict.fromkeys(allowed))


def at_shares(space: Sequence[Dimension], shares: Sequence[float]) -> Point:
    """The point at a fraction, from 0 to 1, of the way along each dimension."""
    levels = (dimension.at(float(share)) for dimension, share in zip(space, shares, strict=True))
    return Point(tuple(itertools.chain.from_iterable(levels)))


def _grid(space: Sequence[Dimension]) -> Iterator[Point]:
    for indices in itertools.product(*(range(dimension.size) for dimension in space)):
        levels = (dimension.at_index(index) for dimension, index in zip(space, indices, strict=True))
        yield Point(tuple(itertools.chain.from_iterable(levels)))


def _space_filling(design: Design, count: int) -> Any:
    """Fractions from 0 to 1, one line for each point."""
    qmc = load_scipy("the designs latin-hypercube and sobol").qmc
    if design.kind == "sobol":
        return qmc.Sobol(count, rng=design.seed).random(design.points)
    return qmc.LatinHypercube(count, rng=design.seed).random(design.points)


def load_scipy(purpose: str) -> Any:
    """The module `scipy.stats`; raises `UsageError` when it is missing."""
    try:
        from scipy import stats  # type: ignore[import-untyped]
    except ImportError:
        raise UsageError(f"{purpose} cannot be used without scipy: pip install scipy") from None
    return stats


def where(affected: Sequence[Point], checked: Sequence[Point]) -> str:
    """The axis values that distinguish the affected points, most informative first, or the number of points; empty for all."""
    matching, parts = list(checked), []
    names = list(checked[0].shown_labels)
    while names and len(matching) > len(affected):
        values = {name: dict.fromkeys(point.labels[name] for point in affected) for name in names}
        selected = {name: [point for point in matching if point.labels[name] in values[name]] for name in names}
        best = min(names, key=lambda name: len(selected[name]))
        names.remove(best)
        if len(selected[best]) < len(matching):
            parts.append(f"{best} = {listed(list(values[best]), most=MOST_NAMED)}")
        matching = selected[best]
    if len(matching) > len(affected):
        return f"at {len(affected)} of {len(checked)} points, for example {affected[0]}"
    return f"at {'; '.join(parts)}" if parts else ""
