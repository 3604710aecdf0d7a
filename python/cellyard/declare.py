"""How the command line is declared, and how it is read.

typer reads a command line, says what is wrong with it and writes help; importing it takes longer than many a run. So commands are declared
with the records of this module, in typer's words, and a command line that is plainly right is read here: whole names, each value in the
form of its type, and the help of a group. All else is left to typer, help of commands and completion included. Where both read a line they
read the same.
"""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable, Container, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    import typer

#: What a command is: it returns its exit status, and ``None`` for 0.
Function = Callable[..., int | None]
#: Calls a command with what was read; returns the exit status.
Call = Callable[[Callable[[], int | None]], int]
F = TypeVar("F", bound=Callable[..., Any])

#: Settings of arguments and options that the reader here knows, or that change help and completion alone. `envvar` is a variable that
#: stands in for what is not given.
PLAIN = frozenset({"autocompletion", "envvar", "help", "metavar", "parser"})


class BadParameter(ValueError):  # noqa: N818  (typer's word)
    """A value that a ``parser`` refuses, and why."""


class Declared:
    """An argument or an option: its names, if not made from the parameter's, and typer's settings."""

    def __init__(self, *names: str, **settings: Any) -> None:
        self.names = names
        self.settings = settings

    def for_typer(self) -> Any:
        """The same as typer has it."""
        import typer

        settings = dict(self.settings)
        if parser := settings.get("parser"):
            settings["parser"] = _refusing(parser)
        return getattr(typer, type(self).__name__)(*self.names, **settings)


class Argument(Declared):
    """What stands at its place."""


class Option(Declared):
    """What stands behind a name, or a name alone."""


