"""What a notebook shows of scenarios and results: short tables, and drawings in characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any

from cellyard.show.text import cell

#: Rows of a table, and lines of a drawing, that are shown.
MOST_ROWS, MOST_LINES = 20, 60


def drawing_html(title: str, drawing: str) -> str:
    """A drawing in characters, at most `MOST_LINES` lines of it."""
    lines = drawing.splitlines()
    more = [f"... and {len(lines) - MOST_LINES} lines more"] if len(lines) > MOST_LINES else []
    shown = escape("\n".join(lines[:MOST_LINES] + more))
    return f"<b>{escape(title)}</b><pre style='line-height: 1.2'>{shown}</pre>"


def parts_html(kind: str, parts: Mapping[str, Any], names: Iterable[str] | None = None) -> str:
    """Like parts of a result by name, a row each: these fields, or all."""
    if not parts:
        return f"no {kind}"
    first = next(iter(parts.values()))
    chosen = list(names or (field.name for field in fields(first) if field.name != "name"))
    return table_html([kind, *chosen], [[name, *(getattr(part, f) for f in chosen)] for name, part in parts.items()])


def part_html(part: Any) -> str:
    """One part of a result, a row for each field."""
    return table_html(["", ""], [[field.name, getattr(part, field.name)] for field in fields(part)])


def table_html(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of at most `MOST_ROWS` rows.

    >>> table_html(["vc", "goodput_mbps"], [["vc1", 0.51234]])
    '<table><tr><th>vc</th><th>goodput_mbps</th></tr><tr><td>vc1</td><td>0.512</td></tr></table>'
    """
    lines = [_row("th", header), *(_row("td", map(_cell, row)) for row in rows[:MOST_ROWS])]
    more = f"... and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return f"<table>{''.join(lines)}</table>{more}"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in cells)}</tr>"


def _cell(value: Any) -> str:
    if hasattr(value, "total"):
        return str(value.total)
    if hasattr(value, "shape") or isinstance(value, tuple):
        return f"{len(value)} values"
    # Delays in seconds would lose their digits.
    return f"{value:.3g}" if isinstance(value, float) and 0 < abs(value) < 0.1 else cell(value)


def listed(names: Iterable[str], most: int = 8) -> str:
    """The first names of a list.

    >>> listed(["vc1", "vc2", "vc3"], 2)
    'vc1, vc2, ... (3)'
    """
    every = list(names)
    return ", ".join(every) if len(every) <= most else f"{', '.join(every[:most])}, ... ({len(every)})"
