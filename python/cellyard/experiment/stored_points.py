"""Collects stored runs at the values of a parameter, for ``cellyard plot``. Nothing is simulated here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellyard.experiment import records
from cellyard.experiment.description.axes import default_name
from cellyard.plot.notes import tcps
from cellyard.results import Totals
from cellyard.results.path import MetricPath, metric_path
from cellyard.scenario.parameters import UNSET, Scenarios, listed_paths
from cellyard.show.columns import as_columns, quantity
from cellyard.store import Store, contents
from cellyard.store.contents import StoredRun
from cellyard.system.errors import UsageError
from cellyard.system.format import common_noun, of_scenario


@dataclass(frozen=True)
class PlotRequest:
    """The request: the metrics ``y`` over the parameter ``x``.

    ``where`` keeps runs by the value of a parameter: one of several if it is repeated, ``none``
    where it is not set. ``scenario`` and ``engine`` keep runs by the scenario's name and the
    engine's build. The default engine is the installed one if it has runs, else the latest in the
    store.
    """

    x: str
    y: Sequence[str]
    where: Sequence[tuple[str, str]] = ()
    scenario: str | None = None
    engine: str | None = None

    def metrics(self) -> dict[str, MetricPath]:
        """The metrics by name: totals, or paths as in experiments. Raises `UsageError`."""
        if not self.y:
            raise UsageError("--y is missing: give a metric to draw, such as efficiency or max(port.*.max_queue_cells)")
        totals = Totals.numbers()
        metrics = {}
        for name in self.y:
            if "." not in name and "(" not in name and name not in totals:
                from cellyard.system.errors import unknown

                raise unknown("--y: metric", name, totals)
            metrics[name] = metric_path(f"totals.{name}" if name in totals else name)
        return metrics


@dataclass
class StoredPoints:
    """The points found: records like those of an experiment's points, the column of the parameter, and notes."""

    axis: str
    metrics: list[str]
    points: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)
    #: What a reader calls a cell of the scenarios.
    noun: str = "cell"
    #: The TCPs of the scenarios.
    tcp: str = ""

    def document(self) -> dict[str, Any]:
        """The data in the form that figures and tables take."""
        runs = sum(int(point["runs"]) for point in self.points)
        return {
            "question": {"kind": "table"},
            "axes": [self.axis],
            "metrics": self.metrics,
            "points": self.points,
            "runs": runs,
        }


def collect(store: Store, request: PlotRequest) -> StoredPoints:
    """The requested runs, at the values of the parameter.

    Raises `UsageError` when there are none, or when runs of one point differ in more than seed and
    replication. Such runs have no meaningful mean.
    """
    notes: list[str] = []
    runs = _runs(store, request, notes)
    hashes = sorted({run.scenario for run in runs})
    scenarios = Scenarios({scenario: contents.scenario_toml(store, scenario) for scenario in hashes})
    runs = _selected(runs, scenarios, request.where)
    scenarios = scenarios.only({run.scenario for run in runs})
    if not request.x:
        raise UsageError(f"--x is missing: give the path of the parameter on the x axis. {scenarios.variation()}")
    metrics = request.metrics()
    values = scenarios.values(request.x, "--x")
    runs_by_value: dict[str, list[StoredRun]] = {}
    for run in runs:
        if (value := values[run.scenario]) is not None:
            runs_by_value.setdefault(value, []).append(run)
    if without := len(runs) - sum(map(len, runs_by_value.values())):
        notes.append(f"{without} of {len(runs)} runs are left out: their scenario has no {request.x}")
    groups = [list({run.scenario for run in group}) for group in runs_by_value.values()]
    differing = scenarios.differing(groups, without=[request.x])
    if differing:
        raise UsageError(
            f"runs at one point also differ in {listed_paths(differing)}; select runs with --where PATH=VALUE "
            f"(--where PATH={UNSET} if it is not set) or --scenario"
        )
    return _points(store, runs_by_value, request.x, metrics, notes)


