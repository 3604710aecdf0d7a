"""Scenarios and results as a notebook shows them: short tables and the drawing of the topology."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any

from cellyard.ranges import has_quantiles
from cellyard.text import cell

if TYPE_CHECKING:
    from cellyard.result_part import ResultPart
    from cellyard.results import Results, RunResult
    from cellyard.scenario import Scenario

#: Rows of a table, and lines of a drawing, that are shown.
MOST_ROWS, MOST_LINES = 20, 60

VC_FIELDS = ("traffic", "goodput_mbps", "cells_sent", "cells_dropped", "retransmitted_segments", "timeouts")
PORT_FIELDS = ("rate_mbps", "sent_cells", "dropped_cells", "max_queue_cells", "mean_queue_cells", "utilisation")


def scenario_html(scenario: Scenario) -> str:
    """A scenario: its topology as ``cellyard check`` draws it, its cost, and its notes."""
    from cellyard.commands import check
    from cellyard.grid import Point

    lines = check.about([Point({}, scenario)]).splitlines()
    more = [f"... and {len(lines) - MOST_LINES} lines more"] if len(lines) > MOST_LINES else []
    drawing = escape("\n".join(lines[:MOST_LINES] + more))
    return f"<b>{escape(scenario.name)}</b><pre style='line-height: 1.2'>{drawing}</pre>"


def results_html(results: Results) -> str:
    """A run by its VCs and ports, an ensemble by the medians and ranges of its totals."""
    if len(results) == 1:
        return run_html(results[0])
    if not results.runs:
        return "no runs"
    ranges = {metric: results.interval(metric) for metric in type(results[0].totals).numbers()}
    rows = [[metric, results.median(metric), *ends] for metric, ends in ranges.items() if ends]
    title = f"<b>{escape(results[0].name)}</b>: {len(results)} runs"
    ends = ["5 %", "95 %"] if has_quantiles(len(results)) else ["smallest", "largest"]
    return title + table_html(["", "median", *ends], rows)


def run_html(run: RunResult) -> str:
    """A run: its totals, its VCs, and the ports where cells can queue."""
    totals = [(name, getattr(run.totals, name)) for name in type(run.totals).numbers()]
    known = [(name, value) for name, value in totals if value is not None]
    parts = [f"<b>{escape(run.name)}</b>: {run.duration_s:g} s simulated"]
    parts.append(table_html([name for name, _ in known], [[value for _, value in known]]))
    parts.append(parts_html("vc", run.vcs, VC_FIELDS))
    queueing = {name: port for name, port in run.ports.items() if port.can_queue}
    if queueing:
        parts.append(parts_html("port", queueing, PORT_FIELDS))
    if run.series:
        rows = [[one.what, one.of, one.vc or one.service_class or "", len(one.value), one.unit] for one in run.series]
        parts.append(table_html(["series", "of", "", "points", "unit"], rows))
    return "".join(parts)


def parts_html(kind: str, parts: Mapping[str, ResultPart], names: Iterable[str] | None = None) -> str:
    """Like parts of a result by name, a row each: these fields, or all."""
    if not parts:
        return f"no {kind}"
    first = next(iter(parts.values()))
    chosen = list(names or (field.name for field in fields(first) if field.name != "name"))
    return table_html([kind, *chosen], [[name, *(getattr(part, f) for f in chosen)] for name, part in parts.items()])


def part_html(part: ResultPart) -> str:
    """One part of a result, a row for each field."""
    return table_html(["", ""], [[field.name, getattr(part, field.name)] for field in fields(part)])


def table_html(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of at most `MOST_ROWS` rows.

    >>> table_html(["vc", "goodput_mbps"], [["vc1", 0.51234]])
    '<table><tr><th>vc</th><th>goodput_mbps</th></tr><tr><td>vc1</td><td>0.512</td></tr></table>'
    """
    lines = [_row("th", header), *(_row("td", map(_cell, row)) for row in rows[:MOST_ROWS])]
    more = f"... and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return f"<table>{''.join(lines)}</table>{more}"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in cells)}</tr>"


def _cell(value: Any) -> str:
    if hasattr(value, "total"):
        return str(value.total)
    if hasattr(value, "shape") or isinstance(value, tuple):
        return f"{len(value)} values"
    # Delays in seconds would lose their digits.
    return f"{value:.3g}" if isinstance(value, float) and 0 < abs(value) < 0.1 else cell(value)


def listed(names: Iterable[str], most: int = 8) -> str:
    """The first names of a list.

    >>> listed(["vc1", "vc2", "vc3"], 2)
    'vc1, vc2, ... (3)'
    """
    every = list(names)
    return ", ".join(every) if len(every) <= most else f"{', '.join(every[:most])}, ... ({len(every)})"
