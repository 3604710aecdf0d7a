"""Collects stored runs at the values of a parameter, for ``cellyard plot``. Nothing is simulated here."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellyard.experiment import records
from cellyard.experiment.description.axes import default_name
from cellyard.plot.notes import tcps
from cellyard.results import RunResult, Totals
from cellyard.results.path import MetricPath, metric_path
from cellyard.results.transfers import durations
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
    if it is not set. ``scenario`` and ``engine`` keep runs by the scenario's name and the
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


@dataclass
class StoredRuns:
    """The runs found at each value of a parameter: its column, the results, how many are missing, and notes."""

    columns: list[dict[str, Any]]
    results: list[list[RunResult]]
    missing: int
    notes: list[str]
    noun: str
    tcp: str

    @property
    def axis(self) -> str:
        """The column of the parameter."""
        (axis,) = self.columns[0]
        return axis

    def check_drawn(self, drawn: Sequence[Any]) -> None:
        """Note missing results; raises `UsageError` if nothing is drawn."""
        if not drawn:
            whole = f": the store has only a part of the results of {self.missing} runs" if self.missing else ""
            raise UsageError(f"nothing to draw{whole}")
        if self.missing:
            self.notes.insert(0, f"{self.missing} runs are left out: the store has only a part of their results")


def collect(store: Store, request: PlotRequest) -> StoredPoints:
    """The requested runs, at the values of the parameter; raises what `find_runs` raises."""
    found = find_runs(store, request)
    metrics = request.metrics()
    points = []
    for values, results in zip(found.columns, found.results, strict=True):
        samples = [{name: path.value_in(result) for name, path in metrics.items()} for result in results]
        if samples:
            points.append({**values, "runs": len(samples), **records.summaries(samples, metrics)})
    found.check_drawn(points)
    for metric in metrics:
        unknown = sum("not_known" in point[metric] for point in points)
        if unknown:
            found.notes.append(
                f"{metric} is not known at {unknown} of {len(points)} points: files did not finish in some runs"
            )
    return StoredPoints(found.axis, list(metrics), points, found.notes, found.noun, found.tcp)


def collect_files(store: Store, request: PlotRequest) -> tuple[StoredRuns, list[dict[str, Any]]]:
    """The requested runs, and for each value of the parameter its label and the durations of its files by run.

    Raises what `find_runs` raises, and `UsageError` when no VC sends a file.
    """
    found = find_runs(store, request, of_metrics=False)
    lines = []
    for values, results in zip(found.columns, found.results, strict=True):
        files = [durations(result.data) for result in results]
        if any(files):
            lines.append({**values, "runs": len(files), "durations": files})
    if not lines and any(found.results):
        raise UsageError("--cdf draws the durations of files, but no VC of these runs sends one (file_size)")
    found.check_drawn(lines)
    return found, lines


def find_runs(store: Store, request: PlotRequest, *, of_metrics: bool = True) -> StoredRuns:
    """The requested runs by the value of the parameter, whose column differs from those of metrics.

    Raises `UsageError` when there are none, when ``of_metrics`` and a metric is unknown, or when runs of
    one point differ in more than seed and replication. Such runs have no meaningful mean.
    """
    notes: list[str] = []
    runs = _runs(store, request, notes)
    hashes = sorted({run.scenario for run in runs})
    scenarios = Scenarios({scenario: contents.scenario_toml(store, scenario) for scenario in hashes})
    runs = _selected(runs, scenarios, request.where)
    scenarios = scenarios.only({run.scenario for run in runs})
    if not request.x:
        raise UsageError(f"--x is missing: give the path of the parameter on the x axis. {scenarios.variation()}")
    if of_metrics:
        request.metrics()  # before errors about the values of the parameter
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
    return _results(store, runs_by_value, request.x, request.y, notes)


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


def _results(
    store: Store, runs_by_value: Mapping[str, Sequence[StoredRun]], x: str, metrics: Collection[str], notes: list[str]
) -> StoredRuns:
    short = x if x.endswith(".count") else default_name(x)
    columns = as_columns([{x if short in metrics else short: value} for value in runs_by_value])
    (axis,) = columns[0]
    found = []
    missing = 0
    for values, runs in zip(columns, runs_by_value.values(), strict=True):
        # If a scenario was run both ways, keep only the runs of an ensemble.
        candidates = [run for run in runs if run.replication is not None] or list(runs)
        # Count each replication once: a network may be stored under several names, or with and
        # without probes.
        stored = {(run.seed, run.replication): store.result(run) for run in candidates}
        results = [result for result in stored.values() if result is not None]
        missing += len(stored) - len(results)
        found.append((values, results))
    # Numbers ascend, and words keep the order in which they were run.
    found.sort(key=lambda pair: (1, 0) if isinstance(pair[0][axis], str) else (0, pair[0][axis]))
    used = {run.scenario for group in runs_by_value.values() for run in group}
    texts = [contents.canonical_scenario(store, scenario) for scenario in used]
    noun = common_noun(of_scenario(text).noun for text in texts)
    return StoredRuns([one for one, _ in found], [runs for _, runs in found], missing, notes, noun, tcps(texts))
