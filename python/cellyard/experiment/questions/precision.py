"""The question ``precision``: replicate each point until the mean of each named metric is precise enough.

The rule is Stein's (1945) two-stage rule, continued while needed. n_0 replications give the
standard deviation s_0. Let h be the required half width, and t the quantile of Student's law for
n_0 - 1 degrees of freedom. Then N = max(n_0, ceil((t s_0 / h)^2)) replications are made. For normal
values of any variance, mean_N +- t s_0 / sqrt(N) has at least the required confidence, because s_0
and mean_N are independent. If s_0 was small by chance, the ordinary interval of all N values is
wider. Then replications go on until it is not, and the wider interval is the answer. So looking at
the data repeatedly costs no confidence.

Other laws than the normal one need more values, or another interval:

* Student's interval is used from N > 25 g^2 values on, with g their skewness (Cochran, 1977,
  section 2.15), and from `LEAST_VALUES` values on. A second mode with a tenth of the runs is then missed
  in 1.5 % of the points. A sample of a heavy tail lacks the largest values, so its skewness is too
  small. If the skewness rests on few values, the number therefore grows with the cube of g beyond
  `HEAVY_SKEWNESS`. The limits are a choice; docs/experiments.md has the measured coverage.
* Zeros and ones have the exact interval of Clopper and Pearson (1934). Looks happen only after n_0,
  2 n_0, 4 n_0, ... values, at most K times. Each look takes 1/K of the allowed error.
* After n equal values of a metric between known bounds, any other value has a probability of at
  most q = 1 - (error / K)^(1/n).
* In all other cases the interval is unknown. So it is if a run gives only bounds of the metric.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, ClassVar, TypeAlias

from cellyard.experiment.description.design import Point
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.metric_kind import bounds_of, unit_of, within_bounds
from cellyard.experiment.not_known import run_longer
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.question import Question
from cellyard.runs.runner import CachedRunner, Replicate
from cellyard.show.words import counted, listed, percent, plus_minus, to_be
from cellyard.statistics.bounded import Value, bounded_runs
from cellyard.statistics.inference import Estimate, defined, exact_share_interval, skewness
from cellyard.statistics.student import student_quantile
from cellyard.system.limits import MOST_REPLICATIONS

#: Least number of replications of the first stage, and the number below which a note is due.
FEWEST_FIRST_RUNS, FEW_FIRST_RUNS = 5, 20
#: The least and the greatest possible value of a metric.
Bounds: TypeAlias = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)
NO_BOUNDS: Mapping[str, Bounds] = {}
#: Limit on the means of a metric that the answer lists.
MOST_MEANS = 4
#: The interval of an undefined metric.
UNKNOWN = Estimate(math.nan, -math.inf, math.inf)
#: Least number of values for Student's interval, and number per unit of squared skewness.
LEAST_VALUES, VALUES_PER_SQUARED_SKEWNESS = 40, 25
#: Skewness beyond which a tail may be heavy. The exponential law has 2.
HEAVY_SKEWNESS = 3.2
#: Share of one value in the sum of cubed deviations up to which the skewness rests on many values, such as a second mode.
MOST_OF_ONE_VALUE = 0.1


@dataclass(frozen=True)
class Precision(Question):
    """Required half width of the interval of each metric in ``within``: a number, or ``"5 %"`` of its mean.

    A point has at most ``most`` replications.
    """

    within: Mapping[str, float | str]
    most: int = 1000
    confidence: float = CONFIDENCE
    kind: ClassVar[str] = "precision"

    def reserved_columns(self, axis: str) -> tuple[str, ...]:
        """Reserved column names."""
        return ("runs", "reached")

    def expected(self, plan: Plan) -> Expected:
        """At most ``most`` replications of all points."""
        return Expected(plan.size(), plan.size() * max(self.most, plan.replications), at_most=True)

    def warnings(self, plan: Plan) -> list[str]:
        """A note about too few runs to estimate the variance."""
        warnings = []
        if plan.replications < FEW_FIRST_RUNS:
            warnings.append(
                f"replications = {plan.replications}: fewer than {FEW_FIRST_RUNS} first runs often miss rare values; each point gets at "
                f"least {LEAST_VALUES} runs, and replications = {FEW_FIRST_RUNS} makes the intervals narrower"
            )
        if self.most < LEAST_VALUES:
            warnings.append(
                f"most = {self.most}: with fewer than {LEAST_VALUES} runs, only metrics of zeros and ones get an interval"
            )
        return warnings

    def answer(self, plan: Plan, runner: CachedRunner[Point]) -> Answer:
        """The mean of each metric, the replications that these took, and the points where ``most`` were too few."""
        points = plan.points()
        bounds = {metric: bounds_of(plan.metrics[metric]) for metric in self.within}
        counts = self.replicate(points, runner, first=plan.replications, bounds=bounds)
        records, short, unknown = [], [], []
        means: dict[str, list[tuple[Point, Estimate]]] = {metric: [] for metric in self.within}
        for point in points:
            samples = runner.samples([point], range(counts[point]))[0]
            record: dict[str, Any] = {**point.shown_labels, "runs": counts[point]}
            reached, lacking = True, []
            for metric in self.within:
                only_bounded = bounded_runs(samples, metric)
                values = [] if only_bounded else defined(samples, metric)
                interval = self.interval(values, plan.replications, bounds[metric]) if values else UNKNOWN
                known = math.isfinite(interval.half)
                reached = reached and known and interval.half <= self._half(metric, interval.mean)
                if not known:
                    why = f"only bounded in {counted(only_bounded, 'run')}" if only_bounded else _why_unknown(values)
                    lacking.append(f"{metric} ({why})")
                clipped = within_bounds(plan.metrics[metric], values, interval) if known else None
                if clipped:
                    means[metric].append((point, clipped))
                record |= {
                    f"{metric}.mean": interval.mean if values else None,
                    f"{metric}.low": clipped and clipped.low,
                    f"{metric}.high": clipped and clipped.high,
                }
            records.append({**record, "reached": "not known" if lacking else "yes" if reached else "no"})
            if lacking:
                unknown.append(f"{f'at {point}: ' if point.levels else ''}{listed(lacking)}")
            elif not reached:
                short.append(str(point))
        units = {metric: unit_of(plan.metrics[metric], plan.noun) for metric in self.within}
        requirements = listed(
            [
                f"{metric} to within {required}{'' if isinstance(required, str) else units[metric]}"
                for metric, required in self.within.items()
            ]
        )
        sentences = [_sentence(metric, found, units[metric]) for metric, found in means.items() if found]
        least, most = min(counts.values()), max(counts.values())
        per_point = f", {least if least == most else f'{least} to {most}'} at each point" if len(points) > 1 else ""
        runs = f"{counted(sum(counts.values()), 'run')}{per_point}"
        each = " for each mean" if sum(map(len, means.values())) > 1 else ""
        confidence = f"Confidence: {percent(self.confidence)}{each}; {runs}."
        if unknown:
            sentences += [f"Not known: {listed(unknown)}.", *run_longer(self.within, runner)]
        if short:
            sentences.append(
                f"At {len(short)} of {counted(len(points), 'point')}, at most {self.most} runs were not enough for "
                f"{requirements}: {listed(short)}."
            )
        elif not unknown:
            subject = f"All {len(points)} points have" if len(points) > 1 else "This is"
            sentences.append(f"{subject} the required precision: {requirements}.")
        missing = percent(1 - (1 - self.confidence) ** (1 / least))
        of_point = " of a point" if len(points) > 1 else ""
        sentences += [
            confidence,
            f"{counted(least, 'run')}{of_point} can miss a rare outcome: one that occurs in {missing} of runs is missed with a chance of "
            f"{percent(1 - self.confidence)}.",
            "The intervals do not allow for this.",
        ]
        return Answer(sentences, {"precision": records}, tuple(self.within))

    def replicate(
        self,
        points: Sequence[Point],
        runner: CachedRunner[Point],
        *,
        first: int,
        bounds: Mapping[str, Bounds] = NO_BOUNDS,
    ) -> dict[Point, int]:
        """Number of replications that the rule gives each point; ``bounds`` of metrics are optional."""
        counts = dict.fromkeys(points, first)
        open_points = list(points)
        while open_points:
            runner([Replicate(point, i) for point in open_points for i in range(counts[point])])
            unfinished = []
            for point in open_points:
                samples = runner.samples([point], range(counts[point]))[0]
                needed = min(self.needed(samples, first, bounds), max(self.most, first))
                if needed > counts[point]:
                    counts[point] = needed
                    unfinished.append(point)
            open_points = unfinished
        return counts

    def needed(
        self, samples: Sequence[Mapping[str, Value]], first: int, bounds: Mapping[str, Bounds] = NO_BOUNDS
    ) -> int:
        """Number of replications that these samples call for; the number of samples when they suffice.

        More replications do not help a metric of which a run gives only bounds: its mean stays unknown.
        """
        total = len(samples)
        for metric in self.within:
            values = defined(samples, metric)
            if not values or bounded_runs(samples, metric):
                continue
            interval = self.interval(values, first, bounds.get(metric, UNBOUNDED))
            half = self._half(metric, interval.mean)
            if interval.half <= half:
                continue
            n, undefined = len(values), len(samples) - len(values)
            if len(set(values)) == 1 or _is_binary(values, bounds.get(metric, UNBOUNDED)):
                more = next((look for look in self._looks(first) if look > n), n)
            elif math.isinf(interval.half):
                more = min(2 * n, _values_needed(values))
            else:
                ratio = interval.half / half if half > 0 else math.inf
                more = math.ceil(n * ratio**2) if ratio < MOST_REPLICATIONS else MOST_REPLICATIONS
            total = max(total, max(more, n + 1) + undefined)
        return total

    def interval(self, values: Sequence[float], first: int, bounds: Bounds = UNBOUNDED) -> Estimate:
        """The interval of the mean of one or more values; infinite if it is unknown.

        ``first`` is the number of values of the first stage, ``bounds`` the limits of the metric's
        values.
        """
        mean, n = fmean(values), len(values)
        if len(set(values)) == 1 or _is_binary(values, bounds):
            return self._exact(values, first, bounds)
        if n < _values_needed(values):
            return Estimate(mean, -math.inf, math.inf)
        start = values[:first]
        confidence = (1 + self.confidence) / 2
        stein = student_quantile(confidence, len(start) - 1) * stdev(start) / math.sqrt(n)
        ordinary = student_quantile(confidence, n - 1) * stdev(values) / math.sqrt(n)
        half = max(stein, ordinary)
        return Estimate(mean, mean - half, mean + half)

    def _exact(self, values: Sequence[float], first: int, bounds: Bounds) -> Estimate:
        """The exact interval of zeros and ones, or of equal values, at the last look."""
        looks = self._looks(first)
        seen = values[: max((look for look in looks if look <= len(values)), default=len(values))]
        error = (1 - self.confidence) / len(looks)
        mean, n, (least, most) = fmean(seen), len(seen), bounds
        if len(set(seen)) > 1:
            return Estimate(mean, *exact_share_interval(round(sum(seen)), n, 1 - error))
        share_of_others = 1 - error ** (1 / n)
        low, high = (mean - share_of_others * (mean - least), mean + share_of_others * (most - mean))
        return Estimate(mean, low, high) if math.isfinite(high - low) else Estimate(mean, -math.inf, math.inf)

    def _looks(self, first: int) -> list[int]:
        """Numbers of values at which the exact intervals are examined: the first stage, doubling, up to the maximum."""
        looks = [first]
        while looks[-1] < self.most:
            looks.append(min(2 * looks[-1], self.most))
        return looks

    def _half(self, metric: str, mean: float) -> float:
        required = self.within[metric]
        return abs(mean) * _fraction(required) if isinstance(required, str) else float(required)


def _sentence(metric: str, means: Sequence[tuple[Point, Estimate]], unit: str) -> str:
    """The mean of a metric with its interval at each point; at many points, only the lowest and the highest."""

    def at(mean: tuple[Point, Estimate]) -> str:
        point, value = mean
        labels = list(point.shown_labels.values())
        where = f" with {labels[0]}" if len(labels) == 1 else f" at {point}" if labels else ""
        return f"{plus_minus(value, unit)}{where}"

    if len(means) <= MOST_MEANS:
        return f"Mean {to_be(metric)} {listed(list(map(at, means)))}."
    low, high = (choose(means, key=lambda mean: mean[1].mean) for choose in (min, max))
    return f"Mean {to_be(metric)} from {at(low)} to {at(high)}; the table has all {len(means)} points."


def _is_binary(values: Sequence[float], bounds: Bounds) -> bool:
    """Whether all values are 0 or 1, and the bounds are 0 and 1."""
    return bounds == (0.0, 1.0) and set(values) <= {0.0, 1.0}


def _values_needed(values: Sequence[float]) -> int:
    """Number of values of this skewness from which Student's interval is used."""
    skew, mean = abs(skewness(values)), fmean(values)
    needed = VALUES_PER_SQUARED_SKEWNESS * skew**2
    if skew > HEAVY_SKEWNESS:
        cubes = [abs(value - mean) ** 3 for value in values]
        if max(cubes) > MOST_OF_ONE_VALUE * sum(cubes):
            needed *= skew / HEAVY_SKEWNESS
    return max(LEAST_VALUES, math.ceil(needed))


