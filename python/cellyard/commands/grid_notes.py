"""Notes about a grid and about its results."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cellyard.experiment.grid import Point, split_values
from cellyard.results import run_notes
from cellyard.scenario import Scenario

#: Limit on the points whose buffers of a class are examined.
MOST_POINTS = 50
#: What to do about a kind of notes on finished runs, in a grid.
HINTS = {"tied_refusals": ": --grid tie_order=fixed,rotating,random,fair shows how much"}


def notes_before(points: Sequence[Point], grid: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences about values given twice, points with equal scenarios, and axes along which results are not comparable."""
    if not grid:
        return []
    from cellyard.scenario import axis_notes

    notes = [note for path, text in grid for note in axis_notes.repeated(f"--grid {path}", split_values(path, text))]
    if equal := axis_notes.equal_pairs((point, point.scenario) for point in points):
        known, point = equal[0]
        notes.append(
            f"{len(equal)} of {len(points)} points of the grid have the same scenario as another point: "
            f"{_point_name(point)} is the same as {_point_name(known)}"
        )
    paths = [path for path, _ in grid]
    for path in filter(axis_notes.is_of_vcs, paths):
        queues, examined = axis_notes.Queues(), Counter[str]()
        for point in points:
            service = point.values[path].strip("\"'")
            examined[service] += 1
            if examined[service] <= MOST_POINTS:
                axis_notes.add_queues(queues, point.scenario.describe()["ports"], service)
        notes += axis_notes.differing_queues(f"--grid {path}", queues)
    sums, pairs = axis_notes.FairSums(), [(point.values, point.scenario) for point in points]
    for path in paths:
        found = axis_notes.lines_along(pairs, [path])
        notes += sums.note(f"--grid {path}", found)
        if axis_notes.changes_counts([path]):
            notes += axis_notes.renumbered_vcs(f"--grid {path}", found)
    return notes


def _point_name(point: Point) -> str:
    return ", ".join(f"{path}={value}" for path, value in point.values.items())


def notes_after(scenario: Scenario, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on finished runs: seeds without effect, and the notes of `run_notes`."""
    found = run_notes.printed(runs, states_tie_order=scenario.states("tie_order"))
    return _seeds_without_effect(runs) + [f"{note.text}{HINTS.get(note.kind, '')}" for note in found]


def _seeds_without_effect(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence on a seed of a grid that gave the same run as another."""
    found: dict[str, str] = {}
    for run in runs:
        values = dict(run.get("set", {}))
        seed = values.pop("seed", None)
        if seed is None or run["replication"] is not None:
            continue
        first_seed = found.setdefault(json.dumps([values, run["totals"], run["vcs"]]), seed)
        if first_seed != seed:
            return [
                f"seed={seed} gave exactly the same run as seed={first_seed}: nothing in this scenario is random; "
                "--replications adds random draws"
            ]
    return []
