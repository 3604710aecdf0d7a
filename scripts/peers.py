"""Measure htsim beside the bench program again, and write benches/peers.json.

The environment variable HTSIM names a command that simulates a dumbbell of TCP NewReno, all links at
155.52 Mb/s. It is called with three arguments: the number of sources, the delay of each
link in microseconds (5 on the LAN, 5000 on the WAN), and the simulated seconds (10 and 20). It prints
the number of packets that the bottleneck forwarded in a line `packets N`. Each packet counts as 12
cells: a segment of 512 bytes in AAL5. A line `cpu_seconds S` states the cost of the run. Without it, the
CPU time of the whole process counts.

htsim and the bench program take turns. The least of all repetitions counts.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "benches/peers.json"
BENCH = ["cargo", "bench", "--quiet", "--package", "cellyard-engine", "--bench", "scenarios", "--"]
CELLS_PER_PACKET = 12
#: Sources, link delay in microseconds, and simulated seconds of each case.
CASES = {
    "newreno-lan-5": (5, 5, 10),
    "newreno-lan-15": (15, 5, 10),
    "newreno-wan-5": (5, 5000, 20),
    "newreno-wan-15": (15, 5000, 20),
}
#: The mode of the reference loop in the output of the bench program.
REFERENCE = "random, 1000 cells"


def htsim_ns(output: str, process_seconds: float) -> float:
    """Return ns of CPU time per cell from the output of htsim."""
    found = dict(re.findall(r"^(packets|cpu_seconds)\s+([\d.]+)\s*$", output, re.M))
    if not float(found.get("packets", 0)):
        sys.exit(f"the command in HTSIM printed no line `packets N`, but: {output.strip()[:200]!r}")
    return float(found.get("cpu_seconds", process_seconds)) * 1e9 / (float(found["packets"]) * CELLS_PER_PACKET)


def bench_ns(output: str) -> dict[str, float]:
    """Return ns per cell of the reference loop and of each case from the output of the bench program."""
    reference = re.search(rf"^{REFERENCE}\s+[\d.]+\s+([\d.]+)", output, re.M)
    cases = re.findall(r"^(newreno-\S+)\s+[\d.]+\s+[\d.]+\s+([\d.]+)", output, re.M)
    if not reference or not set(CASES) <= {name for name, _ in cases}:
        sys.exit(f"the output of the bench program lacks the reference loop or a case:\n{output}")
    return {REFERENCE: float(reference[1]), **{name: float(ns) for name, ns in cases}}


def measured_htsim(command: list[str], case: tuple[int, int, int]) -> float:
    """Run htsim once and return ns of CPU time per cell."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run([*command, *map(str, case)], check=True, stdout=subprocess.PIPE, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"the command in HTSIM failed: {error}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return htsim_ns(done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def document(htsim: dict[str, float], reference_ns: float, version: str) -> dict[str, object]:
    """Return the content of benches/peers.json."""
    return {
        "date": datetime.date.today().isoformat(),
        "htsim": version,
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "reference_ns": round(reference_ns, 2),
        "mcells_per_cpu_second": {name: round(1e3 / ns, 1) for name, ns in htsim.items()},
    }


def main() -> None:
    """Measure, print the ratios, and write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repetitions", type=int, default=5)
    options.add_argument("--version", required=True, help="commit of htsim")
    command = shlex.split(os.environ.get("HTSIM", ""))
    if not command and not {"-h", "--help"} & set(sys.argv):
        sys.exit("set HTSIM to a command that runs htsim; see scripts/peers.py --help")
    asked = options.parse_args()
    htsim: dict[str, float] = {}
    ours: dict[str, float] = {}
    for _ in range(asked.repetitions):
        for name, case in CASES.items():
            htsim[name] = min(htsim.get(name, float("inf")), measured_htsim(command, case))
        bench = [*BENCH, "--repetitions", "1", "newreno"]
        done = subprocess.run(bench, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        for name, ns in bench_ns(done.stdout).items():
            ours[name] = min(ours.get(name, float("inf")), ns)
    for name, ns in htsim.items():
        print(f"{name:20} htsim {ns:6.1f} ns, Cellyard {ours[name]:6.1f} ns, {ns / ours[name]:.1f} x")
    stored = document(htsim, ours[REFERENCE], asked.version)
    STORED.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
