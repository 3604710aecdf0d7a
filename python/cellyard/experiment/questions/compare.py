"""The question ``compare``: which variant is better, by how much, and with what confidence.

All variants use common random numbers. Differences are taken run by run and so vary less than the
variants do. Each difference is judged by Student's test. Holm's correction (1979) applies to all
together, so that more comparisons are judged more strictly.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, NamedTuple

from cellyard.experiment.description.axes import Level
from cellyard.experiment.description.design import Point
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.metric_kind import better_of
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.question import Question
from cellyard.experiment.runner import CachedRunner
from cellyard.show.words import counted, listed, number, percent, probability
from cellyard.statistics.inference import Estimate, Judged, estimate, holm, log_no_difference


@dataclass(frozen=True)
class Compare(Question):
    """The variants are the values of ``axis``, compared by ``metrics`` (empty: all), pairwise or all ``against`` one.

    ``better`` maps metrics to ``higher`` or ``lower``. It is required where the kind of the metric
    does not determine it (`better_of`), and otherwise overrides the kind.
    """

    axis: str
    metrics: Sequence[str] = ()
    against: str | None = None
    better: Mapping[str, str] = field(default_factory=dict)
    confidence: float = CONFIDENCE
    kind: ClassVar[str] = "compare"

    def columns(self, axis: str) -> tuple[str, ...]:
        """Column names that other axes must not have. The compared axis gets no column."""
        return () if axis == self.axis else COMPARED

    def expected(self, plan: Plan) -> Expected:
        """All points."""
        dimension = plan.dimension(self.axis)
        points = plan.size(without=dimension) * dimension.size
        return Expected(points, points * plan.replications)

    def answer(self, plan: Plan, runner: CachedRunner) -> Answer:
        """A sentence for each comparison, or for each metric if there are many."""
        found = self.comparisons(plan, runner)
        judged = holm([one.log_probability for one in found], self.confidence)
        records, sentences = [], []
        for one, verdict in zip(found, judged, strict=True):
            spread = estimate(one.differences, verdict.confidence)
            winner = self._winner(one, plan, spread, verdict)
            records.append(
                {
                    **one.point.told,
                    "metric": one.metric,
                    "variant": one.second,
                    "against": one.first,
                    "difference": spread and spread.mean,
                    "difference_low": spread and spread.low,
                    "difference_high": spread and spread.high,
                    "probability": verdict.probability,
                    "better": winner or OPEN,
                    "pairs": len(one.differences),
                }
            )
            sentences.append(self._sentence(one, spread, verdict, winner))
        sure = (
            f"{percent(self.confidence)} for all {len(found)} comparisons together (Holm)"
            if len(found) > 1
            else percent(self.confidence)
        )
        last = f"Confidence: {sure}; {counted(plan.replications, 'replication')} of each variant, with common random numbers"
        pairs = sorted({len(one.differences) for one in found})
        if pairs and pairs[0] < plan.replications:
            many = f"{pairs[0]} to {pairs[-1]}" if pairs[0] < pairs[-1] else str(pairs[0])
            last += f", of which {many} define the metric in both of a pair"
        last += "."
        return Answer([*self._told(records, sentences), last], {"comparisons": records}, tuple(self.metrics))

    def comparisons(self, plan: Plan, runner: CachedRunner) -> list[Comparison]:
        """The differences of each pair, at every point of the other axes, for every metric."""
        dimension = plan.dimension(self.axis)
        variants = [dimension.place(index) for index in range(dimension.size)]
        found = []
        for point in plan.points(without=dimension):
            there = [(self._label(variant), point.with_levels(variant)) for variant in variants]
            there = [(label, full) for label, full in there if plan.allows(full)]
            samples = dict(
                zip((full for _, full in there), runner.samples([full for _, full in there], plan.draws), strict=True)
            )
            for metric in self.metrics:
                for (first, a), (second, b) in self._pairs(there):
                    pairs = [(x[metric], y[metric]) for x, y in zip(samples[a], samples[b], strict=True)]
                    values = [float(y - x) for x, y in pairs if x is not None and y is not None]
                    found.append(Comparison(point, metric, first, second, values, log_no_difference(values)))
        return found

    def _label(self, variant: Sequence[tuple[str, Level]]) -> str:
        return dict(variant)[self.axis].label

    def _pairs(self, there: Sequence[tuple[str, Point]]) -> list[tuple[tuple[str, Point], tuple[str, Point]]]:
        if self.against is None:
            return list(itertools.combinations(there, 2))
        own = [one for one in there if one[0] == self.against]
        return [(one, other) for one in own for other in there if other[0] != self.against]

    def _winner(self, one: Comparison, plan: Plan, spread: Estimate | None, verdict: Judged) -> str | None:
        if spread is None or verdict.probability >= 1 - self.confidence:
            return None
        higher = (self.better.get(one.metric) or better_of(plan.metrics[one.metric])) == "higher"
        return one.second if (spread.mean > 0) == higher else one.first

    def _sentence(self, one: Comparison, spread: Estimate | None, verdict: Judged, winner: str | None) -> str:
        where = f"At {one.point}: " if one.point.levels else ""
        if spread is None:
            return f"{where}{one.metric} of {one.second} and {one.first} is not defined."
        size = f"[{number(spread.low)}, {number(spread.high)}], {probability(verdict.probability)}"
        if winner is None:
            return f"{where}no significant difference in {one.metric} between {one.second} and {one.first}: {number(spread.mean)} {size}."
        loser = one.first if winner == one.second else one.second
        gain = spread if winner == one.second else Estimate(-spread.mean, *_turned(spread))
        is_more = gain.mean > 0
        how, more = ("higher", gain.mean) if is_more else ("lower", -gain.mean)
        low, high = (gain.low, gain.high) if is_more else _turned(gain)
        return (
            f"{where}{winner} is better than {loser}: {one.metric} is {how} by {number(more)} "
            f"[{number(low)}, {number(high)}], {probability(verdict.probability)}."
        )

    def _told(self, records: Sequence[Mapping[str, Any]], sentences: Sequence[str]) -> list[str]:
        """Sentences of the answer. With several points, counts come first. With many sentences, only counts remain."""
        told = [] if len(sentences) > MOST_SENTENCES else list(sentences)
        if told and not any(self.axis != name and name not in COMPARED for name in records[0]):
            return told
        return [*(self._counted(metric, records) for metric in self.metrics), *told]

    def _counted(self, metric: str, records: Sequence[Mapping[str, Any]]) -> str:
        """How often each variant was better and by how much on average, ordered by frequency, then by difference."""
        own = [one for one in records if one["metric"] == metric]
        gains: dict[str, list[float]] = {}
        for one in own:
            if one["better"] != OPEN:
                gains.setdefault(one["better"], []).append(abs(one["difference"]))
        ranked = sorted(gains, key=lambda name: (-len(gains[name]), -fmean(gains[name]), name))
        told = [
            f"{name} {counted(len(gains[name]), 'time')} (by {number(fmean(gains[name]))}{' on average' * (len(gains[name]) > 1)})"
            for name in ranked[:MOST_RANKED]
        ]
        if len(ranked) > MOST_RANKED:
            told.append(f"{counted(len(ranked) - MOST_RANKED, 'other value')} of {self.axis}")
        open_pairs = len(own) - sum(map(len, gains.values()))
        better = listed(told, most=len(told)) or "none"
        return f"By {metric}, of {counted(len(own), 'comparison')}: better was {better}; {open_pairs} not separated."


def _turned(of: Estimate) -> tuple[float | None, float | None]:
    """The interval of the negated difference."""
    return (None, None) if of.low is None or of.high is None else (-of.high, -of.low)


#: Limit on sentences, above which comparisons are summarised.
MOST_SENTENCES = 12
#: Limit on the variants listed in a summary.
MOST_RANKED = 12
#: Text in place of the better variant where there is none.
OPEN = "not separated"
#: Columns of the table in addition to those of the other axes.
COMPARED = (
    "metric", "variant", "against", "difference", "difference_low", "difference_high", "probability", "better", "pairs",
)  # fmt: skip


class Comparison(NamedTuple):
    """The run-by-run differences ``second`` - ``first`` of a metric at a point of the other axes, with Student's test."""

    point: Point
    metric: str
    first: str
    second: str
    differences: list[float]
    log_probability: float


