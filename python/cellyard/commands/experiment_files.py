"""Files that ``cellyard experiment run --out`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cellyard.commands.experiment_text import answer_tables
from cellyard.experiment.experiment import Experiment, Outcome
from cellyard.outputs.folder import ResultFolder
from cellyard.show.table import Table, csv_pieces
from cellyard.show.text import dump_pieces
from cellyard.system.files import FileSet


def folder(
    experiment: Experiment, out: Path, origin: Mapping[str, Any], *, command: str, overwrite: bool
) -> ResultFolder:
    """The folder of ``--out``. One folder serves experiments of one name, even if they grow."""
    holds = f"the experiment {experiment.name}"
    return ResultFolder(out, command=command, holds=holds, content=holds, provenance=origin, overwrite=overwrite)


def add(files: FileSet, text: str, outcome: Outcome, document: Mapping[str, Any]) -> None:
    """Add the description, the base scenario, the document as JSON, and CSV files of points, runs and answer tables."""
    files.add("experiment.toml", text)
    files.add("base.toml", outcome.experiment.plan.base.to_toml())
    files.add("results.json", _lines(document))
    files.add("points.csv", Table.from_records(document["points"]).csv())
    files.add("runs.csv", csv_pieces(outcome.records))
    for title, records in answer_tables(document).items():
        files.add(f"{title}.csv", Table.from_records(records).csv())


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    yield from dump_pieces(document)
    yield "\n"
