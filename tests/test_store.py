"""The store of finished runs."""

from __future__ import annotations

import json
from pathlib import Path

import cellyard as cy
import pytest
from cellyard.store import Store, writable_folder


def test_store_forgets_a_torn_line_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    names = ["a", "b", "c"]
    with Store(path) as store:
        for number, name in enumerate(names):
            store.add(name, {"n": number, "text": "µ"}, replication=number)
    path.write_bytes(path.read_bytes()[:-9])
    with Store(path) as store:
        assert [store.get(name) for name in names] == [{"n": 0, "text": "µ"}, {"n": 1, "text": "µ"}, None]
        store.add("c", {"n": 2}, replication=2)
    assert [json.loads(line)["result"]["n"] for line in path.read_text().splitlines()] == [0, 1, 2]


def test_writable_folder_makes_parents_and_leaves_no_trace(tmp_path: Path) -> None:
    assert list(writable_folder(tmp_path / "a/b").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(cy.UsageError, match="cannot write there"):
        writable_folder(tmp_path / "file/deep/er")
    assert {p.name for p in tmp_path.iterdir()} == {"a", "file"}
