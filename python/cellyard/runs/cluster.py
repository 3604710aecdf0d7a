"""Runs batches on a Dask cluster, with tasks of about a second of work. Only the client stores finished runs."""

import itertools
import logging
import multiprocessing
import queue
import sys
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from cellyard.runs.expected import outline, seconds
from cellyard.runs.job import Job, RawRun, Update, run_label
from cellyard.system.errors import RunError, UsageError
from cellyard.system.limits import MOST_WORKERS, memory_bytes, whole
from cellyard.system.values import shown

#: Time in which an existing cluster must answer and have a worker.
ANSWER_SECONDS = 10.0

#: Time in which a local cluster must start, even on a busy machine.
START_SECONDS = 120.0

#: Time without any worker after which a cluster is given up. Workers may need it to restart.
LOST_SECONDS = 60.0

#: Expected work of a task, and limit on its runs.
TASK_SECONDS, TASK_RUNS = 1.0, 1000

#: Least expected time of a run, in seconds.
LEAST_SECONDS = 1e-3

#: Number of tasks that wait for each thread of the cluster, besides the running one.
QUEUED_TASKS = 1

#: Interval in seconds at which the client polls for finished tasks, and a worker checks that its
#: task is still wanted.
POLL_SECONDS = 0.1

#: Result of a task: the build of the worker's engine, and its runs as place, document, error, CPU
#: seconds. A different engine returns no runs.
TaskResult = tuple[str, "list[tuple[int, Any, tuple[str, str] | None, float]]"]


def run_task(build: str, runs: Sequence[tuple[str, int | None]], options: dict[str, Any]) -> TaskResult:
    """On a worker: make ``runs``, unless its engine differs from ``build`` or they are no longer wanted."""
    from distributed import get_worker

    from cellyard._engine import Batch, build as build_here

    if build_here() != build:
        return build_here(), []
    if any('"probes":[]' not in scenario for scenario, _ in runs):
        import numpy  # noqa: F401  # the engine hands points over as its arrays
    worker = get_worker()
    key = worker.get_current_task()
    memory = options["memory"] or _memory_per_thread(worker)
    batch = Batch(runs, 1, digest=options["digest"], kernel=options["kernel"], memory=memory, kept=True, hold=None)
    found: list[tuple[int, Any, tuple[str, str] | None, float]] = []
    try:
        while batch.remaining:
            batch.wait(POLL_SECONDS)
            found += batch.take()[1]
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled":  # its client has gone, or gone on without it
                break
    finally:
        batch.cancel()
    return build, found


