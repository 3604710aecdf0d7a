"""Ctrl-C ends within a second, with status 130, and keeps what was finished."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Cli


def listen() -> None:
    """Before the command starts: a shell in the background would have it ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    "command",
    [
        ["run", "lan.toml", "--set", "duration=20 s", "--replications", "5000", "--out", "out", "--format", "json"],
        ["study", "run", "ubr-plus", "--replications", "500", "--out", "out", "--format", "json"],
    ],
    ids=["run", "study"],
)
def test_interrupt_keeps_finished_runs(lan: Path, tmp_path: Path, cli: Cli, command: list[str]) -> None:
    store = tmp_path / "out/runs.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "cellyard", *command],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listen,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (store.exists() and store.read_text().count("\n") >= 3):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    interrupted = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - interrupted < 1.0
    assert process.returncode == 130
    assert "interrupted" in err and "Traceback" not in err
    document = json.loads(out)
    assert document["complete"] is False
    kept = [json.loads(line) for line in store.read_text().splitlines()]
    assert len(kept) >= 3
    if command[0] == "run":
        assert len(document["runs"]) == len(kept)


def test_interrupt_during_one_long_run(lan: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cellyard", "run", str(lan), "--set", "duration=10000 s"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listen
    )
    time.sleep(1.5)
    interrupted = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert time.monotonic() - interrupted < 1.0
    assert process.returncode == 130
    assert out == "no run has finished\n"
