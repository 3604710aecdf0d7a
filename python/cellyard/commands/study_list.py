"""The studies and their tables: the command ``cellyard study list``."""

from __future__ import annotations

import textwrap

from cellyard.study import studies
from cellyard.text import table

#: Columns of what a study asks and says.
WIDTH = 120


def overview() -> str:
    """All studies: what they ask, what their stored summaries say, and their tables."""
    lines = []
    for study in studies().values():
        citation = study.info["citation"]
        lines.append(f"{study.name}: {citation['title']} ({citation['authors']}, {citation['year']})")
        lines += textwrap.wrap(f"asks: {study.question}", WIDTH, initial_indent="  ", subsequent_indent="        ")
        if study.in_short:
            lines += textwrap.wrap(f"says: {study.in_short}", WIDTH, initial_indent="  ", subsequent_indent="        ")
        rows = [[f"  {t.name}", len(t.rows), t.title] for t in study.tables.values()]
        lines += [table(["  table", "rows", "title"], rows), ""]
    return "\n".join(lines).rstrip()
