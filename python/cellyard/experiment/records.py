"""Runs as records, and statistics over many runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cellyard.experiment.description.measure import Metric
from cellyard.experiment.metric_kind import mean_of
from cellyard.experiment.plan import CONFIDENCE
from cellyard.statistics.inference import defined
from cellyard.statistics.ranges import Number, has_quantiles, quantile
from cellyard.system.errors import unknown


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


def summed_up(
    samples: Sequence[Mapping[str, Number]], metrics: Mapping[str, Metric]
) -> dict[str, dict[str, float | None]]:
    """Mean of each metric over runs with its interval, quantiles and extremes of the runs; ``None`` where undefined.

    Extremes are values of runs, so counts are whole numbers.
    """
    found: dict[str, dict[str, float | None]] = {}
    for metric, path in metrics.items():
        values = sorted(defined(samples, metric))
        runs = sorted(value for one in samples if (value := one[metric]) is not None)
        mean = mean_of(path, values, CONFIDENCE)
        found[metric] = {
            "mean": mean and mean.mean,
            "low": mean and mean.low,
            "high": mean and mean.high,
            "p5": quantile(values, 0.05) if values else None,
            "p95": quantile(values, 0.95) if values else None,
            "min": runs[0] if runs else None,
            "max": runs[-1] if runs else None,
        }
    return found


def side_by_side(document: Mapping[str, Any], *, named: bool) -> list[dict[str, Any]]:
    """The points of a document with a single column for axes that vary together.

    The column kept is the first that distinguishes all combinations: of the question's axis, the
    axis with labels, and the others in order. If none does, one column has all values as text. With
    ``named``, only groups that labels name are merged, and not if the question is about another of
    their columns.
    """
    points = [dict(point) for point in document["points"]]
    for group in document.get("together", []):
        columns, own, asked = group["columns"], group["named_by"], group["asked"]
        many = len({tuple(point[name] for name in columns) for point in points})
        order = sorted(columns, key=lambda name: (name != asked, name != own))
        kept = next((name for name in order if len({point[name] for point in points}) == many), None)
        if not named or (kept and kept == own and asked in (None, own)):
            points = [_in_one(point, columns, kept) for point in points]
    return points


def _in_one(point: Mapping[str, Any], columns: Sequence[str], kept: str | None) -> dict[str, Any]:
    """The point with only the column ``kept``, or with a combined one, in place of several."""
    name = kept or ", ".join(columns)
    value = point[kept] if kept else ", ".join(str(point[name]) for name in columns)
    return {name if key in columns else key: value if key in columns else one for key, one in point.items()}


def counts(points: Sequence[Mapping[str, Any]], metrics: Iterable[str]) -> set[str]:
    """The metrics that are counts in every run of the points."""
    return {
        metric
        for metric in metrics
        if all(
            end is None or isinstance(end, int) for point in points for end in map(point[metric].get, ("min", "max"))
        )
    }


def range_of(point: Mapping[str, Any], metric: str) -> tuple[float, float] | None:
    """The range of a metric's runs at a point, as in `cellyard.statistics.ranges.interval`; ``None`` where undefined."""
    low, high = ("p5", "p95") if has_quantiles(point["runs"]) else ("min", "max")
    found = point[metric]
    return None if found[low] is None else (found[low], found[high])
