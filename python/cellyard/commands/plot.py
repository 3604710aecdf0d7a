"""The command ``cellyard plot``: draws stored runs."""

import sys
from collections.abc import Sequence
from pathlib import Path

from cellyard import plot
from cellyard.commands import FAILED, tables
from cellyard.experiment.figures import one_figure
from cellyard.experiment.stored_points import PlotRequest, collect
from cellyard.show.table import Table
from cellyard.show.text import dump
from cellyard.store import open_store
from cellyard.system.errors import unknown
from cellyard.system.files import write_whole
from cellyard.system.terminal import printable


def command(
    path: Path,
    *,
    x: str,
    y: Sequence[str],
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
    with open_store(path) as store, store.snapshot():
        found = collect(store, PlotRequest(x, y, where, scenario, engine))
    document = found.document()
    wanted = {"heading": title, "width": width, "labels": _labels(labels, x, y, found.axis)}
    with plot.style(style):
        content = plot.saved(one_figure(document, noun=found.noun, tcp=found.tcp, **wanted), out.suffix.lstrip("."))
    unwritten = ""
    try:
        write_whole(out, content)
    except OSError as error:
        unwritten = printable(f"{error.filename}: cannot be written: {error.strerror or error}")
    if output_format == "table":
        points = document["points"]
        print(f"points{tables.means_note(points)}:\n{tables.points_table(points, document['metrics'])}")
    else:
        print(
            dump(document) if output_format == "json" else Table.from_records(document["points"]).csv(),
            end="\n" * (output_format == "json"),
        )
    for note in found.notes:
        print(printable(f"note: {note}"), file=sys.stderr)
    print(unwritten or f"wrote {printable(str(out))}", file=sys.stderr)
    return FAILED if unwritten else 0


def _labels(given: Sequence[tuple[str, str]], x: str, y: Sequence[str], axis: str) -> dict[str, str]:
    """The labels by column of the points; raises `UsageError` for one of anything that is not drawn."""
    for name, _ in given:
        if name not in (x, *y):
            raise unknown("--label", name, (x, *y))
    return {axis if name == x else name: text for name, text in given}
