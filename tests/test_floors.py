"""Imports of the Python part point down, those inside functions and those for types included."""

from __future__ import annotations

import ast
from pathlib import Path

import cellyard

ROOT = Path(cellyard.__file__).parent

#: The one way back up: `Scenario.run` begins a batch, which takes a store, which gives scenarios.
RUN = {"scenario", "batch", "store", "store.file"}


def imported() -> dict[str, set[str]]:
    """Of each module, those that it imports anywhere."""
    files = {module(path): path for path in ROOT.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        wanted: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "cellyard":
                package = (node.module or "").removeprefix("cellyard").removeprefix(".")
                inner = {f"{package}.{one.name}".removeprefix(".") for one in node.names}
                wanted |= {one if one in files else package for one in inner}
        found[name] = (wanted & set(files)) - {name, ""}  # the package itself only hands names on
    return found


def module(path: Path) -> str:
    """A module's name within the package."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def reached(start: str, imports: dict[str, set[str]]) -> set[str]:
    """What a module imports, and what that imports, and so on."""
    found: set[str] = set()
    rest = list(imports[start])
    while rest:
        if (one := rest.pop()) not in found:
            found.add(one)
            rest += imports[one]
    return found


def test_no_modules_import_each_other_but_for_a_scenario_that_runs_itself() -> None:
    imports = imported()
    assert len(imports) > 100
    below = {name: reached(name, imports) for name in imports}
    assert {name for name in imports if name in below[name]} == RUN
    imports["scenario"] -= {"batch", "store"}
    assert not [name for name in RUN if name in reached(name, imports)]
