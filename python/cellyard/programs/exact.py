"""Evaluates a policy in Python, with the numbers of the language.

An integer is an `int`, a decimal a `Fraction`, and a float a `float`. Integers have the range of the
engine. A `Fraction` is reduced and has no bounds; the parts of a decimal have 128 bits there.
"""

from __future__ import annotations

import ast
import copy
import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, cast

from cellyard.components.drop import Program
from cellyard.programs.source import Source
from cellyard.programs.translate import ARITHMETIC, COMPARISONS, States
from cellyard.programs.words import DRAW, KNOWN, OWNERS, RATES, Verdict, accept
from cellyard.system.errors import ScenarioError, UsageError
from cellyard.system.values import as_python, plain, shown

#: A number of the language. ``math.inf`` stands for K of a queue without limit.
Number: TypeAlias = int | Fraction | float


class State:
    """State of a queue or of one VC. It has only the declared names, and each keeps its type."""

    __slots__ = ("__dict__", "_types")

    _types: Mapping[str, type]

    def __init__(self, start: Mapping[str, float]) -> None:
        object.__setattr__(self, "_types", {name: type(value) for name, value in start.items()})
        vars(self).update(start)

    def __setattr__(self, name: str, value: Any) -> None:
        kept = self._types.get(name)
        if kept is None:
            raise AttributeError(self._unknown(name))
        if kept is float and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kept:
            raise TypeError(f"the state {name!r} has the type {kept.__name__}, not {type(value).__name__}")
        vars(self)[name] = value

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._unknown(name))

    def _unknown(self, name: str) -> str:
        return f"unknown state {name!r}; there are: {', '.join(self._types) or 'none'}"

    def __repr__(self) -> str:
        return f"State({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Rate(int):
    """A rate of a VC, with the sum over all VCs of the queue."""

    total: int

    def __new__(cls, of_vcs: Any) -> Rate:
        """Take one rate, or the rates of all VCs with that of the cell's VC first."""
        rates = list(of_vcs) if isinstance(of_vcs, Iterable) else [of_vcs]
        rate = super().__new__(cls, rates[0])
        rate.total = sum(rates)
        return rate


def widened(a: Number, b: Number) -> tuple[Number, Number]:
    """Two numbers in the type to which both convert."""
    if isinstance(a, float) or isinstance(b, float):
        return float(a), float(b)
    if isinstance(a, Fraction) or isinstance(b, Fraction):
        return Fraction(a), Fraction(b)
    return a, b


def fitting(number: Any) -> Any:
    """A number, if it is not an integer beyond the range of the language. Raises `OverflowError`."""
    if isinstance(number, int) and not -(2**127) <= number <= 2**127 - 2:
        raise OverflowError("the number does not fit into 128 bits")
    return number


def arithmetic(result: Callable[[Any, Any], Any]) -> Callable[[Number, Number], Number]:
    """An operation whose integers stay in the range of the language."""
    return lambda a, b: cast(Number, fitting(result(a, b)))


def floor(a: Number) -> int:
    """The largest integer that is at most the number."""
    return cast(int, fitting(math.floor(a)))


def divide(a: Number, b: Number) -> Number:
    """The quotient; that of integers is a decimal."""
    a, b = widened(a, b)
    return a / b if isinstance(a, float) else Fraction(a) / b


def power(a: Number, n: int) -> float:
    """The power of a float, multiplied by squaring as in the engine."""
    if n < 0:
        raise ValueError("the exponent is negative")
    product, square = 1.0, float(a)
    while n:
        if n % 2:
            product *= square
        square *= square
        n //= 2
    return product


def smaller(a: Number, b: Number) -> Number:
    """The smaller one, in the type to which both convert."""
    return min(*widened(a, b))


def larger(a: Number, b: Number) -> Number:
    """The larger one, in the type to which both convert."""
    return max(*widened(a, b))


