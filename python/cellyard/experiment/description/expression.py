"""Conditions on axes and metrics, and formulas of metrics, as text.

Only arithmetic and comparisons are allowed; nothing is executed.
"""

import ast
import operator
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import Any, TypeAlias

from cellyard.show.columns import UNLIMITED, quantity, spellings
from cellyard.statistics.bounded import Bounded, Value, compared, every, lifted, opposite

_BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_SIGNS: Mapping[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_COMPARE: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_CALLS: Mapping[str, Callable[[Any], Any]] = {
    "min": lifted(min),
    "max": lifted(max),
    "abs": lambda values: abs(values[0]),
}
#: What a condition may contain, for messages.
ALLOWED = (
    "a comparison such as `threshold <= 0.9 * buffer`, of names, numbers (in seconds, Mb/s, cells, bytes, or with a "
    "unit such as `20 ms`), texts in quotes, + - * /, min, max, abs, < <= > >= == !=, and, or, not"
)
#: Longest condition, in characters.
LONGEST = 500
#: Number of characters of a condition that a message shows.
_SHOWN = 60


#: What a formula may contain, for messages.
ALLOWED_IN_FORMULAS = (
    "a formula of other metrics by their names, such as `near / far`, of names, numbers, + - * /, min, max, abs"
)


#: A text in quotes, or a number with a word behind it that is not one of Python's.
_QUANTITY = re.compile(
    r"""(?P<text>'[^']*'|"[^"]*")|(?<![\w.])(?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)[ ]?"""
    r"""(?!(?:and|or|not|in|is|if|else)\b)(?P<unit>[A-Za-z\u00b5\u03bc]+(?:/s)?)(?![\w.])"""
)
#: The unit of a number or name: that of its column, ``""`` for a pure number, ``UNKNOWN``, or ``None`` if any fits.
Unit: TypeAlias = str | None
UNKNOWN = "?"


class ConditionError(ValueError):
    """A text that is not a condition, or a condition that cannot be evaluated. ``allowed`` says what is, unless it is `ALLOWED`."""

    def __init__(self, message: str, allowed: str = "") -> None:
        super().__init__(message)
        self.allowed = allowed


#: Comparisons with a limit: as written, and with both sides exchanged.
_LIMITS: Mapping[type, tuple[str, str]] = {
    ast.Lt: ("<", ">"),
    ast.LtE: ("<=", ">="),
    ast.Gt: (">", "<"),
    ast.GtE: (">=", "<="),
}


@dataclass(frozen=True)
class _Expression:
    """An expression over named values."""

    text: str

    @cached_property
    def _tree(self) -> ast.expr:
        if len(self.text) > LONGEST:
            raise ConditionError(f"has {len(self.text)} characters, and at most {LONGEST} are allowed")
        plain = self._plain
        try:
            with warnings.catch_warnings(action="ignore"):  # Python's own, of a number next to a word
                return ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ConditionError("is not a valid expression") from None

    @property
    def _plain(self) -> str:
        """The text with each quantity as a number in the unit of results."""
        return self._without_units[0]

    @cached_property
    def _without_units(self) -> tuple[str, Mapping[int, tuple[str, str]]]:
        """The text with plain numbers, and by their place the unit and the text of those that were quantities."""
        text = self.text.strip()
        plain, end, found = "", 0, {}
        for match in _QUANTITY.finditer(text):
            unit, value = quantity(match["text"] or f"{match['number']} {match['unit']}") or (None, 0)
            if unit is None and match["text"]:
                continue
            if unit is None:
                raise ConditionError(f"unknown unit `{match['unit']}`", f"a number in {', '.join(spellings())}")
            plain += text[end : match.start()]
            found[len(plain.encode())] = unit, match[0]
            plain, end = plain + repr(value), match.end()
        return plain + text[end:], found

    def unit(self, units: Mapping[str, Unit], noun: str = "cell") -> Unit:
        """The unit of the whole; raises `ConditionError` if a quantity meets another unit than its own.

        ``units`` are those of the names; one without entry fits any, as it is reported elsewhere. ``noun`` is what a
        reader calls a cell.
        """
        return self._unit(self._tree, units, noun)[0]

    def with_units(self, units: Mapping[str, Unit], words: Mapping[str, str]) -> str:
        """The text, in which plain numbers that stand alone in a comparison have the unit of the other side.

        ``words`` names the units that are shown.

        >>> Condition("p99 < 0.02 and 2 < lost <= 30 cells").with_units({"p99": "s", "lost": "cells"}, {"s": "s", "cells": "cells"})
        'p99 < 0.02 s and 2 cells < lost <= 30 cells'
        """
        plain, quantities = self._without_units
        shown = {}
        for node in ast.walk(self._tree):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            known = [
                words[unit]
                for unit in {self._unit(side, units, "packet")[0] for side in sides}
                if unit and unit in words
            ]
            for side in sides:
                if isinstance(side, ast.Constant) and isinstance(side.value, (int, float)) and len(known) == 1:
                    shown[side.col_offset, side.end_col_offset] = f" {known[0]}"
        text, end = "", 0
        for node in sorted(ast.walk(self._tree), key=lambda node: getattr(node, "col_offset", 0)):
            if isinstance(node, ast.Constant) and (place := (node.col_offset, node.end_col_offset or 0)):
                own = plain.encode()[slice(*place)].decode()
                written = quantities[place[0]][1] if place[0] in quantities else own + shown.get(place, "")
                text += plain.encode()[end : place[0]].decode() + written
                end = place[1]
        return text + plain.encode()[end:].decode()

    def _unit(self, node: ast.AST, units: Mapping[str, Unit], noun: str) -> tuple[Unit, str]:
        """The unit of a node, and the text of a quantity in it, if any."""
        if isinstance(node, ast.Name):
            return units.get(node.id), ""
        if isinstance(node, ast.Constant):
            unit, text = self._without_units[1].get(node.col_offset, (None, ""))
            if noun == "cell" and "packet" in text:
                raise ConditionError(f"has `{text}`, and the scenario has cells")
            return unit, text
        nodes: list[Any] = node.args if isinstance(node, ast.Call) else list(ast.iter_child_nodes(node))
        parts = [(part, *self._unit(part, units, noun)) for part in nodes if isinstance(part, ast.expr)]
        known = {unit: part for part, unit, _ in reversed(parts) if unit is not None}
        written = next((text for *_, text in parts if text), "")
        unit = next(iter(known)) if len(known) == 1 else UNKNOWN if known else None
        if isinstance(node, ast.BoolOp):
            return None, ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            return UNKNOWN if sum(unit is not None for _, unit, _ in parts) > 1 else unit, written
        if written and unit == UNKNOWN:
            own = next(unit for _, unit, text in parts if text)
            wrong, other = next((unit, part) for unit, part in known.items() if unit != own)
            names = [name for name in spellings(wrong) if not name.startswith("packet") or noun != "cell"]
            allowed = f"a number in {', '.join(names)}" if names else "a number without unit"
            shown = ast.get_source_segment(self._plain, other)
            raise ConditionError(f"compares `{written}` with `{shown}`, which has another unit", allowed)
        return (None, "") if isinstance(node, ast.Compare) else (unit, written)

    def _check(self) -> None:
        """Raise `ConditionError`, with the faulty part, unless all parts of the text are allowed."""
        waiting: list[ast.AST] = [self._tree]
        while waiting:
            node = waiting.pop()
            try:
                waiting += _parts(node)
            except ConditionError as error:
                part = ast.get_source_segment(self.text.strip(), node) if isinstance(node, ast.expr) else None
                shown = f": `{_shortened(part)}`" if part else ""
                raise ConditionError(f"{error}{shown}") from None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names in the expression, in order."""
        called = {node.func for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        nodes = [node for node in ast.walk(self._tree) if isinstance(node, ast.Name) and node not in called]
        return tuple(dict.fromkeys(node.id for node in nodes))


@dataclass(frozen=True)
class Condition(_Expression):
    """A condition on named values; raises `ConditionError` when ``text`` is not one."""

    def __post_init__(self) -> None:
        if not isinstance(self._tree, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
            raise ConditionError("is not a comparison")
        self._check()

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Whether the condition holds; ``None`` if the bounds of a value do not decide it.

        False if a value is undefined (``None``) or too large for a float.

        Raises `ConditionError`, with the condition and its texts, for arithmetic with a text, and for
        comparing a text with a number.
        """
        if any(values[name] is None for name in self.names):
            return False
        try:
            return _truth(_value(self._tree, values))
        except ArithmeticError:
            return False
        except (TypeError, ConditionError) as error:
            raise self._invalid(error, values) from None

    def limits(self) -> list[tuple[str, str, float]]:
        """Each name that is compared with a number alone, with the sign and the number.

        >>> Condition("p99 < 20 ms and 2 * a <= b and 0.5 <= x").limits()
        [('p99', '<', 0.02), ('x', '>=', 0.5)]
        """
        found = []
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _LIMITS:
                sign, turned = _LIMITS[type(node.ops[0])]
                match node.left, node.comparators[0]:
                    case ast.Name(name), ast.Constant(int() | float() as limit):
                        found.append((name, sign, float(limit)))
                    case ast.Constant(int() | float() as limit), ast.Name(name):
                        found.append((name, turned, float(limit)))
        return found

    def _invalid(self, error: Exception, values: Mapping[str, Any]) -> ConditionError:
        """The error of a condition that these values make invalid."""
        message = str(error) if isinstance(error, ConditionError) else "compares a number with a text"
        texts = [f"{name} = {_shortened(values[name])}" for name in self.names if isinstance(values[name], str)]
        return ConditionError(f"`{_shortened(self.text)}` {message}{', at ' if texts else ''}{', '.join(texts)}")


@dataclass(frozen=True)
class Formula(_Expression):
    """A number computed from others by name; raises `ConditionError` when ``text`` is not a formula, or only a name."""

    def __post_init__(self) -> None:
        self._check()
        others = (ast.Compare, ast.BoolOp, ast.Not)
        nodes = list(ast.walk(self._tree))
        if any(
            isinstance(node, others) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
            for node in nodes
        ):
            raise ConditionError("is not a number")
        if self._without_units[1]:
            raise ConditionError("has a unit, and formulas are of plain numbers")
        if not self.names or isinstance(self._tree, ast.Name):
            raise ConditionError("is a name or a number alone")

    def value(self, values: Mapping[str, Value]) -> Value:
        """The result, or its bounds; ``None`` if an operand is undefined, and if the result would be infinite."""
        if any(values[name] is None for name in self.names):
            return None
        try:
            value = _value(self._tree, values)
            value = value if isinstance(value, Bounded) else float(value)
        except ArithmeticError:
            return None
        except (TypeError, ValueError):
            raise ConditionError("does arithmetic with a text") from None
        return value if isinstance(value, Bounded) or isfinite(value) else None


def _parts(node: ast.AST) -> list[ast.AST]:
    """The parts of an allowed node; raises `ConditionError` for any other."""
    if isinstance(node, ast.Name):
        return []
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float, str)):
            raise ConditionError("has a value that is neither a number nor a text")
        if isinstance(node.value, (int, float)) and abs(node.value) > sys.float_info.max:
            raise ConditionError(f"has a number above {sys.float_info.max:.2g}")
        return []
    if isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
        return [node.left, *node.comparators]
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    operands: list[ast.expr]
    if isinstance(node, ast.Call):
        if not (isinstance(node.func, ast.Name) and node.func.id in _CALLS and not node.keywords and node.args):
            raise ConditionError("has a call other than of min, max or abs")
        if (len(node.args) == 1) != (node.func.id == "abs"):
            needed = "one value" if node.func.id == "abs" else "two values or more"
            raise ConditionError(f"calls {node.func.id} with {len(node.args)} values, and it needs {needed}")
        operands = node.args
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        operands = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        operands = [node.operand]
    else:
        raise ConditionError("has an expression that is not supported")
    if any(isinstance(operand, ast.Constant) and isinstance(operand.value, str) for operand in operands):
        raise ConditionError("does arithmetic with a text, which can only be compared")
    return list(operands)


