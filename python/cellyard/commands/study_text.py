"""Text that ``cellyard study run`` prints: tables beside the published ones, agreement, claims."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from cellyard.commands import study_tables
from cellyard.show.text import cell_count, cpu_time, range_head, range_name
from cellyard.study import Study, Table
from cellyard.study.answer import undecided
from cellyard.study.reproduce import Reproduction
from cellyard.study.rows import Rows


def text(study: Study, reproduction: Reproduction, document: Mapping[str, Any]) -> str:
    """The tables, their agreement, and the claims."""
    rows = reproduction.rows
    parts = [
        f"Table {item.name}: {item.title}\n\n{_centre_note(study, shown_rows)}{_table(study, item, rows)}"
        for item in study.tables.values()
        if (shown_rows := rows.where(table=item.name))
    ]
    if document["summary"]:
        parts.append(f"agreement with the published values:\n{study_tables.agreement(document['summary'])}")
    if document["claims"]:
        too_few = undecided(document["replications"])
        parts.append("\n".join([*([too_few] if too_few else []), *claim_lines(document["claims"])]))
    parts += [textwrap.fill(f"note: {note}", 110) for note in document["notes"]]
    timing = document["timing"]
    ensemble = (
        "single runs as published"
        if document["replications"] is None
        else (
            f"{document['centre']}s of {document['replications']} replications, ranges {range_name(document['replications'])}"
        )
    )
    ensemble = ensemble if rows else "no row finished"
    parts.append(
        f"{ensemble}, seed {document['seed']}, engine {document['engine_version']}: "
        f"{cell_count(document['bottleneck_cells'], 'bottleneck cells')}, "
        f"{cpu_time(timing['cpu_seconds'], finished=document['bottleneck_cells'])}, "
        f"{timing['wall_seconds']:.1f} s"
    )
    return "\n\n".join(parts)


def _centre_note(study: Study, rows: Rows) -> str:
    """Meaning of the values in columns beside ranges."""
    return (
        f"{study.centre}s of the replications, {range_head(rows[0].runs)}:\n" if study_tables.has_ranges(rows) else ""
    )


def _table(study: Study, item: Table, all_rows: Rows) -> str:
    rows = all_rows.where(table=item.name)
    meanings = [f"{metric}: {meaning}" for metric, meaning in study.meanings.items() if metric in item.metrics]
    return "\n".join([str(study_tables.comparison_table(study, item, all_rows)), *study_tables.notes(rows), *meanings])


def claim_lines(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each claim with its verdict and evidence."""
    lines = []
    for item in claims:
        indent = " " * 13
        lines += textwrap.wrap(f"{item['verdict']:<12} {item['text']}", 110, subsequent_indent=indent)
        lines += textwrap.wrap(item["evidence"], 110, initial_indent=indent, subsequent_indent=indent)
    return lines
