"""The command ``cellyard run``: simulates a scenario, or a grid of variations."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cellyard
from cellyard.commands import FAILED, INTERRUPTED, grid_notes, run_plot, run_text
from cellyard.commands.run_text import mean_and_interval
from cellyard.experiment.grid import Point, expand
from cellyard.outputs.kept import interrupted_message, write_failure
from cellyard.outputs.options import RunOptions
from cellyard.results.transfers import pooled
from cellyard.runs import captures
from cellyard.runs.batch import Job, run_jobs
from cellyard.runs.expected import outline
from cellyard.runs.spool import CapturedFile, Spool, SpoolError
from cellyard.scenario import Scenario
from cellyard.show.table import Table
from cellyard.show.text import dump_pieces
from cellyard.statistics.bounded import ABOVE, BELOW, as_fields, field_value
from cellyard.system.errors import RunError, UsageError
from cellyard.system.format import common_noun, of_scenario
from cellyard.system.progress import Progress
from cellyard.system.terminal import printable

if TYPE_CHECKING:
    from cellyard.outputs.folder import ResultFolder
    from cellyard.store import Store


def command(
    path: Path,
    *,
    overrides: Sequence[tuple[str, str]],
    grid: Sequence[tuple[str, str]],
    options: RunOptions,
    replication: int | None = None,
    output_format: str,
    kernel: str,
    capture_limit: str | None,
    plot: Path | None,
    plot_from: str | None = None,
    plot_to: str | None = None,
    style: str | None = None,
) -> int:
    """Run, write and print; returns the exit status."""
    replications, seed, out = options.replications, options.seed, options.out
    if None not in (replications, replication):
        raise UsageError(
            "--replications and --replication cannot be used together: give the number of runs, or the one replication to run"
        )
    points = expand(path, overrides=overrides, grid=grid, seed=seed, runs_per_point=replications or 1)
    draws: Sequence[int | None] = [replication] if replications is None else range(replications)
    if style and not plot:
        raise UsageError("--style needs --plot FILE")
    window = run_plot.window(plot, plot_from, plot_to)
    watched: list[str] = []
    if plot:
        if kernel == "twin":
            raise UsageError("--plot cannot be used with --kernel twin: omit one of them")
        points, watched = run_plot.with_series(points)
        run_plot.can_plot(plot, points, runs=len(draws), window=window)
    planned = [(point, Job(point.scenario.canonical, draw)) for point in points for draw in draws]
    on_cluster = options.on is not None or options.workers is not None
    limit = _capture_limit(capture_limit, planned, out, kernel=kernel, on_cluster=on_cluster)
    before = watched + grid_notes.notes_before(points, grid)
    before += [note for point in points for note in point.scenario.notes(replicated=draws[0] is not None)]
    _print_notes(before)
    first = points[0].scenario
    # Skip the scenario's text unless it is shown, since making it takes as long as reading it.
    with_origin = out is not None or output_format == "json"
    origin: dict[str, Any] = {}
    if with_origin:
        from cellyard.outputs import provenance

        origin = provenance.of_run(first, overrides, grid, seed)
    with ExitStack() as until_shown:
        cluster = until_shown.enter_context(options.cluster())
        with _folder(options, first, origin) as folder:
            store = options.open_store(folder)
            spool = until_shown.enter_context(Spool(folder.path)) if folder else None
            runs, timing, interrupted = _simulate(
                planned, folder, spool=spool, capture_limit=limit, kernel=kernel, **options.engine(store, cluster)
            )
            if with_origin:  # all of them is written
                runs = [dict(run) for run in runs]
            complete = len(runs) == len(planned)
            results = document(first, runs, replications=replications, complete=complete, timing=timing, origin=origin)
            after = grid_notes.notes_after(first, runs)
            results["notes"] = list(dict.fromkeys(before + after))
            results["summary"] = summary(runs) if with_origin or len(runs) > 1 else []
            captured = _captured(spool, planned) if limit and complete else []
            unwritten = [_publish(folder, results, captured) if folder and runs else write_failure(store)]
        _print_notes(after)
        if plot and runs:
            unwritten.append(run_plot.draw(plot, planned, runs, window, style or "paper"))
        unwritten = [told for told in unwritten if told]
        _show(
            results,
            runs,
            output_format,
            points=points,
            written=[] if unwritten else [printable(str(target)) for target in (out, plot) if target],
        )
    for told in unwritten:
        print(told, file=sys.stderr)
    if interrupted:
        print(interrupted_message(f"{len(runs)} of {len(planned)} runs finished", store), file=sys.stderr)
        return INTERRUPTED
    return FAILED if unwritten else 0


def _show(
    results: Mapping[str, Any],
    runs: Sequence[Mapping[str, Any]],
    output_format: str,
    *,
    points: Sequence[Point],
    written: Sequence[str],
) -> None:
    """Print the results. A table also lists the ``written`` files, and shows more of VCs if the first point has contracts."""
    if output_format == "json":
        for piece in dump_pieces(results):
            sys.stdout.write(piece)
        print()
    elif output_format == "csv":
        from cellyard.commands import run_files

        print(Table.from_records(run_files.records(runs, "runs")).csv(), end="")
    else:
        # Search the text, since parsing is slow. Names cannot contain such quotes.
        first = points[0].scenario.canonical
        contracts = '"contract":{' in first
        fair_shares = '"max_goodput":"fair shares"' in first
        noun = common_noun(of_scenario(point.scenario.canonical).noun for point in points)
        print(run_text.text(results, contracts=contracts, fair_shares=fair_shares, noun=noun))
        last = f"written to {' and '.join(written)}" if written and runs else run_text.unwritten(runs)
        if last:
            print(f"\n{last}")


def _print_notes(notes: Iterable[str]) -> None:
    """Print each note once on standard error."""
    for note in dict.fromkeys(notes):
        print(f"note: {note}", file=sys.stderr)


def _folder(
    options: RunOptions, first: Scenario, origin: Mapping[str, Any]
) -> AbstractContextManager[ResultFolder | None]:
    """The folder of ``--out``, if any. Its content is identified by the scenario's file, regardless of what is set besides."""
    if options.out is None:
        return nullcontext()
    import hashlib

    content = hashlib.sha256(f"run {first.source}".encode()).hexdigest()[:32]
    return options.folder(command="run", holds=f"the scenario {first.name}", content=content, origin=origin)


