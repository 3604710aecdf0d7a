"""Results as tables: a record for each run, VC, port, and so on, with names that end in their unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: What a run's results have as tables: totals; VCs, each at its ports, its transfers, and what comes back on it; ports, and their
#: classes; classes of the network; dropped cells.
PARTS = ("runs", "vcs", "vc_ports", "transfers", "back", "ports", "port_classes", "classes", "trace")


def records(run: Mapping[str, Any], part: str) -> Iterator[dict[str, Any]]:
    """A record for the totals of a run, or for each of its VCs, ports of VCs, ports, classes of ports, classes or traced drops."""
    return map(_flat, _things(run, part))


def _things(run: Mapping[str, Any], part: str) -> Sequence[Mapping[str, Any]]:
    if part == "runs":
        return [run["totals"]]
    if part == "vc_ports":
        return [{"vc": vc["name"], **there} for vc in run["vcs"] for there in vc["ports"]]
    if part == "transfers":
        return [{"vc": vc["name"], **transfer} for vc in run["vcs"] for transfer in vc["transfers"]]
    if part == "back":
        return [{"vc": vc["name"], **back} for vc in run["vcs"] for back in vc["back"]]
    if part == "port_classes":
        return [{"port": port["name"], **of_class} for port in run["ports"] for of_class in port["classes"]]
    found: Sequence[Mapping[str, Any]] = run[part]
    return found


def _flat(thing: Mapping[str, Any]) -> dict[str, Any]:
    """Without lists, which have a part of their own; `dropped_cells` by reason becomes a column each."""
    record: dict[str, Any] = {}
    for key, value in thing.items():
        if isinstance(value, dict):
            record |= {f"{key}_{name}": inner for name, inner in value.items()}
        elif not isinstance(value, list):
            record[key] = value
    return record
