"""Files that ``cellyard study run --out`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellyard.show.table import Table
from cellyard.show.text import dump, json_text
from cellyard.study.reproduce import Reproduction
from cellyard.system.files import FileSet

#: Fields of a row's document besides its table and parameters.
ROW_PARTS = ("simulated", "published", "range", "note", "not_judged")


def add(files: FileSet, reproduction: Reproduction, document: Mapping[str, Any]) -> None:
    """Add the files of a study's results: JSON, CSV of the rows and of their VCs, and the scenario of each row."""
    name = document["study"]
    files.add(f"{name}.json", dump(document) + "\n")
    files.add(f"{name}.csv", Table.from_records(records(document)).csv())
    scenarios = map(json_text, scenario_records(reproduction))
    files.add(f"{name}-scenarios.jsonl", "".join(f"{line}\n" for line in scenarios))
    if vcs := vc_records(document):
        files.add(f"{name}-vcs.csv", Table.from_records(vcs).csv())


def records(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows for a CSV file with one value per column: ends of ranges separately, VCs left to `vc_records`."""
    found = []
    for row in document["rows"]:
        simulated = {metric: value for metric, value in row["simulated"].items() if not isinstance(value, list)}
        ranges = {metric: {"low": low, "high": high} for metric, (low, high) in row.get("range", {}).items()}
        found.append({**row, "simulated": simulated, **({"range": ranges} if ranges else {})})
    return found


def scenario_records(reproduction: Reproduction) -> list[dict[str, Any]]:
    """One record per row: its table, its parameters, and its scenario as TOML with every default."""
    found = []
    for row in reproduction.rows:
        scenario = reproduction.study.scenario(row).with_seed(reproduction.seed)
        found.append({"table": row.table, **row.parameters, "scenario": scenario.to_toml()})
    return found


def vc_records(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One record per VC of each row, numbered in the scenario's order."""
    found = []
    for row in document["rows"]:
        parameters = {key: value for key, value in row.items() if key not in ROW_PARTS}
        columns = {m.removeprefix("vc_"): values for m, values in row["simulated"].items() if isinstance(values, list)}
        for number, values in enumerate(zip(*columns.values(), strict=True), 1):
            found.append({**parameters, "vc": number, **dict(zip(columns, values, strict=True))})
    return found
