"""Axes: what an experiment varies, and their levels."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from cellyard.experiment.description.expression import UNKNOWN, Unit
from cellyard.show.columns import UNLIMITED, quantity
from cellyard.system.values import toml

Scale: TypeAlias = Literal["linear", "log"]
#: Scales of a range.
SCALES = ("linear", "log")

#: Number of steps between candidates of a range that has no ``steps`` and is not of whole numbers.
DEFAULT_STEPS = 1024
#: Largest range of whole numbers without ``steps`` of which all are candidates. Larger ranges have
#: `DEFAULT_STEPS` steps.
MOST_WHOLE_NUMBERS = 100_000
#: Units whose quantities are whole numbers.
WHOLE_UNITS = frozenset({"", "cell", "cells", "packets", "byte", "bytes", "B"})
#: Digits of a value within a range, and digits of its ends, which stay as written.
DIGITS, DIGITS_OF_ENDS = 6, 15

#: Fields that name the component in a table; see `TAG` of the classes of components.
TAGS = ("policy", "kind", "what")

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z/\u00b5\u03bc]*)\s*$")


@dataclass(frozen=True)
class Level:
    """A value of an axis: the ``text`` set in the scenario, and the ``label`` that tables show.

    ``is_shown`` is false if the label of another axis, which varies together with this one, names
    the whole setting.
    """

    text: str
    label: str
    is_shown: bool = field(default=True, compare=False, repr=False)

    @cached_property
    def number(self) -> float | int | None:
        """Value in the unit of results (s, Mb/s, cells, bytes), infinite for ``unlimited``; ``None`` unless it is a quantity."""
        if self.label.strip("\"'") == UNLIMITED:
            return math.inf
        parsed = quantity(self.label)
        return None if parsed is None else parsed[1]

    @property
    def value(self) -> float | int | str:
        """The number if there is one, else the label."""
        return self.label if self.number is None else self.number


@dataclass(frozen=True)
class Range:
    """Values from ``first`` to ``last``, both included, in one unit. ``steps`` is the number of candidates.

    ``whole`` restricts the range to whole numbers. Text has units as in a scenario file:
    ``Range("100 cells", "10000 cells", steps=5, scale="log")``.
    """

    first: str | float
    last: str | float
    steps: int | None = None
    scale: Scale = "linear"
    whole: bool | None = None

    @cached_property
    def _ends(self) -> tuple[float, float, str]:
        (low, unit), (high, _) = number_and_unit(self.first), number_and_unit(self.last)
        return low, high, unit

    @cached_property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers. By default they are if both ends are and the unit is a count."""
        low, high, unit = self._ends
        written = all(not isinstance(end, float) and "." not in str(end) for end in (self.first, self.last))
        return (
            self.whole
            if self.whole is not None
            else written and unit in WHOLE_UNITS and low.is_integer() and high.is_integer()
        )

    def at(self, share: float) -> Level:
        """The value at a fraction of the way, from 0 to 1. The scale is linear, or by ratio with ``log``."""
        low, high, unit = self._ends
        value = low * (high / low) ** share if self.scale == "log" else low + (high - low) * share
        value = min(max(value, min(low, high)), max(low, high))
        digits = DIGITS_OF_ENDS if share in (0, 1) else DIGITS
        text = str(round(value)) if self.is_whole else f"{value:.{digits}g}"
        return Level(f"{text} {unit}".strip(), f"{text} {unit}".strip())

    @cached_property
    def each_step(self) -> tuple[Level, ...]:
        """The ``steps`` values, which may repeat. Without ``steps``, all whole numbers, or `DEFAULT_STEPS` + 1 values."""
        low, high, _ = self._ends
        count = int(abs(high - low)) + 1 if self.is_whole and self.scale == "linear" else math.inf
        steps = self.steps or (int(count) if count <= MOST_WHOLE_NUMBERS else DEFAULT_STEPS + 1)
        return tuple(self.at(i / (steps - 1) if steps > 1 else 0.0) for i in range(steps))


