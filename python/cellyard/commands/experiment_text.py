"""Text that ``cellyard experiment run`` prints: the answer, its tables, and the points."""

import textwrap
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellyard.experiment.records import count_metrics, merge_joint_axes, range_of
from cellyard.show.table import Column, Table, field
from cellyard.show.text import cpu_time, format_range, format_value, range_head
from cellyard.show.words import counted
from cellyard.statistics.bounded import field_value
from cellyard.system.terminal import printable

#: Limit on printed lines of a table. The files of ``--out`` have all.
MOST_LINES = 100
#: Width of sentences, in characters.
WIDTH = 110
#: Fields of a document that are not tables of an answer.
_OTHER_FIELDS = frozenset({"points", "answer", "notes", "axes", "together", "metrics"})


def text(document: Mapping[str, Any], out: Path | None = None) -> str:
    """The answer in sentences, its tables, and the points with mean and range of each metric.

    Tables too long to print are in files of the folder ``out``, if given.
    """
    head = document["title"] or f"{document['experiment']} ({document['question']['kind']})"
    parts = [head]
    if document["answer"]:
        parts.append("\n".join(textwrap.fill(sentence, WIDTH) for sentence in document["answer"]))
    else:
        parts.append("No answer: the experiment was interrupted.")
    parts += [textwrap.fill(f"note: {note}", WIDTH) for note in document["notes"]]
    for name, table in tables(document).items():
        parts.append(f"{heading(name, document)}:\n{table.first(MOST_LINES)}")
        line, csv_hint = ("point", "--format csv prints all, ") if name == "points" else ("line", "")
        parts += _omitted_line(len(table.records), line, f"{name}.csv", out, hint=csv_hint)
    timing = document["timing"]
    duration = f" of {document['duration_s']:g} s" if document["duration_s"] else ""
    parts.append(
        f"{document['runs']} runs{duration}, seed {document['seed']}, engine {document['engine_version']}: "
        f"{cpu_time(timing['cpu_seconds'], finished=document['runs'])}, {timing['wall_seconds']:.1f} s"
    )
    return "\n\n".join(parts)


def answer_tables(document: Mapping[str, Any]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The tables behind the answer, by title."""
    return {
        title: value
        for title, value in document.items()
        if title not in _OTHER_FIELDS and isinstance(value, list) and value and isinstance(value[0], Mapping)
    }


def _omitted_line(count: int, noun: str, file: str, out: Path | None, *, hint: str = "") -> list[str]:
    """A line about omitted lines, if any, and where to find them."""
    if count <= MOST_LINES:
        return []
    source = f"{printable(str(out / file))} has all" if out else f"{hint}--out DIR writes all to {file}"
    return [f"{counted(count - MOST_LINES, f'more {noun}')}: {source}"]


def range_column_head(points: Sequence[Mapping[str, Any]]) -> str:
    """Head of the column of ranges."""
    return range_head(*(point["runs"] for point in points))


def means_note(points: Sequence[Mapping[str, Any]]) -> str:
    """End of a heading that describes the values of points with several runs."""
    return f", means of the runs, {range_column_head(points)}" if any(point["runs"] > 1 for point in points) else ""


def heading(name: str, document: Mapping[str, Any]) -> str:
    """Heading of a table."""
    return f"points{means_note(document['points'])}" if name == "points" else name


def tables(document: Mapping[str, Any]) -> dict[str, Table]:
    """The tables of a document by file name: those behind the answer, and the points."""
    counts = count_metrics(document["points"], document["metrics"])
    found = {title: _answer_table(records, counts) for title, records in answer_tables(document).items()}
    if points := merge_joint_axes(document, named=True):
        found["points"] = points_table(points, document["metrics"])
    return found


def _answer_table(records: Sequence[Mapping[str, Any]], counts: Container[str]) -> Table:
    """Records as a table. Means of counts, such as ``timeouts`` and ``timeouts.mean``, are formatted as counts."""
    names = dict.fromkeys(name for record in records for name in record)
    return Table(records, [field(name, is_count=name.partition(".")[0] in counts) for name in names], 1)


def points_table(points: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> Table:
    """Points with the mean of each metric, and its range where they have several runs."""
    keys = [name for name in points[0] if name not in metrics]
    counts = count_metrics(points, metrics)
    columns = [field(name) for name in keys]
    for metric in metrics:
        columns += _metric_columns(metric, points, is_count=metric in counts)
    return Table(points, columns, len(keys))


def _metric_columns(metric: str, points: Sequence[Mapping[str, Any]], *, is_count: bool) -> list[Column]:
    mean = Column(metric, lambda point: format_value(field_value(point[metric].get, "mean"), is_count=is_count))
    ends = Column(
        range_column_head(points),
        lambda point: format_range(range_of(point, metric), is_count=is_count),
        lambda _: "range",
    )
    return [mean, ends] if any(point["runs"] > 1 for point in points) else [mean]
