"""Batches of runs, and their progress."""

import resource
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cellyard as cy
import pytest
from cellyard import _engine
from cellyard.cli import command as cli_command, main as cli
from cellyard.runs.batch import KERNELS, Job, run_jobs
from cellyard.store import Store
from cellyard.system import progress
from conftest import LAN, peak_bytes

CANONICAL = cy.Scenario.from_toml(LAN).canonical


def test_a_failing_run_is_an_error_of_that_run() -> None:
    batch = _engine.Batch([(CANONICAL, None), ("{}", None), (CANONICAL, 1)], 2)
    finished = {}
    while batch.remaining:
        batch.wait(1.0)
        for index, result, error, cpu_seconds in batch.take()[1]:
            finished[index] = (result, error)
            assert cpu_seconds >= 0
    assert [finished[i][1] is None for i in range(3)] == [True, False, True]
    kind, message = finished[1][1] or ("", "")
    assert kind == "run" and "missing field" in message
    with pytest.raises(cy.RunError, match="missing field"):
        list(run_jobs([Job(CANONICAL), Job("{}")]))


def test_a_failed_run_ends_the_command_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise cy.RunError("a run failed")

    assert cli_command.exit_status(fail) == 1
    assert capsys.readouterr().err == "a run failed\n"


@pytest.mark.parametrize("shown", ["", "0", "1"])
def test_an_internal_error_is_reported_in_one_line(
    shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        """Engine panics as they reach Python."""

    def fail(fault: BaseException) -> int:
        raise fault

    monkeypatch.setenv(cli_command.TRACEBACK, shown)
    for fault in (KeyError("no\nsuch"), PanicException("index out of bounds")):
        assert cli_command.exit_status(partial(fail, fault)) == 70
        *before, last = capsys.readouterr().err.splitlines()
        assert last.startswith(f"internal error in cellyard: {type(fault).__name__}: ") and "report" in last
        if shown == "1":
            assert before[0].startswith("Traceback") and "in fail" in "".join(before)
        else:
            assert before == [] and last.endswith("the output with CELLYARD_TRACEBACK=1")
    assert cli_command.exit_status(partial(fail, MemoryError())) == 1
    assert capsys.readouterr().err == "out of memory\n"


def test_an_interrupted_batch_keeps_the_runs_that_have_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: Any, **options: Any) -> SimpleNamespace:
        """Return a batch whose wait is interrupted when a run has finished."""

        def wait(_: float) -> None:
            batch.wait(60.0)
            raise KeyboardInterrupt

        batch = engine_batch(*args, **options)
        return SimpleNamespace(wait=wait, remaining=2, progress=0.5, take=batch.take, cancel=batch.cancel)

    engine_batch = _engine.Batch
    monkeypatch.setattr(_engine, "Batch", interrupted)
    long = cy.Scenario.from_toml(LAN, overrides=[("duration", "10000 s")]).canonical
    with Store(tmp_path / "runs.sqlite") as store:
        runs = run_jobs([Job(CANONICAL), Job(long)], threads=2, store=store)
        assert next(runs).index == 0
        with pytest.raises(KeyboardInterrupt):
            next(runs)
        assert store.get(Job(CANONICAL).identity) is not None


def test_identity_covers_scenario_seed_replication_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = cy.Scenario.from_toml(LAN)
    jobs = [Job(plain.canonical), Job(plain.canonical, 0), Job(plain.with_seed(2).canonical), Job(CANONICAL)]
    identities = [job.identity for job in jobs]
    assert len(set(identities)) == 3 and identities[0] == identities[3]
    monkeypatch.setattr(_engine, "build", lambda: "next")
    assert Job(CANONICAL).identity != identities[0]


def test_border_and_front_know_the_same_kernels() -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        _engine.Batch([], 1, kernel="a")
    assert str(caught.value).endswith(", ".join(KERNELS))
    assert all(_engine.Batch([], 1, kernel=kernel).remaining == 0 for kernel in KERNELS)
    assert cli.KERNELS == KERNELS


