"""The option ``--plot`` of ``cellyard run``: which series, which runs, and the figure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellyard.experiment.grid import Point
from cellyard.runs.batch import Job
from cellyard.runs.expected import outline
from cellyard.scenario import Scenario
from cellyard.system.errors import UsageError
from cellyard.system.terminal import printable

#: First and last second of a plot.
Window = tuple[float | None, float | None]

#: Intervals of the envelope of a queue that no probe of the scenario records.
INTERVALS = 1000


def with_series(points: list[Point]) -> tuple[list[Point], list[str]]:
    """The points, with the queue of the bottleneck recorded if no probe of any records a series, and a note on that."""
    if any(_quantities(point.scenario) for point in points):
        return points, []
    port = _bottleneck(points[0].scenario)
    watched = []
    for point in points:
        envelope = max(round(outline(point.scenario.canonical)["duration_s"] * 1e9 / INTERVALS), 1)
        probes = [
            *point.scenario.to_dict()["probes"],
            {"what": "queue", "of": port, "envelope": f"{envelope} ns"},
        ]
        watched.append(replace(point, scenario=point.scenario.with_values({"probe": probes})))
    return watched, [
        f"no probe records a series, so --plot draws the queue of {port}, which the most VCs share relative to its rate"
    ]


def _bottleneck(scenario: Scenario) -> str:
    """The port that the most VCs share relative to its rate, among those where cells can queue."""
    from cellyard import _engine

    ports = [port for port in json.loads(_engine.describe(scenario.canonical))["ports"] if port["can_queue"]]
    if not ports:
        raise UsageError("--plot draws the series of probes, but no probe records one, and cells can queue at no port")
    return str(max(ports, key=lambda port: port["data_vcs"] / port["mean_rate_bps"])["name"])


def _quantities(scenario: Scenario) -> set[str]:
    """The recorded quantities that have their own panels."""
    from cellyard import plot

    recorded = {probe["what"] for probe in scenario.to_dict()["probes"]} - {"trace", "capture"}
    return set(plot.quantities(recorded).values())


def can_plot(path: Path, points: Sequence[Point], *, runs: int, window: Window) -> None:
    """Raise `UsageError` before anything runs if ``--plot`` has too much data, no matplotlib or no place for its file.

    ``runs`` is the number of runs of each point.
    """
    from cellyard import plot

    every = runs * len(points)
    panels = runs * sum(len(_quantities(point.scenario)) for point in points)
    if every > 1 and panels > plot.MOST_PANELS:
        raise UsageError(
            f"--plot draws at most {plot.MOST_PANELS} panels, but the series of {every} runs have {panels}: "
            "use fewer values of --grid, --replications or probes"
        )
    duration = outline(points[0].scenario.canonical)["duration_s"]
    if window[0] is not None and window[0] >= duration:
        raise UsageError(f"--plot-from {window[0]:g} s: must be before the end of the run ({duration:g} s)")
    plot.can_save(path)


def window(plot: Path | None, start: str | None, end: str | None) -> Window:
    """The plotted time in seconds; raises `UsageError` for an invalid time or an empty window."""
    if not plot and (start is not None or end is not None):
        raise UsageError("--plot-from and --plot-to need --plot FILE")
    first, last = _seconds("--plot-from", start), _seconds("--plot-to", end)
    if last is not None and last <= (first or 0):
        raise UsageError(f"--plot-to {end}: must be after {'--plot-from ' + start if start else '0 s'}")
    return first, last


def _seconds(option: str, text: str | None) -> float | None:
    """Convert a time with a unit to seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+) ?(s|ms|us)", text.strip())
    if not found:
        raise UsageError(f'{option} {text!r}: must be a number from 0 with a unit (s, ms or us), such as "0.5 s"')
    return float(found[1]) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[found[2]]


def _name_of_run(point: Point, job: Job) -> str:
    """Title of the panels of a run: the values of its point, and its replication."""
    replication = [] if job.replication is None else [f"replication {job.replication}"]
    return ", ".join([*point.values.values(), *replication])


def draw(
    path: Path,
    planned: Sequence[tuple[Point, Job]],
    runs: Sequence[Mapping[str, Any]],
    window: Window,
    style: str,
) -> str:
    """Plot the series of finished runs into a file; returns why it could not be written, if so."""
    from cellyard import plot
    from cellyard.results.run import RunResult
    from cellyard.system.files import write_whole

    done = planned[: len(runs)]
    names = [_name_of_run(point, job) for point, job in done]
    try:
        with plot.style(style):
            results = dict(zip(names, map(RunResult, runs), strict=True))
            first, *others = results.values()
            if others:
                figure = plot.over_time({name: result.series for name, result in results.items()}, window=window)
            else:
                figure = plot.over_time(first.series, trace=first.trace, window=window)
            drawn = ", ".join(dict.fromkeys(one.what for one in first.series))
            ports = {one.of for one in first.series}
            title = f"{done[0][0].scenario.name}: {drawn}{f' of {ports.pop()}' if len(ports) == 1 else ''}"
            plot.frame(figure, title, _note(done, envelopes=any(one.statistic for one in first.series)))
            content = plot.saved(figure, path.suffix.lstrip("."))
        write_whole(path, content)
    except UsageError as error:
        return printable(f"{path}: not drawn: {error}")
    except OSError as error:
        return printable(f"{error.filename}: cannot be written: {error.strerror or error}")
    return ""


def _note(done: Sequence[tuple[Point, Job]], *, envelopes: bool) -> str:
    """What a figure is of: runs, their TCPs, and what bands are."""
    from cellyard.plot.notes import tcps

    runs = "one run" if len(done) == 1 else f"{len(done)} runs, one per panel"
    bands = ["lines: means over short intervals, bands: minimum to maximum"] if envelopes else []
    return "; ".join([runs, tcps(job.scenario for _, job in done), *bands])
