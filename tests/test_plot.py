"""Figures match their data: each axis has its quantity, each line its series."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, cast

import cellyard as cy
import numpy as np
import pytest
from cellyard import plot
from cellyard.cli import options
from cellyard.plot import rows as plot_rows
from cellyard.plot.notes import tcps
from cellyard.plot.table_map import table_map
from cellyard.results import Series
from cellyard.study import Row, Rows, load, studies
from conftest import ROOT

STUDIES = sorted(studies())


@pytest.fixture(autouse=True)
def style() -> Iterator[None]:
    with plot.style():
        yield


def row(policy: str, published: float | None, efficiency: float, fairness: float, **more: Any) -> Row:
    return Row(
        "t",
        {"drop_policy": policy, **more},
        {"efficiency": published},
        simulated={"efficiency": efficiency, "fairness": fairness},
        ranges={"efficiency": (efficiency - 0.05, efficiency + 0.1)},
    )


ROWS = Rows(
    [
        row("epd", 0.3, 0.41, 0.92),
        row("epd", 0.5, 0.64, 0.83),
        row("fba", 0.7, 0.85, 0.99),
        row("fba", None, 0.15, 0.25),
        replace(row("fba", 0.2, 0.95, 0.35), doubtful=frozenset(["efficiency"])),
    ]
)


def labels(axes: Any) -> tuple[str, str]:
    return axes.get_xlabel(), axes.get_ylabel()


def test_published_values_are_on_x_and_simulated_ones_with_their_ranges_on_y() -> None:
    axes: Any = plot.panels(1)[1][0]
    plot_rows.against_diagonal(axes, ROWS, "efficiency", group="drop_policy", groups=["epd", "fba"])
    assert labels(axes) == ("published efficiency", "simulated efficiency")
    epd, fba = axes.containers
    assert [group.get_label() for group in (epd, fba)] == ["EPD", "FBA"]
    points = [group.lines[0].get_xydata() for group in (epd, fba)]
    assert points[0].tolist() == [[0.3, 0.41], [0.5, 0.64]]
    assert points[1].tolist() == [[0.7, 0.85]]  # unpublished and doubtful values are left out
    (bars,) = epd.lines[2]
    assert np.allclose(bars.get_segments(), [[(0.3, 0.36), (0.3, 0.51)], [(0.5, 0.59), (0.5, 0.74)]])
    diagonal = axes.lines[-1].get_xydata()
    assert (diagonal[:, 0] == diagonal[:, 1]).all()
    assert axes.get_xlim() == axes.get_ylim() and axes.get_ylim()[0] == 0 and axes.get_ylim()[1] > 0.95


def cube() -> Rows:
    """Return points for two policies, two buffers and two numbers of sources, simulated and published."""
    found = []
    for n, policy in enumerate(("fba", "epd")):
        for k, buffer in enumerate((2000, 1000)):
            for m, sources in enumerate((5, 15)):
                value = 0.1 + 0.4 * n + 0.2 * k + 0.1 * m
                found.append(row(policy, value + 0.01, value, 1 - value, buffer_cells=buffer, sources=sources))
    return Rows(found)


def test_a_grid_has_a_panel_for_each_metric_and_column_with_a_line_per_group_over_x_in_order() -> None:
    figure: Any = plot_rows.grid(
        cube(), ("efficiency", "fairness"), x="buffer_cells", group="drop_policy", columns=["sources"]
    )
    assert [axes.get_title() for axes in figure.axes] == ["N = 5", "N = 15", "", ""]
    assert [axes.get_ylabel() for axes in figure.axes] == ["efficiency", "", "Jain's fairness", ""]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "buffer K [cells]", "buffer K [cells]"]
    for place, axes in enumerate(figure.axes):
        more = 0.1 * (place % 2)
        fba, epd = axes.containers
        for group, base in ((fba, 0.1), (epd, 0.5)):
            x, y = group.lines[0].get_xydata().T
            expected = np.array([base + 0.2, base]) + more  # 1000 cells, then 2000
            assert np.allclose(y, expected if place < 2 else 1 - expected)
            assert np.allclose(x, [1000, 2000], atol=plot.MOST_SHIFT * np.ptp(axes.get_xlim()))
            assert group.lines[0].get_linestyle() == "-"
        assert fba.lines[0].get_xdata()[0] < epd.lines[0].get_xdata()[0]
    assert [tick.get_text() for tick in figure.axes[-1].get_xticklabels()] == ["1000", "2000"]
    first = figure.axes[0]
    hollow = [line for line in first.lines if line.get_label().endswith(", published")]
    assert [line.get_markerfacecolor() for line in hollow] == ["none", "none"]
    for line, group in zip(hollow, first.containers, strict=True):
        assert np.allclose(line.get_xydata(), group.lines[0].get_xydata() + np.array([0, 0.01]))
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["FBA", "EPD", "simulated", "published"]


def test_panels_share_a_scale_that_holds_ranges_and_published_values_unless_they_are_apart() -> None:
    shared: Any = plot_rows.grid(cube(), ["efficiency"], x="buffer_cells", group="drop_policy", columns=["sources"])
    apart: Any = plot_rows.grid(
        cube(), ["efficiency"], x="buffer_cells", group="drop_policy", columns=["sources"], apart=["sources"]
    )
    low, high = shared.axes[0].get_ylim()
    assert shared.axes[1].get_ylim() == (low, high) and low < 0.05 and high > 0.9
    assert apart.axes[0].get_ylim() != apart.axes[1].get_ylim()


def test_means_by_factor_are_drawn_with_each_row_and_how_far_they_are_apart() -> None:
    axes: Any = plot.panels(1)[1][0]
    spread = plot_rows.by_factor(axes, cube(), "efficiency", "drop_policy")
    assert spread == pytest.approx(0.4)
    simulated, published = axes.containers
    assert [one.get_label() for one in (simulated, published)] == ["simulated", "published"]
    assert np.allclose(simulated.lines[0].get_ydata(), [0.25, 0.65])
    assert np.allclose(published.lines[0].get_ydata(), [0.26, 0.66])
    dashes = [sorted(line.get_ydata()) for line in axes.lines if line.get_marker() == "_"]
    assert np.allclose(dashes[:2], [[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]])
    assert simulated.lines[0].get_linestyle() == "None"  # policies have no order


def test_markers_stand_above_the_grid_lines() -> None:
    axes: Any = plot.panels(1)[1][0]
    assert axes.get_axisbelow() is True


def recorded(what: str, of: str, time: list[float], value: list[float], **more: Any) -> Series:
    whose = {"service_class": None, "vc": None, "unit": "u", **more}
    return Series(what=what, of=of, time_s=np.array(time), value=np.array(value), **whose)


def test_an_envelope_is_a_line_of_means_in_a_band() -> None:
    values = {"min": [0.0, 1, 2], "mean": [1.0, 2, 3], "max": [5.0, 4, 3]}
    parts = [recorded("queue", "a->b", [1, 2, 2.5], value, statistic=name) for name, value in values.items()]
    (axes,) = cast(Any, plot.over_time(parts)).axes
    (line,), (band,) = axes.lines, axes.collections
    assert line.get_drawstyle() == "steps-pre" and line.get_label() == "a->b"
    assert line.get_xdata().tolist() == [0, 1, 2, 2.5] and line.get_ydata().tolist() == [1, 1, 2, 3]
    corners = band.get_paths()[0].vertices.tolist()
    assert all(corner in corners for corner in ([0, 0], [1, 5], [2, 4], [2.5, 2]))
    (axes,) = cast(Any, plot.over_time(parts[1:])).axes
    assert [line.get_label() for line in axes.lines] == ["a->b mean", "a->b max"] and not axes.collections


def test_a_vc_has_one_colour_in_all_panels_and_more_vcs_than_colours_differ_by_their_lines() -> None:
    names = [f"vc{n}" for n in range(1, 10)]
    series = [recorded("queue", "a->b", [0, 1], [1, 2])]
    series += [recorded("cwnd", name, [0, 1], [1, 2]) for name in names]
    series += [recorded("goodput", name, [1, 2], [1, 2]) for name in reversed(names)]
    series += [recorded("queue", "a->b", [0, 1], [1, 2], vc="vc3")]
    figure: Any = plot.over_time(series)
    looks = [
        {line.get_label(): (line.get_color(), line.get_linestyle()) for line in axes.lines} for axes in figure.axes
    ]
    queue, cwnd, goodput = looks
    assert cwnd == goodput and len(set(cwnd.values())) == 9
    assert queue["a->b vc3"] == cwnd["vc3"] and queue["a->b"] == (plot.COLOURS[0], "-")


def test_no_two_lines_of_a_panel_look_alike_and_a_port_is_no_vc() -> None:
    ports = ("a->b", "b->c", "c->d")
    series = [recorded("queue", port, [0, 1], [1, 2], vc=vc) for vc in (None, "v1", "v2") for port in ports]
    (axes,) = cast(Any, plot.over_time(series)).axes
    looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
    assert len(set(looks)) == len(series)
    assert [colour for colour, _ in looks] == [*plot.COLOURS[:3], *3 * [plot.COLOURS[3]], *3 * [plot.COLOURS[4]]]
    # Counted separately, if no panel shows both.
    alone = cast(Any, plot.over_time([*series[:3], recorded("cwnd", "v1", [0, 1], [1, 2])])).axes
    assert [line.get_color() for axes in alone for line in axes.lines] == [*plot.COLOURS[:3], plot.COLOURS[0]]


@pytest.mark.filterwarnings("error")
def test_ticks_have_all_their_digits_and_what_is_always_zero_is_drawn_from_zero() -> None:
    figure: Any = plot.over_time(
        [
            recorded("sequence", "vc", [0, 1], [1_000_000, 3_000_000]),
            recorded("queue", "a->b", [0, 1], [0, 0]),
            recorded("drops", "a->b", [], []),
        ]
    )
    figure.draw_without_rendering()
    sequence, *others = figure.axes
    ticks = [tick.get_text() for tick in sequence.get_yticklabels()]
    assert "3000000" in ticks and not any("e+" in tick for tick in ticks)
    assert [axes.get_ylim() for axes in others] == [(-0.05, 1.05)] * 2
    (left, right), nothing = plot.panels(2)[1], plot.panels(1)[1]
    left.plot([0, 1], [0, 0])
    right.plot([0, 1], [0, 0])
    for panels in ([left, right], nothing):
        plot.value_axis(panels)
        assert {axes.get_ylim() for axes in panels} == {(-0.05, 1.05)}


def test_sums_begin_with_their_first_interval_and_states_hold_until_the_end() -> None:
    series = [
        recorded("goodput", "vc", [0.3, 0.4], [5, 6]),
        recorded("drops", "a->b", [0.1], [5]),
        recorded("cwnd", "vc", [0.0, 0.2], [1, 2]),
    ]
    figure: Any = plot.over_time(series)
    # Means are drawn at the end of their interval, states from their start.
    assert [axes.lines[0].get_drawstyle() for axes in figure.axes] == ["steps-pre", "steps-pre", "steps-post"]
    assert [axes.get_ylabel().partition("\n")[0] for axes in figure.axes] == ["goodput [u]", "drops [u]", "cwnd [u]"]
    drawn: list[Any] = [axes.lines[0].get_xydata() for axes in figure.axes]
    assert np.allclose(drawn[0], [[0.2, 5.0], [0.3, 5.0], [0.4, 6.0]])
    assert np.allclose(drawn[1], [[0.0, 5.0], [0.1, 5.0]])
    assert np.allclose(drawn[2], [[0.0, 1.0], [0.2, 2.0], [0.4, 2.0]])


def test_segments_that_were_sent_again_or_lost_are_marked() -> None:
    run = cy.Scenario.read(str(ROOT / "examples/lossy-link.toml")).run().only
    figure: Any = plot.over_time(run.series, trace=run.trace)
    marked = {line.get_label(): line for line in figure.axes[0].lines}
    assert list(marked) == ["tcp", "tcp sent again", "tcp lost", "tcp acknowledged"]
    # Frames 14, 24, 26 and 28 of 1000 bytes are lost, and each is sent again once.
    assert marked["tcp lost"].get_ydata().tolist() == [14000, 24000, 26000, 28000]
    assert marked["tcp sent again"].get_ydata().tolist() == [14000, 24000, 26000, 28000]
    assert (marked["tcp lost"].get_xdata() < marked["tcp sent again"].get_xdata()).all()
    without: Any = plot.over_time(run.series)
    assert [line.get_label() for line in without.axes[0].lines] == ["tcp", "tcp sent again", "tcp acknowledged"]


def test_what_is_acknowledged_is_drawn_among_the_segments_and_round_trips_are_dots() -> None:
    sequence, acknowledged = (
        recorded("sequence", "vc", [1, 2], [0, 500]),
        recorded("acknowledged", "vc", [0, 2], [0, 500]),
    )
    rtt = recorded("rtt", "vc", [2, 3, 4], [0.1, 0.2, 0.3])
    figure: Any = plot.over_time([acknowledged, rtt, sequence], window=(2.5, 9))
    first, second = figure.axes
    assert [line.get_label() for line in first.lines] == ["vc acknowledged", "vc"]
    assert first.lines[0].get_linestyle() == "-" and first.lines[0].get_drawstyle() == "steps-post"
    assert second.lines[0].get_linestyle() == "None"
    assert second.lines[0].get_xydata().tolist() == [[3, 0.2], [4, 0.3]]
    (alone,) = cast(Any, plot.over_time([acknowledged])).axes
    assert alone.get_ylabel().startswith("acknowledged") and alone.lines[0].get_label() == "vc"


def test_a_window_shows_what_is_in_it_with_lines_up_to_its_edges() -> None:
    time = [0.0, 1.0, 2.0, 3.0, 4.0]
    series = [recorded("cwnd", "vc", time, [9, 1, 2, 3, 9]), recorded("sequence", "vc", time, [9, 10, 20, 30, 90])]
    figure: Any = plot.over_time(series, window=(1.5, 2.5))
    cwnd, sequence = figure.axes
    assert cwnd.get_xlim() == sequence.get_xlim() == (1.5, 2.5)
    assert cwnd.lines[0].get_xydata().tolist() == [[1, 1], [2, 2], [3, 3]]
    assert sequence.lines[0].get_xydata().tolist() == [[2, 20]]
    assert cwnd.get_ylim()[1] < 4
    whole: Any = plot.over_time(series)
    assert whole.axes[0].get_xlim() == (0, 4)


def test_the_time_axis_has_the_unit_of_what_it_shows() -> None:
    series = [recorded("queue", "a->b", [0, 40e-6, 2], [1, 2, 3])]
    for window, label, tick, shown in (
        ((None, None), "time [s]", 1.5, "1.5"),
        ((1.0, 1.02), "time [ms]", 1.005, "1005"),
        ((0.0, 100e-6), "time [us]", 2e-5, "20"),
    ):
        (axes,) = cast(Any, plot.over_time(series, window=window)).axes
        assert (axes.get_xlabel(), axes.xaxis.get_major_formatter()(tick)) == (label, shown)


def test_of_lines_that_cross_the_one_with_fewer_points_lies_above() -> None:
    dense = recorded("queue", "a->b", list(range(100)), [0, 9] * 50)
    sparse = recorded("queue", "b->c", [0, 99], [4, 4])
    for series in ([dense, sparse], [sparse, dense]):
        (axes,) = cast(Any, plot.over_time(series)).axes
        assert max(axes.lines, key=lambda line: line.get_zorder()).get_label() == "b->c"


def test_lines_show_scaled_values_over_time_with_their_labels() -> None:
    time = np.array([0.0, 1.0, 2.0])
    series = {
        name: Series(
            what="cwnd", of=name, service_class=None, vc=None, unit="bytes", time_s=time, value=np.array(values)
        )
        for name, values in (("a", [512, 1024, 512]), ("b", [1024, 2048, 4096]))
    }
    axes: Any = plot.panels(1)[1][0]
    plot.lines(axes, series, scale=1 / 1024)
    assert axes.get_xlabel() == "time [s]"
    assert {line.get_label(): line.get_ydata().tolist() for line in axes.lines} == {"a": [0.5, 1, 0.5], "b": [1, 2, 4]}
    assert all(np.array_equal(line.get_xdata(), time) for line in axes.lines)
    plot.level(axes, 3.0, "K")
    assert axes.lines[-1].get_ydata() == [3.0, 3.0] and axes.texts[0].get_text() == "K"


class Noise(dict[str, float]):
    """Stands in for results: a constant arbitrary value for each metric."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    def __missing__(self, metric: str) -> float:
        return self.setdefault(metric, float(self._random.uniform(0, 1)))


