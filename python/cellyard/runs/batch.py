"""Runs many jobs, on all cores or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from cellyard.results.document import Document
from cellyard.runs.captures import has_captures
from cellyard.runs.identity import Identity
from cellyard.runs.job import Job as Job, RawRun, Update, has_probes, run_label
from cellyard.runs.spool import SpoolError, in_memory
from cellyard.system.errors import CancelledError, CellyardError, RunError, UsageError, unknown
from cellyard.system.limits import MOST_JOBS, memory_bytes, whole
from cellyard.system.values import shown

if TYPE_CHECKING:
    from cellyard.runs.cluster import Workers
    from cellyard.runs.protocols import Cancel, NewRun, RunStore
    from cellyard.runs.spool import Spool

#: Kernels that can be forced on all ports.
KERNELS = ("auto", "arithmetic", "slotted", "twin")

#: Interval at which a waiting batch checks for interrupts and reports progress, in seconds.
POLL_SECONDS = 0.1


#: Number of results derived from stored runs that are stored in one transaction.
PARTS_PER_TRANSACTION = 500


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run: its place in the batch, the engine's document with series as arrays, and its cost."""

    index: int
    result: Mapping[str, Any]
    cpu_seconds: float


def core_count() -> int:
    """Number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def run_jobs(
    jobs: Sequence[Job],
    *,
    threads: int | None = None,
    store: RunStore | None = None,
    spool: Spool | None = None,
    capture_limit: int | None = None,
    on_progress: Callable[[float], None] | None = None,
    digest: bool = False,
    kernel: str = "auto",
    memory: str | int | None = None,
    on: str | Workers | None = None,
    workers: int | None = None,
    cancel: Cancel | None = None,
) -> Iterator[Finished]:
    """Run ``jobs`` and yield each as it finishes, in any order; closing the iterator cancels the rest.

    ``threads`` defaults to all cores. ``cancel``, such as a `threading.Event` of another thread, ends
    the runs within a fraction of a second once it is set. ``on_progress`` is called several times a
    second with the number of finished runs, plus the fractions of simulated time of those in progress.

    Equal jobs run once. Runs that ``store`` holds are yielded first and not repeated, and finished runs
    are added. The store is ignored with a forced kernel, whose purpose is to run, and with a
    digest, which is not stored.

    What probes record goes to ``spool`` during the runs and is read from there. Without a spool it is
    held in memory. With ``capture_limit``, the size limit of each capture in bytes, captures are made
    and go to ``spool``. Runs with captures are made even if ``store`` holds them.

    ``kernel`` forces the kernel of all ports: ``auto``, ``arithmetic``, ``slotted``, or ``twin`` for the
    reference engine. It changes no number. ``memory`` limits the predicted memory of concurrent runs,
    as bytes or ``"4 GB"``; by default it is half of the machine's memory.

    With ``on`` the runs go to a Dask cluster: an address such as ``"tcp://HOST:8786"``, or a
    `cellyard.cluster.Workers`, which several batches may share. With ``workers`` they go to this
    number of processes on this machine.

    Raises `CancelledError` when cancelled, `RunError` when a run fails, and `SpoolError` when
    ``spool`` cannot be written. Raises `UsageError` in these cases:

    * An argument is out of bounds, or a cluster cannot be used.
    * The forced kernel cannot serve a port.
    * The probes record too much, or a run may need too much memory.
    * More traffic waits somewhere than could leave before the latest time of a run (350 000 s).
    """
    threads = whole("jobs", threads, most=MOST_JOBS)
    limit = memory_bytes(memory)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise unknown("kernel", kernel, KERNELS)
    if isinstance(store, (str, PurePath)):
        raise UsageError(f"store = {str(store)!r}: must be an open store, such as cellyard.open_store({str(store)!r})")
    if store is not None and not callable(getattr(store, "add_all", None)):
        raise UsageError(f"store = {shown(store)}: must be an open store, such as that of cellyard.open_store()")
    if on is not None and workers is not None:
        raise UsageError("give either on (the address of a cluster) or workers (their number), not both")
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        raise UsageError(f"cancel = {shown(cancel)}: must be a threading.Event, or an object with a method is_set()")
    if kernel != "auto" or digest:
        store = None

    def is_captured(job: Job) -> bool:
        return capture_limit is not None and has_captures(job.scenario)

    #: For each distinct run, the places in the batch that want it.
    places_of: list[list[int]] = []
    wanted: dict[Identity, list[int]] = {}
    derived: list[NewRun] = []  # of stored runs, to be stored with them
    for index, job in enumerate(jobs):
        if job.identity in wanted:
            wanted[job.identity].append(index)
        elif store and not is_captured(job) and (known := _stored_result(store, job, derived)) is not None:
            yield Finished(index, known, 0.0)
        else:
            places_of.append([index])
            if store or not is_captured(job):
                wanted[job.identity] = places_of[-1]
    if store and derived:
        store.add_all(derived)
    if not places_of:
        return
    todo = [jobs[first] for first, *_ in places_of]
    if any(map(has_probes, todo)):
        _prepare_arrays()
    hold_bytes = spool.hold_bytes if spool else None
    known_count = len(jobs) - sum(map(len, places_of))
    with ExitStack() as until_done:
        if on is None and workers is None:
            source = run_on_threads(
                todo,
                threads or core_count(),
                digest=digest,
                kernel=kernel,
                memory=limit,
                hold=hold_bytes,
                capture_limit=capture_limit,
            )
        else:
            from cellyard.runs.cluster import Workers

            cluster = on if isinstance(on, Workers) else until_done.enter_context(Workers(on, workers))
            task_memory = None if memory is None else limit
            source = cluster.run(todo, digest=digest, kernel=kernel, memory=task_memory)
        until_done.enter_context(closing(source))
        for update in source:
            if on_progress:
                on_progress(known_count + update.progress * (len(jobs) - known_count) / len(todo))
            if spool:
                for place, recorded in update.parts:
                    spool.add(places_of[place][0], recorded)
            done, failed = _results(update.runs, todo, places_of, spool)
            if store and done:
                # Store all in one transaction before reporting any.
                store.add_all([_new_run(todo[run.place], result, run) for run, result in done])
            for run, result in done:
                for index in places_of[run.place]:
                    yield Finished(index, result, run.cpu_seconds if index == places_of[run.place][0] else 0.0)
            if failed:
                raise failed
            if cancel is not None and cancel.is_set():
                raise CancelledError("cancelled")


def check_memory(jobs: Sequence[Job], *, runs: int, memory: str | int | None) -> None:
    """Raise the `UsageError` of `run_jobs` if any of ``jobs``, in a batch of ``runs`` such runs, may need too much memory."""
    from cellyard import _engine

    limit = memory_bytes(memory)
    if limit is None:
        return
    for job in jobs:
        if refusal := _engine.memory_refusal(job.scenario, runs, core_count(), limit):
            raise UsageError(f"{run_label(job)}: {refusal}")


def _results(
    runs: Sequence[RawRun], jobs: Sequence[Job], places: Sequence[Sequence[int]], spool: Spool | None
) -> tuple[list[tuple[RawRun, Mapping[str, Any]]], CellyardError | SpoolError | None]:
    """The results of runs, and the first error. Finished runs are kept before it is raised."""
    done = []
    failed: CellyardError | SpoolError | None = None
    for run in runs:
        try:
            done.append((run, _result(jobs[run.place], run, places[run.place][0], spool)))
        except (CellyardError, SpoolError) as error:
            failed = failed or error
    return done, failed


def _new_run(job: Job, result: Mapping[str, Any], run: RawRun) -> NewRun:
    """Convert a run to what a store keeps of it."""
    from cellyard.runs.protocols import NewRun

    text = run.document[0] if run.document and (not job.keep or not has_probes(job)) else None
    return NewRun(job.identity, result, text, run.cpu_seconds)


def _stored_result(store: RunStore, job: Job, made: list[NewRun]) -> Mapping[str, Any] | None:
    """What the store has of a job. If only the whole run is stored, derives the kept part and adds it to ``made``."""
    found = store.get(job.identity)
    if found is None and job.keep and (all_of_it := store.get(job.identity.whole)) is not None:
        from cellyard.runs.protocols import NewRun

        found = job.keep(all_of_it)
        made.append(NewRun(job.identity, found))
        if len(made) >= PARTS_PER_TRANSACTION:
            store.add_all(made)
            made.clear()
    return found


def _result(job: Job, run: RawRun, index: int, spool: Spool | None) -> Mapping[str, Any]:
    """The kept part of a run; raises `RunError` or `UsageError` when it has failed."""
    if run.document is None:
        kind, message = run.error or ("run", "no result")
        if kind == "usage":
            raise UsageError(f"{run_label(job)}: {message}")
        summary, _, excerpt = message.partition("\n")
        raise RunError(f"{run_label(job)}: {summary}", excerpt)
    text, recorded, words = run.document
    result: Mapping[str, Any] = Document(text)
    result = spool.finished(index, result, recorded, words) if spool else in_memory(result, recorded, words)
    return job.keep(result) if job.keep else result


def _prepare_arrays() -> None:
    """Initialise numpy support of the engine, uninterrupted, since no error can leave that code."""
    from cellyard import _engine
    from cellyard.system import signals

    with signals.deferred():
        _engine.prepare_arrays()


def run_on_threads(
    jobs: Sequence[Job],
    threads: int,
    *,
    digest: bool,
    kernel: str,
    memory: int | None,
    hold: int | None,
    capture_limit: int | None,
) -> Generator[Update]:
    """Run ``jobs`` on threads of this process; closing the iterator cancels what has not finished.

    When interrupted, it yields the runs that have finished before it raises `KeyboardInterrupt`.
    """
    from cellyard._engine import Batch

    work = [(job.scenario, job.replication) for job in jobs]
    kept = any(job.keep is None for job in jobs)
    made = None if capture_limit is None else (capture_limit, [str(job.identity) for job in jobs])
    batch = Batch(work, threads, digest=digest, kernel=kernel, memory=memory, kept=kept, hold=hold, captures=made)
    try:
        interrupt: KeyboardInterrupt | None = None
        while batch.remaining and not interrupt:
            try:
                batch.wait(POLL_SECONDS)
            except KeyboardInterrupt as error:
                interrupt = error
            parts, finished = batch.take()
            yield Update(batch.progress, parts, [RawRun(*run) for run in finished])
        if interrupt:
            raise interrupt
    finally:
        batch.cancel()
