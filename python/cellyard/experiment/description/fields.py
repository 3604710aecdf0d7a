"""Reads the fields of a table of the description one by one and reports what is wrong with each."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cellyard.experiment.description.problems import Path, Problems
from cellyard.system.terminal import printable


class Fields:
    """A table at ``path``. Each reader reports a faulty field and returns the default instead."""

    def __init__(self, table: Any, path: Path, problems: Problems, known: Sequence[str]) -> None:
        self.path = path
        self.problems = problems
        self._known = known
        self._table: Mapping[str, Any] = {}
        if isinstance(table, Mapping):
            self._table = table
            for key, value in table.items():
                if key not in known:
                    problems.unknown_field((*path, str(key)), value, known)
        else:
            problems.add(path, table, "is not a table", allowed=f"a table: {', '.join(known)}")

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def at(self, key: str) -> Path:
        """Path of a field."""
        return (*self.path, key)

    def raw(self, key: str, default: Any = None) -> Any:
        """A field as given."""
        return self._table.get(key, default)

    def wrong(self, key: str, allowed: str, message: str = "cannot be used") -> None:
        """Report a faulty field."""
        self.problems.add(self.at(key), self._table.get(key), message, allowed=allowed)

    def missing(self, key: str, allowed: str) -> None:
        """Report a missing field."""
        self.problems.add(self.at(key), "", "is missing", allowed=allowed)

    def text(self, key: str, default: str | None = None, *, needed: str = "") -> str | None:
        """A text; ``needed`` describes it if it is required."""
        if key not in self._table:
            if needed:
                self.missing(key, needed)
            return default
        value = self._table[key]
        if not isinstance(value, str) or not value.strip() or printable(value) != value:
            self.wrong(key, needed or "a text in quotes", "is not a text")
            return default
        return value

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        """One of ``choices``."""
        value = self._table.get(key, default)
        if value not in choices:
            self.problems.add(self.at(key), value, f"unknown {key}", near=choices)
            return default
        return str(value)

    def whole(self, key: str, default: int | None, *, least: int, most: int) -> int | None:
        """A whole number within bounds."""
        value = self._table.get(key, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.wrong(
                key,
                f"a whole number from {least} to {most}",
                "is out of range"
                if isinstance(value, int) and not isinstance(value, bool)
                else "is not a whole number",
            )
            return default
        return value

    def number(self, key: str, default: float | None, *, above: float, below: float) -> float | None:
        """A number strictly between two bounds."""
        value = self._table.get(key, default)
        if value is None:
            return None
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not above < value < below:
            self.wrong(key, _between(above, below), "is out of range" if is_number else "is not a number")
            return default
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """A truth value."""
        value = self._table.get(key, default)
        if not isinstance(value, bool):
            self.wrong(key, "true or false", "is neither true nor false")
            return default
        return value

    def table(self, key: str, allowed: str, *, needed: bool = False) -> Mapping[str, Any]:
        """A table, empty when missing or faulty. If ``needed``, it must be there with a metric or more."""
        value = self._table.get(key, {})
        if needed and key not in self._table:
            self.missing(key, allowed)
        elif not isinstance(value, Mapping) or (needed and not value):
            self.wrong(key, allowed, f"is not a table{' of metrics' * needed}")
        return value if isinstance(value, Mapping) else {}

    def is_of_experiment(self, noun: str, name: Any, names: Collection[str], path: Path) -> bool:
        """Whether ``name`` is one of ``names``. Reports otherwise that it is not a metric or an axis."""
        if name not in names:
            self.problems.add(path, name, f"is not {noun} of the experiment", near=names)
        return name in names

    def needs_grid(self, kind: str, message: str) -> None:
        """Report any design of the experiment but a grid."""
        if kind != "grid":
            self.problems.add(("design",), kind, message, allowed="grid")

    def axis(self, purpose: str, names: Collection[str]) -> str:
        """The name of one of the axes; empty when faulty."""
        axis = self.text("axis", needed=f"the name of the axis {purpose}")
        return axis if axis and self.is_of_experiment("an axis", axis, names, self.at("axis")) else ""

    def metrics(self, names: Collection[str]) -> list[str]:
        """Names of metrics; by default all of the experiment."""
        metrics = self.texts("metrics", items="metrics of the experiment", single=True)
        for metric in metrics:
            self.is_of_experiment("a metric", metric, names, self.at("metrics"))
        return metrics if "metrics" in self else list(names)

    def texts(self, key: str, *, items: str, single: bool = False) -> list[str]:
        """A list of texts, empty when missing. ``items`` describes them in messages. With ``single``, one text is accepted too."""
        value = self._table.get(key, [])
        if single and isinstance(value, str):
            value = [value]
        if not isinstance(value, (list, tuple)) or (key in self._table and not value):
            self.wrong(key, f"a list of {items}", "empty list" if value in ([], ()) else "is not a list")
            return []
        for index, item in enumerate(value):
            if not isinstance(item, str):
                self.problems.add((*self.at(key), index), item, "is not a text", allowed=items)
        return [item for item in value if isinstance(item, str)]


def _between(above: float, below: float) -> str:
    if math.isinf(below):
        return f"a number above {above:g}"
    return f"a number above {above:g} and below {below:g}"