def _memory_per_thread(worker: Any) -> int | None:
    """The memory that a thread of a worker may use: its share of half of the worker's memory."""
    limit = memory_bytes(None)
    worker_limit = worker.memory_manager.memory_limit
    most = min(size for size in (limit, worker_limit and worker_limit // 2) if size) if limit or worker_limit else None
    return most and max(most // worker.state.nthreads, 1)


def _build() -> str:
    """On a worker: return the build of its engine."""
    from cellyard import _engine

    return _engine.build()


@dataclass(frozen=True)
class _Task:
    """Runs that are made together, by their places, or a single suspected run."""

    places: list[int]
    alone: bool = False


#: Advice on what a script that starts workers needs.
_GUARD_ADVICE = ', with its code under `if __name__ == "__main__":`'

#: Changes of Dask's defaults for a cluster on this machine.
_LOCAL_CONFIG = {
    "distributed.worker.profile.enabled": False,  # a hundred looks a second at what Python does
    "distributed.deploy.lost-worker-timeout": "1 day",  # a worker that is not back within 15 s would never come back
    "distributed.scheduler.allowed-failures": 1,  # tries of a task after its first worker was lost
}


class Workers(AbstractContextManager["Workers"]):
    """A Dask cluster: an existing one at ``on``, such as ``tcp://HOST:PORT``, or ``number`` workers of one thread each on this machine.

    The existing cluster is contacted at once; the local one is started by the first run. Raises
    `UsageError` when none answers within `ANSWER_SECONDS`, when it has no workers, and when a
    worker has another engine. Closing leaves an existing cluster as it was.
    """

    #: Whether to announce on standard error that workers are starting, which takes seconds.
    announces = False

    def __init__(self, on: str | None = None, number: int | None = None) -> None:
        self.number = whole("workers", number, most=MOST_WORKERS)
        if (on is None) == (self.number is None):
            raise UsageError(
                "exactly one of on (the address of a cluster) and number (of workers to start) is required"
            )
        self.name = on if on is not None else f"{self.number} worker{'s' * (self.number != 1)}"
        self._client: Any = None
        self._cluster: Any = None
        self._config: Any = nullcontext()
        distributed = _distributed()
        if on is not None:
            if not isinstance(on, str) or "://" not in on:
                raise UsageError(f"on = {shown(on)}: must be the address of a Dask scheduler, such as tcp://HOST:8786")
            self._client = self._connect(distributed, on)
            self._check_workers()

    def _connect(self, distributed: Any, address: Any) -> Any:
        client = distributed.Client.__new__(distributed.Client)
        try:
            if isinstance(address, str):
                _await_greeting(distributed, address)
            client.__init__(address, timeout=ANSWER_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError, KeyError) as error:
            client.status = "closed"  # or it complains when it is forgotten
            silent = f"no cluster answers within {ANSWER_SECONDS:.0f} s; check the address, and that its scheduler runs"
            why = silent if isinstance(error, OSError) else str(error)
            raise UsageError(f"{self.name}: {why}") from None
        return client

    def _check_workers(self) -> None:
        """Raise `UsageError` unless there are workers, all with this engine."""
        try:
            self._client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError:
            self.close()
            raise UsageError(f"{self.name}: the cluster has no workers; start at least one") from None
        builds = self._client.run(_build, on_error="return")
        for address, build in builds.items():
            if build != _build():
                self.close()
                raise UsageError(_other_engine(address, build))

    @property
    def client(self) -> Any:
        """The client of the cluster. Starts the local cluster if necessary."""
        if self._client is None:
            distributed = _distributed()
            import dask

            self._check_script()
            if self.announces:
                print(f"starting {self.name}", file=sys.stderr)
            self._config = dask.config.set(_LOCAL_CONFIG)
            with _no_interrupts_for_workers(), self._explain_start_errors():
                self._cluster = distributed.LocalCluster(
                    n_workers=self.number,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                    host="127.0.0.1",
                )
            self._client = self._connect(distributed, self._cluster)
            self._client.wait_for_workers(self.number, timeout=START_SECONDS)
        return self._client

    def _check_script(self) -> None:
        """Raise `UsageError` if the script that starts workers is not a file, since each worker executes it first."""
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            # A worker gets here while it starts if the script has no guard. The client reports
            # that.
            raise SystemExit(1)
        script = str(getattr(sys.modules["__main__"], "__file__", ""))
        if script.startswith("<"):
            raise UsageError(
                f"{self.name}: workers run the script that starts them, but {script} is not a file: save it as a file{_GUARD_ADVICE}"
            )

    @contextmanager
    def _explain_start_errors(self) -> Iterator[None]:
        """In the block, Dask's error that no worker started becomes a `UsageError` with the most likely cause."""
        try:
            yield
        except RuntimeError as error:
            raise UsageError(
                f"{self.name}: the workers did not start ({str(error).rstrip('.')}); "
                f"a script that starts workers must be a file{_GUARD_ADVICE}"
            ) from None

    def close(self) -> None:
        """Cancel outstanding tasks, and end the workers that were started."""
        client, cluster = self._client, self._cluster
        self._client = self._cluster = None
        for part in (client, cluster):
            if part is not None:
                with suppress(OSError, TimeoutError):
                    part.close()
        config, self._config = self._config, nullcontext()
        config.__exit__(None, None, None)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, jobs: Sequence[Job], *, digest: bool, kernel: str, memory: int | None) -> Generator[Update]:
        """Run ``jobs`` and yield news of finished ones; closing the iterator cancels the rest.

        Dask moves the runs of a lost worker to others. It gives up a task whose workers were lost
        too often. Each run of such a task is then tried alone, when no other is in progress, and is
        given up if Dask gives up again. At the end, raises `RunError` with the names of these
        runs. Also raises it when all workers are gone for `LOST_SECONDS`.
        """
        flight = _BatchOnCluster(self.client, jobs, {"digest": digest, "kernel": kernel, "memory": memory})
        try:
            while flight.remaining:
                flight.submit()
                runs = flight.completed_runs()
                yield Update(float(flight.done), (), runs)
        finally:
            flight.cancel()
        if flight.given_up:
            raise RunError(flight.given_up_message())


class _BatchOnCluster:
    """The tasks of one batch of runs, in progress on a cluster."""

    def __init__(self, client: Any, jobs: Sequence[Job], options: dict[str, Any]) -> None:
        self._client = client
        self._jobs = jobs
        self._options = options
        self._seconds = _expected_seconds(jobs)
        self._waiting = deque(range(len(jobs)))
        #: Runs of tasks that were given up. Each runs alone, after all others.
        self._suspects: deque[int] = deque()
        self._submitted: dict[Any, _Task] = {}
        self._completed: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._workers_seen_at = time.monotonic()
        self._threads = 1
        self._threads_read_at = 0.0
        self.given_up: list[int] = []
        self.done = 0

    @property
    def remaining(self) -> bool:
        """Whether runs are in progress or waiting."""
        return bool(self._submitted or self._waiting or self._suspects)

    def submit(self) -> None:
        """Submit enough tasks to keep all workers busy."""
        self._read_threads()
        while self._waiting and len(self._submitted) < self._threads * (1 + QUEUED_TASKS):
            self._submit_task(_Task(self._next_places()))
        if self._suspects and not self._submitted:
            self._submit_task(_Task([self._suspects.popleft()], alone=True))

    def _next_places(self) -> list[int]:
        """The next runs that take `TASK_SECONDS` together, or fewer if that would leave workers idle."""
        first = itertools.islice(self._waiting, self._threads * TASK_RUNS)
        left = sum(self._seconds[place] for place in first)
        seconds = min(TASK_SECONDS, left / (self._threads * (1 + QUEUED_TASKS)))
        places: list[int] = []
        taken = 0.0
        while self._waiting and len(places) < TASK_RUNS:
            taken += self._seconds[self._waiting[0]]
            if places and taken > seconds:
                break
            places.append(self._waiting.popleft())
        return places

    def _submit_task(self, task: _Task) -> None:
        runs = [(self._jobs[place].scenario, self._jobs[place].replication) for place in task.places]
        future = self._client.submit(run_task, _build(), runs, self._options, pure=False)
        self._submitted[future] = task
        future.add_done_callback(self._completed.put)

    def completed_runs(self) -> list[RawRun]:
        """The runs of tasks finished since the last call; waits briefly for the first. Raises `UsageError` and `RunError`."""
        heard = []
        with suppress(queue.Empty):
            heard.append(self._completed.get(timeout=POLL_SECONDS))
            while True:
                heard.append(self._completed.get_nowait())
        self._check_alive()
        runs: list[RawRun] = []
        for future, done in self._fetch([future for future in heard if future.status == "finished"]):
            runs += self._runs_of(self._submitted.pop(future), done)
        for future in heard:
            if future in self._submitted:
                self._handle_failure(self._submitted.pop(future), future)
        return runs

    def _fetch(self, futures: list[Any]) -> Iterator[tuple[Any, TaskResult]]:
        """Results of tasks, fetched together. If that fails, fetches them one by one and skips those lost meanwhile."""
        if not futures:
            return
        try:
            yield from zip(futures, self._client.gather(futures), strict=True)
        except Exception:  # anything that a lost worker made of its task
            for future in futures:
                with suppress(Exception):
                    yield future, future.result()

    def _runs_of(self, task: _Task, done: TaskResult) -> Iterator[RawRun]:
        build, found = done
        if build != _build():
            raise UsageError(_other_engine("a worker", build))
        for place, document, error, cpu_seconds in found:
            self.done += 1
            yield RawRun(task.places[place], document, error, cpu_seconds)
        rest = set(range(len(task.places))) - {place for place, *_ in found}
        self._waiting.extendleft(task.places[place] for place in sorted(rest, reverse=True))

    def _handle_failure(self, task: _Task, future: Any) -> None:
        """Handle a task whose workers were lost, or that was cancelled from outside."""
        if future.status in ("finished", "lost", "pending"):  # what it gave was lost with the worker that held it
            self._waiting.extendleft(reversed(task.places))
            return
        error = future.exception() if future.status == "error" else None
        if error is None:  # forgotten by the scheduler
            raise RunError("the cluster has dropped tasks of this command; finished runs are kept")
        if type(error).__name__ != "KilledWorker":
            raise RunError(f"a worker of the cluster failed: {type(error).__name__}: {error}")
        if task.alone:
            self.given_up += task.places
            self.done += 1
        else:
            self._suspects.extend(task.places)

    def _read_threads(self) -> None:
        """Update the number of threads of the cluster from time to time."""
        if time.monotonic() - self._threads_read_at > 1.0:
            self._threads_read_at = time.monotonic()
            threads = 0
            with suppress(OSError, TimeoutError):  # the scheduler may come back
                threads = sum(self._client.nthreads().values())
            if threads:
                self._threads, self._workers_seen_at = threads, self._threads_read_at

    def _check_alive(self) -> None:
        gone = self._client.status not in ("running", "connecting")
        if gone or time.monotonic() - self._workers_seen_at > LOST_SECONDS:
            raise RunError(
                f"the cluster has {'gone away' if gone else f'had no workers for {LOST_SECONDS:.0f} s'}; finished runs are kept"
            )

    def cancel(self) -> None:
        """Cancel what has not finished; workers notice within `POLL_SECONDS`."""
        if self._submitted:
            with suppress(OSError, TimeoutError, RuntimeError):
                self._client.cancel(list(self._submitted), force=True)
        self._submitted.clear()

    def given_up_message(self) -> str:
        """The runs that were given up, in words."""
        names = [run_label(self._jobs[place]) for place in self.given_up]
        listed = "; ".join(names[:5]) + (f"; and {len(names) - 5} more" if len(names) > 5 else "")
        return f"{listed}: given up, because workers were lost each time it ran, at last even when it ran alone"


def _expected_seconds(jobs: Sequence[Job]) -> list[float]:
    """Expected seconds of each run, as `check` predicts them."""
    known: dict[tuple[str, bool], float] = {}
    keys = [(job.scenario, job.replication is not None) for job in jobs]
    for scenario, replicated in dict.fromkeys(keys):
        known[scenario, replicated] = LEAST_SECONDS
        with suppress(ValueError):  # it is no scenario, which its run will report
            expected = seconds(outline(scenario), replicated=replicated)
            known[scenario, replicated] = max(expected, LEAST_SECONDS)
    return [known[key] for key in keys]


def _other_engine(address: str, build: object) -> str:
    state = f"has engine {build}" if isinstance(build, str) else f"has no Cellyard ({build})"
    return f"{address}: {state}, but this process has engine {_build()}: install the same Cellyard on all workers"


def _await_greeting(distributed: Any, address: str) -> None:
    """Wait for the greeting of a scheduler. A client would wait for ever for something else that listens there.

    Raises `OSError` without a greeting within `ANSWER_SECONDS`, and anything that Dask raises for an
    address.
    """
    import asyncio
    import importlib
    from concurrent.futures import ThreadPoolExecutor

    comms: Any = importlib.import_module("distributed.comm")

    async def greet() -> None:
        settings = distributed.Security().get_connection_args("client")
        comm = await asyncio.wait_for(comms.connect(address, timeout=ANSWER_SECONDS, **settings), ANSWER_SECONDS)
        comm.abort()

    with ThreadPoolExecutor(1) as thread:  # there may be a loop in this one already, as in a notebook
        thread.submit(lambda: asyncio.run(greet())).result()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError("a cluster needs the package distributed: pip install distributed") from None
    for name in ("distributed", "distributed.client"):  # what matters is reported as an error
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed


@contextmanager
def _no_interrupts_for_workers() -> Iterator[None]:
    """Processes started in the block ignore Ctrl-C, since their client stops them."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def requested_cluster(on: str | None, number: int | None, threads: int | None) -> Workers:
    """The cluster that a command should use; ``threads`` is for runs in this process and excludes a cluster."""
    if on is not None and number is not None:
        raise UsageError(
            "--on and --workers cannot be used together: --on uses an existing cluster, --workers starts one"
        )
    if threads is not None:
        raise UsageError(
            "--jobs cannot be used with --on or --workers: it sets the threads of this process, and the cluster makes the runs"
        )
    workers = Workers(on, number)
    workers.announces = True
    return workers
