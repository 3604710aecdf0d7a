"""The question ``compare``: which variant is better, by how much, and with what confidence.

All variants use common random numbers. Differences are taken run by run and so vary less than the
variants do. Each difference is judged by Student's test. Holm's correction (1979) applies to all
together, so that more comparisons are judged more strictly.

If only bounds of some values are known, the sign test takes the place of Student's: a pair shows a
sign if its bounds do not overlap, and otherwise counts against it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, NamedTuple

from cellyard.experiment.description.axes import Level
from cellyard.experiment.description.design import Point
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.metric_kind import better_of, unit_of
from cellyard.experiment.not_known import run_longer
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.question import Question
from cellyard.runs.runner import CachedRunner
from cellyard.show.words import counted, listed, number, percent, probability, to_be
from cellyard.statistics.bounded import ends_of, known
from cellyard.statistics.difference import Difference, at_confidence, log_no_difference, log_no_majority
from cellyard.statistics.inference import HolmResult, holm


@dataclass(frozen=True)
class Compare(Question):
    """The variants are the values of ``axis``, compared by ``metrics`` (empty: all), pairwise or all ``against`` one.

    ``better`` maps metrics to ``higher`` or ``lower``. It is required if the kind of the metric
    does not determine it (`better_of`), and otherwise overrides the kind.
    """

    axis: str
    metrics: Sequence[str] = ()
    against: str | None = None
    better: Mapping[str, str] = field(default_factory=dict)
    confidence: float = CONFIDENCE
    kind: ClassVar[str] = "compare"

    def reserved_columns(self, axis: str) -> tuple[str, ...]:
        """Column names that other axes must not have. The compared axis gets no column."""
        return () if axis == self.axis else COLUMNS

    def expected(self, plan: Plan) -> Expected:
        """All points."""
        dimension = plan.dimension(self.axis)
        points = plan.size(without=dimension) * dimension.size
        return Expected(points, points * plan.replications)

    def answer(self, plan: Plan, runner: CachedRunner[Point]) -> Answer:
        """A sentence for each comparison, or for each metric if there are many or several points."""
        comparisons = self.comparisons(plan, runner)
        verdicts = holm([comparison.log_probability for comparison in comparisons], self.confidence)
        records, sentences = [], []
        words = {
            metric: _Words(unit_of(plan.metrics[metric], plan.noun), self._is_higher_better(plan, metric))
            for metric in self.metrics
        }
        for comparison, verdict in zip(comparisons, verdicts, strict=True):
            spread = at_confidence(comparison.differences, verdict.confidence) if comparison.differences else None
            is_known = bool(spread and spread.low is not None)
            winner = self._winner(comparison, plan, spread, verdict)
            records.append(
                {
                    **comparison.point.shown_labels,
                    "metric": comparison.metric,
                    "variant": comparison.second,
                    "against": comparison.first,
                    "difference": spread and spread.mean,
                    "difference_low": spread and spread.low,
                    "difference_high": spread and spread.high,
                    "p": verdict.probability if is_known or winner else None,
                    "better": winner or (NOT_SIGNIFICANT if is_known else NOT_KNOWN),
                    "pairs": len(comparison.signs or comparison.differences),
                }
            )
            sentences.append(self._sentence(comparison, spread, verdict, winner, words[comparison.metric].unit))
        of_all = f", corrected for all {len(comparisons)} comparisons together (Holm)" if len(comparisons) > 1 else ""
        last = (
            f"Confidence of the verdicts: {percent(self.confidence)}{of_all}; an interval excludes 0 if its difference is significant; "
            f"{counted(plan.replications, 'replication')} of each variant, with common random numbers"
        )
        pairs = sorted({len(comparison.signs or comparison.differences) for comparison in comparisons})
        if pairs and pairs[0] < plan.replications:
            defined = f"{pairs[0]} to {pairs[-1]}" if pairs[0] < pairs[-1] else str(pairs[0])
            last += f"; in {defined} of these, the metric is defined for both variants"
        last += "."
        longer = run_longer(self.metrics, runner)
        return Answer(
            [*self._summarised(records, sentences, words), *longer, last], {"comparisons": records}, tuple(self.metrics)
        )

    def comparisons(self, plan: Plan, runner: CachedRunner[Point]) -> list[Comparison]:
        """The differences of each pair, at every point of the other axes, for every metric."""
        dimension = plan.dimension(self.axis)
        variants = [dimension.at_index(index) for index in range(dimension.size)]
        comparisons = []
        for point in plan.points(without=dimension):
            labelled = [(self._label(variant), point.with_levels(variant)) for variant in variants]
            allowed = [(label, variant_point) for label, variant_point in labelled if plan.allows(variant_point)]
            points = [variant_point for _, variant_point in allowed]
            samples = dict(zip(points, runner.samples(points, plan.replication_numbers), strict=True))
            for metric in self.metrics:
                for (first, a), (second, b) in self._pairs(allowed):
                    pairs = [(x[metric], y[metric]) for x, y in zip(samples[a], samples[b], strict=True)]
                    compared = [(x, y) for x, y in pairs if x is not None and y is not None]
                    comparisons.append(_comparison(point, metric, first, second, compared))
        return comparisons

    def _label(self, variant: Sequence[tuple[str, Level]]) -> str:
        return dict(variant)[self.axis].label

    def _pairs(self, variants: Sequence[tuple[str, Point]]) -> list[tuple[tuple[str, Point], tuple[str, Point]]]:
        if self.against is None:
            return list(itertools.combinations(variants, 2))
        references = [variant for variant in variants if variant[0] == self.against]
        return [(first, second) for first in references for second in variants if second[0] != self.against]

    def _winner(self, comparison: Comparison, plan: Plan, spread: Difference | None, verdict: HolmResult) -> str | None:
        if not (spread or comparison.signs) or verdict.probability >= 1 - self.confidence:
            return None
        grows = spread.mean > 0 if spread else sum(comparison.signs) > 0
        return comparison.second if grows == self._is_higher_better(plan, comparison.metric) else comparison.first

    def _is_higher_better(self, plan: Plan, metric: str) -> bool:
        return (self.better.get(metric) or better_of(plan.metrics[metric])) == "higher"

    def _sentence(
        self, comparison: Comparison, spread: Difference | None, verdict: HolmResult, winner: str | None, unit: str
    ) -> str:
        where = f"At {comparison.point}: " if comparison.point.levels else ""
        metric, first, second = comparison.metric, comparison.first, comparison.second
        if comparison.signs:
            return where + _sentence_of_signs(comparison, winner, verdict)
        if spread is None or spread.low is None:
            why = _why_unknown(comparison.differences)
            return f"{where}{'the' if where else 'The'} difference in {metric} between {second} and {first} is not known: {why}."
        size = f"[{number(spread.low)}, {number(spread.high)}], {probability(verdict.probability)}"
        if winner is None:
            return (
                f"{where}{'no' if where else 'No'} significant difference in {metric} between {second} and {first}: "
                f"{number(spread.mean)}{unit} {size}."
            )
        loser = first if winner == second else second
        direction = "higher" if (spread.mean > 0) == (winner == second) else "lower"
        gain = spread if spread.mean > 0 else _negated(spread)
        return (
            f"{where}{winner} is better than {loser}: {to_be(metric)} {direction} by {number(gain.mean)}{unit} "
            f"[{number(gain.low)}, {number(gain.high)}], {probability(verdict.probability)}."
        )

    def _summarised(
        self, records: Sequence[Mapping[str, Any]], sentences: Sequence[str], words: Mapping[str, _Words]
    ) -> list[str]:
        """Sentences of the answer: each comparison if they are few and at one point, otherwise one for each metric."""
        has_points = any(self.axis != name and name not in COLUMNS for record in records for name in record)
        if len(sentences) <= MOST_SENTENCES and not has_points:
            return list(sentences)
        summaries = [
            sentence
            for metric in self.metrics[:MOST_SENTENCES]
            for sentence in self._summary(metric, records, words[metric])
        ]
        if others := self.metrics[MOST_SENTENCES:]:
            summaries.append(f"The table has {counted(len(others), 'more metric')}.")
        if self.against is not None and len({record["variant"] for record in records}) > 1:
            summaries.append(f"Each was compared with {self.against} only; to test all pairs, leave out `against`.")
        return summaries

    def _summary(self, metric: str, records: Sequence[Mapping[str, Any]], words: _Words) -> list[str]:
        """What all comparisons of a metric show, and the most notable of them."""
        of_metric = [record for record in records if record["metric"] == metric]
        decided = [record for record in of_metric if record["better"] not in UNDECIDED]
        if decided and self.against is not None:
            return list(self._against(metric, self.against, of_metric, words))
        begin = self._most_wins(metric, of_metric, decided, words) if decided else f"No difference in {metric} is shown"
        total = len(of_metric)
        if undecided := _undecided(of_metric):
            listing = listed([f"{verdict} in {len(found)}" for verdict, found in undecided.items()])
            return [f"{begin}; {listing} of {counted(total, 'comparison')}."]
        return [f"{begin}; all {total} differences are significant." if total > 1 else f"{begin}."]

    def _against(
        self, metric: str, against: str, of_metric: Sequence[Mapping[str, Any]], words: _Words
    ) -> Iterator[str]:
        """Where the metric is higher and where lower than with ``against``: improvements first, with the largest and its rivals."""
        decided = [record for record in of_metric if record["better"] not in UNDECIDED]
        for better in (True, False):
            found = [record for record in decided if (record["better"] != against) == better]
            if not found:
                continue
            direction = _direction(found[0], words)
            sized = [record for record in found if record["difference"] is not None]
            than = f" than with {against}" if better or len(found) == len(decided) else ""
            where = f"{to_be(metric)} {direction} {self._where(found, len(of_metric))}{than}"
            yield from _largest(where, found, sized, self._place, words)
        for verdict, found in _undecided(of_metric).items():
            where = self._where(found, len(of_metric))
            yield f"{where[0].upper()}{where[1:]}, there is {verdict} in {metric}."

    def _where(self, records: Sequence[Mapping[str, Any]], total: int) -> str:
        """Of which comparisons one speaks: by variant if each has one, and otherwise by number."""
        if any(name not in COLUMNS for record in records for name in record):
            return f"in {'all' if len(records) == total else f'{len(records)} of'} {counted(total, 'comparison')}"
        if len(records) == total > 1:
            return f"with each of the {total} others"
        return f"with {listed([record['variant'] for record in records], most=MOST_SENTENCES)}"

    def _most_wins(
        self, metric: str, of_metric: Sequence[Mapping[str, Any]], decided: Sequence[Mapping[str, Any]], words: _Words
    ) -> str:
        """The variant with most wins over losses, with all that have as many. Only those that win all other comparisons are best."""
        wins: dict[str, list[Mapping[str, Any]]] = {}
        for record in decided:
            wins.setdefault(record["better"], []).append(record)
        losses = Counter(map(_loser, decided))

        def rank(name: str) -> tuple[int, int]:
            return losses[name] - len(wins[name]), losses[name]

        def gain(name: str) -> str:
            return number(fmean(abs(record["difference"]) for record in wins[name])) + words.unit

        best = min(map(rank, wins))
        tied = [name for name in wins if rank(name) == best]
        won = wins[tied[0]]
        rivals = [record for record in of_metric if {record["variant"], record["against"]} & set(tied)]
        among = [record for record in rivals if {record["variant"], record["against"]} <= set(tied)]
        total = sum(tied[0] in (record["variant"], record["against"]) for record in rivals)
        is_sized = all(record["difference"] is not None for name in tied for record in wins[name])
        if len(tied) > 1 or len(won) > 1:
            others = total - sum(tied[0] in (record["variant"], record["against"]) for record in among)
            is_best = len(won) == others
            each, whose = ("each ", "their") if len(tied) > 1 else ("", "its")
            share = f"all {whose} {others}" if is_best else f"{len(won)} of {whose} {total}"
            text = f"{each}better in {share} comparisons{' with the others' if each and is_best else ''}"
            text += (
                f", by {listed(list(dict.fromkeys(map(gain, tied))))}{' on average' * (len(won) > 1)}"
                if is_sized
                else ""
            )
        else:
            is_best = total == 1
            text = f"better than {_loser(won[0])}{self._place(won[0])}"
            text += f", by {_size(won[0], words.unit)}" if is_sized else ""
        if losses[tied[0]]:
            text += f", and worse in {losses[tied[0]]}"
        verb = "are" if len(tied) > 1 else "is"
        names = listed(tied)
        if is_best and len(tied) > 1:
            return f"Best in {metric} are {names}, with no significant difference between them: {text}"
        return f"Best in {metric} is {names}: {text}" if is_best else f"In {metric}, {names} {verb} {text}"

    def _place(self, record: Mapping[str, Any]) -> str:
        """The point of a comparison, in words; empty without other axes."""
        values = [f"{name} = {value}" for name, value in record.items() if name not in COLUMNS]
        return f" at {listed(values)}" if values else ""


def _comparison(point: Point, metric: str, first: str, second: str, pairs: Sequence[tuple[Any, Any]]) -> Comparison:
    """The comparison of pairs of values: by their differences, or by the signs of these if some are only bounded."""
    if all(map(known, pairs)):
        differences = [float(y - x) for x, y in pairs]
        return Comparison(point, metric, first, second, differences, log_no_difference(differences))
    ends = [(*ends_of(x), *ends_of(y)) for x, y in pairs]
    signs = [(y_low > x_high) - (y_high < x_low) for x_low, x_high, y_low, y_high in ends]
    return Comparison(point, metric, first, second, [], log_no_majority(signs), signs)


def _sentence_of_signs(comparison: Comparison, winner: str | None, verdict: HolmResult) -> str:
    """What pairs show of which some values are only bounded."""
    metric, first, second, signs = comparison.metric, comparison.first, comparison.second, comparison.signs
    higher, lower, total = signs.count(1), signs.count(-1), counted(len(signs), "pair")
    if winner is None:
        shown = f"{higher} of {total} show a higher value with {second}, and {lower} a lower one"
        return f"The difference in {metric} between {second} and {first} is not known: {shown}."
    loser = first if winner == second else second
    count, direction = max((higher, "higher"), (lower, "lower"))
    if winner == first:
        direction = "lower" if direction == "higher" else "higher"
    return (
        f"{winner} is better than {loser}: {to_be(metric)} {direction} in {count} of {total} of runs, "
        f"{probability(verdict.probability)}; by how much is not known."
    )


def _loser(record: Mapping[str, Any]) -> str:
    """The worse variant of a decided comparison."""
    return str(record["against"] if record["better"] == record["variant"] else record["variant"])


def _direction(record: Mapping[str, Any], words: _Words) -> str:
    """Where the metric of the variant lies, of a decided comparison."""
    is_better = record["better"] == record["variant"]
    return "higher" if is_better == words.is_higher_better else "lower"


def _undecided(records: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Comparisons that decide nothing, by verdict in words."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    words = {NOT_SIGNIFICANT: "no significant difference", NOT_KNOWN: "an unknown difference"}
    for record in records:
        if record["better"] in words:
            found.setdefault(words[record["better"]], []).append(record)
    return found


def _largest(
    where: str,
    found: Sequence[Mapping[str, Any]],
    sized: Sequence[Mapping[str, Any]],
    place: Callable[[Mapping[str, Any]], str],
    words: _Words,
) -> Iterator[str]:
    """What differences show, with the largest."""
    if not sized:
        yield f"{where}."
        return
    largest = max(sized, key=lambda record: abs(record["difference"]))
    size = _size(largest, words.unit)
    if len(found) == 1:
        yield f"{where}{place(largest)}, by {size}."
        return
    known = "" if len(sized) == len(found) else " of those known"
    change = "gain" if largest["better"] == largest["variant"] else "loss"
    yield f"{where}; the largest estimated {change}{known} is {size}, with {largest['variant']}{place(largest)}."


def _ends(record: Mapping[str, Any]) -> tuple[float, float]:
    """The interval of a difference."""
    return record["difference_low"], record["difference_high"]


def _size(record: Mapping[str, Any], unit: str) -> str:
    """Size of a decided difference, without its sign, with its interval."""
    low, high = sorted(map(abs, _ends(record)))
    return f"{number(abs(record['difference']))}{unit} [{number(low)}, {number(high)}]"


def _why_unknown(differences: Sequence[float]) -> str:
    """Why the interval of a difference is not known, in words."""
    count = counted(len(differences), "replication")
    if len(differences) < 2:
        return f"{count} {'defines' if differences else 'define'} it for both"
    return f"it is {number(differences[0])} in each of {count}, too few to show how it varies"


def _negated(difference: Difference) -> Difference:
    """The negative of a difference."""
    if difference.low is None or difference.high is None:
        return Difference(-difference.mean)
    return Difference(-difference.mean, -difference.high, -difference.low)


#: Limit on sentences besides the one on confidence, above which comparisons are summarised.
MOST_SENTENCES = 4
#: Verdicts in place of the better variant: no significant difference, and no interval.
NOT_SIGNIFICANT, NOT_KNOWN = "not significant", "not known"
UNDECIDED = (NOT_SIGNIFICANT, NOT_KNOWN)
#: Columns of the table in addition to those of the other axes.
COLUMNS = (
    "metric", "variant", "against", "difference", "difference_low", "difference_high", "p", "better", "pairs",
)  # fmt: skip


class Comparison(NamedTuple):
    """The run-by-run differences ``second`` - ``first`` of a metric at a point of the other axes, with Student's test.

    If only bounds of some values are known, there are ``signs`` instead, with the sign test: 0 if the
    bounds of a pair overlap.
    """

    point: Point
    metric: str
    first: str
    second: str
    differences: list[float]
    log_probability: float
    signs: Sequence[int] = ()


class _Words(NamedTuple):
    """How sentences speak of a metric: a blank and its unit, if any, and what is better."""

    unit: str
    is_higher_better: bool


#: Fields of the question's table besides ``kind``.
FIELDS = ("axis", "metrics", "against", "better", "confidence")


def read(fields: Fields, plan: Plan) -> Compare:
    """Read the question from its table."""
    axis = fields.axis("whose values are compared", [axis.name for axis in plan.axes])
    metrics = fields.metrics(plan.metrics)
    better = fields.table("better", 'a table such as { cells = "lower" }')
    for metric, direction in better.items():
        path = (*fields.at("better"), metric)
        if fields.is_of_experiment("a metric", metric, plan.metrics, path) and direction not in ("higher", "lower"):
            fields.problems.add(path, direction, 'must be "higher" or "lower"', near=("higher", "lower"))
    for metric in metrics:
        path_of = plan.metrics.get(metric)
        if path_of and not (better.get(metric) or better_of(path_of)):
            fields.missing(
                f"better.{metric}", '"higher" or "lower", as the kind of the metric does not show which is better'
            )
    against = fields.text("against")
    if axis:
        compared = next(candidate for candidate in plan.axes if candidate.name == axis)
        labels = [level.label for level in compared.levels]
        if len(set(labels)) < 2:
            fields.wrong("axis", "an axis with two values or more", "has only one value")
        elif len(set(labels)) < len(labels):
            fields.wrong(
                "axis", "another of the axes that vary together", "has repeated values, which cannot be compared"
            )
        if against is not None and against not in labels:
            fields.problems.add(fields.at("against"), against, f"is not a value of the axis {axis}", near=labels)
    if plan.replications < 2:
        fields.problems.add(("replications",), plan.replications, "is too few for a comparison", allowed="2 or more")
    if len(plan.space) == 1:
        fields.needs_grid(plan.design.kind, "needs a second axis besides the compared one")
    confidence = fields.number("confidence", CONFIDENCE, above=0.5, below=1)
    return Compare(axis, tuple(metrics), against, dict(better), confidence or CONFIDENCE)
