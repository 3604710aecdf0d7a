"""Provenance of results: the command, the engine, the date, and the kind of machine."""

import os
import platform
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from cellyard.scenario import Scenario


def of_command() -> dict[str, Any]:
    """The command line as typed, engine, date and machine. Nothing that identifies the machine or its user is included."""
    from cellyard import _engine

    return {
        "command": shlex.join(["cellyard", *sys.argv[1:]]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "engine_version": _engine.version(),
        "engine_build": _engine.build(),
        "python_version": platform.python_version(),
        "machine": {"os": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count()},
    }


def of_run(
    first: Scenario, overrides: Sequence[tuple[str, str]], grid: Sequence[tuple[str, str]], seed: int | None
) -> dict[str, Any]:
    """The command, and what was simulated: the text of the scenario, the overrides, and the resulting scenario.

    ``scenario`` is ``first`` with every default: the only point, or the first point of the grid.
    """
    return of_command() | {
        "source": first.source,
        "set": [f"{path}={value}" for path, value in overrides],
        "grid": [f"{path}={values}" for path, values in grid],
        "seed": first.seed if seed is None else seed,
        "scenario": first.to_toml(),
    }