def _why_unknown(values: Sequence[float]) -> str:
    """Why the interval of the mean of these values is unknown, in words."""
    if not values:
        return "undefined"
    if len(set(values)) == 1:
        return f"all {len(values)} values are equal"
    return f"{len(values)} values are too few for such a skewed distribution, which needs at least {_values_needed(values)}"


def _fraction(text: str) -> float:
    """A share in percent; raises `ValueError` for anything else.

    >>> _fraction("5 %")
    0.05
    """
    if not text.strip().endswith("%"):
        raise ValueError(text)
    return float(text.strip().removesuffix("%")) / 100


#: Fields of the question's table besides ``kind``.
FIELDS = ("within", "most", "confidence")


def read(fields: Fields, plan: Plan) -> Precision:
    """Read the question from its table."""
    allowed = 'a table such as { efficiency = 0.01, cell_loss_ratio = "10 %" }'
    half_widths: dict[str, float | str] = {}
    for metric, required in fields.table("within", allowed, needed=True).items():
        path = (*fields.at("within"), metric)
        if not fields.is_of_experiment("a metric", metric, plan.metrics, path):
            continue
        try:
            half = _fraction(required) if isinstance(required, str) else float(required)
            if isinstance(required, bool) or not 0 < half < math.inf:
                raise ValueError(required)
            half_widths[metric] = required
        except (TypeError, ValueError):
            fields.problems.add(
                path, required, "is not a valid half width", allowed='a number above 0, or "5 %" of the mean'
            )
    most = fields.whole("most", 1000, least=2, most=MOST_REPLICATIONS)
    confidence = fields.number("confidence", CONFIDENCE, above=0.5, below=1)
    if plan.replications < FEWEST_FIRST_RUNS:
        fields.problems.add(
            ("replications",),
            plan.replications,
            "is too few to estimate the variance",
            allowed=f"{FEWEST_FIRST_RUNS} or more",
        )
    if most is not None and most < plan.replications:
        fields.wrong("most", f"{plan.replications} or more", "is less than the replications of each point")
    return Precision(half_widths, most or 1000, confidence or CONFIDENCE)
