"""CPU and wall-clock time of each study, and of all studies next to the goal.

Runs each row once, on two threads.
"""

import json
import subprocess
import sys
from typing import Any

from cellyard.study import studies

#: Goal for all studies together on two cores, in seconds of wall-clock time.
GOAL_SECONDS = 20.0

COLUMNS = "{:<20} {:>5} {:>7} {:>8} {:>8} {:>8}"


def run(study: str) -> dict[str, Any]:
    """Return what ``study run`` reports about a study, run as a user would, without a store."""
    command = [sys.executable, "-m", "cellyard", "study", "run", study, "--jobs", "2", "--format", "json"]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def main() -> None:
    """Print the table."""
    print(COLUMNS.format("study", "rows", "Mcells", "CPU s", "wall s", "ns/cell"), flush=True)
    total = [0.0] * 4
    for study in studies():
        found = run(study)
        timing = found["timing"]
        told = [len(found["rows"]), found["bottleneck_cells"] / 1e6, timing["cpu_seconds"], timing["wall_seconds"]]
        total = [sum(pair) for pair in zip(total, told, strict=True)]
        tell(study, told)
    tell("all", total)
    print(f"goal: {GOAL_SECONDS:.0f} s of wall-clock time; {'met' if total[-1] <= GOAL_SECONDS else 'not met'}")


def tell(name: str, told: list[float]) -> None:
    """Print one line of the table."""
    rows, cells, cpu, wall = told
    print(
        COLUMNS.format(name, f"{rows:.0f}", f"{cells:.0f}", f"{cpu:.1f}", f"{wall:.1f}", f"{1e3 * cpu / cells:.1f}"),
        flush=True,
    )


if __name__ == "__main__":
    main()
