"""What ``cellyard run --out`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellyard.grid_columns import as_columns
from cellyard.text import csv_text, dump


def write(folder: Path, document: Mapping[str, Any]) -> None:
    """The whole document as JSON, and a CSV file for each kind of record in it."""
    (folder / "results.json").write_text(dump(document) + "\n", encoding="utf-8")
    (folder / "scenario.toml").write_text(document["provenance"]["scenario"], encoding="utf-8")
    runs = document["runs"]
    for part in ("runs", "vcs", "vc_ports", "ports", "port_classes", "classes", "trace"):
        _write_csv(folder / f"{part}.csv", records(runs, part))
    _write_csv(folder / "summary.csv", summary_records(document["summary"]))
    _write_csv(folder / "series.csv", list(_series(runs)))


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


def _write_csv(path: Path, found: Sequence[Mapping[str, Any]]) -> None:
    """Without records there is no file, not even that of an earlier command."""
    if found:
        path.write_text(csv_text(found), encoding="utf-8")
    else:
        path.unlink(missing_ok=True)
