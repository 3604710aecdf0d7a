"""Converts stored runs to frames of polars or pandas: one line per run, VC, port, and so on, with the run's columns first."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cellyard.results import Series, tables
from cellyard.results.numbers import numbers
from cellyard.runs.identity import WHOLE
from cellyard.scenario.parameters import Scenarios
from cellyard.show.columns import quantity
from cellyard.show.frame import LIBRARIES, points_frame
from cellyard.store.contents import (
    StoredRun,
    canonical_scenario,
    check_run,
    check_tables,
    result,
    run_columns,
    runs,
    scenario_toml,
    stored_parts,
)
from cellyard.store.reader import Reader
from cellyard.system.errors import UsageError, unknown
from cellyard.system.format import of_scenario

if TYPE_CHECKING:
    import polars as pl

#: Tables of a store. Points take much space, so they are made only when requested by name.
PARTS = (*(part for part in tables.PARTS if part != "trace"), "kept", "scenarios", "parameters", "series", "trace")
LARGE_PARTS = ("series", "trace")

#: Number of lines converted to a frame at once.
_LINES_PER_FRAME = 20_000


def import_extra(module: str) -> Any:
    """Import the module of an optional package; raises `UsageError` with instructions to install it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise UsageError(f"this needs the package {module}: pip install {module}") from None


def frame(
    store: Reader, part: str, *, library: str = "polars", name: str | None = None, engine: str | None = None
) -> Any:
    """A table of the stored runs, optionally of one scenario name and build of the engine; see `Store.to_frame`."""
    if part not in PARTS:
        raise unknown("table", part, PARTS)
    if library not in LIBRARIES:
        raise unknown("library", library, LIBRARIES)
    made = import_extra(library)
    with store.snapshot():
        check_tables(store)
        chosen = runs(store, name=name, engine=engine)
        if part == "series":
            return _points(store, chosen, library)
        lines = records(store, part, chosen)
        if library == "pandas":
            return made.DataFrame(list(lines))
        return polars_frame(lines)


def polars_frame(lines: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """The lines as one frame with the columns of all."""
    import_extra("polars")
    import polars as pl

    rest = iter(lines)
    frames = []
    while part := list(itertools.islice(rest, _LINES_PER_FRAME)):
        frames.append(pl.DataFrame(part, infer_schema_length=None))
    return _with_dates(pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame())


def _with_dates(found: pl.DataFrame) -> pl.DataFrame:
    """The frame with texts of instants converted to instants."""
    import polars as pl

    return found.with_columns(pl.col("finished_utc").str.to_datetime()) if "finished_utc" in found.columns else found


def records(store: Reader, part: str, runs: Iterable[StoredRun]) -> Iterator[dict[str, Any]]:
    """The lines of a table; raises `UsageError` for damaged data."""
    if part == "scenarios":
        yield from _scenarios(store, runs)
        return
    if part == "parameters":
        yield from _parameters(store, runs)
        return
    for run in runs:
        head = run_columns(store, run)
        if part == "kept":
            for keep in stored_parts(store, run):
                if keep != WHOLE:
                    for path, value in numbers(result(store, run, keep)):
                        yield {**head, "keep": keep.hex(), "path": path, "value": float(value)}
            continue
        found = result(store, run)
        if found is not None:
            for record in tables.records(found, part):
                yield {**head, **record}


def _points(store: Reader, runs: Iterable[StoredRun], library: str) -> Any:
    """A frame with a line for each point of each series, with the columns of run and series first."""
    heads: list[dict[str, Any]] = []
    arrays: dict[str, list[Any]] = {name: [] for name in Series.PARTS}
    for run in runs:
        head = run_columns(store, run)
        for series in (result(store, run) or {"series": ()})["series"]:
            heads.append(head | {key: series.get(key) for key in tables.SERIES})
            for name, values in arrays.items():
                values.append(series[name])
    found = points_frame(heads, arrays, library)
    return _with_dates(found) if library == "polars" else found


def _parameters(store: Reader, runs: Iterable[StoredRun]) -> Iterator[dict[str, Any]]:
    """Differences among the scenarios: a line for each scenario and path, even if a scenario sets nothing there."""
    texts = {run.scenario: run for run in runs}
    for run in texts.values():
        check_run(store, run)
    scenarios = Scenarios({key: scenario_toml(store, key) for key in texts})
    formats = {key: of_scenario(canonical_scenario(store, key)) for key in texts}
    for path in scenarios.varying():
        for key, value in scenarios.values(path, "path").items():
            found = quantity(value, formats[key]) if value is not None else None
            unit, number = found or (None, None)
            yield {
                "scenario": key.hex(),
                "scenario_name": texts[key].name,
                "path": path,
                "value": value,
                "number": None if number is None else float(number),
                "unit": unit,
            }


def _scenarios(store: Reader, runs: Iterable[StoredRun]) -> Iterator[dict[str, Any]]:
    """Each scenario once, with its canonical JSON: times in ticks, rates in bit/s."""
    seen = set()
    for run in runs:
        check_run(store, run)
        if run.scenario not in seen:
            seen.add(run.scenario)
            text = canonical_scenario(store, run.scenario)
            duration = json.loads(text).get("duration")
            yield {
                "scenario": run.scenario.hex(),
                "scenario_name": run.name,
                "seed": run.seed,
                "duration_ticks": duration,
                "canonical": text,
            }
