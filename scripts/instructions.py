"""Count the instructions of short runs with valgrind: `make instructions`.

The counts are compared with those in benches/instructions.json. Load on the machine changes times,
but has almost no effect on these counts. A run that takes over 3 % more than stored fails, unless the changelog
explains the increase. The explanation is a line `* Instructions: CASE N million, because ...` whose
number is right to 1 %.

Counts depend on the compiler, the C library, the features of the processor, and valgrind. They are
compared only if all of these equal those of the stored counts. Otherwise the command prints the
differences and passes.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
STORED = ROOT / "benches/instructions.json"
CHANGELOG = ROOT / "CHANGELOG.md"
#: Smallest relative increase that counts as a change, and the accuracy of a note in the changelog.
ALLOWED, EXACT = 0.03, 0.01


#: Processor features that valgrind shows to the C library, which chooses functions by them.
FEATURES = {"avx", "avx2"}


def tools() -> dict[str, str]:
    """Return what counts depend on besides the code."""
    about = dict(re.findall(r"(.+): (.+)", output_of("rustc", "-vV")))
    flags = Path("/proc/cpuinfo")
    found = FEATURES.intersection(flags.read_text(encoding="utf-8").split()) if flags.exists() else FEATURES
    return {
        "compiler": f"rustc {about['release']}, LLVM {about['LLVM version']}",
        "target": about["host"],
        "C library": " ".join(platform.libc_ver()),
        "processor": " ".join(sorted(found)),
        "valgrind": output_of("valgrind", "--version").strip(),
    }


def output_of(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def different_tools(now: dict[str, str], before: dict[str, str]) -> list[str]:
    """Return a line for each tool that differs from that of the stored counts.

    >>> different_tools({"valgrind": "3.25", "target": "a"}, {"valgrind": "3.19", "target": "a"})
    ['valgrind: stored 3.19, here 3.25']
    """
    return [
        f"{tool}: stored {before.get(tool)}, here {value}" for tool, value in now.items() if before.get(tool) != value
    ]


def build(*options: str) -> str:
    """Build the program with the runs, and return its path.

    The build is that of `make bench`, but without optimisation across crates, which takes long.
    """
    command = [
        "cargo",
        "bench",
        "--package",
        "cellyard-engine",
        "--bench",
        "instructions",
        *options,
        "--no-run",
        "--message-format",
        "json",
    ]
    quick = {**os.environ, "CARGO_PROFILE_BENCH_LTO": "off"}
    done = subprocess.run(command, cwd=ROOT, env=quick, check=True, stdout=subprocess.PIPE, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    programs = [
        item["executable"] for item in found if item.get("executable") and item["target"]["name"] == "instructions"
    ]
    return str(programs[-1])


def count_instructions(program: str, *arguments: str) -> int:
    """Return the number of instructions of a whole run."""
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*counter, program, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if not found:
        sys.exit(f"valgrind printed no count:\n{done.stderr}")
    return int(found[1].replace(",", ""))


def has_note(case: str, count: int, changelog: str) -> bool:
    """Whether the changelog explains this count of a case.

    >>> has_note("lan-5", 123_000_000, "* Instructions: lan-5 123.4 million, because of more checks")
    True
    >>> has_note("lan-5", 130_000_000, "* Instructions: lan-5 123.4 million, because of more checks")
    False
    """
    notes = re.findall(rf"^\* Instructions: {re.escape(case)} ([\d.]+) million, because \S", changelog, re.M)
    return any(abs(float(note) * 1e6 / count - 1) <= EXACT for note in notes)


def too_many(now: dict[str, int], before: dict[str, int], changelog: str) -> list[str]:
    """Return a line for each case that takes more without a note, or that is not stored.

    >>> too_many({"a": 103, "b": 104, "c": 1}, {"a": 100, "b": 100}, "")
    ['b: 4.0 % more instructions, and no note in the changelog', 'c: not stored']
    """
    messages = []
    for case, count in now.items():
        if case not in before:
            messages.append(f"{case}: not stored")
        elif count > (1 + ALLOWED) * before[case] and not has_note(case, count, changelog):
            messages.append(
                f"{case}: {100 * (count / before[case] - 1):.1f} % more instructions, and no note in the changelog"
            )
    return messages


def main() -> None:
    """Count the instructions, then compare or write them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true", help="store what was counted")
    write = options.parse_args().write
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing (on Debian: apt install valgrind)")
    tools_here = tools()
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else None
    if stored and not write and (differ := different_tools(tools_here, stored["tools"])):
        print(
            "instructions are not compared, because the stored ones were counted with other tools:", *differ, sep="\n  "
        )
        return
    program = build()
    cases = output_of(program).split()
    now = {case: count_instructions(program, case) for case in cases}
    before = stored["instructions"] if stored else {}
    for case, count in now.items():
        change = f"  {100 * (count / before[case] - 1):+6.1f} %" if case in before else ""
        print(f"{case:20} {count / 1e6:8.1f} million{change}")
    if write:
        STORED.write_text(json.dumps({"tools": tools_here, "instructions": now}, indent=2) + "\n", encoding="utf-8")
    elif not stored:
        print(f"no counts are stored: make instructions INSTRUCTIONS_ARGS=--write writes {STORED.relative_to(ROOT)}")
    elif found := too_many(now, before, CHANGELOG.read_text(encoding="utf-8")):
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
