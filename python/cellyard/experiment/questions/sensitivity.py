"""The question ``sensitivity``: how much each axis decides, by Sobol's indices.

The first-order index of an axis is the share of a metric's variance that it causes alone. The total
index is the share that would vanish if it were fixed, including all its interactions. The axes are
independent and uniform: by ratio if they are logarithmic, and over the values of a list.
`scipy.stats.sobol_indices` (Saltelli's method of 2010) computes the indices from means over the
replications. All points use common random numbers. Intervals come from `scipy.stats.bootstrap`
(BCa).
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import variance
from typing import Any, ClassVar

from cellyard.experiment.description.design import Point, at_shares, load_scipy
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.not_known import run_longer
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan, require_defined
from cellyard.experiment.questions.question import Question
from cellyard.runs.runner import CachedRunner
from cellyard.show.words import counted, listed, number, percent
from cellyard.statistics.bounded import Value, bounded_runs
from cellyard.statistics.inference import defined, estimate

#: Largest half width of an informative interval of an index.
INFORMATIVE_HALF_WIDTH = 0.1
#: Share of a variance from which the part of the replications is given.
MUCH_NOISE = 0.1
#: Excess beyond 0 and 1 that no table shows.
ROUNDING = 1e-5
#: Limit on the metrics that have a sentence. The table has all.
MOST_METRICS = 3
#: Number of resamples of the bootstrap.
RESAMPLES = 999


@dataclass(frozen=True)
class Sensitivity(Question):
    """The indices of all axes for ``metrics``, from ``samples`` (a power of 2) times (number of axes + 2) points.

    Empty ``metrics`` stand for all of the experiment.
    """

    metrics: Sequence[str] = ()
    samples: int = 256
    seed: int = 1
    confidence: float = CONFIDENCE
    kind: ClassVar[str] = "sensitivity"

    def expected(self, plan: Plan) -> Expected:
        """All points of the design, few of which are equal."""
        points = self.samples * (len(plan.space) + 2)
        return Expected(points, points * plan.replications, at_most=True)

    def chooses(self, axis: str) -> bool:
        """True: the question chooses the values of all axes."""
        return True

    def answer(self, plan: Plan, runner: CachedRunner[Point]) -> Answer:
        """The axes in the order of their total index, for each metric."""
        stats = load_scipy("the question sensitivity")
        import numpy as np

        not_known: set[str] = set()
        noise: dict[str, list[float]] = {metric: [] for metric in self.metrics}

        def measured(shares: Any) -> Any:
            points = [at_shares(plan.space, column) for column in shares.T]
            runs = runner.samples(points, plan.replication_numbers)
            means = [[_mean(samples, metric) for samples in runs] for metric in self.metrics]
            for metric, of_metric in noise.items():
                of_metric += [_noise(samples, metric) for samples in runs]
            not_known.update(
                metric for metric in self.metrics if any(bounded_runs(samples, metric) for samples in runs)
            )
            return np.array(
                [
                    require_defined(values, metric, "the question sensitivity", plan)
                    for values, metric in zip(means, self.metrics, strict=True)
                ]
            )

        outputs: list[Any] = []

        def estimators(f_A: Any, f_B: Any, f_AB: Any) -> tuple[Any, Any]:  # noqa: N803  (names that scipy asks for)
            """Keep the results of all points. Scipy drops dimensions of size 1, so its own indices are not used."""
            outputs[:] = [f_A, f_B, f_AB]
            return np.zeros(2), np.zeros(2)

        stats.sobol_indices(
            func=measured,
            n=self.samples,
            dists=[stats.uniform() for _ in plan.space],
            method=estimators,
            rng=np.random.default_rng(self.seed),
        )
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # an axis without influence has no interval
            # Used instead of `SobolResult.bootstrap`, which takes no seed.
            ends = stats.bootstrap(
                [np.arange(self.samples)],
                lambda resample: saltelli(*(values[..., resample] for values in outputs)),
                method="BCa",
                n_resamples=RESAMPLES,
                confidence_level=self.confidence,
                rng=np.random.default_rng(self.seed),
            ).confidence_interval
        shape = (len(self.metrics), len(plan.space))
        first, total = (np.where(np.isfinite(index), index, 0.0) for index in saltelli(*outputs))
        bounds = [np.reshape(bound, shape) for bound in (ends.low[0], ends.high[0], ends.low[1], ends.high[1])]
        records, sentences = [], []
        for i, metric in enumerate(self.metrics):
            records_of_metric = []
            for j, dimension in enumerate(plan.space):
                values = [first[i, j], bounds[0][i, j], bounds[1][i, j], total[i, j], bounds[2][i, j], bounds[3][i, j]]
                if metric in not_known:
                    values = [math.nan] * len(values)
                names = ("first", "first_low", "first_high", "total", "total_low", "total_high")
                records_of_metric.append(
                    {"metric": metric, "axis": dimension.name, **dict(zip(names, map(_number, values), strict=True))}
                )
            records += records_of_metric
            if metric in not_known:
                sentences.append(f"The influence of the axes on {metric} is not known.")
            elif i < MOST_METRICS:
                sentences += _sentences(metric, records_of_metric)
                sentences += _noise_sentence(
                    metric, noise[metric], np.concatenate([values[..., i, :].ravel() for values in outputs])
                )
        sentences += run_longer(self.metrics, runner)
        if (others := len(self.metrics) - MOST_METRICS) > 0:
            sentences.append(f"The table has {counted(others, 'more metric')}.")
        sentences += _impossible_indices(records, plan, self.samples)
        points = self.samples * (len(plan.space) + 2)
        sentences.append(
            f"Confidence of the intervals: {percent(self.confidence)}, by bootstrap; {counted(points, 'point')}, "
            f"{counted(plan.replications, 'replication')} of each with common random numbers."
        )
        return Answer(sentences, {"indices": records}, tuple(self.metrics))


def saltelli(f_A: Any, f_B: Any, f_AB: Any) -> tuple[Any, Any]:  # noqa: N803  (names that scipy asks for)
    """First and total order after table 2 of Saltelli et al. (2010), the default of scipy."""
    import numpy as np

    with np.errstate(all="ignore"):
        variance = np.var([f_A, f_B], axis=(0, -1))
        first = np.mean(f_B * (f_AB - f_A), axis=-1) / variance
        total = 0.5 * np.mean((f_A - f_AB) ** 2, axis=-1) / variance
    return first.T, total.T


def _mean(samples: Sequence[Mapping[str, Value]], metric: str) -> float | None:
    """The mean of a metric, NaN if a run gives only bounds of it; ``None`` if it is undefined."""
    if bounded_runs(samples, metric):
        return math.nan
    result = estimate(defined(samples, metric), CONFIDENCE)
    return result.mean if result else None


def _noise(samples: Sequence[Mapping[str, Value]], metric: str) -> float:
    """The variance of a mean that is due to the replications; NaN for a single one or bounds."""
    values = [] if bounded_runs(samples, metric) else defined(samples, metric)
    return variance(values) / len(values) if len(values) > 1 else math.nan


def _noise_sentence(metric: str, noise: Sequence[float], means: Any) -> list[str]:
    """How much of the variance of a metric can be between replications, if it is much: less if common random numbers share it."""
    import numpy as np

    total = float(np.var(means))
    share = sum(noise) / len(noise) / total if total else math.nan
    return (
        [
            f"Up to {percent(min(round(share, 2), 1))} of the variance of the mean {metric} of a point is noise between its "
            "replications, which can raise every total index; more `replications` reduce it."
        ]
        if share >= MUCH_NOISE
        else []
    )


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def _sentences(metric: str, records: Sequence[dict[str, Any]]) -> list[str]:
    if any(record["total"] is None for record in records) or all(record["total"] == 0 for record in records):
        return [f"{metric} does not vary, so no axis influences it."]
    first, *others = sorted(records, key=lambda record: -record["total"])
    axis, least = first["axis"], first["total_low"]
    tied = [other for other in others if None not in (least, other["total_high"]) and other["total_high"] >= least]
    share = f"the share of the variance of {metric} in which it takes part"
    if tied:
        names = [record["axis"] for record in (first, *tied)]
        begin = f"No axis has clearly the largest influence on {metric}: the intervals of {listed(names)} overlap."
        total = f"{axis} has the highest estimate: its total index, {share}, is {_with_interval(first, 'total')}."
        sentences = [begin, total]
    else:
        sentences = [
            f"{axis} has the largest influence on {metric}: its total index, {share}, is {_with_interval(first, 'total')}."
        ]
    impossible = [
        record["first"]
        for record in records
        if not -INFORMATIVE_HALF_WIDTH <= record["first"] <= 1 + INFORMATIVE_HALF_WIDTH
    ]
    if impossible:
        return [*sentences, f"The samples are too few to say what {axis} explains alone."]
    is_shown = first["first"] > 0 and (first["first_low"] is None or first["first_low"] > 0)
    alone = _with_interval(first, "first") if is_shown else "not distinguished from 0"
    return [*sentences, f"Its first-order index, the share that {axis} explains alone, is {alone}."]


def _with_interval(record: Mapping[str, Any], order: str) -> str:
    """An index with its interval, if it has one."""
    low, high = record[f"{order}_low"], record[f"{order}_high"]
    return number(record[order]) + ("" if low is None or high is None else f" [{number(low)}, {number(high)}]")


def _impossible_indices(records: Sequence[dict[str, Any]], plan: Plan, samples: int) -> list[str]:
    """Sentences on indices outside 0 to 1, and on how many runs would help (widths fall with the root of the runs)."""
    impossible, half = 0, 0.0
    for record in records:
        for order in ("first", "total"):
            value, low, high = (record[name] for name in (order, f"{order}_low", f"{order}_high"))
            if value is not None and not -ROUNDING <= value <= 1 + ROUNDING:
                impossible += 1
                half = max(half, (high - low) / 2 if low is not None and high is not None else 0.0)
    if not impossible:
        return []
    indices = (
        "1 index is estimated outside its" if impossible == 1 else f"{impossible} indices are estimated outside their"
    )
    sentences = [f"{indices} possible range, 0 to 1."]
    if half > INFORMATIVE_HALF_WIDTH:
        needed = samples * 2 ** math.ceil(2 * math.log2(half / INFORMATIVE_HALF_WIDTH))
        runs = needed * (len(plan.space) + 2) * plan.replications
        sentences.append(
            f"With about {needed} `samples` instead of {samples} ({runs} runs), all intervals "
            f"would be at most ±{INFORMATIVE_HALF_WIDTH}."
        )
    return sentences


#: Fields of the question's table besides ``kind``.
FIELDS = ("metrics", "samples", "seed", "confidence")


def read(fields: Fields, plan: Plan) -> Sensitivity:
    """Read the question from its table."""
    metrics = fields.metrics(plan.metrics)
    samples = fields.whole("samples", 256, least=2, most=2**20) or 256
    if samples & (samples - 1):
        fields.wrong(
            "samples",
            f"a power of 2, such as {2 ** (samples.bit_length() - 1)} or {2 ** samples.bit_length()}",
            "is not a power of 2",
        )
    if plan.constraints:
        fields.problems.add(
            ("constraints",),
            [condition.text for condition in plan.constraints],
            "cannot be used with the question sensitivity, which needs independent axes",
        )
    fields.needs_grid(plan.design.kind, "cannot be used with the question sensitivity, which has its own design")
    if len(plan.space) < 1:
        fields.problems.add(("axis",), "", "is missing", allowed="one axis or more")
    confidence = fields.number("confidence", CONFIDENCE, above=0.5, below=1)
    seed = fields.whole("seed", 1, least=0, most=2**32 - 1)
    return Sensitivity(tuple(metrics), samples, 1 if seed is None else seed, confidence or CONFIDENCE)
