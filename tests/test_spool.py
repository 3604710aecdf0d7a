"""Recordings of probes go to disk during runs, and equal those kept in memory."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

import cellyard as cy
import numpy as np
import pytest
from cellyard.results.drops import NO_WORD, RECORD, Drops
from cellyard.runs import spool as spool_module
from cellyard.runs.batch import Job, run_jobs
from cellyard.runs.spool import Spool, SpooledArray, SpoolError
from cellyard.show.text import json_pieces, json_text
from conftest import LAN, Cli, full_at

PROBES = """probe = [
  { what = "trace", of = "vc" }, { what = "queue", of = "west->east", every = 1 }, { what = "cwnd", of = "vc1" },
  { what = "goodput", of = "vc2", interval = "1 ms" }, { what = "link-share", of = "west->east", interval = "1 ms" },
  { what = "drops", of = "west->east", interval = "2 ms" },
]
"""

#: Scenario of two sources with a point for each cell, and with two of five cells traced as drops.
CELLS = """
duration = "DURATION"
tie_order = "rotating"
host = [{ name = "a", count = 2 }, { name = "b" }]
switch = [{ name = "w", ubr = { buffer = "10 cells" } }]
link = [{ from = "a", to = "w", rate = "155.52 Mbps" }, { from = "w", to = "b", rate = "155.52 Mbps" }]
vc = [{ from = "a", to = "b", class = "ubr", traffic = { kind = "cbr", rate = "130 Mbps" } }]
probe = [{ what = "queue", of = "w->b", every = 1 }, { what = "trace", of = "vc1" }]
"""


def documents(jobs: list[Job], spool: Spool | None) -> list[str]:
    """Return the runs as JSON, as written."""
    found = {done.index: done.result for done in run_jobs(jobs, threads=2, spool=spool)}
    return ["".join(json_pieces(found[index])) for index in range(len(jobs))]


@pytest.mark.parametrize("hold_bytes", [1, 200_000, 10_000_000])
def test_what_goes_to_the_disk_is_what_memory_has(tmp_path: Path, hold_bytes: int) -> None:
    scenario = cy.Scenario.from_toml(LAN + PROBES, overrides=[("vc.traffic.rwnd", "100 kB")])
    plain = Job(cy.Scenario.from_toml(LAN).canonical)
    jobs = [Job(scenario.canonical), *(Job(scenario.canonical, draw) for draw in range(3)), plain]
    in_memory = documents(jobs, None)
    parts: Counter[int] = Counter()

    class Counted(Spool):
        def add(self, run: int, recorded: Any) -> None:
            parts[run] += 1
            super().add(run, recorded)

    with Counted(tmp_path, hold_bytes=hold_bytes) as spool:
        assert documents(jobs, spool) == in_memory
        assert list(tmp_path.iterdir()) == []  # the file has no name
    first = json.loads(in_memory[0])
    assert len(first["trace"]) > 300 and sum(len(series["value"]) for series in first["series"]) > 100_000
    # The last part has the recordings since the part before.
    assert parts.keys() == {0, 1, 2, 3} and min(parts.values()) >= (2 if hold_bytes < 1_000_000 else 1)


def test_slices_equal_those_of_an_array(tmp_path: Path) -> None:
    draw = random.Random(7)
    for _ in range(40):
        whole = np.random.default_rng(draw.randrange(1000)).random(draw.randrange(60))
        with Spool(tmp_path) as spool:
            column, other = SpooledArray(spool, "=f8"), SpooledArray(spool, "=f8")
            for piece in np.split(whole, sorted(draw.randrange(61) for _ in range(draw.randrange(6)))):
                column.append(piece)
                other.append(piece + 1)
            assert len(column) == len(whole) and column.tolist() == whole.tolist()
            assert np.array_equal(np.asarray(column, float), whole)
            assert "".join(json_pieces({"a": column})) == json_text({"a": whole})
            for _ in range(20):
                part = slice(*(draw.choice([None, *range(-70, 70)]) for _ in range(2)))
                assert np.array_equal(column[part], whole[part]), part
                assert np.array_equal(other[part], whole[part] + 1), part


def test_drops_are_tables_in_order() -> None:
    records = np.zeros(3, list(RECORD))
    records["time_s"], records["waiting"], records["active_vcs"] = [1, 2, 3], [5, 0, -1], -1
    records["threshold"], records["vc"], records["reason"] = [4.5, np.nan, 0], 1, [2, 2, 0]
    records["average_queue"], records["policy_state"] = [2.5, np.nan, 0], [2, NO_WORD, NO_WORD]
    drops = Drops(records, ["port", "vc", "full"])
    assert list(drops[0]) == [field.name for field in fields(cy.results.DroppedCell)]
    assert [drop["threshold_cells"] for drop in drops] == [4.5, None, 0.0]
    assert [drop["average_queue_cells"] for drop in drops] == [2.5, None, 0.0] and drops[0]["drop_probability"] == 0
    assert [drop["policy_state"] for drop in drops] == ["full", None, None]
    assert [drop["waiting_cells"] for drop in drops] == [5, 0, None] and drops[-1]["active_vcs"] is None
    assert [drop["reason"] for drop in drops[1:]] == ["full", "port"]
    assert all(drop["waiting_bytes"] is drop["average_queue_bytes"] is None for drop in drops)
    records["counts_bytes"] = 1
    in_bytes = Drops(records, ["port", "vc", "full"])
    assert all(drop["waiting_cells"] is drop["threshold_cells"] is None for drop in in_bytes)
    assert [drop["waiting_bytes"] for drop in in_bytes] == [5, 0, None]
    assert [drop["threshold_bytes"] for drop in in_bytes] == [4.5, None, 0.0]
    assert drops == list(drops) == drops.tolist() and json.loads(json_text(drops)) == drops.tolist()
    with pytest.raises(IndexError):
        drops[3]


def test_a_run_with_a_folder_records_more_than_memory_may_hold(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cells.toml").write_text(CELLS.replace("DURATION", "500 ms"))
    told = cli.refused("run", "cells.toml", "--memory", "20MB")
    assert "needs more memory than the limit of" in told
    done = cli("run", "cells.toml", "--memory", "20MB", "--jobs", "1", "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    points = sum(1 for _ in (tmp_path / "out/series.csv").open())
    drops = sum(1 for _ in (tmp_path / "out/trace.csv").open())
    assert points > 300_000 and drops > 50_000
    assert not [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


MEASURED = """
import resource, sys
import cellyard as cy
from pathlib import Path
from cellyard.runs.batch import Job, run_jobs
from cellyard.runs.spool import Spool

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def run(duration):
    scenario = cy.Scenario.from_toml(sys.argv[1].replace("DURATION", duration))
    with Spool(Path(sys.argv[2])) as spool:
        (done,) = run_jobs([Job(scenario.canonical)], spool=spool)
        return len(done.result["series"][0]["value"]) + len(done.result["trace"])

