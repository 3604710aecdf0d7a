"""Runs as records, and statistics over many runs."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cellyard.experiment.description.measure import Metric
from cellyard.experiment.metric_kind import mean_of
from cellyard.experiment.plan import CONFIDENCE
from cellyard.statistics.bounded import Bounded, Value, as_fields, bounded_runs, lifted
from cellyard.statistics.inference import defined
from cellyard.statistics.ranges import interval, mean
from cellyard.system.errors import unknown


def run_records(
    columns: Sequence[Mapping[str, Any]], measured: Sequence[Mapping[int, Mapping[str, Value]]], form: str
) -> Iterator[dict[str, Any]]:
    """A record for each run (``wide``), or for each metric of each run (``long``)."""
    if form not in ("long", "wide"):
        raise unknown("form", form, ("long", "wide"))
    for values, runs in zip(columns, measured, strict=True):
        for replication in sorted(runs):
            if form == "wide":
                measures = (as_fields(metric, value) for metric, value in runs[replication].items())
                yield {**values, "replication": replication, **dict(itertools.chain(*map(dict.items, measures)))}
                continue
            for metric, value in runs[replication].items():
                number = None if value is None else 1.0 * value
                yield {**values, "replication": replication, "metric": metric, **as_fields("value", number)}


def summaries(
    samples: Sequence[Mapping[str, Value]], metrics: Mapping[str, Metric]
) -> dict[str, dict[str, float | None]]:
    """Mean of each metric over runs with its interval, quantiles and extremes of the runs; ``None`` if undefined.

    Extremes are values of runs, so counts are whole numbers. If only bounds of the metric are known in
    some runs, only bounds of its mean are: ``mean_above`` and ``mean_below``. ``not_known`` is the number
    of such runs.
    """
    summary: dict[str, dict[str, float | None]] = {}
    for metric, path in metrics.items():
        if unknown_runs := bounded_runs(samples, metric):
            summary[metric] = _bounded_summary(samples, metric) | {"not_known": unknown_runs}
            continue
        values = sorted(defined(samples, metric))
        runs: list[Any] = sorted(value for sample in samples if (value := sample[metric]) is not None)
        ends = interval(values) or (None, None)
        centre = mean_of(path, values, CONFIDENCE)
        summary[metric] = {
            "mean": centre and centre.mean,
            "low": centre and centre.low,
            "high": centre and centre.high,
            "p5": ends[0],
            "p95": ends[1],
            "min": runs[0] if runs else None,
            "max": runs[-1] if runs else None,
        }
    return summary


def _bounded_summary(samples: Sequence[Mapping[str, Value]], metric: str) -> dict[str, float | None]:
    """Statistics of a metric of which only bounds are known in some runs, as far as these decide them."""
    values: list[Any] = [value for sample in samples if (value := sample[metric]) is not None]
    low, high = interval(values) or (None, None)
    ends = {"p5": low, "p95": high, "min": lifted(min)(values), "max": lifted(max)(values)}
    known = {name: None if isinstance(value, Bounded) else value for name, value in ends.items()}
    return as_fields("mean", mean(values)) | {"low": None, "high": None} | known


def merge_joint_axes(document: Mapping[str, Any], *, named: bool) -> list[dict[str, Any]]:
    """The points of a document with a single column for axes that vary together.

    The column kept is the first that distinguishes all combinations: of the question's axis, the
    axis with labels, and the others in order. If none does, one column has all values as text. With
    ``named``, only groups that labels name are merged, and not if the question is about another of
    their columns.
    """
    points = [dict(point) for point in document["points"]]
    for group in document.get("together", []):
        columns, label_column, question_column = group["columns"], group["named_by"], group["asked"]
        combinations = len({tuple(point[name] for name in columns) for point in points})
        order = sorted(columns, key=lambda name: (name != question_column, name != label_column))
        merged = next((name for name in order if len({point[name] for point in points}) == combinations), None)
        if not named or (merged and merged == label_column and question_column in (None, label_column)):
            points = [_with_merged_columns(point, columns, merged) for point in points]
    return points


def _with_merged_columns(point: Mapping[str, Any], columns: Sequence[str], merged: str | None) -> dict[str, Any]:
    """The point with only the column ``merged``, or with a combined column, in place of several."""
    name = merged or ", ".join(columns)
    value = point[merged] if merged else ", ".join(str(point[name]) for name in columns)
    return {name if key in columns else key: value if key in columns else other for key, other in point.items()}


def count_metrics(points: Sequence[Mapping[str, Any]], metrics: Iterable[str]) -> set[str]:
    """The metrics that are counts in every run of the points."""
    return {
        metric
        for metric in metrics
        if all(
            end is None or isinstance(end, int) for point in points for end in map(point[metric].get, ("min", "max"))
        )
    }


def interval_of(point: Mapping[str, Any], metric: str) -> tuple[float, float] | None:
    """The confidence interval of a metric's mean at a point; ``None`` if it has none, as when all runs are equal."""
    low, high = (point[metric][end] for end in ("low", "high"))
    return None if None in (low, high) else (low, high)
