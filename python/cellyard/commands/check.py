"""A scenario before it runs: the command ``cellyard check``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from cellyard import grid_notes
from cellyard.batch import all_cores
from cellyard.grid import Point, expand

#: For the expected time only: bottleneck cells per second and core that the engine reaches or passes on the
#: studies' scenarios.
CELLS_PER_SECOND = 40e6

TICKS_PER_SECOND = 25_272_000_000_000


def command(
    path: Path,
    *,
    overrides: Sequence[tuple[str, str]],
    grid: Sequence[tuple[str, str]],
    replications: int | None,
    brief: bool,
) -> None:
    """Print the resolved scenario on standard output and all else on standard error; if ``brief``, all else on standard output."""
    points = expand(path, overrides=overrides, grid=grid, runs_per_point=replications or 1)
    if not brief:
        print(points[0].scenario.to_toml(), end="", flush=True)
    notes = grid_notes.before(points, overrides=overrides, grid=grid)
    print(about(points, replications=replications, notes=notes), file=sys.stdout if brief else sys.stderr)


def about(points: Sequence[Point], *, replications: int | None = None, notes: Sequence[str] = ()) -> str:
    """The topology of the first point as a small picture, what it costs to run all, and what is hardly meant."""
    facts = [point.scenario.describe() for point in points]
    first = facts[0]
    queueing = sum(port["can_queue"] for port in first["ports"])
    cells, seconds = first["max_bottleneck_cells"], _seconds(first)
    size = (
        f"{first['vcs']} VCs over {first['links']} links, {queueing} of {len(first['ports'])} ports can queue; "
        f"{first['duration_s']:g} s simulated, at most {cells / 1e6:.1f} million bottleneck cells: some {seconds:.2g} s a run"
    )
    parts = [topology(points[0].scenario.to_dict(), first), size]
    if len(points) > 1 or replications is not None:
        parts.append(_cost(facts, replications or 1))
    if len(points) > 1:
        parts[0] = f"The first of {len(points)} points of the grid:\n\n{parts[0]}"
    if told := dict.fromkeys([*notes, *(note for of_point in facts for note in of_point["notes"])]):
        parts.append("\n".join(f"note: {note}" for note in told))
    return "\n\n".join(parts)


def _seconds(facts: Mapping[str, Any]) -> float:
    """Expected CPU time of a run."""
    return float(max(facts["max_bottleneck_cells"] / CELLS_PER_SECOND, 0.001))


def _cost(facts: Sequence[Mapping[str, Any]], replications: int) -> str:
    """What all runs take together."""
    cells = replications * sum(of_point["max_bottleneck_cells"] for of_point in facts)
    seconds, cores = replications * sum(map(_seconds, facts)), all_cores()
    return (
        f"{len(facts)} {'point' if len(facts) == 1 else 'points'} x {replications} "
        f"{'replication' if replications == 1 else 'replications'}: {len(facts) * replications} runs, "
        f"at most {cells / 1e6:.1f} million bottleneck cells: some {seconds:.2g} s of CPU time, "
        f"{seconds / min(cores, len(facts) * replications):.2g} s on {cores} {'core' if cores == 1 else 'cores'}"
    )


def topology(data: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Every route from its sources down to its sinks; ``#`` marks ports where cells can queue."""
    links = {(link["from"], link["to"]): link for link in data["links"]}
    queueing = {port["name"]: port for port in facts["ports"] if port["can_queue"]}
    switches = {switch["name"] for switch in data["switches"]}
    routes: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for vc in data["vcs"]:
        nodes = [vc["from"], *vc["route"], vc["to"]]
        path = [links[hop] for hop in pairwise(nodes)]
        hops = tuple((link["rate"], link["delay"], link["name"] in queueing) for link in path)
        routes.setdefault((tuple(vc["route"]), vc["class"], vc["traffic"]["kind"], hops), []).append(vc)
    pictures = []
    for (route, kind, traffic, _), vcs in routes.items():
        lines = [_some([vc["from"] for vc in vcs])]
        nodes = [vcs[0]["from"], *route, vcs[0]["to"]]
        for here, there in pairwise(nodes):
            link = links[here, there]
            mark = "#" if link["name"] in queueing else "|"
            hop = f"  {mark}  {link['rate'] / 1e6:g} Mb/s, {_time(link['delay'])}{_losses(link)}"
            if link["name"] in queueing:
                hop += f"   {_port(queueing[link['name']], kind)}"
            lines += [hop, there if there in switches else _some([vc["to"] for vc in vcs])]
        lines.append(f"  {_some([vc['name'] for vc in vcs])}: {traffic}, class {kind}")
        pictures.append("\n".join(lines))
    return "\n\n".join(pictures)


def _losses(link: Mapping[str, Any]) -> str:
    """What a link loses on purpose."""
    parts = []
    if link["lose_frames"]:
        parts.append(
            f"loses frames {', '.join(map(str, link['lose_frames'][:8]))}{', ...' * (len(link['lose_frames']) > 8)}"
        )
    if link["lose_probability"]["num"]:
        parts.append(f"loses {link['lose_probability']['num'] / link['lose_probability']['den']:.3g} of the frames")
    return "".join(f", {part}" for part in parts)


def _port(port: Mapping[str, Any], kind: str) -> str:
    """What holds there for the class ``kind``."""
    chosen = port["scheduler"]
    scheduler = chosen["kind"]
    if "gr" in chosen:
        scheduler += f" {chosen['gr']['num'] / chosen['gr']['den']:g} for {chosen['class']}"
    queue = next(queue for queue in port["queues"] if queue["class"] == kind)
    size = "unlimited" if queue["buffer"] is None else f"{queue['buffer']} cells"
    return f"{kind} queue: {size}, {queue['drop']['policy']}; {scheduler}"


def _some(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    if len(distinct) < 3:
        return ", ".join(distinct)
    return f"{distinct[0]} .. {distinct[-1]} ({len(distinct)})"


def _time(ticks: int) -> str:
    seconds = ticks / TICKS_PER_SECOND
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:g} {unit}"
    return f"{seconds * 1e9:g} ns"
