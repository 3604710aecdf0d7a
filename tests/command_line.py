"""The command line as it is declared: what there is to test, and to document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, get_args, get_type_hints

from cellyard import declare

#: Commands by their words.
Commands: TypeAlias = dict[tuple[str, ...], Callable[..., Any]]


def commands(group: declare.Group) -> Commands:
    """All commands of a group and of those below it, by their words."""
    found: Commands = {(name,): function for name, (function, _) in group.commands.items()}
    for name, below in group.groups.items():
        found |= {(name, *words): function for words, function in commands(below).items()}
    return found


def options(function: Callable[..., Any]) -> list[str]:
    """The names of all options of a command."""
    found: list[str] = []
    for name, hint in get_type_hints(function, include_extras=True).items():
        for extra in get_args(hint)[1:]:
            if isinstance(extra, declare.Option):
                found += extra.names or [f"--{name.replace('_', '-')}"]
    return found
