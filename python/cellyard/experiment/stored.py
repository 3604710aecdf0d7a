"""Collects stored runs at the points of some parameters, for ``cellyard plot``. Nothing is simulated here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellyard.experiment import records
from cellyard.experiment.description.axes import default_name
from cellyard.results import Totals
from cellyard.results.path import MetricPath, metric_path
from cellyard.scenario.parameters import UNSET, Scenarios, listed
from cellyard.show.columns import as_columns, quantity
from cellyard.store import Store, contents
from cellyard.store.contents import StoredRun
from cellyard.system.errors import UsageError

#: Limit on drawn parameters: across, down, and panels.
MOST_AXES = 3


@dataclass(frozen=True)
class Asked:
    """The request: the metrics ``y`` over the parameter ``x``, for each value of the parameters ``by``.

    ``where`` keeps runs by the value of a parameter: one of several if it is repeated, ``none``
    where it is not set. ``scenario`` and ``engine`` keep runs by the scenario's name and the
    engine's build. The default engine is the installed one if it has runs, else the latest in the
    store.
    """

    x: str
    y: Sequence[str]
    by: Sequence[str] = ()
    where: Sequence[tuple[str, str]] = ()
    scenario: str | None = None
    engine: str | None = None

    def metrics(self) -> dict[str, MetricPath]:
        """The metrics by name: totals, or paths as in experiments. Raises `UsageError`."""
        if not self.y:
            raise UsageError("--y: say what is drawn, as efficiency, or max(port.*.max_queue_cells)")
        totals = Totals.numbers()
        found = {}
        for name in self.y:
            if "." not in name and "(" not in name and name not in totals:
                from cellyard.system.errors import unknown

                raise unknown("--y: metric", name, totals)
            found[name] = metric_path(f"totals.{name}" if name in totals else name)
        return found


@dataclass
class Points:
    """The points found: records like those of an experiment's points, columns of parameters, and notes."""

    axes: list[str]
    metrics: list[str]
    points: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The data in the form that figures and tables take."""
        runs = sum(int(point["runs"]) for point in self.points)
        return {
            "question": {"kind": "table"},
            "axes": self.axes,
            "metrics": self.metrics,
            "points": self.points,
            "runs": runs,
        }


def gathered(store: Store, asked: Asked) -> Points:
    """The requested runs, at the points of their parameters.

    Raises `UsageError` when there are none, or when runs of one point differ in more than seed and
    replication. Such runs have no meaningful mean.
    """
    if len(asked.by) > MOST_AXES - 1:
        raise UsageError(f"--by: at most {MOST_AXES - 1} parameters, and there are {len(asked.by)}")
    notes: list[str] = []
    runs = _runs(store, asked, notes)
    scenarios = Scenarios(_texts(store, {run.scenario for run in runs}))
    runs = _where(runs, scenarios, asked.where)
    scenarios = scenarios.only({run.scenario for run in runs})
    names = [asked.x, *asked.by]
    if not asked.x:
        raise UsageError(f"--x: missing the path to draw along the x axis. {scenarios.told()}")
    metrics = asked.metrics()
    if len(set(names)) < len(names):
        raise UsageError("--x and --by: each parameter once")
    values = {name: scenarios.values(name, "--x" if name == asked.x else "--by") for name in names}
    at: dict[tuple[str, ...], list[StoredRun]] = {}
    without = 0
    for run in runs:
        place = [values[name][run.scenario] for name in names]
        if None in place:
            without += 1
        else:
            at.setdefault(tuple(str(value) for value in place), []).append(run)
    if without:
        notes.append(f"{without} of {len(runs)} runs are left out: their scenario has no {' or no '.join(names)}")
    mixed = scenarios.differing([list({run.scenario for run in some}) for some in at.values()], without=names)
    if mixed:
        raise UsageError(
            f"runs of one point differ in more: {listed(mixed)}; name them with --by, or choose with --where PATH=VALUE "
            f"(--where PATH={UNSET} where it is not set) or --scenario"
        )
    return _points(store, at, names, metrics, notes)


def _runs(store: Store, asked: Asked, notes: list[str]) -> list[StoredRun]:
    """The runs of the scenario and the engine."""
    from cellyard import _engine

    builds = contents.engines(store)
    chosen = [build for build in builds if build.startswith(asked.engine)] if asked.engine else []
    if asked.engine and len(chosen) != 1:
        raise UsageError(
            f"--engine {asked.engine}: is {'the beginning of several builds' if chosen else 'no build'} of {store.path}; there are: "
            f"{', '.join(builds) or 'none'}"
        )
    engine = chosen[0] if chosen else _engine.build() if _engine.build() in builds else next(reversed(builds), None)
    runs = list(store.runs(name=asked.scenario, engine=engine)) if engine else []
    if not runs:
        names = sorted({group.name for group in contents.groups(store)})
        of = f" of scenarios named {asked.scenario}; there are: {', '.join(names) or 'none'}" if asked.scenario else ""
        raise UsageError(f"{store.path}: holds no runs{of}")
    for run in runs:
        contents.check(store, run)
    if not asked.engine and len(builds) > 1:
        notes.append(f"runs of engine {engine}; those of other builds are left out (--engine)")
    return runs


def _texts(store: Store, hashes: set[bytes]) -> dict[bytes, str]:
    """The scenarios in full, by hash."""
    return {one: contents.toml(store, one) for one in sorted(hashes)}


def _where(runs: Sequence[StoredRun], scenarios: Scenarios, where: Sequence[tuple[str, str]]) -> list[StoredRun]:
    """The runs whose scenarios have one of the requested values at each path."""
    kept = list(runs)
    for path in dict.fromkeys(path for path, _ in where):
        values = scenarios.values(path, "--where")
        wanted = [value for own, value in where if own == path]
        kept = [run for run in kept if any(_is(values[run.scenario], value) for value in wanted)]
        if not kept:
            there = [
                *sorted({value for value in values.values() if value is not None}),
                *([UNSET] if None in values.values() else []),
            ]
            raise UsageError(f"--where {path}={wanted[0]}: no run has it; there are: {', '.join(there[:8])}")
    return kept


def _is(value: str | None, wanted: str) -> bool:
    """Whether a value is the requested one: an equal text or quantity, a component's kind, or `UNSET` for none."""
    if value is None:
        return wanted == UNSET
    return (
        value == wanted or value.split(" ")[0] == wanted or (quantity(value) or value) == (quantity(wanted) or wanted)
    )


