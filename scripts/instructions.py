"""Instructions of short runs, counted by valgrind, beside those in benches/instructions.json: `make instructions`.

A busy machine moves times and hardly these counts. A run that takes more than 3 % more than is stored fails,
unless the changelog tells of it in a line `* Instructions: CASE N million, because ...` whose number is right to 1 %.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
STORED = ROOT / "benches/instructions.json"
CHANGELOG = ROOT / "CHANGELOG.md"
#: What is a change, and how exact a note is.
ALLOWED, EXACT = 0.03, 0.01


def built() -> str:
    """The program with the runs, as `make bench` would build it."""
    command = [
        "cargo",
        "bench",
        "--package",
        "cellyard-engine",
        "--bench",
        "instructions",
        "--no-run",
        "--message-format",
        "json",
    ]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    programs = [
        item["executable"] for item in found if item.get("executable") and item["target"]["name"] == "instructions"
    ]
    return str(programs[-1])


def counted(program: str, case: str) -> int:
    """Instructions of a run from start to end."""
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*counter, program, case], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if not found:
        sys.exit(f"valgrind told no count:\n{done.stderr}")
    return int(found[1].replace(",", ""))


def is_told(case: str, count: int, changelog: str) -> bool:
    """Whether the changelog says that a case takes so many.

    >>> is_told("lan-5", 123_000_000, "* Instructions: lan-5 123.4 million, because of more checks")
    True
    >>> is_told("lan-5", 130_000_000, "* Instructions: lan-5 123.4 million, because of more checks")
    False
    """
    notes = re.findall(rf"^\* Instructions: {re.escape(case)} ([\d.]+) million, because \S", changelog, re.M)
    return any(abs(float(note) * 1e6 / count - 1) <= EXACT for note in notes)


def too_many(now: dict[str, int], before: dict[str, int], changelog: str) -> list[str]:
    """A sentence for each case that takes more without a note, or that nobody stored.

    >>> too_many({"a": 103, "b": 104, "c": 1}, {"a": 100, "b": 100}, "")
    ['b: 4.0 % more instructions, and no note in the changelog', 'c: not stored']
    """
    told = []
    for case, count in now.items():
        if case not in before:
            told.append(f"{case}: not stored")
        elif count > (1 + ALLOWED) * before[case] and not is_told(case, count, changelog):
            told.append(
                f"{case}: {100 * (count / before[case] - 1):.1f} % more instructions, and no note in the changelog"
            )
    return told


def main() -> None:
    """Count, then compare or write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true", help="store what was counted")
    write = options.parse_args().write
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing (on Debian: apt install valgrind)")
    compiler = subprocess.run(["rustc", "-V"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else None
    if stored and not write and stored["compiler"] != compiler:
        sys.exit(f"{STORED.name} was written with {stored['compiler']}, and this is {compiler}")
    program = built()
    cases = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    now = {case: counted(program, case) for case in cases}
    before = stored["instructions"] if stored else {}
    for case, count in now.items():
        change = f"  {100 * (count / before[case] - 1):+6.1f} %" if case in before else ""
        print(f"{case:20} {count / 1e6:8.1f} million{change}")
    if write:
        STORED.write_text(json.dumps({"compiler": compiler, "instructions": now}, indent=2) + "\n", encoding="utf-8")
    elif not stored:
        print(f"none are stored: make instructions INSTRUCTIONS_ARGS=--write writes {STORED.relative_to(ROOT)}")
    elif told := too_many(now, before, CHANGELOG.read_text(encoding="utf-8")):
        sys.exit("\n".join(told))


if __name__ == "__main__":
    main()
