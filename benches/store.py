"""How fast the store of finished runs is, and what a batch spends outside the engine, beside their goals.

`python benches/store.py` makes stores in a temporary folder, a million runs unless `--runs` says another number, and some 2 GB of
room unless that is smaller. `--part store` or `--part batch` does one half.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import cellyard as cy
from cellyard.batch import Job, run_jobs
from cellyard.commands import example
from cellyard.store import Store

#: Runs that are looked for, and runs that are added one by one.
FOUND, ADDED = 10_000, 10_000

#: Runs of a batch, each of some 1 ms of engine time.
BATCH = 10_000
MILLISECOND = "440 ms"


class Totals:
    """Keeps the totals, as an experiment does."""

    identity = "totals"

    def __call__(self, result: dict[str, Any]) -> dict[str, Any]:
        return dict(result["totals"])


def tell(what: str, seconds: float, goal: str) -> None:
    print(f"{what:58} {seconds:9.3f} s   goal {goal}", flush=True)


def scenario(duration: str) -> cy.Scenario:
    return cy.Scenario.from_toml(example.text("lan-5"), overrides=[("duration", duration)])


def store_of(path: Path, runs: int) -> list[Job]:
    """Fill a store with ``runs`` runs, which have one result under many names; their jobs."""
    text = scenario("10 ms").canonical
    (one,) = run_jobs([Job(text, 0)])
    kept = Totals()(one.result)
    # A thousand replications of each scenario, as a large grid has; seeds make the scenarios.
    texts = [text.replace('"seed":1,', f'"seed":{seed + 1},') for seed in range(max(runs // 1000, 1))]
    jobs = [Job(text, n, Totals()) for text in texts for n in range(min(runs, 1000))]
    random.Random(1).shuffle(jobs)
    with Store(path) as store:
        connection = store.connection
        times = []
        connection.execute("BEGIN")
        begun = time.perf_counter()
        for place, job in enumerate(jobs):
            store._add(job.identity, store.parts(job.identity, kept, None), 0.001) if False else None
            add(store, job, kept)
            if place % 10_000 == 9_999:
                connection.execute("COMMIT")
                connection.execute("BEGIN")
        connection.execute("COMMIT")
        times.append(time.perf_counter() - begun)
    tell(f"filling with {len(jobs)} runs, in large transactions", times[0], "none")
    return jobs
