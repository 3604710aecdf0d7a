"""Reads the label of a folder of results."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellyard.system.files import read_regular, unsealed

#: File that describes the content of a folder and its origin. Written before the first run.
LABEL_FILE = "provenance.json"


def read_label(path: Path) -> Mapping[str, Any] | None:
    """The label of a folder; ``None`` when there is none that can be trusted."""
    try:
        mark = unsealed(read_regular(path / LABEL_FILE))
    except (OSError, ValueError):
        return None
    return mark if isinstance(mark.get("holds"), str) and isinstance(mark.get("content"), str) else None


def made_by(folder: Path) -> dict[str, str]:
    """The command that made each file of a folder, as far as its label says."""
    made = (read_label(folder) or {}).get("made_by")
    return dict(made) if isinstance(made, dict) else {}


def store_of(folder: Path) -> str:
    """The file of ``--store`` that has the runs of a folder; empty when the label names none."""
    return str((read_label(folder) or {}).get("store", ""))
