"""Startup cost: CPU time of whole commands, next to the goal.

Prints user plus system time, best and median of 15 runs. With --instructions, also the number of
instructions, counted once by valgrind. Other load on the machine does not affect that number.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from instructions import count_instructions

RUNS = 15
#: Number of VCs in the large networks.
MANY = 10_000

TINY = """name = "tiny"
duration = "1 ms"
host = [{ name = "a", count = 5 }, { name = "b" }]
switch = [{ name = "w" }]
link = [
    { from = "a", to = "w", rate = "155.52 Mbps", delay = "5 us" },
    { from = "w", to = "b", rate = "155.52 Mbps", delay = "5 us" },
]
vc = [{ from = "a", to = "b", traffic = "tcp" }]
"""


def star() -> str:
    """Return a network of many VCs that four lines describe."""
    return TINY.replace('"1 ms"', '"1 us"').replace("count = 5", f"count = {MANY}")


def listed() -> str:
    """Return a network like that of `star`, with every host, link and VC listed separately."""
    ends = 'rate = "155.52 Mbps"\ndelay = "5 us"\n'
    head = f'name = "listed"\nduration = "1 us"\n[[switch]]\nname = "w"\n[[host]]\nname = "b"\n[[link]]\nfrom = "w"\nto = "b"\n{ends}'
    hosts = (f'[[host]]\nname = "a{i}"\n' for i in range(MANY))
    links = (f'[[link]]\nfrom = "a{i}"\nto = "w"\n{ends}' for i in range(MANY))
    vcs = (f'[[vc]]\nname = "v{i}"\nfrom = "a{i}"\nto = "b"\ntraffic = "tcp"\n' for i in range(MANY))
    return head + "".join([*hosts, *links, *vcs])


def cpu_seconds(command: list[str]) -> float:
    """Return the CPU time in seconds of a command, which must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print one line for each command."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--instructions", action="store_true")
    counted = options.parse_args().instructions
    if counted and not shutil.which("valgrind"):
        sys.exit("valgrind is missing (on Debian: apt install valgrind)")
    with tempfile.TemporaryDirectory() as folder:
        files = {"tiny": TINY, f"{MANY} VCs": star(), f"{MANY} listed VCs": listed()}
        paths = {name: Path(folder) / f"{i}.toml" for i, name in enumerate(files)}
        for name, text in files.items():
            paths[name].write_text(text, encoding="utf-8")
        cellyard = [sys.executable, "-m", "cellyard"]
        cases = [
            ("python -c pass", [sys.executable, "-c", "pass"], None),
            ("cellyard --help", [*cellyard, "--help"], 0.07),
            ("cellyard run --help", [*cellyard, "run", "--help"], 0.07),
            ("run, tiny", [*cellyard, "run", str(paths["tiny"])], 0.09),
            *(
                (f"{command}, {name}", [*cellyard, command, str(paths[name])], goal)
                for name in files
                for command, goal in (("check", 0.3), ("run", 0.5))
                if name != "tiny"
            ),
        ]
        load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
        print(f"CPU seconds, best and median of {RUNS}{load}")
        for name, command, goal in cases:
            times = [cpu_seconds(command) for _ in range(RUNS)]
            told = f"{name:24} {min(times):.3f} {statistics.median(times):.3f}"
            told += f"  goal {goal:.2f}" if goal else " " * 11
            print(
                f"{told}  {count_instructions(*command) / 1e6:8.1f} M instructions" if counted else told.rstrip(),
                flush=True,
            )


if __name__ == "__main__":
    main()