def noise(name: str) -> Rows:
    """Return all rows of a study, with noise instead of simulated values."""
    random = np.random.default_rng(1)
    rows = (one for table in load(name).tables.values() for one in table.rows)
    return Rows(replace(one, simulated=Noise(random)) for one in rows)


@cache
def figures_of(name: str) -> tuple[Rows, list[Any]]:
    """Return a study's rows of noise, and its figures of them."""
    study, rows = load(name), noise(name)
    return rows, [drawing() for drawing in study.part("figures").figures(study, rows)]


def is_word(text: str) -> bool:
    return bool(text) and not text.replace(".", "").replace("\N{MINUS SIGN}", "").isdigit()


@pytest.mark.parametrize("name", STUDIES)
def test_figures_of_a_study_are_drawn_by_the_rules(name: str) -> None:
    rows, drawn = figures_of(name)
    assert drawn and len({figure.name for figure in drawn}) == len(drawn)
    for figure in drawn:
        assert figure.title and figure.text
        axes = figure.figure.axes
        has_labels = [bool(one.get_xlabel() or one.get_ylabel() or one.get_title()) for one in (axes[0], axes[-1])]
        assert all(has_labels), figure.name
        panels: list[Any] = [one for one in axes if one.get_visible()]
        assert len(panels) <= plot.MOST_PANELS, figure.name
        for one in panels:
            points = [line.get_xydata() for line in one.lines] + [group.get_offsets() for group in one.collections]
            assert one.images or sum(map(len, points)) > 0, figure.name
            # Numbers are on real axes, and words are not joined.
            down = any(container.has_xerr and not container.has_yerr for container in one.containers)
            has_words = any(
                is_word(tick.get_text()) for tick in (one.get_yticklabels() if down else one.get_xticklabels())
            )
            for line in (container.lines[0] for container in one.containers):
                if has_words or down:
                    assert line.get_linestyle() == "None", figure.name
                else:
                    low, high = one.get_xlim()
                    assert low <= min(line.get_xdata()) and max(line.get_xdata()) <= high, figure.name
            # Axes begin at zero, or their labels say where.
            for axis, ends in ((one.xaxis, one.get_xlim()), (one.yaxis, one.get_ylim())):
                shown = any(tick.label1.get_visible() for tick in axis.get_major_ticks())
                if shown and axis.get_scale() == "linear" and min(ends) > 0:
                    label = axis.get_label_text()
                    assert plot.START in label or label.startswith("time"), (figure.name, label)
    # Every judged row of a published table is next to its simulated value.
    for table in (table for table in load(name).tables.values() if table.published and table.rows):
        figures = [figure.figure for figure in drawn if figure.name.startswith(f"table-{table.name}")]
        found: list[float] = []
        for panel in (one for figure in figures for one in figure.axes):
            found += [y for group in panel.containers for y in group.lines[0].get_xydata()[:, 1].tolist()]
            found += [value for image in panel.images for value in image.get_array().compressed().tolist()]
        for metric in ("efficiency", "fairness") if figures else ():
            judged = [one for one in rows.where(table=table.name) if plot_rows.is_printed(one, metric)]
            assert {one.simulated[metric] for one in judged} <= set(found), (table.name, metric)