def test_progress_without_a_terminal_is_an_occasional_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with progress.Progress("lan", 1) as shown:
        shown.update(0.1)
        assert not capsys.readouterr().err
        now[0] = progress.LINE_SECONDS
        shown.update(0.4)
    took = progress.LINE_SECONDS
    assert capsys.readouterr().err == f"lan: 0 of 1 runs, {took:.0f} s, about {2 * took:.0f} s left\n"
    with progress.Progress("lan", 1, simulated_seconds=20.0) as shown:
        shown.update(0.1)
        now[0] += progress.LINE_SECONDS
        shown.update(0.4)
    assert capsys.readouterr().err == f"lan: 8 of 20 s simulated, {took:.0f} s, about {2 * took:.0f} s left\n"
    with progress.Progress("lan", 1, simulated_seconds=100_000.0) as shown:
        now[0] += progress.LINE_SECONDS
        shown.update(0.906)
    assert capsys.readouterr().err.startswith("lan: 90600 of 100000 s simulated, ")


def test_a_cancelled_run_ends_and_finished_runs_are_kept(tmp_path: Path) -> None:
    cancel = threading.Event()
    short, endless = cy.examples.scenario("lan-5"), cy.examples.scenario("lan-5", overrides={"duration": "100000 s"})
    jobs = [Job(short.with_values({"duration": "10 ms"}).canonical), Job(endless.canonical)]
    with Store(tmp_path / "runs.sqlite") as store:
        under_way = run_jobs(jobs, threads=1, store=store, cancel=cancel)
        assert next(under_way).index == 0
        cancel.set()
        with pytest.raises(cy.errors.CancelledError, match=r"^cancelled$"):
            next(under_way)
        assert store.kept == 1
    with pytest.raises(cy.errors.CancelledError):
        endless.run(cancel=cancel)
    with pytest.raises(
        cy.UsageError, match=r"^cancel = True: must be a threading.Event, or an object with a method is_set\(\)$"
    ):
        endless.run(cancel=True)  # type: ignore[arg-type]


def network_of_many_vcs(folder: Path, count: int) -> Path:
    """Write a scenario of 1 us with this number of VCs, each between its own hosts."""
    path = folder / "many.toml"
    path.write_text(
        'duration = "1 us"\n'
        f'host = [{{ name = "a", count = {count} }}, {{ name = "b", count = {count} }}]\n'
        'switch = [{ name = "s" }, { name = "t" }]\n'
        'link = [{ from = "a", to = "s", rate = "155 Mbps" }, { from = "s", to = "t", rate = "155 Mbps" },\n'
        '        { from = "t", to = "b", rate = "155 Mbps" }]\n'
        'vc = [{ from = "a", to = "b", traffic = "tcp" }]\n'
    )
    return path


def test_a_run_of_10_000_vcs_takes_at_most_5_s_of_cpu_time(tmp_path: Path) -> None:
    path = network_of_many_vcs(tmp_path, 10_000)

    def cpu_seconds() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return float(used.ru_utime + used.ru_stime)

    before = cpu_seconds()
    done = subprocess.run([sys.executable, "-m", "cellyard", "run", path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "a10000" in done.stdout, done.stderr
    assert cpu_seconds() - before < 5


@pytest.mark.skipif(sys.platform != "linux", reason="the largest memory so far is given in other units elsewhere")
@pytest.mark.parametrize(("name", "most_bytes"), [("check", 640e6), ("run", 1450e6)])
def test_a_command_on_100_000_vcs_takes_at_most_this_memory(name: str, most_bytes: float, tmp_path: Path) -> None:
    path = network_of_many_vcs(tmp_path, 100_000)
    assert peak_bytes(tmp_path, name, path) < most_bytes


def test_equal_jobs_run_once_and_each_has_the_result() -> None:
    jobs = [Job(CANONICAL, 0), Job(CANONICAL, 1), Job(CANONICAL, 0)]
    reported: list[float] = []
    found = sorted(run_jobs(jobs, threads=1, on_progress=reported.append), key=lambda run: run.index)
    assert [run.index for run in found] == [0, 1, 2] and reported[-1] == 3
    assert found[0].result == found[2].result != found[1].result
    assert [run.cpu_seconds > 0 for run in found] == [True, True, False]
