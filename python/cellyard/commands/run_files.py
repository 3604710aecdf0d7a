"""What ``cellyard run --out`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cellyard.files import FileSet
from cellyard.grid_columns import as_columns
from cellyard.text import csv_text, dump


def add(files: FileSet, document: Mapping[str, Any]) -> None:
    """The whole document as JSON, and a CSV file for each kind of record in it; without records there is no file."""
    files.add("results.json", dump(document) + "\n")
    files.add("scenario.toml", document["provenance"]["scenario"])
    runs = document["runs"]
    found = {
        part: records(runs, part) for part in ("runs", "vcs", "vc_ports", "ports", "port_classes", "classes", "trace")
    }
    found |= {"summary": summary_records(document["summary"]), "series": list(_series(runs))}
    for part, of_part in found.items():
        if of_part:
            files.add(f"{part}.csv", csv_text(of_part))


def records(runs: Sequence[Mapping[str, Any]], part: str) -> list[dict[str, Any]]:
    """A record for each run (its totals), or for each VC, port of a VC, port, class of a port, class or traced drop of each run."""

    def flat(thing: Mapping[str, Any]) -> dict[str, Any]:
        """Without lists, which have a part of their own; `dropped_cells` by reason becomes a column each."""
        record: dict[str, Any] = {}
        for key, value in thing.items():
            if isinstance(value, dict):
                record |= {f"{key}_{name}": inner for name, inner in value.items()}
            elif not isinstance(value, list):
                record[key] = value
        return record

    def things(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        if part == "runs":
            return [run["totals"]]
        if part == "vc_ports":
            return [{"vc": vc["name"], **there} for vc in run["vcs"] for there in vc["ports"]]
        if part == "port_classes":
            return [{"port": port["name"], **of_class} for port in run["ports"] for of_class in port["classes"]]
        return list(run[part])

    return [{**head, **flat(thing)} for head, run in zip(_heads(runs), runs, strict=True) for thing in things(run)]


def _heads(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The columns that say which run it is."""
    points = as_columns([run.get("set", {}) for run in runs])
    return [{**point, "replication": run["replication"]} for point, run in zip(points, runs, strict=True)]


def summary_records(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A record for each point of a grid: median and ends of the range of each total."""
    found = []
    for values, point in zip(as_columns([point["set"] for point in points]), points, strict=True):
        record: dict[str, Any] = {**values, "runs": point["runs"]}
        for metric, value in point["median"].items():
            low, high = point["range"][metric] or (None, None)
            record |= {metric: value, f"{metric}_low": low, f"{metric}_high": high}
        found.append(record)
    return found


def _series(runs: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for head, run in zip(_heads(runs), runs, strict=True):
        for series in run["series"]:
            named = {key: series[key] for key in ("what", "of", "class", "vc", "unit")}
            for time_s, value in zip(series["time_s"].tolist(), series["value"].tolist(), strict=True):
                yield {**head, **named, "time_s": time_s, "value": value}