@pytest.mark.parametrize(
    ("name", "figure", "where", "panels"),
    [
        ("abr-or-ubr", "services", {"table": "services"}, 2),
        ("abr-or-ubr", "services", {"table": "services", "configuration": "lan", "vbr": "yes"}, 2),
        ("abr-or-ubr", "costs", {"table": "services"}, 4),
        ("cell-discard", "tried", {"table": "red"}, 6),
        ("cell-discard", "tried", {"table": ("fba", "epd"), "environment": "lan"}, 6),
        ("cell-discard", "tried", {"table": "epd", "environment": "access", "mss_bytes": 1460}, 2),
    ],
)
def test_a_figure_of_some_rows_has_panels_for_these_alone(
    name: str, figure: str, where: dict[str, Any], panels: int
) -> None:
    study = load(name)
    given = (study,) if figure == "services" else ()
    drawn = getattr(study.part("figures"), figure)(*given, noise(name).where(**where))
    axes = drawn.figure.axes
    assert len(axes) == panels
    assert all(one.images or any(len(line.get_xdata()) for line in one.lines) for one in axes)
    told = {"lan": "LAN", "wan": "WAN", "satellite": "satellite"}
    if figure == "services":
        chosen = where.get("configuration", tuple(told))
        assert all((text in drawn.title) == (key in chosen) for key, text in told.items())


