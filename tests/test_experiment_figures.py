"""Figures of experiments."""

import itertools
from typing import Any

import numpy as np
from cellyard.experiment.answer_figures import differences
from cellyard.experiment.figures import figures
from cellyard.statistics.inference import share_interval
from known_answers import asked, buffers

NUMBERS = {"difference": 0.1, "difference_low": 0.0, "difference_high": 0.2, "better": "not significant"}


def test_lines_of_many_metrics_use_several_rows() -> None:

    names = ["efficiency", "fairness", "goodput_mbps", "timeouts", "segments"]
    (drawn_,) = figures(
        asked(lambda at, i: dict.fromkeys(names, 0.5), buffers(500, 600), metrics=names, replications=2).to_dict()
    )
    shown = [axes for axes in drawn_.figure.axes if axes.get_visible()]
    assert [axes.get_ylabel() for axes in shown] == ["efficiency", "fairness", "goodput [Mb/s]", "timeouts", "segments"]
    assert drawn_.figure.get_size_inches()[0] < 11 and len({round(axes.get_position().y0, 3) for axes in shown}) == 2


def test_figures_are_logarithmic_only_where_values_are_spread_by_ratio() -> None:

    for values, scale in (
        ([1000, 12000, 13000, 13500, 16000, 20000, 700], "linear"),
        ([256, 512, 1000, 2000, 8000], "log"),
    ):
        drop = {"switch.west.ubr.drop": "tail-drop"}
        outcome = asked(lambda at, i: {"efficiency": 0.5}, buffers(*values), set=drop, replications=2)
        axes = figures(outcome.to_dict())[0].figure.axes[0]
        assert axes.get_xscale() == scale
        if scale == "log":
            assert [label.get_text() for label in axes.get_xticklabels()] == [str(value) for value in values]


def test_a_figure_of_too_many_differences_says_how_many_it_shows() -> None:

    def drawn(number: int) -> Any:
        record = {"metric": "efficiency", "against": "base", **NUMBERS}
        (one,) = differences({"comparisons": [{**record, "variant": f"v{i}"} for i in range(number)]})
        return one

    few, many = drawn(60), drawn(61)
    assert "first" not in few.text and many.text.endswith("The first 60 of 61; comparisons.csv has all.")
    assert [len(drawn.figure.axes[0].get_yticks()) for drawn in (few, many)] == [60, 60]


LONG = ["tail-drop", "atm-red min_th=200 cells max_th=1000 cells", "frame-drop-from-front threshold=0.9 rest=drop"]


def document_of(metrics: list[str], **axes: list[Any]) -> dict[str, Any]:
    """Return a document of points at all values of the axes, with invented metrics."""
    numbers = {"mean": 0.5, "low": 0.4, "high": 0.6, "p5": 0.4, "p95": 0.6, "min": 0.3, "max": 0.7}
    places = itertools.product(*axes.values())
    points = [{**dict(zip(axes, at, strict=True)), "runs": 20, **dict.fromkeys(metrics, numbers)} for at in places]
    return {"question": {"kind": "table"}, "axes": list(axes), "metrics": metrics, "points": points}


def test_words_are_listed_downwards_without_lines_and_take_little_width() -> None:

    document = document_of(["near", "efficiency"], policy=LONG) | {"paths": {"near": "vc.near.goodput_mbps"}}
    (drawn,) = figures(document)
    figure: Any = drawn.figure
    figure.draw_without_rendering()
    near, efficiency = figure.axes
    assert (near.get_xlabel(), efficiency.get_xlabel()) == ("near [Mb/s]", "efficiency")
    assert [text.get_text().replace("\n", " ") for text in near.get_yticklabels()] == LONG
    assert near.containers[0].lines[0].get_linestyle() == "None"
    assert sum(axes.bbox.width for axes in figure.axes) > 0.55 * figure.bbox.width


def test_differences_of_long_values_leave_room_for_the_intervals() -> None:

    records = [{"metric": "near", "variant": name, "against": LONG[1], **NUMBERS} for name in LONG]
    (drawn,) = differences({"comparisons": records, "paths": {"near": "vc.near.goodput_mbps"}})
    figure: Any = drawn.figure
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert axes.get_xlabel() == "difference of near [Mb/s]"
    assert axes.bbox.width > 0.45 * figure.bbox.width


def test_no_figure_has_more_than_nine_panels() -> None:

    many = [f"m{number}" for number in range(11)]
    for document, counts in (
        (document_of(many, z=[0.2, 0.5, 0.8]), {"lines": 9, "lines-2": 2}),
        (document_of(many, policy=LONG), {"lines": 9, "lines-2": 2}),
        (document_of(many, z=[0.2, 0.5, 0.8], r=[1, 2]), {"map": 9, "map-2": 2}),
        (document_of(["m"], z=[1, 2], r=[1, 2], n=list(range(11))), {"maps-m": 9, "maps-m-2": 2}),
        (document_of(["m"], **{name: [1, 2] for name in "abcdefghij"}), {"dots": 9, "dots-2": 1}),
    ):
        shown = {one.name: sum(axes.get_visible() for axes in one.figure.axes) for one in figures(document)}
        assert shown == counts


