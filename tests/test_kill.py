"""Random kills and flipped bits: no finished run is lost, and nothing changes silently.

The environment variables `CELLYARD_KILLS` and `CELLYARD_FLIPS` set their numbers, and
`CELLYARD_SEED` the random choices.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellyard.results.run import with_lists
from cellyard.runs.batch import Job
from cellyard.scenario import Scenario
from cellyard.store import Store
from cellyard.store.encoding import decoded, seal
from cellyard.system.errors import UsageError
from cellyard.system.files import LIST_FILE, NEW_PREFIX, SUMS_FILE, TRIAL_PREFIX, checksums, digest, finish_renames
from conftest import LAN, Cli

KILLS = int(os.environ.get("CELLYARD_KILLS", "25"))
FLIPS = int(os.environ.get("CELLYARD_FLIPS", "100"))
SEED = int(os.environ.get("CELLYARD_SEED", "20251122"))

#: Kinds of commands that follow each other in one folder. Each writes other result files than the
#: last.
KINDS: tuple[tuple[str, ...], ...] = (
    ("--seed", "1"),
    ("--seed", "2", "--set", 'probe=[{ what = "cwnd", of = "vc1", interval = "1 ms" }]'),
)
REPLICATIONS = 6


def command(*options: str) -> list[str]:
    arguments = ["run", "lan.toml", "--replications", str(REPLICATIONS), "--out", "out", "--jobs", "1"]
    return [sys.executable, "-m", "cellyard", *arguments, *options]


def without_cost(text: str) -> dict[str, Any]:
    return {key: value for key, value in json.loads(text).items() if key not in ("timing", "provenance")}


def kept_runs(path: Path) -> dict[str, str]:
    """Return every run of a store as text, by its hash. Raises if a run is damaged."""
    if not path.exists():
        return {}
    with Store(path) as store:
        rows = store.connection.execute("SELECT hash FROM run").fetchall()
        parts = store.connection.execute("SELECT count(*), count(DISTINCT run) FROM result").fetchone()
        assert parts == (len(rows), len(rows)), "a run without its result, or with two"
        return {raw.hex(): text(read(store, raw)) for (raw,) in rows}


def text(result: Mapping[str, Any] | None) -> str:
    """Return a whole result as text."""
    return json.dumps(result and with_lists(result))


def look(folder: Path) -> str:
    """Check that the folder is consistent for the next command, and return its state."""
    names = [path.name for path in folder.iterdir()]
    found = (
        "list"
        if LIST_FILE in names
        else "new"
        if any(name.startswith((NEW_PREFIX, TRIAL_PREFIX)) for name in names)
        else "clean"
    )
    finish_renames(folder)
    names = [path.name for path in folder.iterdir()]
    assert not [name for name in names if name.startswith(".")]
    of_set = checksums(folder)
    alone = {name for name in names if not name.startswith("runs.sqlite")} - set(of_set) - {SUMS_FILE}
    assert alone <= {"provenance.json"}, alone
    for name, checksum in of_set.items():
        assert digest((folder / name).read_bytes()) == checksum, name
    if of_set:
        document = json.loads((folder / "results.json").read_text())
        mark = json.loads((folder / "provenance.json").read_text())
        assert document["complete"] and document["provenance"]["date"] == mark["date"]
        assert document["provenance"]["command"] == mark["command"]
        assert ("series.csv" in of_set) == (document["seed"] == 2)
    return found


def test_kills_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    draw = random.Random(SEED)
    (tmp_path / "lan.toml").write_text(LAN)
    expected, longest = [], 0.0
    for kind in KINDS:
        began = time.monotonic()
        subprocess.run(command(*kind), cwd=tmp_path, check=True, capture_output=True)
        longest = max(longest, time.monotonic() - began)
        expected.append(without_cost((tmp_path / "out/results.json").read_text()))
        shutil.rmtree(tmp_path / "out")
    out = tmp_path / "out"
    seen: Counter[str] = Counter()
    killed = 0
    while killed < KILLS:
        kind = KINDS[draw.randrange(2)]
        before = kept_runs(out / "runs.sqlite")
        process = subprocess.Popen(command(*kind), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(draw.uniform(0.05, 1.0) * longest)
        process.kill()
        _, err = process.communicate()
        seen["ended first" if process.returncode == 0 else "killed"] += 1
        assert process.returncode in (0, -9), err
        killed += process.returncode != 0
        log = (out / "runs.sqlite-wal").exists()
        if out.exists():
            assert before.items() <= kept_runs(out / "runs.sqlite").items()
            seen["runs left in the log"] += log
            seen[look(out)] += 1
        if draw.random() < 0.15:  # to the end, then from the start
            for kind, whole in zip(KINDS, expected, strict=True):
                subprocess.run(command(*kind), cwd=tmp_path, check=True, capture_output=True)
                look(out)
                assert without_cost((out / "results.json").read_text()) == whole
            shutil.rmtree(out)
            seen["to the end"] += 1
    for kind, whole in zip(KINDS, expected, strict=True):
        subprocess.run(command(*kind), cwd=tmp_path, check=True, capture_output=True)
        assert without_cost((out / "results.json").read_text()) == whole
    assert len(kept_runs(out / "runs.sqlite")) == 2 * REPLICATIONS
    assert not [path.name for path in out.iterdir() if path.name.startswith("runs.sqlite-")]
    print(f"{killed} kills: {dict(seen)}")


def read(store: Store, run: bytes) -> Any:
    """Return the whole result of a run, known only by its hash."""
    ((number, sealed, recorded, content),) = store.connection.execute(
        "SELECT run, seal, recorded, content FROM result WHERE run = (SELECT id FROM run WHERE hash = ?)", (run,)
    )
    assert seal(run, b"", recorded, content) == sealed
    return decoded(content, recorded, store.pieces(number, run) if recorded else ())


def test_damaged_bits_change_no_result_in_silence(cli: Cli, lan: Path, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    options = ("run", lan, "--replications", 3, "--out", "out", "--set", 'probe=[{ what = "cwnd", of = "vc1" }]')
    assert cli(*options).returncode == 0
    path = tmp_path / "out/runs.sqlite"
    whole = path.read_bytes()
    scenario = Scenario.read(lan, overrides=[("probe", '[{ what = "cwnd", of = "vc1" }]')]).canonical
    jobs = [Job(scenario, replication) for replication in range(3)]
    with Store(path) as store:
        known = [text(store.get(job.identity)) for job in jobs]
    assert "null" not in known
    seen: Counter[str] = Counter()
    for _ in range(FLIPS):
        place, bit = draw.randrange(len(whole)), draw.randrange(8)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        try:
            with Store(path) as store:
                found = [text(store.get(job.identity)) for job in jobs]
        except UsageError as error:
            assert str(error).startswith(f"{path}: ")
            seen["refused"] += 1
            continue
        # Runs hidden by the damage are simulated again, and every result is unchanged.
        assert all(run in (before, "null") for run, before in zip(found, known, strict=True))
        seen["the same" if found == known else "simulated again"] += 1
    assert sum(seen.values()) == FLIPS and seen["refused"] > FLIPS / 10
    print(f"{FLIPS} flips: {dict(seen)}")
