"""Overhead of a Dask cluster relative to threads, in runs of 0.1 s and in tasks that do nothing.

`python benches/cluster.py --workers 2` compares with as many threads. On a shared machine, CPU time
is more reliable than wall-clock time: CPU time beyond the engine's is what workers, client and
scheduler cost.
"""

import argparse
import os
import statistics
import time
from typing import Any

import cellyard as cy
import psutil
from cellyard.commands import example
from cellyard.runs.batch import Job, run_jobs
from cellyard.runs.cluster import Workers

#: CPU time of one run, in seconds.
RUN_SECONDS = 0.1

#: Number of empty tasks.
TASKS = 1000

#: Seconds over which the CPU time of an idle cluster is measured.
IDLE_SECONDS = 10.0

GOAL = 0.85


def lan(duration_s: float) -> str:
    """Return a scenario of five TCP connections on a LAN."""
    return cy.Scenario.from_toml(
        example.text("lan-5"), overrides=[("duration", f"{duration_s * 1e6:.0f} us")]
    ).canonical


def nothing(number: int) -> int:
    """Return the number: a task that does no work."""
    return number


def used(children: bool) -> float:
    """Return the CPU time of this process, plus that of its workers if ``children``."""
    own = psutil.Process()
    processes = [own, *own.children(recursive=True)] if children else [own]
    return sum(times.user + times.system for times in (one.cpu_times() for one in processes))


def one_batch(jobs: list[Job], **options: Any) -> tuple[float, float, float]:
    """Return wall time, CPU time of all processes and CPU time of the engine, each per run."""
    before, begun = used(children=True), time.perf_counter()
    engine = sum(run.cpu_seconds for run in run_jobs(jobs, **options))
    wall, cpu = time.perf_counter() - begun, used(children=True) - before
    return wall / len(jobs), cpu / len(jobs), engine / len(jobs)


def main() -> None:
    """Measure and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--runs", type=int, default=100, help="of each batch")
    parser.add_argument("--pairs", type=int, default=7, help="of batches, one on threads and one on workers")
    options = parser.parse_args()
    trial = 2.0
    took = statistics.median(run.cpu_seconds for run in run_jobs([Job(lan(trial), n) for n in range(5)], threads=1))
    jobs = [Job(lan(trial * RUN_SECONDS / took), n) for n in range(options.runs)]
    begun = time.perf_counter()
    with Workers(number=options.workers) as pool:
        client = pool.client
        print(f"starting {options.workers} workers: {time.perf_counter() - begun:.1f} s")
        list(run_jobs(jobs[: options.workers], on=pool))
        begun, before = time.perf_counter(), used(children=True)
        time.sleep(IDLE_SECONDS)
        idle = (used(children=True) - before) / (time.perf_counter() - begun)
        print(f"CPU time of all processes while nothing is to do: {idle:.3f} s a second")
        ratios, outside = [], []
        kinds: dict[str, dict[str, Any]] = {"threads": {"threads": options.workers}, "workers": {"on": pool}}
        for number in range(options.pairs):  # in turns: the machine may be shared
            found: dict[str, tuple[float, float, float]] = dict.fromkeys(kinds, (0.0, 0.0, 0.0))
            for what in list(kinds)[:: -1 if number % 2 else 1]:
                found[what] = wall, cpu, engine = one_batch(jobs, **kinds[what])
                print(f"  {what}: {wall:.4f} s a run, {cpu:.4f} s CPU, {cpu - engine:.4f} s of it outside the engine")
            ratios.append(found["threads"][0] / found["workers"][0])
            outside.append([(cpu - engine - idle * wall) / engine for wall, cpu, engine in found.values()])
        print(
            f"{len(jobs)} runs of {found['threads'][2]:.3f} s, {options.pairs} pairs in turn, {options.workers} threads and workers"
        )
        told = ", ".join(f"{ratio:.3f}" for ratio in sorted(ratios))
        print(f"throughput of workers by threads: median {statistics.median(ratios):.3f} of {told} (goal {GOAL})")
        for place, what in enumerate(kinds):
            share = statistics.median(one[place] for one in outside)
            print(f"CPU time outside the engine beyond that, by that of the engine, {what}: median {share:.1%}")
        begun, before = time.perf_counter(), used(children=False)
        client.gather([client.submit(nothing, n, pure=False) for n in range(TASKS)])
        wall, cpu = time.perf_counter() - begun, used(children=False) - before
        print(
            f"a task that does nothing: {wall / TASKS * 1e3:.2f} ms, {cpu / TASKS * 1e3:.2f} ms of CPU time of client and scheduler"
        )


if __name__ == "__main__":
    main()
