"""Warnings about a grid and about its results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cellyard.experiment.grid import Point, split_values
from cellyard.scenario import Scenario
from cellyard.scenario.hints import SYNCHRONISED_TCPS
from cellyard.system.errors import ScenarioError

#: Limit on the points whose buffers of a class are examined.
MOST_POINTS = 50
#: Fewest refusals from which a share of them at contested ties is a warning.
LEAST_REFUSALS = 20
#: Why a TCP that lost its first segments sends nothing again.
_NO_TIMEOUT = "the run ends before the first timeout (initial_rto)"


def notes_before(
    points: Sequence[Point], *, overrides: Sequence[tuple[str, str]], grid: Sequence[tuple[str, str]]
) -> list[str]:
    """Sentences about values given twice, points with equal scenarios, and settings that the grid replaces."""
    notes = []
    for path, text in grid:
        values = split_values(path, text)
        notes += [
            f"--grid {path}: `{value}` is listed {values.count(value)} times but runs only once"
            for value in dict.fromkeys(values)
            if values.count(value) > 1
        ]
    first: dict[str, Point] = {}
    equal = [
        (known, point) for point in points if (known := first.setdefault(point.scenario.canonical, point)) is not point
    ]
    if equal:
        known, point = equal[0]
        notes.append(
            f"{len(equal)} of {len(points)} points of the grid have the same scenario as another point: "
            f"{_point_name(point)} is the same as {_point_name(known)}"
        )
    notes += _differing_queues(points, [path for path, _ in grid])
    notes += _axis_notes(points, [path for path, _ in grid])
    if grid:
        notes += [
            f"--set {overrides[place][0]} has no effect: --grid sets the same field"
            for place in range(len(overrides))
            if _is_replaced(points[0], overrides, place)
        ]
    return notes


def _differing_queues(points: Sequence[Point], paths: Sequence[str]) -> list[str]:
    """A sentence for each axis over service classes whose queues have different buffers."""
    if not any(path.endswith(".class") for path in paths):
        return []
    from cellyard.scenario.axis_notes import Queues, add_queues, differing_queues, is_of_vcs

    notes = []
    for path in filter(is_of_vcs, paths):
        queues, examined = Queues(), Counter[str]()
        for point in points:
            service = point.values[path].strip("\"'")
            examined[service] += 1
            if examined[service] <= MOST_POINTS:
                add_queues(queues, point.scenario.describe()["ports"], service)
        notes += differing_queues(f"--grid {path}", queues)
    return notes


def _axis_notes(points: Sequence[Point], paths: Sequence[str]) -> list[str]:
    """Sentences on axes along which efficiencies are not comparable, and on axes along which VCs change their numbers."""
    from cellyard.scenario.axis_notes import FairSums, changes_counts, lines_along, renumbered_vcs

    notes, sums = [], FairSums()
    pairs = [(point.values, point.scenario) for point in points]
    for path in paths:
        found = lines_along(pairs, [path])
        notes += sums.note(f"--grid {path}", found)
        if changes_counts([path]):
            notes += renumbered_vcs(f"--grid {path}", found)
    return notes


def _point_name(point: Point) -> str:
    return ", ".join(f"{path}={value}" for path, value in point.values.items())


def _is_replaced(point: Point, overrides: Sequence[tuple[str, str]], place: int) -> bool:
    """Whether the values of the grid replace an override, so that any other value would give the same scenario."""
    path, _ = overrides[place]
    # Only a free text can be "?". Any other field refuses it, unless the grid replaces the field.
    others = [*overrides[:place], (path, "?"), *overrides[place + 1 :]]

    def has_effect(*values: tuple[str, str]) -> bool:
        try:
            made = [
                Scenario.from_toml(point.scenario.source, overrides=[*chosen, *values])
                for chosen in (overrides, others)
            ]
        except ScenarioError:
            return True
        return made[0] != made[1]

    return has_effect() and not has_effect(*point.values.items())


def notes_after(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on results: seeds without effect, missing goodput or goodput above what fits, files, and overloaded hosts."""
    notes = _unsent_cells(runs) + _goodput_beyond_line(runs) + _synchronized_tcps(runs) + _unfinished_files(runs)
    found: dict[str, str] = {}
    for run in runs:
        values = dict(run.get("set", {}))
        seed = values.pop("seed", None)
        if seed is None or run["replication"] is not None:
            continue
        first_seed = found.setdefault(json.dumps([values, run["totals"], run["vcs"]]), seed)
        if first_seed != seed:
            notes.append(
                f"seed={seed} gave exactly the same run as seed={first_seed}: nothing in this scenario is random; "
                "--replications adds random draws"
            )
            break
    without = sum(run["totals"]["efficiency"] is None and any(map(carries_frames, run["vcs"])) for run in runs)
    if without:
        share = "" if without == len(runs) else f" in {without} of {len(runs)} runs"
        notes.append(f"no efficiency{share}: {_why_no_efficiency(runs)}")
    most = max((run["totals"]["efficiency"] or 0 for run in runs), default=0)
    if most > 1.0005:
        notes.append(
            f"efficiency is up to {most:.3f}: more was delivered than measure.max_goodput gives as the maximum"
        )
    return notes