def _publish(folder: ResultFolder, results: Mapping[str, Any], captured: Sequence[tuple[str, CapturedFile]]) -> str:
    """Write the files of results; returns what could not be written, in words."""
    from cellyard.commands import run_files

    return folder.publish(lambda files: run_files.add(files, results, captured))


def _capture_limit(
    size: str | None,
    planned: Sequence[tuple[Point, Job]],
    out: Path | None,
    *,
    kernel: str,
    on_cluster: bool,
) -> int | None:
    """Return the size limit of a capture file in bytes, or ``None`` without captures. Raises `UsageError` if captures are impossible."""
    limit = captures.limit_bytes(size)
    scenarios = [job.scenario for _, job in planned]
    has_any = any(map(captures.has_captures, scenarios))
    if not has_any and size is None:
        return None
    if has_any and out is None:
        _print_notes(["captures are not written without --out DIR"])
        return None
    captures.check_possible("capture_limit", scenarios, limit=limit, kernel=kernel, on_cluster=on_cluster)
    return limit


def _captured(spool: Spool | None, planned: Sequence[tuple[Point, Job]]) -> list[tuple[str, CapturedFile]]:
    """Return the capture files, and report those that reached the limit."""
    if spool is None:
        return []
    found = list(captures.files(spool, {index: job.scenario for index, (_, job) in enumerate(planned)}))
    for name, captured in found:
        if captured.limited_at_s is not None:
            _print_notes([f"{name} ends at {captured.limited_at_s:g} s, where it reached the size of --capture-limit"])
    return found


def _simulate(
    planned: Sequence[tuple[Point, Job]], folder: ResultFolder | None, *, store: Store | None, **engine: Any
) -> tuple[list[Mapping[str, Any]], dict[str, float], bool]:
    """The finished runs in order, the timing, and whether the command was interrupted; ``engine`` is for `run_jobs`."""
    runs: dict[int, Mapping[str, Any]] = {}
    cpu_seconds = 0.0
    first = planned[0][0].scenario
    simulated = outline(first.canonical)["duration_s"] if len(planned) == 1 else None
    progress = Progress(first.name, len(planned), simulated_seconds=simulated)
    interrupted = False
    try:
        with store or nullcontext(), progress:
            wanted = [job for _, job in planned]
            for finished in run_jobs(wanted, store=store, on_progress=progress.update, **engine):
                values = dict(planned[finished.index][0].values)
                # A copy would decode all of a long document.
                runs[finished.index] = {"set": values, **finished.result} if values else finished.result
                cpu_seconds += finished.cpu_seconds
    except KeyboardInterrupt:  # also after the last run
        interrupted = True
    except SpoolError as error:
        raise RunError(folder.failure_message(error, "probe data") if folder else str(error)) from None
    timing = {"cpu_seconds": cpu_seconds, "wall_seconds": progress.seconds}
    return [runs[index] for index in sorted(runs)], timing, interrupted


def document(
    scenario: Scenario,
    runs: Sequence[Mapping[str, Any]],
    *,
    replications: int | None,
    complete: bool,
    timing: Mapping[str, float],
    origin: Mapping[str, Any],
) -> dict[str, Any]:
    """The JSON document. Everything but ``timing`` and ``provenance`` is reproducible."""
    return {
        "scenario": scenario.name,
        "engine_version": cellyard.version(),
        "seed": scenario.seed,
        "replications": replications,
        "complete": complete,
        "notes": [],
        "runs": runs,
        "summary": [],
        "cells": sum(run["totals"]["cells"] for run in runs),
        "bottleneck_cells": sum(run["totals"]["bottleneck_cells"] for run in runs),
        "timing": timing,
        "provenance": origin,
    }


def summary(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mean of the totals over the runs of each point with its interval, and what their files have together."""
    from cellyard.results.types import Totals

    points: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        points.setdefault(json.dumps(run.get("set", {})), []).append(run)
    found = []
    for values, members in points.items():
        entry: dict[str, Any] = {"set": json.loads(values), "runs": len(members), "mean": {}, "interval": {}}
        for metric in Totals.numbers():
            if metric.endswith((ABOVE, BELOW)):
                continue
            found_values = (field_value(run["totals"].get, metric) for run in members)
            values_of_metric = [value for value in found_values if value is not None]
            centre, ends = mean_and_interval(metric, values_of_metric)
            entry["mean"] |= as_fields(metric, centre)
            entry["interval"][metric] = ends
        found.append({**entry, "files": pooled(members)})
    return found
