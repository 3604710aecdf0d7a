"""What answers say of metrics of which some runs give only bounds, as their files did not finish, or no value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cellyard.experiment.runner import CachedRunner
from cellyard.show.words import counted, listed
from cellyard.statistics.bounded import bounded_runs


def run_longer(metrics: Iterable[str], runner: CachedRunner) -> list[str]:
    """A sentence on the metrics of which some runs give only bounds, if any."""
    parts = _shares(metrics, runner, bounded_runs)
    return (
        [f"Only bounds are known of {listed(parts)}, as files did not finish; run longer: `duration`."] if parts else []
    )


def without_value(metrics: Iterable[str], runner: CachedRunner) -> list[str]:
    """A sentence on the metrics of which some runs give no value, if any."""
    parts = _shares(metrics, runner, lambda runs, metric: sum(run[metric] is None for run in runs))
    return [f"Some runs have no value: {listed(parts)}."] if parts else []


def _shares(metrics: Iterable[str], runner: CachedRunner, count: Callable[[list[Any], str], int]) -> list[str]:
    """For each metric that ``count`` finds in some of the runs, in how many."""
    runs = [sample for samples in runner.cache.values() for sample in samples.values()]
    found = {metric: number for metric in dict.fromkeys(metrics) if (number := count(runs, metric))}
    return [f"{metric} in {number} of {counted(len(runs), 'run')}" for metric, number in found.items()]
