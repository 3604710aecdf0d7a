"""Finds published values outside the range of their row's ensemble."""

from collections.abc import Callable, Sequence
from typing import Any

from cellyard.study.agreement import agreement, inside_range, judged, told_metrics
from cellyard.study.rows import Row, Rows
from cellyard.study.study import Study

#: Distance from the simulated value at which published values outside their range are listed.
#: Absolute for ratios, relative to the published value for counts.
FAR = 0.1


def is_outside(row: Row, metric: str) -> bool:
    """Whether a judged published value lies outside the row's range."""
    if row.published.get(metric) is None or metric in row.doubtful or metric not in row.ranges:
        return False
    return not inside_range(row, metric)


def outside(rows: Rows) -> tuple[list[tuple[Row, str]], int]:
    """Rows and metrics whose published value is outside the range and farther than `FAR` from the simulated one.

    The farthest come first. The second result is the number of values outside the range but nearer.
    """
    found = [(row, metric) for row in rows for metric in row.published if is_outside(row, metric)]

    def distance(item: tuple[Row, str]) -> float:
        row, metric = item
        published = float(row.published[metric] or 0)
        return abs(float(row.simulated[metric]) - published) / max(published, 1)

    far = sorted((item for item in found if distance(item) > FAR), key=distance, reverse=True)
    return far, len(found) - len(far)


#: Limit on named rows that cause half of an error.
MOST_ROWS = 3


def where_errors_come_from(study: Study, rows: Rows) -> list[str]:
    """A sentence for each summarising metric: the fewest rows that cause half of its mean absolute error."""
    sentences = []
    for metric in told_metrics(study):
        chosen = judged(Rows(row for row in rows if not study.tables[row.table].beside), metric)
        errors = [(abs(float(row.simulated[metric]) - float(row.published[metric] or 0)), row) for row in chosen]
        whole = sum(error for error, _ in errors)
        if len(errors) < 2 or not whole:
            continue
        named, part = [], 0.0
        for error, row in sorted(errors, key=lambda item: -item[0]):
            of_row = ", ".join(str(value) for value in row.parameters.values() if value != "")
            named.append(f"table {row.table} ({of_row}) {100 * error / whole:.0f} %")
            part += error
            if part >= whole / 2:
                break
        first = "; those with the most" if len(named) > MOST_ROWS else ""
        sentences.append(
            f"At least half of the error in {metric} comes from {len(named)} of {len(errors)} rows{first}: {'; '.join(named[:MOST_ROWS])}."
        )
    return sentences


def told(study: Study, rows: Rows) -> list[str]:
    """The study's texts on rows that do not match, filled in from ``rows``; none for rows that were not run or do match.

    A text names its rows under ``rows`` and their numbers as ``{NAME.simulated[METRIC]}``,
    ``published``, ``error`` or ``rank``.
    """
    texts = []
    for entry in study.info.get("unmatched", ()):
        wanted = entry.get("rows", {})
        chosen = {name: rows.where(**where) for name, where in wanted.items()}
        if all(chosen.values()) and (not wanted or any(_is_off(row) for these in chosen.values() for row in these)):
            numbers = {name: Numbers(these) for name, these in chosen.items()}
            texts.append(entry["text"].format(**numbers) if wanted else entry["text"])
    return texts


def _is_off(row: Row) -> bool:
    """Whether a published value of the row is outside its range, or far from a single run."""
    for metric, published in row.published.items():
        simulated = row.simulated.get(metric)
        if published is None or metric in row.doubtful or simulated is None:
            continue
        if is_outside(row, metric) if metric in row.ranges else abs(simulated - published) > FAR * max(published, 1):
            return True
    return False


class Numbers:
    """Numbers of some rows by metric, as text."""

    def __init__(self, rows: Rows) -> None:
        self.simulated = _ByMetric(lambda metric: some(rows.values(metric)))
        self.published = _ByMetric(lambda metric: some([float(row.published[metric] or 0) for row in rows]))
        self.error = _ByMetric(lambda metric: f"{agreement(rows, metric)['mean_abs_error']:.2f}")
        self.rank = _ByMetric(lambda metric: _two(agreement(rows, metric)["rank_correlation"]))


class _ByMetric:
    """Applies a function to the requested metric."""

    def __init__(self, tell: Callable[[str], str]) -> None:
        self._tell = tell

    def __getitem__(self, metric: str) -> str:
        return self._tell(metric)


def _two(value: Any) -> str:
    return "not defined" if value is None else f"{value:.2f}"


def some(values: Sequence[float]) -> str:
    """One or two values, or the lowest and the highest.

    >>> some([0.5]), some([0.57, 0.7]), some([0.95, 0.96, 0.94]), some([0.8, 0.8, 0.8])
    ('0.50', '0.57 and 0.70', '0.94 to 0.96', '0.80')
    """
    texts = [f"{value:.2f}" for value in values]
    ends = [f"{min(values):.2f}", f"{max(values):.2f}"]
    if ends[0] == ends[1]:
        return ends[0]
    return " and ".join(texts) if len(texts) == 2 else " to ".join(ends)
