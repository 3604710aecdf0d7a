"""Answers of experiments: which value is better, how certain that is, and what the intervals omit."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cellyard import components, experiment as ex
from cellyard.experiment import notes
from cellyard.experiment.description.axes import TAGS
from cellyard.experiment.description.design import Point
from cellyard.scenario import Scenario
from cellyard.statistics.inference import holm
from cellyard.statistics.student import log_outside
from cellyard.system.errors import ExperimentError, UsageError
from conftest import ROOT, Cli
from known_answers import BASE, by, comparison, drawn, hill, optimising


def test_compare_knows_what_is_better_by_what_is_measured_and_not_by_its_name() -> None:
    metrics = {
        "goodput_without_loss": "goodput_mbps",
        "loss_free_efficiency": "efficiency",
        "fair": "fairness",
        "goodput_queue": "max(port.*.max_queue_cells)",
        "goodput_that_is_gone": "sum(port.*.dropped_cells.full)",
    }
    experiment = ex.Experiment(
        name="names",
        base=BASE,
        axes=[ex.Axis("switch.west.ubr.buffer", ["1000 cells", "2000 cells"])],
        metrics=metrics,
        question=ex.Compare("buffer", list(metrics)),
        replications=5,
    )
    answer = experiment.run(
        runner=by(lambda at, i: {name: at["buffer"] + drawn(name, at["buffer"], i).gauss(0, 1) for name in metrics})
    ).answer
    assert answer is not None
    assert {one["metric"]: one["better"] for one in answer.tables["comparisons"]} == {
        "goodput_without_loss": "2000 cells",
        "loss_free_efficiency": "2000 cells",
        "fair": "2000 cells",
        "goodput_queue": "1000 cells",
        "goodput_that_is_gone": "1000 cells",
    }


def test_questions_are_of_all_metrics_unless_they_name_some() -> None:
    metrics = ["efficiency", "fairness"]
    for question in (ex.Compare("buffer"), ex.Sensitivity()):
        experiment = ex.Experiment(
            name="all",
            base=BASE,
            axes=[ex.Axis("switch.west.ubr.buffer", ["1000 cells", "2000 cells"])],
            metrics=metrics,
            question=question,
        )
        asked = experiment.question
        assert isinstance(asked, ex.Compare | ex.Sensitivity)
        assert list(asked.metrics) == metrics


def test_compare_does_as_better_says_where_it_says_something() -> None:
    question = ex.Compare("buffer", ["efficiency"], better={"efficiency": "lower"})
    experiment = ex.Experiment(
        name="opposite",
        base=BASE,
        axes=[ex.Axis("switch.west.ubr.buffer", ["1000 cells", "2000 cells"])],
        metrics=["efficiency"],
        question=question,
        replications=5,
    )
    answer = experiment.run(
        runner=by(lambda at, i: {"efficiency": at["buffer"] + drawn(at["buffer"], i).gauss(0, 1)})
    ).answer
    assert answer is not None
    assert answer.tables["comparisons"][0]["better"] == "1000 cells"


def test_compare_counts_the_best_variants_first_with_what_they_gain_and_all_the_others_by_their_number() -> None:
    """At both points of the other axis, variant k beats 1000 cells by 1000 k.

    The two smallest do so at only one of the points.
    """
    buffers = [1000 + 10 * i for i in range(16)]
    experiment = ex.Experiment(
        name="ranked",
        base=BASE,
        axes=[
            ex.Axis("switch.west.ubr.buffer", [f"{one} cells" for one in buffers]),
            ex.Axis("switch.west.ubr.drop", ["epd", "fba"], name="policy"),
        ],
        metrics=["goodput_mbps"],
        question=ex.Compare("buffer", ["goodput_mbps"], against="1000 cells"),
        replications=5,
    )

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        place = buffers.index(int(at["buffer"]))
        gain = place if place > 2 or at["policy"] == "epd" else 0
        return {"goodput_mbps": 1000 * gain + drawn(at["buffer"], at["policy"], i).gauss(0, 0.01)}

    answer = experiment.run(runner=by(measure)).answer
    assert answer is not None
    told = answer.sentences[0]
    assert told.startswith(
        "By goodput_mbps, of 30 comparisons: better was 1150 cells 2 times (by 15000 on average), "
        "1140 cells 2 times (by 14000 on average), "
    )
    assert told.endswith("1040 cells 2 times (by 4000 on average) and 3 other values of buffer; 2 not separated.")


@pytest.mark.parametrize("freedom", [1, 2, 3, 19, 999])
def test_the_probability_of_no_difference_is_that_of_students_law_however_small(freedom: int) -> None:
    stats = pytest.importorskip("scipy").stats
    for t in (0.0, 0.01, 0.7, 2.0, 5.0, 20.0, 1000.0):
        exact = math.log(2) + float(stats.t.logsf(t, freedom))
        if math.isfinite(exact):  # scipy's logarithm is infinite where the probability underflows
            assert log_outside(t, freedom) == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert log_outside(1e6, 2) == pytest.approx(math.log(1e-12), rel=1e-9)  # 2 / (s (s + t)), s^2 = t^2 + 2
    assert log_outside(math.inf, freedom) == -math.inf


def test_compare_keeps_probabilities_that_are_smaller_than_the_rounding_of_1() -> None:
    stats = pytest.importorskip("scipy").stats

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        return {"efficiency": at["buffer"] + drawn(at["buffer"], i).gauss(0, 0.01)}

    answer = comparison(replications=20, variants=2).run(runner=by(measure)).answer
    assert answer is not None
    first, second = ([measure({"buffer": size}, i)["efficiency"] for i in range(20)] for size in (1000, 1001))
    found = answer.tables["comparisons"][0]["probability"]
    assert 0 < found < 1e-20
    assert found == pytest.approx(float(stats.ttest_rel(second, first).pvalue), rel=1e-6)


def test_holm_orders_probabilities_that_are_too_small_for_a_number() -> None:
    judged = holm([-900.0, -2000.0, math.log(0.04), -1000.0], 0.95)
    assert [round(1 - one.confidence, 6) for one in judged] == [0.025, 0.0125, 0.05, 0.016667]
    assert [one.probability for one in judged] == [0.0, 0.0, pytest.approx(0.04), 0.0]


def test_holm_judges_equal_probabilities_alike() -> None:
    for tie in (0.001, 0.02, 0.2):
        judged = holm([math.log(p) for p in (tie, 1e-9, tie, 0.9, tie)], 0.95)
        assert len({judged[place] for place in (0, 2, 4)}) == 1
        assert round(1 - judged[0].confidence, 6) == 0.0125  # the second of five
        assert (judged[0].probability < 0.05) == (tie < 0.0125)


#: Values for which the interval of 3 replications reaches from below 0 to above 1.
WIDE = (0.05, 0.2, 0.95)


@pytest.mark.parametrize(
    ("metric", "low", "high"),
    [
        ("fairness", 0.0, 1.0),
        ("cell_loss_ratio", 0.0, 1.0),
        ("mean(port.*.utilisation)", 0.0, 1.0),
        ("mean_cell_transfer_delay_s", 0.0, 1.5978),
        ("sum(vc.*.cell_loss_ratio)", 0.0, 1.5978),
    ],
)
def test_intervals_of_means_end_at_the_bounds_of_what_is_measured(metric: str, low: float, high: float) -> None:
    experiment = ex.Experiment(name="bounds", base=BASE, metrics={"m": metric}, replications=3)
    outcome = experiment.run(runner=by(lambda _, i: {"m": WIDE[i]}))
    found = outcome.points()[0]["m"]
    assert (found["low"], found["high"]) == (low, pytest.approx(high, abs=1e-4))
    assert f"m is 0.4 [{low:.0f}, {high:.4g}] there" in outcome.text


def test_an_interval_is_whole_where_values_pass_a_bound_and_differences_have_none() -> None:
    experiment = ex.Experiment(name="bounds", base=BASE, metrics=["efficiency"], replications=3)
    found = experiment.run(runner=by(lambda _, i: {"efficiency": (0.9, 1.01, 1.02)[i]})).points()[0]["efficiency"]
    assert found["low"] < 0.9 and found["high"] > 1.02
    answer = (
        comparison(replications=3, variants=2)
        .run(runner=by(lambda at, i: {"efficiency": WIDE[i if at["buffer"] == 1000 else 2 - i]}))
        .answer
    )
    assert answer is not None
    assert answer.tables["comparisons"][0]["difference_high"] > 1


def test_precision_is_judged_by_the_whole_interval_and_tells_what_of_it_is_possible() -> None:
    experiment = ex.Experiment(
        name="bounds",
        base=BASE,
        metrics=["cell_loss_ratio"],
        question=ex.Precision({"cell_loss_ratio": 0.01}, most=40),
        replications=40,
    )
    values = [0.0] * 20 + [0.1] * 20  # not skewed: mean 0.05, s = 0.05064, half = 2.0227 s / sqrt(40) = 0.0162
    answer = experiment.run(runner=by(lambda _, i: {"cell_loss_ratio": values[i]})).answer
    assert answer is not None
    assert answer.tables["precision"][0]["cell_loss_ratio.low"] == pytest.approx(0.0338, abs=1e-4)
    assert answer.tables["precision"][0]["cell_loss_ratio.high"] == pytest.approx(0.0662, abs=1e-4)
    assert answer.tables["precision"][0]["reached"] == "no"


#: Notes on weights without a per-VC scheduler, on sources that start late, and on class abr; see
#: `Scenario.notes`.
NOTED = """\
name = "noted"
base = { example = "lan-5" }
set = { duration = "100 ms" }
replications = 1
metrics = ["efficiency"]
question = "table"