@pytest.mark.parametrize("name", STUDIES)
def test_notes_of_a_study_name_its_tcps_its_centre_and_its_runs(name: str) -> None:
    study, (_, drawn) = load(name), figures_of(name)
    figures = study.part("figures")
    rows = [one for table in study.tables.values() for one in table.rows[::7]]
    assert tcps(study.scenario(one).canonical for one in rows) == figures.TCP
    assert study.centre == figures.CENTRE
    for one in drawn:
        assert re.match(r"1 run per row; |one run each; |formulas", one.note) and (
            "TCP: " in one.note or one.name == "functions"
        )
    told = plot_rows.note([replace(one, runs=30) for one in rows[:3]], "TCP: Reno", "mean", "more", published=False)
    assert told == "30 runs per row; TCP: Reno; means of the runs, bars: their range; all simulated; more"


def test_the_excess_of_a_vc_is_what_it_gets_beyond_its_minimum_rate() -> None:
    figures = load("gfr-leaky-bucket").part("figures")
    given = {"mcr_mbps": 6, "network": "tcp-udp", "kind": "udp"}
    one = Row(
        "t",
        given,
        {"throughput_mbps": 7.5},
        simulated={"throughput_mbps": 8.0, "ideal_mbps": 9.0},
        ranges={"throughput_mbps": (7, 9)},
    )
    made = figures.beyond(one)
    assert (made.published["excess_mbps"], made.simulated["excess_mbps"], made["whose"]) == (1.5, 2.0, "UDP")
    assert made.ranges["excess_mbps"] == (1, 3)