run("500 ms")
before = peak()
print(run("6 s"), peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the largest memory so far is given in other units elsewhere")
def test_memory_does_not_grow_with_what_is_recorded(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", MEASURED, CELLS, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    recorded, grown = map(int, done.stdout.split())
    assert recorded > 4_000_000 and grown < 20e6 < 16 * recorded / 3, grown


RUN = ("run", "cells.toml", "--jobs", "1", "--out", "out")


def test_a_disk_that_fills_up_during_a_run_is_reported_once_and_finished_runs_are_kept(cli: Cli) -> None:
    (cli.folder / "cells.toml").write_text(CELLS)
    done = cli.apart(*RUN, "--grid", "duration=1 ms,2 ms,1 s", preexec_fn=full_at(4 << 20))
    assert (done.returncode, done.stdout) == (1, "")
    messages = [line for line in done.stderr.splitlines() if " of 3 runs, " not in line]
    assert messages == [
        "out: probe data cannot be written: File too large; the result files are unchanged, "
        "and 2 finished runs are kept in out/runs.sqlite"
    ]
    assert {path.name for path in (cli.folder / "out").iterdir()} == {"runs.sqlite", "provenance.json"}


def test_where_the_disk_is_full_few_points_stay_in_memory_and_are_printed(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cells.toml").write_text(CELLS.replace("DURATION", "10 ms"))
    done = cli.apart(*RUN, "--format", "json", preexec_fn=full_at(50_000))
    assert done.returncode == 1 and "cannot be written: " in done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert len(run["series"][0]["value"]) > 3_000


def test_probe_data_in_memory_have_a_limit_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise SpoolError(28, os.strerror(28), "out")

    monkeypatch.setattr(Spool, "write", full)
    monkeypatch.setattr(spool_module, "KEPT_BYTES", 510_000)
    scenario = cy.Scenario.from_toml(CELLS.replace("DURATION", "10 ms"))
    jobs = [Job(scenario.with_seed(seed).canonical) for seed in range(10)]
    with Spool(tmp_path) as spool:
        assert documents(jobs[:2], spool) == documents(jobs[:2], None)
    with Spool(tmp_path) as spool, pytest.raises(SpoolError, match="No space left"):
        documents(jobs, spool)
