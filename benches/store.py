"""How fast the store of finished runs is, and what a batch of short runs spends outside the engine, beside their goals.

`python benches/store.py` fills a store in a temporary folder with a million runs, which takes minutes and 3 GB; `--runs` says another
number. `--part store` or `--part batch` does one half.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import cellyard as cy
from cellyard.batch import Job, run_jobs
from cellyard.commands import example
from cellyard.store import Store
from cellyard.store.file import Added
from cellyard.text import json_text

#: Runs that are looked for, that are added one by one, and of a batch.
MANY = 10_000

#: Engine time of a run of the batch.
RUN_SECONDS = 1e-3

#: Replications of each scenario in the large store, as a grid has them.
DRAWS = 1000


class Totals:
    """Keeps the totals, as an experiment does."""

    identity = "totals"

    def __call__(self, result: dict[str, Any]) -> dict[str, Any]:
        """The totals."""
        return dict(result["totals"])


def tell(what: str, value: str, goal: str = "") -> None:
    """A line of the output."""
    print(f"{what:66} {value:>14}{'   goal ' if goal else ''}{goal}", flush=True)


def lan(duration_s: float) -> cy.Scenario:
    """Five TCPs on a LAN."""
    return cy.Scenario.from_toml(example.text("lan-5"), overrides=[("duration", f"{duration_s * 1e6:.0f} us")])


def jobs_of(runs: int, keep: Any) -> list[Job]:
    """Jobs of many scenarios, which differ in their seed."""
    text = lan(0.01).canonical
    texts = [text.replace('"seed":1,', f'"seed":{seed + 1},') for seed in range(-(-runs // DRAWS))]
    return [Job(text, draw, keep) for text in texts for draw in range(min(runs, DRAWS))]


def of_store(path: Path, runs: int) -> None:
    """A large store: filling, opening, finding, adding."""
    keep = Totals()
    jobs = jobs_of(runs, keep)
    (one,) = run_jobs([Job(jobs[0].scenario, 0)])
    text = json_text(one.result)
    kept = keep(one.result)
    begun = time.perf_counter()
    with Store(path) as store:
        # Nobody waits for these on the disk.
        store.connection.execute("PRAGMA synchronous = OFF")
        store.connection.execute("PRAGMA wal_autocheckpoint = 50000")
        for start in range(0, len(jobs), 1000):
            store.add_all([Added(job.identity, kept, text, 1e-3) for job in jobs[start : start + 1000]])
    took = time.perf_counter() - begun
    tell(f"{len(jobs)} runs, whole and totals: size of the store", f"{path.stat().st_size / 1e9:.2f} GB")
    tell("  filling it, 1000 runs in a transaction, each", f"{took / len(jobs) * 1e6:.0f} us")
    begun = time.perf_counter()
    store = Store(path)
    tell("  opening it", f"{time.perf_counter() - begun:.4f} s", "1 s")
    draw = random.Random(1)
    some = draw.sample(jobs, min(MANY, len(jobs)))
    for what, wanted in (
        ("totals", [Job(job.scenario, job.replication, keep) for job in some]),
        ("whole results", [Job(job.scenario, job.replication) for job in some]),
        ("runs that are not there", [Job(job.scenario, DRAWS + place) for place, job in enumerate(some)]),
    ):
        begun = time.perf_counter()
        found = sum(store.get(job.identity) is not None for job in wanted)
        tell(f"  finding {len(wanted)} {what} ({found} found)", f"{time.perf_counter() - begun:.3f} s", "1 s")
    times = []
    for place in range(MANY):
        identity = Job(jobs[place % len(jobs)].scenario, DRAWS + place, keep).identity
        begun = time.perf_counter()
        store.add(identity, kept, text=text, cpu_seconds=1e-3)
        times.append(time.perf_counter() - begun)
    begun = time.perf_counter()
    store.close()
    tell(f"  adding {MANY} runs, a transaction each: mean", f"{statistics.mean(times) * 1e3:.3f} ms", "1 ms")
    tell("    99 % quantile", f"{sorted(times)[-MANY // 100] * 1e3:.3f} ms")
    tell("    the longest", f"{max(times) * 1e3:.1f} ms")
    tell("    closing", f"{time.perf_counter() - begun:.3f} s")


def of_batch(path: Path, threads: int) -> None:
    """A batch of short runs with a store: the share of its CPU time that the engine does not use."""
    trial = 0.1
    runs = list(run_jobs([Job(lan(trial).canonical, draw) for draw in range(50)], threads=1))
    duration = trial * RUN_SECONDS / statistics.median(run.cpu_seconds for run in runs)
    text = lan(duration).canonical
    keep = Totals()
    with Store(path) as store:
        wall, cpu = time.perf_counter(), time.process_time()
        engine = sum(
            run.cpu_seconds for run in run_jobs([Job(text, n, keep) for n in range(MANY)], threads=threads, store=store)
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    tell(f"{MANY} runs of {engine / MANY * 1e3:.2f} ms, {threads} threads: wall time", f"{wall:.2f} s")
    tell("  CPU time outside the engine, each", f"{(cpu - engine) / MANY * 1e6:.0f} us")
    tell("  share of the CPU time outside the engine", f"{(cpu - engine) / cpu:.1%}", "30 %")
    with Store(path) as store:
        begun = time.perf_counter()
        list(run_jobs([Job(text, n, keep) for n in range(MANY)], store=store))
    tell("  the same again, all found", f"{time.perf_counter() - begun:.2f} s", "1 s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--part", choices=("store", "batch"))
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.part != "batch":
            of_store(Path(folder) / "large.sqlite", options.runs)
        if options.part != "store":
            of_batch(Path(folder) / "batch.sqlite", options.threads)


if __name__ == "__main__":
    main()
