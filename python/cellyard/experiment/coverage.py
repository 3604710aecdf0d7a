"""What values of an experiment do not cover: cells that did not arrive, VCs without cells, runs without a value."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from cellyard.experiment.description.measure import Derived, Metric
from cellyard.results import RunResult
from cellyard.results.path import MetricPath
from cellyard.show.words import counted, listed, percent
from cellyard.statistics.bounded import Value

#: Word in the names of fields that cover only cells that arrived.
_OF_ARRIVED = "delay"
#: Fields of delays that waiting cells have too.
_OF_HOST = "host_delay"


class Coverage:
    """The largest loss behind each delay, and the runs in which a combination of VCs leaves out some."""

    def __init__(self, metrics: Mapping[str, Metric]) -> None:
        self._delays = {name: delays for name, metric in metrics.items() if (delays := _delays(metric))}
        self._lost: dict[str, float] = {}
        self._incomplete: Counter[str] = Counter()
        self._runs = 0

    def add(self, run: RunResult) -> None:
        """Count a run."""
        self._runs += 1
        for name, paths in self._delays.items():
            parts = [(path, part) for path in paths for part in path.parts_in(run)]
            lost = max((part.cell_loss_ratio for _, part in parts), default=0.0)
            self._lost[name] = max(lost, self._lost.get(name, 0.0))
            self._incomplete[name] += any(getattr(part, path.field) is None for path, part in parts if path.aggregate)

    @property
    def notes(self) -> list[str]:
        """A sentence on lost cells and one on VCs without cells, if any."""
        lossy = [name for name, lost in self._lost.items() if lost]
        found = []
        if lossy:
            most = percent(max(self._lost[name] for name in lossy))
            verb = "covers" if len(lossy) == 1 else "cover"
            found.append(
                f"{listed(lossy)} {verb} only cells that arrived: up to {most} of the cells of the network, a class or a VC were lost"
            )
        for name, count in self._incomplete.items():
            if count:
                runs = counted(self._runs, "run")
                found.append(f"{name} leaves out VCs or classes of which no cell arrived, in {count} of {runs}")
        return found


def _delays(metric: Metric) -> list[MetricPath]:
    parts: Iterable[Metric] = metric.parts.values() if isinstance(metric, Derived) else [metric]
    paths = [part for part in parts if isinstance(part, MetricPath)]
    return [path for path in paths if _OF_ARRIVED in path.field and _OF_HOST not in path.field]


def undefined_runs(metrics: Iterable[str], measured: Iterable[Sequence[Mapping[str, Value]]]) -> list[str]:
    """A sentence on metrics that are undefined in some runs, which means leave out; ``measured`` has the runs of each point."""
    runs = [sample for samples in measured for sample in samples]
    counts = {metric: sum(sample[metric] is None for sample in runs) for metric in metrics}
    parts = [
        f"{metric} in {count} of {counted(len(runs), 'run')}"
        for metric, count in counts.items()
        if 0 < count < len(runs)
    ]
    return [f"means leave out runs in which a metric is undefined: {listed(parts)}"] if parts else []