@dataclass(frozen=True)
class Axis:
    """An axis: the ``values`` to set at a path of the scenario, or at several paths together.

    ``values`` is a list, which may include whole components, or a `Range`. Axes with one
    ``together`` vary side by side. ``name`` is a word for tables and constraints, by default the
    last of the path. ``labels`` name the values of a list in tables and figures.
    """

    path: str | Sequence[str]
    values: Sequence[Any] | Range
    name: str = ""
    together: str = ""
    labels: Sequence[str] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that the axis sets."""
        return (self.path,) if isinstance(self.path, str) else tuple(self.path)

    @property
    def is_range(self) -> bool:
        """Whether the axis has a value at any fraction of its way."""
        return isinstance(self.values, Range)

    @property
    def is_log(self) -> bool:
        """Whether the axis is a range on a logarithmic scale."""
        return isinstance(self.values, Range) and self.values.scale == "log"

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """Distinct levels in order. Axes that vary together keep repeated levels, so that they stay side by side."""
        return self.written_levels if self.together else tuple(dict.fromkeys(self.written_levels))

    @cached_property
    def written_levels(self) -> tuple[Level, ...]:
        """All levels as written, which may repeat."""
        if isinstance(self.values, Range):
            return self.values.each_step
        levels = tuple(map(level, self.values))
        if not self.labels:
            return levels
        return tuple(Level(unnamed.text, label) for unnamed, label in zip(levels, self.labels, strict=True))

    @property
    def unit(self) -> Unit:
        """The unit of the levels, as columns have it."""
        levels = [self.at(0), self.at(1)] if self.is_range else self.levels
        units = {parsed[0] or "" for level in levels if (parsed := quantity(level.label))}
        return units.pop() if len(units) == 1 else UNKNOWN

    def at(self, share: float) -> Level:
        """The level at a fraction of the way, from 0 to 1. The values of a list have equal parts."""
        if isinstance(self.values, Range):
            return self.values.at(share)
        return self.levels[min(int(share * len(self.levels)), len(self.levels) - 1)]


def level(value: Any) -> Level:
    """Convert a value of a list to a level.

    >>> level({"policy": "fba", "z": 0.5})
    Level(text='{ policy = "fba", z = 0.5 }', label='fba z=0.5')
    >>> level({"rif": 1}).label, level({"z": 0.5, "policy": "fba"}).label
    ('rif=1', 'fba z=0.5')
    >>> level("2000 cells").number, level(5).number, level("unlimited").number, level("epd").number
    (2000, 5, inf, None)
    """
    text = value if isinstance(value, str) else toml(value)
    return Level(text, _label(value, text))


def _label(value: Any, text: str) -> str:
    if not isinstance(value, Mapping) or not value:
        return text
    tags = [str(item) for key, item in value.items() if key in TAGS]
    fields = (
        f"{key}={item if isinstance(item, str) else toml(item)}" for key, item in value.items() if key not in TAGS
    )
    return " ".join([*tags, *fields])


def number_and_unit(value: str | float) -> tuple[float, str]:
    """Number and unit of a quantity; raises `ValueError` for anything else.

    >>> number_and_unit("100 cells"), number_and_unit(0.5)
    ((100.0, 'cells'), (0.5, ''))
    """
    match = _QUANTITY.match(str(value)) if not isinstance(value, bool) else None
    if not match or not math.isfinite(float(match[1])):
        raise ValueError(f"{value!r} is not a number with an optional unit")
    return float(match[1]), match[2]


def default_name(path: str) -> str:
    """The last word of a path, as the name of an axis.

    >>> default_name("switch.west.ubr.buffer"), default_name("link[0].rate")
    ('buffer', 'rate')
    """
    words = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", path.replace("-", "_"))
    return words[-1] if words else "axis"
