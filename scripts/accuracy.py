"""Write the tables of docs/accuracy.md: how far every study's rows are from what was published.

Usage: accuracy.py [STUDY ...]; without names, all studies. It simulates each row that has published
values 10 times, or as `REPLICATIONS` says, which takes some minutes for all studies.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cellyard.study import studies
from cellyard.study.agreement import summary, told_metrics
from cellyard.study.reproduce import Reproduction
from cellyard.study.rows import Rows
from cellyard.study.study import Study

PAGE = Path(__file__).resolve().parent.parent / "docs/accuracy.md"

#: Replications of the rows of a study, if not 10.
REPLICATIONS = {"ubr-plus": 20}


def published(study: Study, table: str | None = None) -> Rows:
    """Return the rows with a published value, of all tables or of one."""
    tables = study.tables if table is None else (table,)
    found = (row for name in tables for row in study.tables[name].rows)
    return Rows(row for row in found if any(value is not None for value in row.published.values()))


def groups(study: Study, rows: Rows, replications: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Simulate rows; return their agreement by table, group and metric, each with the name of the rows and of the metric."""
    reproduction = Reproduction(study, rows, replications=replications)
    for _ in reproduction.advance():
        pass
    found = summary(study, reproduction.rows)
    lines = []
    for metric in told_metrics(study):
        of_metric = found[metric]["groups"] if metric in found else []
        keys = [{key: group[key] for key in ("table", *study.group_by) if key in group} for group in of_metric]
        for chosen, group in zip(keys, of_metric, strict=True):
            # Only the smallest groups: a table as a whole is left out if it has groups.
            if not any(chosen.items() < other.items() for other in keys):
                parts = [_named(key, value) for key, value in chosen.items() if key != "table"]
                lines.append((": ".join([str(chosen["table"]), *filter(None, [", ".join(parts)])]), metric, group))
    return sorted(lines, key=lambda line: list(study.tables).index(line[2]["table"]))


def _named(key: str, value: object) -> str:
    return str(value) if key in ("configuration", "environment", "tcp") else f"{key} {value}"


def _number(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.3g}"


def cells(found: dict[str, Any] | None) -> str:
    """Return the cells of a group and a metric; empty ones if nothing was published."""
    if found is None:
        return " | | |"
    rank = "" if found["rank_correlation"] is None else f"{found['rank_correlation']:.2f}"
    inside = f"{found['inside_range']} of {found['rows']} ({found['expected_inside']:.0f})"
    return f" {_number(found['mean_abs_error'])} | {rank} | {inside} |"


def table(found: Iterable[tuple[str, str, dict[str, Any]]]) -> Iterator[str]:
    """Yield the lines of a table from the agreement by group and metric: one for each group."""
    by_name: dict[str, dict[str, dict[str, Any]]] = {}
    for name, metric, group in found:
        by_name.setdefault(name, {})[metric] = group
    metrics = list(dict.fromkeys(metric for groups in by_name.values() for metric in groups))
    yield f"| table: group |{''.join(f' {metric}: error | rank | inside |' for metric in metrics)}\n"
    yield "|---" * (1 + 3 * len(metrics)) + "|\n"
    yield from (
        f"| {name} |{''.join(cells(of_group.get(metric)) for metric in metrics)}\n"
        for name, of_group in by_name.items()
    )


def block(study: Study) -> str:
    """Return the table of a study."""
    replications = REPLICATIONS.get(study.name, 10)
    head = f"\n**`{study.name}`**, {study.centre}s of {replications} replications:\n\n"
    return head + "".join(table(groups(study, published(study), replications))) + "\n"


def into(page: str, name: str, text: str) -> str:
    """Return the page with another table of a study."""
    begin, end = f"<!-- {name}, by scripts/accuracy.py -->\n", "<!-- end -->"
    before, _, rest = page.partition(begin)
    return before + begin + text + rest[rest.index(end) :]


def main() -> None:
    """Simulate and write."""
    for name in sys.argv[1:] or studies():
        text = block(studies()[name])
        PAGE.write_text(into(PAGE.read_text(encoding="utf-8"), name, text), encoding="utf-8")
        print(f"{name}: done", flush=True)


if __name__ == "__main__":
    main()
