"""Properties of a metric that follow from its place in the results. The name that an experiment gives it is irrelevant."""

import math
from collections.abc import Mapping, Sequence

from cellyard.experiment.description.expression import UNKNOWN, Condition, Unit
from cellyard.experiment.description.measure import Derived, Metric, RowMetric
from cellyard.results.path import MetricPath
from cellyard.statistics.inference import Estimate, estimate

_LOWER = ("loss", "delay", "queue", "dropped", "timeouts", "retransmitted", "variation", "transfer_s")
_HIGHER = ("efficiency", "fairness", "goodput", "throughput", "finished")
#: Metrics that the scenario states beforehand, so that no run improves them.
_STATED = ("max_goodput_mbps",)
#: Metrics that are fractions, at most 1.
SHARES = ("efficiency", "fairness", "utilisation", "cell_loss_ratio", "frame_loss_ratio")


#: Names of metrics that always cover the whole run, although they look like metrics of the
#: measuring time.
_OF_WHOLE_RUN = ("loss_ratio", "queue", "utilisation")
#: Prefix of port metrics that cover the measuring time.
_OF_MEASURING_TIME = "measured_"


def is_of_whole_run(path: Metric) -> bool:
    """Whether a ratio, a mean or a largest value covers the whole run instead of the measuring time.

    >>> from cellyard.results.path import metric_path
    >>> [is_of_whole_run(metric_path(f"totals.{name}")) for name in ("goodput_mbps", "cell_loss_ratio", "max_queue_cells")]
    [False, True, True]
    >>> [is_of_whole_run(metric_path(f"port.west->east.{name}")) for name in ("utilisation", "measured_utilisation")]
    [True, False]
    """
    if not isinstance(path, MetricPath) or path.field.startswith(_OF_MEASURING_TIME):
        return False
    return any(word in path.field for word in _OF_WHOLE_RUN)


def better_of(path: Metric) -> str | None:
    """``higher`` or ``lower``, whichever is better for the metric at a path; ``None`` if neither is evident.

    >>> from cellyard.results.path import metric_path
    >>> [better_of(metric_path(f"totals.{name}")) for name in ("efficiency", "cell_loss_ratio", "max_goodput_mbps")]
    ['higher', 'lower', None]
    >>> better_of(metric_path("totals.p95_transfer_s")), better_of(metric_path("totals.finished_transfers"))
    ('lower', 'higher')
    >>> better_of(metric_path("vc.loss.goodput_mbps")), better_of(metric_path("port.west->east.dropped_cells.full"))
    ('higher', 'lower')
    """
    if isinstance(path, RowMetric):
        names: tuple[str, ...] = (path.text,)
    elif not isinstance(path, MetricPath) or path.field in _STATED:
        return None
    else:
        names = (path.field, path.steps[-1].word)  # a part of dropped cells has the bare name of a reason
    if any(word in name for name in names for word in _LOWER):
        return "lower"
    return "higher" if any(word in name for name in names for word in _HIGHER) else None


def bounds_of(path: Metric) -> tuple[float, float]:
    """The least and the greatest possible value of a metric; unbounded for a formula.

    No other metric is below 0. Shares are at most 1, unless several are added.

    >>> from cellyard.results.path import metric_path
    >>> [bounds_of(metric_path(text)) for text in ("totals.fairness", "totals.cells", "sum(vc.*.cell_loss_ratio)")]
    [(0.0, 1.0), (0.0, inf), (0.0, inf)]
    """
    if not isinstance(path, MetricPath):
        return -math.inf, math.inf
    is_share = path.field.removeprefix(_OF_MEASURING_TIME) in SHARES
    return 0.0, 1.0 if is_share and path.aggregate != "sum" else math.inf


#: Last words of metrics, with their units.
_UNITS = {
    "s": "s",
    "mbps": "Mb/s",
    "bytes": "bytes",
    "cells": "{}s",
    "frames": "frames",
    "places": "places",
    "segments": "segments",
}


def unit_of(path: Metric, noun: str = "cell") -> str:
    """A blank and the unit of a metric; empty without one, and for a formula. ``noun`` is what a reader calls a cell.

    >>> from cellyard.results.path import metric_path
    >>> [unit_of(metric_path(f"totals.{name}"), "packet") for name in ("p99_transfer_s", "max_queue_cells", "fairness")]
    [' s', ' packets', '']
    """
    name = path.field if isinstance(path, MetricPath) else path.text if isinstance(path, RowMetric) else ""
    _, mark, last = name.rpartition("_")
    return f" {_UNITS[last].format(noun)}" if mark and last in _UNITS else ""


def column_units(metrics: Mapping[str, Metric]) -> dict[str, Unit]:
    """The unit of each metric, as columns have it."""
    return {name: _column_unit(path) for name, path in metrics.items()}


def _column_unit(path: Metric) -> Unit:
    if isinstance(path, Derived):
        return path.formula.unit(column_units(path.parts))
    last = (path.field if isinstance(path, MetricPath) else path.text).rpartition("_")[2]
    return last if last in _UNITS else "" if isinstance(path, MetricPath) else UNKNOWN


def condition_text(text: str, metrics: Mapping[str, Metric], noun: str = "cell") -> str:
    """A condition with the units of its numbers. ``noun`` is what a reader calls a cell."""
    return Condition(text).with_units(column_units(metrics), {unit: word.format(noun) for unit, word in _UNITS.items()})


def mean_of(path: Metric, values: Sequence[float], confidence: float) -> Estimate | None:
    """The mean of a metric with its interval, limited by `within_bounds`."""
    interval = estimate(values, confidence)
    return interval and within_bounds(path, values, interval)


def within_bounds(path: Metric, values: Sequence[float], interval: Estimate) -> Estimate:
    """Limit an interval of a mean to the bounds of the metric, beyond which no mean can be. This keeps its confidence.

    Ignore a bound that a value exceeds. Efficiency exceeds 1 if more is delivered than the
    scenario says is possible.
    """
    if interval.low is None or interval.high is None:
        return interval
    least, most = bounds_of(path)
    low = max(interval.low, least) if min(values) >= least else interval.low
    high = min(interval.high, most) if max(values) <= most else interval.high
    return Estimate(interval.mean, low, high)
