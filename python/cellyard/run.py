"""Many runs on all cores, and a file of finished runs from which an interrupted batch goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TextIO

from cellyard.errors import RunError, UsageError, unknown
from cellyard.limits import MOST_JOBS, whole

#: What can be forced on all ports.
KERNELS = ("auto", "a", "b", "plain")

#: How often waiting for a run looks up for an interrupt, in seconds.
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
        from cellyard import _engine

        kept = f"\n{self.keep.identity}" if self.keep else ""
        text = f"{self.scenario}\n{self.replication}\n{_engine.build()}{kept}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run: its place in the batch, its result as the engine's JSON, and what it cost."""

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
    digest: bool = False,
    kernel: str = "auto",
) -> Iterator[Finished]:
    """Run ``jobs`` and yield each as it finishes, in any order; closing the iterator cancels the rest.

    ``threads`` defaults to all cores. What ``store`` holds is yielded first and not run again; what
    finishes is appended to it; with a forced kernel, whose point is to run, it is left alone. ``kernel`` forces the kernel
    of all ports (``auto``, ``a``, ``b``, or ``plain`` for the reference engine); it changes no number. Raises `RunError` when a
    run fails, and `UsageError` when an argument is out of bounds or the forced kernel cannot serve a port.
    """
    from cellyard._engine import Batch

    whole("jobs", threads, most=MOST_JOBS)
    if kernel not in KERNELS:
        raise unknown("kernel", kernel, KERNELS)
    if kernel != "auto":
        store = None
    todo = []
    for index, job in enumerate(jobs):
        known = store.get(job) if store else None
        if known is None:
            todo.append(index)
        else:
            yield Finished(index, known, 0.0)
    if not todo:
        return
    work = [(jobs[index].scenario, jobs[index].replication) for index in todo]
    batch = Batch(work, threads or all_cores(), digest=digest, kernel=kernel)
    try:
        while batch.remaining:
            for place, text, error, cpu_seconds in batch.wait(POLL_SECONDS):
                index = todo[place]
                if text is None:
                    kind, message = error or ("run", "no result")
                    raise (UsageError if kind == "usage" else RunError)(f"{_label(jobs[index])}: {message}")
                result: dict[str, Any] = json.loads(text)
                if keep := jobs[index].keep:
                    result = keep(result)
                if store:
                    store.add(jobs[index], result)
                yield Finished(index, result, cpu_seconds)
    finally:
        batch.cancel()


def _label(job: Job) -> str:
    name = json.loads(job.scenario).get("name", "run")
    return name if job.replication is None else f"{name}, replication {job.replication}"


class Store(AbstractContextManager["Store"]):
    """Finished runs in a file of JSON lines: appended as they finish, found again by their identity."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._load()
        self._file: TextIO = path.open("a", encoding="utf-8")

    def _load(self) -> None:
        complete = 0
        for number, line in enumerate(self._path.read_bytes().splitlines(keepends=True), 1):
            if not line.endswith(b"\n"):
                break
            try:
                entry = json.loads(line)
                identity, result = entry["identity"], entry["result"]
            except (ValueError, TypeError, KeyError):
                identity = result = None
            if not (isinstance(identity, str) and isinstance(result, dict)):
                raise UsageError(f"{self._path}:{number}: not a finished run; move the file away to start anew")
            self._known[identity] = result
            complete += len(line)
        # A run that was killed while it wrote leaves a torn last line.
        if complete < self._path.stat().st_size:
            os.truncate(self._path, complete)

    def get(self, job: Job) -> dict[str, Any] | None:
        """Result of ``job`` if it was finished before."""
        return self._known.get(job.identity)

    def add(self, job: Job, result: dict[str, Any]) -> None:
        """Append a finished run; it is on its way to the disk when this returns."""
        self._known[job.identity] = result
        entry = {"identity": job.identity, "replication": job.replication, "result": result}
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def writable_folder(path: Path) -> Path:
    """``path`` as a folder that can be written, made if need be; raises `UsageError` and leaves nothing behind."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        trial = path / ".cellyard-trial"
        trial.touch()
        trial.unlink()
    except OSError as error:
        for folder in made:
            if folder.is_dir():
                folder.rmdir()
        raise UsageError(f"{path}: cannot write there: {error.strerror or error}") from None
    return path
