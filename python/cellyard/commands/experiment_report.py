"""An experiment as one page: the command ``cellyard experiment report``."""

from __future__ import annotations

import base64
import sys
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellyard import plot
from cellyard.commands import FAILED, experiment_files, experiment_text
from cellyard.commands.experiment_run import ask, load
from cellyard.experiment.figures import columns_of, figures
from cellyard.experiment.records import counts, range_of, side_by_side
from cellyard.outputs import provenance
from cellyard.outputs.folder import open_store
from cellyard.runs.cluster import asked
from cellyard.show import pages
from cellyard.show.text import RANGE_HEADS, span
from cellyard.system.files import FileSet
from cellyard.system.terminal import printable

#: Rows of a table on the page; all are in the files beside it.
MOST_ROWS = 200


def command(
    path: Path,
    *,
    out: Path | None,
    overwrite: bool,
    store: Path | None,
    on: str | None,
    workers: int | None,
    jobs: int | None,
    memory: str | None,
) -> int:
    """Run the experiment, write its page; returns the exit status."""
    text, experiment = load(path)
    out = out or Path(f"{experiment.name}-report")
    origin = provenance.of_command()
    with (
        plot.style(),
        asked(on, workers, jobs) as cluster,
        experiment_files.folder(experiment, out, origin, overwrite=overwrite) as folder,
    ):
        kept = open_store(folder, store)
        outcome, timing, status = ask(experiment, jobs=jobs, memory=memory, store=kept, cluster=cluster)
        if status:
            return status
        document = {**outcome.to_dict(), "timing": timing, "provenance": origin}

        def add(files: FileSet) -> None:
            experiment_files.add(files, text, outcome, document)
            files.add(
                "index.html", page(document, draw(document, files), text=text, told=f"Base: {experiment.plan.told}")
            )

        if unwritten := folder.publish(add):
            print(experiment_text.text(document))
            print(unwritten, file=sys.stderr)
            return FAILED
    print(printable(str(out / "index.html")))
    return 0


def page(document: Mapping[str, Any], pictures: Sequence[Mapping[str, str]], *, text: str, told: str) -> str:
    """The whole page, its figures inside it."""
    whole = counts(document["points"], document["metrics"])
    tables = [_table(title, records, whole) for title, records in experiment_text.answer_tables(document).items()]
    if document["points"]:
        title = f"points{experiment_text.centres(document['points'])}"
        shown = {**document, "points": side_by_side(document, named=True)}
        tables.append(_table(title, [_point(shown, point, whole) for point in shown["points"]], whole))
    return pages.html("experiment.html", document=document, figures=pictures, tables=tables, text=text, told=told)


def draw(document: Mapping[str, Any], files: FileSet) -> list[dict[str, str]]:
    """The figures, each also as two of ``files``: PNG, and PDF for print."""
    pictures = []
    for drawn in figures(document):
        png = plot.saved(drawn.figure, "png", dpi=160)
        files.add(f"{drawn.name}.png", png)
        files.add(f"{drawn.name}.pdf", plot.saved(drawn.figure, "pdf"))
        data = base64.b64encode(png).decode()
        pictures.append({"name": drawn.name, "title": drawn.title, "text": drawn.text, "data": data})
    return pictures


def _point(document: Mapping[str, Any], point: Mapping[str, Any], whole: Container[str]) -> dict[str, Any]:
    """A point with the mean and the range of each metric."""
    found = {name: point[name] for name in [*columns_of(document), "runs"]}
    for metric in document["metrics"]:
        found[metric] = point[metric]["mean"]
        if point["runs"] > 1:
            head = f"{metric}, {experiment_text.head_of(document['points'])}"
            found[head] = span(range_of(point, metric), is_count=metric in whole)
    return found


def _table(title: str, records: Sequence[Mapping[str, Any]], whole: Container[str]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for record in records for name in record))
    numbers = [
        i
        for i, name in enumerate(names)
        if not any(isinstance(one.get(name), str) for one in records) or name.endswith(RANGE_HEADS)
    ]
    rows = [[experiment_text.shown(record, name, whole) for name in names] for record in records[:MOST_ROWS]]
    return {
        "title": title.capitalize(),
        "names": names,
        "numbers": numbers,
        "rows": rows,
        "more": max(len(records) - MOST_ROWS, 0),
    }
