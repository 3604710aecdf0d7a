"""Output: names are plain text in any encoding, and streams may be closed or full."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import cellyard as cy
import pytest
from cellyard.scenario import Scenario
from cellyard.system.terminal import printable
from conftest import LAN, Cli, shown_until_the_end, stored

COMMAND = [sys.executable, "-m", "cellyard"]
FULL = Path("/dev/full")


def named(lan: Path, name: str) -> Path:
    lan.write_text(LAN.replace("two TCPs", name), encoding="utf-8")
    return lan


def on_a_terminal(*arguments: object, folder: Path, columns: int = 200) -> tuple[int, str]:
    """Return the status of a command whose streams are all a terminal, and what the terminal showed."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    command = [*COMMAND, *map(str, arguments)]
    process = subprocess.Popen(
        command, cwd=folder, stdin=follower, stdout=follower, stderr=follower, env=environment, close_fds=True
    )
    os.close(follower)
    shown = shown_until_the_end(leader)
    return process.wait(timeout=60), shown.decode()


def in_shell(text: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line in the shell, in which CY is the command."""
    line = f'CY() {{ {" ".join(COMMAND)} "$@"; }}; {text}'
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, capture_output=True, text=True, env={**os.environ, **environment}
    )


def test_the_table_of_losses_is_folded_to_the_terminal(lan: Path) -> None:
    _, shown = on_a_terminal("run", lan, "--set", "switch.west.ubr.drop=tail-drop", folder=lan.parent, columns=32)
    parts = [part.splitlines() for part in shown.replace("\r", "").split("\n\n")]
    heads = [line.split() for part in parts for line in part if line.startswith("vc   port ")]
    assert heads == [["vc", "port", "all", "full"]]


@pytest.mark.parametrize(
    "name", ["[/nope] evil", "[link=http://a.example/]click[/link] [bold red]FAKE[/]", "lan [slow]", ":warning: {task}"]
)
def test_names_on_a_terminal_are_not_markup(lan: Path, name: str) -> None:
    status, shown = on_a_terminal("run", named(lan, name), folder=lan.parent)
    assert status == 0 and "Traceback" not in shown
    bar, result = shown.split("\x1b[?25h")
    assert name in bar and f"{name}: 1 s simulated" in result
    assert "\x1b]8" not in shown and "\x1b[31m" not in shown and "\x1b[1;31m" not in shown


def test_control_and_direction_characters_are_escaped(cli: Cli, lan: Path, tmp_path: Path) -> None:
    evil = "\x1b[31mred\u202e"
    shown = "\\u001b[31mred\\u202e"
    (tmp_path / f"{evil}.toml").write_text(LAN.replace('"1 s"', '"1 parsec"'))
    for arguments, expected in (
        (["run", f"{evil}.txt"], f"{shown}.txt: cannot read"),
        (["check", f"{evil}.toml"], f"{shown}.toml:2:12: duration"),
        (["study", "run", evil], f"study `{shown}` does not exist"),
        (["study", "run", "ubr-plus", "--table", evil], f"table `{shown}` does not exist"),
        (["components", evil], f"component `{shown}` does not exist"),
        (["example", evil], f"example `{shown}` does not exist"),
        (["run", lan, "--set", f"{evil}=1"], "red"),
        (["run", lan, "--grid", f"duration={evil}"], "red"),
        (["study", "run", "ubr-plus", "--where", evil], "red"),
        (["run", lan, f"--{evil}"], "red"),
        (["run", lan, "--kernel", evil], "red"),
        (["run", lan, "--plot", f"{evil}/a.png", "--set", 'probe=[{ what = "cwnd", of = "vc1" }]'], shown),
        ([evil], "red"),
    ):
        told = cli.refused(*arguments)
        assert expected in told
        assert "\x1b" not in told and "\u202e" not in told and "Traceback" not in told
    printed = cli.ok("run", named(lan, "a\u202eb"), "--out", evil)
    assert "\u202e" not in printed and "\x1b" not in printed
    assert printed.startswith("a\\u202eb: ") and printed.endswith(f"written to {shown}\n")


def test_an_undecodable_file_name_can_be_read_and_is_shown(lan: Path) -> None:
    try:
        (lan.parent / os.fsdecode(b"\xff.toml")).write_text(LAN)
    except OSError:
        pytest.skip("the file system has no such names")
    done = in_shell("CY run $(printf '\\377').toml && CY run $(printf '\\377').txt", lan.parent)
    assert done.returncode == 2 and done.stdout.startswith("two TCPs: ")
    assert done.stderr == "\\udcff.txt: cannot read: No such file or directory\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_characters_that_an_encoding_lacks_are_escaped(lan: Path, encoding: str) -> None:
    name = "naïve ☃ 😀"
    named(lan, name)
    shown = name.encode(encoding, "cellyard-escaped").decode(encoding)
    assert printable(name) == name and ("☃" in shown) == (encoding == "utf-8")
    for command in (
        ["run"],
        ["run", "--replications", "2"],
        ["check"],
        ["check", "--brief"],
        ["run", "--format", "csv"],
    ):
        done = subprocess.run(
            [*COMMAND, *command, str(lan)], capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}
        )
        assert done.returncode == 0, done.stderr
        out = done.stdout.decode(encoding)
        if "run" in command and "csv" not in command:
            assert out.startswith(f"{shown}: ")
        if command == ["check"]:  # the printed scenario is still the same
            assert Scenario.from_toml(out).name == name
    bad = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([*COMMAND, "study", "run", name], capture_output=True, env=bad)
    assert done.returncode == 2 and shown in done.stderr.decode(encoding)


def test_closed_streams_are_no_error(lan: Path) -> None:
    expected = in_shell("CY run lan.toml --set duration='10 ms'", lan.parent).stdout.splitlines()
    for closed in ("<&-", "2>&-", "<&- 2>&-"):
        done = in_shell(f"CY run lan.toml --set duration='10 ms' --out out {closed}", lan.parent)
        assert (done.returncode, done.stderr) == (0, ""), closed
        assert done.stdout.splitlines()[2:-1] == [*expected[2:], ""]
    for closed in (">&-", "<&- >&- 2>&-"):
        done = in_shell(f"CY run lan.toml --set duration='20 ms' --out out {closed}", lan.parent)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert stored(lan.parent / "out/runs.sqlite") == 2
    done = in_shell("CY run - <&-", lan.parent)
    assert (done.returncode, done.stderr) == (2, "-: cannot read: standard input is closed\n")
    assert in_shell("CY nope 2>&-", lan.parent).returncode == 2


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "command",
    [
        "--version",
        "--help",
        "run --help",
        "components",
        "example",
        "study list",
        "check lan.toml",
        "run lan.toml --format json",
    ],
)
def test_a_full_standard_output_gets_one_message(lan: Path, command: str) -> None:
    done = in_shell(f"CY {command} >/dev/full", lan.parent)
    last = done.stderr.splitlines()[-1]
    assert (done.returncode, last) == (1, "standard output: No space left on device")
    assert "check" in command or len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_standard_error_loses_only_its_own_text(lan: Path) -> None:
    done = in_shell("CY check lan.toml 2>/dev/full", lan.parent)
    assert done.returncode == 0 and Scenario.from_toml(done.stdout).name == "two TCPs"
    assert in_shell("CY nope 2>/dev/full", lan.parent).returncode == 2


def test_a_closed_pipe_prints_no_traceback(lan: Path) -> None:
    for command in ("components", "run lan.toml --format json", "check lan.toml"):
        done = in_shell(f"CY {command} | head -c 1", lan.parent)
        assert "Traceback" not in done.stderr and "Exception" not in done.stderr


def test_a_line_break_in_a_folder_name_splits_no_message(cli: Cli, lan: Path, tmp_path: Path) -> None:
    (tmp_path / "a\nb").write_text("a file")
    told = cli.refused("run", lan, "--out", "a\nb")
    assert told.startswith("a\\u000ab: ") and len(told.splitlines()) == 1
    shown = cli.ok("run", lan, "--out", "c\nd")
    assert shown.endswith("written to c\\u000ad\n")


def test_errors_in_python_escape_what_a_terminal_would_obey() -> None:
    with pytest.raises(cy.ScenarioError) as raised:
        cy.Scenario(name="n", duration="1 \u202es", hosts=[], switches=[], links=[], vcs=[])
    problem = next(found for found in raised.value.problems if found.path == "duration")
    assert "\\u202e" in str(raised.value) and "\u202e" not in str(raised.value) + problem.text + str(problem)
    with pytest.raises(ValueError, match=r"\\u001b\[31mred\\u000a.*cannot read"):
        cy.Scenario.read("\x1b[31mred\n.toml")
