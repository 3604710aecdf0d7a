"""Ctrl-C, SIGTERM and SIGHUP end a command at once, each with its status.

Finished runs are kept.
"""

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cellyard.runs.batch import core_count
from conftest import Cli, shown_until_the_end, stored, wait_for

STAT = "/proc/{}/stat"
pytestmark = pytest.mark.skipif(not Path(STAT.format("self")).exists(), reason="reads CPU time from /proc")


#: Signals that end a command, with the exit status of each.
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}

#: Largest number of runs being stored when the signal comes: only a few more than cores, as runs that
#: finish together are stored together. These runs may be in the store or not, and count as
#: unfinished.
AT_ONCE = 2 * core_count()


def listen() -> None:
    """Restores the default handling of signals.

    A background shell makes commands ignore Ctrl-C, and nohup makes them ignore SIGHUP.
    """
    for number in STATUS:
        signal.signal(number, signal.SIG_DFL)


class Command:
    """A command in progress."""

    def __init__(self, folder: Path, *arguments: object) -> None:
        self.out, self.err = folder / "stdout", folder / "stderr"
        command = [sys.executable, "-m", "cellyard", *map(str, arguments)]
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, preexec_fn=listen)

    def cpu_seconds(self) -> float:
        """Return the CPU seconds used so far."""
        fields = Path(STAT.format(self.process.pid)).read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def interrupt(self, number: signal.Signals = signal.SIGINT, *, or_done: bool = False) -> float:
        """Send Ctrl-C or another signal, and return the CPU seconds still used.

        The status must be that of the signal, or of a command that has finished.
        """
        before = self.cpu_seconds()
        hung = threading.Timer(60, self.process.kill)
        hung.start()
        os.kill(self.process.pid, number)
        _, status, used = os.wait4(self.process.pid, 0)
        hung.cancel()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        assert self.process.returncode in ({STATUS[number], 0} if or_done else {STATUS[number]}), self.err.read_text()
        return used.ru_utime + used.ru_stime - before


@pytest.mark.parametrize("number", STATUS, ids=lambda number: number.name)
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "lan.toml", "--set", "duration=20 s", "--replications", "5000", "--out", "out", "--format", "json"],
        ["study", "run", "ubr-plus", "--replications", "500", "--out", "out", "--format", "json"],
    ],
    ids=["run", "study"],
)
def test_interrupt_keeps_finished_runs(lan: Path, tmp_path: Path, arguments: list[str], number: signal.Signals) -> None:
    store = tmp_path / "out/runs.sqlite"
    command = Command(tmp_path, *arguments)
    wait_for(lambda: stored(store) >= 3, command.process)
    assert command.interrupt(number) < 1
    # This test may itself have left an empty log by looking, which it cannot remove.
    assert not [path for path in store.parent.glob("runs.sqlite-wal") if path.stat().st_size]
    err = command.err.read_text()
    assert "interrupted" in err and "Traceback" not in err
    document = json.loads(command.out.read_text())
    assert document["complete"] is False
    assert stored(store) >= 3
    if arguments[0] == "run":
        assert 0 <= stored(store) - len(document["runs"]) <= AT_ONCE


@pytest.mark.parametrize("duration", ["1 s", "50 s"])  # mostly stored together, mostly one by one
@pytest.mark.parametrize("place", ["store.Store.add_all", "store.Store.__exit__", "system.progress.Progress.__exit__"])
def test_an_interrupt_after_the_last_run_keeps_and_writes_all(
    lan: Path, tmp_path: Path, place: str, duration: str
) -> None:
    """Sends the signal after the command has done the work that follows the second of two runs.

    Runs that finish at almost the same time are stored together.
    """
    module, kind, name = place.rsplit(".", 2)
    code = (
        "import os, pathlib, signal\n"
        f"from cellyard.{module} import {kind}\n"
        f"done, runs = {kind}.{name}, 0\n"
        "def ends(*arguments, **options):\n"
        "    global runs\n"
        f"    found, new = done(*arguments, **options), {'len(arguments[1])' if name == 'add_all' else '2'}\n"
        "    runs += new\n"
        "    if runs == 2:\n"
        "        pathlib.Path('stored_last').write_text(str(new))\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return found\n"
        f"{kind}.{name} = ends\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from cellyard.__main__ import main\n"
        "main()\n"
    )
    arguments = shlex.split(
        f"run lan.toml --set 'duration={duration}' --replications 2 --jobs 1 --out out --format json"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True)
    # Runs whose lines were being added count as unfinished.
    finished = 2 - int((tmp_path / "stored_last").read_text()) if name == "add_all" else 2
    on = "2 finished runs are kept in out/runs.sqlite, and the same command continues from there"
    assert (done.returncode, done.stderr) == (130, f"interrupted: {finished} of 2 runs finished; {on}\n")
    shown = json.loads(done.stdout)
    assert len(shown["runs"]) == finished and shown["complete"] is (finished == 2)
    if finished:
        assert json.loads((tmp_path / "out/results.json").read_text()) == shown
    assert stored(tmp_path / "out/runs.sqlite") == 2


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        ("run lan.toml --set 'duration=100000 s'", "no run has finished\n"),
        # The twin keeps all frames, and would be refused for its possible memory use.
        ("run lan.toml --set 'duration=100000 s' --kernel twin --memory 10000GB", "no run has finished\n"),
        ("check large.toml", ""),
    ],
)
def test_interrupt_of_one_long_run_and_of_reading(lan: Path, tmp_path: Path, options: str, printed: str) -> None:
    """The run takes minutes, and reading seconds; both are under way after more CPU time than the start takes."""
    (tmp_path / "large.toml").write_text("host = [" + "1," * 4_000_000 + "]\n")
    command = Command(tmp_path, *shlex.split(options))
    wait_for(lambda: command.cpu_seconds() >= 1, command.process)
    assert command.interrupt() < (2 if "check" in options else 1)
    assert command.out.read_text() == printed and "Traceback" not in command.err.read_text()