[[axis]]
name = "service"
path = "vc.class"
values = ["ubr", "abr"]

[[axis]]
path = "vc.start"
values = ["0 s", "100 ms", "200 ms"]
"""
WITHOUT_ABR = (
    "no rate control for vc1 and 4 more: the class is abr, but `abr` is not set; set `abr = {}` to follow feedback"
)
UNLIKE = (
    "service compares queues of unlike size, as each class has a buffer of its own: at west->east ubr has 1000 cells "
    "and abr has no limit"
)
TOO_LATE = "no data from vc1 and 4 more: `start` is not before the end of the run; use an earlier `start` or a longer `duration`"


def test_check_and_run_tell_each_note_of_the_scenarios_once_with_the_values_that_it_is_of(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "noted.toml").write_text(NOTED)
    told = [UNLIKE, f"{WITHOUT_ABR} (at service = abr)", f"{TOO_LATE} (at start = 100 ms and 200 ms)"]
    checked = cli("experiment", "check", "noted.toml").stdout
    assert sorted(line for line in checked.splitlines() if line.startswith("note: ")) == sorted(
        f"note: {note}" for note in told
    )
    ran = cli("experiment", "run", "noted.toml", "--format", "json").stdout
    assert sorted(json.loads(ran)["notes"]) == sorted(told)
    printed = " ".join(cli("experiment", "run", "noted.toml").stdout.split())
    assert all(printed.count(f"note: {note}") == 1 for note in told)
    csv = cli("experiment", "run", "noted.toml", "--format", "csv")
    assert "note" not in csv.stdout and all(f"note: {note}" in csv.stderr for note in told)


def test_classes_that_are_compared_are_noted_where_their_queues_have_other_buffers() -> None:
    services = ex.Axis("vc.*.class", ["ubr", "gfr"], name="service")

    def noted(*axes: ex.Axis) -> list[str]:
        experiment = ex.Experiment(name="sizes", base=BASE, axes=[services, *axes], metrics=["efficiency"])
        return [note for note in experiment.notes if "unlike size" in note]

    own, sizes = "switch.west.{}.buffer", ["1000 cells", "2000 cells"]
    (note,) = noted(ex.Axis(own.format("ubr"), sizes))
    assert note.endswith("at west->east ubr has 1000 cells and 2000 cells and gfr has no limit")
    assert noted(ex.Axis([own.format("ubr"), own.format("gfr")], sizes)) == []


def test_metrics_of_the_whole_run_are_noted_where_the_measuring_time_is_not() -> None:
    goodput = {"goodput": "totals.goodput_mbps"}
    lossy = {"loss": "totals.cell_loss_ratio", "queue": "port.west->east.max_queue_cells", **goodput}

    def noted(base: Scenario, path: str, metrics: Mapping[str, str]) -> list[str]:
        axis = ex.Axis(path, ["10 ms", "20 ms"])
        experiment = ex.Experiment(name="measured", base=base, axes=[axis], metrics=metrics)
        return [note for note in experiment.notes if "whole run" in note]

    applies = "measure.warm_up and measure.window apply to goodputs, delays, and what ports have as measured_cell_loss_ratio and the like"
    told = [f"loss and queue are of the whole run: {applies}"]
    assert noted(BASE, "measure.window", lossy) == told
    assert noted(BASE.with_values({"measure.warm_up": "10 ms"}), "ensemble.start_jitter", lossy) == told
    assert noted(BASE, "ensemble.start_jitter", lossy) == []
    assert noted(BASE, "measure.window", goodput) == []


def test_a_note_of_all_points_has_no_values_and_one_of_some_has_their_number() -> None:
    late = ex.Experiment.from_toml(NOTED.replace('"0 s", ', ""))
    assert TOO_LATE in late.notes
    crossed = NOTED.replace("vc.class", "duration").replace('"ubr", "abr"', '"100 ms", "200 ms"')
    assert ex.Experiment.from_toml(crossed).notes == [
        f"{TOO_LATE} (at 3 of 6 points, as service = 100 ms, start = 100 ms)"
    ]


class Noting:
    """Stands in for a scenario, and returns given notes."""

    canonical = Scenario.from_toml((ROOT / "examples/lan-5.toml").read_text()).canonical

    def __init__(self, point: Point) -> None:
        self.point = point

    def notes(self) -> list[str]:
        """Return one note of a class, and one for each point."""
        own = f"starts at {self.point.values['start']}"
        return ["abr is odd", own] if self.point.values["service"] == "abr" else [own]

    def describe(self) -> dict[str, Any]:
        """Return a description without ports."""
        return {"ports": []}


def test_notes_of_a_large_grid_are_those_of_a_sample_and_not_more_than_a_few() -> None:
    axes = [ex.Axis("vc.start", [f"{i} us" for i in range(300)]), ex.Axis("vc.class", ["ubr", "abr"], name="service")]
    experiment = ex.Experiment(name="large", base=BASE, axes=axes, metrics=["efficiency"])
    made = []

    def scenario(point: Point) -> Any:
        made.append(point)
        return Noting(point)

    found = notes.notes(experiment.plan, experiment.question, scenario)
    assert 200 <= len(set(made)) == len(made) <= 2 * 100 + 4 + 50  # of 600
    assert len(found) == notes.MOST_TOLD + 1
    assert "abr is odd (at service = abr)" in found
    assert "other notes of as many points or fewer" in found[-1]


def test_a_table_without_a_kind_is_shown_with_the_names_of_its_fields() -> None:
    axis = ex.Axis("vc.abr", ["default", {"rif": 1}, {"rif": 0.5, "tbe": "512 cells"}, {"mcr": "500 kbps"}])
    assert [one.label for one in axis.levels] == ["default", "rif=1", "rif=0.5 tbe=512 cells", "mcr=500 kbps"]
    assert axis.levels[1].number is None


def test_every_field_that_says_which_component_a_table_is_is_known_to_axes() -> None:
    kinds = (getattr(components, name) for name in dir(components))
    assert {tag for kind in kinds for tag in getattr(kind, "TAG", {})} == set(TAGS)


def test_variants_have_the_names_that_labels_give_them_in_tables_legends_and_conditions() -> None:
    policies = [{"policy": "fba", "r": 0.9, "z": 0.8}, {"policy": "fba", "r": 0.5, "z": 0.2}, "epd"]
    names = ["FBA", "FBA, strict", "EPD"]
    experiment = ex.Experiment(
        name="named",
        base=BASE,
        axes=[
            ex.Axis("switch.west.ubr.drop", policies, name="variant", together="all", labels=names),
            ex.Axis("switch.west.ubr.buffer", ["1000 cells", "2000 cells", "1000 cells"], together="all"),
        ],
        metrics=["efficiency"],
        question=ex.Compare("variant", ["efficiency"], against="EPD"),
        constraints=["variant != 'FBA'"],
        replications=5,
    )
    assert "r = 0.5" in experiment.plan.points()[0].levels[0][1].text
    outcome = experiment.run(runner=by(lambda at, i: {"efficiency": drawn(at["variant"], i).random()}))
    assert [(point["variant"], point["buffer_cells"]) for point in outcome.points()] == [
        ("FBA, strict", 2000),
        ("EPD", 1000),
    ]
    assert "FBA, strict" in outcome.text
    for wrong, told in (
        (names[:2], "has 2 texts, and there are 3 values"),
        ([*names[:2], "FBA"], "cannot name a value"),
    ):
        axis = ex.Axis("switch.west.ubr.drop", policies, labels=wrong)
        with pytest.raises(ExperimentError, match=told):
            ex.Experiment(name="wrong", base=BASE, axes=[axis], metrics=["efficiency"])


def test_points_that_optimise_gave_up_stand_in_a_table_of_their_own() -> None:
    outcome = optimising(goals={"efficiency": "highest"}, trials=40).run(runner=by(hill))
    document = outcome.to_dict()
    given_up, whole = document["given_up"], document["points"]
    assert given_up and all(one["runs"] < 8 for one in given_up)
    assert sorted({one["runs"] for one in whole}) == [8, 16]  # the best point has as many fresh runs
    assert len(given_up) + len(whole) == len(outcome.measured) <= 40
    first = given_up[0]
    expected = sum(hill(first, i)["efficiency"] for i in range(first["runs"])) / first["runs"]
    assert first["efficiency"] == pytest.approx(expected)
    assert (
        "given_up"
        not in optimising(goals={"efficiency": "highest"}, pruner="none", trials=9).run(runner=by(hill)).to_dict()
    )


def test_the_best_point_is_told_by_fresh_replications_and_what_it_no_longer_keeps_to() -> None:
    """Noise adds 1 to the 8 replications that choose, and subtracts 1 from the fresh ones."""

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        noise = drawn(at["r"], at["z"], i).gauss(0, 0.01)
        return {"efficiency": (2.0 if i < 8 else 1.0) + noise, "fairness": 0.9 if i < 8 else 0.1}

    goals, requirement = {"efficiency": "highest"}, ["fairness > 0.5"]
    outcome = optimising(goals=goals, require=requirement, trials=10, pruner="none").run(runner=by(measure))
    (best,) = outcome.to_dict()["best"]
    assert (best["efficiency"], best["fairness"]) == (pytest.approx(1.0, abs=0.02), pytest.approx(0.1))
    assert f": {best['efficiency']:.4g} [" in outcome.text
    assert "In the fresh ones fairness > 0.5 does not hold." in outcome.text


def test_optimise_warns_of_fewer_trials_than_the_first_random_population() -> None:
    few, enough = (optimising(goals={"efficiency": "highest"}, sampler="nsga-ii", trials=n) for n in (50, 51))
    (warning,) = few.notes
    assert warning.startswith("trials = 50: the first 50 trials of nsga-ii are random")
    assert enough.notes == []


def test_a_store_is_asked_for_open_where_its_file_is_named() -> None:
    with pytest.raises(UsageError, match=r"store = 'runs.sqlite': must be an open store, as cellyard.open_store"):
        comparison().run(store="runs.sqlite")  # type: ignore[arg-type]


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
        "efficiency is highest at buffer = 1004 cells: 0.904 [0.902, 0.906] (not separated from 2 others), and" in text
    )
    assert text.endswith("lowest at buffer = 1000 cells: 0.102 [0.1, 0.104].")
