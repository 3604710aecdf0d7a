"""What a Dask cluster costs beside threads: throughput on runs of 0.1 s, and time of a task that does nothing.

`python benches/cluster.py --workers 2` uses as many threads for comparison; `--runs` says how many runs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

import cellyard as cy
from cellyard.batch import Job, run_jobs
from cellyard.cluster import Workers
from cellyard.commands import example

#: CPU time of a run.
RUN_SECONDS = 0.1

#: Tasks that do nothing.
TASKS = 1000

GOAL = 0.85


def lan(duration_s: float) -> str:
    """Five TCPs on a LAN."""
    return cy.Scenario.from_toml(
        example.text("lan-5"), overrides=[("duration", f"{duration_s * 1e6:.0f} us")]
    ).canonical


def nothing(number: int) -> int:
    """A task."""
    return number


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--runs", type=int, default=400)
    options = parser.parse_args()
    trial = 2.0
    took = statistics.median(run.cpu_seconds for run in run_jobs([Job(lan(trial), n) for n in range(5)], threads=1))
    jobs = [Job(lan(trial * RUN_SECONDS / took), n) for n in range(options.runs)]
    begun = time.perf_counter()
    with Workers(number=options.workers) as pool:
        client = pool.client
        print(f"starting {options.workers} workers: {time.perf_counter() - begun:.1f} s")
        list(run_jobs(jobs[: options.workers], on=pool))
        times: dict[str, list[float]] = {"threads": [], "workers": []}
        for _ in range(3):  # in turns: the machine may be shared
            for what in times:
                begun = time.perf_counter()
                found = list(run_jobs(jobs, threads=options.workers) if what == "threads" else run_jobs(jobs, on=pool))
                times[what].append(time.perf_counter() - begun)
        cpu = sum(run.cpu_seconds for run in found)
        here, there = (min(times[what]) for what in ("threads", "workers"))
        print(
            f"{len(jobs)} runs of {cpu / len(jobs):.3f} s on {options.workers} threads: {here:.2f} s, on workers: {there:.2f} s"
        )
        print(f"throughput of workers by threads: {here / there:.3f} (goal {GOAL})")
        begun, used = time.perf_counter(), time.process_time()
        client.gather([client.submit(nothing, n, pure=False) for n in range(TASKS)])
        wall, used = time.perf_counter() - begun, time.process_time() - used
        print(
            f"a task that does nothing: {wall / TASKS * 1e3:.2f} ms, {used / TASKS * 1e3:.2f} ms of CPU time of client and scheduler"
        )


if __name__ == "__main__":
    main()
