"""The command ``cellyard check``: describes a scenario before it runs."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellyard.commands import grid_notes
from cellyard.experiment.grid import Point, expand
from cellyard.runs.batch import Job, check_memory
from cellyard.runs.expected import outline, process_seconds, process_words, seconds
from cellyard.scenario import overview
from cellyard.show.text import cell_count, rough_time
from cellyard.system.format import common_noun


def command(
    path: Path,
    *,
    overrides: Sequence[tuple[str, str]],
    grid: Sequence[tuple[str, str]],
    replications: int | None,
    memory: str | None,
    brief: bool,
) -> None:
    """Print the resolved scenario on standard output, and the description on standard error.

    If ``brief``, print only the description, on standard output. Raises the `UsageError` of ``run`` for
    a run that may need more than ``memory``.
    """
    points = expand(path, overrides=overrides, grid=grid, runs_per_point=replications or 1)
    first_draw = None if replications is None else 0
    jobs = [Job(point.scenario.canonical, first_draw) for point in points]
    check_memory(jobs, runs=len(jobs) * (replications or 1), memory=memory)
    notes = grid_notes.notes_before(points, grid)
    # The scenario comes before its description is made, as both of 100 000 VCs take much memory.
    if not brief:
        for piece in points[0].scenario.toml_pieces():
            sys.stdout.write(piece)
        sys.stdout.flush()
    print(about(points, replications=replications, notes=notes), file=sys.stdout if brief else sys.stderr)


def about(points: Sequence[Point], *, replications: int | None = None, notes: Sequence[str] = ()) -> str:
    """The topology and the programs of the first point, the cost of running all points, and notes."""
    facts = [outline(point.scenario.canonical) for point in points]
    first = facts[0]
    parts = [
        overview.topology(first),
        *filter(None, [overview.pools(first), overview.programs(first)]),
        overview.size(first),
    ]
    if len(points) > 1 or replications is not None:
        parts.append(_cost(facts, replications))
    if len(points) > 1:
        parts[0] = f"The first of {len(points)} points of the grid:\n\n{parts[0]}"
    if all_notes := dict.fromkeys([*notes, *(note for point_facts in facts for note in point_facts["notes"])]):
        parts.append("\n".join(f"note: {note}" for note in all_notes))
    return "\n\n".join(parts)


def _cost(facts: Sequence[Mapping[str, Any]], replications: int | None) -> str:
    """Total cost of all runs."""
    from cellyard.runs.batch import core_count

    of_each = [seconds(point_facts, replicated=replications is not None) for point_facts in facts]
    replications = replications or 1
    most = replications * sum(point_facts["max_bottleneck_cells"] for point_facts in facts)
    noun = common_noun(point_facts["noun"] for point_facts in facts)
    engine, cores = replications * sum(of_each), core_count()
    process = process_seconds(facts, replications=replications)
    wall = engine / min(cores, len(facts) * replications) + process
    return (
        f"{len(facts)} {'point' if len(facts) == 1 else 'points'} x {replications} "
        f"{'replication' if replications == 1 else 'replications'}: {len(facts) * replications} runs, "
        f"at most {cell_count(most, f'bottleneck {noun}s')}: about {rough_time(engine)} of CPU time in the engine "
        f"and {process_words(facts, replications=replications)}, {rough_time(wall)} on {cores} {'core' if cores == 1 else 'cores'}"
    )
