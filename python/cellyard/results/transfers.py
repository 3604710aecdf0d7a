"""Durations of the files of several runs, pooled over VCs and replications."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cellyard.statistics.bounded import Bounded, Value, as_fields
from cellyard.statistics.pooled import quantile

#: Reported quantiles by name, and the last of them.
LONGEST = "max_transfer_s"
QUANTILES = {"p50_transfer_s": 0.5, "p95_transfer_s": 0.95, "p99_transfer_s": 0.99, LONGEST: 1.0}


def durations(run: Mapping[str, Any]) -> list[Value]:
    """The duration of each file of a run, in both directions. Of an unfinished file it is a lower bound, 0 before its beginning."""
    found: list[Value] = []
    for vc in run["vcs"]:
        for sender in (vc, *vc["back"]):
            under_way = [] if sender.get("under_way_s") is None else [sender["under_way_s"]]
            waiting = [0.0] * (sender["unfinished_transfers"] - len(under_way))
            found += [transfer["duration_s"] for transfer in sender["transfers"]]
            found += [Bounded(least, math.inf) for least in (*under_way, *waiting)]
    return found


def pooled(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Numbers of files of all ``runs``, and quantiles of their durations with intervals; ``None`` without files.

    The longest duration has no interval.
    """
    return of_files(list(map(durations, runs)))


def of_files(groups: Sequence[Sequence[Value]]) -> dict[str, Any] | None:
    """As `pooled`, of the durations of the files of each run."""
    count = sum(map(len, groups))
    if not count:
        return None
    unfinished = sum(isinstance(value, Bounded) for group in groups for value in group)
    found: dict[str, Any] = {"finished_transfers": count - unfinished, "unfinished_transfers": unfinished}
    for name, share in QUANTILES.items():
        of_files = quantile(groups, share)
        found |= as_fields(name, of_files.value)
        if name != LONGEST:
            found |= as_fields(f"{name}_low", of_files.low) | as_fields(f"{name}_high", of_files.high)
    return found
