"""What ``cellyard study report`` writes: the page in HTML, and its summary in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellyard.commands.study_text import group_label, has_published, has_ranges, shown
from cellyard.show import pages
from cellyard.show.text import printed, range_name, span
from cellyard.statistics.ranges import share_inside
from cellyard.study import Study, Table
from cellyard.study.answer import untold
from cellyard.study.outliers import FAR, is_outside, outside, told, where_errors_come_from
from cellyard.study.rows import Row, Rows

#: What the table of `Evidence` is.
BEHIND = (
    "Differences are means over the replications, which share their random numbers. The intervals of a comparison of several candidates "
    "hold together at 95 % (Bonferroni over all pairs). Fewer than six replications show nothing."
)


@dataclass(frozen=True)
class Picture:
    """A figure on the page; ``data`` is its PNG file in base 64."""

    name: str
    title: str
    text: str
    data: str


@dataclass(frozen=True)
class Columns:
    """Columns of a table under one head: their names, and for each row their texts with how each is marked."""

    title: str
    names: Sequence[str]
    cells: Sequence[Sequence[tuple[str, str]]]


def page(
    study: Study,
    rows: Rows,
    document: Mapping[str, Any],
    figures: Sequence[Picture],
    *,
    undrawn: str = "",
    chosen: Sequence[str] = (),
) -> str:
    """The whole page, its figures inside it.

    ``chosen`` are the options that chose ``rows`` when they are not all, and ``undrawn`` tells of figures that these do not suffice for.
    """
    shared = list(_flat(study.info["shared"]))
    return pages.html("report.html", shared=shared, **_common(study, rows, document, figures, undrawn, chosen))


def summary(
    study: Study,
    rows: Rows,
    document: Mapping[str, Any],
    figures: Sequence[Picture] = (),
    *,
    undrawn: str = "",
    chosen: Sequence[str] = (),
) -> str:
    """The same as one page of Markdown, which shows the files of its figures."""
    doubtful = [row for row in rows if row.doubtful]
    return pages.markdown("summary.md", doubtful=doubtful, **_common(study, rows, document, figures, undrawn, chosen))


def _common(
    study: Study,
    rows: Rows,
    document: Mapping[str, Any],
    figures: Sequence[Picture],
    undrawn: str,
    chosen: Sequence[str],
) -> dict[str, Any]:
    """What both pages tell."""
    far, nearer = outside(rows)
    return {
        "assumed": [{"tried": "", "effect": "", "reason": "", **item} for item in study.info.get("assumed", ())],
        "behind": BEHIND,
        "chosen": chosen,
        "citation": study.info["citation"],
        "document": document,
        "effects": study.info.get("effects", {}).get("text", ""),
        "far": far,
        "far_from": FAR,
        "figures": figures,
        "label": group_label,
        "nearer": nearer,
        "range_name": range_name(document["replications"] or 1),
        "share_inside": share_inside(document["replications"] or 1),
        "study": study,
        "tables": [_table(study, table, rows) for table in study.tables.values() if rows.where(table=table.name)],
        "undrawn": undrawn,
        "unmatched": [*where_errors_come_from(study, rows), *told(study, rows)],
        "untold": untold(study, rows),
    }


def _table(study: Study, table: Table, rows: Rows) -> dict[str, Any]:
    """A table for the template; a row ``begins`` a group when more than its last parameter is new."""
    own = rows.where(table=table.name)
    groups = [_metric(metric, own) for metric in table.metrics]
    if second := study.second_column(table, rows):
        other, partners = second
        cells = [[(shown(row, m) if row else "", "") for m in table.metrics] for row in partners]
        groups.append(Columns(other.name, table.metrics, cells))
    lines: list[dict[str, Any]] = []
    for place, row in enumerate(own):
        values = list(row.parameters.values())
        begins = place > 0 and values[:-1] != lines[-1]["parameters"][:-1]
        lines.append({"place": place, "begins": begins, "parameters": values})
    return {
        "name": table.name,
        "title": table.title[0].upper() + table.title[1:],
        "text": table.text,
        "parameters": table.parameters,
        "groups": groups,
        "rows": lines,
        "notes": list(dict.fromkeys(row.note for row in own if row.note)),
    }


def _metric(metric: str, rows: Rows) -> Columns:
    """A metric's columns: simulated, its range if there are replications, published if anything was."""
    ranged, published = has_ranges(rows), has_published(rows, metric)
    names = ["simulated", *([range_name(rows[0].runs)] if ranged else []), *(["published"] if published else [])]

    def cells(row: Row) -> Iterator[tuple[str, str]]:
        yield shown(row, metric), ""
        if ranged:
            yield span(row.ranges.get(metric), is_count=metric in row.counts), "range"
        if published:
            value = row.published.get(metric)
            star = "*" if row.note and value is not None else ""
            yield printed(value, row.rounded_to(metric)) + star, "out" if is_outside(row, metric) else ""

    return Columns(metric, names, [list(cells(row)) for row in rows])


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key} ")
        else:
            yield prefix + key, value
