"""What a folder of results says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellyard.system.files import unsealed

#: File that says what a folder holds and where that came from. It is there before the first run.
MARK = "provenance.json"


def marked(path: Path) -> Mapping[str, Any] | None:
    """What a folder says that it holds; ``None`` when it says nothing that can be trusted."""
    try:
        mark = unsealed((path / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return mark if isinstance(mark.get("holds"), str) and isinstance(mark.get("content"), str) else None


def store_of(folder: Path) -> str:
    """The file of ``--store`` that has the runs of a folder; empty when it names none."""
    return str((marked(folder) or {}).get("store", ""))