def tie_notes(scenario: Scenario, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence on runs with many refusals at contested ties, if ``scenario`` leaves the order at ties to its default."""
    many = [run for run in runs if _is_contested(run)]
    if not many or scenario.states("tie_order"):
        return []
    tied, refused = _refusals(many[0])
    refusals = (
        f"{tied} of {refused} refusals fell on contested ties"
        if len(runs) == 1
        else f"in {len(many)} of {len(runs)} runs, at least half of the refusals fell on contested ties"
    )
    port = max(many[0]["ports"], key=lambda port: port["tied_refusals"] or 0)
    inputs = sorted(port["inputs"], key=lambda brought: brought["tied_refusals"], reverse=True)
    most, least = (f"{brought['link']} ({brought['tied_refusals']})" for brought in (inputs[0], inputs[-1]))
    return [
        f"{refusals}; at {port['name']}{' in the first of them' if len(runs) > 1 else ''}, {most} was refused most and "
        f"{least} least; results depend on `tie_order`: --grid tie_order=fixed,rotating,random,fair shows how much"
    ]


def _is_contested(run: Mapping[str, Any]) -> bool:
    """Whether at least half of the refusals of a run, which are many enough, fell on contested ties."""
    tied, refused = _refusals(run)
    return refused >= LEAST_REFUSALS and 2 * tied >= refused


def _refusals(run: Mapping[str, Any]) -> tuple[int, int]:
    """Cells that ports refused at contested ties, and all that they refused; (0, 0) for a run that did not count them."""
    ports = [port for port in run["ports"] if port.get("refusals") is not None]
    return sum(port["tied_refusals"] for port in ports), sum(port["refusals"] for port in ports)


def _why_no_efficiency(runs: Sequence[Mapping[str, Any]]) -> str:
    """Why runs have no efficiency."""
    if any(run["totals"]["max_goodput_mbps"] == 0 for run in runs):
        return "the fair shares of the links add up to zero, because sources of cells take the whole capacity"
    from cellyard.scenario.hints import NO_MAX_GOODPUT

    return NO_MAX_GOODPUT


def _goodput_beyond_line(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence on the port whose goodput most exceeds its link's capacity in the measuring time, if any does."""
    ports = [port for run in runs if run["measured_s"] < run["duration_s"] for port in run["ports"]]
    port = max(ports, key=lambda port: port["efficiency"] or 0, default=None)
    if port is None or (port["efficiency"] or 0) <= 1.0005:
        return []
    return [
        f"the goodput through {port['name']} is up to {port['efficiency']:.4f} of what its link can carry in the measuring time: "
        "data that arrived earlier, behind a gap, counts when the gap is filled; another warm-up, or none, reduces or avoids this"
    ]


def _synchronized_tcps(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on runs in which TCPs that began nearly together delivered nothing, since all lost cells at one port."""
    stated: list[int] = []  # the timeouts of each run in which nothing was delivered
    drawn: list[int] = []
    for run in runs:
        tcps = [vc for vc in run["vcs"] if vc["traffic"] == "tcp" and vc["began_s"] is not None]
        if len(tcps) < 2 or any(vc["delivered_bytes"] for vc in tcps) or not _lose_at_one_port(tcps):
            continue
        timeouts = sum(vc["timeouts"] for vc in tcps)
        if run["replication"] is not None:
            drawn.append(timeouts)
        elif len({vc["began_s"] for vc in tcps}) == 1:
            stated.append(timeouts)

    def no_delivery(found: Sequence[int]) -> str:
        return "no TCP delivered anything" + (f" in {len(found)} of {len(runs)} runs" if len(found) < len(runs) else "")

    notes = []
    if stated:
        meet = (
            "meet again in one buffer after each timeout" if any(stated) else f"meet in one buffer, and {_NO_TIMEOUT}"
        )
        hint = "--replications draws random start times, within ensemble.start_jitter of each other"
        notes.append(f"{no_delivery(stated)}: they start at the same time, and {meet}; {hint}")
    if drawn:
        notes.append(
            f"{no_delivery(drawn)}: {SYNCHRONISED_TCPS if any(drawn) else f'they lost their first segments, and {_NO_TIMEOUT}'}"
        )
    return notes


def _lose_at_one_port(vcs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a port dropped cells of each VC; losses on links do not count."""

    def ports(vc: Mapping[str, Any]) -> set[str]:
        return {
            port["port"]
            for port in vc["ports"]
            if any(count for reason, count in port["dropped_cells"].items() if reason != "link")
        }

    return bool(set.intersection(*map(ports, vcs)))


def _unfinished_files(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence on TCPs that finished no file where others did, since transfer times say nothing about them."""
    judged = [run for run in runs if run["totals"]["finished_transfers"]]
    files = [vc for run in judged for vc in run["vcs"] if vc["file_size_bytes"] is not None]
    left = [vc for vc in files if vc["began_s"] is not None and not vc["finished_transfers"]]
    if not left:
        return []
    waiting = sum(bool(vc["frames_lost"] and not vc["timeouts"] and not vc["delivered_bytes"]) for vc in left)
    why = f"; {waiting} of these delivered nothing, and {_NO_TIMEOUT}" if waiting else ""
    return [
        f"{len(left)} of {len(files)} TCPs that send files{', over all runs,' if len(runs) > 1 else ''} finished none: "
        f"the durations shown are those of the other TCPs{why}"
    ]


def carries_frames(vc: Mapping[str, Any]) -> bool:
    """Whether a VC carries frames, not single cells."""
    return bool(vc["carries"] == "frames")


def is_overloaded(vc: Mapping[str, Any]) -> bool:
    """Whether the cell sources at a VC's host exceed its link, by more than rounding errors of the sum."""
    return bool(vc["host_load"] > 1 + 1e-9)


def _unsent_cells(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each host whose cell sources exceed its link, over all runs in which cells were left there."""
    left: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        for vc in run["vcs"]:
            if is_overloaded(vc):
                left.setdefault(vc["from"], []).append(vc)
    notes = []
    for host, vcs in left.items():
        cells = sum(vc["cells_not_sent"] for vc in vcs)
        if cells:
            brought = cells + sum(vc["cells_sent"] for vc in vcs)
            load = max(vc["host_load"] for vc in vcs)
            notes.append(
                f"the host {host} never sent {cells} of its {brought} data cells, which count neither as lost nor as delayed: "
                f"its cell sources offer {'up to ' if len(runs) > 1 else ''}{load:.2f} times the capacity of its link"
            )
    return notes