def _refusing(parser: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The parser, with typer's error in place of `BadParameter`."""
    import typer

    @functools.wraps(parser)
    def parse(value: Any) -> Any:
        try:
            return parser(value)
        except BadParameter as refused:
            raise typer.BadParameter(str(refused)) from None

    return parse


class Group:
    """Commands and groups of them under their names; ``settings`` are those of `typer.Typer`."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.commands: dict[str, tuple[Function, dict[str, Any]]] = {}
        self.groups: dict[str, Group] = {}
        self._options: Callable[..., None] | None = None

    def command(self, name: str, **settings: Any) -> Callable[[F], F]:
        """Declare the command that a function is."""

        def declare(function: F) -> F:
            self.commands[name] = function, settings
            return function

        return declare

    def callback(self) -> Callable[[F], F]:
        """Declare the options before any command, by a function that does nothing without them."""

        def declare(function: F) -> F:
            self._options = function
            return function

        return declare

    def add_group(self, group: Group, *, name: str) -> None:
        """Put a group under a name."""
        self.groups[name] = group

    def flags(self) -> list[tuple[str, str]]:
        """The options before any command, each with its help."""
        if self._options is None:
            return []
        hints = get_type_hints(self._options, include_extras=True).values()
        declared = [extra for hint in hints for extra in get_args(hint)[1:] if isinstance(extra, Declared)]
        return [(", ".join(one.names), one.settings["help"]) for one in declared]

    def for_typer(self, call: Call, words: Container[str] | None = None) -> typer.Typer:
        """The same as typer has it; commands whose names are not among ``words``, if these are given, without their parameters."""
        import typer

        app = typer.Typer(**self.settings)
        if self._options:
            app.callback()(_with_types(self._options, self._options))
        for name, (function, settings) in self.commands.items():

            def called(*, _function: Function = function, **values: Any) -> None:
                raise typer.Exit(call(lambda: _function(**values)))

            app.command(name, **settings)(_with_types(called, function, bare=words is not None and name not in words))
        for name, group in self.groups.items():
            app.add_typer(group.for_typer(call, words), name=name)
        return app


def _with_types(called: Callable[..., Any], function: Callable[..., Any], *, bare: bool = False) -> Callable[..., Any]:
    """``called`` with the name, the text and, unless it is to be ``bare``, the parameters of ``function``, these as typer has them."""
    known = {} if bare else get_type_hints(function, include_extras=True)
    hints = {name: _for_typer(hint) for name, hint in known.items()}
    parameters = () if bare else inspect.signature(function).parameters.values()

    def told(**values: Any) -> Any:
        return called(**values)

    told.__name__, told.__doc__, told.__annotations__ = function.__name__, function.__doc__, hints
    signature = inspect.Signature([one.replace(annotation=hints[one.name]) for one in parameters])
    told.__signature__ = signature  # type: ignore[attr-defined]
    return told


def _for_typer(hint: Any) -> Any:
    if get_origin(hint) is not Annotated:
        return hint
    inner, *extras = get_args(hint)
    is_choice = isinstance(inner, type) and issubclass(inner, Enum)
    for extra in extras:
        declared = extra
        if isinstance(extra, Declared):
            declared = (_choice(inner, extra) if is_choice else extra).for_typer()
        inner = Annotated[inner, declared]
    return inner


def _choice(kind: type[Enum], declared: Declared) -> Declared:
    """A choice among names, read by a parser of our own: typer's refusal of another word begins with words of the library that it uses."""
    names = [one.value for one in kind]

    def parse(value: Any) -> Enum:
        try:
            return kind(value)
        except ValueError:
            raise BadParameter(f"'{value}' is not one of {', '.join(map(repr, names))}.") from None

    def completed(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    settings = {"metavar": f"<{'|'.join(names)}>", "parser": parse, "autocompletion": completed}
    return type(declared)(*declared.names, **(settings | declared.settings))


def run(program: Group, arguments: Sequence[str], *, name: str, call: Call) -> int:
    """The exit status of the command that was asked for, or of typer's help or complaint."""
    found = read(program, arguments)
    if found:
        function, values = found
        return call(lambda: function(**values))
    if (page := help_of(program, arguments, name)) is not None:
        print(page)
        return 0
    try:
        program.for_typer(call, None if _is_completing() else arguments)(args=list(arguments), prog_name=name)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
    return 0


def read(program: Group, arguments: Sequence[str]) -> tuple[Function, dict[str, Any]] | None:
    """The command and what it is called with; ``None`` of a line that typer has to read."""
    if os.name == "nt" or _is_completing():  # on Windows typer expands patterns
        return None
    words = list(arguments)
    while words and words[0] in program.groups:
        program = program.groups[words.pop(0)]
    if not words or words[0] not in program.commands:
        return None
    function, _ = program.commands[words.pop(0)]
    values = _values(function, words)
    return None if values is None else (function, values)


#: What typer says of the options that it adds itself.
HELP = "Show this message and exit."
COMPLETION = (
    ("--install-completion", "Install completion for the current shell."),
    ("--show-completion", "Show completion for the current shell, to copy it or customize the installation."),
)


def help_of(program: Group, arguments: Sequence[str], name: str) -> str | None:
    """The help of a group of commands when a line asks for that and nothing else; ``None`` of a line that typer has to read."""
    names = program.settings.get("context_settings", {}).get("help_option_names", ["--help"])
    if os.name == "nt" or _is_completing() or not arguments or arguments[-1] not in names:
        return None
    group = program
    for word in arguments[:-1]:
        if word not in group.groups:
            return None
        group = group.groups[word]
    options = [*group.flags(), *(COMPLETION if group is program else ()), (", ".join(names), HELP)]
    commands = [(word, inspect.getdoc(function) or "") for word, (function, _) in group.commands.items()]
    commands += [(word, one.settings["help"]) for word, one in group.groups.items()]
    from cellyard import help  # noqa: A004

    words = " ".join([name, *arguments[:-1]])
    return help.page(words, group.settings["help"], options, commands, group.settings.get("epilog", ""))


def _is_completing() -> bool:
    """Whether a shell asks for completion, which it does by a variable with the name of the program."""
    return any(variable.endswith("_COMPLETE") for variable in os.environ)


class _Kind:
    """A parameter: its type, what makes a value of a text, and how it is declared."""

    def __init__(self, type: Any, make: Callable[[str], Any], declared: Declared) -> None:  # noqa: A002
        self.type, self.make, self.declared = type, make, declared


def _values(function: Function, words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments of a command by parameter, or ``None``."""
    hints = get_type_hints(function, include_extras=True)
    kinds: dict[str, _Kind] = {}
    options: dict[str, str] = {}
    places: list[str] = []
    values: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        kind = _kind(hints[name])
        if kind is None:
            return None
        kinds[name] = kind
        if parameter.default is not inspect.Parameter.empty:
            values[name] = parameter.default
        if isinstance(kind.declared, Argument):
            places.append(name)
        for option in kind.declared.names or (f"--{name.replace('_', '-')}",):
            options[option] = name
    given = _given(words, kinds, options, places)
    if given is None:
        return None
    for name, kind in kinds.items():
        variable = kind.declared.settings.get("envvar")
        if name not in given and variable and (text := os.environ.get(variable)):
            given[name] = [text]
    for name, texts in given.items():
        kind = kinds[name]
        try:
            made = [kind.make(text) for text in texts]
        except ValueError:
            return None
        values[name] = made if get_origin(kind.type) is list else made[0]
    return values if len(values) == len(kinds) else None


def _kind(hint: Any) -> _Kind | None:
    """What the reader here knows of a parameter, or ``None``."""
    inner, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if get_origin(inner) in (Union, types.UnionType):
        kinds = [one for one in get_args(inner) if one is not type(None)]
        inner = kinds[0] if len(kinds) == 1 else None
    declared = extras[0] if len(extras) == 1 else None
    if not isinstance(declared, Declared) or not PLAIN.issuperset(declared.settings):
        return None
    make = declared.settings.get("parser")
    if make is None and (inner in (str, Path, list[str]) or (isinstance(inner, type) and issubclass(inner, Enum))):
        make = str if inner == list[str] else inner
    if make is None and inner is bool and len(declared.names) == 1 and "/" not in declared.names[0]:
        make = bool
    return _Kind(inner, make, declared) if make else None


def _given(
    words: Sequence[str], kinds: dict[str, _Kind], options: dict[str, str], places: Sequence[str]
) -> dict[str, list[str]] | None:
    """The texts of each parameter that is given, or ``None``."""
    given: dict[str, list[str]] = {}
    left, unfilled = iter(words), iter(places)
    for word in left:
        if word == "-" or not word.startswith("-"):
            name, text = next(unfilled, ""), word
        else:
            option, equals, text = word.partition("=")
            name = options.get(option, "")
            if name and kinds[name].type is bool:
                text = "" if equals else option
            elif name and not equals:
                text = next(left, "")
                name = "" if text.startswith("-") else name
        if not name or not text or (name in given and get_origin(kinds[name].type) is not list):
            return None
        given.setdefault(name, []).append(text)
    return given
