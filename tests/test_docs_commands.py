"""Links in the documentation lead somewhere, and its commands run as written."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import COMMANDS
from conftest import ROOT

PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "benches").rglob("*.md")),
    *sorted((ROOT / "python/cellyard/studies").glob("*/*.md")),
]
#: Blocks of type `console` that show an error or take minutes.
NOT_RUN = ("check bad.toml", "study report")


def headings(page: Path) -> set[str]:
    """Return the anchors of a page, made as GitHub makes them."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_resolve(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in headings(target), link


def test_every_command_and_option_is_in_the_documentation() -> None:
    page = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    there = set(re.findall(r"--[a-z][a-z-]*", page))
    for words, parser in COMMANDS.items():
        name = " ".join(words)
        assert f"`cellyard {name}" in page, f"cellyard {name} is not in docs/command-line.md"
        options = {option for action in parser._actions for option in action.option_strings if option != "-h"}
        assert there >= options, f"options of {name} that are not in docs/command-line.md"


def test_commands_run_in_order_of_reading(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    commands = []
    for page in (ROOT / "README.md", ROOT / "docs/command-line.md"):
        for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
            commands += re.findall(r"^\$ (cellyard .*)\n((?:(?!\$ ).*\n)*)", block, re.M)
    assert len(commands) > 8
    checker, flags = doctest.OutputChecker(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, shown in commands:
        if any(part in command for part in NOT_RUN):
            continue
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        # The output shown on the page is what the command prints, with ... for omissions.
        assert not shown.strip() or checker.check_output(shown, done.stdout, flags), f"{command}\n{done.stdout}"
