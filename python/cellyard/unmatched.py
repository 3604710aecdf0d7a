"""Published values that their row's ensemble does not reach."""

from __future__ import annotations

from cellyard.agreement import inside_range
from cellyard.study import Row, Rows

#: Published values outside their range are listed one by one if they are this far from the simulated value: a ratio by
#: itself, a count over the published one.
FAR = 0.1


def is_outside(row: Row, metric: str) -> bool:
    """Whether a published value that is judged lies outside the row's range."""
    if row.published.get(metric) is None or metric in row.doubtful or metric not in row.ranges:
        return False
    return not inside_range(row, metric)


def outside(rows: Rows) -> tuple[list[tuple[Row, str]], int]:
    """Rows and metrics with a published value outside the range and more than `FAR` away, the farthest first; how many are nearer."""
    found = [(row, metric) for row in rows for metric in row.published if is_outside(row, metric)]

    def distance(item: tuple[Row, str]) -> float:
        row, metric = item
        published = float(row.published[metric] or 0)
        return abs(float(row.simulated[metric]) - published) / max(published, 1)

    far = sorted((item for item in found if distance(item) > FAR), key=distance, reverse=True)
    return far, len(found) - len(far)
