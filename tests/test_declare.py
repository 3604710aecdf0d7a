"""A command line is read here or by typer, and is the same to both."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from cellyard import cli, cli_command, declare
from command_line import commands, options
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

Called = tuple[str, dict[str, Any]]

#: Words of commands as they are and as they are not.
COMMANDS = [*commands(cli.app), ("lost",), ("study",), ("store", "lost"), ("--version",), ("run", "list")]
#: What is no whole option, an option of few commands or of all, and values that are and are not of any option.
OTHERS = ["--help", "-h", "--se", "--", "--plot-from", "--brief", "--replications"]
VALUES = [
    "lan.toml",
    "-",
    "a=b",
    "json",
    "twin",
    "JSON",
    "3",
    "0",
    "-1",
    "",
    " ",
    "x",
    "ubr-plus",
    "--seed=4",
    "--format=csv",
    "--out=",
]


def by_typer(words: list[str]) -> Called | None:
    """What typer calls with the line, or ``None`` when it calls nothing."""
    called: list[Called] = []

    def call(function: Callable[[], int | None]) -> int:
        """Instead of the command, its name and what it would be called with."""
        values = dict(
            zip(function.__code__.co_freevars, (c.cell_contents for c in function.__closure__ or ()), strict=True)
        )
        called.append((values["_function"].__name__, values["values"]))
        return 0

    with pytest.raises(SystemExit):
        cli.app.for_typer(call)(args=words, prog_name="cellyard")
    return called[0] if called else None


@pytest.mark.parametrize(
    ("line", "name", "expected"),
    [
        ("run lan.toml", "run", {"scenario": Path("lan.toml"), "overrides": None, "output_format": cli_command.Format.table}),
        ("run --seed 3 - --set a=b --set=c=d", "run", {"scenario": Path("-"), "seed": 3, "overrides": ["a=b", "c=d"]}),
        ("run --overwrite --out=there x --kernel twin", "run", {"overwrite": True, "out": Path("there"), "kernel": cli.Kernel.twin}),
        ("check x --brief --replications 5", "check", {"brief": True, "replications": 5}),
        ("components", "components", {"name": None}),
        ("study list", "list_studies", {}),
        ("study report ubr-plus --table 2 --table 3", "report", {"name": "ubr-plus", "table": ["2", "3"], "replications": 20}),
    ],
)  # fmt: skip
def test_a_plain_line_is_read_without_typer_and_as_typer_reads_it(
    line: str, name: str, expected: dict[str, Any]
) -> None:
    found = declare.read(cli.app, line.split())
    assert found
    function, values = found
    assert (function.__name__, {key: values[key] for key in expected}) == (name, expected)
    assert (name, values) == by_typer(line.split())


def lines() -> st.SearchStrategy[list[str]]:
    """Command lines of which some are right."""

    def of(command: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
        function = commands(cli.app).get(command)
        words = [*(options(function) if function else ()), *OTHERS, *2 * VALUES]
        return st.lists(st.sampled_from(words), max_size=6).map(lambda rest: [*command, *rest])

    return st.sampled_from(COMMANDS).flatmap(of)


@settings(max_examples=600, deadline=None)
@given(lines())
def test_what_is_read_without_typer_is_read_by_typer_alike(line: list[str]) -> None:
    found = declare.read(cli.app, line)
    if found:
        function, values = found
        assert (function.__name__, values) == by_typer(line)


@pytest.mark.parametrize(
    "line",
    [
        "", "run", "run x --help", "run x --sed 3", "run x --seed -1", "run x --seed 1 --seed 2", "lost x", "run x y",
        "run x --format yaml", "run -- x", "run x --overwrite=1", "run x --out", "run ''",
    ],
)  # fmt: skip
def test_any_other_line_is_left_to_typer(line: str) -> None:
    assert declare.read(cli.app, [word.strip("'") for word in line.split()]) is None


@pytest.mark.parametrize("columns", [1, 50, 52, 57, 64, 70, 79, 80, 200])
@pytest.mark.parametrize("group", [[], *([name] for name in cli.app.groups)], ids=" ".join)
def test_help_of_a_group_is_what_typer_writes(
    group: list[str], columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for name in ("--help", "-h"):
        by_typer([*group, name])
        assert capsys.readouterr().out == f"{declare.help_of(cli.app, [*group, name], 'cellyard')}\n"


@pytest.mark.parametrize(
    "line", ["run --help", "study lost --help", "--help study", "--version --help", "", "study", "--hel"]
)
def test_help_of_anything_but_a_group_is_left_to_typer(line: str) -> None:
    assert declare.help_of(cli.app, line.split(), "cellyard") is None


def test_a_shell_that_completes_asks_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CELLYARD_COMPLETE", "complete_bash")
    assert declare.read(cli.app, ["run", "x"]) is None
    assert declare.help_of(cli.app, ["--help"], "cellyard") is None


def test_a_setting_that_only_typer_knows_leaves_its_command_to_typer() -> None:
    assert declare._kind(cli.Seed) is not None
    bounded = declare.Option(min=1)
    assert declare._kind(Annotated[str, bounded]) is None


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_scenario_is_checked_and_run_without_heavy_modules(command: str) -> None:
    heavy = (
        "typer",
        "click",
        "pydantic",
        "rich",
        "numpy",
        "jinja2",
        "matplotlib",
        "html",
        "hashlib",
        "cellyard.result_types",
    )
    code = (
        "import sys, cellyard.cli as c\n"
        f"try: c.main(['{command}', '{ROOT / 'examples/lan-5.toml'}', '--set', 'duration=1 ms'])\n"
        "except SystemExit as ended: assert not ended.code\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