def test_an_interrupt_in_any_phase_ends_the_command_within_a_second(lan: Path, tmp_path: Path) -> None:
    """Interrupts in any phase, from reading the scenario to writing the last file.

    The runs have a million points to print and write. Python has started by then, as it cannot be
    interrupted properly before. One signal suffices in any phase. Finished runs are written and
    printed if that takes no longer.
    """
    probe = 'probe=[{ what = "queue", of = "west->east", interval = "2 us" }]'
    arguments = ("run", lan, "--set", probe, "--replications", "2", "--jobs", "1", "--out", "out", "--format", "json")
    command = Command(tmp_path, *arguments)
    _, status, used = os.wait4(command.process.pid, 0)
    command.process.returncode = os.waitstatus_to_exitcode(status)
    assert command.process.returncode == 0
    whole = used.ru_utime + used.ru_stime
    assert whole > 0.5, "too fast to have phases"
    for place in (0.2 + part / 10 * whole for part in range(10)):
        (tmp_path / "out/runs.sqlite").unlink(missing_ok=True)
        command = Command(tmp_path, *arguments)
        while command.process.poll() is None and command.cpu_seconds() < place:
            time.sleep(0.005)
        if command.process.poll() is not None:
            continue
        assert command.interrupt(or_done=True) < 1, f"after {place:.2f} of {whole:.2f} s"
        assert "Traceback" not in command.err.read_text()
        assert not list((tmp_path / "out").glob(".cellyard-new-*")), "half a file"


def test_an_interrupt_while_files_are_written_says_what_is_kept(lan: Path, tmp_path: Path) -> None:
    probe = 'probe=[{ what = "queue", of = "west->east", interval = "4 us" }]'
    arguments = ("run", lan, "--set", probe, "--replications", "2", "--jobs", "1", "--out", "out")
    command = Command(tmp_path, *arguments)
    wait_for((tmp_path / "out/.cellyard-new-results.json").exists, command.process)
    assert command.interrupt() < 1
    message = "interrupted: the result files are unchanged, and 2 finished runs are kept in out/runs.sqlite\n"
    assert command.err.read_text() == message
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["provenance.json", "runs.sqlite"]


@pytest.mark.parametrize("number", STATUS, ids=lambda number: number.name)
def test_the_cursor_of_the_terminal_is_shown_again(cli: Cli, lan: Path, number: signal.Signals) -> None:
    leader, follower = pty.openpty()
    process = cli.begun("run", lan, "--set", "duration=100000 s", stderr=follower, preexec_fn=listen)
    os.close(follower)
    shown = b""
    while b"\x1b[?25l" not in shown:
        shown += os.read(leader, 65536)
    time.sleep(0.2)
    process.send_signal(number)
    shown += shown_until_the_end(leader)
    assert process.wait(timeout=60) == STATUS[number]
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l") and b"Traceback" not in shown


def test_a_closed_terminal_ends_the_command_and_finished_runs_are_kept(cli: Cli, lan: Path, tmp_path: Path) -> None:
    """Simulates closing the terminal window.

    The system and the shell both send SIGHUP, and nothing can be printed any more.
    """
    leader, follower = pty.openpty()
    terminal: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), follower)
    process = cli.begun(
        *("run", lan, "--set", "duration=20 s", "--replications", "5000", "--out", "out"),
        start_new_session=True,
        **terminal,
    )
    os.close(follower)
    store = tmp_path / "out/runs.sqlite"
    wait_for(lambda: stored(store) >= 3, process)
    os.close(leader)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=60) == 129
    document = json.loads((tmp_path / "out/results.json").read_text())
    assert 0 <= stored(store) - len(document["runs"]) <= AT_ONCE
    assert stored(store) >= 3


def test_nohup_is_respected(cli: Cli, lan: Path, tmp_path: Path) -> None:
    ignore = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)
    arguments = ["--set", "duration=200 s", "--replications", "12", "--jobs", "1", "--out", "out"]
    process = cli.begun("run", lan, *arguments, preexec_fn=ignore)
    store = tmp_path / "out/runs.sqlite"
    wait_for(lambda: stored(store), process)
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=120)
    # A slow machine prints its progress, and nothing else is printed.
    lines = [line for line in err.splitlines() if " of 12 runs, " not in line]
    assert (process.returncode, lines) == (0, [])
    assert stored(store) == 12


def test_a_signal_during_imports_prints_no_traceback() -> None:
    code = (
        "import os, signal, sys\n"
        "class Early:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'cellyard.cli.main': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Early())\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from cellyard.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize("status", [129, 130, 143])
def test_an_interrupt_in_code_made_from_a_text_keeps_the_status(tmp_path: Path, status: int) -> None:
    """Interrupts code made from text, such as a dataclass.

    There, ``python -m`` would kill itself at the end, though the interrupt was handled.
    """
    (tmp_path / "interrupted.py").write_text(f"""
import sys
from cellyard import __main__
from cellyard.cli import main

def command():
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        sys.exit({status})

main.main = command
__main__.main()
""")
    assert subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path, check=False).returncode == status
