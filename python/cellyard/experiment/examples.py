"""Example experiments, which ``cellyard example --experiments`` lists.

>>> experiment("buffer").question.kind
'find'
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cellyard.system.errors import unknown

if TYPE_CHECKING:
    from cellyard.experiment.experiment import Experiment

FOLDER = Path(__file__).parent / "examples"


def names() -> list[str]:
    """Names of all example experiments."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def text(name: str) -> str:
    """The text of an example; raises `UsageError` when the name is unknown."""
    if name not in names():
        raise unknown("experiment", name, names())
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def experiment(name: str) -> Experiment:
    """The example as an experiment."""
    from cellyard.experiment.experiment import Experiment

    return Experiment.from_toml(text(name), file=f"{name}.toml")
