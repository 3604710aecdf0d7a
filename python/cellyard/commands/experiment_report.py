"""The command ``cellyard experiment report``: writes an experiment as one page."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellyard import plot
from cellyard.commands import FAILED, experiment_files, experiment_text
from cellyard.commands.experiment_run import load, run_experiment
from cellyard.commands.picture import Picture, add_figure
from cellyard.experiment.figures import figures
from cellyard.outputs import provenance
from cellyard.outputs.folder import open_store
from cellyard.runs.cluster import requested_cluster
from cellyard.show import pages
from cellyard.system.files import FileSet
from cellyard.system.terminal import printable

#: Limit on table rows on the page. The files beside it have all.
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
    style: str,
) -> int:
    """Run the experiment and write its page; returns the exit status."""
    text, experiment = load(path)
    out = out or Path(f"{experiment.name}-report")
    origin = provenance.of_command()
    with (
        plot.style(style),
        requested_cluster(on, workers, jobs) as cluster,
        experiment_files.folder(experiment, out, origin, command="experiment report", overwrite=overwrite) as folder,
    ):
        run_store = open_store(folder, store)
        outcome, timing, status = run_experiment(experiment, jobs=jobs, memory=memory, store=run_store, cluster=cluster)
        if status:
            return status
        document = {**outcome.to_dict(), "timing": timing, "provenance": origin}

        def add(files: FileSet) -> None:
            experiment_files.add(files, text, outcome, document)
            files.add(
                "index.html",
                page(
                    document,
                    draw(document, files, noun=experiment.noun),
                    text=text,
                    base=f"Base: {experiment.plan.base_summary}",
                ),
            )

        if unwritten := folder.publish(add):
            print(experiment_text.text(document))
            print(unwritten, file=sys.stderr)
            return FAILED
    print(printable(str(out / "index.html")))
    return 0


def page(document: Mapping[str, Any], pictures: Sequence[Picture], *, text: str, base: str) -> str:
    """The whole HTML page, figures included."""
    tables = {
        experiment_text.heading(name, document).capitalize(): table
        for name, table in experiment_text.tables(document).items()
    }
    return pages.html(
        "experiment.html", document=document, figures=pictures, tables=tables, most=MOST_ROWS, text=text, base=base
    )


def draw(document: Mapping[str, Any], files: FileSet, *, noun: str) -> list[Picture]:
    """Draw the figures, and add each to ``files``."""
    return [add_figure(files, drawn) for drawn in figures(document, noun=noun)]
