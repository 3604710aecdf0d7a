"""The questions of experiments beside known answers: a function of the point takes the place of the engine."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from cellyard import experiment as ex
from cellyard.experiment.description.expression import Condition
from cellyard.experiment.metric_kind import within_bounds
from cellyard.experiment.questions.precision import UNBOUNDED, Precision
from cellyard.experiment.runner import Draw, Runner
from cellyard.results.path import metric_path
from cellyard.scenario import examples
from cellyard.statistics.inference import Estimate, estimate, holm, log_no_difference, share_interval
from cellyard.system.errors import ExperimentError

BASE = examples.scenario("lan-5")
Measure = Callable[[Mapping[str, Any], int], Mapping[str, float | None]]


def by(measure: Measure) -> Runner:
    """A runner that answers by a function of the values of a point and the number of the replication."""

    def run(draws: Sequence[Draw]) -> Iterator[tuple[int, Mapping[str, float | None]]]:
        for place, draw in enumerate(draws):
            yield place, measure(draw.point.values, draw.replication)

    return run


def drawn(*address: object) -> random.Random:
    """A generator of its own for an address."""
    return random.Random("/".join(map(str, address)))


# --- precision ---------------------------------------------------------------------------------------------------------------------------


class Law(NamedTuple):
    """A law of values, its mean, the half width that is asked for, and whether its values are shares of one."""

    draw: Callable[[random.Random], float]
    mean: float
    within: float | str
    is_share: bool = False


LAWS = {
    "normal": Law(lambda r: r.gauss(3.0, 1.0), 3.0, 0.3),
    "uniform": Law(lambda r: r.uniform(0.0, 3.46), 1.73, 0.3),
    "exponential": Law(lambda r: r.expovariate(1.0), 1.0, 0.3),
    "Bernoulli": Law(lambda r: float(r.random() < 0.05), 0.05, 0.03, is_share=True),
    "rare loss": Law(lambda r: r.expovariate(1000) if r.random() < 0.2 else 0.0, 2e-4, "30 %", is_share=True),
    "two modes": Law(lambda r: 0.3 if r.random() < 0.1 else 0.9, 0.84, 0.05, is_share=True),
    "two noisy modes": Law(lambda r: (0.3 if r.random() < 0.1 else 0.9) + r.gauss(0, 0.01), 0.84, 0.05),
}


@pytest.mark.parametrize(
    ("name", "first"), [*((name, 20) for name in LAWS), ("Bernoulli", 5), ("rare loss", 5), ("two modes", 5)]
)
def test_intervals_of_precision_cover_a_known_mean_as_often_as_stated_or_are_not_known(name: str, first: int) -> None:
    """120 repetitions, nominal 95 %: fewer than 88.5 % of the known ones would be 3.3 standard errors below. All seeds are fixed."""
    law, repetitions, most = LAWS[name], 120, 640
    question = Precision({"efficiency": law.within}, most=most)
    limits = (0.0, 1.0) if law.is_share else UNBOUNDED
    known = covered = 0
    for repetition in range(repetitions):
        r = drawn(name, repetition)
        values = [law.draw(r) for _ in range(most)]
        samples = [{"efficiency": value} for value in values]
        count = first
        while (needed := min(question.needed(samples[:count], first, {"efficiency": limits}), most)) > count:
            count = needed
        found = question.interval(values[:count], first, limits)
        if math.isfinite(found.half):
            known += 1
            covered += found.low is not None and found.high is not None and found.low <= law.mean <= found.high
    if name in ("normal", "uniform", "exponential"):
        assert known == repetitions
    assert known > 0.1 * repetitions and covered >= 0.885 * known


def test_precision_of_equal_values_is_known_only_between_bounds() -> None:
    question = Precision({"cell_loss_ratio": 0.01}, most=40)  # 2 looks: after 20 and after 40
    none = question.interval([0.0] * 20, 20, (0.0, 1.0))
    assert none.low == 0.0 and none.high == pytest.approx(1 - 0.025 ** (1 / 20))
    middle = question.interval([0.6] * 20, 20, (0.0, 1.0))
    another = 1 - 0.025 ** (1 / 20)
    assert middle.low == pytest.approx(0.6 - 0.6 * another)
    assert middle.high == pytest.approx(0.6 + 0.4 * another)
    assert question.interval([0.0] * 1000, 20).half == math.inf


def test_precision_makes_as_many_runs_as_steins_rule_says() -> None:
    """Of 40 values with s = 1 and a half width of 0.2: N = ceil((t s / 0.2)^2) with t = 2.0227 of 39 degrees of freedom."""
    values = [-math.sqrt(39 / 40), math.sqrt(39 / 40)] * 20
    needed = Precision({"efficiency": 0.2}).needed([{"efficiency": value} for value in values], 40)
    assert needed == math.ceil((2.02269 / 0.2) ** 2) == 103


def test_precision_of_a_rare_loss_is_not_reached_by_runs_without_one() -> None:
    experiment = ex.Experiment(
        name="rare",
        base=BASE,
        metrics=["cell_loss_ratio", "cells"],
        question=ex.Precision({"cell_loss_ratio": "10 %", "cells": 1.0}, most=40),
        replications=5,
    )
    outcome = experiment.run(runner=by(lambda _, i: {"cell_loss_ratio": 0.0, "cells": 7.0}))
    assert outcome.answer is not None
    (found,) = outcome.answer.tables["precision"]
    assert (found["reached"], found["runs"], found["cells.mean"], found["cells.low"]) == ("not known", 40, 7.0, None)
    assert 0.05 < found["cell_loss_ratio.high"] < 0.15
    assert "not known: cells, of which all 40 values are equal" in outcome.text
    assert any("fewer than 20 first runs" in note for note in experiment.notes)


def test_coverage_of_the_ordinary_interval_is_that_stated() -> None:
    covered = 0
    for repetition in range(2000):
        r = drawn("fixed", repetition)
        found = estimate([r.gauss(1.0, 2.0) for _ in range(12)], 0.95)
        assert found and found.low is not None and found.high is not None
        covered += found.low <= 1.0 <= found.high
    assert abs(covered / 2000 - 0.95) < 3.5 * math.sqrt(0.95 * 0.05 / 2000)


def test_precision_says_which_points_did_not_get_there() -> None:
    experiment = ex.Experiment(
        name="precise",
        base=BASE,
        axes=[ex.Axis("switch.west.ubr.drop", ["epd", "fba"], name="policy")],
        metrics=["efficiency"],
        question=ex.Precision({"efficiency": "10 %"}, most=50),
        replications=10,
    )
    spread = {"epd": 0.01, "fba": 5.0}
    outcome = experiment.run(
        runner=by(lambda at, i: {"efficiency": drawn(at["policy"], i).gauss(1.0, spread[at["policy"]])})
    )
    assert outcome.answer is not None
    assert "1 point of 2 did not get there with at most 50 runs" in outcome.text
    assert [one["reached"] for one in outcome.answer.tables["precision"]] == ["yes", "no"]
    assert [one["runs"] for one in outcome.points()] == [40, 50]


# --- compare -----------------------------------------------------------------------------------------------------------------------------


def comparison(metrics: Sequence[str] = ("efficiency",), variants: int = 3, replications: int = 10) -> ex.Experiment:
    values = [f"{1000 + i} cells" for i in range(variants)]
    return ex.Experiment(
        name="compare",
        base=BASE,
        axes=[ex.Axis("switch.west.ubr.buffer", values)],
        metrics=list(metrics),
        question=ex.Compare("buffer", list(metrics)),
        replications=replications,
    )


def test_compare_finds_a_planted_difference_and_says_how_large_it_is() -> None:
    """The noise of a replication is common to all variants and ten times what is planted."""

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        common = drawn("common", i).gauss(0.5, 0.5)
        return {"efficiency": common + drawn(at["buffer"], i).gauss(0, 0.01) + (0.05 if at["buffer"] == 1002 else 0)}

    outcome = comparison(replications=20).run(runner=by(measure))
    assert outcome.answer is not None
    found = {(one["variant"], one["against"]): one for one in outcome.answer.tables["comparisons"]}
    assert found["1001 cells", "1000 cells"]["better"] == "not told apart"
    for against in ("1000 cells", "1001 cells"):
        one = found["1002 cells", against]
        assert one["better"] == "1002 cells"
        assert one["difference_low"] < 0.05 < one["difference_high"]
    assert "1002 cells is better than 1000 cells: efficiency is higher by 0.0" in outcome.text


def test_compare_against_a_value_takes_the_others_less_that_one() -> None:
    experiment = ex.Experiment(
        name="against",
        base=BASE,
        axes=[ex.Axis("switch.west.ubr.buffer", ["1000 cells", "1001 cells", "1002 cells"])],
        metrics=["efficiency"],
        question=ex.Compare("buffer", ["efficiency"], against="1001 cells"),
        replications=5,
    )
    outcome = experiment.run(runner=by(lambda at, i: {"efficiency": at["buffer"] - 1000 + drawn(i).gauss(0, 0.01)}))
    assert outcome.answer is not None
    told = [(one["variant"], one["against"], round(one["difference"])) for one in outcome.answer.tables["comparisons"]]
    assert told == [("1000 cells", "1001 cells", -1), ("1002 cells", "1001 cells", 1)]


def test_ends_of_a_range_are_those_that_are_stated() -> None:
    ends = ex.Range("0.123456789", "1.123456789")
    assert [ends.at(share).label for share in (0, 1)] == ["0.123456789", "1.123456789"]


def test_a_bound_that_a_value_passes_clips_no_interval() -> None:
    efficiency = metric_path("totals.efficiency")
    beyond = within_bounds(efficiency, [0.9, 1.1], Estimate(1.0, 0.8, 1.2))
    assert (beyond.low, beyond.high) == (0.8, 1.2)
    clipped = within_bounds(efficiency, [0.9, 1.0], Estimate(0.95, -0.1, 1.2))
    assert (clipped.low, clipped.high) == (0.0, 1.0)


def test_compare_knows_that_less_loss_is_better() -> None:
    outcome = comparison(["cell_loss_ratio"], 2).run(
        runner=by(lambda at, i: {"cell_loss_ratio": 0.1 * at["buffer"] - 90 + drawn(at["buffer"], i).gauss(0, 0.001)})
    )
    assert "1000 cells is better than 1001 cells: cell_loss_ratio is lower by 0.099" in outcome.text


def test_compare_calls_equal_variants_different_as_rarely_as_stated() -> None:
    """10 pairs without a difference; in 1 000 repetitions some pair is called different in 5 % at most, 7 % are 3 standard errors."""
    wrong = 0
    for repetition in range(1000):
        r = drawn("equal", repetition)
        variants = [[r.gauss(0, 1) for _ in range(10)] for _ in range(5)]
        pairs = [
            log_no_difference([y - x for x, y in zip(variants[a], variants[b], strict=True)])
            for a in range(5)
            for b in range(a)
        ]
        wrong += any(one.probability < 0.05 for one in holm(pairs, 0.95))
    assert 0.005 < wrong / 1000 < 0.07


def test_intervals_of_compare_leave_out_zero_exactly_where_a_pair_is_called_different() -> None:
    seen = set()
    for repetition in range(60):
        r = drawn("steps", repetition)
        samples = [[r.gauss(shift, 1) for _ in range(8)] for shift in (0, 0.6, 1.2, 2.4)]
        for one, values in zip(holm([log_no_difference(v) for v in samples], 0.95), samples, strict=True):
            found = estimate(values, one.confidence)
            assert found and found.low is not None and found.high is not None
            assert (one.probability < 0.05) == (not found.low <= 0 <= found.high)
            seen.add(one.probability < 0.05)
    assert seen == {True, False}


# --- find --------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", range(20))
def test_find_agrees_with_a_full_grid(case: int) -> None:
    """Borders, sizes, directions, noise and requirements that do not go on holding, each against every value of the axis."""
    r = drawn("case", case)
    size, want = r.choice([3, 7, 16, 33, 60]), r.choice(["smallest", "largest"])
    border, bump = r.randrange(-1, size + 1), r.randrange(size) if case % 3 == 0 else None
    values = [f"{100 + 10 * i} cells" for i in range(size)]
    replications, share = 10, 0.8

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        place = (at["buffer"] - 100) // 10
        far = place - border if want == "smallest" else border - place
        if bump == place:
            far = -5
        return {"cell_loss_ratio": 0.001 - 0.0002 * far + drawn(case, at["buffer"], i).gauss(0, 0.0001)}

    question = ex.Find("buffer", ["cell_loss_ratio < 0.001"], share=share, want=want, checks=1 + size // 2)  # type: ignore[arg-type]
    experiment = ex.Experiment(
        name="find",
        base=BASE,
        set={"switch.west.ubr.drop": "tail-drop"},
        axes=[ex.Axis("switch.west.ubr.buffer", values)],
        metrics=["cell_loss_ratio"],
        question=question,
        replications=replications,
    )
    outcome = experiment.run(runner=by(measure))
    held = [
        number
        for number in range(100, 100 + 10 * size, 10)
        if sum(measure({"buffer": number}, i)["cell_loss_ratio"] < 0.001 for i in range(replications))
        >= share * replications
    ]
    expected = (min(held) if want == "smallest" else max(held)) if held else None
    assert outcome.answer is not None
    (found,) = outcome.answer.tables["found"]
    assert found["buffer"] == (None if expected is None else f"{expected} cells")


def finding(measure: Callable[[float], float], *, size: int, monotone: bool = True) -> tuple[str, dict[str, Any]]:
    experiment = ex.Experiment(
        name="find",
        base=BASE,
        set={"switch.west.ubr.drop": "tail-drop"},
        axes=[ex.Axis("switch.west.ubr.buffer", ex.Range("1 cells", f"{size} cells"))],
        metrics=["efficiency"],
        question=ex.Find("buffer", ["efficiency > 0.5"], monotone=monotone),
        replications=1,
    )
    outcome = experiment.run(runner=by(lambda at, _: {"efficiency": measure(at["buffer"])}))
    assert outcome.answer is not None
    return outcome.text, outcome.answer.tables["found"][0]


def test_find_says_that_its_assumption_was_checked() -> None:
    text, found = finding(lambda x: float(x >= 4321), size=10_000)
    assert found["buffer"] == "4321 cells"
    assert found["values_tried"] <= 2 + 14 + 6
    assert (found["bracket_from"], found["bracket_to"]) == ("4320 cells", "4321 cells") or found["share_low"] < 0.5
    assert "Assumed: once the requirement holds it holds for every larger value" in text


def test_find_says_that_its_assumption_is_wrong_and_tries_all_values_where_they_are_few() -> None:
    text, found = finding(lambda x: float(20 <= x < 40 or x >= 60), size=64)
    assert "is wrong" in text
    assert (found["buffer"], found["values_tried"]) == ("20 cells", 64)


def test_find_without_the_assumption_tries_every_value() -> None:
    text, found = finding(lambda x: float(x in (3, 60)), size=64, monotone=False)
    assert (found["buffer"], found["values_tried"]) == ("3 cells", 64)
    assert "Nothing was assumed" in text


@pytest.mark.parametrize(("share", "width"), [(0.95, 5), (0.95, 60), (0.5, 300)])
def test_find_is_exact_under_noise_and_its_bracket_is_narrow(share: float, width: float) -> None:
    """8 searches of 64 values with 50 replications, against all values on the same draws; seeds are fixed."""
    values, many, widths = range(100, 1380, 20), 50, []
    for repetition in range(8):
        border = drawn("border", share, width, repetition).uniform(200, 1200)
        seen: dict[tuple[int, int], float] = {}

        def holds(
            x: int, i: int, border: float = border, seen: dict[tuple[int, int], float] = seen, r: int = repetition
        ) -> float:
            if (x, i) not in seen:
                p = 1 / (1 + math.exp(max(-500.0, min(500.0, 4 * (border - x) / width))))
                seen[x, i] = float(drawn(share, width, r, x, i).random() < p)
            return seen[x, i]

        experiment = ex.Experiment(
            name="noise",
            base=BASE,
            axes=[ex.Axis("switch.west.ubr.buffer", [f"{x} cells" for x in values])],
            metrics=["efficiency"],
            question=ex.Find("buffer", ["efficiency > 0.5"], share=share),
            replications=many,
        )
        outcome = experiment.run(runner=by(lambda at, i: {"efficiency": holds(at["buffer"], i)}))
        assert outcome.answer is not None
        (found,) = outcome.answer.tables["found"]
        expected = min(x for x in values if sum(holds(x, i) for i in range(many)) >= share * many)
        assert found["buffer"] == f"{expected} cells"
        first, last = (int(found[end].split()[0]) for end in ("bracket_from", "bracket_to"))
        assert first <= expected <= last
        widths.append((last - first) // 20)
        fresh = [holds(expected, many + i) for i in range(many)]
        assert (found["share_low"], found["share_high"]) == share_interval(round(sum(fresh)), many, 0.95)
        lacks = found["share_low"] < share
        assert (f"so {100 * share:g} % is not shown" in outcome.text) == lacks
    assert sorted(widths)[4] <= (2 if width < 300 else 8)


def test_find_warns_of_a_share_that_the_replications_cannot_show_and_of_a_range_without_steps() -> None:
    experiment = ex.Experiment(
        name="few",
        base=BASE,
        axes=[ex.Axis("switch.west.ubr.buffer", ex.Range("250 cells", "8000 cells"))],
        metrics=["cell_loss_ratio"],
        question=ex.Find("buffer", ["cell_loss_ratio < 0.02"]),
        replications=10,
    )
    share, steps = (note for note in experiment.notes if "replication" in note)
    # All of n show a share of n / (n + 1.96^2): 10 of 10 show 72.2 %, and 95 % takes 73.
    assert "at least 72.2 % at 95 % confidence; 73 replications can" in share
    assert "7751 values are searched" in steps
    assert share_interval(73, 73, 0.95)[0] >= 0.95 > share_interval(72, 72, 0.95)[0]


# --- sensitivity -------------------------------------------------------------------------------------------------------------------------


def test_sensitivity_gives_the_known_indices_of_the_ishigami_function() -> None:
    """a = 7, b = 0.1: first orders 0.3139, 0.4424, 0; totals 0.5576, 0.4424, 0.2437 (Ishigami and Homma, 1990)."""
    axes = [
        ex.Axis(f"switch.west.ubr.drop.{path}", ex.Range(0.1, 0.9), name=name)
        for path, name in (("r", "x1"), ("z", "x2"))
    ]
    axes.append(ex.Axis("seed", ex.Range(0, 1000, whole=False), name="x3"))
    base = BASE.with_values({"switch.west.ubr.drop": "fba"})
    with pytest.raises(ExperimentError, match=r"axis\[2\]\.range: seed = 381.9: is a decimal"):  # a seed is whole
        ex.Experiment(name="i", base=base, axes=axes, metrics=["efficiency"], question="sensitivity", replications=1)
    axes[2] = ex.Axis("measure.max_goodput", ex.Range("100 Mbps", "200 Mbps"), name="x3")
    experiment = ex.Experiment(
        name="ishigami",
        base=base,
        axes=axes,
        metrics=["efficiency"],
        question=ex.Sensitivity(["efficiency"], samples=2048),
        replications=1,
    )

    def measure(at: Mapping[str, Any], _: int) -> Mapping[str, float]:
        shares = [(at["x1"] - 0.1) / 0.8, (at["x2"] - 0.1) / 0.8, (at["x3"] - 100) / 100]
        a, b, c = (math.pi * (2 * share - 1) for share in shares)
        return {"efficiency": math.sin(a) + 7 * math.sin(b) ** 2 + 0.1 * c**4 * math.sin(a)}

    outcome = experiment.run(runner=by(measure))
    assert outcome.answer is not None
    for one, first, total in zip(
        outcome.answer.tables["indices"], (0.3139, 0.4424, 0.0), (0.5576, 0.4424, 0.2437), strict=True
    ):
        assert one["first"] == pytest.approx(first, abs=0.03)
        assert one["total"] == pytest.approx(total, abs=0.03)
        assert one["first_low"] - 0.02 <= first <= one["first_high"] + 0.02
        assert one["total_low"] - 0.02 <= total <= one["total_high"] + 0.02
    assert outcome.text.startswith("x1 decides efficiency most")


# --- optimise ----------------------------------------------------------------------------------------------------------------------------


def optimising(**question: Any) -> ex.Experiment:
    return ex.Experiment(
        name="optimise",
        base=BASE.with_values({"switch.west.ubr.drop": "fba"}),
        axes=[
            ex.Axis("switch.west.ubr.drop.r", ex.Range(0.1, 0.9)),
            ex.Axis("switch.west.ubr.drop.z", ex.Range(0.1, 0.9)),
        ],
        metrics=["efficiency", "fairness"],
        question=ex.Optimise(**question),
        replications=8,
    )


def hill(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
    """Highest at r = 0.6, z = 0.3; fairness falls with r."""
    noise = drawn(i).gauss(0, 0.01)
    return {"efficiency": 1 - (at["r"] - 0.6) ** 2 - (at["z"] - 0.3) ** 2 + noise, "fairness": 1 - at["r"]}


def test_optimise_gets_near_the_top_and_gives_up_bad_trials() -> None:
    experiment = optimising(goals={"efficiency": "highest"}, trials=80)
    outcome = experiment.run(runner=by(hill))
    assert outcome.answer is not None
    (best,) = outcome.answer.tables["best"]
    assert abs(float(best["r"]) - 0.6) < 0.12
    assert abs(float(best["z"]) - 0.3) < 0.12
    assert "given up early (median)" in outcome.text
    assert outcome.runs < 80 * 8
    point = next(at for at, kept in outcome.measured.items() if len(kept) == 16)  # the best one, on fresh draws too
    fresh = [float(outcome.measured[point][i]["efficiency"] or 0) for i in range(8, 16)]
    assert f"{sum(fresh) / 8:.4g} [" in outcome.text and "in 8 fresh replications" in outcome.text
    again = experiment.run(runner=by(hill))
    assert again.answer == outcome.answer  # the same whenever it is run


def test_optimise_keeps_to_its_requirements() -> None:
    outcome = optimising(goals={"efficiency": "highest"}, require=["fairness > 0.6"], trials=60).run(runner=by(hill))
    assert outcome.answer is not None
    (best,) = outcome.answer.tables["best"]
    assert 0.2 < float(best["r"]) < 0.4
    none = optimising(goals={"efficiency": "highest"}, require=["fairness > 2"], trials=10).run(runner=by(hill))
    assert "No trial has fairness > 2" in none.text


def test_optimise_gives_points_of_which_none_beats_another() -> None:
    outcome = optimising(goals={"efficiency": "highest", "fairness": "highest"}, trials=60).run(runner=by(hill))
    assert outcome.answer is not None
    best = [(one["efficiency"], one["fairness"]) for one in outcome.answer.tables["best"]]
    assert len(best) > 3
    assert not any(a[0] >= b[0] and a[1] >= b[1] for a in best for b in best if a is not b)


# --- designs -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["latin-hypercube", "sobol"])
def test_designs_fill_each_axis_evenly(kind: str) -> None:
    experiment = ex.Experiment(
        name="fill",
        base=BASE.with_values({"switch.west.ubr.drop": "fba"}),
        axes=[
            ex.Axis("switch.west.ubr.drop.r", ex.Range(0.0, 0.8)),
            ex.Axis("switch.west.ubr.buffer", ex.Range("100 cells", "10000 cells", scale="log")),
        ],
        metrics=["efficiency"],
        design=ex.Design(kind, points=32, seed=3),  # type: ignore[arg-type]
        replications=1,
    )
    points = experiment.plan.points()
    assert len(points) == 32
    for share in (lambda p: p.values["r"] / 0.8, lambda p: math.log10(p.values["buffer"] / 100) / 2):
        bins = sorted(min(int(share(point) * 32 + 1e-4), 31) for point in points)
        assert len(set(bins)) >= 30  # the buffer is rounded to whole cells
    assert points == experiment.plan.points()


def test_axes_that_vary_together_and_constraints_choose_the_points() -> None:
    experiment = ex.Experiment(
        name="together",
        base=BASE,
        axes=[
            ex.Axis(["host.source.count", "host.sink.count"], [2, 5], name="sources"),
            ex.Axis("switch.west.ubr.buffer", ["500 cells", "1000 cells"], together="size"),
            ex.Axis("switch.east.ubr.buffer", ["600 cells", "1200 cells"], name="east", together="size"),
        ],
        constraints=["buffer >= 150 * sources"],
        metrics=["efficiency"],
        replications=1,
    )
    found = [tuple(point.values[name] for name in ("sources", "buffer", "east")) for point in experiment.plan.points()]
    assert found == [(2, 500, 600), (2, 1000, 1200), (5, 1000, 1200)]
    assert experiment.engine().scenario(experiment.plan.points()[0]).to_dict()["vcs"].__len__() == 2


def test_equal_is_not_enough_where_less_is_asked() -> None:
    assert Condition("queue < 1000").excess({"queue": 1000}) > 0
    assert Condition("queue <= 1000").excess({"queue": 1000}) == 0
    assert Condition("queue < 1000").excess({"queue": 900}) == -100


def test_an_axis_without_influence_has_no_interval_and_is_told_and_drawn() -> None:
    pytest.importorskip("matplotlib")
    from cellyard.experiment.figures import _indices
    from cellyard.experiment.questions.sensitivity import _sentence

    ends = {"first": 0.9, "first_low": 0.8, "first_high": 1.0, "total": 0.9, "total_low": 0.8, "total_high": 1.0}
    none = {"first": 0.0, "first_low": None, "first_high": None, "total": 0.0, "total_low": None, "total_high": None}
    records: list[dict[str, Any]] = [{"metric": "m", "axis": "buffer", **ends}, {"metric": "m", "axis": "idle", **none}]
    assert _sentence("m", records).startswith("buffer decides m most") and "overlap" not in _sentence("m", records)
    assert len(_indices(records).figure.axes) == 1
    assert _sentence("m", [{"metric": "m", "axis": "idle", **none}]) == "m does not vary, so that nothing decides it."


def test_lists_that_vary_together_stay_side_by_side_where_values_repeat() -> None:
    axes = [
        ex.Axis("switch.west.ubr.buffer", ["500 cells", "500 cells", "1000 cells"], together="a"),
        ex.Axis("switch.west.ubr.drop", ["tail-drop", "epd", "epd"], together="a"),
        ex.Axis("switch.east.ubr.buffer", ex.Range("7 cells", "8 cells", steps=3), name="east", together="b"),
        ex.Axis("measure.max_goodput", ex.Range("1 Mbps", "3 Mbps", steps=3), name="goodput", together="b"),
    ]
    experiment = ex.Experiment(name="repeats", base=BASE, axes=axes, metrics=["efficiency"], replications=1)
    outcome = experiment.run(runner=by(lambda at, _: {"efficiency": 1.0}))
    found = [
        tuple(point[name] for name in ("buffer_cells", "drop", "east_cells", "goodput_mbps"))
        for point in outcome.points()
    ]
    pairs = [(500, "tail-drop"), (500, "epd"), (1000, "epd")]
    assert found == [(*pair, *other) for pair in pairs for other in ((7, 1), (8, 2), (8, 3))]


def test_compare_says_of_how_many_pairs_it_judges() -> None:
    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float | None]:
        undefined = at["buffer"] == 1002 and i >= 6
        return {"efficiency": None if undefined else 0.1 * at["buffer"] + drawn(at["buffer"], i).gauss(0, 0.01)}

    text = comparison(replications=10).run(runner=by(measure)).text
    assert text.endswith(
        "10 replications of each variant, on the same draws, of which 6 to 10 define the metric in both of a pair."
    )
    whole = comparison(replications=10, variants=2).run(runner=by(measure)).text
    assert whole.endswith("10 replications of each variant, on the same draws.")


def test_compare_at_several_points_says_first_how_often_each_variant_was_better() -> None:
    experiment = ex.Experiment(
        name="points",
        base=BASE,
        axes=[
            ex.Axis("switch.west.ubr.drop", ["tail-drop", "epd"], name="policy"),
            ex.Axis("switch.west.ubr.buffer", ["500 cells", "1000 cells", "2000 cells"]),
        ],
        metrics=["efficiency"],
        question=ex.Compare("policy", ["efficiency"]),
        replications=10,
    )

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        gain = {500: 0.0, 1000: 0.3, 2000: -0.3}[int(at["buffer"])] if at["policy"] == "epd" else 0.0
        return {"efficiency": 0.5 + gain + drawn(at["buffer"], at["policy"], i).gauss(0, 0.01)}

    answer = experiment.run(runner=by(measure)).answer
    assert answer is not None
    assert answer.sentences[0] == (
        "By efficiency, of 3 comparisons: better was epd 1 time (by 0.3017) and tail-drop 1 time (by 0.2936); 1 not told apart."
    )
    assert answer.sentences[2].startswith(
        "At buffer = 1000 cells: epd is better than tail-drop: efficiency is higher by 0."
    )
    assert answer.sentences[3].startswith(
        "At buffer = 2000 cells: tail-drop is better than epd: efficiency is higher by 0."
    )


def index(axis: str, total: float, low: float, high: float) -> dict[str, Any]:
    first = {"first": 0.1, "first_low": 0.0, "first_high": 0.2}
    return {"metric": "m", "axis": axis, **first, "total": total, "total_low": low, "total_high": high}


def test_sensitivity_names_no_axis_as_the_first_where_the_interval_of_any_other_reaches_it() -> None:
    from cellyard.experiment.questions.sensitivity import _sentence

    first, second, wide = index("a", 0.9, 0.8, 1.0), index("b", 0.4, 0.3, 0.5), index("c", 0.2, 0.0, 0.85)
    assert _sentence("m", [second, first]).startswith("a decides m most: by total index a 0.9 [0.8, 1] and b 0.4 ")
    unsure = "Which axis decides m most is not sure, as intervals overlap: by total index a 0.9 [0.8, 1], b 0.4 "
    assert _sentence("m", [second, first, wide]).startswith(unsure)


def test_sensitivity_says_which_indices_cannot_be_and_how_many_runs_would_tell_more() -> None:
    pytest.importorskip("scipy")
    axes = [
        ex.Axis("switch.west.ubr.drop.r", ex.Range(0.1, 0.9)),
        ex.Axis("switch.west.ubr.drop.z", ex.Range(0.1, 0.9)),
    ]
    experiment = ex.Experiment(
        name="outside",
        base=BASE.with_values({"switch.west.ubr.drop": "fba"}),
        axes=axes,
        metrics=["efficiency"],
        question=ex.Sensitivity(["efficiency"], samples=16),
        replications=3,
    )
    few = experiment.run(runner=by(lambda at, _: {"efficiency": at["r"] + drawn(at["r"], at["z"]).gauss(0, 0.5)}))
    assert few.answer is not None
    indices = {(order, one["axis"]): one for one in few.answer.tables["indices"] for order in ("first", "total")}
    outside = {key: one for key, one in indices.items() if not 0 <= one[key[0]] <= 1}
    assert outside  # the draws are fixed, and noise goes with both axes
    (told,) = [sentence for sentence in few.answer.sentences if "outside 0 to 1" in sentence]
    assert all(f"{order} of {axis} for efficiency ({one[order]:.4g})" in told for (order, axis), one in outside.items())
    half = max((one[f"{order}_high"] - one[f"{order}_low"]) / 2 for (order, _), one in outside.items())
    (samples, points, runs) = map(int, re.findall(r"some (\d+) samples \((\d+) points, (\d+) runs\)", told)[0])
    assert runs == 3 * points == 12 * samples
    assert half * math.sqrt(16 / samples) <= 0.1 < half * math.sqrt(2 * 16 / samples)


def test_an_efficiency_above_one_is_told_beside_the_answer() -> None:
    above = comparison(variants=2).run(runner=by(lambda at, i: {"efficiency": 1.1 + 0.01 * i}))
    (note,) = above.to_dict()["notes"]
    assert note.startswith("efficiency is up to 1.190: more was delivered than measure.max_goodput says can be.")
    assert comparison(variants=2).run(runner=by(lambda at, i: {"efficiency": 1.0004})).to_dict()["notes"] == []


def test_lines_of_many_metrics_stand_below_each_other() -> None:
    pytest.importorskip("matplotlib")
    from cellyard.experiment.figures import figures

    names = ["efficiency", "fairness", "goodput_mbps", "timeouts", "segments"]
    experiment = ex.Experiment(
        name="many",
        base=BASE,
        axes=[ex.Axis("switch.west.ubr.buffer", ["500 cells", "600 cells"])],
        metrics=names,
        replications=2,
    )
    (drawn_,) = figures(experiment.run(runner=by(lambda at, i: dict.fromkeys(names, 0.5))).to_dict())
    shown = [axes for axes in drawn_.figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == names
    assert drawn_.figure.get_size_inches()[0] < 11 and len({round(axes.get_position().y0, 3) for axes in shown}) == 2


def test_figures_are_logarithmic_only_where_values_are_spread_by_ratio() -> None:
    pytest.importorskip("matplotlib")
    from cellyard.experiment.figures import figures

    for values, scale in (
        ([1000, 12000, 13000, 13500, 16000, 20000, 700], "linear"),
        ([256, 512, 1000, 2000, 8000], "log"),
    ):
        experiment = ex.Experiment(
            name="scale",
            base=BASE,
            set={"switch.west.ubr.drop": "tail-drop"},
            axes=[ex.Axis("switch.west.ubr.buffer", [f"{value} cells" for value in values])],
            metrics=["efficiency"],
            replications=2,
        )
        document = experiment.run(runner=by(lambda at, i: {"efficiency": 0.5})).to_dict()
        (drawn_,) = figures(document)
        axes = drawn_.figure.axes[0]
        assert axes.get_xscale() == scale
        if scale == "log":
            assert [label.get_text() for label in axes.get_xticklabels()] == [str(value) for value in values]


@pytest.mark.filterwarnings("error")
def test_sensitivity_is_the_same_whenever_it_is_run_and_by_the_estimators_of_scipy() -> None:
    import numpy as np
    from cellyard.experiment.questions.sensitivity import saltelli
    from scipy import stats  # type: ignore[import-untyped]

    experiment = ex.Experiment(
        name="same",
        base=BASE.with_values({"switch.west.ubr.drop": "fba"}),
        axes=[ex.Axis(f"switch.west.ubr.drop.{name}", ex.Range(0.1, 0.9)) for name in "rz"],
        metrics=["efficiency", "fairness"],
        question=ex.Sensitivity(["efficiency", "fairness"], samples=32),
        replications=2,
    )
    first, again = (experiment.run(runner=by(hill)).answer for _ in range(2))
    assert first is not None and first == again
    assert first.tables["indices"][0]["total_low"] < first.tables["indices"][0]["total_high"]

    def both(method: Any) -> Any:
        return stats.sobol_indices(
            func=lambda x: np.array([np.sin(x[0]) + x[1] ** 2, x[0] * x[1]]),
            n=64,
            dists=[stats.uniform(), stats.uniform()],
            method=method,
            rng=np.random.default_rng(3),
        )

    ours, theirs = both(saltelli), both("saltelli_2010")
    assert np.array_equal(ours.first_order, theirs.first_order)
    assert np.array_equal(ours.total_order, theirs.total_order)


def test_the_best_points_stand_in_the_order_of_the_first_goal() -> None:
    for way, sign in (("highest", 1), ("lowest", -1)):
        goals = {"fairness": way, "efficiency": "highest"}
        answer = optimising(goals=goals, trials=24, sampler="random").run(runner=by(hill)).answer
        assert answer is not None
        found = [sign * one["fairness"] for one in answer.tables["best"]]
        assert len(found) > 1 and found == sorted(found, reverse=True)


def test_a_table_says_how_many_points_are_not_told_apart_from_its_ends() -> None:
    experiment = ex.Experiment(
        name="ends",
        base=BASE,
        axes=[ex.Axis("switch.west.ubr.buffer", ex.Range("1000 cells", "1004 cells", steps=5))],
        metrics=["efficiency"],
        replications=5,
    )
    values = {1000: 0.1, 1001: 0.5, 1002: 0.900, 1003: 0.901, 1004: 0.902}

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        return {"efficiency": values[int(at["buffer"])] + 0.001 * i}

    text = experiment.run(runner=by(measure)).text
    assert (
        "efficiency is highest at buffer = 1004 cells: 0.904 [0.902, 0.906] (not told apart from 2 others), and" in text
    )
    assert text.endswith("lowest at buffer = 1000 cells: 0.102 [0.1, 0.104].")


def test_a_figure_of_more_differences_than_fit_says_how_many_it_shows() -> None:
    pytest.importorskip("matplotlib")
    from cellyard.experiment.figures import _differences

    def drawn(number: int) -> Any:
        told = {
            "metric": "efficiency",
            "difference": 0.1,
            "difference_low": 0.0,
            "difference_high": 0.2,
            "better": "not told apart",
        }
        return _differences([{**told, "variant": f"v{i}", "against": "base"} for i in range(number)])

    few, many = drawn(60), drawn(61)
    assert "first" not in few.text and many.text.endswith("The first 60 of 61; comparisons.csv has all.")
    assert [len(one.figure.axes[0].get_yticks()) for one in (few, many)] == [60, 60]


def test_the_best_of_three_goals_are_no_line_in_the_plane_of_two() -> None:
    pytest.importorskip("matplotlib")
    from cellyard.experiment.figures import _front

    def drawn(*goals: str) -> Any:
        best = [dict.fromkeys(goals, float(i)) for i in range(3)]
        points = [{goal: {"mean": value} for goal, value in one.items()} for one in best]
        return _front({"question": {"goals": dict.fromkeys(goals, "highest")}, "points": points, "best": best}).figure

    two, three = drawn("efficiency", "fairness"), drawn("efficiency", "fairness", "goodput_mbps")
    assert [figure.axes[0].lines[1].get_linestyle() for figure in (two, three)] == ["-", "None"]
    assert len(two.axes) == 1 and three.axes[1].get_ylabel() == "goodput [Mb/s]"
