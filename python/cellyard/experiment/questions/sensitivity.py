"""The question ``sensitivity``: how much each axis decides, by Sobol's indices.

The first-order index of an axis is the share of a metric's variance that it causes alone. The total
index is the share that would vanish if it were fixed, including all its interactions. The axes are
independent and uniform: by ratio where they are logarithmic, and over the values of a list.
`scipy.stats.sobol_indices` (Saltelli's method of 2010) computes the indices from means over the
replications. All points use common random numbers. Intervals come from `scipy.stats.bootstrap`
(BCa).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from cellyard.experiment.description.design import at_shares, scipy
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan, defined_or_refuse
from cellyard.experiment.questions.question import Question
from cellyard.experiment.runner import CachedRunner
from cellyard.show.words import counted, listed, number, percent
from cellyard.statistics.inference import defined, estimate

#: Largest half width of an informative interval of an index.
NARROW = 0.1
#: Excess beyond 0 and 1 that no table shows.
ROUNDING = 1e-5
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

    def answer(self, plan: Plan, runner: CachedRunner) -> Answer:
        """The axes in the order of their total index, for each metric."""
        stats = scipy("the question sensitivity")
        import numpy as np

        def measured(shares: Any) -> Any:
            points = [at_shares(plan.space, column) for column in shares.T]
            runs = runner.samples(points, plan.draws)
            means = [[_mean(defined(one, metric)) for one in runs] for metric in self.metrics]
            return np.array(
                [defined_or_refuse(line, m, "sensitivity", plan) for line, m in zip(means, self.metrics, strict=True)]
            )

        given: list[Any] = []

        def estimators(f_A: Any, f_B: Any, f_AB: Any) -> tuple[Any, Any]:  # noqa: N803  (names that scipy asks for)
            given[:] = [f_A, f_B, f_AB]
            return saltelli(f_A, f_B, f_AB)

        indices = stats.sobol_indices(
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
                lambda places: saltelli(*(values[..., places] for values in given)),
                method="BCa",
                n_resamples=RESAMPLES,
                confidence_level=self.confidence,
                rng=np.random.default_rng(self.seed),
            ).confidence_interval
        shape = (len(self.metrics), len(plan.space))
        first, total = (np.reshape(one, shape) for one in (indices.first_order, indices.total_order))
        bounds = [np.reshape(one, shape) for one in (ends.low[0], ends.high[0], ends.low[1], ends.high[1])]
        records, sentences = [], []
        for i, metric in enumerate(self.metrics):
            own = []
            for j, dimension in enumerate(plan.space):
                values = [first[i, j], bounds[0][i, j], bounds[1][i, j], total[i, j], bounds[2][i, j], bounds[3][i, j]]
                names = ("first", "first_low", "first_high", "total", "total_low", "total_high")
                own.append(
                    {"metric": metric, "axis": dimension.name, **dict(zip(names, map(_number, values), strict=True))}
                )
            records += own
            sentences.append(_sentence(metric, own))
        sentences += _outside(records, plan, self.samples)
        points = self.samples * (len(plan.space) + 2)
        sentences.append(
            f"From {counted(points, 'point')}, {counted(plan.replications, 'replication')} of each with common random numbers; "
            f"intervals of {percent(self.confidence)} by bootstrap."
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


def _mean(values: Sequence[float]) -> float | None:
    found = estimate(values, CONFIDENCE)
    return found.mean if found else None


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def _sentence(metric: str, records: Sequence[dict[str, Any]]) -> str:
    if any(record["total"] is None for record in records) or all(record["total"] == 0 for record in records):
        return f"{metric} does not vary, so that nothing decides it."
    ranked = sorted(records, key=lambda one: -one["total"])
    shares = [
        f"{one['axis']} {number(one['total'])} [{number(one['total_low'])}, {number(one['total_high'])}]"
        for one in ranked
    ]
    first, most = ranked[0]["first"], ranked[0]["axis"]
    alone = (
        f"explains {number(first)} of the variance" if first > 0 else f"explains nothing that shows ({number(first)})"
    )
    others = [one["total_high"] for one in ranked[1:] if one["total_high"] is not None]
    is_sure = not others or ranked[0]["total_low"] is None or ranked[0]["total_low"] > max(others)
    begins = (
        f"{most} decides {metric} most"
        if is_sure
        else f"Which axis decides {metric} most is not sure, as intervals overlap"
    )
    return f"{begins}: by total index {listed(shares)}; {most} alone {alone}."


def _outside(records: Sequence[dict[str, Any]], plan: Plan, samples: int) -> list[str]:
    """A sentence on indices outside 0 to 1, and on how many runs would help (widths fall with the root of the runs)."""
    found, half = [], 0.0
    for one in records:
        for order in ("first", "total"):
            value, low, high = (one[name] for name in (order, f"{order}_low", f"{order}_high"))
            if value is not None and not -ROUNDING <= value <= 1 + ROUNDING:
                found.append(f"{order} of {one['axis']} for {one['metric']} ({number(value)})")
                half = max(half, (high - low) / 2 if low is not None and high is not None else 0.0)
    if not found:
        return []
    told = "1 index lies" if len(found) == 1 else f"{len(found)} indices lie"
    told += f" outside 0 to 1, where none can be: {listed(found, most=4)}. That is the error of estimation"
    if half > NARROW:
        needed = samples * 2 ** math.ceil(2 * math.log2(half / NARROW))
        points = needed * (len(plan.space) + 2)
        told += f"; some {needed} samples ({points} points, {points * plan.replications} runs) would bring such intervals to +-{NARROW}"
    return [f"{told}."]


#: Fields of the question's table besides ``kind``.
FIELDS = ("metrics", "samples", "seed", "confidence")


def read(fields: Fields, plan: Plan) -> Sensitivity:
    """Read the question from its table."""
    metrics = fields.texts("metrics", what="metrics of the experiment", single=True)
    if "metrics" not in fields:
        metrics = list(plan.metrics)
    for metric in metrics:
        if metric not in plan.metrics:
            fields.problems.add(fields.at("metrics"), metric, "is not a metric of the experiment", near=plan.metrics)
    samples = fields.whole("samples", 256, least=2, most=2**20) or 256
    if samples & (samples - 1):
        fields.wrong(
            "samples",
            f"a power of 2, as {2 ** (samples.bit_length() - 1)} or {2 ** samples.bit_length()}",
            "is not a power of 2",
        )
    if plan.constraints:
        fields.problems.add(
            ("constraints",),
            [one.text for one in plan.constraints],
            "does not go with sensitivity, whose axes are independent",
        )
    if plan.design.kind != "grid":
        fields.problems.add(
            ("design",), plan.design.kind, "does not go with sensitivity, which has a design of its own", allowed="grid"
        )
    if len(plan.space) < 1:
        fields.problems.add(("axis",), "", "is missing", allowed="one axis or more")
    confidence = fields.number("confidence", CONFIDENCE, above=0.5, below=1)
    seed = fields.whole("seed", 1, least=0, most=2**32 - 1)
    return Sensitivity(tuple(metrics), samples, 1 if seed is None else seed, confidence or CONFIDENCE)
