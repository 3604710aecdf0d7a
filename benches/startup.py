"""How long `cellyard --help` takes, best and median of 15, beside its goal."""

import statistics
import subprocess
import sys
import time

GOAL_S = 0.2

times = []
for _ in range(15):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "cellyard", "--help"], check=True, stdout=subprocess.DEVNULL)
    times.append(time.perf_counter() - started)
print(f"cellyard --help: {min(times):.3f} s at best, {statistics.median(times):.3f} s median (goal {GOAL_S} s)")
