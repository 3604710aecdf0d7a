"""One scenario, or a grid of variations of it, run and printed: the command ``cellyard run``."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellyard.errors import UsageError
from cellyard.limits import MOST_RUNS
from cellyard.progress import Progress
from cellyard.results import Totals, interval, median, whole_count
from cellyard.run import Job, Store, run_jobs, writable_folder
from cellyard.scenario import Scenario, read_text
from cellyard.text import csv_text, dump, table

#: Columns of the summary of several runs.
SUMMARY = (
    "goodput_mbps",
    "efficiency",
    "fairness",
    "cell_loss_ratio",
    "max_queue_cells",
    "retransmitted_segments",
    "timeouts",
)

#: Heads of the columns of dropped cells, where the reason alone would not say it.
REASONS = {"policy": "refused", "link": "lost"}


@dataclass(frozen=True)
class Point:
    """One point of a grid: the values set there, and the scenario they make."""

    values: Mapping[str, str]
    scenario: Scenario


def command(
    path: Path,
    *,
    overrides: Sequence[tuple[str, str]],
    grid: Sequence[tuple[str, str]],
    replications: int | None,
    seed: int | None,
    jobs: int | None,
    out: Path | None,
    output_format: str,
    kernel: str = "auto",
    plot: Path | None = None,
) -> int:
    """Run, print, write; returns the exit status."""
    points = expand(path, overrides=overrides, grid=grid, seed=seed, runs_per_point=replications or 1)
    draws: Sequence[int | None] = [None] if replications is None else range(replications)
    work = [(point, Job(point.scenario.canonical, draw)) for point in points for draw in draws]
    if plot:
        _can_plot(plot, work)
    for note in dict.fromkeys(note for point in points for note in point.scenario.describe()["notes"]):
        print(f"note: {note}", file=sys.stderr)
    runs: dict[int, dict[str, Any]] = {}
    cpu_seconds = 0.0
    status = 0
    folder = writable_folder(out) if out else None
    with (
        Store(folder / "runs.jsonl") if folder else nullcontext() as store,
        Progress(points[0].scenario.name, len(work)) as progress,
    ):
        try:
            for finished in run_jobs([job for _, job in work], threads=jobs, store=store, kernel=kernel):
                values = dict(work[finished.index][0].values)
                runs[finished.index] = {**({"set": values} if values else {}), **finished.result}
                cpu_seconds += finished.cpu_seconds
                progress.update(len(runs))
        except KeyboardInterrupt:
            status = 130
    ordered = [runs[index] for index in sorted(runs)]
    document = {
        "scenario": points[0].scenario.name,
        "engine_version": _version(),
        "seed": points[0].scenario.seed,
        "replications": replications,
        "complete": len(runs) == len(work),
        "runs": ordered,
        "summary": summary(ordered),
        "cells": sum(run["totals"]["cells"] for run in ordered),
        "bottleneck_cells": sum(run["totals"]["bottleneck_cells"] for run in ordered),
        "timing": {"cpu_seconds": cpu_seconds, "wall_seconds": progress.seconds},
    }
    if folder:
        _write(folder, document)
    if plot and ordered:
        _plot(plot, ordered[0])
    if output_format == "json":
        print(dump(document))
    elif output_format == "csv":
        print(csv_text(records(ordered, "runs")), end="")
    else:
        print(_text(document))
        written = [str(target) for target in (folder, plot) if target and ordered]
        last = f"written to {' and '.join(written)}" if written else _unwritten(ordered)
        if last:
            print(f"\n{last}")
    if status:
        print(f"interrupted: {len(runs)} of {len(work)} runs finished", file=sys.stderr)
    return status


def _version() -> str:
    from cellyard import _engine

    return _engine.version()


def expand(
    path: Path,
    *,
    overrides: Sequence[tuple[str, str]] = (),
    grid: Sequence[tuple[str, str]] = (),
    seed: int | None = None,
    runs_per_point: int = 1,
) -> list[Point]:
    """Every combination of the values of ``grid``, checked; raises `UsageError` when there are too many."""
    axes = [[(key, value) for value in split_values(values)] for key, values in grid]
    runs = runs_per_point
    for axis in axes:
        runs *= len(axis)
    if runs > MOST_RUNS:
        raise UsageError(f"--grid and --replications make {runs} runs: at most {MOST_RUNS} in one go")
    varied = [key for key, _ in grid]
    for key in varied:
        if varied.count(key) > 1 or key in [k for k, _ in overrides]:
            raise UsageError(f"--grid '{key}': is set twice, by --grid and --grid or --set")
    if seed is not None and "seed" in [*varied, *(key for key, _ in overrides)]:
        raise UsageError("--seed and a seed in --set or --grid exclude each other")
    text = read_text(path)
    fixed = [*overrides, *([("seed", str(seed))] if seed is not None else [])]
    points = []
    for values in itertools.product(*axes):
        scenario = Scenario.from_toml(text, file=str(path), overrides=[*fixed, *values])
        points.append(Point(dict(values), scenario))
    return points


def split_values(text: str) -> list[str]:
    """Values between commas, but not between those inside quotes, brackets or braces.

    >>> split_values('epd, { policy = "fba", z = 0.5 },"a,b"')
    ['epd', '{ policy = "fba", z = 0.5 }', '"a,b"']
    """
    values, depth, quote, start = [], 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == "," and depth == 0:
            values.append(text[start:place].strip())
            start = place + 1
    values.append(text[start:].strip())
    if "" in values:
        raise UsageError(f"--grid '{text[:60]}': an empty value between commas")
    return values


def summary(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Median and 5 to 95 % range of the totals over the runs of each point."""
    points: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        points.setdefault(json.dumps(run.get("set", {})), []).append(run)
    found = []
    for values, members in points.items():
        entry: dict[str, Any] = {"set": json.loads(values), "runs": len(members), "median": {}, "range": {}}
        for metric, is_count in Totals.numbers().items():
            numbers = [float(run["totals"][metric]) for run in members if run["totals"][metric] is not None]
            entry["median"][metric] = whole_count(median(numbers), is_count=is_count)
            ends = interval(numbers)
            entry["range"][metric] = list(ends) if ends else None
        found.append(entry)
    return found


