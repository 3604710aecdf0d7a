"""The command ``cellyard plot``: draws stored runs."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellyard import plot
from cellyard.commands import FAILED, run_text, tables
from cellyard.experiment.figures import one_figure
from cellyard.experiment.stored_points import PlotRequest, collect, collect_files
from cellyard.plot.notes import runs
from cellyard.results.transfers import of_files
from cellyard.show.table import Table
from cellyard.show.text import dump
from cellyard.store import Store, open_store
from cellyard.system.errors import UsageError, unknown
from cellyard.system.files import write_whole
from cellyard.system.terminal import printable

#: Name of the durations of files in ``--label``.
TRANSFERS = "transfer_s"


def command(
    path: Path,
    *,
    x: str,
    y: Sequence[str],
    cdf: bool,
    where: Sequence[tuple[str, str]],
    scenario: str | None,
    engine: str | None,
    out: Path,
    style: str,
    title: str | None,
    width: float | None,
    labels: Sequence[tuple[str, str]],
    output_format: str,
) -> int:
    """Draw and write the figure, and print what it shows; returns the exit status."""
    plot.can_save(out)
    if cdf and y:
        raise UsageError(f"--cdf draws the durations of files: leave out --y {y[0]}")
    request = PlotRequest(x, y, where, scenario, engine)
    draw = _draw_files if cdf else _draw_metrics
    with open_store(path) as store, store.snapshot(), plot.style(style):
        drawn, records, text, notes = draw(store, request, title, width, labels)
        content = plot.saved(drawn, out.suffix.lstrip("."))
    unwritten = ""
    try:
        write_whole(out, content)
    except OSError as error:
        unwritten = printable(f"{error.filename}: cannot be written: {error.strerror or error}")
    if output_format == "json":
        print(dump(records))
    elif output_format == "csv":
        print(Table.from_records(records["points"]).csv(), end="")
    else:
        print(text)
    for note in notes:
        print(printable(f"note: {note}"), file=sys.stderr)
    print(unwritten or f"wrote {printable(str(out))}", file=sys.stderr)
    return FAILED if unwritten else 0


#: A figure, its data as a document with ``points``, their table, and notes.
Result = tuple[plot.Drawn, dict[str, Any], str, list[str]]


def _draw_metrics(
    store: Store, request: PlotRequest, title: str | None, width: float | None, labels: Sequence[tuple[str, str]]
) -> Result:
    """Metrics over the parameter."""
    found = collect(store, request)
    document = found.document()
    wanted = {"heading": title, "width": width, "labels": _labels(labels, request, found.axis)}
    drawn = one_figure(document, noun=found.noun, tcp=found.tcp, **wanted)
    points = document["points"]
    text = f"points{tables.means_note(points)}:\n{tables.points_table(points, document['metrics'])}"
    return drawn, document, text, found.notes


def _draw_files(
    store: Store, request: PlotRequest, title: str | None, width: float | None, labels: Sequence[tuple[str, str]]
) -> Result:
    """The distributions of the durations of files at the values of the parameter."""
    found, lines = collect_files(store, request)
    across = _labels(labels, request, found.axis).get(TRANSFERS, "transfer time [s]")
    points = [
        {found.axis: line[found.axis], "runs": line["runs"], **(of_files(line["durations"]) or {})} for line in lines
    ]
    shares = {}
    for line, point in zip(lines, points, strict=True):
        left = f" ({point['unfinished_transfers']} unfinished)" if point["unfinished_transfers"] else ""
        shares[f"{line[found.axis]}{left}"] = [value for run in line["durations"] for value in run]
    heading = title or f"Durations of files by {found.axis}"
    note = "; ".join([runs(point["runs"] for point in points), found.tcp, "files of all VCs and runs together"])
    drawn = plot.distribution(shares, across=across, title=heading, note=note, width=width)
    table = [{"set": {found.axis: point[found.axis]}, "runs": point["runs"], "files": point} for point in points]
    return drawn, {"points": points}, run_text.files_table(table, [found.axis])[0], found.notes


def _labels(given: Sequence[tuple[str, str]], request: PlotRequest, axis: str) -> dict[str, str]:
    """The labels by column of the points; raises `UsageError` for one of anything that is not drawn."""
    names = (request.x, *(request.y or [TRANSFERS]))
    for name, _ in given:
        if name not in names:
            raise unknown("--label", name, names)
    return {axis if name == request.x else name: text for name, text in given}
