"""What ``cellyard study run`` prints: tables beside the published ones, agreement, claims."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from cellyard.show.text import cell, cells, decimals, range_head, range_name, span, spent, table
from cellyard.study import Study, Table
from cellyard.study.reproduce import Reproduction
from cellyard.study.rows import Row, Rows

#: What `cellyard.study.agreement.agreement` tells.
AGREEMENT = ("rows", "mean_abs_error", "error_margin", "rank_correlation", "inside_range", "expected_inside")


def text(study: Study, reproduction: Reproduction, document: Mapping[str, Any]) -> str:
    """The tables, how well they agree, and what was claimed."""
    rows = reproduction.rows
    parts = [
        f"Table {item.name}: {item.title}\n\n{_centres(study, here)}{_table(study, item, rows)}"
        for item in study.tables.values()
        if (here := rows.where(table=item.name))
    ]
    if judged := agreement_lines(document["summary"]):
        parts.append(judged)
    if document["claims"]:
        parts.append("\n".join(claim_lines(document["claims"])))
    if document["replications"] is None and (note := study.info.get("single")):
        parts.append(f"note: in single runs {note}")
    timing = document["timing"]
    ensemble = (
        "single runs as published"
        if document["replications"] is None
        else (
            f"{document['centre']}s of {document['replications']} replications, ranges {range_name(document['replications'])}"
        )
    )
    parts.append(
        f"{ensemble}, seed {document['seed']}, engine {document['engine_version']}: "
        f"{cells(document['bottleneck_cells'], 'bottleneck cells')}, "
        f"{spent(timing['cpu_seconds'], finished=document['bottleneck_cells'])}, "
        f"{timing['wall_seconds']:.1f} s"
    )
    return "\n\n".join(parts)


def _centres(study: Study, rows: Rows) -> str:
    """What stands in the columns beside ranges."""
    return f"{study.centre}s of the replications, {range_head(rows[0].runs)}:\n" if has_ranges(rows) else ""


def _table(study: Study, item: Table, all_rows: Rows) -> str:
    rows = all_rows.where(table=item.name)
    header = list(item.parameters)
    for metric in item.metrics:
        header += columns(metric, rows)
    body = [
        [*map(parameter, row.parameters.values()), *(v for m in item.metrics for v in values(row, m, rows))]
        for row in rows
    ]
    if second := study.second_column(item, all_rows):
        other, partners = second
        header += [f"{metric} {other.name}" for metric in item.metrics]
        for line, partner in zip(body, partners, strict=True):
            line += [shown(partner, metric) if partner else None for metric in item.metrics]
    notes = [f"* not judged: {row.note}" for row in rows if row.doubtful]
    notes += [f"{metric}: {meaning}" for metric, meaning in study.meanings.items() if metric in item.metrics]
    return "\n".join([table(header, body, keys=len(item.parameters)), *dict.fromkeys(notes)])


def parameter(value: Any) -> str:
    """A parameter as the published table has it.

    >>> [parameter(v) for v in ("lan", 5, 0.10)]
    ['lan', '5', '0.1']
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def has_ranges(rows: Rows) -> bool:
    """Whether the rows sum up an ensemble."""
    return any(row.ranges for row in rows)


def has_published(rows: Rows, metric: str) -> bool:
    """Whether anything was published for a metric."""
    return any(row.published.get(metric) is not None for row in rows)


def columns(metric: str, rows: Rows) -> list[str]:
    """Column heads for a metric: simulated, range if replicated, published and difference if there is any."""
    extra = ["published", "diff"] if has_published(rows, metric) else []
    return [metric, *([range_head(rows[0].runs)] if has_ranges(rows) else []), *extra]


def shown(row: Row, metric: str) -> str:
    """What was simulated as tables show it."""
    return cell(row.simulated[metric], is_count=metric in row.counts)


def values(row: Row, metric: str, rows: Rows) -> list[Any]:
    """What stands under `columns`; a star marks published values that are in doubt."""
    simulated, published = row.simulated[metric], row.published.get(metric)
    found: list[Any] = [shown(row, metric)]
    if has_ranges(rows):
        found.append(span(row.ranges.get(metric), is_count=metric in row.counts))
    if has_published(rows, metric):
        if published is None or simulated is None:
            found += [published, None]
        elif metric in row.doubtful:
            found += [f"{published:g}*", ""]
        else:
            digits = decimals(published, row.rounded_to(metric))
            difference = round(simulated - published, digits) + 0.0  # which makes -0.0 positive
            found += [f"{published:.{digits}f}", f"{difference:+.{digits}f}"]
    return found


def agreement_lines(summary: Mapping[str, Any]) -> str:
    """The summary as a table; what single runs have none of is left out."""
    groups = [(metric, group) for metric, whole in summary.items() for group in (whole, *whole["groups"])]
    told = [key for key in AGREEMENT if any(group[key] is not None for _, group in groups)]
    body = [[f"{metric}, {group_label(group)}", *(group[key] for key in told)] for metric, group in groups]
    return table(["agreement with the published values", *told], body, keys=1) if body else ""


def group_label(group: Mapping[str, Any]) -> str:
    """What a line of the summary is about.

    >>> group_label({"table": "4-6", "tcp": "reno", "rows": 36, "mean_abs_error": 0.1})
    'table 4-6, reno'
    >>> group_label({"rows": 36, "without_tables": ["reno-lan"], "groups": []})
    'all but table reno-lan'
    """
    keys = [key for key in group if key not in ("groups", "without_tables", *AGREEMENT)]
    if keys:
        return ", ".join(f"table {group[key]}" if key == "table" else str(group[key]) for key in keys)
    without = group.get("without_tables")
    return f"all but table {', '.join(without)}" if without else "all"


def claim_lines(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each claim with its verdict and evidence."""
    lines = []
    for item in claims:
        verdict = "holds  " if item["holds"] else "refuted"
        lines += textwrap.wrap(f"{verdict} {item['text']}", 110, subsequent_indent=" " * 8)
        lines += textwrap.wrap(item["evidence"], 110, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return lines