def test_watched_runs_are_drawn_as_their_probes_recorded_them() -> None:
    study = load("ubr-plus")
    figures = study.part("figures")
    axes: Any = figures.window(study).figure.axes[0]
    (run,) = figures.watched(study, ["epd"], cy.CwndProbe(of="vc1"), cy.SsthreshProbe(of="vc1"))
    recorded = {one.what: one for one in run.series}
    assert {line.get_label() for line in axes.lines} == set(recorded) == {"cwnd", "ssthresh"}
    for line in axes.lines:
        one = recorded[line.get_label()]
        assert np.array_equal(line.get_xdata(), one.time_s)
        unlimited = one.value > 1e6
        assert np.isnan(line.get_ydata()[unlimited]).all() and unlimited.any() == (one.what == "ssthresh")
        assert np.allclose(line.get_ydata()[~unlimited], one.value[~unlimited] / 1000, rtol=1e-12)
    for panel, policy in zip(figures.queue(study).figure.axes, ("tail-drop", "epd", "selective-drop"), strict=True):
        (run,) = figures.watched(study, [policy], cy.QueueProbe(of="west->east", interval="1 ms"))
        assert panel.get_title() == plot_rows.named("drop_policy", policy)
        assert np.array_equal(panel.lines[0].get_ydata(), run.series[0].value)


def test_link_shares_and_windows_are_drawn_for_each_guarantee_as_recorded() -> None:
    study = load("guaranteed-rate")
    figures = study.part("figures")
    for panel, gr in zip(figures.shares(study).figure.axes, (0.0, 0.1, 0.5), strict=True):
        (run,) = figures.watched(study, [("sack", gr)], cy.LinkShareProbe(of="west->east", interval="20 ms"))
        shares = {(one.service_class or "").upper(): one.value for one in run.series}
        assert panel.get_title() == f"GR = {gr:g}"
        assert [line.get_label() for line in panel.lines] == ["VBR", "UBR"]
        assert all(np.array_equal(line.get_ydata(), shares[line.get_label()]) for line in panel.lines)
    for panel, gr in zip(figures.window(study).figure.axes, (0.0, 0.5), strict=True):
        assert panel.get_title() == f"GR = {gr:g}"
        assert [line.get_label() for line in panel.lines] == ["SACK", "Reno", "Vanilla"]
        first, last = panel.get_xlim()
        for line in panel.lines:
            (run,) = figures.watched(study, [(line.get_label().lower(), gr)], cy.CwndProbe(of="tcp1"))
            (cwnd,) = run.series
            assert np.allclose(line.get_ydata(), cwnd.value / 1000, rtol=1e-12)
            inside = (cwnd.time_s >= first) & (cwnd.time_s <= last)
            assert cwnd.value[inside].max() / 1000 < 0.9 * panel.get_ylim()[1]  # below the legend


