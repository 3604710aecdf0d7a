"""The Python packages are layered: each imports only those below it.

Imports inside functions and for types count, too.
"""

import ast
import shlex
from pathlib import Path

import cellyard

ROOT = Path(cellyard.__file__).parent

#: Packages in order, from the bottom.
FLOORS = shlex.split(
    "system statistics show results runs components programs scenario store outputs study plot experiment studies commands cli"
)

#: Modules outside the packages, which give public names to their contents.
FLAT = ["cluster", "errors", "examples", "networks", "plot_rows", "public", "reproduce", "__init__", "__main__"]


def imported() -> dict[str, set[str]]:
    """Return for each module the modules that it imports anywhere."""
    files = {module(path): path for path in ROOT.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        wanted: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "cellyard":
                package = (node.module or "").removeprefix("cellyard").removeprefix(".")
                inner = {f"{package}.{alias.name}".removeprefix(".") for alias in node.names}
                wanted |= {target if target in files else package for target in inner}
        found[name] = (wanted & set(files)) - {name, ""}
    return found


def module(path: Path) -> str:
    """Return the name of a module within the package."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def test_packages_import_only_those_below() -> None:
    floor = {name: place for place, name in enumerate(FLOORS)}
    public = {name for name in FLAT if name not in floor} | {""}
    inside = {name: found for name, found in imported().items() if name not in public}
    assert len(inside) > 100
    up = [
        f"{name} imports {other}"
        for name, found in inside.items()
        for other in found
        if other in public or floor[other.partition(".")[0]] > floor[name.partition(".")[0]]
    ]
    assert not up, "\n".join(up)


def test_no_modules_import_each_other() -> None:
    rest = imported()
    while free := [name for name, found in rest.items() if not found & rest.keys()]:
        for name in free:
            del rest[name]
    assert not rest, f"these import each other: {rest}"


def test_new_modules_stand_in_a_package() -> None:
    assert sorted(path.stem for path in ROOT.glob("*.py")) == sorted(FLAT)
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == set(FLOORS)
