"""Results as tables: a record for each run, VC, port, and so on, with names that end in their unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: What a run's results have as tables: totals; VCs, and each at its ports; ports, and their classes; classes of the network; dropped cells.
PARTS = ("runs", "vcs", "vc_ports", "ports", "port_classes", "classes", "trace")


def records(run: Mapping[str, Any], part: str) -> Iterator[dict[str, Any]]:
    """A record for the totals of a run, or for each of its VCs, ports of VCs, ports, classes of ports, classes or traced drops."""
    return map(_flat, _things(run, part))


def _things(run: Mapping[str, Any], part: str) -> Sequence[Mapping[str, Any]]:
    if part == "runs":
        return [run["totals"]]
    if part == "vc_ports":
        return [{"vc": vc["name"], **there} for vc in run["vcs"] for there in vc["ports"]]
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
