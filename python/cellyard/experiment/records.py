"""Runs of an experiment as records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cellyard.errors import unknown
from cellyard.metric_path import Number


def of_runs(
    columns: Sequence[Mapping[str, Any]], measured: Sequence[Mapping[int, Mapping[str, Number]]], form: str
) -> Iterator[dict[str, Any]]:
    """A record for each run (``wide``), or for each metric of each run (``long``)."""
    if form not in ("long", "wide"):
        raise unknown("form", form, ("long", "wide"))
    for values, runs in zip(columns, measured, strict=True):
        for replication in sorted(runs):
            if form == "wide":
                yield {**values, "replication": replication, **runs[replication]}
                continue
            for metric, value in runs[replication].items():
                number = None if value is None else float(value)
                yield {**values, "replication": replication, "metric": metric, "value": number}
