"""Results as tables: one record per run, VC, port and so on, with units in the names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Tables of a run: totals; VCs, their ports, transfers, reverse TCPs and ABR end systems; ports and
#: their classes and inputs; pools and their ports; classes of the network; and dropped cells.
PARTS = (
    "runs",
    "vcs",
    "vc_ports",
    "transfers",
    "back",
    "end_systems",
    "ports",
    "port_classes",
    "port_inputs",
    "pools",
    "pool_ports",
    "classes",
    "trace",
)

#: Fields that identify a series.
SERIES = ("what", "of", "class", "vc", "unit", "statistic")

#: For tables that are lists within VCs and ports: the parent table, the field, and the column that
#: identifies the parent.
WITHIN = {
    "vc_ports": ("vcs", "ports", "vc"),
    "transfers": ("vcs", "transfers", "vc"),
    "back": ("vcs", "back", "vc"),
    "end_systems": ("vcs", "end_systems", "vc"),
    "port_classes": ("ports", "classes", "port"),
    "port_inputs": ("ports", "inputs", "port"),
    "pool_ports": ("pools", "ports", "switch"),
}


def records(run: Mapping[str, Any], part: str) -> Iterator[dict[str, Any]]:
    """Return one record for the totals of a run, or one for each item of a table."""
    return map(_flat, _items(run, part))


def _items(run: Mapping[str, Any], part: str) -> Sequence[Mapping[str, Any]]:
    if part == "runs":
        return [run["totals"]]
    if part in WITHIN:
        parent, field, column = WITHIN[part]
        # Results of earlier versions have no inputs and no pools.
        outers = run.get(parent, ())
        name = "switch" if parent == "pools" else "name"
        return [{column: outer[name], **inner} for outer in outers for inner in outer.get(field, ())]
    items: Sequence[Mapping[str, Any]] = run.get(part, ()) if part == "pools" else run[part]
    return items


def _flat(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without lists, which have their own tables.

    `dropped_cells` becomes a column per reason.
    """
    record: dict[str, Any] = {}
    for key, value in item.items():
        if isinstance(value, dict):
            record |= {f"{key}_{name}": inner for name, inner in value.items()}
        elif not isinstance(value, list):
            record[key] = value
    return record
