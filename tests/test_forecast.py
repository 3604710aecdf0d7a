"""Tests that the predicted cost of a run is near what runs took, with the share of the process named."""

import re
import sys
from pathlib import Path

import cellyard as cy
import pytest
from cellyard.runs.expected import outline, process_seconds, seconds
from conftest import Cli, peak_bytes

CAPTURE = '[[probe]]\nwhat = "capture"\nof = "west->east"\nlayer = "cells"\n'
QUEUE = '[[probe]]\nwhat = "queue"\nof = "west->east"\n'


def lan(vcs: int = 5, duration: str = "10 s", probes: str = "") -> str:
    """The example ``lan-5`` with this number of VCs, each between its own hosts."""
    text = (Path(cy.__file__).parent / "examples" / "lan-5.toml").read_text(encoding="utf-8")
    return text.replace("count = 5", f"count = {vcs}").replace('"10 s"', f'"{duration}"') + probes


FINE = f'{QUEUE}interval = "10 us"\n'


def near(told: float, measured_s: float, factor: float = 2) -> bool:
    """Whether a prediction is within a factor of what one idle core took."""
    return measured_s / factor < told < factor * measured_s


def test_the_time_of_the_process_and_of_writing_files_is_within_a_factor_of_2() -> None:
    for vcs, probes, options, measured_s in [
        (5, "", {}, 0.14),
        (5, CAPTURE, {}, 0.47),
        (1000, "", {}, 0.18),
        (10_000, "", {}, 0.86),
        (100_000, "", {}, 8.3),
        (5, "", {"replications": 100, "out": True}, 0.27),
        (1000, "", {"out": True}, 0.35),
        (1000, "", {"replications": 5, "out": True}, 0.99),
        (10_000, "", {"out": True}, 2.5),
        (10_000, "", {"replications": 5, "out": True}, 9.1),
        (5, FINE, {"out": True}, 0.98),
        (5, FINE, {"replications": 4, "out": True}, 3.0),
    ]:
        facts = outline(cy.Scenario.from_toml(lan(probes=probes)).canonical)
        assert facts["links"] == 4 * facts["vcs"] + 2
        told = process_seconds([{**facts, "vcs": vcs, "links": 4 * vcs + 2}], **options)  # type: ignore[arg-type]
        assert near(told, measured_s), (vcs, probes, options)


def test_the_time_of_vcs_that_all_send_is_within_a_factor_of_2() -> None:
    for vcs, traffic, measured_s in [
        (1000, 'kind = "tcp"', 0.13),
        (10_000, 'kind = "tcp"', 0.72),
        (10_000, 'kind = "udp", rate = "15 kbps"', 0.65),
        (10_000, 'kind = "poisson", rate = "15 kbps"', 2.2),
    ]:
        text = lan(vcs).replace('buffer = "1000 cells", drop = "epd"', "")
        text = text.replace('kind = "tcp", recovery = "vanilla"', traffic)
        assert near(seconds(outline(cy.Scenario.from_toml(text).canonical)), measured_s), (vcs, traffic)


@pytest.mark.parametrize(("vcs", "together_s", "measured_s"), [(1000, 0.02, 0.08), (10_000, 0.18, 0.45)])
def test_replications_of_tcps_that_start_together_take_longer(vcs: int, together_s: float, measured_s: float) -> None:
    facts = outline(cy.Scenario.from_toml(lan(vcs)).canonical)
    assert near(seconds(facts), together_s) and near(seconds(facts, replicated=True), measured_s, 2.2)


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
    assert total / 2 < peak_bytes(tmp_path, "run", "a.toml", "--jobs", 1, *options) / 1e6 < 2 * total


def test_check_and_run_name_the_share_of_the_engine(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(lan(duration="1 s", probes=QUEUE), encoding="utf-8")
    told = cli("check", "a.toml", "--brief", "--replications", "3").stdout
    process = r"\S+ s to read, check and print \(\S+ s with --out\)"
    assert re.search(rf"about \S+ s in the engine per run and {process}; at most about", told)
    assert "is the process itself, and what 1 probe without an interval will record" in told
    assert re.search(rf"3 runs, .* of CPU time in the engine and {process}, \S+ s on", told)
    assert re.search(r" s simulated, .* s of CPU time in the engine\n", cli("run", "a.toml").stdout)
