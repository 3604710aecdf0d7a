"""What is wrong with the description of an experiment, gathered so that all of it is told at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from cellyard.scenario import SET
from cellyard.system.errors import ExperimentError, Problem, either
from cellyard.system.terminal import printable
from cellyard.system.values import toml

#: A way down: keys of tables and numbers of list entries.
Path: TypeAlias = tuple[str | int, ...]
#: Line and column, from 1.
Place: TypeAlias = tuple[int, int]

#: Problems that are told; of more only their number is.
MOST_TOLD = 50
#: How a suggestion begins that is a text.
QUOTE = '"'
#: Letters of a part of a name that suggest the name.
LEAST_PART = 3
#: Letters of a value that are shown.
SHOWN = 60


class Problems:
    """Gathers problems; ``file`` names the text and ``places`` says where what stands, both empty for data from Python."""

    def __init__(self, file: str = "", places: Mapping[Path, Place] | None = None) -> None:
        self._file = file
        self._places = places or {}
        self._found: list[Problem] = []

    def add(self, path: Path, value: Any, message: str, *, allowed: str = "", near: Iterable[str] = ()) -> None:
        """The value at ``path`` is wrong; the suggestion is the nearest of the names ``near``."""
        from cellyard._engine import near as names_near

        names = [printable(name) for name in near]
        # Of a value that is not text there is no name that is near; of an unknown key it is the key.
        word = printable(value if isinstance(value, str) else str(path[-1]) if path else "")
        meant = names_near(word, names) if names and word else []
        if not meant and len(word) >= LEAST_PART:
            meant = [name for name in names if word in name][:1]
        suggestion = either(meant, "`").strip("`") if meant else None
        self._add(path, shown(value), message, allowed or ", ".join(names), suggestion)

    def unknown_field(self, path: Path, value: Any, fields: Iterable[str]) -> None:
        """The last word of ``path`` is no field here."""
        from cellyard._engine import near as names_near

        names = list(fields)
        meant = names_near(printable(str(path[-1])), names)
        near = either(meant, "`").strip("`") if meant else None
        self._add(path, shown(value), "is an unknown field", ", ".join(names), near)

    def of_scenario(self, path: Path, problem: Problem, value: Any = "") -> None:
        """A problem that the scenario has with what the experiment sets at ``path``: ``value``, which the problem may be with itself."""
        of = f"{problem.path} = {problem.value}" if problem.value else problem.path
        what = f"{of}: {problem.message}" if of else problem.message
        self._add(
            path,
            "" if problem.text.startswith(SET) else shown(value),
            what,
            problem.allowed,
            (problem.suggestion or "").strip("`") or None,
        )

    def _add(self, path: Path, value: str, message: str, allowed: str, suggestion: str | None) -> None:
        line, column = self._place(path)
        name = dotted(path)
        where = f"{self._file}:{line}:{column}: " if line else f"{self._file}: " if self._file else ""
        text = f"{where}{name}{' = ' if name and value else ''}{value}{': ' if name or value else ''}{message}"
        if allowed:
            text += f" (allowed: {allowed})"
        if suggestion:
            text += f"; did you mean {suggestion if suggestion.startswith(QUOTE) else f'`{suggestion}`'}?"
        if all(text != known.text for known in self._found):
            self._found.append(Problem(text, line, column, name, value, message, allowed, suggestion))

    def _place(self, path: Path) -> tuple[int | None, int | None]:
        """Where ``path`` stands, or the nearest above it that is in the text."""
        if not self._places:
            return None, None
        for length in range(len(path), -1, -1):
            if found := self._places.get(path[:length]):
                return found
        return 1, 1

    @property
    def count(self) -> int:
        """Number of problems so far."""
        return len(self._found)

    def complain(self) -> None:
        """Raise `ExperimentError` with all problems, if there are any, in the order of their lines."""
        if not self._found:
            return
        told = sorted(self._found, key=lambda one: (one.line or 0, one.column or 0))
        if len(told) > MOST_TOLD:
            more = f"{self._file + ': ' if self._file else ''}{len(told) - MOST_TOLD} more problems"
            told = [*told[:MOST_TOLD], Problem(more, None, None, "", "", more, "", None)]
        raise ExperimentError(told)


def dotted(path: Path) -> str:
    """A way down as text.

    >>> dotted(("axis", 0, "values", 2))
    'axis[0].values[2]'
    """
    text = ""
    for word in path:
        text += f"[{word}]" if isinstance(word, int) else f".{word}" if text else str(word)
    return text


def shown(value: Any) -> str:
    """A value on one line, cut to `SHOWN` letters; of an empty text nothing."""
    if value == "":
        return ""
    try:
        text = toml(value)
    except TypeError:
        text = json.dumps(str(value))
    text = printable(text)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
