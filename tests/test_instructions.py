"""Checks of `make instructions`."""

from __future__ import annotations

import csv
import json
import re

import instructions
import pytest
from conftest import ROOT

NOTE = "## 0.1.0\n\n* Instructions: lan-5 110 million, because every cell is put to a bucket.\n"


@pytest.mark.parametrize(
    ("count", "changelog", "passes"),
    [
        (100_000_000, "", True),
        (50_000_000, "", True),
        (103_000_000, "", True),
        (103_100_000, "", False),
        (110_000_000, NOTE, True),
        (110_900_000, NOTE, True),
        (115_000_000, NOTE, False),
        (110_000_000, NOTE.replace("lan-5", "lan-50"), False),
        (110_000_000, NOTE.replace(", because every cell is put to a bucket", ""), False),
    ],
)
def test_more_instructions_need_a_correct_note(count: int, changelog: str, passes: bool) -> None:
    messages = instructions.too_many({"lan-5": count}, {"lan-5": 100_000_000}, changelog)
    assert (messages == []) is passes


def test_a_case_without_stored_count_fails() -> None:
    assert instructions.too_many({"new": 1}, {}, "") == ["new: not stored"]


TOOLS = {"compiler": "rustc 1.95.0, LLVM 21.1.1", "target": "x86_64-unknown-linux-gnu", "valgrind": "valgrind-3.19.0"}


@pytest.mark.parametrize("what", TOOLS)
def test_counts_of_other_tools_are_not_compared_and_the_difference_is_printed(what: str) -> None:
    assert instructions.different_tools(TOOLS, TOOLS) == []
    differences = instructions.different_tools({**TOOLS, what: "another"}, TOOLS)
    assert differences == [f"{what}: stored {TOOLS[what]}, here another"]


def test_tools_that_were_not_stored_differ() -> None:
    assert instructions.different_tools(TOOLS, {}) != []


def test_every_inline_attribute_is_in_the_table_that_says_which_case_needs_it() -> None:
    sources = ROOT / "crates/engine/src"
    attribute = re.compile(r"#\[inline\((always|never)\)\]")
    counts = {path: len(attribute.findall(path.read_text(encoding="utf-8"))) for path in sources.rglob("*.rs")}
    counted = {path.relative_to(sources).as_posix(): count for path, count in counts.items() if count}
    with (ROOT / "benches/inline.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert {row["file"]: int(row["attributes"]) for row in rows} == counted
    told = re.findall(r"(\d+) functions have\n", (ROOT / "benches/notes.md").read_text(encoding="utf-8"))
    assert told == [str(sum(counted.values()))]


def test_the_page_on_the_architecture_is_short() -> None:
    assert len((ROOT / "docs/architecture.md").read_text(encoding="utf-8").split()) <= 2600


def test_a_pool_takes_at_most_three_times_the_instructions() -> None:
    counts = json.loads((ROOT / "benches/instructions.json").read_text(encoding="utf-8"))["instructions"]
    assert counts["leaf-spine-pools"] <= 3 * counts["leaf-spine"]
