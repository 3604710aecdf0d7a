"""Collects the problems of an experiment's description, so that all are reported at once."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from cellyard.scenario import SET
from cellyard.system.errors import ExperimentError, Problem, either
from cellyard.system.terminal import printable
from cellyard.system.values import toml

#: Path to a value: keys of tables and numbers of list entries.
Path: TypeAlias = tuple[str | int, ...]
#: Line and column, from 1.
Place: TypeAlias = tuple[int, int]

#: Limit on reported problems. The rest are only counted.
MOST_REPORTED = 50
#: First character of a suggestion that is a text.
QUOTE = '"'
#: Least number of characters of a partial name for which the full name is suggested.
LEAST_PART = 3
#: Number of characters shown of a value.
MOST_CHARACTERS = 60


class Problems:
    """Collects problems. ``file`` names the text and ``places`` locates values in it; both are empty for data from Python."""

    def __init__(self, file: str = "", places: Mapping[Path, Place] | None = None) -> None:
        self._file = file
        self._places = places or {}
        self._found: list[Problem] = []

    def add(
        self, path: Path, value: Any, message: str, *, allowed: str = "", near: Iterable[str] = (), excerpt: str = ""
    ) -> None:
        """Report the value at ``path``, and suggest the nearest of the names ``near``. The text ends with ``excerpt``."""
        from cellyard._engine import near as names_near

        names = [printable(name) for name in near]
        # Only texts have similar names. For an unknown key, compare the key.
        word = printable(value if isinstance(value, str) else str(path[-1]) if path else "")
        meant = names_near(word, names) if names and word else []
        if not meant and len(word) >= LEAST_PART:
            meant = [name for name in names if word in name][:1]
        suggestion = either(meant).strip("`") if meant else None
        self._add(path, on_one_line(value), message, allowed or ", ".join(names), suggestion, excerpt)

    def unknown_field(self, path: Path, value: Any, fields: Iterable[str]) -> None:
        """Report that the last word of ``path`` is not a field."""
        from cellyard._engine import near as names_near

        names = list(fields)
        meant = names_near(printable(str(path[-1])), names)
        near = either(meant).strip("`") if meant else None
        self._add(path, on_one_line(value), "unknown field", ", ".join(names), near)

    def of_scenario(self, path: Path, problem: Problem, value: Any = "") -> None:
        """Report a problem of the scenario that is due to ``value``, which the experiment sets at ``path``."""
        field = f"{problem.path} = {problem.value}" if problem.value else problem.path
        message = f"{field}: {problem.message}" if field else problem.message
        self._add(
            path,
            "" if problem.text.startswith(SET) else on_one_line(value),
            message,
            problem.allowed,
            (problem.suggestion or "").strip("`") or None,
            problem.excerpt,
        )

    def _add(
        self, path: Path, value: str, message: str, allowed: str, suggestion: str | None, excerpt: str = ""
    ) -> None:
        line, column = self._place(path)
        name = dotted(path)
        where = f"{self._file}:{line}:{column}: " if line else f"{self._file}: " if self._file else ""
        text = f"{where}{name}{' = ' if name and value else ''}{value}{': ' if name or value else ''}{message}"
        is_value = suggestion is not None and suggestion.startswith(QUOTE)
        if allowed and (is_value or not suggestion):  # a suggested name takes the place of a list of names
            text += f" (allowed: {allowed})"
        if suggestion:
            text += f"; did you mean {suggestion if is_value else f'`{suggestion}`'}?"
        if all(text != known.summary for known in self._found):
            self._found.append(Problem(text, line, column, name, value, message, allowed, suggestion, excerpt))

    def _place(self, path: Path) -> tuple[int | None, int | None]:
        """Position of ``path`` in the text, or of its nearest parent there."""
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

    def raise_all(self) -> None:
        """Raise `ExperimentError` with all problems, if there are any, in the order of their lines."""
        if not self._found:
            return
        problems = sorted(self._found, key=lambda problem: (problem.line or 0, problem.column or 0))
        if len(problems) > MOST_REPORTED:
            more = f"{self._file + ': ' if self._file else ''}{len(problems) - MOST_REPORTED} more problems"
            problems = [*problems[:MOST_REPORTED], Problem(more, None, None, "", "", more, "", None)]
        raise ExperimentError(problems)


def dotted(path: Path) -> str:
    """A path as text.

    >>> dotted(("axis", 0, "values", 2))
    'axis[0].values[2]'
    """
    text = ""
    for word in path:
        text += f"[{word}]" if isinstance(word, int) else f".{word}" if text else str(word)
    return text


def on_one_line(value: Any) -> str:
    """A value on one line, cut to `MOST_CHARACTERS`; nothing for an empty text."""
    if value == "":
        return ""
    try:
        text = toml(value)
    except TypeError:
        text = json.dumps(str(value))
    text = printable(text)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 3] + "..."
