"""The table of all studies on the front page: what each asks, and what its stored summary says."""

from __future__ import annotations

from cellyard.study import studies

#: Between these lines of a page the table stands.
BEGIN, END = "<!-- studies, by scripts/generate.py -->\n", "<!-- end -->\n"


def into(page: str) -> str:
    """``page`` with the table brought up to date."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"README.md lacks the lines {BEGIN.strip()} and {END.strip()}")
    return before + BEGIN + table() + END + after


def table() -> str:
    """A line for each study."""
    lines = ["| study | asks | says |", "|---|---|---|"]
    for study in studies().values():
        page = f"python/cellyard/studies/{study.folder.name}/README.md"
        lines.append(f"| [`{study.name}`]({page}) | {study.question} | {study.in_short} |")
    return "\n".join(lines) + "\n"
