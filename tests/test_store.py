"""The store of finished runs."""

from __future__ import annotations

import json
from pathlib import Path

import cellyard as cy
import numpy as np
import pytest
from cellyard.batch import Job, run_jobs
from cellyard.files import writable_folder
from cellyard.store import Store
from conftest import LAN


def test_store_forgets_a_torn_line_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    names = ["a", "b", "c"]
    with Store(path) as store:
        for number, name in enumerate(names):
            store.add(name, {"n": number, "text": "µ"}, replication=number)
    path.write_bytes(path.read_bytes()[:-9])
    with Store(path) as store:
        assert store.note == f"{path}: the last line had no end, and is left out: that run is simulated again"
        assert [store.get(name) for name in names] == [{"n": 0, "text": "µ"}, {"n": 1, "text": "µ"}, None]
        store.add("c", {"n": 2}, replication=2)
    assert [json.loads(line)["result"]["n"] for line in path.read_text().splitlines()] == [0, 1, 2]


def test_a_line_that_is_not_as_it_was_written_is_refused_with_its_number_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with Store(path) as store:
        for number, name in enumerate("abc"):
            store.add(name, {"n": number, "text": "µ"}, replication=number)
    first, second, third = path.read_bytes().splitlines(keepends=True)
    without = json.dumps({key: value for key, value in json.loads(second).items() if key != "sha256"}).encode() + b"\n"
    for damaged in (
        b"",
        b"\n",
        without,
        second.replace(b'"n": 1', b'"n": 7'),
        second.replace(b" 1,", b"\r1,"),
        second[:-1],
    ):
        whole = first + damaged + third
        path.write_bytes(whole)
        if damaged:
            with pytest.raises(
                cy.UsageError, match=r"runs\.jsonl:2: not a finished run .* checksum .* remove the line"
            ):
                Store(path)
            assert path.read_bytes() == whole
        else:
            with Store(path) as store:
                assert [store.get(name) is not None for name in "abc"] == [True, False, True] and not store.note


def test_no_file_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").mkdir()
    with pytest.raises(cy.UsageError, match="must be a file"):
        Store(tmp_path / "runs.jsonl")


def test_stored_series_come_back_as_arrays_of_the_same_points(tmp_path: Path) -> None:
    probe = cy.CwndProbe(of="vc1")
    jobs = [Job(cy.Scenario.from_toml(LAN).with_values({"probe": [probe]}).canonical, n) for n in range(2)]
    results = []
    for _ in range(2):
        with Store(tmp_path / "runs.jsonl") as store:
            finished = sorted(run_jobs(jobs, store=store), key=lambda one: one.index)
            results.append([cy.RunResult(one.result) for one in finished])
    ran, loaded = results
    assert ran == loaded and ran[0] != loaded[1]
    (one,), (other,) = ran[0].series, loaded[0].series
    assert isinstance(loaded[0].data["series"][0]["value"], np.ndarray)
    assert len(one.value) > 10 and np.array_equal(one.time_s, other.time_s) and np.array_equal(one.value, other.value)
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 2


def test_writable_folder_makes_parents_and_leaves_no_trace(tmp_path: Path) -> None:
    assert list(writable_folder(tmp_path / "a/b").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(cy.UsageError, match="cannot write there"):
        writable_folder(tmp_path / "file/deep/er")
    assert {p.name for p in tmp_path.iterdir()} == {"a", "file"}
