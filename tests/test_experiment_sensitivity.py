"""The question `sensitivity`: known indices, SciPy's estimators, and the wording of answers."""

import math
import re
from collections.abc import Mapping
from typing import Any

import pytest
from cellyard import experiment as ex
from cellyard.system.errors import ExperimentError
from known_answers import BASE, asked, drawn, hill, made


def test_sensitivity_gives_the_known_indices_of_the_ishigami_function() -> None:
    """With a = 7, b = 0.1, first orders are 0.3139, 0.4424, 0 and totals 0.5576, 0.4424, 0.2437.

    Source: Ishigami and Homma, 1990.
    """
    axes = [
        ex.Axis(f"switch.west.ubr.drop.{path}", ex.Range(0.1, 0.9), name=name)
        for path, name in (("r", "x1"), ("z", "x2"))
    ]
    axes.append(ex.Axis("seed", ex.Range(0, 1000, whole=False), name="x3"))
    base = BASE.with_values({"switch.west.ubr.drop": "fba"})
    with pytest.raises(ExperimentError, match=r"axis\[2\]\.range: seed = 381.9: is not a whole number"):
        made(*axes, base=base, question="sensitivity", replications=1)
    axes[2] = ex.Axis("measure.max_goodput", ex.Range("100 Mbps", "200 Mbps"), name="x3")

    def measure(at: Mapping[str, Any], _: int) -> Mapping[str, float]:
        shares = [(at["x1"] - 0.1) / 0.8, (at["x2"] - 0.1) / 0.8, (at["x3"] - 100) / 100]
        a, b, c = (math.pi * (2 * share - 1) for share in shares)
        return {"efficiency": math.sin(a) + 7 * math.sin(b) ** 2 + 0.1 * c**4 * math.sin(a)}

    outcome = asked(measure, *axes, base=base, question=ex.Sensitivity(["efficiency"], samples=2048), replications=1)
    for record, first, total in zip(
        outcome.answer.tables["indices"], (0.3139, 0.4424, 0.0), (0.5576, 0.4424, 0.2437), strict=True
    ):
        assert record["first"] == pytest.approx(first, abs=0.03)
        assert record["total"] == pytest.approx(total, abs=0.03)
        assert record["first_low"] - 0.02 <= first <= record["first_high"] + 0.02
        assert record["total_low"] - 0.02 <= total <= record["total_high"] + 0.02
    assert outcome.text.startswith("x1 has the largest influence on efficiency: its total index, the share of ")


def test_an_axis_without_influence_has_no_interval_in_text_and_figure() -> None:
    from cellyard.experiment.answer_figures import indices
    from cellyard.experiment.questions.sensitivity import _sentences

    ends = {"first": 0.9, "first_low": 0.8, "first_high": 1.0, "total": 0.9, "total_low": 0.8, "total_high": 1.0}
    none = {"first": 0.0, "first_low": None, "first_high": None, "total": 0.0, "total_low": None, "total_high": None}
    records: list[dict[str, Any]] = [{"metric": "m", "axis": "buffer", **ends}, {"metric": "m", "axis": "idle", **none}]
    influence, _ = _sentences("m", records)
    assert influence.startswith("buffer has the largest influence on m:") and "overlap" not in influence
    (drawn,) = indices({"indices": records})
    assert len(drawn.figure.axes) == 1
    assert _sentences("m", [{"metric": "m", "axis": "idle", **none}]) == ["m does not vary, so no axis influences it."]


@pytest.mark.parametrize("metrics", [["efficiency"], ["efficiency", "fairness"]])
def test_a_single_axis_decides_everything(metrics: list[str]) -> None:
    outcome = asked(
        lambda at, _: {"efficiency": at["r"], "fairness": 0.5},
        ex.Axis("switch.west.ubr.drop.r", ex.Range(0.1, 0.9)),
        base=BASE.with_values({"switch.west.ubr.drop": "fba"}),
        metrics=metrics,
        question=ex.Sensitivity(metrics, samples=256),
        replications=1,
    )
    first, *others = outcome.answer.tables["indices"]
    assert first["first"] == pytest.approx(1, abs=0.05) and first["total"] == pytest.approx(1, abs=0.05)
    assert first["total_low"] < first["total"] < first["total_high"]
    assert [record["total"] for record in others] == [0.0] * (len(metrics) - 1)
    assert outcome.text.startswith("r has the largest influence on efficiency: its total index, the share of ")


def index(axis: str, total: float, low: float, high: float) -> dict[str, Any]:
    first = {"first": 0.1, "first_low": 0.0, "first_high": 0.2}
    return {"metric": "m", "axis": axis, **first, "total": total, "total_low": low, "total_high": high}


