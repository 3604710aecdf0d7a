"""Ready scenarios: the command ``cellyard example``."""

from __future__ import annotations

from pathlib import Path

from cellyard.errors import unknown
from cellyard.text import table

FOLDER = Path(__file__).parents[1] / "examples"


def names() -> list[str]:
    """Names of all examples."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def text(name: str) -> str:
    """The scenario file of an example; raises `UsageError` when there is none of that name."""
    if name not in names():
        raise unknown("example", name, names())
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def overview() -> str:
    """All examples with what they show, which is their first line."""
    rows = [[name, text(name).splitlines()[0].lstrip("# ")] for name in names()]
    return table(["example", "what it shows"], rows) + "\n\ncellyard example NAME > NAME.toml writes one."