def test_the_cost_of_vbr_is_drawn_over_the_guaranteed_rate() -> None:
    study = load("guaranteed-rate")
    rows = []
    for one in study.tables["vbr-cost"].rows:
        gr = float(one["gr"])
        values = {"vbr_cell_delay_variation_s": gr / 10, "vbr_cell_loss_ratio": gr / 100}
        rows.append(replace(one, simulated=values))
    delay, *losses = study.part("figures").vbr_cost(Rows(rows)).figure.axes
    for axes, per_gr, ylabel in (
        (delay, 100, "VBR cell delay variation [ms]"),
        *((a, 0.01, "VBR cell loss ratio") for a in losses),
    ):
        assert labels(axes) == ("guaranteed rate [of the link]", ylabel)
        assert [group.get_label() for group in axes.containers] == ["LAN", "WAN", "satellite"]
        starts = []
        for group in axes.containers:
            x, y = group.lines[0].get_xydata().T
            assert np.allclose(np.diff(x), [0.1, 0.4]) and np.allclose(y, per_gr * np.array([0, 0.1, 0.5]))
            starts.append(x[0])
        assert len(set(starts)) == 3  # equal values are drawn side by side


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["_hidden", "a$b$c", "__", "$\\frac$", "plain", "a\u202eb"])
def test_a_name_in_a_legend_is_shown_as_it_is(name: str) -> None:
    series = [recorded("cwnd", name, [0, 1], [1, 2]), recorded("sequence", name, [0, 1, 2], [1, 2, 1])]
    figure: Any = plot.over_time(series)
    shown = name.replace("\u202e", "\\u202e")
    for axes, labels in zip(figure.axes, ([shown], [shown, f"{shown} sent again"]), strict=True):
        texts = axes.get_legend().get_texts()
        assert [text.get_text() for text in texts] == labels
        assert not any(text.get_parse_math() for text in texts)
    assert plot.saved(figure, "png").startswith(b"\x89PNG")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["_hidden", "a$b$c", "$\\frac$"])
def test_names_in_figures_of_rows_are_shown_as_they_are(name: str) -> None:
    policies = [name, "epd"]
    rows = Rows([row(policy, 0.5, 0.4, 0.9, buffer_cells=k, sources=name) for policy in policies for k in (1000, 2000)])
    grid: Any = plot_rows.grid(rows, ["efficiency"], x="buffer_cells", group="drop_policy", columns=["sources"])
    over: Any = plot_rows.grid(rows, ["efficiency"], x="drop_policy", group="buffer_cells", columns=[])
    compared: Any = plot_rows.compared(rows, ["efficiency"], lines="sources", group="drop_policy")
    apart, (axes,) = plot.panels(1)
    plot_rows.by_factor(axes, rows, "efficiency", "drop_policy")
    legends = [[text.get_text() for text in figure.legends[0].get_texts()] for figure in (grid, compared)]
    assert legends == [[name, "EPD", "simulated", "published"], [name, "EPD"]]
    assert [figure.axes[0].get_title() for figure in (grid, compared)] == [f"N = {name}"] * 2
    ticks = [axes.get_xticklabels(), over.axes[0].get_yticklabels()]
    assert [[text.get_text() for text in labels] for labels in ticks] == [[name, "EPD"]] * 2
    shown = [*grid.legends[0].get_texts(), grid.axes[0].title, compared.axes[0].title, *ticks[0], *ticks[1]]
    assert not any(text.get_parse_math() for text in shown)
    assert all(plot.saved(figure, "png").startswith(b"\x89PNG") for figure in (grid, over, compared, apart))


def test_series_at_one_number_are_shifted_by_two_percent_of_the_width_at_most_and_never_by_nothing() -> None:
    found = []
    policies = [f"p{number}" for number in range(9)]
    for policy in policies:
        found += [row(policy, 1, 1, 1, gr=gr, buffer=buffer) for gr, buffer in ((0.0, 1), (0.1, 1000), (0.5, 1000000))]
    for x, scale in (("gr", "linear"), ("buffer", "log")):
        for chosen in (policies[:2], policies):
            rows = Rows(found).where(drop_policy=chosen)
            figure: Any = plot_rows.grid(rows, ["efficiency"], x=x, group="drop_policy", columns=[])
            (axes,) = figure.axes
            assert axes.get_xscale() == scale
            figure.draw_without_rendering()
            true = axes.transData.transform([(float(one[x]), 1) for one in rows.where(drop_policy="p0")])[:, 0]
            lines = [container.lines[0].get_xydata() for container in axes.containers]
            drawn = np.array([axes.transData.transform(line)[:, 0] for line in lines])
            width = axes.bbox.width
            assert np.abs(drawn - true).max() <= (plot.MOST_SHIFT + 1e-9) * width
            assert np.diff(drawn, axis=0).min() > 0.004 * width