def total(rate: Rate) -> int:
    """The sum of a rate over all VCs."""
    return rate.total


ORDERS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


def comparison(holds: Callable[[Any, Any], Any]) -> Callable[[Number, Number], bool]:
    """A comparison of two numbers in the type to which both convert."""
    return lambda a, b: bool(holds(*widened(a, b)))


#: What operators and functions are compiled to. No name in a Python text has a blank.
COMPILED: Mapping[str, Any] = {
    " +": arithmetic(operator.add),
    " -": arithmetic(operator.sub),
    " *": arithmetic(operator.mul),
    " /": divide,
    " **": power,
    **{f" {sign}": comparison(holds) for sign, holds in zip(COMPARISONS.values(), ORDERS, strict=True)},
    " min": smaller,
    " max": larger,
    " abs": abs,
    " float": float,
    " floor": floor,
    " sum": total,
}


def float_locals(definition: ast.FunctionDef, states: States) -> set[str]:
    """Local names that hold floats: those with a float in any of their assignments."""
    floats: set[str] = set()
    assigned = [node for node in ast.walk(definition) if isinstance(node, (ast.Assign, ast.AugAssign))]
    while True:
        found = set(floats)
        for node in assigned:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and is_float(node.value, floats, states):
                found.add(target.id)
        if found == floats:
            return floats
        floats = found


def is_float(node: ast.expr, floats: set[str], states: States) -> bool:
    """Whether an expression has a float. Parameters and names of the language have none."""
    match node:
        case ast.Name(id=name):
            return name in floats
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return isinstance(states[owner][name], float)
        case ast.Call():
            word = called_word(node)
            if word in ("min", "max", "abs"):
                return any(is_float(argument, floats, states) for argument in node.args)
            return word in ("float", DRAW)
        case ast.BinOp(op=ast.Pow()):
            return True
        case ast.BinOp():
            return is_float(node.left, floats, states) or is_float(node.right, floats, states)
        case ast.UnaryOp():
            return is_float(node.operand, floats, states)
    return False


SIGNS = {**{of: sign for of, (sign, _) in ARITHMETIC.items()}, ast.Pow: "**"}


def called_word(node: ast.Call) -> str:
    """The function that is called, without its module."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else cast(ast.Name, node.func).id


class Transformer(ast.NodeTransformer):
    """Replaces numbers, operators and functions of Python by those of the language."""

    def __init__(self, source: Source, floats: set[str]) -> None:
        self._source = source
        self._floats = floats
        #: Decimals by the names that stand for them.
        self.decimals: dict[str, Fraction] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Replace a float by the exact decimal."""
        if not isinstance(node.value, float):
            return node
        written = self._source.written(node)
        self.decimals[f" {written}"] = Fraction(written)
        return ast.copy_location(ast.Name(f" {written}", ast.Load()), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Replace arithmetic."""
        self.generic_visit(node)
        return called(f" {SIGNS[type(node.op)]}", [node.left, node.right], node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Write the assignment out."""
        read = copy.copy(node.target)
        read.ctx = ast.Load()
        value = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], value), node))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """Convert what a local name for floats receives."""
        self.generic_visit(node)
        (target,) = node.targets
        if isinstance(target, ast.Name) and target.id in self._floats:
            node.value = called(" float", [node.value], node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Replace a comparison."""
        self.generic_visit(node)
        return called(f" {COMPARISONS[type(node.ops[0])]}", [node.left, node.comparators[0]], node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Replace a function. The one that draws is an argument."""
        self.generic_visit(node)
        word = called_word(node)
        return node if word == DRAW else called(f" {word}", node.args, node)

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        """Return the verdict as a text."""
        found = node.value
        word = found.attr if isinstance(found, ast.Attribute) else cast(ast.Name, found).id
        return ast.copy_location(ast.Return(ast.copy_location(ast.Constant(word), node)), node)


def called(name: str, arguments: list[ast.expr], node: ast.expr) -> ast.expr:
    """A call of a compiled function in the place of a node."""
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name(name, ast.Load()), node), arguments, []), node)