def _runs(store: Store, request: PlotRequest, notes: list[str]) -> list[StoredRun]:
    """The runs of the scenario and the engine."""
    from cellyard import _engine

    builds = contents.engine_builds(store)
    chosen = [build for build in builds if build.startswith(request.engine)] if request.engine else []
    if request.engine and len(chosen) != 1:
        raise UsageError(
            f"--engine {request.engine}: matches {'several builds' if chosen else 'no build'} in {store.path}; "
            f"available: {', '.join(builds) or 'none'}"
        )
    engine = chosen[0] if chosen else _engine.build() if _engine.build() in builds else next(reversed(builds), None)
    runs = list(store.runs(name=request.scenario, engine=engine)) if engine else []
    if not runs:
        names = sorted({group.name for group in contents.groups(store)})
        of_scenarios = (
            f" of a scenario named {request.scenario}; available: {', '.join(names) or 'none'}"
            if request.scenario
            else ""
        )
        raise UsageError(f"{store.path}: has no runs{of_scenarios}")
    for run in runs:
        contents.check_run(store, run)
    if not request.engine and len(builds) > 1:
        notes.append(f"only runs of engine {engine} are shown; --engine selects another build")
    return runs


def _selected(runs: Sequence[StoredRun], scenarios: Scenarios, where: Sequence[tuple[str, str]]) -> list[StoredRun]:
    """The runs whose scenarios have one of the requested values at each path."""
    selected = list(runs)
    for path in dict.fromkeys(path for path, _ in where):
        values = scenarios.values(path, "--where")
        wanted = [value for option_path, value in where if option_path == path]
        selected = [run for run in selected if any(_matches(values[run.scenario], value) for value in wanted)]
        if not selected:
            present = [
                *sorted({value for value in values.values() if value is not None}),
                *([UNSET] if None in values.values() else []),
            ]
            raise UsageError(f"--where {path}={wanted[0]}: no run has this value; available: {', '.join(present[:8])}")
    return selected


def _matches(value: str | None, wanted: str) -> bool:
    """Whether a value is the requested one: an equal text or quantity, a component's kind, or `UNSET` for none."""
    if value is None:
        return wanted == UNSET
    return (
        value == wanted or value.split(" ")[0] == wanted or (quantity(value) or value) == (quantity(wanted) or wanted)
    )


def _points(
    store: Store,
    runs_by_value: Mapping[str, Sequence[StoredRun]],
    x: str,
    metrics: Mapping[str, MetricPath],
    notes: list[str],
) -> StoredPoints:
    short = x if x.endswith(".count") else default_name(x)
    columns = as_columns([{x if short in metrics else short: value} for value in runs_by_value])
    points = []
    missing = 0
    for values, runs in zip(columns, runs_by_value.values(), strict=True):
        # If a scenario was run both ways, keep only the runs of an ensemble.
        candidates = [run for run in runs if run.replication is not None] or list(runs)
        # Count each replication once: a network may be stored under several names, or with and
        # without probes.
        stored = [((run.seed, run.replication), store.result(run)) for run in candidates]
        results = {replicate: result for replicate, result in stored if result is not None}
        missing += len(dict(stored)) - len(results)
        samples = [{name: path.value_in(result) for name, path in metrics.items()} for result in results.values()]
        if samples:
            points.append({**values, "runs": len(samples), **records.summaries(samples, metrics)})
    if missing:
        notes.append(f"{missing} runs are left out: the store has only a part of their results")
    for metric in metrics:
        unknown = sum("not_known" in point[metric] for point in points)
        if unknown:
            notes.append(
                f"{metric} is not known at {unknown} of {len(points)} points: files did not finish in some runs"
            )
    if not points:
        raise UsageError(
            f"nothing to draw: the store has only a part of the results of {missing} runs"
            if missing
            else "nothing to draw"
        )
    (axis,) = columns[0]
    # Numbers ascend, and words keep the order in which they were run.
    points.sort(key=lambda point: (1, 0) if isinstance(point[axis], str) else (0, point[axis]))
    used = {run.scenario for group in runs_by_value.values() for run in group}
    texts = [contents.canonical_scenario(store, scenario) for scenario in used]
    noun = common_noun(of_scenario(text).noun for text in texts)
    return StoredPoints(axis, list(metrics), points, notes, noun, tcps(texts))
