"""Many runs on all cores."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from cellyard.errors import RunError, UsageError, unknown
from cellyard.limits import MOST_JOBS, memory_bytes, whole
from cellyard.spool import in_memory

if TYPE_CHECKING:
    from cellyard.spool import Spool
    from cellyard.store import Store

#: What can be forced on all ports.
KERNELS = ("auto", "arithmetic", "slotted", "twin")

#: How often waiting for a run looks up for an interrupt and tells the progress, in seconds.
POLL_SECONDS = 0.1


class Keep(Protocol):
    """Picks what is stored and yielded of a result."""

    @property
    def identity(self) -> str:
        """Text that is another one when something else would be kept of the same run."""

    def __call__(self, result: dict[str, Any]) -> dict[str, Any]:
        """What is kept of the engine's document of a run."""


@dataclass(frozen=True)
class Job:
    """One run: a scenario in the engine's canonical JSON, the replication that it is, if any, and what is kept (all by default)."""

    scenario: str
    replication: int | None = None
    keep: Keep | None = None

    @cached_property
    def identity(self) -> str:
        """Hash of all that decides what is kept: scenario (seed included), replication, engine down to its sources, `Keep`."""
        import hashlib  # not where nothing is kept

        from cellyard import _engine

        kept = f"\n{self.keep.identity}" if self.keep else ""
        text = f"{self.scenario}\n{self.replication}\n{_engine.build()}{kept}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run: its place in the batch, the engine's document with the points of series as arrays, and what it cost."""

    index: int
    result: dict[str, Any]
    cpu_seconds: float


def all_cores() -> int:
    """Number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def run_jobs(
    jobs: Sequence[Job],
    *,
    threads: int | None = None,
    store: Store | None = None,
    spool: Spool | None = None,
    on_progress: Callable[[float], None] | None = None,
    digest: bool = False,
    kernel: str = "auto",
    memory: str | int | None = None,
) -> Iterator[Finished]:
    """Run ``jobs`` and yield each as it finishes, in any order; closing the iterator cancels the rest.

    ``threads`` defaults to all cores. What ``store`` holds is yielded first and not run again; what
    finishes is appended to it; with a forced kernel, whose point is to run, it is left alone. What probes record goes to ``spool``
    while the runs go on, and is read from there; without one it is held in memory. ``on_progress`` is told several
    times a second how many runs are done, those under way with the share of their simulated time that has passed. ``kernel``
    forces the kernel of all ports (``auto``, ``arithmetic``, ``slotted``, or ``twin`` for the reference engine); it changes no
    number. ``memory`` is what the runs under way may need together by prediction, as bytes or ``"4 GB"``; half of the machine's by default.
    Raises `RunError` when a run fails, and `UsageError` when an argument is out of bounds, the forced kernel cannot
    serve a port, the probes record too much, a run may need too much memory, or more waits somewhere than
    could leave in the time that a run can tell; `cellyard.spool.SpoolError` when ``spool`` cannot be written.
    """
    from cellyard._engine import Batch

    threads = whole("jobs", threads, most=MOST_JOBS)
    limit = memory_bytes(memory)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise unknown("kernel", kernel, KERNELS)
    if kernel != "auto":
        store = None
    todo = []
    for index, job in enumerate(jobs):
        known = store.get(job.identity) if store else None
        if known is None:
            todo.append(index)
        else:
            yield Finished(index, known, 0.0)
    if not todo:
        return
    if any('"probes":[]' not in jobs[index].scenario for index in todo):
        # The engine hands points over as arrays of numpy, and must not be interrupted while it imports that.
        importlib.import_module("numpy")
    work = [(jobs[index].scenario, jobs[index].replication) for index in todo]
    kept = any(jobs[index].keep is None for index in todo)
    hold = spool.hold_bytes if spool else None
    batch = Batch(work, threads or all_cores(), digest=digest, kernel=kernel, memory=limit, kept=kept, hold=hold)
    try:
        while batch.remaining:
            parts, finished = batch.wait(POLL_SECONDS)
            if on_progress:
                on_progress(len(jobs) - len(todo) + batch.progress)
            if spool:
                for place, recorded in parts:
                    spool.add(todo[place], recorded)
            for place, document, error, cpu_seconds in finished:
                index = todo[place]
                if document is None:
                    kind, message = error or ("run", "no result")
                    raise (UsageError if kind == "usage" else RunError)(f"{_label(jobs[index])}: {message}")
                text, recorded, words = document
                result = json.loads(text)
                result = spool.finished(index, result, recorded, words) if spool else in_memory(result, recorded, words)
                if keep := jobs[index].keep:
                    result = keep(result)
                if store:
                    store.add(jobs[index].identity, result, replication=jobs[index].replication)
                yield Finished(index, result, cpu_seconds)
    finally:
        batch.cancel()


def _label(job: Job) -> str:
    name = json.loads(job.scenario).get("name", "run")
    return name if job.replication is None else f"{name}, replication {job.replication}"