class Evaluator:
    """The function of a policy, compiled so that its numbers are those of the language."""

    def __init__(self, source: Source, states: States) -> None:
        definition = copy.deepcopy(source.definition)
        arguments = definition.args
        for argument in (*arguments.args, *arguments.kwonlyargs):
            argument.annotation = None
        arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
        definition.decorator_list, definition.returns = [], None
        transformer = Transformer(source, float_locals(definition, states))
        definition.body = [transformer.visit(statement) for statement in definition.body]
        names = {**COMPILED, **transformer.decimals}
        exec(compile(ast.Module([definition], []), source.file, "exec"), names)
        self._function: Callable[..., Verdict | None] = names[source.name]
        self._arguments = [argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)]

    def verdict(self, values: Mapping[str, Any]) -> Verdict:
        """The verdict for values by the names of the arguments. Raises `TypeError` for missing and unknown names."""
        missing = [name for name in self._arguments if name not in values]
        if missing:
            raise TypeError(f"missing values: {', '.join(missing)}")
        unknown = [name for name in values if name not in self._arguments and name not in (*KNOWN, DRAW, *OWNERS)]
        if unknown:
            raise TypeError(f"unknown values: {', '.join(unknown)}; there are: {', '.join(self._arguments)}")
        taken = {name: argument_value(name, values[name], values.get("K")) for name in self._arguments}
        return self._function(**taken) or accept


def argument_value(name: str, value: Any, k: Any) -> Any:
    """The value of an argument in a type of the language, where the buffer is ``k`` cells."""
    value = as_python(value)
    if name in OWNERS:
        return value
    if name == DRAW:
        return value if callable(value) else lambda: float(value)
    if name in RATES:
        return Rate(value)
    if isinstance(value, str):
        return of_text(name, value, k)
    if not isinstance(value, (int, float, Fraction)) or math.isnan(value):
        raise TypeError(f"{name} = {shown(value)}: must be a number")
    return Fraction(repr(value)) if isinstance(value, float) and math.isfinite(value) else value


def of_text(name: str, text: str, k: Any) -> Number:
    """The value of a parameter such as "900 cells", "0.9 K" or "5 ms"."""
    kind, value = parameter(name, text)
    if kind != "fraction":
        return value
    if k is None:
        raise TypeError(f"missing values: K, for {name} = {shown(text)}")
    if k == math.inf:
        return math.inf if value else value
    cells: int = as_python(k)
    return value * cells


@lru_cache
def parameter(name: str, text: str) -> tuple[str, int | Fraction]:
    """The kind and the value of a parameter, as the engine reads it. Raises `UsageError`."""
    from cellyard import _engine

    drop = plain(Program(refuse="0 > value", parameters={"value": text}), name)
    ends = {"rate": "1 Mbps", "delay": "1 ms"}
    scenario = {
        "name": "parameter",
        "duration": "1 s",
        "host": [{"name": "a"}, {"name": "b"}],
        "switch": [{"name": "s", "ubr": {"buffer": "unlimited", "drop": drop}}],
        "link": [{"from": "a", "to": "s", **ends}, {"from": "s", "to": "b", **ends}],
        "vc": [{"from": "a", "to": "b", "traffic": {"kind": "cbr", "rate": "1 Mbps"}}],
    }
    try:
        canonical = json.loads(_engine.read_json(json.dumps(scenario), []))
    except ScenarioError as error:
        problem = error.problems[0]
        raise UsageError(f"{name} = {shown(text)}: {problem.message} (allowed: {problem.allowed})") from None
    (read,) = canonical["switches"][0]["queues"][0]["drop"]["value"].items()
    kind, value = read
    return kind, Fraction(value["num"], value["den"]) if isinstance(value, dict) else value
