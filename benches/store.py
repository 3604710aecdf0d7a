"""Speed of the store of finished runs, and overhead of a batch of short runs, next to the goals.

`python benches/store.py` fills a store in a temporary folder with a million runs, which takes
minutes and 3 GB. `--runs` sets another number of runs. `--store FILE` keeps the store for the next
time. `--part` runs only one part.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cellyard as cy
import cellyard.experiment as cx
from cellyard.commands import example
from cellyard.results import RunResult
from cellyard.runs.batch import Job, run_jobs
from cellyard.runs.protocols import NewRun
from cellyard.store import Store
from cellyard.store.contents import groups

#: Number of runs to look up, to add one by one, and in a batch.
MANY = 10_000

#: Engine time of each run of the batch, in seconds.
RUN_SECONDS = 1e-3

#: Replications of each scenario in the large store, as many as a grid would have.
DRAWS = 1000


class Totals:
    """Keep only the totals of a result, as an experiment does."""

    identity = "totals"

    def __call__(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the totals of a result."""
        return dict(result["totals"])


def tell(what: str, value: str, goal: str = "") -> None:
    """Print one line of output."""
    print(f"{what:66} {value:>24}{'   goal ' if goal else ''}{goal}", flush=True)


def lan(duration_s: float) -> cy.Scenario:
    """Return a scenario of five TCP connections on a LAN."""
    return cy.Scenario.from_toml(example.text("lan-5"), overrides=[("duration", f"{duration_s * 1e6:.0f} us")])


