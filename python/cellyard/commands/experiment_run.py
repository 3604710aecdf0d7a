"""The command ``cellyard experiment run``: runs an experiment and prints its answer."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from cellyard.commands import FAILED, INTERRUPTED, experiment_files, experiment_text
from cellyard.experiment import reading
from cellyard.experiment.experiment import Experiment, Outcome
from cellyard.experiment.plan import Plan
from cellyard.experiment.questions.question import Question
from cellyard.outputs import provenance
from cellyard.outputs.folder import interrupted_message, open_store, write_failure
from cellyard.runs.cluster import Workers, requested_cluster
from cellyard.scenario import read_text
from cellyard.scenario.file_kind import other_kind
from cellyard.show.table import Table
from cellyard.show.text import dump
from cellyard.study import folder as user_study
from cellyard.system.errors import ExperimentError, UsageError
from cellyard.system.progress import Progress
from cellyard.system.terminal import printable

if TYPE_CHECKING:
    from cellyard.store import Store


def command(
    path: Path,
    *,
    jobs: int | None,
    memory: str | None,
    out: Path | None,
    overwrite: bool,
    store: Path | None,
    on: str | None,
    workers: int | None,
    output_format: str,
) -> int:
    """Run the experiment, write and print its results; returns the exit status."""
    text, experiment = load(path)
    origin = provenance.of_command()
    with (
        requested_cluster(on, workers, jobs) as cluster,
        experiment_files.folder(experiment, out, origin, command="experiment run", overwrite=overwrite)
        if out
        else nullcontext() as folder,
    ):
        run_store = open_store(folder, store)
        outcome, timing, status = run_experiment(experiment, jobs=jobs, memory=memory, store=run_store, cluster=cluster)
        document = {**outcome.to_dict(), "timing": timing, "provenance": origin}
        unwritten = write_failure(run_store)
        if folder and outcome.runs:
            unwritten = folder.publish(lambda files: experiment_files.add(files, text, outcome, document))
    if output_format == "json":
        print(dump(document))
    elif output_format == "csv":
        print(Table.from_records(document["points"]).csv(), end="")
        for note in document["notes"]:
            print(f"note: {note}", file=sys.stderr)
    else:
        print(experiment_text.text(document, None if unwritten else out))
    if unwritten:
        print(unwritten, file=sys.stderr)
    return status or (FAILED if unwritten else 0)


def load(path: Path) -> tuple[str, Experiment]:
    """The text of a description and its experiment. Before code of a user's study runs, prints which."""
    text, plan, question = outline(path)
    if plan.code:
        print(user_study.code_line(plan.code, ["scenario"]), file=sys.stderr)
        plan, question = reading.read_toml(text, str(path), _description_folder(path), run_code=True)
    return text, Experiment.from_plan(plan, question)


def _description_folder(path: Path) -> Path:
    """The folder of a description's files."""
    return Path() if str(path) == "-" else path.parent


def outline(path: Path) -> tuple[str, Plan, Question]:
    """The text of a description, with its plan and question as far as they are known without running code of a user's study."""
    text = read_text(path)
    try:
        return text, *reading.read_toml(text, str(path), _description_folder(path), run_code=False)
    except ExperimentError:
        if message := other_kind(text, "experiment"):
            raise UsageError(printable(f"{path}: {message}")) from None
        raise


def run_experiment(
    experiment: Experiment,
    *,
    jobs: int | None,
    memory: str | None,
    store: Store | None,
    cluster: Workers | None,
) -> tuple[Outcome, dict[str, float], int]:
    """The outcome, timing and exit status; shows progress on standard error."""
    expected = experiment.expected()
    outcome = Outcome(experiment)
    status = 0
    with (
        store or nullcontext(),
        Progress(experiment.name, expected.runs, points=expected.points) as progress,
    ):
        if store and store.note:
            print(f"note: {store.note}", file=sys.stderr)
        engine = experiment.engine(threads=jobs, memory=memory, store=store, progress=progress, options={"on": cluster})
        try:
            outcome.ask(engine)
        except KeyboardInterrupt:
            status = INTERRUPTED
    if status:
        most = "at most " if expected.at_most else ""
        print(interrupted_message(f"{outcome.runs} of {most}{expected.runs} runs finished", store), file=sys.stderr)
    return outcome, {"cpu_seconds": engine.cpu_seconds, "wall_seconds": progress.seconds}, status
