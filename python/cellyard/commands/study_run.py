"""The command ``cellyard study run``: simulates rows of a study beside their published values."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from cellyard.commands import FAILED, INTERRUPTED, study_files, study_text
from cellyard.outputs import provenance
from cellyard.outputs.folder import interrupted_message, open_store, write_failure
from cellyard.runs.batch import core_count
from cellyard.runs.cluster import Workers, requested_cluster
from cellyard.runs.expected import outline, seconds
from cellyard.show.table import Table
from cellyard.show.text import dump, rough_time
from cellyard.statistics.difference import FEWEST
from cellyard.study import Study, folder as user_study, load, select
from cellyard.study.reproduce import Reproduction
from cellyard.study.rows import Rows
from cellyard.system.errors import UsageError
from cellyard.system.limits import MOST_RUNS
from cellyard.system.progress import Progress

if TYPE_CHECKING:
    from cellyard.store import Store

#: Work expected to take longer is announced.
LONG_SECONDS = 10.0


def command(
    name: str,
    *,
    tables: Sequence[str],
    where: Sequence[tuple[str, str]],
    replications: int | None,
    seed: int | None,
    jobs: int | None,
    memory: str | None,
    out: Path | None,
    overwrite: bool,
    store: Path | None,
    on: str | None,
    workers: int | None,
    output_format: str,
) -> int:
    """Simulate, print and write; returns the exit status."""
    study = load(name)
    rows = select(study, tables, where)
    print_code_files(study)
    if replications is None and (single := study.info.get("single")):
        replications = FEWEST
        print(f"note: each row has {FEWEST} replications, since in single runs {single}", file=sys.stderr)
    origin = provenance.of_command()
    with (
        requested_cluster(on, workers, jobs) as cluster,
        study_files.folder(study, out, origin, command="study run", overwrite=overwrite)
        if out
        else nullcontext() as folder,
    ):
        run_store = open_store(folder, store)
        reproduction, status, seconds = reproduce(
            study,
            rows,
            replications=replications,
            seed=seed,
            jobs=jobs,
            memory=memory,
            store=run_store,
            cluster=cluster,
        )
        document = {**reproduction.to_dict(wall_seconds=seconds), "provenance": origin}
        unwritten = write_failure(run_store)
        if folder and document["rows"]:
            unwritten = folder.publish(lambda files: study_files.add(files, reproduction, document))
    if output_format == "json":
        print(dump(document))
    elif output_format == "csv":
        print(Table.from_records(study_files.records(document)).csv(), end="")
        for note in document["notes"]:
            print(f"note: {note}", file=sys.stderr)
    else:
        print(study_text.text(study, reproduction, document))
    if unwritten:
        print(unwritten, file=sys.stderr)
    return status or (FAILED if unwritten else 0)


def print_code_files(study: Study) -> None:
    """Before code of a user's folder runs, print its files."""
    if study.is_own:
        print(user_study.code_line(study.folder), file=sys.stderr)


def announce_runs(study: Study, reproduction: Reproduction, jobs: int | None, *, on_threads: bool = True) -> None:
    """Print the expected time of missing runs if it is long, and the number of stored runs."""
    missing = reproduction.missing
    replicated = reproduction.replications is not None
    cpu_seconds = sum(seconds(outline(text), replicated=replicated) * count for text, count in missing.items())
    if cpu_seconds >= LONG_SECONDS:
        runs = sum(missing.values())
        threads = min(jobs or core_count(), runs)
        wall_time = (
            f", {rough_time(cpu_seconds / threads)} on {threads} thread{'s' * (threads > 1)}" if on_threads else ""
        )
        known = reproduction.total - runs
        beside = f" ({known} already stored)" if known else ""
        announcement = f"{runs} run{'s' * (runs > 1)} to make{beside}, about {rough_time(cpu_seconds)} of CPU time in the engine{wall_time}"
        print(f"{study.name}: {announcement}", file=sys.stderr)


def reproduce(
    study: Study,
    rows: Rows,
    *,
    replications: int | None,
    seed: int | None,
    jobs: int | None,
    memory: str | None,
    store: Store | None,
    cluster: Workers | None,
) -> tuple[Reproduction, int, float]:
    """Simulate rows with progress on standard error; returns the reproduction, exit status and wall seconds."""
    if len(rows) * (replications or 1) > MOST_RUNS:
        raise UsageError(
            f"--replications {replications}: {len(rows)} rows with {replications or 1} runs each are more than {MOST_RUNS} runs; "
            "choose fewer rows or replications"
        )
    reproduction = Reproduction(study, rows, replications=replications, seed=1 if seed is None else seed)
    status = 0
    announced = False
    with (
        store or nullcontext(),
        Progress(study.name, reproduction.total) as progress,
    ):
        if store and store.note:
            print(f"note: {store.note}", file=sys.stderr)

        def report(done: float) -> None:
            nonlocal announced
            if not announced:  # what is stored has been told before anything is run
                announced = True
                announce_runs(study, reproduction, jobs, on_threads=cluster is None)
            progress.update(done)

        try:
            for _ in reproduction.advance(threads=jobs, memory=memory, store=store, on=cluster, on_progress=report):
                pass
        except KeyboardInterrupt:
            status = INTERRUPTED
    if status:
        print(interrupted_message(f"{len(reproduction.rows)} of {len(rows)} rows finished", store), file=sys.stderr)
    return reproduction, status, progress.seconds