def test_sensitivity_names_no_first_axis_if_intervals_overlap() -> None:
    from cellyard.experiment.questions.sensitivity import _sentences

    first, second, wide = index("a", 0.9, 0.8, 1.0), index("b", 0.4, 0.3, 0.5), index("c", 0.2, 0.0, 0.85)
    assert _sentences("m", [second, first]) == [
        "a has the largest influence on m: its total index, the share of the variance of m in which it takes part, "
        "is 0.9 [0.8, 1].",
        "Its first-order index, the share that a explains alone, is not distinguished from 0.",
    ]
    shown = _sentences("m", [second, first | {"first_low": 0.01}])[1]
    assert shown == "Its first-order index, the share that a explains alone, is 0.1 [0.01, 0.2]."
    assert _sentences("m", [second, first, wide])[:2] == [
        "No axis has clearly the largest influence on m: the intervals of a and c overlap.",
        "a has the highest estimate: its total index, the share of the variance of m in which it takes part, is 0.9 [0.8, 1].",
    ]


def test_sensitivity_does_not_say_what_an_axis_explains_alone_if_an_index_is_impossible() -> None:
    from cellyard.experiment.questions.sensitivity import _sentences

    first, second = index("a", 0.9, 0.8, 1.0), index("b", 0.4, 0.3, 0.5)
    refused = "The samples are too few to say what a explains alone."
    for value, is_refused in ((-0.11, True), (-0.1, False), (1.1, False), (1.11, True)):
        assert (_sentences("m", [first, second | {"first": value}])[-1] == refused) == is_refused


def test_sensitivity_gives_the_part_of_the_replications_from_ten_percent_of_the_variance_on() -> None:
    from cellyard.experiment.questions.sensitivity import _noise, _noise_sentence

    assert _noise([{"m": 1.0}, {"m": 3.0}], "m") == 1  # a sample variance of 2, over two replications
    assert math.isnan(_noise([{"m": 1.0}], "m"))
    means = [0.0, 2.0]  # a variance of 1
    assert [_noise_sentence("m", [part, part], means) for part in (0.09, math.nan)] == [[], []]
    assert _noise_sentence("m", [0.25], [1.0, 1.0]) == []
    for noise, share in (([0.1, 0.4], 25), ([2.0], 100)):
        assert _noise_sentence("m", noise, means) == [
            f"Up to {share} % of the variance of the mean m of a point is noise between its replications, which can raise every "
            "total index; more `replications` reduce it."
        ]


def test_sensitivity_reports_impossible_indices_and_the_samples_needed() -> None:
    axes = [
        ex.Axis("switch.west.ubr.drop.r", ex.Range(0.1, 0.9)),
        ex.Axis("switch.west.ubr.drop.z", ex.Range(0.1, 0.9)),
    ]
    few = asked(
        lambda at, _: {"efficiency": at["r"] + drawn(at["r"], at["z"]).gauss(0, 0.5)},
        *axes,
        base=BASE.with_values({"switch.west.ubr.drop": "fba"}),
        question=ex.Sensitivity(["efficiency"], samples=16),
        replications=3,
    )
    indices = {
        (order, record["axis"]): record for record in few.answer.tables["indices"] for order in ("first", "total")
    }
    outside = {key: record for key, record in indices.items() if not 0 <= record[key[0]] <= 1}
    assert outside  # random draws are fixed, and noise depends on both axes
    count = (
        "1 index is estimated outside its"
        if len(outside) == 1
        else f"{len(outside)} indices are estimated outside their"
    )
    assert f"{count} possible range, 0 to 1." in few.answer.sentences
    half = max((record[f"{order}_high"] - record[f"{order}_low"]) / 2 for (order, _), record in outside.items())
    (samples, runs) = map(int, re.findall(r"With about (\d+) `samples` instead of 16 \((\d+) runs\)", few.text)[0])
    assert runs == 12 * samples
    assert half * math.sqrt(16 / samples) <= 0.1 < half * math.sqrt(2 * 16 / samples)


@pytest.mark.filterwarnings("error")
def test_sensitivity_is_reproducible_and_agrees_with_scipy() -> None:
    import numpy as np
    from cellyard.experiment.questions.sensitivity import saltelli
    from scipy import stats  # type: ignore[import-untyped]

    first, again = (
        asked(
            hill,
            *[ex.Axis(f"switch.west.ubr.drop.{name}", ex.Range(0.1, 0.9)) for name in "rz"],
            base=BASE.with_values({"switch.west.ubr.drop": "fba"}),
            metrics=["efficiency", "fairness"],
            question=ex.Sensitivity(["efficiency", "fairness"], samples=32),
            replications=2,
        ).answer
        for _ in range(2)
    )
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
