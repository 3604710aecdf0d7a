"""Agreement of simulated with published values."""

import math
import random
from collections.abc import Sequence
from typing import Any

from cellyard.statistics.difference import FEWEST
from cellyard.statistics.ranges import share_inside
from cellyard.statistics.student import CONFIDENCE, student_quantile
from cellyard.study.rows import Row, Rows
from cellyard.study.study import Study


def summary(study: Study, rows: Rows) -> dict[str, dict[str, Any]]:
    """Agreement with the published values by metric, over all rows and per table and group.

    Tables next to others (`Table.beside`) count only as groups. ``without_tables`` names them.
    """
    metrics = dict.fromkeys(m for table in study.tables.values() for m in table.metrics)
    found = {}
    beside = [name for name, table in study.tables.items() if table.beside and rows.where(table=name)]
    without = {"without_tables": beside} if beside else {}
    for metric in metrics:
        whole = agreement(Rows(row for row in rows if row.table not in beside), metric, study.centre)
        if whole["rows"]:
            found[metric] = {**whole, **without, "groups": _groups(study, rows, metric)}
    return found


def told_metrics(study: Study) -> tuple[str, ...]:
    """Metrics that summarise a study: its ``told``, else efficiency and fairness if its tables have both, else all published ones."""
    if "told" in study.info:
        return tuple(study.info["told"])
    usual = ("efficiency", "fairness")
    tables = study.tables.values()
    if {metric for table in tables for metric in table.metrics} >= set(usual):
        return usual
    rows = [row for table in tables for row in table.rows]
    printed = dict.fromkeys(metric for table in tables for metric in table.metrics)
    return tuple(metric for metric in printed if any(row.published.get(metric) is not None for row in rows))


def _groups(study: Study, rows: Rows, metric: str) -> list[dict[str, Any]]:
    keys: dict[tuple[tuple[str, Any], ...], None] = {}
    for row in rows:
        group = tuple((k, row.parameters[k]) for k in study.group_by if k in row.parameters)
        keys.setdefault((("table", row.table),))
        keys.setdefault((("table", row.table), *group))
    groups = []
    for key in keys:
        chosen = dict(key)
        found = agreement(Rows(row for row in rows if row.matches(chosen)), metric, study.centre)
        if found["rows"]:
            groups.append({**chosen, **found})
    return groups


#: Number of bootstrap resamples for the margin of an error.
RESAMPLES = 200


def judged(rows: Rows, metric: str) -> list[Row]:
    """The rows where a metric is judged by a published value."""
    return [
        row
        for row in rows
        if row.published.get(metric) is not None
        and metric not in row.doubtful
        and row.simulated.get(metric) is not None
    ]


def agreement(rows: Rows, metric: str, centre: str = "median") -> dict[str, Any]:
    """Agreement of a metric with its published values; ``centre`` is the study's `Study.centre`.

    Returns these values:

    * the mean absolute error in the metric's unit with its margin (`error_margin`);
    * Spearman's rank correlation, ``None`` for fewer than three rows or constant values;
    * the number of published values inside the ensemble's range;
    * the expected number if each were one more value of its row
      (`cellyard.statistics.ranges.share_inside`).

    The last two are ``None`` without replications.
    """
    chosen = judged(rows, metric)
    simulated = [float(row.simulated[metric]) for row in chosen]
    published = [float(row.published[metric] or 0) for row in chosen]
    errors = [abs(s - p) for s, p in zip(simulated, published, strict=True)]
    ranged = [row for row in chosen if metric in row.ranges]
    return {
        "rows": len(chosen),
        "mean_abs_error": sum(errors) / len(errors) if errors else None,
        "error_margin": error_margin(chosen, metric, centre),
        "rank_correlation": rank_correlation(simulated, published),
        "inside_range": sum(inside_range(row, metric) for row in ranged) if ranged else None,
        "expected_inside": round(sum(share_inside(row.runs) for row in ranged), 6) if ranged else None,
    }


def error_margin(rows: Sequence[Row], metric: str, centre: str) -> float | None:
    """Half width of the 95 % interval of the mean absolute error of these rows, given the replications.

    Student's quantile times the deviation of the error over `RESAMPLES` bootstrap resamples of the
    replications. All rows use one set of resamples, since they share their random numbers. The
    margin covers other seeds, but not other published runs. ``None`` for fewer than `FEWEST`
    replications.
    """
    import numpy as np

    samples = [row.samples.get(metric, ()) for row in rows]
    replications = min(map(len, samples), default=0)
    if replications < FEWEST:
        return None
    draw = random.Random(1)
    chosen = np.array([draw.choices(range(replications), k=replications) for _ in range(RESAMPLES)])
    errors = np.zeros(RESAMPLES)
    for row, values in zip(rows, samples, strict=True):
        drawn = np.array([math.nan if one is None else one for one in values], float)[chosen]
        if np.isnan(drawn).any():
            drawn = np.where(np.isnan(drawn).all(axis=1, keepdims=True), row.simulated[metric], drawn)
            centres = (np.nanmean if centre == "mean" else np.nanmedian)(drawn, axis=1)
        else:
            centres = (np.mean if centre == "mean" else np.median)(drawn, axis=1)
        errors += abs(centres - float(row.published[metric] or 0))
    deviation = float(errors.std(ddof=1)) / len(rows) * math.sqrt(replications / (replications - 1))
    return student_quantile((1 + CONFIDENCE) / 2, replications - 1) * deviation


def inside_range(row: Row, metric: str) -> bool:
    """Whether the published value, which is rounded, is compatible with the ensemble's range."""
    low, high = row.ranges[metric]
    half = 0.5 if metric in row.counts else row.rounded_to(metric) / 2
    return low - half <= float(row.published[metric] or 0) <= high + half


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Spearman's rank correlation: Pearson's correlation of the ranks. Ties share their mean rank.

    >>> rank_correlation([1, 2, 3], [10, 30, 20])
    0.5
    >>> rank_correlation([1, 1, 1], [1, 2, 3]) is None
    True
    """
    import numpy as np

    if len(a) < 3:
        return None
    ranks = []
    for values in (a, b):
        _, place, times = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
        last = np.cumsum(times)
        ranks.append((last - (times - 1) / 2)[place])
    x, y = (r - r.mean() for r in ranks)
    scale = math.sqrt(float((x * x).sum() * (y * y).sum()))
    return float((x * y).sum()) / scale if scale else None
