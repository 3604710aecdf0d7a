"""The studies and their tables: the command ``cellyard study list``."""

from __future__ import annotations

from cellyard.study import studies
from cellyard.text import table


def overview() -> str:
    """All studies with their tables."""
    lines = []
    for study in studies().values():
        citation = study.info["citation"]
        lines.append(f"{study.name}: {citation['title']} ({citation['authors']}, {citation['year']})")
        rows = [[f"  {t.name}", len(t.rows), t.title] for t in study.tables.values()]
        lines += [table(["  table", "rows", "title"], rows), ""]
    return "\n".join(lines).rstrip()
