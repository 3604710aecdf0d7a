"""Runs on a Dask cluster.

Results do not depend on what happens to workers. A cluster that cannot be used is reported in one
sentence.
"""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import cellyard as cy
import dask
import distributed
import psutil  # type: ignore[import-untyped]
import pytest
from cellyard import _engine
from cellyard.runs import cluster
from cellyard.runs.batch import Finished, Job, run_jobs
from cellyard.runs.cluster import Workers
from cellyard.store import Store
from conftest import LAN, Cli, stored, wait_for

PLAIN = cy.Scenario.from_toml(LAN, overrides=[("duration", "1 s")])
LONGER = cy.Scenario.from_toml(LAN, overrides=[("duration", "20 s")])
ENDLESS = cy.Scenario.from_toml(LAN, overrides=[("duration", "100000 s")])


@pytest.fixture(scope="module")
def pool() -> Iterator[Workers]:
    """Return a pool of two workers."""
    with Workers(number=2) as found:
        yield found


def in_order(found: Iterator[Finished]) -> list[Mapping[str, Any]]:
    return [run.result for run in sorted(found, key=lambda run: run.index)]


def test_results_equal_those_of_threads(pool: Workers) -> None:
    probes = [cy.CwndProbe(of="vc1"), cy.TraceProbe(of="vc2")]
    jobs = [Job(PLAIN.canonical, n) for n in range(30)]
    jobs += [Job(PLAIN.with_values({"probe": probes}).canonical, n) for n in range(3)]
    on_cluster, on_threads = in_order(run_jobs(jobs, on=pool)), in_order(run_jobs(jobs))
    assert [json.dumps(cy.RunResult(result).to_dict()) for result in on_cluster] == [
        json.dumps(cy.RunResult(result).to_dict()) for result in on_threads
    ]
    with_digest = in_order(run_jobs(jobs[:2], on=pool, digest=True, kernel="slotted"))
    assert with_digest == in_order(run_jobs(jobs[:2], digest=True)) and with_digest[0]["digest"]


def test_stored_runs_are_not_sent_and_the_client_stores_finished_ones(pool: Workers, tmp_path: Path) -> None:
    jobs = [Job(PLAIN.canonical, n) for n in range(20)]
    reported: list[float] = []
    with Store(tmp_path / "runs.sqlite") as store:
        list(run_jobs(jobs[:5], store=store))
        found = list(run_jobs(jobs, store=store, on=pool, on_progress=reported.append))
        assert sum(run.cpu_seconds > 0 for run in found) == 15 and store.kept == 20
        assert in_order(run_jobs(jobs, store=store)) == in_order(iter(found))
    assert reported == sorted(reported) and reported[-1] == 20


def test_a_failing_run_is_an_error_of_that_run(pool: Workers) -> None:
    with pytest.raises(cy.RunError, match="missing field"):
        list(run_jobs([Job(PLAIN.canonical, 1), Job("{}"), Job(PLAIN.canonical, 2)], on=pool))


def test_a_worker_that_restarts_slowly_is_used_again() -> None:
    before = dask.config.get("distributed.deploy.lost-worker-timeout")
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "0 s"}),  # Dask then gives up at once
        Workers(number=1) as workers,
    ):
        (first,) = workers.client.run(os.getpid).values()
        list(run_jobs([Job(PLAIN.canonical)], on=workers))
        os.kill(first, signal.SIGKILL)
        list(run_jobs([Job(PLAIN.canonical)], on=workers))
        (second,) = workers.client.run(os.getpid).values()
        assert second != first
    assert dask.config.get("distributed.deploy.lost-worker-timeout") == before