def _points(
    store: Store,
    at: Mapping[tuple[str, ...], Sequence[StoredRun]],
    names: Sequence[str],
    metrics: Mapping[str, MetricPath],
    notes: list[str],
) -> Points:
    short = [name if name.endswith(".count") else default_name(name) for name in names]
    told = short if len(set(short)) == len(short) and not set(short) & set(metrics) else list(names)
    columns = as_columns([dict(zip(told, place, strict=True)) for place in at])
    found = []
    missing = 0
    for values, runs in zip(columns, at.values(), strict=True):
        # If a scenario was run both ways, keep only the runs of an ensemble.
        drawn = [run for run in runs if run.replication is not None] or list(runs)
        # Count each replication once: a network may be stored under several names, or with and
        # without probes.
        kept = {(run.seed, run.replication): result for run in drawn if (result := store.result(run)) is not None}
        whole = list(kept.values())
        missing += len({(run.seed, run.replication) for run in drawn}) - len(whole)
        samples = [{name: path.of(result) for name, path in metrics.items()} for result in whole]
        if samples:
            found.append({**values, "runs": len(samples), **records.summed_up(samples, metrics)})
    if missing:
        notes.append(f"{missing} runs are left out: the store has only a part of their results")
    if not found:
        raise UsageError(
            "no run is left to be drawn: the store has only a part of their results" if missing else "no run is left"
        )
    axes = [name for name in found[0] if name != "runs" and name not in metrics]
    found.sort(key=lambda point: [(isinstance(point[name], str), point[name]) for name in axes])
    return Points(axes, list(metrics), found, notes)