def records(runs: Sequence[Mapping[str, Any]], part: str) -> list[dict[str, Any]]:
    """A record for each run (its totals), or for each VC, port, class of a port, class or traced drop of each run."""

    def flat(thing: Mapping[str, Any]) -> dict[str, Any]:
        """Without lists, which have a part of their own; `dropped_cells` by reason becomes a column each."""
        record: dict[str, Any] = {}
        for key, value in thing.items():
            if isinstance(value, dict):
                record |= {f"{key}_{name}": inner for name, inner in value.items()}
            elif not isinstance(value, list):
                record[key] = value
        return record

    def things(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        if part == "runs":
            return [run["totals"]]
        if part != "port_classes":
            return list(run[part])
        return [{"port": port["name"], **of_class} for port in run["ports"] for of_class in port["classes"]]

    return [
        {**run.get("set", {}), "replication": run["replication"], **flat(thing)}
        for run in runs
        for thing in things(run)
    ]


def summary_records(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A record for each point of a grid: median and ends of the range of each total."""
    found = []
    for point in points:
        record: dict[str, Any] = {**point["set"], "runs": point["runs"]}
        for metric, value in point["median"].items():
            low, high = point["range"][metric] or (None, None)
            record |= {metric: value, f"{metric}_p5": low, f"{metric}_p95": high}
        found.append(record)
    return found


def _can_plot(path: Path, work: Sequence[tuple[Point, Job]]) -> None:
    """Raise `UsageError` where ``--plot`` has nothing to draw, no way to draw it or nowhere to put it, before anything runs."""
    from cellyard import plot

    if len(work) > 1:
        raise UsageError(
            f"--plot draws the series of one run, and there are {len(work)}: leave out --grid and --replications"
        )
    if not any(probe["what"] != "trace" for probe in work[0][0].scenario.to_dict()["probes"]):
        raise UsageError("--plot draws series, and the scenario has no probe that records one")
    plot.can_save(path)


def _plot(path: Path, run: Mapping[str, Any]) -> None:
    from cellyard import plot
    from cellyard.results import RunResult

    with plot.style():
        plot.over_time(RunResult(run).series).savefig(path)


def _series(runs: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for run in runs:
        head = {**run.get("set", {}), "replication": run["replication"]}
        for series in run["series"]:
            named = {key: series[key] for key in ("what", "of", "class", "vc", "unit")}
            for time_s, value in zip(series["time_s"], series["value"], strict=True):
                yield {**head, **named, "time_s": time_s, "value": value}


def _write(folder: Path, document: Mapping[str, Any]) -> None:
    (folder / "results.json").write_text(dump(document) + "\n", encoding="utf-8")
    runs = document["runs"]
    for part in ("runs", "vcs", "ports", "port_classes", "classes", "trace"):
        _write_csv(folder / f"{part}.csv", records(runs, part))
    _write_csv(folder / "summary.csv", summary_records(document["summary"]))
    _write_csv(folder / "series.csv", list(_series(runs)))


def _write_csv(path: Path, found: Sequence[Mapping[str, Any]]) -> None:
    """Without records there is no file, not even that of an earlier command."""
    if found:
        path.write_text(csv_text(found), encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def _text(document: Mapping[str, Any]) -> str:
    runs = document["runs"]
    if not runs:
        return "no run has finished"
    cost = f"{document['cells'] / 1e6:.1f} million cells, {document['timing']['cpu_seconds']:.2f} s of CPU time"
    if len(runs) == 1:
        return f"{runs[0]['name']}: {runs[0]['duration_s']:g} s simulated, {cost}\n\n{_one(runs[0])}"
    paths = list(runs[0].get("set", {}))
    ranged = document["replications"] is not None
    metrics = [m for m in SUMMARY if document["summary"][0]["median"].get(m) is not None]
    header = [*paths, "runs", *(column for m in metrics for column in ([m, "5-95 %"] if ranged else [m]))]
    rows = []
    for point in document["summary"]:
        row = [*(point["set"][path] for path in paths), point["runs"]]
        for metric in metrics:
            row.append(point["median"][metric])
            if ranged:
                row.append(span(point["range"][metric]))
        rows.append(row)
    return f"{document['scenario']}: {len(runs)} runs, {cost}\n\n{table(header, rows)}"


def span(ends: Sequence[float] | None) -> str:
    """A range as a table shows it.

    >>> span([0.25, 0.5])
    '0.250..0.500'
    """
    if not ends:
        return ""
    return "..".join(
        f"{end:.3f}" if abs(end) < 10 else f"{end:.1f}" if abs(end) < 1000 else f"{end:.0f}" for end in ends
    )


def _unwritten(runs: Sequence[Mapping[str, Any]]) -> str:
    """What the table leaves out and no file got."""
    series = [series for run in runs for series in run["series"]]
    if not series:
        return ""
    points = sum(len(one["value"]) for one in series)
    return (
        f"\n{len(series)} series with {points} points: --out DIR writes them, --plot FILE draws those of a single run\n"
    )


def _one(run: Mapping[str, Any]) -> str:
    totals = run["totals"]
    lines = ["  ".join(f"{m} {_short(totals[m])}" for m in SUMMARY if totals[m] is not None), ""]
    vcs = [
        ("vc", "name"),
        ("from", "from"),
        ("to", "to"),
        ("traffic", "traffic"),
        ("goodput_mbps", "goodput_mbps"),
        ("cells_sent", "cells_sent"),
        ("cells_dropped", "cells_dropped"),
        ("segments", "segments"),
        ("retransmitted", "retransmitted_segments"),
        ("timeouts", "timeouts"),
    ]
    # Seconds would leave one digit of most delays.
    delays = [vc["mean_cell_transfer_delay_s"] for vc in run["vcs"]]
    in_ms = [[None if delay is None else 1e3 * delay] for delay in delays]
    rows = [[vc[k] for _, k in vcs] + delay for vc, delay in zip(run["vcs"], in_ms, strict=True)]
    lines += [table([*(h for h, _ in vcs), "mean_delay_ms"], rows), ""]
    ports = [
        [
            port["name"],
            port["rate_mbps"],
            port["sent_cells"],
            *port["dropped_cells"].values(),
            port["max_queue_cells"],
            port["mean_queue_cells"],
            port["utilisation"],
        ]
        for port in run["ports"]
        if port["can_queue"]
    ]
    if ports:
        reasons = [REASONS.get(reason, reason) for reason in run["ports"][0]["dropped_cells"]]
        head = ["port", "rate_mbps", "sent_cells", *reasons, "max_queue", "mean_queue", "utilisation"]
        lines += [table(head, ports), ""]
    if len(run["classes"]) > 1:
        lines += [table(list(run["classes"][0]), [list(c.values()) for c in run["classes"]]), ""]
    return "\n".join(lines).rstrip()


def _short(value: float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
