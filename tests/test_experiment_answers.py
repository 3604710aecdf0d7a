"""Answers of experiments: which value is better, how certain that is, and what the intervals omit."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cellyard import components, experiment as ex
from cellyard.commands.texts import of_experiment as text
from cellyard.experiment import examples, notes
from cellyard.experiment.description.axes import TAGS
from cellyard.experiment.description.design import Point
from cellyard.scenario import Scenario
from cellyard.statistics.inference import holm
from cellyard.statistics.student import log_probability_outside
from cellyard.system.errors import ExperimentError
from conftest import ROOT, Cli
from known_answers import BASE, BUFFER, asked, buffers, by, comparison, drawn, made
from scipy import stats  # type: ignore[import-untyped]


def test_compare_takes_the_better_direction_from_the_path_not_the_name() -> None:
    higher = {"goodput_without_loss": "goodput_mbps", "loss_free_efficiency": "efficiency", "fair": "fairness"}
    lower = {
        "goodput_queue": "max(port.*.max_queue_cells)",
        "gone": "sum(port.*.dropped_cells.full)",
        "less": "segments",
        "opposite": "efficiency",
    }
    metrics = {**higher, **lower}
    # The field `better` decides if a kind has no direction, and against it.
    answer = asked(
        lambda at, i: {name: at["buffer"] + drawn(name, at["buffer"], i).gauss(0, 1) for name in metrics},
        buffers(1000, 2000),
        metrics=metrics,
        question=ex.Compare("buffer", list(metrics), better={"less": "lower", "opposite": "lower"}),
        replications=5,
    ).answer
    assert {record["metric"]: record["better"] for record in answer.tables["comparisons"]} == {
        **dict.fromkeys(higher, "2000 cells"),
        **dict.fromkeys(lower, "1000 cells"),
    }


def test_compare_names_the_largest_improvement_with_its_point_and_counts_the_others() -> None:
    """At both points of the other axis, variant k beats 1000 cells by 1000 k.

    The two smallest do so at only one of the points.
    """
    sizes = [1000 + 10 * i for i in range(16)]

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        place = sizes.index(int(at["buffer"]))
        gain = place if place > 2 or at["policy"] == "epd" else 0
        return {"goodput_mbps": 1000 * gain + drawn(at["buffer"], at["policy"], i).gauss(0, 0.01)}

    answer = asked(
        measure,
        buffers(*sizes),
        ex.Axis("switch.west.ubr.drop", ["epd", "fba"], name="policy"),
        metrics=["goodput_mbps"],
        question=ex.Compare("buffer", ["goodput_mbps"], against="1000 cells"),
        replications=5,
    ).answer
    assert answer.sentences[:2] == [
        "goodput_mbps is higher in 28 of 30 comparisons than with 1000 cells; the largest estimated gain is "
        "15000 Mb/s [15000, 15000], with 1150 cells at policy = epd.",
        "In 2 of 30 comparisons, there is no significant difference in goodput_mbps.",
    ]


@pytest.mark.parametrize("freedom", [1, 2, 3, 19, 999])
def test_small_probabilities_agree_with_students_law(freedom: int) -> None:
    for t in (0.0, 0.01, 0.7, 2.0, 5.0, 20.0, 1000.0):
        exact = math.log(2) + float(stats.t.logsf(t, freedom))
        if math.isfinite(exact):  # scipy's logarithm is infinite if the probability underflows
            assert log_probability_outside(t, freedom) == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert log_probability_outside(1e6, 2) == pytest.approx(math.log(1e-12), rel=1e-9)  # 2 / (s (s + t)), s^2 = t^2 + 2
    assert log_probability_outside(math.inf, freedom) == -math.inf


def test_compare_keeps_probabilities_below_machine_precision() -> None:
    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        return {"efficiency": at["buffer"] + drawn(at["buffer"], i).gauss(0, 0.01)}

    answer = comparison(replications=20, variants=2).run(runner=by(measure)).answer
    first, second = ([measure({"buffer": size}, i)["efficiency"] for i in range(20)] for size in (1000, 1001))
    found = answer.tables["comparisons"][0]["p"]
    assert 0 < found < 1e-20
    assert found == pytest.approx(float(stats.ttest_rel(second, first).pvalue), rel=1e-6)


def test_holm_orders_probabilities_that_underflow() -> None:
    results = holm([-900.0, -2000.0, math.log(0.04), -1000.0], 0.95)
    assert [round(1 - result.confidence, 6) for result in results] == [0.025, 0.0125, 0.05, 0.016667]
    assert [result.probability for result in results] == [0.0, 0.0, pytest.approx(0.04), 0.0]


def test_holm_judges_equal_probabilities_alike() -> None:
    for tie in (0.001, 0.02, 0.2):
        results = holm([math.log(p) for p in (tie, 1e-9, tie, 0.9, tie)], 0.95)
        assert len({results[place] for place in (0, 2, 4)}) == 1
        assert round(1 - results[0].confidence, 6) == 0.0125  # the second of five
        assert (results[0].probability < 0.05) == (tie < 0.0125)


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
def test_intervals_of_means_end_at_the_bounds_of_the_metric(metric: str, low: float, high: float) -> None:
    outcome = asked(lambda _, i: {"m": WIDE[i]}, metrics={"m": metric}, replications=3)
    found = outcome.points()[0]["m"]
    assert (found["low"], found["high"]) == (low, pytest.approx(high, abs=1e-4))
    unit = " s" if metric.endswith("_s") else ""
    assert outcome.text.startswith(f"m is 0.4{unit} [{low:.0f}, {high:.4g}].")


def test_intervals_of_differences_are_not_clipped() -> None:
    measure = by(lambda at, i: {"efficiency": WIDE[i if at["buffer"] == 1000 else 2 - i]})
    answer = comparison(replications=3, variants=2).run(runner=measure).answer
    assert answer.tables["comparisons"][0]["difference_high"] > 1


def test_precision_uses_the_full_interval_and_reports_the_clipped_one() -> None:
    values = [0.0] * 20 + [0.1] * 20  # not skewed: mean 0.05, s = 0.05064, half = 2.0227 s / sqrt(40) = 0.0162
    answer = asked(
        lambda _, i: {"cell_loss_ratio": values[i]},
        metrics=["cell_loss_ratio"],
        question=ex.Precision({"cell_loss_ratio": 0.01}, most=40),
        replications=40,
    ).answer
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
DIFFERENT_QUEUES = (
    "service compares queues of different size, since each class has its own buffer: at west->east ubr has 1000 cells "
    "and abr has no limit"
)
TOO_LATE = "no data from vc1 and 4 more: `start` is not before the end of the run; use an earlier `start` or a longer `duration`"


def test_check_and_run_report_each_note_once_with_its_axis_values(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "noted.toml").write_text(NOTED)
    notes = [DIFFERENT_QUEUES, f"{WITHOUT_ABR} (at service = abr)", f"{TOO_LATE} (at start = 100 ms and 200 ms)"]
    checked = cli("experiment", "check", "noted.toml").stdout
    assert sorted(line for line in checked.splitlines() if line.startswith("note: ")) == sorted(
        f"note: {note}" for note in notes
    )
    ran = cli("experiment", "run", "noted.toml", "--format", "json").stdout
    (on_ties,) = [note for note in json.loads(ran)["notes"] if "`tie_order`" in note]
    notes.append(on_ties)
    assert sorted(json.loads(ran)["notes"]) == sorted(notes)
    printed = " ".join(cli("experiment", "run", "noted.toml").stdout.split())
    assert all(printed.count(f"note: {note}") == 1 for note in notes)
    csv = cli("experiment", "run", "noted.toml", "--format", "csv")
    assert "note" not in csv.stdout and all(f"note: {note}" in csv.stderr for note in notes)


def test_whole_run_metrics_are_noted_if_a_measuring_time_is_set() -> None:
    goodput = {"goodput": "totals.goodput_mbps"}
    lossy = {"loss": "totals.cell_loss_ratio", "queue": "port.west->east.max_queue_cells", **goodput}

    def noted(base: Scenario, path: str, metrics: Mapping[str, str]) -> list[str]:
        axis = ex.Axis(path, ["10 ms", "20 ms"])
        experiment = made(axis, base=base, metrics=metrics)
        return [note for note in experiment.notes if "whole run" in note]

    expected = [
        "loss and queue cover the whole run: measure.warm_up and measure.window apply only to goodputs, delays and the "
        "measured_ metrics of ports, such as measured_cell_loss_ratio"
    ]
    assert noted(BASE, "measure.window", lossy) == expected
    assert noted(BASE.with_values({"measure.warm_up": "10 ms"}), "ensemble.start_jitter", lossy) == expected
    assert noted(BASE, "ensemble.start_jitter", lossy) == []
    assert noted(BASE, "measure.window", goodput) == []


def test_a_note_on_all_points_has_no_axis_values() -> None:
    late = ex.Experiment.from_toml(NOTED.replace('"0 s", ', ""))
    assert TOO_LATE in late.notes
    axis = NOTED.replace('set = { duration = "100 ms" }', "").replace("vc.class", "duration")
    crossed = axis.replace('"ubr", "abr"', '"100 ms", "200 ms"')
    assert ex.Experiment.from_toml(crossed).notes == [
        f"{TOO_LATE} (at 3 of 6 points, for example service = 100 ms, start = 100 ms)"
    ]


class Noting:
    """Stands in for a scenario, and returns given notes."""

    canonical = Scenario.from_toml((ROOT / "examples/lan-5.toml").read_text()).canonical

    def __init__(self, point: Point) -> None:
        self.point = point

    def notes(self, *, replicated: bool) -> list[str]:
        """Return one note of a class, and one for each point."""
        assert replicated
        note = f"starts at {self.point.values['start']}"
        return ["abr is odd", note] if self.point.values["service"] == "abr" else [note]

    def describe(self) -> dict[str, Any]:
        """Return a description without ports."""
        return {"ports": []}


def test_values_listed_several_times_are_noted() -> None:
    axes = [
        buffers(500, 1000, 500),
        ex.Axis("duration", ["1 s", "1 s"], together="t"),
        ex.Axis("switch.west.ubr.drop", ["epd", "ppd"], together="t"),
    ]
    experiment = made(*axes)
    assert experiment.expected().points == 4
    assert experiment.notes == ["buffer: `500 cells` is listed 2 times but runs only once"]


def test_a_large_grid_is_sampled_for_a_limited_number_of_notes() -> None:
    axes = [ex.Axis("vc.start", [f"{i} us" for i in range(300)]), ex.Axis("vc.class", ["ubr", "abr"], name="service")]
    experiment = made(*axes)
    seen = []

    def scenario(point: Point) -> Any:
        seen.append(point)
        return Noting(point)

    found = notes.notes(experiment.plan, experiment.question, scenario)
    assert found.pop(0).startswith("start = 3 us, service = ubr gives the same scenario as start = 0 us, ")
    assert 200 <= len(set(seen)) == len(seen) <= 2 * 100 + 4 + 50  # of 600
    assert len(found) == notes.MOST_REPORTED + 1
    assert "abr is odd (at service = abr)" in found
    assert "other notes on equally many points or fewer" in found[-1]


def test_a_table_without_a_kind_is_shown_with_the_names_of_its_fields() -> None:
    axis = ex.Axis("vc.abr", ["default", {"rif": 1}, {"rif": 0.5, "tbe": "512 cells"}, {"mcr": "500 kbps"}])
    assert [level.label for level in axis.levels] == ["default", "rif=1", "rif=0.5 tbe=512 cells", "mcr=500 kbps"]
    assert axis.levels[1].number is None


def test_axes_know_the_tag_field_of_every_component() -> None:
    kinds = (getattr(components, name) for name in dir(components))
    assert {tag for kind in kinds for tag in getattr(kind, "TAG", {})} == set(TAGS)


def test_labels_name_variants_in_tables_and_conditions() -> None:
    policies = [{"policy": "fba", "r": 0.9, "z": 0.8}, {"policy": "fba", "r": 0.5, "z": 0.2}, "epd"]
    names = ["FBA", "FBA, strict", "EPD"]
    experiment = made(
        ex.Axis("switch.west.ubr.drop", policies, name="variant", together="all", labels=names),
        ex.Axis(BUFFER, ["1000 cells", "2000 cells", "1000 cells"], together="all"),
        question=ex.Compare("variant", ["efficiency"], against="EPD"),
        constraints=["variant != 'FBA'"],
        replications=5,
    )
    assert "r = 0.5" in experiment.plan.points()[0].levels[0][1].text
    outcome = experiment.run(runner=by(lambda at, i: {"efficiency": drawn(at["variant"], i).random()}))
    assert [(at["variant"], at["buffer_cells"]) for at in outcome.points()] == [("FBA, strict", 2000), ("EPD", 1000)]
    assert "FBA, strict" in outcome.text
    for wrong, message in ((names[:2], "has 2 labels for 3 values"), ([*names[:2], "FBA"], "is not a valid label")):
        axis = ex.Axis("switch.west.ubr.drop", policies, labels=wrong)
        with pytest.raises(ExperimentError, match=message):
            made(axis)


def test_a_table_counts_points_not_significantly_below_its_extremes() -> None:
    values = {1000: 0.1, 1001: 0.5, 1002: 0.900, 1003: 0.901, 1004: 0.902}
    text, single = (
        asked(lambda at, i: {"efficiency": values[at["buffer"]] + 0.001 * i}, buffers(*values), replications=n).text
        for n in (5, 1)
    )
    highest = "efficiency is highest at buffer = 1004 cells: 0.904 [0.902, 0.906]"
    assert f"{highest}. The value may be as high at 2 other points: the intervals overlap. It is lowest" in text
    assert "lowest at buffer = 1000 cells: 0.102 [0.1, 0.104]." in text
    assert "lowest at buffer = 1000 cells: 0.1 (interval not known)." in single


@pytest.mark.parametrize("question", [ex.Table(), ex.Sensitivity(samples=2)])
@pytest.mark.parametrize("count", [3, 4])
def test_an_answer_says_how_many_metrics_are_only_in_the_table(question: ex.Table | ex.Sensitivity, count: int) -> None:
    metrics = {f"m{k}": "efficiency" for k in range(count)}
    axis = buffers(500, 1000)
    answer = asked(
        lambda at, i: dict.fromkeys(metrics, at["buffer"] + i), axis, metrics=metrics, question=question, replications=5
    ).answer
    assert ("The table has 1 more metric." in answer.sentences) == (count == 4)


@pytest.mark.parametrize("name", ["buffer", "precise", "utilisation", "what-matters"])
@pytest.mark.parametrize("seed", range(3))
def test_an_entry_of_an_answer_is_one_sentence_with_at_most_four_numbers(name: str, seed: int) -> None:
    """A number and its interval count as one."""
    experiment = examples.experiment(name)

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        draws = drawn(seed, *map(str, at.values()), i)
        return {metric: draws.random() if seed else 0.0 for metric in experiment.plan.metrics}

    answer: Any = experiment.run(runner=by(measure)).answer
    assert len(answer.sentences) > 1
    for sentence in answer.sentences:
        assert sentence.endswith(".") and ". " not in sentence, sentence
        assert len(re.findall(r"(?<![\w.])\d[\d.]*", re.sub(r" ± [\d.]+| \[[^]]+]", "", sentence))) <= 4, sentence


def test_the_text_says_how_long_the_runs_are_unless_an_axis_varies_it() -> None:
    axis = buffers(1000, 1001)
    longer = ex.Axis("duration", ["1 s", "2 s"])
    for axes, said in (([axis], "4 runs of 10 s, seed 1"), ([longer], "4 runs, seed 1")):
        outcome = asked(lambda at, i: {"efficiency": 0.5 + 0.1 * i}, *axes, replications=2)
        document = {**outcome.to_dict(), "timing": {"cpu_seconds": 1.0, "wall_seconds": 1.0}}
        assert said in text(document)
