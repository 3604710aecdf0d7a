"""Links in the documentation lead somewhere, and its commands run as written."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import cellyard as cy
import pytest
import tour
from cellyard.experiment import examples as experiments
from cellyard.show import explorer
from conftest import COMMANDS, ROOT, Cli

PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/gallery").glob("*.md")),
    *sorted((ROOT / "benches").rglob("*.md")),
    *sorted((ROOT / "python/cellyard/studies").glob("*/*.md")),
]
REPOSITORY = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
#: Commands in blocks of type `console` that take minutes.
NOT_RUN = ("study report",)
#: Commands that show a mistake, with its message.
MISTAKES = ("drop=red", "(k - X)")


def headings(page: Path) -> set[str]:
    """Return the anchors of a page, made as GitHub makes them."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_into_the_repository_resolve(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if of_repository := re.match(rf"{REPOSITORY}/(?:blob|raw|tree)/main/", path):
            target = ROOT / path[of_repository.end() :]
        elif link.startswith(("https://", "explore:")):
            continue
        assert target.exists(), link
        assert not anchor or anchor in headings(target), link


def test_every_command_and_option_is_in_the_documentation() -> None:
    page = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"--[a-z][a-z-]*", page))
    for words, parser in COMMANDS.items():
        name = " ".join(words)
        assert f"`cellyard {name}" in page, f"cellyard {name} is not in docs/command-line.md"
        options = {option for action in parser._actions for option in action.option_strings if option != "-h"}
        assert documented >= options, f"options of {name} that are not in docs/command-line.md"


def test_links_into_the_explorer_name_its_stories_and_examples() -> None:
    stories = [story["name"] for story in explorer.stories()]
    links = [
        link
        for page in (ROOT / "docs").rglob("*.md")
        for link in re.findall(r"\]\(explore:([^)]+)\)", page.read_text(encoding="utf-8"))
    ]
    known = {f"story={name}" for name in stories} | {f"example={name}" for name in cy.examples.names()}
    assert len(links) > 40 and set(links) <= known
    page = (ROOT / "docs/explorer.md").read_text(encoding="utf-8")
    assert all(f"| {story['title']} |" in page for story in explorer.stories())


@pytest.mark.parametrize(
    "pages",
    [
        ("README.md", "docs/command-line.md"),
        ("docs/start.md",),
        ("docs/tutorial.md",),
        ("docs/own-policy.md",),
        ("docs/alpha.md",),
        ("docs/looks-wrong.md", "docs/lecture.md", "docs/trust.md"),
    ],
)
def test_commands_run_in_order_of_reading(pages: tuple[str, ...], tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    commands = []
    for page in pages:
        text = (ROOT / page).read_text(encoding="utf-8")
        for name, content in re.findall(r"Save\s+this\s+as\s+`([\w.]+)`:\n\n```toml\n(.*?)^```", text, re.M | re.S):
            (tmp_path / name).write_text(content, encoding="utf-8")
        commands += tour.commands(text)
    assert len(commands) >= 5
    for command, shown in commands:
        if any(part in command for part in NOT_RUN):
            continue
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        printed = done.stdout + done.stderr
        expected = 2 if any(part in command for part in MISTAKES) else 0
        assert done.returncode == expected, f"{command}\n{done.stderr}"
        assert tour.prints(shown, printed), f"{command}\n{printed}"


@pytest.mark.parametrize(
    "name",
    [
        *("buffer", "policies", "minimum-rate", "precise", "service", "utilisation"),
        pytest.param("what-matters", marks=pytest.mark.slow),  # 2560 runs
    ],
)
def test_answers_of_the_ready_experiments_are_as_printed(name: str, cli: Cli, tmp_path: Path) -> None:
    page = (ROOT / "docs/ready-experiments.md").read_text(encoding="utf-8")
    (shown,) = (shown for command, shown in tour.commands(page) if command == f"cellyard experiment run {name}.toml")
    (tmp_path / f"{name}.toml").write_text(experiments.text(name), encoding="utf-8")
    printed = cli.ok("experiment", "run", f"{name}.toml")
    assert tour.prints(shown, printed)