def test_words_beside_numbers_have_a_line_each_and_maps_share_a_scale() -> None:
    document = document_of(["m"], buffer_cells=[1, 2, 3], drop=["epd", "fba"])
    for place, point in enumerate(document["points"]):
        point["m"] = {**point["m"], "mean": place / 10}
    figure: Any = figures(document)[0].figure
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["epd", "fba"]
    lines = [group.lines[0] for group in figure.axes[0].containers]
    assert [line.get_ydata().tolist() for line in lines] == [[0, 0.2, 0.4], [0.1, 0.3, 0.5]]
    assert {line.get_linestyle() for line in lines} == {"-"}

    document = document_of(["m"], mss_bytes=[512, 1460], drop=["epd", "fba"], z=[0.5, 0.8])
    for place, point in enumerate(document["points"]):
        point["m"] = {**point["m"], "mean": place / 10}
    panels: Any = figures(document)[0].figure.axes
    assert [axes.get_title() for axes in panels] == ["m, z = 0.5", "m, z = 0.8"]
    assert [axes.images[0].get_array().tolist() for axes in panels] == [
        [[0, 0.2], [0.4, 0.6]],
        [[0.1, 0.3], [0.5, 0.7]],
    ]
    assert panels[0].images[0].get_clim() == panels[1].images[0].get_clim() == (0, 0.7)
    assert len(panels[0].texts) == 4


def test_an_axis_that_is_a_range_by_ratio_is_logarithmic_for_any_values() -> None:
    document = document_of(["efficiency"], buffer_cells=[100, 200, 400], drop=["tail-drop", "epd"])
    for log, scale in (([], "linear"), (["buffer"], "log")):
        (drawn,) = figures(document, log=log)
        assert drawn.figure.axes[0].get_xscale() == scale


def test_the_requirement_of_a_search_is_drawn_and_an_axis_over_decades_is_logarithmic() -> None:
    document = document_of(["p99_s", "efficiency"], buffer_cells=[100, 200, 400])
    document |= {"question": {"kind": "find", "axis": "buffer", "require": ["p99_s < 20 ms and 0.9 <= efficiency"]}}
    for point, mean, met in zip(document["points"], (7.0, 0.05, 0.014), (0, 7, 20), strict=True):
        point["p99_s"] = {**point["p99_s"], "mean": mean, "low": mean / 2, "high": mean * 2}
        point |= {"met": met, "share": met / 20}
    (drawn,) = figures(document)
    share, p99, efficiency = drawn.figure.axes
    assert share.get_ylabel() == "share of runs that meet the requirement"
    assert [np.asarray(line.get_ydata()).tolist() for line in share.lines[:1]] == [[0, 0.35, 1]]
    ends = np.asarray(share.collections[0].get_paths()[0].vertices)[:, 1]
    assert (ends.min(), ends.max()) == (share_interval(0, 20, 0.95)[0], share_interval(20, 20, 0.95)[1])
    assert (p99.get_yscale(), efficiency.get_yscale()) == ("log", "linear")
    for axes, limit in ((share, 0.95), (p99, 0.02), (efficiency, 0.9)):
        (line,) = [line for line in axes.lines if line.get_linestyle() == ":"]
        low, high = axes.get_ylim()
        assert np.asarray(line.get_ydata()).tolist() == [limit] * 2 and low < limit < high
    assert drawn.note == "20 runs per point; means, with 95 % confidence intervals; dotted: the requirement"


def test_the_requirement_of_a_search_is_drawn_with_a_line_for_each_value_of_a_second_axis_and_captioned() -> None:
    document = document_of(["efficiency"], buffer_cells=[100, 200, 400], drop=["epd", "fba"])
    for point in document["points"]:
        point |= {"met": 10, "share": 0.5}
    (plain,) = figures(document)
    document |= {"question": {"kind": "find", "axis": "buffer", "share": 0.9, "require": ["efficiency >= 0.9"]}}
    (drawn,) = figures(document)
    for axes, of_plain in zip(drawn.figure.axes[1:], plain.figure.axes, strict=True):
        assert len(axes.lines) == len(of_plain.lines) + 1
    for axes in drawn.figure.axes:
        (line,) = [line for line in axes.lines if line.get_linestyle() == ":"]
        assert np.asarray(line.get_ydata()).tolist() == [0.9] * 2
    assert drawn.text.endswith(" Dotted: the requirement.") and drawn.note.endswith("; dotted: the requirement")
    assert "otted" not in plain.text + plain.note


def test_many_differences_have_a_panel_for_each_group_on_one_scale_and_their_sentence_as_title() -> None:
    pairs = [("epd", "tail-drop"), ("fba", "tail-drop"), ("fba", "epd")]
    records = [
        {"buffer": buffer, "metric": metric, "variant": one, "against": other, **NUMBERS}
        for metric in ("efficiency", "fairness")
        for buffer in ("250 cells", "500 cells", "1000 cells")
        for one, other in pairs
    ]
    document = {"comparisons": records, "answer": ["In efficiency, a.", "In fairness, b."]}
    efficiency, fairness = differences(document)
    assert [one.name for one in (efficiency, fairness)] == ["differences", "differences-fairness"]
    assert [one.message for one in (efficiency, fairness)] == document["answer"]
    panels: Any = efficiency.figure.axes
    assert [axes.get_title() for axes in panels] == ["buffer 250 cells", "buffer 500 cells", "buffer 1000 cells"]
    assert [text.get_text() for text in panels[0].get_yticklabels()] == [f"{one} - {other}" for one, other in pairs]
    assert len({axes.get_xlim() for axes in panels}) == 1
    assert len(differences(document | {"comparisons": records[:6]})) == 1
