"""The question ``table``: the metrics at every point."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from cellyard.experiment.description.design import Point, where
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.metric_kind import mean_of, unit_of
from cellyard.experiment.not_known import run_longer
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.question import Question
from cellyard.runs.runner import CachedRunner
from cellyard.show.text import format_value
from cellyard.show.words import counted, number, spread, to_be
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
            means = []
            for point, runs in zip(points, samples, strict=True):
                values = [] if bounded_runs(runs, metric) else defined(runs, metric)
                if mean := mean_of(path, values, CONFIDENCE):
                    unit = unit_of(path, plan.noun)
                    varies = len(values) == 1 or len(set(values)) > 1  # as one run does not show that it does not
                    means.append(_Mean(point, mean, unit, _size(mean, unit, varies=varies), varies))
            if not means:
                is_bounded = any(bounded_runs(runs, metric) for runs in samples)
                sentences.append(f"{to_be(metric)} {'not known' if is_bounded else 'undefined'} at every point.")
                continue
            among = "" if len(means) == len(points) else f"Among the {len(means)} of {len(points)} points known, "
            subject = f"{among}{to_be(metric)}"
            if len({mean.size for mean in means}) == 1:
                sentences.append(
                    f"{subject} {means[0].size}{' at every point' if len(points) > 1 and not among else ''}."
                )
                continue
            ranked = sorted(means, key=lambda mean: mean.estimate.mean)
            sentences += _extreme(f"{subject} highest", "high", ranked[::-1], [mean.point for mean in means])
            is_plural = to_be(metric).endswith(" are")
            sentences += _extreme(
                f"{'They are' if is_plural else 'It is'} lowest", "low", ranked, [mean.point for mean in means]
            )
        sentences += run_longer(plan.metrics, runner)
        if (others := len(plan.metrics) - MOST_METRICS) > 0:
            sentences.append(f"The table has {counted(others, 'more metric')}.")
        of_each = " of each" if len(points) > 1 else ""
        return Answer(
            [*sentences, f"{counted(len(points), 'point')}, {counted(plan.replications, 'replication')}{of_each}."]
        )


def overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two intervals overlap.

    >>> overlap((0.2, 0.4), (0.3, 0.5)), overlap((0.2, 0.4), (0.5, 0.6))
    (True, False)
    """
    return other[0] <= one[1] and other[1] >= one[0]


class _Mean(NamedTuple):
    """The mean of a metric at a point, its unit, its size in words, and whether it varies between runs."""

    point: Point
    estimate: Estimate
    unit: str
    size: str
    varies: bool

    @property
    def in_table(self) -> tuple[str, ...]:
        """The mean and the ends of its interval, with the digits of the table of points."""
        return tuple(map(format_value, self.estimate))

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of the mean, or the mean without one."""
        mean, low, high = self.estimate
        return (mean, mean) if low is None or high is None else (low, high)


def _size(mean: Estimate, unit: str, *, varies: bool) -> str:
    """A mean in words, with its interval, or that all runs have one value."""
    if not varies:
        return f"{number(mean.mean)}{unit} in every run"
    return f"{spread(mean, unit)}{' (interval not known)' if mean.low is None else ''}"


def _extreme(subject: str, side: str, ranked: Sequence[_Mean], points: Sequence[Point]) -> Iterator[str]:
    """Where the first of ``ranked`` means is, with all that read the same, and how many others may be as extreme."""
    first, shown = ranked[0], ranked[0].in_table
    equal = [mean for mean in ranked if mean.in_table == shown]
    all_places = f"{where([mean.point for mean in equal], points)} ({len(equal)} points)"
    place = f"at {first.point}" if len(equal) == 1 else all_places
    sizes = {mean.size for mean in equal}
    is_exact = len(set(shown)) == 1 and first.varies  # as far as the table shows
    yield f"{subject} {place}: {shown[0] + first.unit if is_exact or len(sizes) > 1 else first.size}."
    rivals = [mean for mean in ranked if mean.in_table != shown and overlap(mean.ends, first.ends)]
    if rivals and first.estimate.low is not None:
        others = f"at {rivals[0].point}" if len(rivals) == 1 else f"at {len(rivals)} other points"
        yield f"The value may be as {side} {others}: the intervals overlap."


#: Fields of the question's table besides ``kind``.
FIELDS: tuple[str, ...] = ()


def read(fields: Fields, plan: Plan) -> Table:
    """Read the question from its table."""
    return Table()
