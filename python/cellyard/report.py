"""A study as one page: the command ``cellyard study report``."""

from __future__ import annotations

import base64
import html
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellyard import plot, show
from cellyard.agreement import inside_range
from cellyard.reproduce import Reproduction
from cellyard.run import writable_folder
from cellyard.study import Row, Rows, Study, Table, load, select
from cellyard.sweep import span
from cellyard.text import cell

STYLE = """
:root { --ink: #1d232b; --soft: #5d6773; --line: #e3e7ec; --good: #00704f; --bad: #b24400; --accent: #0072b2; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: var(--ink); margin: 0 auto;
  max-width: 1060px; padding: 40px 28px 80px; }
h1 { font-size: 27px; line-height: 1.25; margin: 0 0 6px; }
h2 { font-size: 19px; margin: 46px 0 10px; padding-bottom: 5px; border-bottom: 2px solid var(--line); }
p { max-width: 82ch; }
.soft, figcaption, .note { color: var(--soft); font-size: 13.5px; }
table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; margin: 12px 0; }
th { text-align: left; font-weight: 600; color: var(--soft); vertical-align: bottom; }
th, td { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); }
.data td, .data th { white-space: nowrap; }
td.n, th.n { text-align: right; }
tr.group td { border-top: 2px solid #c3cad3; }
th.top { text-align: center; border-bottom: 1px solid #c3cad3; color: var(--ink); }
td.first, th.first { padding-left: 20px; }
.range { color: var(--soft); }
.out { color: var(--bad); font-weight: 600; }
.scroll { overflow-x: auto; }
.claim { display: grid; grid-template-columns: 86px 1fr; gap: 0 14px; padding: 10px 0; border-bottom: 1px solid var(--line); }
.verdict { font-weight: 700; }
.holds { color: var(--good); } .refuted { color: var(--bad); }
.claim div:last-child { grid-column: 2; color: var(--soft); font-size: 13.5px; }
figure { margin: 22px 0 34px; } figure img { max-width: 100%; } figure h3 { font-size: 15.5px; margin: 0 0 6px; }
nav a { margin-right: 16px; color: var(--accent); text-decoration: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; } dt { color: var(--soft); } dd { margin: 0; }
"""


def command(name: str, *, out: Path, replications: int | None, seed: int | None, jobs: int | None) -> int:
    """Run the study, write the page; returns the exit status."""
    study = load(name)
    rows = select(study)
    with plot.style():
        folder = writable_folder(out)
        reproduction, status, seconds = show.reproduce(
            study, rows, replications=replications, seed=seed, jobs=jobs, out=folder
        )
        if status:
            return status
        document = reproduction.to_dict(wall_seconds=seconds)
        show.write(folder, document)
        drawn = []
        for figure in study.part("figures").figures(study, reproduction.rows):
            figure.figure.savefig(folder / f"{figure.name}.png", dpi=160)
            drawn.append(figure)
    (folder / "README.md").write_text(summary_page(study, reproduction, document), encoding="utf-8")
    path = folder / "index.html"
    path.write_text(page(study, reproduction, document, drawn, folder), encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)
    print(path)
    return 0


def page(
    study: Study,
    reproduction: Reproduction,
    document: Mapping[str, Any],
    drawn: Iterable[plot.Drawn],
    folder: Path,
) -> str:
    """The whole page, its figures inside it."""
    rows = reproduction.rows
    citation = study.info["citation"]
    timing = document["timing"]
    runs = (
        "one run of each row as published"
        if document["replications"] is None
        else f"{document['centre']}s of {document['replications']} replications of each row, with their 5 to 95 % ranges"
    )
    sections = {
        "Agreement": _agreement(document["summary"]),
        "Claims": _claims(document["claims"]),
        "Figures": "".join(_figure(one, folder) for one in drawn),
        **{f"Table {t.name}": _table(study, t, rows) for t in study.tables.values() if rows.where(table=t.name)},
        "Not matched": _unmatched(study, rows),
        "Assumed": _assumed(study),
        "Shared values": _shared(study),
    }
    links = "".join(f'<a href="#{_anchor(title)}">{html.escape(title)}</a> ' for title in sections)
    body = "".join(
        f'<h2 id="{_anchor(title)}">{html.escape(title)}</h2>{text}' for title, text in sections.items() if text
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(study.name)}</title><style>{STYLE}</style>"
        f"<h1>{html.escape(study.title)}</h1>"
        f'<p class="soft">{html.escape(citation["authors"])}: {html.escape(citation["where"])}</p>'
        f"<p>Reproduced by Cellyard {document['engine_version']}: {runs}, seed {document['seed']}. "
        f"{document['bottleneck_cells'] / 1e6:,.0f} million bottleneck cells in {timing['cpu_seconds']:.1f} s of CPU time.</p>"
        f"<nav>{links}</nav>{body}</html>\n"
    )


