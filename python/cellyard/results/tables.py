"""Results as tables: a record for each run, VC, port, and so on, with names that end in their unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: What a run's results have as tables: totals; VCs, each at its ports, its transfers, what comes back on it, and its ABR end systems;
#: ports, and their classes; classes of the network; dropped cells.
PARTS = (
    "runs",
    "vcs",
    "vc_ports",
    "transfers",
    "back",
    "end_systems",
    "ports",
    "port_classes",
    "classes",
    "trace",
)

#: What names a series.
SERIES = ("what", "of", "class", "vc", "unit", "statistic")

#: Of those that are lists within VCs and ports: in which of them, under which name, and the column that says of which one.
WITHIN = {
    "vc_ports": ("vcs", "ports", "vc"),
    "transfers": ("vcs", "transfers", "vc"),
    "back": ("vcs", "back", "vc"),
    "end_systems": ("vcs", "end_systems", "vc"),
    "port_classes": ("ports", "classes", "port"),
}


def records(run: Mapping[str, Any], part: str) -> Iterator[dict[str, Any]]:
    """A record for the totals of a run, or for each thing of a part."""
    return map(_flat, _things(run, part))


def _things(run: Mapping[str, Any], part: str) -> Sequence[Mapping[str, Any]]:
    if part == "runs":
        return [run["totals"]]
    if part in WITHIN:
        of, field, column = WITHIN[part]
        return [{column: one["name"], **inner} for one in run[of] for inner in one[field]]
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
