"""What the place of a metric in the results says of its numbers. The name that an experiment gives it says nothing."""

from __future__ import annotations

from cellyard.metric_path import MetricPath

_LOWER = ("loss", "delay", "queue", "dropped", "timeouts", "retransmitted", "variation")
_HIGHER = ("efficiency", "fairness", "goodput", "throughput")


def better_of(path: MetricPath) -> str | None:
    """``higher`` or ``lower``, whichever is better of what is measured at a path; ``None`` where it is not plain.

    >>> from cellyard.metric_path import metric_path
    >>> [better_of(metric_path(f"totals.{name}")) for name in ("efficiency", "cell_loss_ratio", "cells")]
    ['higher', 'lower', None]
    >>> better_of(metric_path("vc.loss.goodput_mbps")), better_of(metric_path("port.west->east.dropped_cells.full"))
    ('higher', 'lower')
    """
    measured = (path.field, path.steps[-1].word)  # a part of dropped cells has the bare name of a reason
    if any(word in name for name in measured for word in _LOWER):
        return "lower"
    return "higher" if any(word in name for name in measured for word in _HIGHER) else None
