"""Tables of studies and experiments: measured values with their ranges and published values, agreement, and answers."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from cellyard.experiment.records import count_metrics, interval_of, merge_joint_axes
from cellyard.show.table import Column, Table, field
from cellyard.show.text import ALL_EQUAL, INTERVAL, decimals, format_range, format_value, range_head, range_name
from cellyard.statistics.bounded import field_value
from cellyard.study import Study, Table as Published
from cellyard.study.outliers import is_outside
from cellyard.study.rows import Row, Rows

#: Columns of the agreement: fields of `cellyard.study.agreement.agreement` with their heads.
AGREEMENT = {
    "rows": "rows",
    "mean_abs_error": "mean error",
    "error_margin": "±",
    "rank_correlation": "rank correlation",
    "inside_range": "inside the range",
    "expected_inside": "if drawn at random",
}
#: Fields of a document that are not tables of an answer.
_OTHER_FIELDS = frozenset({"points", "answer", "notes", "axes", "together", "metrics"})


def comparison_table(study: Study, table: Published, all_rows: Rows) -> Table:
    """A published table: parameters, and for each metric the simulated value, its range, and the published value."""
    rows = all_rows.where(table=table.name)
    columns = [_parameter_column(name) for name in table.parameters]
    columns += [column for metric in table.metrics for column in _published_columns(metric, rows)]
    if second := study.second_column(table, all_rows):
        other, partners = second
        partner_of = {id(row): partner for row, partner in zip(rows, partners, strict=True)}
        columns += [_partner_column(metric, other.name, partner_of) for metric in table.metrics]
    return Table(rows, columns, len(table.parameters), _starts_group)


def _starts_group(before: Row, row: Row) -> bool:
    """Whether a parameter other than the last has a new value."""
    return list(before.parameters.values())[:-1] != list(row.parameters.values())[:-1]


def _parameter_column(name: str) -> Column:
    return Column(name, lambda row: parameter(row.parameters[name]))


def _partner_column(metric: str, name: str, partner_of: Mapping[int, Row | None]) -> Column:
    """Column of the values that the table ``name`` has in corresponding rows."""
    return Column(f"{metric} {name}", lambda row: simulated_text(partner_of[id(row)], metric))


def _published_columns(metric: str, rows: Rows) -> Iterator[Column]:
    """A metric of rows: its value, its range, and what was published."""
    head = range_head(rows[0].runs) if has_ranges(rows) else ""
    yield from _value_columns(
        metric,
        head,
        lambda row: row.simulated[metric],
        lambda row: format_range(row.ranges.get(metric), is_count=metric in row.counts),
        lambda row: metric in row.counts,
    )
    if any(row.published.get(metric) is not None for row in rows):
        yield Column(
            "published", lambda row: published_text(row, metric), lambda row: "out" if is_outside(row, metric) else ""
        )
        yield Column("diff", lambda row: difference_text(row, metric))


def _value_columns(
    metric: str,
    ranges: str,
    centre: Callable[[Any], Any],
    interval: Callable[[Any], str],
    is_count: Callable[[Any], bool],
) -> Iterator[Column]:
    """A metric of records and, with the head ``ranges``, its range or interval."""
    yield Column(metric, lambda record: format_value(centre(record), is_count=is_count(record)))
    if ranges:
        yield Column(ranges, interval, lambda _: "range")


def parameter(value: Any) -> str:
    """A parameter as the published table prints it.

    >>> [parameter(v) for v in ("lan", 5, 0.10)]
    ['lan', '5', '0.1']
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def has_ranges(rows: Rows) -> bool:
    """Whether the rows summarise an ensemble."""
    return any(row.ranges for row in rows)


def simulated_text(row: Row | None, metric: str) -> str:
    """The simulated value."""
    return format_value(row.simulated[metric], is_count=metric in row.counts) if row else ""


def published_text(row: Row, metric: str) -> str:
    """The published value, with the decimals as printed. A star marks values with a note."""
    value = row.published.get(metric)
    if value is None:
        return ""
    is_noted = metric in row.doubtful if row.doubtful else bool(row.note)
    return f"{value:.{decimals(value, row.rounded_to(metric))}f}{'*' * is_noted}"


def difference_text(row: Row, metric: str) -> str:
    """The simulated minus the published value, in the latter's decimals; empty if the published value is in doubt."""
    simulated, value = row.simulated[metric], row.published.get(metric)
    if simulated is None or value is None or metric in row.doubtful:
        return ""
    digits = decimals(value, row.rounded_to(metric))
    return f"{round(simulated - value, digits) + 0.0:+.{digits}f}"  # adding 0.0 makes -0.0 positive


def notes(rows: Rows) -> list[str]:
    """Explanations of the stars in a table."""
    return list(dict.fromkeys(f"* {'not judged: ' if row.doubtful else ''}{row.note}" for row in rows if row.note))


