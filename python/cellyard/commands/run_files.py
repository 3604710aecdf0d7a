"""Files that ``cellyard run --out`` writes."""

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from cellyard.results import tables
from cellyard.runs.captures import pieces
from cellyard.runs.spool import CapturedFile
from cellyard.show.columns import as_columns
from cellyard.show.table import csv_pieces
from cellyard.show.text import PIECE_ITEMS, dump_pieces
from cellyard.system.files import FileSet


def add(files: FileSet, document: Mapping[str, Any], captured: Iterable[tuple[str, CapturedFile]] = ()) -> None:
    """Add the document as JSON, a CSV file for each kind of record in it, and the files of captures."""
    files.add("results.json", itertools.chain(dump_pieces(document), "\n"))
    files.add("scenario.toml", document["provenance"]["scenario"])
    runs = document["runs"]
    for part in tables.PARTS:
        _add(files, part, csv_pieces(partial(part_records, runs, part)))
    _add(files, "summary", csv_pieces(lambda: summary_records(document["summary"])))
    _add(files, "series", series_pieces(runs))
    for name, content in captured:
        files.add(name, pieces(content))


def _add(files: FileSet, name: str, pieces: Iterator[str]) -> None:
    """Add a table unless it is empty."""
    if first := next(pieces, ""):
        files.add(f"{name}.csv", itertools.chain([first], pieces))


def records(runs: Sequence[Mapping[str, Any]], part: str) -> list[dict[str, Any]]:
    """The records of `part_records` as a list."""
    return list(part_records(runs, part))


def part_records(runs: Sequence[Mapping[str, Any]], part: str) -> Iterator[dict[str, Any]]:
    """One record per run (``runs``: its totals), or per VC, port of a VC, transfer, port, class of a port, class or traced drop."""
    for head, run in zip(_run_columns(runs), runs, strict=True):
        for record in tables.records(run, part):
            yield {**head, **record}


def _run_columns(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The columns that identify each run."""
    points = as_columns([run.get("set", {}) for run in runs])
    return [{**point, "replication": run["replication"]} for point, run in zip(points, runs, strict=True)]


def summary_records(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One record per point of a grid: mean of each total with its interval, and what the files of its runs have together."""
    found = []
    for values, point in zip(as_columns([point["set"] for point in points]), points, strict=True):
        record: dict[str, Any] = {**values, "runs": point["runs"]}
        for metric, value in point["mean"].items():
            record[metric] = value
            if metric in point["interval"]:  # no bound of a mean
                record[f"{metric}_low"], record[f"{metric}_high"] = point["interval"][metric] or (None, None)
        record |= {f"files_{name}": value for name, value in (point["files"] or {}).items()}
        found.append(record)
    return found


def series_pieces(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """CSV of all points in pieces; nothing without series."""
    heads = _run_columns(runs)
    columns = list(dict.fromkeys(column for head in heads for column in head))
    if any(run["series"] for run in runs):
        yield _csv_line([*columns, *tables.SERIES, "time_s", "value"])
    for head, run in zip(heads, runs, strict=True):
        for series in run["series"]:
            begin = _csv_line([*(head.get(column, "") for column in columns), *(series[key] for key in tables.SERIES)])[
                :-1
            ]
            time_s, value = series["time_s"], series["value"]
            for start in range(0, len(time_s), PIECE_ITEMS):
                part = slice(start, start + PIECE_ITEMS)
                points = zip(time_s[part].tolist(), value[part].tolist(), strict=True)
                yield "".join(f"{begin},{t!r},{v!r}\n" for t, v in points)


def _csv_line(values: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(values)
    return out.getvalue()
