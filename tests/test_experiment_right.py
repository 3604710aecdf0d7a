"""The questions of experiments beside known answers: a function of the point takes the place of the engine."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from cellyard import experiment as ex
from cellyard import ready
from cellyard.errors import ExperimentError
from cellyard.experiment.design import Point
from cellyard.experiment.expression import Condition
from cellyard.experiment.precision import Precision
from cellyard.experiment.runner import Draw, Remembered, Runner
from cellyard.experiment.statistics import estimate, holm, log_no_difference

BASE = ready.scenario("lan-5")
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


LAWS: Mapping[str, tuple[Callable[[random.Random], float], float]] = {
    "normal": (lambda r: r.gauss(3.0, 1.0), 3.0),
    "uniform": (lambda r: r.uniform(0.0, 1.0) * 3.46, 1.73),
}


@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_precision_cover_a_known_mean_as_often_as_stated(law: str) -> None:
    """2 000 repetitions, nominal 95 %: fewer than 93.5 % would be 3 standard errors below."""
    draw, mean = LAWS[law]
    question = Precision({"efficiency": 0.5}, most=10_000)
    point = Point(())
    covered, counts = 0, []
    for repetition in range(2000):
        runner = Remembered(by(lambda _, i, r=repetition: {"efficiency": draw(drawn(law, r, i))}))  # type: ignore[misc]
        count = question.replicate([point], runner, first=10)[point]
        values = [float(one["efficiency"] or 0) for one in runner.samples([point], range(count))[0]]
        found = question.interval(values, 10)
        assert found and found.half <= 0.5
        covered += found.low is not None and found.high is not None and found.low <= mean <= found.high
        counts.append(count)
    assert max(counts) > min(counts) == 10  # it was sequential, and stopped at once where that was enough
    assert 0.935 <= covered / 2000 <= 0.99


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
    assert [one["runs"] for one in outcome.points()] == [10, 50]


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
    assert "Assumed: once the requirement holds it holds for every larger value" in text


def test_find_says_that_its_assumption_is_wrong_and_tries_all_values_where_they_are_few() -> None:
    text, found = finding(lambda x: float(20 <= x < 40 or x >= 60), size=64)
    assert "is wrong" in text
    assert (found["buffer"], found["values_tried"]) == ("20 cells", 64)


def test_find_without_the_assumption_tries_every_value() -> None:
    text, found = finding(lambda x: float(x in (3, 60)), size=64, monotone=False)
    assert (found["buffer"], found["values_tried"]) == ("3 cells", 64)
    assert "Nothing was assumed" in text


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
    from cellyard.experiment.sensitivity import _sentence

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
    from cellyard.experiment.sensitivity import _sentence

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
    from cellyard.experiment.sensitivity import saltelli
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
