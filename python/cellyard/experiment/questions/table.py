"""The question ``table``: the metrics at every point."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from cellyard.experiment.description.design import Point
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.metric_kind import mean_of, unit_of
from cellyard.experiment.not_known import run_longer
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.question import Question, rivals
from cellyard.runs.runner import CachedRunner
from cellyard.show.words import counted, spread, to_be
from cellyard.statistics.bounded import bounded_runs
from cellyard.statistics.inference import Estimate, defined

#: Limit on the metrics that the sentences mention.
MOST_METRICS = 3


@dataclass(frozen=True)
class Table(Question):
    """Every point of the design, each metric with the interval of its mean."""

    kind: ClassVar[str] = "table"

    def expected(self, plan: Plan) -> Expected:
        """All points."""
        return Expected(plan.size(), plan.size() * plan.replications)

    def answer(self, plan: Plan, runner: CachedRunner[Point]) -> Answer:
        """Where each metric is highest and lowest."""
        points = plan.points()
        samples = runner.samples(points, plan.replication_numbers)
        sentences: list[str] = []
        for metric, path in list(plan.metrics.items())[:MOST_METRICS]:
            means = [
                (mean, point)
                for point, samples_of_point in zip(points, samples, strict=True)
                if not bounded_runs(samples_of_point, metric)
                and (mean := mean_of(path, defined(samples_of_point, metric), CONFIDENCE))
            ]
            if not means:
                is_bounded = any(bounded_runs(samples_of_point, metric) for samples_of_point in samples)
                sentences.append(f"{to_be(metric)} {'not known' if is_bounded else 'undefined'} at every point.")
                continue
            unit = unit_of(path, plan.noun)
            among = "" if len(means) == len(points) else f"Among the {len(means)} of {len(points)} points known, "
            (high, top), (low, bottom) = max(means, key=_mean), min(means, key=_mean)
            if high.mean == low.mean:
                sentences.append(
                    f"{among}{to_be(metric)} {spread(high, unit)}{' at every point' if len(points) > 1 and not among else ''}."
                )
            else:
                sentences.append(
                    f"{among}{to_be(metric)} highest at {top}: {spread(high, unit)}{_overlapping(high, means)}, and lowest at {bottom}: "
                    f"{spread(low, unit)}{_overlapping(low, means)}."
                )
        sentences += run_longer(plan.metrics, runner)
        if (others := len(plan.metrics) - MOST_METRICS) > 0:
            sentences.append(f"The table has {counted(others, 'more metric')}.")
        of_each = " of each" if len(points) > 1 else ""
        return Answer(
            [*sentences, f"{counted(len(points), 'point')}, {counted(plan.replications, 'replication')}{of_each}."]
        )


def _overlapping(end: Estimate, means: Sequence[tuple[Estimate, object]]) -> str:
    """Number of other points whose intervals, or means without one, overlap the interval of the highest or lowest."""
    if end.low is None or end.high is None:
        return " (interval not known)"
    others = [other for other, _ in means if other is not end]
    return rivals(
        (end.low, end.high),
        [
            (other.mean, other.mean) if other.low is None or other.high is None else (other.low, other.high)
            for other in others
        ],
    )


def _mean(pair: tuple[object, ...]) -> float:
    return float(pair[0].mean)  # type: ignore[attr-defined]


#: Fields of the question's table besides ``kind``.
FIELDS: tuple[str, ...] = ()


def read(fields: Fields, plan: Plan) -> Table:
    """Read the question from its table."""
    return Table()
