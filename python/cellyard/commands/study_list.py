"""The studies and their tables: the command ``cellyard study list``."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import Any

from cellyard.show.table import Table
from cellyard.study import studies

#: Columns of what a study asks and says, unless a terminal has fewer.
WIDTH = 120


def command() -> None:
    """Print the list."""
    print(overview())


def overview() -> str:
    """All studies: what they ask, what their stored summaries say, and their tables."""
    on_terminal = bool(sys.stdout and sys.stdout.isatty())
    width = min(WIDTH, shutil.get_terminal_size().columns) if on_terminal else WIDTH
    lines = []
    for study in studies().values():
        citation = study.info["citation"]
        head = f"{study.name}: {citation['title']} ({citation['authors']}, {citation['year']})"
        lines += textwrap.wrap(head, width, subsequent_indent="  ") if on_terminal else [head]
        lines += textwrap.wrap(f"asks: {study.question}", width, initial_indent="  ", subsequent_indent="        ")
        if study.in_short:
            lines += textwrap.wrap(f"says: {study.in_short}", width, initial_indent="  ", subsequent_indent="        ")
        rows = [[f"  {t.name}", len(t.rows), t.title] for t in study.tables.values()]
        if on_terminal:
            left = max(len(name) for name in ("table", *study.tables)) + len("    rows  ")
            rows = [line for row in rows for line in _wrapped(row, max(width - left, 20))]
        lines += [str(Table.of_rows(["  table", "rows", "title"], rows)), ""]
    return "\n".join(lines).rstrip()


def _wrapped(row: list[Any], width: int) -> list[list[Any]]:
    """A row whose last text goes on in further rows where it is wider."""
    first, *more = textwrap.wrap(row[-1], width)
    return [[*row[:-1], first], *(["", None, text] for text in more)]
