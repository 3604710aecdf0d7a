"""Which points of the axes are simulated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from cellyard.experiment.description.axes import Axis, Level
from cellyard.experiment.description.expression import Condition
from cellyard.system.errors import UsageError

Kind: TypeAlias = Literal["grid", "latin-hypercube", "sobol"]
#: Designs by name.
DESIGNS = ("grid", "latin-hypercube", "sobol")


@dataclass(frozen=True)
class Design:
    """``grid``: every combination. ``latin-hypercube`` and ``sobol``: so many ``points`` that fill the space, drawn with ``seed``."""

    kind: Kind = "grid"
    points: int | None = None
    seed: int = 1


@dataclass(frozen=True)
class Point:
    """A level of every axis."""

    levels: tuple[tuple[str, Level], ...]

    @cached_property
    def values(self) -> Mapping[str, float | int | str]:
        """Numbers in the units of results, or labels, by the names of the axes."""
        return {name: one.value for name, one in self.levels}

    @property
    def labels(self) -> Mapping[str, str]:
        """What tables of data show, by the names of the axes."""
        return {name: one.label for name, one in self.levels}

    @property
    def told(self) -> Mapping[str, str]:
        """What an answer tells: of axes that vary together the one whose labels name all that is set, where one has any."""
        return {name: one.label for name, one in self.levels if one.told}

    def with_levels(self, others: Sequence[tuple[str, Level]]) -> Point:
        """The same with more axes."""
        return Point((*self.levels, *others))

    def __str__(self) -> str:
        return ", ".join(f"{name} = {label}" for name, label in self.told.items()) or "the base as it is"


@dataclass(frozen=True)
class Dimension:
    """One axis, or several that vary side by side."""

    axes: tuple[Axis, ...]

    @cached_property
    def named_by(self) -> Axis | None:
        """Of several axes the one whose labels name all that is set."""
        several = self.axes if len(self.axes) > 1 else ()
        return next((axis for axis in several if axis.labels and len(set(axis.labels)) == len(axis.labels)), None)

    @property
    def name(self) -> str:
        """That of its axis; of several the one that names them, or the first."""
        return (self.named_by or self.axes[0]).name

    @cached_property
    def size(self) -> int:
        """How many places a grid has on it."""
        return min(len(axis.levels) for axis in self.axes)

    def place(self, index: int) -> tuple[tuple[str, Level], ...]:
        """The level of each of its axes at a place of the grid."""
        return tuple((axis.name, self._told(axis, axis.levels[index])) for axis in self.axes)

    def at(self, share: float) -> tuple[tuple[str, Level], ...]:
        """The level of each of its axes at a share from 0 to 1 of the way."""
        return tuple((axis.name, self._told(axis, axis.at(share))) for axis in self.axes)

    def _told(self, axis: Axis, level: Level) -> Level:
        return level if self.named_by in (None, axis) else replace(level, told=False)


def dimensions(axes: Sequence[Axis]) -> list[Dimension]:
    """The axes, those that vary together as one."""
    groups: dict[object, list[Axis]] = {}
    for place, axis in enumerate(axes):
        groups.setdefault(axis.together or place, []).append(axis)
    return [Dimension(tuple(group)) for group in groups.values()]


def size(space: Sequence[Dimension], design: Design) -> int:
    """How many points there are before constraints."""
    return math.prod(one.size for one in space) if design.kind == "grid" else (design.points or 0)


def points(space: Sequence[Dimension], design: Design, constraints: Sequence[Condition] = ()) -> list[Point]:
    """The points of a design that keep to the constraints on axes of ``space``, each once."""
    if design.kind == "grid" or not space:
        made: Iterator[Point] = _grid(space)
    else:
        made = (at_shares(space, shares) for shares in _filled(design, len(space)))
    names = {axis.name for one in space for axis in one.axes}
    own = [condition for condition in constraints if names.issuperset(condition.names)]
    kept = (point for point in made if all(condition.holds(point.values) for condition in own))
    return list(dict.fromkeys(kept))


def at_shares(space: Sequence[Dimension], shares: Sequence[float]) -> Point:
    """The point at a share from 0 to 1 of the way along each dimension."""
    return Point(tuple(itertools.chain.from_iterable(one.at(float(s)) for one, s in zip(space, shares, strict=True))))


def _grid(space: Sequence[Dimension]) -> Iterator[Point]:
    for indices in itertools.product(*(range(one.size) for one in space)):
        yield Point(tuple(itertools.chain.from_iterable(one.place(i) for one, i in zip(space, indices, strict=True))))


def _filled(design: Design, count: int) -> Any:
    """Shares from 0 to 1, a line for each point."""
    qmc = scipy("the designs latin-hypercube and sobol").qmc
    if design.kind == "sobol":
        return qmc.Sobol(count, rng=design.seed).random(design.points)
    return qmc.LatinHypercube(count, rng=design.seed).random(design.points)


def scipy(what: str) -> Any:
    """The module `scipy.stats`; raises `UsageError` when it is missing."""
    try:
        from scipy import stats  # type: ignore[import-untyped]
    except ImportError:
        raise UsageError(f"{what} need scipy: pip install 'cellyard[experiment]'") from None
    return stats
