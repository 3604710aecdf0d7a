"""Tests that the predicted cost of a run is near what runs took, with the share of the process named."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import cellyard as cy
import pytest
from cellyard.runs.expected import outline, process_seconds, seconds
from conftest import Cli

CAPTURE = '[[probe]]\nwhat = "capture"\nof = "west->east"\nlayer = "cells"\n'
QUEUE = '[[probe]]\nwhat = "queue"\nof = "west->east"\n'

#: Runs the command line, and prints the largest memory of its process. The largest memory that
#: `os.wait4` returns includes that of the process that started it.
RUN = """
import sys
from cellyard.__main__ import main
try:
    main()
finally:
    print(open("/proc/self/status").read(), file=sys.stderr)
"""


def lan(vcs: int = 5, duration: str = "10 s", probes: str = "") -> str:
    """The example ``lan-5`` with this number of VCs, each between hosts of its own."""
    text = (Path(cy.__file__).parent / "examples" / "lan-5.toml").read_text(encoding="utf-8")
    return text.replace("count = 5", f"count = {vcs}").replace('"10 s"', f'"{duration}"') + probes


@pytest.mark.parametrize(
    ("vcs", "probes", "measured_s"),
    [(5, "", 0.14), (5, CAPTURE, 0.47), (1000, "", 0.18), (10_000, "", 0.86), (100_000, "", 8.3)],
)
def test_the_time_of_the_process_is_within_a_factor_of_2_of_what_one_idle_core_took(
    vcs: int, probes: str, measured_s: float
) -> None:
    facts = outline(cy.Scenario.from_toml(lan(probes=probes)).canonical)
    assert facts["links"] == 4 * facts["vcs"] + 2
    told = process_seconds([{**facts, "vcs": vcs, "links": 4 * vcs + 2}])
    assert measured_s / 2 < told < 2 * measured_s


@pytest.mark.parametrize(
    ("vcs", "replications", "probes", "measured_s"),
    [
        (5, 100, "", 0.27),
        (1000, 1, "", 0.35),
        (1000, 5, "", 0.99),
        (10_000, 1, "", 2.5),
        (10_000, 5, "", 9.1),
        (5, 1, f'{QUEUE}interval = "10 us"\n', 0.98),
        (5, 4, f'{QUEUE}interval = "10 us"\n', 3.0),
    ],
)
def test_the_time_of_writing_files_is_within_a_factor_of_2_of_what_one_idle_core_took(
    vcs: int, replications: int, probes: str, measured_s: float
) -> None:
    facts = outline(cy.Scenario.from_toml(lan(probes=probes)).canonical)
    points = [{**facts, "vcs": vcs, "links": 4 * vcs + 2}]
    assert measured_s / 2 < process_seconds(points, replications=replications, out=True) < 2 * measured_s


@pytest.mark.parametrize(
    ("vcs", "traffic", "measured_s"),
    [
        (1000, 'kind = "tcp"', 0.13),
        (10_000, 'kind = "tcp"', 0.72),
        (10_000, 'kind = "udp", rate = "15 kbps"', 0.65),
        (10_000, 'kind = "poisson", rate = "15 kbps"', 2.2),
    ],
)
def test_the_time_of_vcs_that_all_send_is_within_a_factor_of_2_of_what_one_idle_core_took(
    vcs: int, traffic: str, measured_s: float
) -> None:
    text = lan(vcs).replace('buffer = "1000 cells", drop = "epd"', "")
    text = text.replace('kind = "tcp", recovery = "vanilla"', traffic)
    assert measured_s / 2 < seconds(outline(cy.Scenario.from_toml(text).canonical)) < 2 * measured_s


@pytest.mark.parametrize(("vcs", "together_s", "measured_s"), [(1000, 0.02, 0.08), (10_000, 0.18, 0.45)])
def test_replications_of_tcps_that_start_together_take_longer(vcs: int, together_s: float, measured_s: float) -> None:
    facts = outline(cy.Scenario.from_toml(lan(vcs)).canonical)
    assert together_s / 2 < seconds(facts) < 2 * together_s
    assert measured_s / 2.2 < seconds(facts, replicated=True) < 2.2 * measured_s


@pytest.mark.skipif(sys.platform != "linux", reason="the largest memory is read from /proc")
@pytest.mark.parametrize(
    "text",
    [lan(), lan(probes=f'{QUEUE}interval = "1 ms"\n'), lan(probes=CAPTURE), lan(10_000, "1 us")],
    ids=["small", "points", "capture", "10 000 VCs"],
)
def test_memory_is_within_a_factor_of_2_of_what_a_run_takes(text: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(text, encoding="utf-8")
    told = re.search(
        r"at most about (\d+) MB of memory, of which (\d+) MB is the process itself", cli("check", "a.toml").stderr
    )
    assert told
    total, process = map(int, told.groups())
    assert 20 < process <= total
    options = ["--out", "out"] if "capture" in text else []
    command = [sys.executable, "-c", RUN, "run", "a.toml", "--jobs", "1", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    used = re.search(r"VmHWM:\s+(\d+) kB", done.stderr)
    assert used
    assert total / 2 < int(used[1]) * 1024 / 1e6 < 2 * total


def test_check_and_run_name_the_share_of_the_engine(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(lan(duration="1 s", probes=QUEUE), encoding="utf-8")
    told = cli("check", "a.toml", "--brief", "--replications", "3").stdout
    process = r"\S+ s to read, check and print \(\S+ s with --out\)"
    assert re.search(rf"about \S+ s in the engine per run and {process}; at most about", told)
    assert "is the process itself, and what 1 probe without an interval will record" in told
    assert re.search(rf"3 runs, .* of CPU time in the engine and {process}, \S+ s on", told)
    assert re.search(r" s simulated, .* s of CPU time in the engine\n", cli("run", "a.toml").stdout)
