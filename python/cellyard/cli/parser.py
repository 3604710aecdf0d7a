"""Commands and groups of them, as parsers of argparse."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser
from typing import Any, NoReturn

from cellyard.commands import USAGE
from cellyard.system import terminal


class Parser(ArgumentParser):
    """A parser that reports each error as one line on standard error."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False, formatter_class=_Help)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise the error for a value that is none of the choices, in the words of every unknown name."""
        from cellyard.system.errors import unknown  # not for help

        if action.choices is not None and value not in action.choices:
            kind = "command" if action.nargs == argparse.PARSER else "choice"
            raise argparse.ArgumentError(action, str(unknown(kind, value, action.choices)))

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the command line and exit with status 2."""
        self.exit(USAGE, f"{self.prog}: {terminal.printable(message)} (see {self.prog} --help)\n")


class _Help(argparse.HelpFormatter):
    """Help with a wider column of names, so that most options and their texts share a line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


class Group:
    """A parser that has commands and other groups below it."""

    def __init__(self, parser: ArgumentParser) -> None:
        self._below = parser.add_subparsers(metavar="COMMAND", required=False)
        parser.set_defaults(shows_help=parser)

    def group(self, name: str, text: str, example: str) -> Group:
        """Add a group of commands."""
        below = self._below.add_parser(name, help=_in_list(text), description=text, epilog=f"Example: {example}")
        return Group(below)

    def command(self, name: str, module: str, text: str, example: str) -> ArgumentParser:
        """Add a command: the function ``command`` of a module in `cellyard.commands`. Lists show its text's first sentence."""
        below = self._below.add_parser(name, help=_in_list(text), description=text, epilog=f"Example: {example}")
        below.set_defaults(module=module, reads=below)
        return below


def _in_list(text: str) -> str:
    """Return the first sentence of a text for lists: in lower case, without the full stop."""
    first = text.partition(". ")[0].removesuffix(".")
    return first[0].lower() + first[1:]
