from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))

LAN = """\
name = "two TCPs"
duration = "1 s"
measure = { max_goodput = "125.198491 Mbps" }
host = [{ name = "source", count = 2 }, { name = "sink", count = 2 }]
switch = [{ name = "west", ubr = { buffer = "500 cells", drop = "epd" } }, { name = "east" }]
link = [
  { from = "source", to = "west", rate = "155.52 Mbps", delay = "5 us" },
  { from = "west", to = "east", rate = "155.52 Mbps", delay = "5 us" },
  { from = "east", to = "sink", rate = "155.52 Mbps", delay = "5 us" },
]
vc = [{ from = "source", to = "sink", traffic = { kind = "tcp", recovery = "vanilla" } }]
tie_order = "rotating"
"""

# Under nohup, pytest ignores SIGHUP, and so would every command that a test starts.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Random tests draw from the seed of the command line on every machine: no profile for CI, which would
# ignore it, no cases stored by earlier runs, and no time limit.
settings.register_profile("seeded", derandomize=False, database=None, deadline=None, print_blob=True)
settings.load_profile("seeded")

# Reasons for which `.ci/run` may skip a test.
ALLOWED_SKIPS = {
    "no file system can be mounted here": "containers without the capability to mount",
    "strace cannot look here": "containers without the capability to trace",
    "the file system has no such names": "file systems that demand UTF-8",
}

# Tests show the traceback of a command that fails by an internal error.
os.environ["CELLYARD_TRACEBACK"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--few-skips", action="store_true", help="fail if a test is skipped for a reason not in ALLOWED_SKIPS"
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the seed of random tests, and how often tests were skipped for which reason."""
    terminalreporter.write_line(f"seed of random tests in Python: {config.getoption('--hypothesis-seed')}")
    for reason, count in skips(terminalreporter).items():
        terminalreporter.write_line(
            f"skipped {count} times{'' if is_allowed(reason) else ', not allowed in CI'}: {reason}"
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session with `--few-skips` after a skip that is not allowed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--few-skips") and not all(map(is_allowed, skips(reporter))):
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def is_allowed(reason: str) -> bool:
    """Tell whether CI may skip a test for this reason."""
    return any(reason.startswith(allowed) for allowed in ALLOWED_SKIPS)


def skips(reporter: pytest.TerminalReporter | None) -> Counter[str]:
    """Count the skipped tests by reason."""
    reports = reporter.stats.get("skipped", []) if reporter else []
    return Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)


Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Return a function that runs the command line in an empty folder."""

    def run(*arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cellyard", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=timeout)

    return run


@pytest.fixture
def lan(tmp_path: Path) -> Path:
    """Return the path of a small valid scenario file."""
    path = tmp_path / "lan.toml"
    path.write_text(LAN)
    return path


def stored(path: Path) -> int:
    """Return the number of runs in a store, also while a command writes it."""
    if not path.exists():
        return 0
    connection = sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM run").fetchone()[0])
    except sqlite3.OperationalError:  # the file is being created
        return 0
    finally:
        connection.close()


def shown_until_the_end(terminal: int) -> bytes:
    """Return everything still written to the terminal whose controlling end is given, then close it."""
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    return shown
