"""What answers say of metrics of which some runs give only bounds, because they ended before their files did."""

from __future__ import annotations

from collections.abc import Iterable

from cellyard.experiment.runner import CachedRunner
from cellyard.show.words import counted, listed
from cellyard.statistics.bounded import bounded_runs


def run_longer(metrics: Iterable[str], runner: CachedRunner) -> list[str]:
    """A sentence on the metrics of which some runs give only bounds, if any."""
    runs = [sample for samples in runner.cache.values() for sample in samples.values()]
    found = {metric: count for metric in dict.fromkeys(metrics) if (count := bounded_runs(runs, metric))}
    if not found:
        return []
    parts = [f"{metric} in {count} of {counted(len(runs), 'run')}" for metric, count in found.items()]
    return [f"Only bounds are known of {listed(parts)}, as files did not finish; run longer: `duration`."]
