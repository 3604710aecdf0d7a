"""Checks of the measurement of htsim beside the bench program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import peers
import pytest
from conftest import ROOT

#: As the bench program prints.
OUTPUT = """Yardstick: one bare FIFO port, median of 1 repetitions
random, 1000 cells       169.5     5.90
case                  Mcells  Mcells/s  ns/cell   goal   aim  meets reference  x htsim
newreno-lan-5            3.7      83.3    12.00     77   100  yes        2.03     2.7
newreno-lan-15           3.7      66.7    15.00     77   100  NO         2.54     2.3
newreno-wan-5            3.2     100.0    10.00     77   100  yes        1.69     4.8
newreno-wan-15           7.3     100.0    10.00     77   100  yes        1.69     5.1
"""


def test_without_htsim_one_line_says_what_to_set() -> None:
    without = {name: value for name, value in os.environ.items() if name != "HTSIM"}
    script = [sys.executable, str(ROOT / "scripts/peers.py"), "--version", "1"]
    done = subprocess.run(script, env=without, capture_output=True, text=True)
    assert done.returncode and done.stderr == "set HTSIM to a command that runs htsim; see scripts/peers.py --help\n"


def test_speed_of_htsim_is_that_of_cells_per_cpu_second() -> None:
    assert peers.htsim_ns("packets 1000000\ncpu_seconds 0.6\n", 9.0) == pytest.approx(50)
    assert peers.htsim_ns("packets 1000000\n", 0.6) == pytest.approx(50)
    with pytest.raises(SystemExit, match="no line `packets N`"):
        peers.htsim_ns("done\n", 1.0)


@pytest.mark.parametrize("command", ["/nowhere/htsim", "false"])
def test_a_command_that_fails_is_an_error(command: str) -> None:
    with pytest.raises(SystemExit, match=rf"the command in HTSIM failed: .*{command}"):
        peers.measured_htsim([command], (5, 5, 10))


def test_a_case_that_the_bench_program_lacks_is_an_error() -> None:
    assert peers.bench_ns(OUTPUT)["newreno-lan-15"] == 15 and peers.bench_ns(OUTPUT)[peers.REFERENCE] == 5.9
    with pytest.raises(SystemExit, match="lacks"):
        peers.bench_ns(OUTPUT.replace("newreno-wan-5 ", "other"))


def test_a_measurement_with_fake_programs_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def program(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    monkeypatch.setenv("HTSIM", program("htsim", "echo packets $(($1 * $2 * $3))000; echo cpu_seconds 0.12"))
    monkeypatch.setattr(peers, "BENCH", [program("bench", f"cat <<'END'\n{OUTPUT}END")])
    monkeypatch.setattr(peers, "STORED", tmp_path / "peers.json")
    monkeypatch.setattr(sys, "argv", ["peers.py", "--repetitions", "2", "--version", "abc"])
    peers.main()
    stored = json.loads((tmp_path / "peers.json").read_text(encoding="utf-8"))
    assert stored["htsim"] == "abc" and stored["reference_ns"] == 5.9
    assert stored["mcells_per_cpu_second"]["newreno-lan-5"] == 25
    assert "newreno-lan-5        htsim   40.0 ns, Cellyard   12.0 ns, 3.3 x" in capsys.readouterr().out


def test_the_stored_measurement_has_every_case() -> None:
    assert set(json.loads(peers.STORED.read_text(encoding="utf-8"))["mcells_per_cpu_second"]) == set(peers.CASES)
