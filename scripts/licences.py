"""Write THIRD-PARTY-LICENSES.txt: the crates in the engine of a wheel, with their licence texts.

The crates are those that `cargo metadata` reports as linked on Linux on x86-64, without macros and
build dependencies. The texts come from the files of the crates, as cargo has unpacked them. Nothing
is fetched. With ``--check`` nothing is written, and the exit status is 1 when the file is out of
date.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "THIRD-PARTY-LICENSES.txt"

#: Crate of which the wheel is made, and platform on which it is tested.
CRATE, PLATFORM = "cellyard-python", "x86_64-unknown-linux-gnu"

#: Beginnings of the names of licence files.
NAMES = ("COPYING", "COPYRIGHT", "LICENCE", "LICENSE", "NOTICE", "UNLICENSE")

HEAD = """\
The engine of Cellyard contains the Rust standard library (MIT OR Apache-2.0, Copyright (c) The Rust Project
Contributors) and the crates below. Their licences follow, one below each line of = signs. A text that several crates
share stands once.
"""
RULE = "=" * 100


def linked() -> list[dict[str, Any]]:
    """Return the packages that are linked into the engine, by name and version."""
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", PLATFORM]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    needs = {node["id"]: node["deps"] for node in found["resolve"]["nodes"]}
    waiting = [identifier for identifier, package in packages.items() if package["name"] == CRATE]
    seen: set[str] = set()
    while waiting:
        identifier = waiting.pop()
        if identifier in seen or any("proc-macro" in target["kind"] for target in packages[identifier]["targets"]):
            continue
        seen.add(identifier)
        waiting += [
            need["pkg"] for need in needs[identifier] if any(kind["kind"] is None for kind in need["dep_kinds"])
        ]
    chosen = [packages[identifier] for identifier in seen if packages[identifier]["source"]]
    return sorted(chosen, key=lambda package: (package["name"], package["version"]))


def texts(package: dict[str, Any]) -> Iterator[str]:
    """Return the licence texts of a package. Raise `SystemExit` when there are none."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name.upper().startswith(NAMES))
    if not files:
        raise SystemExit(f"{package['name']} {package['version']}: has no file with a licence")
    for file in files:
        lines = file.read_text(encoding="utf-8").strip("\r\n").splitlines()
        yield "\n".join(line.rstrip() for line in lines)


def document(packages: Iterable[dict[str, Any]]) -> str:
    """Return the content of the whole file."""
    of_texts: dict[str, list[str]] = {}
    names = []
    for package in packages:
        name = f"{package['name']} {package['version'].partition('+')[0]}"
        names.append(f"{name}: {package['license']}")
        for text in texts(package):
            of_texts.setdefault(text, []).append(name)
    parts = [f"{', '.join(names_of)}\n\n{text}\n" for text, names_of in of_texts.items()]
    return f"\n{RULE}\n".join([HEAD + "\n" + "\n".join(names) + "\n", *parts])


def main(arguments: list[str]) -> int:
    """Write or check the file; return the exit status."""
    text = document(linked())
    if arguments == ["--check"]:
        if FILE.exists() and FILE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{FILE.name} is out of date: python scripts/licences.py", file=sys.stderr)
        return 1
    FILE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
