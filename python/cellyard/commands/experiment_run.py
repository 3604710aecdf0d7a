"""An experiment from its description to its answer: the command ``cellyard experiment run``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from cellyard import provenance
from cellyard.commands import FAILED, INTERRUPTED, experiment_files, experiment_text
from cellyard.experiment.experiment import Experiment, Outcome
from cellyard.folder import ResultFolder
from cellyard.progress import Progress
from cellyard.scenario import read_text
from cellyard.text import csv_text, dump


def command(
    path: Path,
    *,
    jobs: int | None,
    memory: str | None,
    out: Path | None,
    overwrite: bool,
    output_format: str,
) -> int:
    """Run, write, print; returns the exit status."""
    text, experiment = load(path)
    origin = provenance.of_command()
    with experiment_files.folder(experiment, out, origin, overwrite=overwrite) if out else nullcontext() as folder:
        outcome, timing, status = ask(experiment, jobs=jobs, memory=memory, folder=folder)
        document = {**outcome.to_dict(), "timing": timing, "provenance": origin}
        unwritten = ""
        if folder and outcome.runs:
            unwritten = folder.publish(lambda files: experiment_files.add(files, text, outcome, document))
    if output_format == "json":
        print(dump(document))
    elif output_format == "csv":
        print(csv_text(document["points"]), end="")
    else:
        print(experiment_text.text(document))
    if unwritten:
        print(unwritten, file=sys.stderr)
    return status or (FAILED if unwritten else 0)


def load(path: Path) -> tuple[str, Experiment]:
    """The text of a description, and the experiment that it describes."""
    text = read_text(path)
    folder = Path() if str(path) == "-" else path.parent
    return text, Experiment.from_toml(text, file=str(path), folder=folder)


def ask(
    experiment: Experiment,
    *,
    jobs: int | None,
    memory: str | None,
    folder: ResultFolder | None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Outcome, dict[str, float], int]:
    """What came out, the time that it took and the exit status, with progress on standard error."""
    expected = experiment.expected()
    outcome = Outcome(experiment)
    status = 0
    with (
        folder.store() if folder else nullcontext() as store,
        Progress(experiment.name, expected.runs, points=expected.points) as progress,
    ):
        if store and store.note:
            print(f"note: {store.note}", file=sys.stderr)
        engine = experiment.engine(threads=jobs, memory=memory, store=store, progress=progress, options=options)
        try:
            outcome.ask(engine)
        except KeyboardInterrupt:
            status = INTERRUPTED
    if status:
        most = "at most " if expected.at_most else ""
        print(f"interrupted: {outcome.runs} of {most}{expected.runs} runs finished", file=sys.stderr)
    return outcome, {"cpu_seconds": engine.cpu_seconds, "wall_seconds": progress.seconds}, status
