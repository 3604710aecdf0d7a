"""Kills at random moments and damaged bits: nothing that was finished is lost, and nothing is changed in silence.

The environment variables `CELLYARD_KILLS` and `CELLYARD_FLIPS` say how many, `CELLYARD_SEED` which.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cellyard.errors import UsageError
from cellyard.files import LIST, NEW, SUMS, TRIAL, digest, settle, sums
from cellyard.store import Store
from conftest import LAN, Cli

KILLS = int(os.environ.get("CELLYARD_KILLS", "20"))
FLIPS = int(os.environ.get("CELLYARD_FLIPS", "100"))
SEED = int(os.environ.get("CELLYARD_SEED", "20251122"))

#: Kinds of commands that follow each other in one folder: each writes other result files than the one before.
KINDS: tuple[tuple[str, ...], ...] = (
    ("--seed", "1"),
    ("--seed", "2", "--set", 'probe=[{ what = "cwnd", of = "vc1", interval = "1 ms" }]'),
)
REPLICATIONS = 6


def command(*options: str) -> list[str]:
    own = ["run", "lan.toml", "--replications", str(REPLICATIONS), "--out", "out", "--jobs", "1"]
    return [sys.executable, "-m", "cellyard", *own, *options]


def without_cost(text: str) -> dict[str, Any]:
    return {key: value for key, value in json.loads(text).items() if key not in ("timing", "provenance")}


def whole_lines(folder: Path) -> set[str]:
    """Lines of finished runs that have their end."""
    path = folder / "runs.jsonl"
    text = path.read_text() if path.exists() else ""
    return {line for line in text.splitlines(keepends=True) if line.endswith("\n")}


def look(folder: Path) -> str:
    """Check that the folder is consistent as the next command finds it, and say how it was found."""
    names = [path.name for path in folder.iterdir()]
    found = "list" if LIST in names else "new" if any(name.startswith((NEW, TRIAL)) for name in names) else "clean"
    settle(folder)
    names = [path.name for path in folder.iterdir()]
    assert not [name for name in names if name.startswith(".")]
    of_set = sums(folder)
    alone = set(names) - set(of_set) - {"runs.jsonl", SUMS}
    assert alone <= {"provenance.json"}, alone
    for name, seal in of_set.items():
        assert digest((folder / name).read_bytes()) == seal, name
    if of_set:
        document = json.loads((folder / "results.json").read_text())
        mark = json.loads((folder / "provenance.json").read_text())
        assert document["complete"] and document["provenance"]["date"] == mark["date"]
        assert document["provenance"]["command"] == mark["command"]
        assert ("series.csv" in of_set) == (document["seed"] == 2)
    for line in whole_lines(folder):
        json.loads(line)
    with Store(folder / "runs.jsonl"):  # raises where a line is damaged
        pass
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
        before = whole_lines(out) if out.exists() else set()
        process = subprocess.Popen(command(*kind), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(draw.uniform(0.05, 1.0) * longest)
        process.kill()
        _, err = process.communicate()
        seen["ended first" if process.returncode == 0 else "killed"] += 1
        assert process.returncode in (0, -9), err
        killed += process.returncode != 0
        if out.exists():
            assert before <= whole_lines(out)
            seen[look(out)] += 1
        if draw.random() < 0.15:  # to the end, and anew
            for kind, whole in zip(KINDS, expected, strict=True):
                subprocess.run(command(*kind), cwd=tmp_path, check=True, capture_output=True)
                look(out)
                assert without_cost((out / "results.json").read_text()) == whole
            shutil.rmtree(out)
            seen["to the end"] += 1
    for kind, whole in zip(KINDS, expected, strict=True):
        subprocess.run(command(*kind), cwd=tmp_path, check=True, capture_output=True)
        assert without_cost((out / "results.json").read_text()) == whole
    assert len(whole_lines(out)) == 2 * REPLICATIONS
    print(f"{killed} kills: {dict(seen)}")


def test_damaged_bits_change_no_result_in_silence(cli: Cli, lan: Path, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    options = ("run", lan, "--replications", 3, "--out", "out", "--set", 'probe=[{ what = "cwnd", of = "vc1" }]')
    assert cli(*options).returncode == 0
    path = tmp_path / "out/runs.jsonl"
    whole = path.read_bytes()
    with Store(path) as store:
        known = {identity: json.dumps(store.get(identity), default=list) for identity in _identities(whole)}
    seen: Counter[str] = Counter()
    # Every bit of the ends of lines and some of each line's head are among them, the rest is drawn.
    ends = [(place, bit) for place, letter in enumerate(whole) if letter == 10 for bit in range(8)]
    drawn = [(draw.randrange(len(whole)), draw.randrange(8)) for _ in range(max(FLIPS - len(ends), 0))]
    for place, bit in [*ends, *drawn][:FLIPS]:
        damaged = whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :]
        path.write_bytes(damaged)
        number = whole[:place].count(b"\n") + 1
        try:
            with Store(path) as store:
                told = store.note
                kept = {identity: store.get(identity) for identity in known}
        except UsageError as error:
            assert f"runs.jsonl:{number}: not a finished run" in str(error)
            assert path.read_bytes() == damaged
            seen["refused with its line"] += 1
            continue
        # Only the end of the last line can be taken for the trace of a kill; that run is simulated again.
        assert place == len(whole) - 1 and told
        assert all(run is None or json.dumps(run, default=list) == known[name] for name, run in kept.items())
        assert sum(run is None for run in kept.values()) == 1
        seen["last line left out"] += 1
    assert sum(seen.values()) == FLIPS
    print(f"{FLIPS} flips: {dict(seen)}")


def _identities(whole: bytes) -> list[str]:
    return [json.loads(line)["identity"] for line in whole.splitlines()]


@pytest.mark.parametrize("name", ["results.json", "runs.csv", "provenance.json"])
def test_damaged_result_files_are_found_by_their_checksums_and_written_anew(
    cli: Cli, lan: Path, tmp_path: Path, name: str
) -> None:
    options = ("run", lan, "--replications", 3, "--out", "out")
    assert cli(*options).returncode == 0
    path = tmp_path / "out" / name
    whole = path.read_bytes()
    damaged = bytes([*whole[:-9], whole[-9] ^ 1, *whole[-8:]])
    path.write_bytes(damaged)
    assert digest(damaged) != sums(tmp_path / "out")[name] == digest(whole)
    again = cli(*options)
    if name == "provenance.json":  # it is read back
        assert again.returncode == 2 and "out/provenance.json: " in again.stderr and "checksum" in again.stderr
        again = cli(*options, "--overwrite")
    assert again.returncode == 0
    assert digest(path.read_bytes()) == sums(tmp_path / "out")[name]
