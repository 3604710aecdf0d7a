"""Figures of experiments."""

from __future__ import annotations

from typing import Any

import pytest
from cellyard import experiment as ex
from known_answers import BASE, by


def test_lines_of_many_metrics_use_several_rows() -> None:
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


def test_a_figure_of_too_many_differences_says_how_many_it_shows() -> None:
    pytest.importorskip("matplotlib")
    from cellyard.experiment.figures import _differences

    def drawn(number: int) -> Any:
        record = {
            "metric": "efficiency",
            "difference": 0.1,
            "difference_low": 0.0,
            "difference_high": 0.2,
            "better": "not separated",
        }
        return _differences([{**record, "variant": f"v{i}", "against": "base"} for i in range(number)])

    few, many = drawn(60), drawn(61)
    assert "first" not in few.text and many.text.endswith("The first 60 of 61; comparisons.csv has all.")
    assert [len(drawn.figure.axes[0].get_yticks()) for drawn in (few, many)] == [60, 60]


def test_the_best_points_of_three_goals_are_not_joined_by_a_line() -> None:
    pytest.importorskip("matplotlib")
    from cellyard.experiment.figures import _front

    def drawn(*goals: str) -> Any:
        best = [dict.fromkeys(goals, float(i)) for i in range(3)]
        points = [{goal: {"mean": value} for goal, value in values.items()} for values in best]
        return _front({"question": {"goals": dict.fromkeys(goals, "highest")}, "points": points, "best": best}).figure

    two, three = drawn("efficiency", "fairness"), drawn("efficiency", "fairness", "goodput_mbps")
    assert [figure.axes[0].lines[1].get_linestyle() for figure in (two, three)] == ["-", "None"]
    assert len(two.axes) == 1 and three.axes[1].get_ylabel() == "goodput [Mb/s]"
