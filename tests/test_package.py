"""The package can be installed with everything that the documentation uses."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from conftest import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY: str = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]


def test_all_is_every_other_extra_for_users() -> None:
    extras: dict[str, list[str]] = dict(PROJECT["optional-dependencies"])
    every = extras.pop("all")
    del extras["dev"]
    assert sorted(every) == sorted(one for extra in extras.values() for one in extra)


def test_a_hint_about_a_missing_package_names_one_of_an_extra() -> None:
    listed = {re.split(r"[<>=]", one)[0] for one in PROJECT["optional-dependencies"]["all"]}
    hints = set()
    for path in sorted((ROOT / "python/cellyard").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"cellyard\[[a-z]", text), path
        hints |= set(re.findall(r"pip install ([\w-]+)", text))
    assert hints == {"distributed", "matplotlib", "optuna", "scipy"} <= listed


def test_the_front_page_has_only_links_that_an_index_can_follow() -> None:
    # That they lead to files and headings of this repository, tests/test_docs_commands.py checks.
    text = re.sub(r"^```.*?^```", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M | re.S)
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]*)", text)
    links += [
        ("!" if tag == "img" else "", link)
        for tag, link in re.findall(r"<(img|a)\b[^>]*?(?:src|href)=\"([^\"]*)", text)
    ]
    assert len(links) > 20
    for picture, link in links:
        # An index shows pictures by their files, and has no page of its own for a file.
        allowed = f"{REPOSITORY}/raw/main/" if picture else "https://"
        assert link.startswith(allowed) or (not picture and link.startswith("#")), link
        assert not (picture or link.startswith("#")) or (ROOT / link.removeprefix(allowed).partition("#")[0]).exists()


def test_addresses_are_those_of_the_repository() -> None:
    assert PROJECT["urls"] and all(url.startswith(REPOSITORY) for url in PROJECT["urls"].values())
    cited = re.search(r"^repository-code: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited and cited[1] == REPOSITORY
    about = (ROOT / "conda-recipe/recipe.yaml").read_text(encoding="utf-8").partition("\nabout:\n")[2]
    urls = re.findall(r"https://\S+", about)
    assert len(urls) == 3 and all(url.startswith(REPOSITORY) for url in urls)


def test_the_conda_recipe_has_the_version_and_the_requirements_of_the_package() -> None:
    recipe = (ROOT / "conda-recipe/recipe.yaml").read_text(encoding="utf-8")
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert f'version: "{version}"' in recipe
    #: Packages with another name in conda.
    names = {"matplotlib": "matplotlib-base", "duckdb": "python-duckdb"}
    section = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    listed = set(re.findall(r"- (\S+ >=\S+)", section))
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["all"]]
    stated = {f"{names.get(name, name)} >={least}" for name, _, least in (one.partition(">=") for one in wanted)}
    assert listed == stated | {f"python {PROJECT['requires-python']}"}


def test_actions_of_workflows_are_pinned_by_hash() -> None:
    used = re.findall(r"uses: (.*)", (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    assert used and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", one) for one in used)
