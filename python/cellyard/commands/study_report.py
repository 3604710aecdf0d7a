"""The command ``cellyard study report``: writes a study as one page."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cellyard import plot
from cellyard.commands import FAILED, study_files, study_text
from cellyard.commands.picture import Picture, add_figure
from cellyard.commands.study_pages import page, summary
from cellyard.commands.study_run import print_code_files, reproduce
from cellyard.outputs import provenance
from cellyard.outputs.folder import open_store
from cellyard.plot import rows as plot_rows
from cellyard.runs.cluster import requested_cluster
from cellyard.study import Study, load, select
from cellyard.study.rows import Rows
from cellyard.system.files import FileSet
from cellyard.system.progress import LINE_SECONDS
from cellyard.system.terminal import printable


def command(
    name: str,
    *,
    tables: Sequence[str],
    where: Sequence[tuple[str, str]],
    out: Path | None,
    overwrite: bool,
    store: Path | None,
    on: str | None,
    workers: int | None,
    replications: int | None,
    seed: int | None,
    jobs: int | None,
    memory: str | None,
    style: str,
) -> int:
    """Run the study and write its page; returns the exit status."""
    study = load(name)
    rows = select(study, tables, where)
    out = out or Path(f"{Path(name).absolute().name}-report")
    print_code_files(study)
    origin = provenance.of_command()
    path = out / "index.html"
    with (
        requested_cluster(on, workers, jobs) as cluster,
        plot.style(style),
        study_files.folder(study, out, origin, command="study report", overwrite=overwrite) as folder,
    ):
        run_store = open_store(folder, store)
        reproduction, status, seconds = reproduce(
            study,
            rows,
            replications=replications or study.replications,
            seed=seed,
            jobs=jobs,
            memory=memory,
            store=run_store,
            cluster=cluster,
        )
        if status:
            return status
        document = {**reproduction.to_dict(wall_seconds=seconds), "provenance": origin}
        chosen = [f"--table {table}" for table in dict.fromkeys(tables)]
        chosen += [f"--where {key}={value}" for key, value in where]

        def add(files: FileSet) -> None:
            study_files.add(files, reproduction, document)
            watched = replace(study, seed=reproduction.seed, jobs=jobs, memory=memory, on=cluster)
            figures = draw(watched, reproduction.rows, files)
            undrawn = undrawn_note(study, len(figures)) if chosen else ""
            files.add("README.md", summary(study, reproduction.rows, document, figures, undrawn=undrawn, chosen=chosen))
            files.add("index.html", page(study, reproduction.rows, document, figures, undrawn=undrawn, chosen=chosen))

        if unwritten := folder.publish(add):
            print(study_text.text(study, reproduction, document))
            print(unwritten, file=sys.stderr)
            return FAILED
    print(printable(str(path)))
    return 0


def draw(study: Study, rows: Rows, files: FileSet) -> list[Picture]:
    """Draw the figures for which ``rows`` suffice, and add each to ``files``."""
    pictures = []
    started = last_line = time.monotonic()
    drawings = list(plot_rows.drawings(study, rows))
    for drawing in drawings:
        pictures.append(add_figure(files, drawing()))
        if time.monotonic() - last_line >= LINE_SECONDS:
            last_line = time.monotonic()
            far = f"{len(pictures)} of {len(drawings)} figures drawn"
            print(f"{study.name}: {far}, {last_line - started:.0f} s", file=sys.stderr)
    return pictures


def undrawn_note(study: Study, drawn: int) -> str:
    """A sentence that only some figures were drawn; empty when all were."""
    anything = dict.fromkeys(study.measures.names, 0.0)
    rows = Rows(replace(row, simulated=anything) for table in study.tables.values() for row in table.rows)
    of_all = len(list(plot_rows.drawings(study, rows)))
    return (
        f"{drawn or 'None'} of the study's {of_all} figures: {'the others' if drawn else 'all'} show rows that were not run."
        if drawn < of_all
        else ""
    )
