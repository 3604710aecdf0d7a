"""Quantiles of files over replications: worked by hand, and how often the interval covers the true value."""

import json
import math
import random
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import cellyard as cy
import pytest
from cellyard.results.transfers import QUANTILES, durations, pooled
from cellyard.statistics.bounded import Bounded, Value, ends_of
from cellyard.statistics.pooled import quantile
from conftest import ROOT, Cli

NODE = shutil.which("node")

#: Two files that overlap, one later that does not finish, and endless data.
FILES = """\
duration = "1 s"
host = [{ name = "source" }, { name = "sink" }]
link = [{ from = "source", to = "sink", rate = "10 Mbps", delay = "5 us" }]
vc = [
  { name = "one", from = "source", to = "sink", traffic = { kind = "tcp", file_size = "100 kB" } },
  { name = "two", from = "source", to = "sink", start = "20 ms", traffic = { kind = "tcp", file_size = "100 kB" } },
  { name = "late", from = "source", to = "sink", start = "800 ms", traffic = { kind = "tcp", file_size = "10 MB" } },
  { name = "endless", from = "source", to = "sink", stop = "10 ms", traffic = "tcp" },
]
"""


def drawn(generator: random.Random) -> list[float]:
    """Return durations of 64 files of a run, which a common factor makes all slow or all fast."""
    common = generator.gauss(0, 0.5)
    return [math.exp(common + generator.gauss(0, 1)) for _ in range(64)]


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
def test_the_interval_covers_the_true_quantile_although_files_of_a_run_are_alike(share: float) -> None:
    generator = random.Random(1996)
    truth = sorted(value for _ in range(2000) for value in drawn(generator))[int(share * 2000 * 64)]
    covered = 0
    for _ in range(200):
        found = quantile([drawn(generator) for _ in range(20)], share)
        assert isinstance(found.low, float) and isinstance(found.value, float)
        assert found.high is None or found.low <= found.value <= found.high  # type: ignore[operator]
        covered += found.low <= truth and (found.high is None or truth <= found.high)  # type: ignore[operator]
    assert covered >= 0.89 * 200


def test_a_quantile_has_an_interval_from_six_runs_and_none_where_unfinished_files_hide_it() -> None:
    run: list[Value] = [1.0, 2.0, 3.0, Bounded(0.5, math.inf)]
    assert quantile([run] * 5, 0.5) == (Bounded(1.0, 2.0), None, None)
    assert quantile([run] * 6, 0.75).value == Bounded(2.0, 3.0)
    found = quantile([run] * 6, 1.0)
    assert found.value == Bounded(3.0, math.inf)
    assert quantile([], 0.5) == quantile([[]] * 9, 0.5) == (None, None, None)


def sender(*finished: float, unfinished: int = 0, under_way_s: float | None = None) -> dict[str, object]:
    """Return what a run has of the files of a TCP."""
    transfers = [{"duration_s": duration} for duration in finished]
    return {"transfers": transfers, "unfinished_transfers": unfinished, "under_way_s": under_way_s, "back": []}


def test_files_of_all_vcs_in_both_directions_count_and_unfinished_ones_have_bounds() -> None:
    there = sender(0.2, 0.1, unfinished=3, under_way_s=0.25)
    run = {"vcs": [{**there, "back": [sender(0.4)]}, sender()]}
    late = [Bounded(least, math.inf) for least in (0.25, 0.0, 0.0)]
    assert durations(run) == [0.2, 0.1, *late, 0.4]
    found = pooled([run])
    assert found is not None
    assert (found["finished_transfers"], found["unfinished_transfers"]) == (3, 3)
    # Sorted: 0, 0, 0.1, 0.2, 0.25, 0.4 at least, and 0.1, 0.2, 0.4 and three unknown ones at most.
    assert (found["p50_transfer_s"], found["p50_transfer_s_above"], found["p50_transfer_s_below"]) == (None, 0.1, 0.4)
    assert (found["max_transfer_s"], found["max_transfer_s_above"]) == (None, 0.4)
    assert pooled([{"vcs": [sender()]}]) is None


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_explorer_pools_files_as_python_does() -> None:
    generator = random.Random(1952)
    cases: list[dict[str, Any]] = []
    for count in (1, 5, *range(6, 21)):
        for share in QUANTILES.values():
            runs = []
            for _ in range(count):
                # Few different durations, so that many are equal. Some runs have no file, some finish none.
                finished = [generator.randrange(1, 9) / 8 for _ in range(generator.choice((0, 1, 7, 60)))]
                left = generator.choice((0, 0, 1, 5))
                one = sender(*finished, unfinished=left, under_way_s=(left and generator.choice((None, 0.5))) or None)
                runs.append(
                    {"vcs": [{**one, "back": [sender(generator.random())] if generator.random() < 0.5 else []}]}
                )
            cases.append({"runs": runs, "share": share})
    script = ROOT / "tests/explorer/pooled.mjs"
    done = subprocess.run([str(NODE), script], input=json.dumps(cases), capture_output=True, text=True, check=True)

    def ends(value: Value) -> list[float | str] | None:
        return None if value is None else ["inf" if math.isinf(end) else end for end in ends_of(value)]

    whole, few = 0, 0
    for case, found in zip(cases, json.loads(done.stdout), strict=True):
        groups = list(map(durations, case["runs"]))
        expected = [ends(value) for value in quantile(groups, case["share"])]
        assert [(found or {}).get(name) for name in ("value", "low", "high")] == expected
        whole += expected[2] is not None
        few += expected[1] is None
    assert whole > 20 and few > 4


def test_busy_goodput_is_what_arrived_over_the_time_in_which_a_file_was_under_way() -> None:
    scenario = cy.Scenario.from_toml(FILES)
    run = scenario.run().only
    files = [(one.began_s, one.began_s + one.duration_s) for vc in run.vcs.values() for one in vc.transfers]
    late = run.vcs["late"]
    assert late.under_way_s is not None and late.unfinished_transfers == 1
    files.append((run.duration_s - late.under_way_s, run.duration_s))
    marks = sorted({mark for ends in files for mark in ends})
    busy = sum(b - a for a, b in pairwise(marks) if any(begin <= a and b <= end for begin, end in files))
    assert 0.3 < busy < 0.9 * run.duration_s  # files overlap, and there are pauses
    delivered = sum(vc.delivered_bytes for name, vc in run.vcs.items() if name != "endless")
    assert run.totals.busy_goodput_mbps == pytest.approx(delivered * 8e-6 / busy)
    assert run.totals.max_transfer_s is None and run.totals.max_transfer_s_above == late.under_way_s


def test_a_run_shows_its_files_first_and_ports_without_a_queue_in_one_line(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "incast.toml"
    path.write_text(cli.ok("example", "tcp-incast"))
    shown = cli.ok("run", path).split("\n\n")
    assert shown[1].startswith("finished_transfers 64  unfinished_transfers 0  p50_transfer_ms ")
    assert not {"goodput_mbps", "efficiency", "fairness"} & set(shown[1].split())
    assert "64 other ports at which no cell waited: --out DIR writes all to ports.csv" in shown