#: Fields of the question's table besides ``kind``.
FIELDS = ("axis", "metrics", "against", "better", "confidence")


def read(fields: Fields, plan: Plan) -> Compare:
    """Read the question from its table."""
    names = [axis.name for axis in plan.axes]
    axis = fields.text("axis", needed="the name of the axis whose values are compared") or ""
    metrics = fields.texts("metrics", what="metrics of the experiment", single=True)
    if "metrics" not in fields:
        metrics = list(plan.metrics)
    for metric in metrics:
        if metric not in plan.metrics:
            fields.problems.add(fields.at("metrics"), metric, "is not a metric of the experiment", near=plan.metrics)
    better = fields.raw("better", {})
    if not isinstance(better, Mapping):
        fields.wrong("better", 'a table as { cells = "lower" }', "is not a table")
        better = {}
    for metric, way in better.items():
        path = (*fields.at("better"), metric)
        if metric not in plan.metrics:
            fields.problems.add(path, metric, "is not a metric of the experiment", near=plan.metrics)
        elif way not in ("higher", "lower"):
            fields.problems.add(path, way, 'must be "higher" or "lower"', near=("higher", "lower"))
    for metric in metrics:
        path_of = plan.metrics.get(metric)
        if path_of and not (better.get(metric) or better_of(path_of)):
            fields.missing(f"better.{metric}", '"higher" or "lower": which is better for this metric is not known')
    against = fields.text("against")
    if axis and axis not in names:
        fields.problems.add(fields.at("axis"), axis, "is not an axis", near=names)
    elif axis:
        own = next(one for one in plan.axes if one.name == axis)
        labels = [one.label for one in own.levels]
        if len(set(labels)) < 2:
            fields.wrong("axis", "an axis with two values or more", "has a single value")
        elif len(set(labels)) < len(labels):
            fields.wrong("axis", "another of the axes that vary together", "has equal values, which cannot be compared")
        if against is not None and against not in labels:
            fields.problems.add(fields.at("against"), against, f"is not a value of the axis {axis}", near=labels)
    if plan.replications < 2:
        fields.problems.add(("replications",), plan.replications, "is too few to compare", allowed="2 or more")
    if plan.design.kind != "grid" and len(plan.space) == 1:
        fields.problems.add(
            ("design",), plan.design.kind, "needs an axis beside the one that is compared", allowed="grid"
        )
    confidence = fields.number("confidence", CONFIDENCE, above=0.5, below=1)
    return Compare(axis, tuple(metrics), against, dict(better), confidence or CONFIDENCE)
