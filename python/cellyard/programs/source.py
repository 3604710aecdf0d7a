"""The source of a Python function as a syntax tree, and errors that show a place in it."""

import ast
import builtins
import linecache
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from cellyard.system.errors import PolicyError, Problem


class Source:
    """The source of a function.

    Raises `PolicyError` unless it is a plain function whose text Python can find, unchanged since
    Python compiled it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        if not isinstance(function, FunctionType):
            raise without_place(f"{function!r}: is not a function")
        if function.__name__ == "<lambda>":
            raise without_place("a lambda cannot be a policy; write a function with def")
        self.name = function.__name__
        self.file = function.__code__.co_filename
        linecache.checkcache(self.file)
        self._lines = linecache.getlines(self.file, function.__globals__)
        found = self._definition(function.__code__.co_firstlineno)
        if found is None:
            raise without_place(
                f"the source of the function `{self.name}` cannot be found; define it in a file or a notebook"
            )
        self.definition = found
        self._function = function

    def value_of(self, name: str) -> Any:
        """The value that a name has in the function, unless it is an argument or local; ``None`` if it has none."""
        code = self._function.__code__
        if name in code.co_freevars:
            cell = (self._function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:  # not assigned yet
                return None
        return self._function.__globals__.get(name, getattr(builtins, name, None))

    def check_unchanged(self) -> None:
        """Raise `PolicyError` if the text compiles to something else than the function."""
        code = self._function.__code__
        tree = ast.parse("".join(self._lines), self.file)
        compiled = compile(tree, self.file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        if not any(_meaning(found) == _meaning(code) for found in _codes(compiled)):
            raise without_place(
                f"{self.file} has changed since Python read the function `{self.name}`; restart Python, or import it again"
            )

    def _definition(self, first_line: int) -> ast.FunctionDef | None:
        """The definition that begins with its first decorator on this line."""
        try:
            tree = ast.parse("".join(self._lines), self.file)
        except (SyntaxError, ValueError):
            return None
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == self.name:
                lines = [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
                if min(lines) == first_line:
                    if isinstance(node, ast.AsyncFunctionDef):
                        raise self.fault(node, "a policy cannot be async")
                    return node
        return None

    def written(self, node: ast.expr) -> str:
        """The text of an expression, without what stands before it in its line."""
        if node.end_lineno != node.lineno:
            return ast.unparse(node)
        line = self._lines[node.lineno - 1].encode()
        return line[node.col_offset : node.end_col_offset].decode()

    def fault(self, node: Any, message: str, *, suggestion: str | None = None) -> PolicyError:
        """The error that something is wrong at a node, which has a place in the text."""
        line: str = self._lines[node.lineno - 1].rstrip("\n")
        column = len(line.encode()[: node.col_offset].decode()) + 1
        shown = line.lstrip()
        excerpt = f"    {shown}\n    {' ' * (column - 1 - len(line) + len(shown))}^"
        meant = f"; did you mean `{suggestion}`?" if suggestion else ""
        text = f"{self.file}:{node.lineno}:{column}: {message}{meant}"
        quoted = f"`{suggestion}`" if suggestion else None
        return PolicyError([Problem(text, node.lineno, column, self.name, "", message, "", quoted, excerpt)])


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object, and all within it."""
    found = [code]
    while found:
        yield (one := found.pop())
        found += [inner for inner in one.co_consts if isinstance(inner, CodeType)]


def _meaning(code: CodeType) -> tuple[Any, ...]:
    """What a function does, without its annotations and the flags of its module."""
    constants = [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return code.co_firstlineno, code.co_code, constants, names


def without_place(message: str) -> PolicyError:
    """The error for a function without source."""
    return PolicyError([Problem(message, None, None, "", "", message, "", None)])
