"""The command ``cellyard study list``: lists the studies and their tables."""

import shutil
import sys
import textwrap
from typing import Any

from cellyard.show.table import Table
from cellyard.study import studies

#: Largest width of the columns of questions and answers, in characters.
WIDTH = 120


def command() -> None:
    """Print the list."""
    print(overview())


def overview() -> str:
    """All studies: their questions, their stored answers, and their tables."""
    on_terminal = bool(sys.stdout and sys.stdout.isatty())
    width = min(WIDTH, shutil.get_terminal_size().columns) if on_terminal else WIDTH
    lines = []
    for study in studies().values():
        citation = study.info["citation"]
        head = f"{study.name}: {citation['title']} ({citation['authors']}, {citation['year']})"
        lines += textwrap.wrap(head, width, subsequent_indent="  ") if on_terminal else [head]
        lines += textwrap.wrap(f"question: {study.question}", width, initial_indent="  ", subsequent_indent=" " * 12)
        if study.in_short:
            lines += textwrap.wrap(
                f"answer:   {study.in_short}", width, initial_indent="  ", subsequent_indent=" " * 12
            )
        rows = [[f"  {t.name}", len(t.rows), t.title] for t in study.tables.values()]
        if on_terminal:
            left = max(len(name) for name in ("table", *study.tables)) + len("    rows  ")
            rows = [line for row in rows for line in _wrapped(row, max(width - left, 20))]
        lines += [str(Table.from_rows(["  table", "rows", "title"], rows)), ""]
    return "\n".join(lines).rstrip()


def _wrapped(row: list[Any], width: int) -> list[list[Any]]:
    """Wrap the last text of a row into further rows if it is too wide."""
    first, *more = textwrap.wrap(row[-1], width)
    return [[*row[:-1], first], *(["", None, text] for text in more)]
