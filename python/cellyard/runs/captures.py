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
    from cellyard.runs.spool import CapturedFile, Spool

#: Default limit on the size of a capture file, in bytes.
DEFAULT_LIMIT = 100_000_000

#: Limit on characters of a place in a file name.
MOST_NAME_CHARACTERS = 200

#: Number of bytes read from a file at once.
PIECE_BYTES = 1 << 20


def has_captures(scenario: str) -> bool:
    """Whether a scenario in canonical JSON has capture probes."""
    return '"what":"capture"' in scenario


def limit_bytes(value: str | int | None) -> int:
    """Size limit of a file in bytes; `DEFAULT_LIMIT` for ``None``. Raises `UsageError` for an invalid size."""
    return DEFAULT_LIMIT if value is None else size_bytes("capture_limit", value)


def check_possible(argument: str, scenarios: Iterable[str], *, limit: int, kernel: str, on_cluster: bool) -> None:
    """Raise `UsageError` if runs of these scenarios in canonical JSON cannot write captures, which ``argument`` asks for.

    ``limit`` is the size limit of a file in bytes.
    """
    from cellyard import _engine

    captured = set(filter(has_captures, scenarios))
    if not captured:
        raise UsageError(f'{argument} has no effect: the scenario has no probe with what = "capture"')
    if kernel == "twin":
        raise UsageError("the reference engine (kernel twin) writes no captures: choose another kernel")
    if on_cluster:
        raise UsageError("captures can be written by runs on this machine only: omit the cluster (--on, --workers)")
    least = max(map(_engine.least_capture_limit, captured))
    if limit < least:
        raise UsageError(
            f"capture_limit = {limit} B: must be at least {least} B, for the head of a file, which holds the scenario, and a packet"
        )


def names(scenario: str) -> dict[int, str]:
    """Return the file name of each capture probe by number: what it records, and the layer.

    >>> probe = {"what": "capture", "of": "west->east", "layer": "cells"}
    >>> names(json.dumps({"probes": [probe, {"what": "queue", "of": "west->east"}, probe]}))
    {0: 'west-east-cells.pcapng', 2: 'west-east-cells-2.pcapng'}
    """
    found: dict[int, str] = {}
    so_far: Counter[str] = Counter()
    for number, probe in enumerate(json.loads(scenario)["probes"]):
        if probe["what"] == "capture":
            stem = f"{re.sub('->|[^A-Za-z0-9_-]+', '-', probe['of'])[:MOST_NAME_CHARACTERS]}-{probe['layer']}"
            so_far[stem] += 1
            found[number] = f"{stem}-{so_far[stem]}.pcapng" if so_far[stem] > 1 else f"{stem}.pcapng"
    return found


def files(spool: Spool, scenarios: Mapping[int, str]) -> Iterator[tuple[str, CapturedFile]]:
    """Yield the name and content of each capture file. ``scenarios`` maps run numbers to canonical JSON."""
    several = len(scenarios) > 1
    for run, scenario in scenarios.items():
        file_names = names(scenario)
        for probe, captured in spool.captures(run).items():
            yield (f"run-{run}-{file_names[probe]}" if several else file_names[probe]), captured


def pieces(captured: CapturedFile) -> Iterator[bytes]:
    """Yield the content of a file in pieces."""
    for start in range(0, len(captured.content), PIECE_BYTES):
        yield captured.content[start : start + PIECE_BYTES].tobytes()
