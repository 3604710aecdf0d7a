"""Reads a study in a user's folder: checks ``study.toml``, imports its modules, and locates errors in them."""

import hashlib
import importlib
import importlib.util
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from cellyard.system.errors import UsageError, unknown
from cellyard.system.limits import MOST_REPLICATIONS
from cellyard.system.terminal import printable

#: Prefix of the package names of such folders, followed by a hash of the path.
PREFIX = "_cellyard_study_"

#: The modules of a study, and the name that the runner needs of each.
PARTS = {"scenario": "scenario", "claims": "", "answer": "ANSWER", "figures": "figures", "metrics": "metrics"}

#: Required and optional entries of ``study.toml``.
NEEDED = ("name", "question", "citation", "table")
OTHERS = (
    "assumed", "centre", "doubtful", "effects", "group_by", "key_figure", "meanings", "metrics", "replications", "setting",
    "shared", "single", "told", "tolerance", "unmatched",
)  # fmt: skip
CENTRES = ("median", "mean")

#: Required and optional entries in its lists of tables.
LISTS = {
    "table": (("name", "file", "title", "metrics"), ("text", "published", "beside", "printed")),
    "doubtful": (("table", "row", "metrics"), ()),
    "unmatched": (("text",), ("rows",)),
    "assumed": (("what", "value"), ("tried", "effect", "reason", "alternatives")),
}


def read(folder: Path) -> dict[str, Any]:
    """The content of a folder's ``study.toml``; raises `UsageError`, which names everything missing or wrong."""
    file = folder / "study.toml"
    try:
        info = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: is not TOML: {error}") from None
    for key in info:
        if key not in (*NEEDED, *OTHERS):
            raise unknown(f"{file}: entry", key, (*NEEDED, *OTHERS))
    if wrong := list(_wrong(info)):
        raise UsageError(f"{file}: {'; '.join(wrong)}")
    return {"shared": {}, **info}


def _wrong(info: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{key} is missing" for key in NEEDED if key not in info)
    name = info.get("name", "a")
    if not (isinstance(name, str) and name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)):
        yield f"name = {name!r} names files: letters, digits, - and _"
    if info.get("centre", "median") not in CENTRES:
        yield f"centre = {info['centre']!r} is none of {', '.join(CENTRES)}"
    replications = info.get("replications", 1)
    if type(replications) is not int or not 1 <= replications <= MOST_REPLICATIONS:
        yield f"replications = {replications!r} must be a whole number from 1 to {MOST_REPLICATIONS}"
    yield from _lacks("[citation]", info.get("citation"), ("title", "authors", "where", "year"))
    for key, (needed, others) in LISTS.items():
        entries = info.get(key, [])
        if not (isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)):
            yield f"{key} is not [[{key}]]"
            continue
        for place, entry in enumerate(entries):
            head = f"[[{key}]] {entry.get('name', place + 1)}"
            yield from _lacks(head, entry, needed)
            yield from (f"{head}: {one} is unknown" for one in entry if one not in (*needed, *others))
            if not isinstance(entry.get("metrics", []), list):
                yield f"{head}: metrics is not a list"
    tables = [entry.get("name") for entry in info.get("table", []) if isinstance(entry, dict)]
    yield from (f"[[table]] {one} is there twice" for one in dict.fromkeys(tables) if tables.count(one) > 1)


def _lacks(head: str, table: Any, keys: tuple[str, ...]) -> Iterator[str]:
    if table is not None and not isinstance(table, dict):
        yield f"{head} is not a table"
    elif table is not None:
        yield from (f"{head}: {key} is missing" for key in keys if key not in table)


def part(folder: Path, name: str) -> ModuleType:
    """A module of a study's folder, which may import others next to it (``from . import helper``); raises `UsageError` if it fails."""
    file = folder / f"{name}.py"
    if not file.is_file():
        raise UsageError(f"{folder}: has no {name}.py")
    package = PREFIX + hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    if package not in sys.modules:
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[package] = importlib.util.module_from_spec(spec)
    try:
        module = importlib.import_module(f"{package}.{name}")
    except SyntaxError as error:
        raise UsageError(f"{error.filename}:{error.lineno}: {error.msg}") from None
    if PARTS[name] and not hasattr(module, PARTS[name]):
        raise UsageError(f"{file}: has no {PARTS[name]}")
    return module


def code_line(folder: Path, parts: Iterable[str] = PARTS) -> str:
    """The announcement before code of a folder runs: its files among ``parts``."""
    files = [f"{name}.py" for name in parts if (folder / f"{name}.py").is_file()]
    return printable(f"running the Python code of {folder}: {', '.join(files)}")


def place(fault: BaseException) -> str:
    """File and line in a study's folder where an error came from; empty for other errors."""
    found, trace = "", fault.__traceback__
    while trace:
        if str(trace.tb_frame.f_globals.get("__name__", "")).startswith(PREFIX):
            found = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