def jobs_of(runs: int, keep: Any) -> list[Job]:
    """Return jobs of many scenarios that differ only in their seeds."""
    text = lan(0.01).canonical
    texts = [text.replace('"seed":1,', f'"seed":{seed + 1},') for seed in range(-(-runs // DRAWS))]
    return [Job(text, draw, keep) for text in texts for draw in range(min(runs, DRAWS))]


class Clock:
    """Measures CPU and wall time of a ``with`` block, in seconds."""

    def __enter__(self) -> Clock:
        self._began = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu, self.wall = time.process_time() - self._began[0], time.perf_counter() - self._began[1]

    def __str__(self) -> str:
        return f"{self.cpu:.3f} s CPU, {self.wall:.3f} s"


def fill(path: Path, jobs: list[Job], keep: Any) -> None:
    """Fill a store with all of the jobs, as whole results and as totals."""
    (one,) = run_jobs([Job(jobs[0].scenario, 0)])
    text = json.dumps(dict(one.result), separators=(",", ":"))
    kept = keep(one.result)
    with Clock() as clock, Store(path) as store:
        # Durability does not matter here, so the disk need not be waited for.
        store.connection.execute("PRAGMA synchronous = OFF")
        store.connection.execute("PRAGMA wal_autocheckpoint = 50000")
        for start in range(0, len(jobs), 1000):
            store.add_all([NewRun(job.identity, kept, text, 1e-3) for job in jobs[start : start + 1000]])
    tell("filling a store, 1000 runs in a transaction, each", f"{clock.cpu / len(jobs) * 1e6:.0f} us CPU")


def of_store(path: Path, runs: int) -> None:
    """Time operations on a large store: filling, opening, showing, finding, adding."""
    keep = Totals()
    jobs = jobs_of(runs, keep)
    if not path.exists():
        fill(path, jobs, keep)
    tell(f"{len(jobs)} runs, whole and totals: size of the store", f"{path.stat().st_size / 1e9:.2f} GB")
    with Clock() as clock:
        store = Store(path)
    tell("  opening it", str(clock), "1 s")
    with Clock() as clock:
        groups(store)
    tell("  what `cellyard store show` asks of it", str(clock))
    of_finding(store, jobs, keep)
    of_adding(store, jobs, keep)
    with Clock() as clock:
        store.close()
    tell("    closing", str(clock))


def of_finding(store: Store, jobs: list[Job], keep: Any) -> None:
    """Time how a batch finds known runs, and how an experiment reads each of them."""
    some = random.Random(1).sample(jobs, min(MANY, len(jobs)))
    for what, wanted in (
        ("totals", [Job(job.scenario, job.replication, keep) for job in some]),
        ("whole results", [Job(job.scenario, job.replication) for job in some]),
    ):
        for how in ("", ", once more"):  # the first time much of it may come from the disk
            with Clock() as clock:
                found = list(run_jobs(wanted, store=store))
            tell(f"  finding {len(found)} {what}{how}", str(clock), "1 s CPU")
    with Clock() as more:
        for one in found:
            RunResult(one.result).totals  # noqa: B018  # made by this
    tell("    and the totals of each", f"{clock.cpu + more.cpu:.3f} s CPU", "1 s CPU")
    with Clock() as more:
        for one in found:
            dict(one.result)
    tell("    and all of each", f"{clock.cpu + more.cpu:.3f} s CPU")
    with Clock() as clock:
        found = [store.get(Job(job.scenario, DRAWS + place).identity) for place, job in enumerate(some)]
    tell(f"  looking for {len(some)} runs that are not there", str(clock), "1 s CPU")


def of_adding(store: Store, jobs: list[Job], keep: Any) -> None:
    """Time adding runs one by one, then remove them again."""
    (one,) = run_jobs([Job(jobs[0].scenario, 0)])
    text = json.dumps(dict(one.result), separators=(",", ":"))
    kept = keep(one.result)
    times = []
    before = store.connection.execute("SELECT max(id) FROM run").fetchone()[0]
    used = time.process_time()
    for place in range(MANY):
        identity = Job(jobs[place % len(jobs)].scenario, DRAWS + place, keep).identity
        begun = time.perf_counter()
        store.add(identity, kept, text=text, cpu_seconds=1e-3)
        times.append(time.perf_counter() - begun)
    used = time.process_time() - used
    tell(f"  adding {MANY} runs, a transaction each: mean", f"{statistics.mean(times) * 1e3:.3f} ms", "1 ms")
    tell("    CPU time, mean", f"{used / MANY * 1e3:.3f} ms")
    for share in (0.5, 0.99):
        tell(f"    {share:.0%} quantile", f"{sorted(times)[int(share * MANY)] * 1e3:.3f} ms")
    tell("    the longest", f"{max(times) * 1e3:.1f} ms")
    assert store.failure is None, store.failure
    for table, column in (("result", "run"), ("run", "id")):
        store.connection.execute(f"DELETE FROM {table} WHERE {column} > ?", (before,))


def of_experiment(path: Path, threads: int) -> None:
    """Time an experiment of many short runs, first with new runs and then with known runs."""
    buffers = [f"{500 + 100 * step} cells" for step in range(10)]
    asked = cx.Experiment(
        name="known",
        base=lan(0.02),
        metrics=["efficiency", "fairness", "cell_loss_ratio"],
        axes=[cx.Axis("switch.west.ubr.buffer", buffers)],
        replications=MANY // len(buffers),
    )
    told = []
    with Store(path) as store:
        for what in ("new", "known"):
            engine = asked.engine(threads=threads, store=store)
            with Clock() as clock:
                outcome = asked.run(runner=engine)
            told.append(outcome.text)
            outside = clock.cpu - engine.cpu_seconds
            tell(f"an experiment of {outcome.runs} {what} runs, {threads} threads", str(clock))
            tell("  CPU time outside the engine", f"{outside:.2f} s", "1 s" if what == "known" else "")
    assert told[0] == told[1]


def of_batch(path: Path, threads: int) -> None:
    """Measure which share of the CPU time of a batch with a store is spent outside the engine."""
    trial = 0.1
    runs = list(run_jobs([Job(lan(trial).canonical, draw) for draw in range(50)], threads=1))
    duration = trial * RUN_SECONDS / statistics.median(run.cpu_seconds for run in runs)
    text = lan(duration).canonical
    keep = Totals()
    for what, kept in (("totals and whole results", keep), ("whole results", None)):
        jobs = [Job(text, n, kept) for n in range(MANY)]
        own = path.with_stem(f"{path.stem}-{what.split()[0]}")
        with Store(own) as store, Clock() as clock:
            engine = sum(run.cpu_seconds for run in run_jobs(jobs, threads=threads, store=store))
        outside = clock.cpu - engine
        tell(f"{MANY} runs of {engine / MANY * 1e3:.2f} ms, {threads} threads, {what}", str(clock))
        tell("  CPU time outside the engine, each", f"{outside / MANY * 1e6:.0f} us")
        tell("  share of the CPU time outside the engine", f"{outside / clock.cpu:.1%}", "30 %")
        with Store(own) as store, Clock() as clock:
            list(run_jobs(jobs, store=store))
        tell("  the same again, all found", str(clock), "1 s CPU")


def of_threads(threads: int) -> None:
    """Compare the throughput of several threads with that of one.

    Both take turns, as the machine may be shared.
    """
    jobs = [Job(lan(2.0).canonical, draw) for draw in range(40 * threads)]
    ratios, shares = [], []
    for _ in range(5):
        times = []
        for number in (1, threads):
            with Clock() as clock:
                list(run_jobs(jobs, threads=number))
            times.append(clock.wall)
            shares.append(clock.cpu / clock.wall / number)
        ratios.append(times[0] / times[1])
    told = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    tell(f"throughput of {threads} threads over one, five pairs", told, "1.9 of 2")
    tell("  processors that the threads had, of those that they could use", f"{min(shares):.0%} to {max(shares):.0%}")


def main() -> None:
    """Measure and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--part", choices=("store", "batch", "experiment", "threads"), help="only this part")
    parser.add_argument("--store", type=Path, help="the large store: filled if it is not there, left there")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parts: dict[str, Callable[[], None]] = {
            "store": lambda: of_store(options.store or Path(folder) / "large.sqlite", options.runs),
            "batch": lambda: of_batch(Path(folder) / "batch.sqlite", options.threads),
            "experiment": lambda: of_experiment(Path(folder) / "experiment.sqlite", options.threads),
            "threads": lambda: of_threads(options.threads),
        }
        if hasattr(os, "getloadavg"):
            tell("load of the machine", f"{os.getloadavg()[0]:.1f}")
        for part in [options.part] if options.part else parts:
            parts[part]()


if __name__ == "__main__":
    main()
