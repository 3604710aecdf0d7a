"""Write the table of the fast paths of ports to benches/fast-paths.csv: `make ways`.

Each fast path is listed with the counted cases (`make instructions`) that enter it, and the instructions
of each case with and without it.
"""

import csv
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import instructions

TABLE = instructions.ROOT / "benches/fast-paths.csv"

#: Number of cases that a row shows: those that save most. The case that costs most is added.
SHOWN = 3


def lines(program: str, *arguments: str) -> list[str]:
    """Return the lines that the program prints."""
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()


def shown(counts: dict[str, tuple[int, int]]) -> str:
    """Return the cases of a fast path in order of savings, from the instructions of each with and without it.

    >>> shown({"a": (1_000_000, 2_500_000), "b": (4_000_000, 3_000_000), "c": (100, 101), "d": (100, 100), "e": (100, 110)})
    'a 1.0 / 2.5, e 0.0 / 0.0, c 0.0 / 0.0, b 4.0 / 3.0'
    """
    order = sorted(counts, key=lambda case: counts[case][0] / counts[case][1])
    chosen = order[:SHOWN] + [case for case in order[SHOWN:][-1:] if counts[case][0] > counts[case][1]]
    return ", ".join(f"{case} {counts[case][0] / 1e6:.1f} / {counts[case][1] / 1e6:.1f}" for case in chosen)


def saves(counts: dict[str, tuple[int, int]]) -> str:
    """Return the smallest and the largest saving of a fast path, relative to a run with it.

    >>> saves({"a": (100, 250), "b": (100, 97)})
    '-3 to +150 %'
    """
    found = [100 * (without / with_it - 1) for with_it, without in counts.values()]
    return f"{min(found):+.0f} to {max(found):+.0f} %" if len(found) > 1 else f"{max(found):+.0f} %"


def main() -> None:
    """Count the instructions, and write the table."""
    program = instructions.build("--features", "fast-paths")
    paths = dict(line.split("\t") for line in lines(program, "--fast-paths"))
    cases = lines(program)
    entered = {case: lines(program, case)[-1].split() for case in cases}
    wanted = [(case, path) for path in paths for case in cases if path in entered[case]]
    with ThreadPoolExecutor() as threads:
        base = dict(
            zip(cases, threads.map(lambda case: instructions.count_instructions(program, case), cases), strict=True)
        )
        without = dict(
            zip(wanted, threads.map(lambda pair: instructions.count_instructions(program, *pair), wanted), strict=True)
        )
    rows = [("fast path", "when", "saves", "cases: million instructions with / without it")]
    for path, when in paths.items():
        counts = {case: (base[case], count) for (case, of), count in without.items() if of == path}
        if not counts:
            sys.exit(f"no counted case enters {path}")
        rows.append((path, when, saves(counts), shown(counts)))
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
