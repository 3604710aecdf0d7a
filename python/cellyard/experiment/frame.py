"""Runs of an experiment as frames of polars or pandas, which are imported only here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cellyard.errors import UsageError, unknown
from cellyard.metric_path import Number

#: Libraries of frames, and how each is had.
KINDS: Mapping[str, str] = {"polars": "pip install 'cellyard[data]'", "pandas": "pip install pandas"}


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


def of_records(records: Sequence[Mapping[str, Any]], kind: str = "polars") -> Any:
    """A frame of records that have the same fields; raises `UsageError` when the library is missing."""
    if kind not in KINDS:
        raise unknown("kind of frame", kind, KINDS)
    try:
        library = importlib.import_module(kind)
    except ImportError:
        raise UsageError(f"frames of {kind} need {kind}: {KINDS[kind]}") from None
    names = list(dict.fromkeys(name for record in records for name in record))
    data = {name: [record.get(name) for record in records] for name in names}
    return library.DataFrame(data, strict=False) if kind == "polars" else library.DataFrame(data)
