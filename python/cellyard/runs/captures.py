"""Captures: the pcapng files that the capture probes of a run write."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from cellyard.system.errors import UsageError
from cellyard.system.limits import size_bytes

if TYPE_CHECKING:
    from cellyard.runs.spool import Captured, Spool

#: Bytes that the file of a capture may have unless another limit is given.
LIMIT = 100_000_000

#: Characters of a place in the name of a file, at most.
LONGEST = 200

#: Bytes of a file that are read at once.
PIECE = 1 << 20


def captures(scenario: str) -> bool:
    """Whether a scenario in the engine's canonical JSON has capture probes."""
    return '"what":"capture"' in scenario


def limit_bytes(value: str | int | None) -> int:
    """Bytes that a file may have; `LIMIT` for ``None``. Raises `UsageError` for what is no size."""
    return LIMIT if value is None else size_bytes("capture_limit", value)


def check_possible(scenarios: Iterable[str], *, kernel: str, on_cluster: bool) -> None:
    """Raise `UsageError` where runs of these scenarios in canonical JSON write no captures."""
    if not any(map(captures, scenarios)):
        raise UsageError('there are no captures: the scenario has no probe with what = "capture"')
    if kernel == "twin":
        raise UsageError("captures need another kernel: the reference engine (twin) writes none")
    if on_cluster:
        raise UsageError("captures are written on this machine only: leave out the cluster (--on, --workers)")


def names(scenario: str) -> dict[int, str]:
    """Return the file name of each capture probe, by its number: what it is of, and its layer.

    >>> probe = {"what": "capture", "of": "west->east", "layer": "cells"}
    >>> names(json.dumps({"probes": [probe, {"what": "queue", "of": "west->east"}, probe]}))
    {0: 'west-east-cells.pcapng', 2: 'west-east-cells-2.pcapng'}
    """
    found: dict[int, str] = {}
    so_far: Counter[str] = Counter()
    for number, probe in enumerate(json.loads(scenario)["probes"]):
        if probe["what"] == "capture":
            stem = f"{re.sub('->|[^A-Za-z0-9_-]+', '-', probe['of'])[:LONGEST]}-{probe['layer']}"
            so_far[stem] += 1
            found[number] = f"{stem}-{so_far[stem]}.pcapng" if so_far[stem] > 1 else f"{stem}.pcapng"
    return found


def files(spool: Spool, scenarios: Mapping[int, str]) -> Iterator[tuple[str, Captured]]:
    """Yield the name and content of each file of the runs that ``scenarios`` has in canonical JSON, by their numbers."""
    several = len(scenarios) > 1
    for run, scenario in scenarios.items():
        of_probe = names(scenario)
        for probe, captured in spool.captures(run).items():
            yield (f"run-{run}-{of_probe[probe]}" if several else of_probe[probe]), captured


def pieces(captured: Captured) -> Iterator[bytes]:
    """Yield the content of a file, bit by bit."""
    for start in range(0, len(captured.content), PIECE):
        yield captured.content[start : start + PIECE].tobytes()
