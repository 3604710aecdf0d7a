"""What answers say of metrics of which some runs give only bounds, as their files did not finish."""

from collections.abc import Iterable

from cellyard.experiment.description.design import Point
from cellyard.runs.runner import CachedRunner
from cellyard.show.words import counted, listed
from cellyard.statistics.bounded import bounded_runs


def run_longer(metrics: Iterable[str], runner: CachedRunner[Point]) -> list[str]:
    """A sentence on the metrics of which some runs give only bounds, if any."""
    runs = [sample for samples in runner.measured.values() for sample in samples.values()]
    bounded = {metric: number for metric in dict.fromkeys(metrics) if (number := bounded_runs(runs, metric))}
    parts = [f"{metric} in {number} of {counted(len(runs), 'run')}" for metric, number in bounded.items()]
    return (
        [f"Only bounds are known of {listed(parts)}, as files did not finish; run longer: `duration`."] if parts else []
    )
