"""Write the table of all studies on the front page: their questions and stored answers."""

from __future__ import annotations

import tomllib
from pathlib import Path

from cellyard.study import studies

ROOT = Path(__file__).resolve().parent.parent

#: Lines of a page between which the table stands.
BEGIN, END = "<!-- studies, by scripts/generate.py -->\n", "<!-- end -->\n"


def into(page: str) -> str:
    """Return ``page`` with an up-to-date table."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"README.md lacks the lines {BEGIN.strip()} and {END.strip()}")
    return before + BEGIN + table() + END + after


def table() -> str:
    """Return the table, with one line per study."""
    package = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    lines = ["| study | question | answer |", "|---|---|---|"]
    for study in studies().values():
        page = f"{package['repository']}/blob/main/python/cellyard/studies/{study.folder.name}/README.md"
        lines.append(f"| [`{study.name}`]({page}) | {study.question} | {study.in_short} |")
    return "\n".join(lines) + "\n"
