"""Runs a study or an experiment, and prints, writes and reports its results."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from cellyard.commands import FAILED, INTERRUPTED
from cellyard.outputs import provenance
from cellyard.outputs.kept import interrupted_message, write_failure
from cellyard.outputs.options import RunOptions
from cellyard.show.table import Table
from cellyard.show.text import dump
from cellyard.store import Store
from cellyard.system.files import FileSet
from cellyard.system.progress import Progress
from cellyard.system.terminal import printable


class Work(ABC):
    """What a command runs: a study or an experiment."""

    #: Kind of work in words and in the names of commands, and the field of the document that is empty without finished runs.
    kind: ClassVar[str]
    results: ClassVar[str]

    #: Name of the study or experiment, default folder of its report, and expected numbers of runs and points.
    name: str
    report_folder: str
    total: int
    points: int | None = None
    #: Whether fewer runs may be enough.
    at_most: bool = False

    @abstractmethod
    def run(self, engine: Mapping[str, Any], on_progress: Callable[..., None]) -> None:
        """Make the runs; ``engine`` holds further arguments of `cellyard.runs.batch.run_jobs`."""

    @property
    @abstractmethod
    def finished(self) -> str:
        """How much has finished, in words."""

    @abstractmethod
    def document(self, wall_seconds: float) -> dict[str, Any]:
        """The JSON document, with ``notes``."""

    @abstractmethod
    def records(self, document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The records of CSV on standard output."""

    @abstractmethod
    def text(self, document: Mapping[str, Any], out: Path | None) -> str:
        """The text on standard output; ``out`` has the files."""

    @abstractmethod
    def add(self, files: FileSet, document: Mapping[str, Any]) -> None:
        """Add the files of results."""

    @abstractmethod
    def add_report(self, files: FileSet, document: Mapping[str, Any]) -> None:
        """Add the pages of a report and their figures."""


def run(work: Work, options: RunOptions, *, output_format: str = "table", style: str | None = None) -> int:
    """Run the work and print or write its results; returns the exit status. With a ``style`` of figures, writes a report."""
    is_report = style is not None
    out = options.out or (Path(f"{work.report_folder}-report") if is_report else None)
    origin = provenance.of_command()
    with ExitStack() as until_written:
        cluster = until_written.enter_context(options.cluster())
        if style is not None:
            from cellyard import plot

            until_written.enter_context(plot.style(style))
        folder = until_written.enter_context(
            replace(options, out=out).folder(
                command=f"{work.kind} {'report' if is_report else 'run'}",
                holds=f"the {work.kind} {work.name}",
                origin=origin,
            )
        )
        store = options.open_store(folder)
        status, wall_seconds = _simulate(work, store, options.engine(store, cluster))
        if status and is_report:
            return status
        document = {**work.document(wall_seconds), "provenance": origin}
        unwritten = write_failure(store)

        def add(files: FileSet) -> None:
            work.add(files, document)
            if is_report:
                work.add_report(files, document)

        if folder and document[work.results]:
            unwritten = folder.publish(add)
    if is_report and not unwritten:
        print(printable(str(out / "index.html")) if out else "")
        return 0
    if output_format == "json":
        print(dump(document))
    elif output_format == "csv":
        print(Table.from_records(work.records(document)).csv(), end="")
        for note in document["notes"]:
            print(f"note: {note}", file=sys.stderr)
    else:
        print(work.text(document, None if unwritten else out))
    if unwritten:
        print(unwritten, file=sys.stderr)
    return status or (FAILED if unwritten else 0)


def _simulate(work: Work, store: Store | None, engine: Mapping[str, Any]) -> tuple[int, float]:
    """Make the runs with progress on standard error; returns the exit status and the wall time in seconds."""
    status = 0
    with store or nullcontext(), Progress(work.name, work.total, points=work.points, at_most=work.at_most) as progress:
        try:
            work.run(engine, progress.update)
        except KeyboardInterrupt:
            status = INTERRUPTED
    if status:
        print(interrupted_message(work.finished, store), file=sys.stderr)
    return status, progress.seconds