def agreement(summary: Mapping[str, Any], *, groups: bool = True) -> Table:
    """Agreement by metric and, with ``groups``, by table and group, without columns that single runs lack."""
    records = [
        {"metric": metric, **record}
        for metric, whole in summary.items()
        for record in (whole, *(_distinct(whole) if groups else ()))
    ]
    columns = [field("metric"), Column("rows of", group_label)]
    compared = [name for name in AGREEMENT if any(record[name] is not None for record in records)]
    columns += [field(name, AGREEMENT[name], is_count=name == "expected_inside") for name in compared]
    return Table(records, columns, 2, lambda before, record: before["metric"] != record["metric"])


def _distinct(whole: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tables of a metric that are not all rows, and the groups that are not a whole table.

    >>> rows = dict.fromkeys(AGREEMENT)
    >>> groups = [{"table": "1", **rows, "rows": 3}, {"table": "1", "tcp": "sack", **rows, "rows": 3}]
    >>> [group["rows"] for group in _distinct({**rows, "rows": 4, "groups": groups})]
    [3]
    >>> list(_distinct({**rows, "rows": 3, "groups": groups}))
    []
    """
    of_table = whole["rows"]
    for group in whole["groups"]:
        is_table = group.keys() <= {"table", *AGREEMENT}
        if group["rows"] != (whole["rows"] if is_table else of_table):
            yield group
        if is_table:
            of_table = group["rows"]


def group_label(group: Mapping[str, Any]) -> str:
    """Subject of a line of the agreement.

    >>> group_label({"table": "4-6", "tcp": "reno", "rows": 36, "mean_abs_error": 0.1})
    'table 4-6, reno'
    >>> group_label({"rows": 36, "without_tables": ["reno-lan"], "groups": []})
    'all but table reno-lan'
    """
    keys = [key for key in group if key not in ("metric", "groups", "without_tables", *AGREEMENT)]
    if keys:
        return ", ".join(f"table {group[key]}" if key == "table" else str(group[key]) for key in keys)
    without = group.get("without_tables")
    return f"all but table {', '.join(without)}" if without else "all"


def numbers(found: Sequence[Mapping[str, Any]]) -> Table:
    """The numbers behind each sentence of an answer."""
    return Table(found, [field("sentence"), field("what"), field("value"), _interval()])


def evidence(found: Sequence[Mapping[str, Any]]) -> Table:
    """The differences that decide each sentence of an answer."""
    return Table(found, [field("sentence"), field("what"), field("value", "difference"), _interval(), field("verdict")])


def _interval() -> Column:
    return Column(
        "95 % interval", lambda item: format_range(None if item["low"] is None else (item["low"], item["high"]))
    )


def outliers(far: Sequence[tuple[Row, str]], replications: int) -> Table:
    """Rows and metrics whose published value is far outside the range."""
    columns = [
        Column("table", lambda pair: pair[0].table),
        Column("row", lambda pair: ", ".join(map(str, pair[0].parameters.values()))),
        Column("metric", lambda pair: pair[1]),
        Column("simulated", lambda pair: simulated_text(*pair)),
        Column(
            range_name(replications),
            lambda pair: format_range(pair[0].ranges[pair[1]], is_count=pair[1] in pair[0].counts),
        ),
        Column("published", lambda pair: published_text(*pair), lambda _: "out"),
    ]
    return Table(far, columns)


def answer_tables(document: Mapping[str, Any]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The tables behind the answer, by title."""
    return {
        title: value
        for title, value in document.items()
        if title not in _OTHER_FIELDS and isinstance(value, list) and value and isinstance(value[0], Mapping)
    }


def means_note(points: Sequence[Mapping[str, Any]]) -> str:
    """End of a heading that describes the values of points with several runs."""
    return f", means of the runs, {INTERVAL}s" if any(point["runs"] > 1 for point in points) else ""


def heading(name: str, document: Mapping[str, Any]) -> str:
    """Heading of a table."""
    return f"points of the axes{means_note(document['points'])}" if name == "points" else name


def of_outcome(document: Mapping[str, Any]) -> dict[str, Table]:
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
    """Points with the mean of each metric, and its interval if they have several runs."""
    keys = [name for name in points[0] if name not in metrics]
    counts = count_metrics(points, metrics)
    head = INTERVAL if any(point["runs"] > 1 for point in points) else ""

    def columns(metric: str) -> Iterator[Column]:
        def interval(point: Mapping[str, Any]) -> str:
            summary = point[metric]
            if summary["low"] is None and point["runs"] > 1 and summary["min"] is not None:
                return ALL_EQUAL if summary["min"] == summary["max"] else ""
            return format_range(interval_of(point, metric), is_count=metric in counts)

        def mean(point: Mapping[str, Any]) -> Any:
            return field_value(point[metric].get, "mean")

        return _value_columns(metric, head, mean, interval, lambda _: metric in counts)

    return Table(points, [*map(field, keys), *(column for metric in metrics for column in columns(metric))], len(keys))
