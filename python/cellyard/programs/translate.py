"""Translates a Python function into the language of programs."""

import ast
import builtins
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from types import ModuleType
from typing import Any, TypeAlias

from cellyard.components.drop import Program
from cellyard.programs.source import Source
from cellyard.programs.words import (
    DRAW,
    FUNCTIONS,
    KNOWN,
    MOST_DIGITS,
    MOST_STEPS,
    OWNERS,
    RATES,
    RESERVED,
    VERDICTS,
)
from cellyard.system.errors import PolicyError

#: Values at the start of the states, by owner and name.
States: TypeAlias = Mapping[str, Mapping[str, float]]

INDENT = "    "

#: How tightly each kind of expression binds.
OR, AND, NOT, COMPARE, SUM, PRODUCT, SIGN, ATOM = range(1, 9)

ARITHMETIC: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT),
    ast.Div: ("/", PRODUCT),
}
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}

#: What to write instead of what the language lacks.
INSTEAD: Mapping[type[ast.AST], str] = {
    ast.FloorDiv: "`//` is not in the language; write math.floor(a / b)",
    ast.Mod: "`%` is not in the language; write a - b * math.floor(a / b)",
    ast.IfExp: "a choice within an expression is not in the language; write an `if` statement",
    ast.For: "the language has no loops",
    ast.While: "the language has no loops",
    ast.AnnAssign: "an assignment cannot have a type; write NAME = VALUE",
}

#: Fields of the component, which cannot be names of parameters.
FIELDS = frozenset((*Program.TAG, *Program.__dataclass_fields__)) - {Program.OWN}

#: A line of the program, and the statement that it comes from.
Line: TypeAlias = tuple[str, ast.stmt]