def _value(node: ast.AST, values: Mapping[str, Any]) -> Any:
    """The value of a node; raises `ConditionError` for arithmetic with a text, `ArithmeticError` if no float can hold it."""
    if isinstance(node, ast.UnaryOp):  # in a loop, as there may be hundreds
        signs = []
        while isinstance(node, ast.UnaryOp):
            signs.append(node.op)
            node = node.operand
        inner = _value(node, values)
        for sign in reversed(signs):
            inner = opposite(_truth(inner)) if isinstance(sign, ast.Not) else _SIGNS[type(sign)](_number(inner))
        return inner
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.Constant):
        return inf if node.value == UNLIMITED else node.value  # as in the values of an axis
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _CALLS[node.func.id]([_number(_value(part, values)) for part in node.args])
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)](_number(_value(node.left, values)), _number(_value(node.right, values)))
    if isinstance(node, ast.BoolOp):
        judged = (_truth(_value(part, values)) for part in node.values)
        return every(judged) if isinstance(node.op, ast.And) else opposite(every(map(opposite, judged)))
    if isinstance(node, ast.Compare):
        sides = [_value(part, values) for part in (node.left, *node.comparators)]
        return every(compared(_COMPARE[type(op)], a, b) for op, a, b in zip(node.ops, sides, sides[1:], strict=False))
    raise ConditionError("cannot be evaluated")


def _truth(value: Any) -> bool | None:
    """The truth of a value; ``None`` if it is not known."""
    if isinstance(value, Bounded):
        return compared(operator.ne, value, 0)
    return None if value is None else bool(value)


def _number(value: Any) -> Any:
    """An operand of arithmetic; raises `ConditionError` for a text."""
    if isinstance(value, str):
        raise ConditionError(f"does arithmetic with the text `{_shortened(value)}`, which can only be compared")
    return value


def _shortened(text: str) -> str:
    """A text cut to `_SHOWN` characters."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
