"""A study as one page: the command ``cellyard study report``."""

from __future__ import annotations

import base64
import sys
from collections.abc import Sequence
from pathlib import Path

from cellyard import plot, provenance
from cellyard.commands import study_files
from cellyard.commands.study_pages import Picture, page, summary
from cellyard.commands.study_run import reproduce
from cellyard.study import Rows, Study, load, select


def command(
    name: str,
    *,
    tables: Sequence[str],
    out: Path,
    overwrite: bool,
    replications: int | None,
    seed: int | None,
    jobs: int | None,
) -> int:
    """Run the study, write its page; returns the exit status."""
    study = load(name)
    rows = select(study, tables)
    origin = provenance.of_command()
    path = out / "index.html"
    with plot.style(), study_files.folder(study, out, origin, overwrite=overwrite) as folder:
        reproduction, status, seconds = reproduce(
            study, rows, replications=replications, seed=seed, jobs=jobs, folder=folder
        )
        if status:
            return status
        document = {**reproduction.to_dict(wall_seconds=seconds), "provenance": origin}
        study_files.write(out, reproduction, document)
        figures = draw(study, reproduction.rows, out)
        chosen = list(dict.fromkeys(tables))
        short = summary(study, reproduction.rows, document, figures, chosen=chosen)
        (out / "README.md").write_text(short, encoding="utf-8")
        path.write_text(page(study, reproduction.rows, document, figures, chosen=chosen), encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)
    print(path)
    return 0


def draw(study: Study, rows: Rows, folder: Path) -> list[Picture]:
    """The figures of the study that ``rows`` suffice for, each also as two files: PNG, and PDF for print."""
    pictures = []
    for drawn in study.part("figures").figures(study, rows):
        path = folder / f"{drawn.name}.png"
        drawn.figure.savefig(path, dpi=160)
        drawn.figure.savefig(path.with_suffix(".pdf"), metadata={"CreationDate": None})
        data = base64.b64encode(path.read_bytes()).decode()
        pictures.append(Picture(drawn.name, drawn.title, drawn.text, data))
    return pictures
