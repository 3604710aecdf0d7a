"""Values of which only bounds are known, such as the duration of a file that a run did not finish.

Arithmetic gives the bounds of the result, for all possible values. A comparison is true or false if
all values within the bounds decide it alike, and otherwise ``None``: not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

#: Ends of field names: a value ``x`` that is not known has its bounds in ``x_above`` and ``x_below``.
ABOVE, BELOW = "_above", "_below"


@dataclass(frozen=True, slots=True)
class Bounded:
    """A value between ``low`` and ``high``, which differ and may be infinite.

    >>> late = Bounded(0.3, math.inf)
    >>> str(late), str(Bounded(0.2, 0.3)), str(-late), str(late + 1), str(1 / late)
    ('> 0.3', '0.2..0.3', '< -0.3', '> 1.3', '0..3.33333')
    """

    low: float
    high: float

    def __str__(self) -> str:
        return self.text(lambda end: f"{end:g}")

    def text(self, form: Callable[[float], str]) -> str:
        """The bounds as text, each formatted by ``form``."""
        if math.isinf(self.low):
            return f"< {form(self.high)}" if math.isfinite(self.high) else "not known"
        return f"{form(self.low)}..{form(self.high)}" if math.isfinite(self.high) else f"> {form(self.low)}"

    def __neg__(self) -> Bounded:
        return Bounded(-self.high, -self.low)

    def __pos__(self) -> Bounded:
        return self

    def __abs__(self) -> Any:
        ends = sorted((abs(self.low), abs(self.high)))
        return _between(0.0 if self.low <= 0 <= self.high else ends[0], ends[1])

    def __add__(self, other: Any) -> Any:
        low, high = ends_of(other)
        return _between(self.low + low, self.high + high)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        low, high = ends_of(other)
        return _between(self.low - high, self.high - low)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        # Values are finite, so 0 times any is 0.
        products = [a * b if a and b else 0.0 for a in (self.low, self.high) for b in ends_of(other)]
        return _between(min(products), max(products))

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        return self * (_inverse(other) if isinstance(other, Bounded) else 1 / other)

    def __rtruediv__(self, other: Any) -> Any:
        return _inverse(self) * other


#: A value as a metric has it: a number, its bounds, or ``None`` if it is undefined.
Value = int | float | Bounded | None


def _between(low: float, high: float) -> Any:
    return low if low == high else Bounded(low, high)


def _inverse(value: Bounded) -> Bounded:
    if value.low < 0 < value.high:
        return Bounded(-math.inf, math.inf)
    return Bounded(1 / value.high if value.high else -math.inf, 1 / value.low if value.low else math.inf)


def ends_of(value: Any) -> tuple[Any, Any]:
    """Lower and upper bound of a value."""
    return (value.low, value.high) if isinstance(value, Bounded) else (value, value)


def field_value(get: Callable[[str], Any], name: str) -> Any:
    """The value of a field of a result, or its bounds; ``get`` returns a field by name, ``None`` if it is missing.

    >>> fields = {"p99": None, "p99_above": 0.3, "rate": None, "rate_below": 8.0, "none": None, "one": 1}
    >>> [str(field_value(fields.get, name)) for name in ("p99", "rate", "none", "one")]
    ['> 0.3', '< 8', 'None', '1']
    """
    value = get(name)
    if value is not None:
        return value
    above, below = get(name + ABOVE), get(name + BELOW)
    if above is None and below is None:
        return None
    return Bounded(-math.inf if above is None else above, math.inf if below is None else below)


def as_fields(name: str, value: Any) -> dict[str, Any]:
    """Fields of a value, from which `field_value` makes it: one, or three if it is not known.

    >>> as_fields("p99", 0.2), as_fields("p99", Bounded(0.3, math.inf))
    ({'p99': 0.2}, {'p99': None, 'p99_above': 0.3, 'p99_below': None})
    """
    if not isinstance(value, Bounded):
        return {name: value}
    above, below = (end if math.isfinite(end) else None for end in (value.low, value.high))
    return {name: None, name + ABOVE: above, name + BELOW: below}


def known(values: Iterable[Any]) -> TypeGuard[list[float]]:
    """Whether no value has only bounds."""
    return not any(isinstance(value, Bounded) for value in values)


def lifted(function: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    """A function of numbers that grows with each of them, as one of values with bounds.

    >>> largest = lifted(max)
    >>> largest([1, 3]), largest([1, Bounded(2, math.inf)]), lifted(min)([1, Bounded(2, math.inf)])
    (3, Bounded(low=2, high=inf), 1)
    """

    def of_values(values: Sequence[Any]) -> Any:
        if known(values):
            return function(values)
        return _between(*(function([ends_of(value)[end] for value in values]) for end in (0, 1)))

    return of_values


def compared(compare: Callable[[Any, Any], bool], a: Any, b: Any) -> bool | None:
    """Whether an order or an equality holds between two values; ``None`` if it is not known.

    >>> import operator
    >>> late = Bounded(0.3, math.inf)
    >>> [compared(op, late, 0.25) for op in (operator.lt, operator.gt, operator.eq, operator.ne)]
    [False, True, False, True]
    >>> [compared(op, late, 0.4) for op in (operator.lt, operator.gt, operator.eq, operator.ne)]
    [None, None, None, None]
    """
    if known((a, b)):
        return bool(compare(a, b))
    (a_low, a_high), (b_low, b_high) = ends_of(a), ends_of(b)
    if a_low <= b_high and b_low <= a_high and compare(0, 0) != compare(0, 1) and compare(0, 0) != compare(1, 0):
        return None  # an equality or its opposite, of values that may be equal
    results = {compare(a_low, b_high), compare(a_high, b_low)}
    return results.pop() if len(results) == 1 else None


def every(judged: Iterable[bool | None]) -> bool | None:
    """Whether all are true: false if one is false, else not known if one is not known."""
    unknown = False
    for result in judged:
        if result is False:
            return False
        unknown = unknown or result is None
    return None if unknown else True


def opposite(judged: bool | None) -> bool | None:
    """The opposite of a judgement, which is not known where the judgement is not."""
    return None if judged is None else not judged


def bounded_runs(samples: Iterable[Mapping[str, Any]], metric: str) -> int:
    """Number of runs in which only bounds of a metric are known."""
    return sum(isinstance(sample[metric], Bounded) for sample in samples)
