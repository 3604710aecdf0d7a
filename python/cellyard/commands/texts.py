"""Texts that ``study run`` and ``experiment run`` print: answers, tables, agreement, claims."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellyard.commands import tables
from cellyard.show.text import cell_count, cpu_time, range_head, range_name
from cellyard.show.words import counted
from cellyard.study import Study, Table
from cellyard.study.answer import undecided
from cellyard.study.reproduce import Reproduction
from cellyard.study.rows import Rows
from cellyard.system.terminal import printable

#: Limit on printed lines of a table. The files of ``--out`` have all.
MOST_LINES = 100
#: Width of sentences, in characters.
WIDTH = 110


def of_study(study: Study, reproduction: Reproduction, document: Mapping[str, Any]) -> str:
    """The tables, their agreement, and the claims."""
    rows = reproduction.rows
    parts = [_table(study, item, rows) for item in study.tables.values() if rows.where(table=item.name)]
    if document["summary"]:
        parts.append(
            f"agreement with the published values (mean error: mean size of the differences; rank correlation: 1 if the "
            f"rows are ordered alike, 0 if their orders are unrelated):\n{tables.agreement(document['summary'])}"
        )
    if document["claims"]:
        too_few = undecided(document["replications"])
        lines = [*([too_few] if too_few else []), *claim_lines(document["claims"])]
        parts.append("\n".join(["claims of the paper, and what the simulation shows:", *lines]))
    parts += [textwrap.fill(f"note: {note}", WIDTH, break_on_hyphens=False) for note in document["notes"]]
    count, cells = document["replications"], document["bottleneck_cells"]
    ensemble = (
        f"{document['centre']}s of {count} replications, ranges {range_name(count)}"
        if count
        else "one run of each row, as in the paper"
    )
    made = ensemble if rows else "no row finished"
    parts.append(_end(made, document, cells, f"{cell_count(cells, 'bottleneck cells')}, "))
    return "\n\n".join(parts)


def _table(study: Study, item: Table, all_rows: Rows) -> str:
    rows = all_rows.where(table=item.name)
    meanings = [f"{metric}: {meaning}" for metric, meaning in study.meanings.items() if metric in item.metrics]
    centres = f"{study.centre}s of the replications, {range_head(rows[0].runs)}:\n" if tables.has_ranges(rows) else ""
    shown = f"Table {item.name}: {item.title}\n\n{centres}{tables.comparison_table(study, item, all_rows)}"
    return "\n".join([shown, *tables.notes(rows), *meanings])


def claim_lines(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each claim with its verdict and evidence."""
    lines = []
    for item in claims:
        indent = " " * 13
        lines += textwrap.wrap(f"{item['verdict']:<12} {item['text']}", WIDTH, subsequent_indent=indent)
        lines += textwrap.wrap(item["evidence"], WIDTH, initial_indent=indent, subsequent_indent=indent)
    return lines


def of_experiment(document: Mapping[str, Any], out: Path | None = None) -> str:
    """The answer in sentences, its tables, and the points with mean and interval of each metric.

    Tables too long to print are in files of the folder ``out``, if given.
    """
    head = document["title"] or f"{document['experiment']} ({document['question']['kind']})"
    parts = [head]
    if document["answer"]:
        parts.append(
            "\n".join(textwrap.fill(sentence, WIDTH, break_on_hyphens=False) for sentence in document["answer"])
        )
    else:
        parts.append("No answer: the experiment was interrupted.")
    parts += [textwrap.fill(f"note: {note}", WIDTH, break_on_hyphens=False) for note in document["notes"]]
    for name, table in tables.of_outcome(document).items():
        parts.append(f"{tables.heading(name, document)}:\n{table.first(MOST_LINES)}")
        line, csv_hint = ("point", "--format csv prints all, ") if name == "points" else ("line", "")
        parts += _omitted_line(len(table.records), line, f"{name}.csv", out, hint=csv_hint)
    duration = f" of {document['duration_s']:g} s" if document["duration_s"] else ""
    parts.append(_end(f"{document['runs']} runs{duration}", document, document["runs"]))
    return "\n\n".join(parts)


def _omitted_line(count: int, noun: str, file: str, out: Path | None, *, hint: str = "") -> list[str]:
    """A line about omitted lines, if any, and where to find them."""
    if count <= MOST_LINES:
        return []
    source = f"{printable(str(out / file))} has all" if out else f"{hint}--out DIR writes all to {file}"
    return [f"{counted(count - MOST_LINES, f'more {noun}')}: {source}"]


def _end(made: str, document: Mapping[str, Any], finished: int, cells: str = "") -> str:
    """The last line: what was made, with which seed and engine, and its cost."""
    cost, seconds = document["timing"]["cpu_seconds"], document["timing"]["wall_seconds"]
    origin = f"seed {document['seed']}, engine {document['engine_version']}"
    return f"{made}, {origin}: {cells}{cpu_time(cost, finished=finished)}, {seconds:.1f} s elapsed"
