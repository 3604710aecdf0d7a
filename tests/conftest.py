import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cellyard.cli.main import commands, main, parser
from cellyard.study import Rows, Study
from cellyard.study.reproduce import Reproduction
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))

#: Parsers of all commands by their words, and the words of all groups.
COMMANDS = commands(parser())
GROUPS = sorted({words[:1] for words in COMMANDS if len(words) > 1})

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


def chain(*parts: str, vc: str, delay: str = "0 s", count: int = 1, **fields: str) -> str:
    """Return a scenario as TOML: two hosts with switches between them, by name, and the rate of each link.

    There are ``count`` hosts at the first end, and a VC from each. ``vc`` is what the VCs state besides their ends.
    """
    (first, *between, last), rates = parts[::2], parts[1::2]
    links = [
        f'{{ from = "{start}", to = "{end}", rate = "{rate}", delay = "{delay}" }}'
        for start, end, rate in zip(parts[::2], parts[2::2], rates, strict=False)
    ]
    switches = [f'{{ name = "{name}" }}' for name in between]
    usual = {
        "host": f'[{{ name = "{first}", count = {count} }}, {{ name = "{last}" }}]',
        "switch": f"[{', '.join(switches)}]",
        "link": f"[{', '.join(links)}]",
        "vc": f'[{{ from = "{first}", to = "{last}", {vc} }}]',
    }
    stated = {name: value if value[0] in "[{" else f'"{value}"' for name, value in {**usual, **fields}.items()}
    return "".join(f"{name} = {value}\n" for name, value in stated.items())


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


class Cli:
    """The command line in a folder, in this process; `python -m cellyard` is that of tests on processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Return what a command prints, and its status."""
        words, out, err = list(map(str, arguments)), StringIO(), StringIO()
        signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"{words} takes longer than {timeout} s"))
        signal.setitimer(signal.ITIMER_REAL, timeout)
        try:
            with chdir(self.folder), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
                main(words)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return subprocess.CompletedProcess(words, int(ended.value.code or 0), out.getvalue(), err.getvalue())

    def begun(self, *arguments: object, **options: Any) -> subprocess.Popen[str]:
        """Start a command in a separate process."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": self.folder}
        return subprocess.Popen([sys.executable, "-m", "cellyard", *map(str, arguments)], **{**pipes, **options})

    def apart(self, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """Return the same as a call, from a separate process."""
        process = self.begun(*arguments, **options)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def ok(self, *arguments: object) -> str:
        """Return what a command prints on standard output; it must succeed."""
        done = self(*arguments)
        assert done.returncode == 0, done
        return done.stdout

    def json(self, *arguments: object) -> Any:
        """Return the document of a command that succeeds."""
        return json.loads(self.ok(*arguments, "--format", "json"))

    def refused(self, *arguments: object) -> str:
        """Return the error of a command with status 2, which must print nothing else, and no traceback."""
        done = self(*arguments)
        assert (done.returncode, done.stdout) == (2, "") and "Traceback" not in done.stderr, done
        return done.stderr


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return the command line in an empty folder."""
    monkeypatch.setattr(sys, "argv", ["cellyard"])
    monkeypatch.setattr("cellyard.system.progress.LINE_SECONDS", 1e9)  # no progress on a slow machine
    return Cli(tmp_path)


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


def reproduced(study: Study, rows: Rows, **options: Any) -> Reproduction:
    """Return rows of a study, simulated."""
    made = Reproduction(study, rows, **options)
    for _ in made.advance():
        pass
    return made


def wait_for(condition: Callable[[], object], process: subprocess.Popen[Any]) -> None:
    """Wait until the condition holds, while the process goes on."""
    while not condition():
        assert process.poll() is None
        time.sleep(0.005)


def full_at(size: int) -> Callable[[], None]:
    """Limit the files of a process to ``size`` bytes, as on a full disk."""
    limits = (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)


#: Runs the command line, and prints the largest memory of its process. That of `os.wait4` includes the memory of the
#: process that started it. With several arenas the C library keeps up to a fifth more, depending on how threads meet.
PEAK = """
import sys
from cellyard.__main__ import main
try:
    main()
finally:
    print(open("/proc/self/status").read(), file=sys.stderr)
"""


def peak_bytes(folder: Path, *arguments: object) -> int:
    """Return the largest memory of a command in a folder."""
    command = [sys.executable, "-c", PEAK, *map(str, arguments)]
    one_arena = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, cwd=folder, env=one_arena, capture_output=True, text=True, check=True)
    return 1024 * int(done.stderr.partition("VmHWM:")[2].split()[0])


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
