"""Shows scenarios and results in notebooks: short tables, and drawings in characters."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any

from cellyard.show.table import Table

#: Limits on the rows of a table and the lines of a drawing.
MOST_ROWS, MOST_LINES = 20, 60


def drawing_html(title: str, drawing: str) -> str:
    """A drawing in characters, up to `MOST_LINES` lines."""
    lines = drawing.splitlines()
    more = [f"... and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    shown = escape("\n".join(lines[:MOST_LINES] + more))
    return f"<b>{escape(title)}</b><pre style='line-height: 1.2'>{shown}</pre>"


def parts_html(kind: str, parts: Mapping[str, Any], names: Iterable[str] | None = None) -> str:
    """Similar parts of a result by name, one row each, with these fields or all."""
    if not parts:
        return f"no {kind}"
    first = next(iter(parts.values()))
    chosen = list(names or (field.name for field in fields(first) if field.name != "name"))
    return table_html([kind, *chosen], [[name, *(getattr(part, f) for f in chosen)] for name, part in parts.items()])


def part_html(part: Any) -> str:
    """One part of a result, one row per field."""
    return table_html(["", ""], [[field.name, getattr(part, field.name)] for field in fields(part)])


def table_html(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of at most `MOST_ROWS` rows."""
    table = Table.from_rows(header, [list(map(_shown, row)) for row in rows[:MOST_ROWS]])
    more = f"... and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return table.html() + more


def _shown(value: Any) -> Any:
    if hasattr(value, "total"):
        return value.total
    return f"{len(value)} values" if hasattr(value, "shape") or isinstance(value, tuple) else value


def sentences_html(title: str, sentences: Iterable[str]) -> str:
    """A title in bold, and a paragraph for each sentence."""
    return f"<b>{escape(title)}</b>" + "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def picture_html(title: str, png: bytes, alt: str, caption: str) -> str:
    """A picture with its title and caption."""
    data = base64.b64encode(png).decode()
    image = f'<img style="max-width: 100%" alt="{escape(alt, quote=True)}" src="data:image/png;base64,{data}">'
    return f"<figure><b>{escape(title)}</b><br>{image}<figcaption><i>{escape(caption)}</i></figcaption></figure>"


def shortened(names: Iterable[str], most: int = 8) -> str:
    """The first names of a list.

    >>> shortened(["vc1", "vc2", "vc3"], 2)
    'vc1, vc2, ... (3)'
    """
    all_names = list(names)
    return ", ".join(all_names) if len(all_names) <= most else f"{', '.join(all_names[:most])}, ... ({len(all_names)})"
