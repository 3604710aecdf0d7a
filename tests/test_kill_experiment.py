"""Random kills of a small experiment: no finished run is lost or doubled.

The tables equal those of an undisturbed experiment. The environment variable `CELLYARD_KILLS` sets
the number of kills of one process. Half as many kills are of two processes on one store, and a
tenth are of cluster workers. `CELLYARD_SEED` sets the random choices. `make kills` does a thousand
kills.
"""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cellyard.experiment import Experiment
from cellyard.runs.cluster import Workers
from cellyard.store import Store
from conftest import LAN, Cli, stored
from test_kill import KILLS, SEED, kept_runs, without_cost

REPLICATIONS = 20
#: Number of runs of the experiment.
RUNS = 2 * REPLICATIONS

SMALL = f"""\
name = "small"
base = {{ file = "lan.toml" }}
set = {{ duration = "3 s" }}
question = "table"
metrics = ["efficiency", "vc.vc1.goodput_mbps", "max(port.*.max_queue_cells)"]
replications = {REPLICATIONS}
[[axis]]
path = "switch.west.ubr.buffer"
values = ["500 cells", "1000 cells"]
"""

#: Tables of the experiment, compared byte by byte.
TABLES = ("points.csv", "runs.csv")

Whole = dict[str, Any]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with the experiment."""
    (tmp_path / "lan.toml").write_text(LAN)
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


def begun(files: Path, out: str, *options: str) -> subprocess.Popen[str]:
    words = ("experiment", "run", "small.toml", "--jobs", 1, "--out", out, "--overwrite", *options)
    return Cli(files).begun(*words, stdout=subprocess.DEVNULL)


def done(files: Path, out: str) -> None:
    process = begun(files, out)
    assert process.wait() == 0, process.communicate()


def tables(out: Path) -> Whole:
    """Return everything that does not depend on time and place."""
    return {name: (out / name).read_bytes() for name in TABLES} | without_cost((out / "results.json").read_text())


def undisturbed(files: Path) -> tuple[Whole, dict[str, str], float]:
    """Return the tables, every run as text, and the duration of the experiment."""
    began = time.monotonic()
    done(files, "whole")
    took = time.monotonic() - began
    return tables(files / "whole"), kept_runs(files / "whole/runs.sqlite"), took


def seen(path: Path) -> dict[str, bytes]:
    """Return the runs that another process can read while others write."""
    if not path.exists():
        return {}
    connection = sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True)
    try:
        return dict(connection.execute("SELECT hex(run.hash), content FROM run JOIN result ON result.run = run.id"))
    except sqlite3.OperationalError:  # it is being made
        return {}
    finally:
        connection.close()


def check(before: dict[str, bytes], path: Path, whole: dict[str, str]) -> int:
    """Check that earlier runs are still there, once, and unchanged; return the number of runs."""
    after = kept_runs(path)
    assert {run.lower() for run in before} <= after.keys(), "a finished run was lost"
    assert after.items() <= whole.items(), "a run is another one"
    return len(after)


def wait(draw: random.Random, store: Path, process: subprocess.Popen[str], took: float) -> None:
    """Wait until a random moment: of the whole command or, more often, soon after a run has finished."""
    if draw.random() < 0.25:
        time.sleep(draw.uniform(0, took))
        return
    known = stored(store)
    while stored(store) == known and process.poll() is None:
        time.sleep(0.002)
    time.sleep(draw.uniform(0, took / 4))


def killed(process: subprocess.Popen[str]) -> bool:
    """Kill a command, and return whether it was still running. It must not have failed."""
    process.kill()
    _, err = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), err
    return process.returncode != 0


def test_an_experiment_that_is_killed_loses_no_run_and_makes_the_same_tables(files: Path) -> None:
    draw = random.Random(SEED)
    whole, runs, took = undisturbed(files)
    out = files / "out"
    store = out / "runs.sqlite"
    found: Counter[str] = Counter()
    kills = 0
    while kills < KILLS:
        process = begun(files, "out")
        wait(draw, store, process, took)
        before = seen(store)
        kills += killed(process)
        found["runs left in the log"] += store.with_name("runs.sqlite-wal").exists()
        stored_runs = check(before, store, runs)
        found[
            "before the first run" if not stored_runs else "after the last run" if stored_runs == RUNS else "between"
        ] += 1
        if stored_runs == RUNS:  # to the end, then from the start
            done(files, "out")
            assert tables(out) == whole
            shutil.rmtree(out)
            found["to the end"] += 1
    done(files, "out")
    assert tables(out) == whole and kept_runs(store) == runs and len(runs) == RUNS
    print(f"{kills} kills: {dict(found)}")


def test_experiments_on_one_store_that_are_killed_lose_and_double_nothing(files: Path) -> None:
    draw = random.Random(SEED)
    whole, runs, took = undisturbed(files)
    store = files / "shared.sqlite"
    ends = kills = 0
    while kills < max(KILLS // 2, 4):
        pair = [begun(files, out, "--store", "shared.sqlite") for out in "ab"]
        for process in draw.sample(pair, 2):
            wait(draw, store, process, took)
            before = seen(store)
            kills += killed(process)
            assert before.keys() <= seen(store).keys()
        if check(before, store, runs) == RUNS:
            store.unlink()
            ends += 1
    processes = [begun(files, out, "--store", "shared.sqlite") for out in "ab"]
    errors = [process.communicate(timeout=120)[1] for process in processes]
    assert errors == ["", ""] and [process.returncode for process in processes] == [0, 0]
    assert [tables(files / out) for out in "ab"] == [whole, whole] and kept_runs(store) == runs
    print(f"{kills} kills; {ends} times all had finished")


def ready(pool: Workers, killed: set[int]) -> list[int]:
    """Return the processes of both workers, which have restarted completely.

    Dask does not restart a worker that is killed earlier.
    """
    until = time.monotonic() + 120
    while time.monotonic() < until:
        nannies = list(pool._cluster.workers.values())
        pids = [nanny.pid for nanny in nannies if nanny.status.name == "running" and nanny.pid not in killed]
        if len(pids) == 2 and sum(pool.client.nthreads().values()) == 2:
            return sorted(pids)
        time.sleep(0.01)
    raise AssertionError("a worker has not come back")


def test_an_experiment_whose_workers_are_killed_makes_the_same_table(files: Path) -> None:
    draw = random.Random(SEED)
    experiment = Experiment.read(files / "small.toml")
    whole = list(experiment.run().records())
    killed: set[int] = set()
    idle = 0
    with Workers(number=2) as pool:
        pool.client  # noqa: B018  # it starts by this
        for number in range(max(KILLS // 10, 2)):
            victim = draw.choice(ready(pool, killed))
            killed.add(victim)
            with Store(files / f"{number}.sqlite") as store:
                engine = experiment.engine(store=store, on=pool)
                ended = threading.Event()

                def kill(path: Path = store.path, victim: int = victim, ended: Any = ended) -> None:
                    after = draw.randrange(RUNS - 1)
                    while stored(path) < after and not ended.is_set():
                        time.sleep(0.002)
                    os.kill(victim, signal.SIGKILL)

                killer = threading.Thread(target=kill)
                killer.start()
                outcome = experiment.run(runner=engine)
                idle += killer.is_alive()
                ended.set()
                killer.join()
                assert list(outcome.records()) == whole and store.failure is None
                assert engine.runs == RUNS == stored(store.path) == len(kept_runs(store.path))
    print(f"{len(killed)} workers killed, {idle} of them after the last run")