def test_an_index_that_is_not_jains_is_named_on_axes_and_in_captions() -> None:
    _, drawn = figures_of("cell-discard")
    shown = 0
    for one in drawn:
        texts = {text for axes in one.figure.axes for text in (axes.get_xlabel(), axes.get_ylabel())}
        assert not any("Jain" in text for text in texts)
        if any("fairness index of the text" in text for text in texts):
            shown += 1
            assert "not Jain's" in one.text, one.name
    assert shown >= 5
    assert any("Jain's fairness" in axes.get_ylabel() for one in figures_of("ubr-plus")[1] for axes in one.figure.axes)


def test_an_alternative_text_has_the_values_of_each_series_and_is_in_every_file() -> None:
    figure = plot_rows.grid(cube(), ["efficiency"], x="buffer_cells", group="drop_policy", columns=["sources"])
    drawn = plot.Drawn("f", "A title", "A caption.", figure)
    first = "N = 5, efficiency over buffer K [cells]: FBA 0.3 to 0.1; EPD 0.7 to 0.5; "
    assert drawn.alt.startswith(f"A title. {first}")
    over = plot_rows.grid(cube(), ["efficiency"], x="drop_policy", group="buffer_cells", columns=["sources"])
    assert "N = 5, efficiency: K = 1000 cells 0.3 to 0.7; " in plot.described(over)
    inner = plot_rows.grid(cube(), ["efficiency"], x="buffer_cells", group="drop_policy", columns=["sources"])
    inner.axes[1].set_ylabel(f"({plot.START} 0.8)")
    assert f"efficiency ({plot.START} 0.8) over buffer K [cells]: " in plot.described(inner)
    table = table_map(cube(), ["efficiency"], down=["drop_policy"], across=("sources", "buffer_cells"))
    assert "highest 0.8 (EPD, 1000); lowest 0.1 (FBA, 2000)." in plot.described(table)
    for kind in ("png", "svg", "pdf"):
        content = plot.saved(drawn, kind)
        text = content.decode("latin-1")
        assert "A title" in text and "FBA 0.3 to 0.1" in text.replace("\\", ""), kind


def test_the_best_cells_of_a_map_are_framed_and_published_values_are_in_brackets() -> None:
    table: Any = table_map(cube(), ["efficiency"], down=["drop_policy"], across=("sources", "buffer_cells"), mean=True)
    (axes,) = table.axes
    texts = [text.get_text() for text in axes.texts]
    assert "0.70\n(0.71)" in texts and "0.65" in texts
    (frame,) = axes.patches
    assert (frame.get_x(), frame.get_y()) == (pytest.approx(3.53), pytest.approx(0.53))  # mean of EPD


def test_type_on_a_slide_is_larger_relative_to_the_figure() -> None:
    sizes = {}
    for name in plot.STYLES:
        with plot.style(name):
            figure, (axes,) = plot.panels(1)
            axes.set_title("title")
            sizes[name] = axes.title.get_fontsize() / figure.get_size_inches()[0]
    assert sizes["slide"] > 1.3 * sizes["paper"]
    assert tuple(plot.STYLES) == options.STYLES
    with pytest.raises(cy.UsageError, match="style `poster` does not exist"), plot.style("poster"):
        pass


