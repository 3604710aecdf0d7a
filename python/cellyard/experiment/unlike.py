"""Whoever compares service classes compares their queues as well: whether these have unlike buffers, which no single scenario shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from cellyard.experiment.sentences import counted, listed

#: The buffers of each class at each port, in cells; ``None`` has no limit.
Queues: TypeAlias = dict[str, dict[str, set[int | None]]]

#: Values of an axis that a note names.
MOST_NAMED = 4


def is_of_vcs(path: str) -> bool:
    """Whether a path is the service class of VCs.

    >>> [is_of_vcs(path) for path in ("vc.*.class", "switch.west.scheduler.class")]
    [True, False]
    """
    return path.startswith("vc.") and path.endswith(".class")


def add_queues(found: Queues, ports: Iterable[Mapping[str, Any]], service: str) -> None:
    """Add the buffers of a class at ports where its data can wait."""
    for port in ports:
        for queue in port["queues"]:
            if queue["class"] == service and port["can_queue"] and port["data_vcs"]:
                found.setdefault(port["name"], {}).setdefault(service, set()).add(queue["buffer"])


def unlike(axis: str, found: Queues) -> list[str]:
    """A sentence where queues of the classes of an axis have other buffers: whoever compares the classes compares these, too."""
    unlike = [port for port, of in found.items() if len(set(map(frozenset, of.values()))) > 1]
    if not unlike:
        return []
    more = f" and {counted(len(unlike) - 1, 'other port')}" if len(unlike) > 1 else ""
    sizes = [f"{service} has {_buffers(buffers)}" for service, buffers in found[unlike[0]].items()]
    return [
        f"{axis} compares queues of unlike size, as each class has a buffer of its own: at {unlike[0]}{more} {listed(sizes)}"
    ]


def _buffers(sizes: Iterable[int | None]) -> str:
    """Buffers from the smallest to none.

    >>> _buffers([2000, None, 500]), _buffers([1000])
    ('500 cells, 2000 cells and no limit', '1000 cells')
    """
    ordered = sorted(sizes, key=lambda size: (size is None, size))
    return listed(["no limit" if size is None else f"{size} cells" for size in ordered], most=MOST_NAMED)
