"""The engine in WebAssembly: the same bytes as the native one."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cellyard import Scenario
from cellyard.results.document import Document
from cellyard.study import studies
from conftest import EXAMPLES

ENGINE = Path(__file__).parent.parent / "python/cellyard/explorer/engine.wasm"
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="node is not installed"),
    pytest.mark.skipif(not ENGINE.exists(), reason="the explorer is not built: make explorer"),
]

#: Simulated time of study rows.
SHORT = {"duration": "0.2 s", "measure.warm_up": "0 s", "measure.window": "0.2 s"}


def in_node(requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers of the engine in WebAssembly: `result`, `series` and `drops`, or `errors`."""
    script = Path(__file__).parent / "explorer/run.mjs"
    done = subprocess.run([str(NODE), script, ENGINE], input=json.dumps(requests), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def text_of(scenario: Scenario) -> str:
    """Return the native result as the engine wrote it, on one line."""
    document = scenario.run().only.data
    assert isinstance(document, Document)
    return document.text.replace("\n", "", 1)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_the_same_result_byte_by_byte(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    silent = Scenario.from_toml(text).with_values({"probe": []})
    (found,) = in_node([{"toml": text, "probes": []}])
    assert found["result"] == text_of(silent)


def test_rows_of_studies_have_the_same_result_byte_by_byte() -> None:
    scenarios = [
        study.scenario(row).with_values({**SHORT, "probe": []})
        for study in studies().values()
        for table in study.tables.values()
        for row in (table.rows[0], table.rows[-1])
    ]
    found = in_node([{"toml": scenario.to_toml()} for scenario in scenarios])
    for scenario, answer in zip(scenarios, found, strict=True):
        assert answer["result"] == text_of(scenario), scenario.name


def test_a_replication_has_the_same_result_byte_by_byte() -> None:
    scenario = Scenario.read(next(path for path in EXAMPLES if path.stem == "lan-5")).with_values(
        {"duration": "0.4 s", "probe": []}
    )
    found = in_node([{"toml": scenario.to_toml(), "replication": number} for number in range(3)])
    documents = [run.data for run in scenario.run(replications=3)]
    assert [json.loads(answer["result"]) for answer in found] == [dict(one) for one in documents]
    assert len({answer["result"] for answer in found}) == 3


def test_recorded_points_and_drops_are_the_same_however_the_run_is_cut() -> None:
    scenario = Scenario.read(next(path for path in EXAMPLES if path.stem == "lan-5")).with_values(
        {
            "duration": "0.4 s",
            "probe": [
                {"what": "queue", "of": "west->east"},
                {"what": "queue", "of": "west->east", "vc": "vc2"},
                {"what": "cwnd", "of": "vc1"},
                {"what": "trace", "of": "vc1"},
            ],
        }
    )
    run = scenario.run().only
    (found,) = in_node([{"toml": scenario.to_toml()}])
    names = [f"{series.what} {series.of} {series.vc or ''}" for series in run.series]
    assert list(found["series"]) == names and len(run.trace) > 10
    for name, series in zip(names, run.series, strict=True):
        assert np.array_equal(found["series"][name]["time"], series.time_s)
        assert np.array_equal(found["series"][name]["value"], series.value)
    assert found["drops"] == run.to_dict()["trace"]


def test_errors_are_reported_and_the_engine_continues() -> None:
    good = Scenario.read(next(path for path in EXAMPLES if path.stem == "lan-5")).to_toml()
    too_large = {"toml": 'host = [{ name = "h", count = 2000000 }]'}
    found = in_node(
        [{"toml": "["}, {"toml": good, "overrides": [["duration", "0 s"]]}, too_large, {"nonsense": 1}, {"toml": good}]
    )
    assert [bool(answer.get("errors")) for answer in found] == [True, True, True, True, False]
    assert "duration" in found[1]["errors"][0]


def test_no_text_of_a_link_takes_more_than_the_memory_of_a_run() -> None:
    """Networks of the most components that the engine reads there, and of more."""

    def network(hosts: int, more: int = 0, of_each: str = "") -> str:
        """Return a network of so many hosts on each side, more that do nothing, and VCs between the sides."""
        return f"""
name = "x"
duration = "1 ms"
host = [{{ name = "a", count = {hosts} }}, {{ name = "b", count = {hosts} }}, {{ name = "c", count = {1 + more} }}]
switch = [{{ name = "s" }}, {{ name = "t" }}]
link = [
    {{ from = "a", to = "s", rate = "1 Mbps" }},
    {{ from = "s", to = "t", rate = "1 Mbps" }},
    {{ from = "t", to = "b", rate = "1 Mbps" }},
    {{ from = "t", to = "c1", rate = "1 Mbps" }},
]
vc = [{{ from = "a", to = "b", traffic = "tcp"{of_each} }}]
"""

    most = {
        "VCs, hosts and links": network(14_000),
        "VCs": network(1, of_each=", count = 99000"),
        "hosts": network(1, 99_000),
        "too many": network(100_000),
    }
    script = Path(__file__).parent / "explorer/memory.mjs"
    done = subprocess.run([str(NODE), script, ENGINE], input=json.dumps(most), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert all(megabytes < 1000 for megabytes, _ in found.values()), found
    assert "at most 100000 hosts" in found["too many"][1] and found["too many"][0] < 50
    assert found["VCs, hosts and links"][1] == ""
