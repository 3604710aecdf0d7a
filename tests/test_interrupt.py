"""Ctrl-C ends a command at once, with status 130, and keeps what was finished."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

STAT = "/proc/{}/stat"
pytestmark = pytest.mark.skipif(not Path(STAT.format("self")).exists(), reason="reads CPU time from /proc")


class Command:
    """The command line under way."""

    def __init__(self, folder: Path, *arguments: object) -> None:
        def listen() -> None:
            # A shell in the background would have it ignore Ctrl-C.
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        self.out, self.err = folder / "stdout", folder / "stderr"
        command = [sys.executable, "-m", "cellyard", *map(str, arguments)]
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, preexec_fn=listen)

    def cpu_seconds(self) -> float:
        """What it has used so far."""
        fields = Path(STAT.format(self.process.pid)).read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def interrupt(self) -> float:
        """Ctrl-C; its status must be 130. CPU seconds that it still used."""
        before = self.cpu_seconds()
        hung = threading.Timer(60, self.process.kill)
        hung.start()
        self.process.send_signal(signal.SIGINT)
        _, status, used = os.wait4(self.process.pid, 0)
        hung.cancel()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        assert self.process.returncode == 130, self.err.read_text()
        return used.ru_utime + used.ru_stime - before


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "lan.toml", "--set", "duration=20 s", "--replications", "5000", "--out", "out", "--format", "json"],
        ["study", "run", "ubr-plus", "--replications", "500", "--out", "out", "--format", "json"],
    ],
    ids=["run", "study"],
)
def test_interrupt_keeps_finished_runs(lan: Path, tmp_path: Path, arguments: list[str]) -> None:
    store = tmp_path / "out/runs.jsonl"
    command = Command(tmp_path, *arguments)
    while not (store.exists() and store.read_text().count("\n") >= 3):
        assert command.process.poll() is None
        time.sleep(0.02)
    assert command.interrupt() < 2
    err = command.err.read_text()
    assert "interrupted" in err and "Traceback" not in err
    document = json.loads(command.out.read_text())
    assert document["complete"] is False
    kept = [json.loads(line) for line in store.read_text().splitlines()]
    assert len(kept) >= 3
    if arguments[0] == "run":
        assert len(document["runs"]) == len(kept)


def test_interrupt_during_one_long_run(lan: Path, tmp_path: Path) -> None:
    """The run would take minutes; it is under way once the command has used more than its start costs."""
    command = Command(tmp_path, "run", lan, "--set", "duration=100000 s")
    while command.cpu_seconds() < 1:
        assert command.process.poll() is None
        time.sleep(0.02)
    assert command.interrupt() < 2
    assert command.out.read_text() == "no run has finished\n"
