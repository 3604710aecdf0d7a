"""The question ``precision``: replicate each point until the mean of each named metric is known well enough.

The rule is Stein's (1945) in two stages, continued while needed. n_0 replications give the standard deviation s_0; with h the half width
that is asked for and t the quantile of Student's law for n_0 - 1 degrees of freedom, N = max(n_0, ceil((t s_0 / h)^2)) are made. The
interval mean_N +- t s_0 / sqrt(N) has at least the stated confidence for normal values, whatever their variance, because s_0 and mean_N are
independent. Where the ordinary interval of all N values is wider (s_0 was small by chance, or the law has a long tail), replications
go on until it is not, and the wider of the two is told. So looking again and again at the data does not cost confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, ClassVar

from cellyard.experiment.design import Point
from cellyard.experiment.fields import Fields
from cellyard.experiment.meaning import within_bounds
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.question import Question
from cellyard.experiment.runner import Draw, Remembered
from cellyard.experiment.sentences import counted, listed, number, percent
from cellyard.experiment.statistics import Estimate, defined, student_of
from cellyard.limits import MOST_REPLICATIONS
from cellyard.metric_path import Number

#: The fewest replications of the first stage.
FEWEST = 5


@dataclass(frozen=True)
class Precision(Question):
    """Each metric of ``within`` to be known to so much (half the width of its interval): a number, or ``"5 %"`` of its mean.

    At most ``most`` replications of a point are made.
    """

    within: Mapping[str, float | str]
    most: int = 1000
    confidence: float = CONFIDENCE
    kind: ClassVar[str] = "precision"

    def columns(self, axis: str) -> tuple[str, ...]:
        """What no axis can be called: columns of the table."""
        return ("runs", "reached")

    def expected(self, plan: Plan) -> Expected:
        """At most ``most`` replications of all points."""
        return Expected(plan.size(), plan.size() * max(self.most, plan.replications), at_most=True)

    def answer(self, plan: Plan, runner: Remembered) -> Answer:
        """How many replications each point needed, and where ``most`` were too few."""
        points = plan.points()
        counts = self.replicate(points, runner, first=plan.replications)
        records, short = [], []
        for point in points:
            samples = runner.samples([point], range(counts[point]))[0]
            record: dict[str, Any] = {**point.told, "runs": counts[point]}
            reached = True
            for metric in self.within:
                values = defined(samples, metric)
                found = self.interval(values, plan.replications)
                asked = self._half(metric, found.mean) if found else 0.0
                reached = reached and found is not None and found.half <= asked
                found = found and within_bounds(plan.metrics[metric], values, found)
                record |= {
                    f"{metric}.mean": found and found.mean,
                    f"{metric}.low": found and found.low,
                    f"{metric}.high": found and found.high,
                }
            records.append({**record, "reached": "yes" if reached else "no"})
            if not reached:
                short.append(str(point))
        asked_for = listed(
            [
                f"{metric} to within {number(one) if not isinstance(one, str) else one}"
                for metric, one in self.within.items()
            ]
        )
        runs = sum(counts.values())
        sentence = (
            f"{asked_for} with {percent(self.confidence)} confidence took {counted(runs, 'run')}, "
            f"from {min(counts.values())} to {max(counts.values())} at a point"
        )
        if short:
            sentence += (
                f"; {counted(len(short), 'point')} of {len(points)} did not get there with at most {self.most} runs, or the metric is not "
                f"defined there: {listed(short)}"
            )
        elif len(points) > 1:
            sentence += f"; all {len(points)} points got there"
        return Answer([sentence + "."], {"precision": records}, tuple(self.within))

    def replicate(self, points: Sequence[Point], runner: Remembered, *, first: int) -> dict[Point, int]:
        """How many replications each point was given by the rule."""
        counts = dict.fromkeys(points, first)
        open_points = list(points)
        while open_points:
            runner([Draw(point, i) for point in open_points for i in range(counts[point])])
            still = []
            for point in open_points:
                samples = runner.samples([point], range(counts[point]))[0]
                needed = min(self.needed(samples, first), max(self.most, first))
                if needed > counts[point]:
                    counts[point] = needed
                    still.append(point)
            open_points = still
        return counts

    def needed(self, samples: Sequence[Mapping[str, Number]], first: int) -> int:
        """How many replications these say are needed; no more than there are when they suffice."""
        most = len(samples)
        for metric in self.within:
            values = defined(samples, metric)
            found = self.interval(values, first)
            if found is None:
                continue
            half = self._half(metric, found.mean)
            if found.half <= half:
                continue
            ratio = found.half / half if half > 0 else math.inf
            more = math.ceil(len(values) * ratio**2) if ratio < MOST_REPLICATIONS else MOST_REPLICATIONS
            most = max(most, max(more, len(values) + 1) + len(samples) - len(values))
        return most

    def interval(self, values: Sequence[float], first: int) -> Estimate | None:
        """The wider of Stein's interval, by the deviation of the ``first`` values, and the ordinary one."""
        if len(values) < 2:
            return Estimate(values[0], -math.inf, math.inf) if values else None
        mean = fmean(values)
        start = values[:first]
        confidence = (1 + self.confidence) / 2
        stein = student_of(confidence, len(start) - 1) * stdev(start) / math.sqrt(len(values))
        ordinary = student_of(confidence, len(values) - 1) * stdev(values) / math.sqrt(len(values))
        half = max(stein, ordinary)
        return Estimate(mean, mean - half, mean + half)

    def _half(self, metric: str, mean: float) -> float:
        asked = self.within[metric]
        return abs(mean) * _share(asked) if isinstance(asked, str) else float(asked)


def _share(text: str) -> float:
    """A share in percent; raises `ValueError` for what is none.

    >>> _share("5 %")
    0.05
    """
    if not text.strip().endswith("%"):
        raise ValueError(text)
    return float(text.strip().removesuffix("%")) / 100


#: What its table of the description has beside ``kind``.
FIELDS = ("within", "most", "confidence")


def read(fields: Fields, plan: Plan) -> Precision:
    """The question as it is described."""
    allowed = 'a table as { efficiency = 0.01, cell_loss_ratio = "10 %" }'
    within = fields.raw("within")
    kept: dict[str, float | str] = {}
    if not isinstance(within, Mapping) or not within:
        if "within" in fields:
            fields.wrong("within", allowed, "is no table of metrics")
        else:
            fields.missing("within", allowed)
        within = {}
    for metric, asked in within.items():
        path = (*fields.at("within"), metric)
        if metric not in plan.metrics:
            fields.problems.add(path, metric, "is no metric of the experiment", near=plan.metrics)
            continue
        try:
            size = _share(asked) if isinstance(asked, str) else float(asked)
            if isinstance(asked, bool) or not 0 < size < math.inf:
                raise ValueError(asked)
            kept[metric] = asked
        except (TypeError, ValueError):
            fields.problems.add(path, asked, "is no width", allowed='a number above 0, or "5 %" of the mean')
    most = fields.whole("most", 1000, least=2, most=MOST_REPLICATIONS)
    confidence = fields.number("confidence", CONFIDENCE, above=0.5, below=1)
    if plan.replications < FEWEST:
        fields.problems.add(
            ("replications",), plan.replications, "is too few to tell how values vary", allowed=f"{FEWEST} or more"
        )
    if most is not None and most < plan.replications:
        fields.wrong("most", f"at least the {plan.replications} replications that each point begins with", "is too few")
    return Precision(kept, most or 1000, confidence or CONFIDENCE)