class Translator:
    """Translates one function. Raises `PolicyError` for what the language lacks."""

    def __init__(self, source: Source, states: States) -> None:
        self._source = source
        self._states = states
        self._steps = 0
        self._used: set[str] = set()
        definition = source.definition
        #: The arguments by their names.
        self.arguments = self._checked_arguments(definition.args)
        #: Names of the parameters, in the order of the arguments.
        self.parameters = [name for name in self.arguments if name not in RESERVED]
        self._locals = {
            node.id for node in ast.walk(definition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        body = definition.body
        has_doc = ast.get_docstring(definition, clean=False) is not None
        lines = [*((line, definition) for line in self._declarations()), *self._block(body[has_doc:], "")]
        #: The program, and the statement of the function that each of its lines comes from.
        self.text = "".join(f"{line}\n" for line, _ in lines)
        self.statements: list[ast.stmt] = [statement for _, statement in lines]
        for name in self.parameters:
            if name not in self._used:
                raise source.fault(self.arguments[name], f"the parameter `{name}` is not used")
        source.check_unchanged()

    def _fault(self, node: ast.AST, message: str, *, near: Sequence[str] | None = None, word: str = "") -> PolicyError:
        from cellyard._engine import near as names_near

        meant = names_near(word, list(near)) if near else []
        return self._source.fault(node, message, suggestion=meant[0] if meant else None)

    def _checked_arguments(self, arguments: ast.arguments) -> dict[str, ast.arg]:
        for other in (*arguments.posonlyargs, arguments.vararg, arguments.kwarg):
            if other is not None:
                raise self._fault(other, "an argument of a policy is passed by its name, without `*` or `/`")
        found = {argument.arg: argument for argument in (*arguments.args, *arguments.kwonlyargs)}
        for name, argument in found.items():
            if name in OWNERS:
                if not self._states.get(name):
                    raise self._fault(
                        argument, f"the policy has no state of the {name}: @policy({name}={{...}}) declares it"
                    )
            elif name in RESERVED and name not in (*KNOWN, DRAW):
                raise self._fault(argument, f"`{name}` is a word of the language and cannot be an argument")
            elif name in FIELDS:
                raise self._fault(argument, f"`{name}` is a field of the drop policy and cannot be a parameter")
            elif not name.isascii():
                raise self._fault(argument, f"`{name}` must consist of ASCII letters, digits and _")
        return found

    def _declarations(self) -> Iterator[str]:
        """Lines that declare the states."""
        for owner, states in self._states.items():
            for name, start in states.items():
                if name in self.arguments:
                    raise self._fault(self.arguments[name], f"`{name}` is also a state of the {owner}")
                yield f"{owner} state {name} = {literal(start)}"

    def _step(self, node: ast.AST) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise self._fault(node, f"the policy has more than {MOST_STEPS} steps")

    # Statements

    def _block(self, statements: Sequence[ast.stmt], indent: str) -> Iterator[Line]:
        for index, statement in enumerate(statements):
            if index and isinstance(statements[index - 1], ast.Return):
                raise self._fault(statement, "this is never reached, since a verdict ends the policy")
            yield from self._statement(statement, indent)

    def _statement(self, node: ast.stmt, indent: str) -> Iterator[Line]:
        match node:
            case ast.Pass():
                return
            case ast.Assign(targets=[target]):
                self._step(node)
                name = self._target(target)
                yield f"{indent}{name} = {self._expression(node.value)}", node
            case ast.Assign():
                raise self._fault(node.targets[1], "assign one name at a time")
            case ast.AugAssign():
                self._step(node)
                name = self._target(node.target)
                value = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
                yield f"{indent}{name} = {self._expression(value)}", node
            case ast.If():
                yield from self._choice(node, indent)
            case ast.Return():
                self._step(node)
                yield f"{indent}{self._verdict(node)}", node
            case _:
                message = "only assignments, `if` and `return` are statements of a policy"
                raise self._fault(node, INSTEAD.get(type(node), message))

    def _choice(self, node: ast.If, indent: str) -> Iterator[Line]:
        opening = f"{indent}if"
        while True:
            self._step(node)
            yield f"{opening} {self._expression(node.test)} {{", node
            yield from self._block(node.body, indent + INDENT)
            match node.orelse:
                case [ast.If() as inner]:
                    opening, node = f"{indent}}} else if", inner
                case []:
                    break
                case otherwise:
                    yield f"{indent}}} else {{", node
                    yield from self._block(otherwise, indent + INDENT)
                    break
        yield f"{indent}}}", node

    def _verdict(self, node: ast.Return) -> str:
        match node.value:
            case ast.Name(id=word) | ast.Attribute(value=ast.Name(), attr=word) if word in VERDICTS:
                if self._meaning(node.value) != word:
                    message = f"this does not mean Cellyard's verdict; write cy.{word}, after `import cellyard as cy`"
                    raise self._fault(node.value, message)
                return word
        words = ", ".join(VERDICTS)
        raise self._fault(node.value or node, f"return a verdict, such as cy.refuse (allowed: {words})")

    def _meaning(self, node: ast.expr) -> Any:
        """The value of a name, or of a name of a module; ``None`` if the function gives it a value itself."""
        match node:
            case ast.Name(id=name) if name not in self.arguments and name not in self._locals:
                return self._source.value_of(name)
            case ast.Attribute(value=base, attr=name) if isinstance(module := self._meaning(base), ModuleType):
                return getattr(module, name, None)
        return None

    def _target(self, node: ast.expr) -> str:
        """The name that an assignment changes."""
        match node:
            case ast.Attribute():
                return self._state(node)
            case ast.Name(id=name):
                if name in self.arguments:
                    raise self._fault(node, f"`{name}` is an argument and cannot be assigned")
                if name in RESERVED:
                    raise self._fault(node, f"`{name}` is a word of the language and cannot be assigned")
                if not name.isascii():
                    raise self._fault(node, f"`{name}` must consist of ASCII letters, digits and _")
                for owner, states in self._states.items():
                    if name in states:
                        raise self._fault(node, f"`{name}` is a state; write {owner}.{name}")
                return name
        raise self._fault(node, "only a name or a state can be assigned")

    def _state(self, node: ast.Attribute) -> str:
        """The name of a state, as in ``queue.average``."""
        match node.value:
            case ast.Name(id=owner) if owner in OWNERS:
                states = list(self._states.get(owner, ()))
                if node.attr not in states:
                    message = f"`{node.attr}` is not a state of the {owner}: @policy({owner}={{...}}) declares states"
                    raise self._fault(node, message, near=states, word=node.attr)
                if owner not in self.arguments:
                    raise self._fault(node, f"add `{owner}` to the arguments")
                return node.attr
        written = self._source.written(node)
        if node.attr in VERDICTS:
            raise self._fault(node, f"`{written}` is a verdict and stands alone behind `return`")
        raise self._fault(node, f"`{written}` has no value in the language; pass it as a parameter")

    # Expressions

    def _expression(self, node: ast.expr, least: int = 0) -> str:
        """The text of an expression, in parentheses if it binds less tightly than ``least``."""
        text, tightness = self._parts(node)
        return f"({text})" if tightness < least else text

    def _parts(self, node: ast.expr) -> tuple[str, int]:
        match node:
            case ast.Name(id=name):
                return self._named(name, node), ATOM
            case ast.Constant(value=value):
                return self._constant(node, value), ATOM
            case ast.Attribute():
                return self._state(node), ATOM
            case ast.Call():
                return self._call(node), ATOM
            case ast.UnaryOp(op=ast.USub()):
                self._step(node)
                return f"-{self._expression(node.operand, SIGN)}", SIGN
            case ast.UnaryOp(op=ast.Not()):
                self._step(node)
                return f"not {self._expression(node.operand, NOT)}", NOT
            case ast.BoolOp():
                word, tightness = ("and", AND) if isinstance(node.op, ast.And) else ("or", OR)
                for _ in node.values[1:]:
                    self._step(node)
                return f" {word} ".join(self._expression(value, tightness) for value in node.values), tightness
            case ast.Compare(ops=[operator], comparators=[right]) if type(operator) in COMPARISONS:
                self._step(node)
                sides = self._expression(node.left, SUM), self._expression(right, SUM)
                return f"{sides[0]} {COMPARISONS[type(operator)]} {sides[1]}", COMPARE
            case ast.Compare(ops=[_, _, *_]):
                raise self._fault(node.comparators[0], "compare two numbers at a time, joined by `and`")
            case ast.BinOp(op=ast.Pow()):
                self._step(node)
                return f"power({self._expression(node.left)}, {self._expression(node.right)})", ATOM
            case ast.BinOp() if type(node.op) in ARITHMETIC:
                return self._chain(node)
        other = getattr(node, "op", node)
        raise self._fault(node, INSTEAD.get(type(other), "this is not in the language of policies"))

    def _chain(self, node: ast.BinOp) -> tuple[str, int]:
        """The parts of `a + b + c ...`, from the left. A long chain needs no deep stack."""
        first: ast.expr = node
        behind: list[ast.BinOp] = []
        while isinstance(first, ast.BinOp) and type(first.op) in ARITHMETIC:
            self._step(first)
            behind.append(first)
            first = first.left
        text, tightness = self._parts(first)
        for operation in reversed(behind):
            sign, least = ARITHMETIC[type(operation.op)]
            left = f"({text})" if tightness < least else text
            text, tightness = f"{left} {sign} {self._expression(operation.right, least + 1)}", least
        return text, tightness

    def _named(self, name: str, node: ast.Name) -> str:
        if name in OWNERS:
            raise self._fault(node, f"`{name}` has no value itself; use {name}.NAME for a state")
        if name in VERDICTS:
            raise self._fault(node, f"`{name}` is a verdict and stands alone behind `return`")
        if name in FUNCTIONS:
            raise self._fault(node, f"`{name}` is a function: {name}(...)")
        if name in self.arguments:
            self._used.add(name)
            return name
        if name in self._locals:
            return name
        if name in KNOWN:
            raise self._fault(node, f"`{name}` is a name of the language: add it to the arguments")
        for owner, states in self._states.items():
            if name in states:
                raise self._fault(node, f"`{name}` is a state; write {owner}.{name}")
        near = [*self.arguments, *self._locals, *KNOWN]
        raise self._fault(node, f"unknown name `{name}`: a policy knows only its arguments", near=near, word=name)

    def _constant(self, node: ast.Constant, value: Any) -> str:
        match value:
            case bool():
                return literal(value)
            case int():
                text = str(value) if value < 10**MOST_DIGITS else "9" * (MOST_DIGITS + 1)
            case float():
                text = exact_text(self._source.written(node))
            case _:
                raise self._fault(node, "this is neither a number nor a truth value")
        if sum(map(str.isdigit, text)) > MOST_DIGITS:
            raise self._fault(node, f"a number has at most {MOST_DIGITS} digits")
        return text

    def _call(self, node: ast.Call) -> str:
        self._step(node)
        match node.func:
            case ast.Name(id="power" | "pow"):
                raise self._fault(node, "write a power as a ** n")
            case ast.Name(id=word) if word in FUNCTIONS:
                pass
            case ast.Attribute(value=ast.Name(id="math"), attr="floor"):
                word = "floor"
            case called:
                name = self._source.written(called)
                functions = [*FUNCTIONS, "math.floor"]
                raise self._fault(node, f"unknown function `{name}`", near=functions, word=name)
        if word == DRAW and DRAW not in self.arguments:
            raise self._fault(node, f"`{DRAW}` is a name of the language: add it to the arguments")
        if word == "floor" and self._meaning(node.func) is not math.floor:
            raise self._fault(node, "this does not mean Python's math.floor; write math.floor, after `import math`")
        if word not in (DRAW, "floor") and self._meaning(node.func) is not getattr(builtins, word):
            raise self._fault(node, f"`{word}` does not mean Python's function here; remove the other meaning")
        takes = FUNCTIONS[word]
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(argument, ast.Starred) or argument not in node.args:
                raise self._fault(argument, f"`{word}` takes values without names and without `*`")
        if len(node.args) != takes:
            raise self._fault(node, f"`{word}` takes {takes} values, not {len(node.args)}")
        if word == "sum" and not (isinstance(node.args[0], ast.Name) and node.args[0].id in RATES):
            raise self._fault(node.args[0], f"`sum` takes one of {', '.join(RATES)}")
        return f"{word}({', '.join(map(self._expression, node.args))})"


def exact_text(number: str) -> str:
    """A decimal number without exponent, with a point.

    >>> exact_text("1e-3"), exact_text("2e3"), exact_text("1_000.50")
    ('0.001', '2000.0', '1000.50')
    """
    text = f"{Decimal(number):f}"
    return text if "." in text else f"{text}.0"


def literal(value: float) -> str:
    """The value of a state at the start.

    >>> literal(True), literal(-3), literal(0.0)
    ('true', '-3', '0.0')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else exact_text(repr(value))