def test_labels_fit_beside_their_panels_and_values_are_named() -> None:
    with plot.style():
        rows = noise("cell-discard").where(table="1-2")
        figure: Any = load("cell-discard").part("figures").transfers(rows).figure
        figure.draw_without_rendering()
    for axes in figure.axes:
        if axes.get_ylabel():
            assert axes.yaxis.label.get_window_extent().height <= 1.05 * axes.get_window_extent().height
    ticks = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert ticks == ["UBR (tail drop)", "EPD", "FBA", "RED"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["MSS 1460 bytes", "MSS 9140 bytes"]


CWND = recorded("cwnd", "a", [0, 1], [1, 2])
#: What cannot be drawn: the name of the argument, how to pass it, and its wrong values.
WRONG: list[tuple[str, Callable[[Any], object], list[Any]]] = [
    ("series", plot.over_time, [5, "cwnd", [1, 2], None]),
    ("series", lambda value: plot.over_time({"a": value}), [3]),
    ("trace", lambda value: plot.over_time([CWND], trace=value), [3, ["x"]]),
    (
        "window",
        lambda value: plot.over_time([CWND], window=value),
        [5, (1,), ("a", 1), (2, 1), (1, 1), (np.nan, 1), None],
    ),
    ("window", lambda value: plot.over_time([CWND], window=value), [(True, 2), (2, 3), (-2, 0)]),
    ("number", plot.panels, [0, -1, 101, 1.5, "2", None, True]),
    ("width", lambda value: plot.panels(1, width=value), [0, -1, float("nan"), float("inf"), "7", None]),
    ("height", lambda value: plot.panels(1, height=value), ["x"]),
    ("down", lambda value: plot.panels_grid(value, 1, width=1, height=1), [0]),
    ("across", lambda value: plot.panels_grid(1, value, width=1, height=1), ["a"]),
    ("height", lambda value: plot.panels_grid(1, 1, width=1, height=value), [None]),
]
ALLOWED = {"number": ": must be a whole number from 1 to 100", "width": ": must be a number of inches"}


def test_what_cannot_be_drawn_is_refused_with_the_name_of_the_argument() -> None:
    for name, call, values in WRONG:
        for value in values:
            with pytest.raises(cy.UsageError) as error:
                call(value)
            assert str(error.value).startswith(f"{name} = {value!r}{ALLOWED.get(name, '')}"), error.value
    refused: list[tuple[Callable[[], Any], str]] = [
        (lambda: plot.over_time({}), "there are no series to draw"),
        (lambda: plot.over_time(cast(Any, CWND)), "series = Series"),
        (lambda: plot.over_time([CWND], window=(2, 3)), r"contains no value, as the series are from 0 to 1 s"),
    ]
    for draw, told in refused:
        with pytest.raises(cy.UsageError, match=told):
            draw()


def test_numbers_of_numpy_and_any_sequence_can_be_drawn() -> None:
    series = recorded("cwnd", "a", [0, 1, 2], [1, 2, 3])
    figure: Any = plot.over_time((one for one in [series]), window=cast(Any, np.array([0.5, 1.5])))  # type: ignore[arg-type]
    assert figure.axes[0].get_xlim() == (0.5, 1.5)
    _, axes = plot.panels(cast(Any, np.int64(2)), width=cast(Any, np.float64(5)))
    assert len(axes) == 2


@pytest.mark.parametrize("kind", ["png", "svg", "SVG", "pdf"])
def test_a_figure_is_the_same_file_whenever_it_is_made(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = []
    for seconds in ("1000000000", "1000000001"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", seconds)  # matplotlib takes this for the current time
        with plot.style():
            figure, (axes,) = plot.panels(1)
            axes.plot([0, 1], [1, 2])
            files.append(plot.saved(figure, kind))
    assert files[0] == files[1]


def test_each_run_has_panels_of_its_own_on_the_scale_of_all() -> None:
    probes = (cy.QueueProbe(of="west->east", interval="1 ms"), cy.CwndProbe(of="vc1"))
    scenario = cy.examples.scenario("lan-5", overrides={"duration": "50 ms", "probe": probes})
    series = {
        policy: scenario.with_values({"switch.west.ubr.drop": policy}).run().series for policy in ("tail-drop", "epd")
    }
    figure: Any = plot.over_time(series)
    titles = [(axes.get_title(loc="left"), axes.get_ylabel()) for axes in figure.axes]
    quantities = ("queue [cells]", "cwnd [bytes]")
    assert titles == [(policy, label) for label in quantities for policy in ("tail-drop", "epd")]
    for own in (figure.axes[:2], figure.axes[2:]):
        assert len({axes.get_ylim() for axes in own}) == 1
        assert len({line.get_color() for axes in own for line in axes.lines}) == 1
    for axes, policy in zip(figure.axes, series, strict=False):
        assert axes.lines[0].get_ydata()[: len(series[policy][0].value)].tolist() == series[policy][0].value.tolist()
    with pytest.raises(cy.UsageError, match="5 runs have 10 panels: a figure has at most 9"):
        plot.over_time({str(number): series["epd"] for number in range(5)})


def test_a_figure_has_its_title_and_its_note_beyond_panels_and_legends() -> None:
    for long in (1, 30):
        figure, (axes, _) = plot.panels(2, width=5)
        axes.plot([0, 1], [1, 2], label="a")
        plot.legend(figure, axes.lines, loc="outside upper center")
        height = figure.get_size_inches()[1]
        plot.frame(figure, "A $title " * long, "N = 3 runs " * long)
        figure.draw_without_rendering()
        title, note = (text.get_window_extent() for text in figure.texts)
        legend = figure.legends[0].get_window_extent()
        panels: list[Any] = [one.get_tightbbox() for one in figure.axes]
        assert figure.get_size_inches()[1] > height
        assert figure.bbox.y1 >= title.y1 and title.y0 >= legend.y1 and legend.y0 >= max(one.y1 for one in panels)
        assert min(one.y0 for one in panels) >= note.y1 and note.y0 >= 0
        assert max(title.x1, note.x1) <= figure.bbox.x1 and axes.bbox.height > 0.4 * height * figure.dpi


def test_the_figures_of_a_report_are_one_call() -> None:
    study = load("ubr-plus")
    anything = dict.fromkeys(study.measures.names, 0.5)
    rows = Rows(replace(row, simulated=anything) for row in study.tables["2-3"].rows)
    names = [drawn.name for drawn in plot_rows.figures(study, rows, style="slide")]
    assert names and len(names) == len(list(plot_rows.drawings(study, rows)))