def test_a_run_that_kills_its_workers_is_named_and_given_up(
    pool: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "deaths"

    def deadly(build: str, runs: Any, options: dict[str, Any]) -> Any:
        import os

        from cellyard.runs.cluster import run_task

        if any('"name":"deadly"' in scenario for scenario, _ in runs):
            with open(log, "a") as file:  # noqa: PTH123
                file.write(f"{len(runs)}\n")
            os._exit(1)
        return run_task(build, runs, options)

    monkeypatch.setattr(cluster, "run_task", deadly)
    name = PLAIN.with_values({"name": "deadly"}).canonical
    jobs = [
        *(Job(PLAIN.canonical, n) for n in range(12)),
        Job(name, 7),
        *(Job(PLAIN.canonical, n) for n in range(12, 20)),
    ]
    with Store(tmp_path / "runs.sqlite") as store:
        message = r"^deadly, replication 7: given up, because workers were lost each time it ran, at last even when it ran alone$"
        with pytest.raises(cy.RunError, match=message):
            list(run_jobs(jobs, on=pool, store=store))
    assert stored(tmp_path / "runs.sqlite") == 20
    deaths = [int(line) for line in log.read_text().splitlines()]
    assert len(deaths) == 4 and deaths[0] == deaths[1] and deaths[2:] == [1, 1]


def test_giving_up_frees_the_workers(pool: Workers) -> None:
    under_way = run_jobs([Job(PLAIN.canonical, 0), *(Job(ENDLESS.canonical, n) for n in range(4))], on=pool)
    next(under_way)
    time.sleep(0.5)
    under_way.close()  # type: ignore[attr-defined]
    started = time.monotonic()
    assert len(list(run_jobs([Job(PLAIN.canonical, n) for n in range(4)], on=pool))) == 4
    assert time.monotonic() - started < 30, "the others would take minutes"


def address(pool: Workers) -> str:
    return str(pool.client.scheduler.address)


def test_an_existing_cluster_is_used_and_left_as_it_was(pool: Workers, cli: Cli, lan: Path) -> None:
    options = ("run", lan, "--replications", 3, "--format", "json")
    done = cli(*options, "--on", address(pool))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["runs"] == json.loads(cli(*options).stdout)["runs"]
    study = shlex.split("study run ubr-plus --table 1 --where configuration=lan --where sources=5 --format json")
    done = cli(*study, "--on", address(pool))
    assert json.loads(done.stdout)["rows"] == json.loads(cli(*study).stdout)["rows"]
    assert len(pool.client.scheduler_info()["workers"]) == 2


def test_another_engine_is_refused_in_one_sentence(pool: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    worker_build = _engine.build()
    message = f"has engine {worker_build.replace('+', '.')}, but this process has engine other: install the same Cellyard on all workers"
    monkeypatch.setattr(_engine, "build", lambda: "other")
    with pytest.raises(cy.UsageError, match=rf"^tcp://127\.0\.0\.1:\d+: {message}$"):
        Workers(address(pool))
    with pytest.raises(cy.UsageError, match=rf"^a worker: {message}$"):  # the worker started later
        list(run_jobs([Job(PLAIN.canonical)], on=pool))


def test_an_unusable_cluster_is_one_error(cli: Cli, lan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 1.0)
    started = time.monotonic()
    with pytest.raises(cy.UsageError, match=r"^tcp://127\.0\.0\.1:1: no cluster answers within 1 s; "):
        list(run_jobs([Job(PLAIN.canonical)], on="tcp://127.0.0.1:1"))
    assert time.monotonic() - started < 8
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts any message and sends none
        port = silent.getsockname()[1]
        with pytest.raises(cy.UsageError, match=rf"^tcp://127\.0\.0\.1:{port}: no cluster answers within 1 s; "):
            Workers(f"tcp://127.0.0.1:{port}")
    assert time.monotonic() - started < 16
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", host="127.0.0.1") as empty,  # type: ignore[no-untyped-call]
        pytest.raises(cy.UsageError, match="the cluster has no workers"),
    ):
        Workers(empty.scheduler_address)
    for options, message in (
        (["--on", "somewhere"], "on = 'somewhere': must be the address of a Dask scheduler, such as tcp://HOST:8786\n"),
        (["--on", "tcp://host"], "tcp://host: missing port number in address 'host'\n"),
        (
            ["--on", "tcp://a:1", "--workers", 2],
            "--on and --workers cannot be used together: --on uses an existing cluster, --workers starts one\n",
        ),
        (
            ["--jobs", 2, "--workers", 2],
            "--jobs cannot be used with --on or --workers: it sets the threads of this process, and the cluster makes the runs\n",
        ),
    ):
        done = cli("run", lan, *options, "--out", "out", "--store", "new.sqlite")
        assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert [path.name for path in tmp_path.iterdir()] == ["lan.toml"]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(cy.UsageError, match=r"a cluster needs the package distributed: pip install distributed"):
        Workers(number=2)


@pytest.mark.parametrize("file", ["script.py", "-"])
def test_a_script_without_a_guard_gets_an_error_that_explains_it(file: str, tmp_path: Path) -> None:
    script = "import cellyard as cy\ncy.examples.scenario('lan-5').run(replications=2, workers=1)\n"
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, file], input=script, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    lines = [line for line in done.stderr.splitlines() if not line.startswith(" ")]
    assert lines[0] == "Traceback (most recent call last):" and len(lines) == 2  # for the script only
    assert lines[1].startswith("cellyard.errors.UsageError: 1 worker: ")
    assert 'under `if __name__ == "__main__":`' in lines[1]


def test_an_interrupt_keeps_what_is_finished_and_ends_the_workers(cli: Cli, lan: Path, tmp_path: Path) -> None:
    arguments = shlex.split("run lan.toml --set 'duration=20 s' --replications 5000 --workers 2 --format json")
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = cli.begun(*arguments, "--store", "runs.sqlite", preexec_fn=listen)
    wait_for(lambda: stored(tmp_path / "runs.sqlite") >= 3, process)
    workers = psutil.Process(process.pid).children(recursive=True)
    assert len(workers) >= 2
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "Traceback" not in err, err
    assert err.startswith("starting 2 workers\n")
    document = json.loads(out)
    assert document["complete"] is False and 3 <= len(document["runs"]) <= stored(tmp_path / "runs.sqlite")
    assert not psutil.wait_procs(workers, timeout=20)[1]
