"""Pages of ``cellyard study report``: HTML, and a summary in Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cellyard.commands import tables
from cellyard.commands.picture import Picture
from cellyard.show import pages
from cellyard.show.text import range_name
from cellyard.statistics.ranges import share_inside
from cellyard.study import Study
from cellyard.study.answer import undecided, untold
from cellyard.study.outliers import FAR, outside, told, where_errors_come_from
from cellyard.study.rows import Rows

#: Captions of the tables of `Number` and `Evidence`.
NUMBERS_CAPTION = (
    "Values are means over the replications, with the 95 % interval of that mean. In sentences ± is half an interval, rounded up. "
    "An interval needs six replications."
)
EVIDENCE_CAPTION = (
    "Differences are means over replications with common random numbers. The intervals of several candidates have a joint "
    "confidence of 95 % (Bonferroni over all pairs). Differences whose interval excludes 0 are significant."
)
#: Caption of claims that are judged.
CLAIMS_CAPTION = (
    "A claim holds if the 95 % intervals of the numbers on which it rests meet its conditions, and is contradicted if one of them, or "
    "too many, lie on the other side. Otherwise it is not decided."
)


def page(*report: Any, **options: Any) -> str:
    """The whole HTML page, figures included; arguments as for `values`."""
    return pages.html("report.html", **values(*report, **options))


def summary(*report: Any, **options: Any) -> str:
    """The report as one page of Markdown, which refers to the files of its figures; arguments as for `values`."""
    return pages.markdown("summary.md", **values(*report, **options))


def values(
    study: Study,
    rows: Rows,
    document: Mapping[str, Any],
    figures: Sequence[Picture] = (),
    *,
    undrawn: str = "",
    chosen: Sequence[str] = (),
) -> dict[str, Any]:
    """Values for both templates.

    ``chosen`` holds the options that selected ``rows`` if they are not all; ``undrawn`` mentions
    figures that need more rows.
    """
    far, nearer = outside(rows)
    replications = document["replications"] or 1
    key = next((one for one in figures if one.name == study.key_figure), figures[0] if figures else None)
    shown = [
        (table, tables.comparison_table(study, table, rows), tables.notes(shown_rows))
        for name, table in study.tables.items()
        if (shown_rows := rows.where(table=name))
    ]
    return {
        "agreement": tables.agreement(document["summary"], groups=False),
        "agreement_by_group": tables.agreement(document["summary"]),
        "assumed": [{"tried": "", "effect": "", "reason": "", **item} for item in study.info.get("assumed", ())],
        "numbers_caption": NUMBERS_CAPTION,
        "chosen": chosen,
        "claims_caption": undecided(replications) or CLAIMS_CAPTION,
        "citation": study.info["citation"],
        "evidence_caption": EVIDENCE_CAPTION,
        "document": document,
        "doubtful": [row for row in rows if row.doubtful],
        "effects": study.info.get("effects", {}).get("text", ""),
        "evidence": tables.evidence(document["evidence"]),
        "far": tables.outliers(far, replications) if far else None,
        "far_from": FAR,
        "figures": [one for one in figures if one is not key],
        "key": key,
        "nearer": nearer,
        "numbers": tables.numbers(document["numbers"]),
        "range_name": range_name(replications),
        "share_inside": share_inside(replications),
        "shared": list(_flat(study.info["shared"])),
        "study": study,
        "tables": shown,
        "undrawn": undrawn,
        "unmatched": [*where_errors_come_from(study, rows), *told(study, rows)],
        "untold": untold(study, rows),
    }


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key} ")
        else:
            yield prefix + key, value