def summary_page(study: Study, reproduction: Reproduction, document: Mapping[str, Any]) -> str:
    """What was reproduced, what was not and what is doubtful, as one page of Markdown."""
    rows = reproduction.rows
    citation = study.info["citation"]
    far, nearer = outside(rows)
    doubtful = [row for row in rows if row.doubtful]
    parts = [
        f"# {study.name}: {study.title}",
        f"{citation['authors']}: {citation['where']}.",
        f"Written by `cellyard study report {study.name}` with {document['replications'] or 'no'} replications"
        f"{(document['centre'] and ', of which `simulated` is the ' + document['centre']) or ''}, seed "
        f"{document['seed']}, engine {document['engine_version']}.",
        "## Agreement",
        _markdown(
            ["metric", "rows of", "rows", "mean absolute error", "rank correlation", "published inside 5-95 % range"],
            [
                [metric, show.group_label(group), *(group[key] for key in show.AGREEMENT)]
                for metric, whole in document["summary"].items()
                for group in (whole, *whole["groups"])
            ],
        ),
        "## Claims",
        *(f"- **{'holds' if c['holds'] else 'refuted'}**: {c['text']}\n  {c['evidence']}." for c in document["claims"]),
        "## Not matched",
        *(text["text"] for text in study.info.get("unmatched", ())),
        _markdown(
            ["table", "row", "metric", "simulated", "5-95 %", "published"],
            [
                [
                    row.table,
                    ", ".join(map(str, row.parameters.values())),
                    metric,
                    row.simulated[metric],
                    span(row.ranges[metric]),
                    printed(row.published[metric]),
                ]
                for row, metric in far
            ],
        ),
        f"Listed: published values outside the range and more than {FAR} from the simulated one; {nearer} more are outside and nearer.",
        *(["## Doubtful prints, shown and not judged"] if doubtful else []),
        *(f"- table {r.table}, {', '.join(map(str, r.parameters.values()))}: {r.note}" for r in doubtful),
        "## Assumed",
        *(
            f"- **{a['what']}**: {a['value']}. Tried: {a['tried']}. Effect: {a['effect'].rstrip('.')}. Reason: {a['reason']}."
            for a in study.info.get("assumed", ())
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [header, ["---"] * len(header), *([cell(v) for v in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


#: Published values outside their range are listed one by one if they are this far from the simulated value.
FAR = 0.1


def outside(rows: Rows) -> tuple[list[tuple[Row, str]], int]:
    """Rows and metrics with a published value outside the range and more than `FAR` away, the farthest first; how many are nearer."""
    found = [(row, metric) for row in rows for metric in row.published if _is_outside(row, metric)]

    def distance(item: tuple[Row, str]) -> float:
        row, metric = item
        published = float(row.published[metric] or 0)
        return abs(float(row.simulated[metric]) - published) / max(published, 1)

    far = sorted((item for item in found if distance(item) > FAR), key=distance, reverse=True)
    return far, len(found) - len(far)


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _agreement(summary: Mapping[str, Any]) -> str:
    body = []
    for metric, whole in summary.items():
        for number, group in enumerate((whole, *whole["groups"])):
            inside = "" if group["inside_range"] is None else f"{group['inside_range']} of {group['rows']}"
            values = [cell(group["mean_abs_error"]), cell(group["rank_correlation"]), inside]
            label = html.escape(show.group_label(group))
            first = number == 0
            body.append(f"<tr{' class=group' if first else ''}><td>{metric if first else ''}<td>{label}")
            body += [f"<td class=n>{value}" for value in (group["rows"], *values)]
    return (
        "<table><tr><th>metric<th>rows of<th class=n>rows<th class=n>mean absolute error<th class=n>rank correlation"
        f"<th class=n>published inside range{''.join(body)}</table>"
    )


def _claims(claims: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for item in claims:
        verdict = "holds" if item["holds"] else "refuted"
        parts.append(
            f'<div class="claim"><div class="verdict {verdict}">{verdict}</div><div>{html.escape(item["text"])}</div>'
            f"<div>{html.escape(item['evidence'])}</div></div>"
        )
    return "".join(parts)


def _figure(drawn: plot.Drawn, folder: Path) -> str:
    data = base64.b64encode((folder / f"{drawn.name}.png").read_bytes()).decode()
    return (
        f'<figure id="{drawn.name}"><h3>{html.escape(drawn.title)}</h3><img alt="{html.escape(drawn.title)}" '
        f'src="data:image/png;base64,{data}"><figcaption>{html.escape(drawn.text)}</figcaption></figure>'
    )


def _table(study: Study, table: Table, rows: Rows) -> str:
    chosen = rows.where(table=table.name)
    ranged = show.has_ranges(chosen)
    top = [f'<th colspan="{len(table.parameters)}">']
    heads = [f"<th>{name}" for name in table.parameters]
    for metric in table.metrics:
        published = show.has_published(chosen, metric)
        names = ["simulated", *(["5 to 95 %"] if ranged else []), *(["published"] if published else [])]
        top.append(f'<th class="top first" colspan="{len(names)}">{metric}')
        heads += [f'<th class="n{" first" if i == 0 else ""}">{name}' for i, name in enumerate(names)]
    second = study.second_column(table, rows)
    if second:
        top.append(f'<th class="top first" colspan="{len(table.metrics)}">{second[0].name}')
        heads += [f'<th class="n{" first" if i == 0 else ""}">{m}' for i, m in enumerate(table.metrics)]
    body = []
    previous: Any = None
    for place, row in enumerate(chosen):
        group = list(row.parameters.values())[:-1]
        body.append(f"<tr{' class=group' if previous not in (None, group) else ''}>")
        previous = group
        body += [f"<td{' class=n' if not isinstance(v, str) else ''}>{v}" for v in row.parameters.values()]
        for metric in table.metrics:
            body.append(f'<td class="n first">{cell(row.simulated[metric])}')
            if ranged:
                body.append(f'<td class="n range">{span(row.ranges.get(metric))}')
            if show.has_published(chosen, metric):
                body.append(_published(row, metric))
        if second:
            partner = second[1][place]
            body += [f'<td class="n first">{cell(partner.simulated[m]) if partner else ""}' for m in table.metrics]
    notes = dict.fromkeys(f"* {row.note}" for row in chosen if row.note)
    text = "".join(f'<p class="note">{html.escape(note)}</p>' for note in notes)
    return (
        f"<p>{html.escape(table.title[0].upper() + table.title[1:])}.</p><div class=scroll><table class=data><tr>{''.join(top)}"
        f"<tr>{''.join(heads)}{''.join(body)}</table></div>{text}"
    )


def _published(row: Row, metric: str) -> str:
    value = row.published.get(metric)
    if value is None:
        return '<td class="n">'
    star = "*" if row.note else ""
    return f'<td class="n{" out" if _is_outside(row, metric) else ""}">{printed(value)}{star}'


def printed(value: float | None) -> str:
    """A published value as it was printed: ratios with two decimals, counts without.

    >>> [printed(v) for v in (1.0, 0.9, 7591.0, None)]
    ['1.00', '0.90', '7591', '']
    """
    return "" if value is None else f"{value:.{0 if value >= 100 else 2}f}"


def _is_outside(row: Row, metric: str) -> bool:
    value = row.published.get(metric)
    if value is None or metric in row.doubtful or metric not in row.ranges:
        return False
    return not inside_range(row, metric)


def _unmatched(study: Study, rows: Rows) -> str:
    """Rows whose published value is outside the range, worst first, then what was tried on them."""
    found, nearer = outside(rows)
    lines = [f'<p class="soft">{html.escape(text["text"])}</p>' for text in study.info.get("unmatched", ())]
    if found:
        body = "".join(
            f"<tr><td>{row.table}<td>{html.escape(', '.join(str(v) for v in row.parameters.values()))}<td>{metric}"
            f"<td class=n>{cell(row.simulated[metric])}<td class='n range'>{span(row.ranges[metric])}"
            f"<td class='n out'>{printed(row.published[metric])}"
            for row, metric in found
        )
        lines.append(
            f"<p>Published values outside the ensemble's 5 to 95 % range and more than {FAR} from the simulated one, the farthest "
            f"first; {nearer} more are outside and nearer. One published value in ten "
            "would be expected outside if each were one more draw.</p><div class=scroll><table><tr><th>table<th>row<th>metric"
            f"<th class=n>simulated<th class=n>5 to 95 %<th class=n>published{body}</table></div>"
        )
    return "".join(lines)


def _assumed(study: Study) -> str:
    rows = "".join(
        f"<tr><td><b>{html.escape(item['what'])}</b><br>{html.escape(item['value'])}<td>{html.escape(item['tried'])}"
        f"<td>{html.escape(item['effect'])}<td>{html.escape(item['reason'])}"
        for item in study.info.get("assumed", ())
    )
    if not rows:
        return ""
    return (
        "<p>What the text leaves open, decided once for all rows.</p><div class=scroll><table><tr><th>what, and value<th>tried"
        f"<th>effect<th>reason{rows}</table></div>"
    )


def _shared(study: Study) -> str:
    def flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
        for key, value in values.items():
            if isinstance(value, Mapping):
                yield from flat(value, f"{prefix}{key} ")
            else:
                yield prefix + key, value

    return "<dl>" + "".join(f"<dt>{k}<dd>{html.escape(str(v))}" for k, v in flat(study.info["shared"])) + "</dl>"
