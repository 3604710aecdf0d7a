"""``cellyard plot``: selection of runs from a store, output files, and refused requests."""

import csv
import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cellyard as cy
import numpy as np
import pytest
from cellyard import _engine
from cellyard.experiment.figures import _grouped, figures, one_figure
from cellyard.experiment.records import interval_of
from cellyard.experiment.stored_points import PlotRequest, StoredPoints, collect, collect_files
from cellyard.plot import distribution, style
from cellyard.runs.batch import Job, run_jobs
from cellyard.scenario.parameters import Scenarios
from cellyard.statistics.bounded import Bounded
from cellyard.statistics.inference import estimate
from cellyard.store import Store, open_store
from conftest import LAN, Cli

LONG = cy.Scenario.from_toml(LAN, overrides=[("duration", "300 ms")])
BUFFER, DROP, MSS = "switch.west.ubr.buffer", "switch.west.ubr.drop", "vc.*.traffic.mss"
DROPS = ("tail-drop", "epd", {"policy": "fba", "z": 0.5}, {"policy": "fba", "z": 0.8})
REPLICATIONS = 3


def scenarios() -> dict[tuple[int, str, int], cy.Scenario]:
    """Return a grid of buffers, policies and segment sizes."""
    found = {}
    for buffer in (300, 1000):
        for drop, label in zip(DROPS, ("tail-drop", "epd", "fba z=0.5", "fba z=0.8"), strict=True):
            for mss in (512, 1460):
                values = {BUFFER: f"{buffer} cells", DROP: drop, MSS: f"{mss} bytes"}
                found[buffer, label, mss] = LONG.with_values(values)
    return found


def fill(path: Path, *jobs: Job) -> None:
    with Store(path) as store:
        assert len(list(run_jobs(jobs, store=store))) == len(jobs)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of the grid, and of a run without ensemble at one of its points."""
    found = tmp_path_factory.mktemp("store") / "runs.sqlite"
    grid = scenarios()
    jobs = [Job(one.canonical, draw) for one in grid.values() for draw in range(REPLICATIONS)]
    fill(found, *jobs, Job(grid[300, "epd", 512].canonical))
    return found


def asked(path: Path, x: str = "buffer", y: tuple[str, ...] = ("efficiency",), **more: Any) -> StoredPoints:
    with open_store(path) as store:
        return collect(store, PlotRequest(x, y, **more))


def test_points_are_means_of_the_replications_with_their_intervals(path: Path) -> None:
    where = [(DROP, "epd"), (MSS, "512 bytes")]
    found = asked(path, where=where, y=("efficiency", "max(port.*.max_queue_cells)"))
    assert found.axis == "buffer_cells"
    assert [point["buffer_cells"] for point in found.points] == [300, 1000]
    grid = scenarios()
    for point in found.points:
        runs = grid[point["buffer_cells"], "epd", 512].run(replications=REPLICATIONS)
        assert point["runs"] == REPLICATIONS  # the run without ensemble is not a replication
        values = sorted(runs.values("efficiency"))
        assert point["efficiency"]["mean"] == pytest.approx(sum(values) / REPLICATIONS)
        one = point["efficiency"]
        assert values[0] == one["min"] <= one["p5"] <= one["p95"] <= one["max"] == values[-1]
        expected = estimate(values, 0.95)
        assert expected and interval_of(point, "efficiency") == pytest.approx((expected.low, expected.high))
        queues = [max(port.max_queue_cells for port in run.ports.values()) for run in runs]
        assert point["max(port.*.max_queue_cells)"]["mean"] == pytest.approx(sum(queues) / REPLICATIONS)
    assert not found.notes


def test_runs_that_differ_in_more_are_not_averaged(path: Path) -> None:
    with pytest.raises(
        cy.UsageError,
        match=rf"runs at one point also differ in {DROP} \(3 values\), vc\.\*\.traffic\.mss \(2 values\); select runs with --where",
    ):
        asked(path)
    chosen = asked(path, where=[("drop", "epd"), ("mss", "512 bytes")])
    assert [(point["buffer_cells"], point["runs"]) for point in chosen.points] == [(300, 3), (1000, 3)]


@pytest.mark.parametrize(
    ("where", "labels"),
    [
        ([("drop", "fba")], ["fba z=0.5", "fba z=0.8"]),
        ([("drop", "fba z=0.8"), ("drop", "epd")], ["epd", "fba"]),
        ([("z", "0.5")], ["fba"]),
        ([("drop.policy", "tail-drop")], ["tail-drop"]),
    ],
)
def test_where_chooses_by_value_kind_or_quantity(path: Path, where: list[tuple[str, str]], labels: list[str]) -> None:
    found = asked(path, x=DROP, where=[*where, (MSS, "0.512 kB"), (BUFFER, "300 cells")])
    assert sorted(point["drop"] for point in found.points) == labels


def test_where_none_chooses_the_runs_in_which_a_field_is_not_set(tmp_path: Path) -> None:
    field, path = "measure.max_goodput", tmp_path / "runs.sqlite"
    plain = LONG.with_values({field: "default"})
    stated = [LONG.with_values({field: value}) for value in ("30 Mbps", "40 Mbps")]
    fill(path, *(Job(one.canonical, draw) for one in (plain, *stated) for draw in range(2)))
    with pytest.raises(cy.UsageError, match=rf"{field} \(3 values\); .*--where PATH=none if it is not set"):
        asked(path, y=("goodput_mbps",))
    (point,) = asked(path, y=("goodput_mbps",), where=[(field, "none")]).points
    assert point["runs"] == 2
    assert point["goodput_mbps"]["mean"] == pytest.approx(sum(plain.run(replications=2).values("goodput_mbps")) / 2)
    both = asked(path, x=field, y=("goodput_mbps",), where=[(field, "30 Mbps"), (field, "none")])
    assert "2 of 4 runs are left out" in both.notes[0]
    with pytest.raises(
        cy.UsageError, match=rf"--where {field}=9: no run has this value; available: 30 Mbps, 40 Mbps, none"
    ):
        asked(path, where=[(field, "9")])


def test_a_path_that_few_scenarios_have_leaves_the_others_out_and_says_so(path: Path) -> None:
    found = asked(path, x="drop.z", where=[("buffer", "300 cells"), ("mss", "512 bytes")])
    assert [point["z"] for point in found.points] == [0.5, 0.8]
    assert found.notes == ["7 of 13 runs are left out: their scenario has no drop.z"]


WRONG: Mapping[str, tuple[dict[str, Any], str]] = {
    "nothing": (
        {"x": ""},
        rf"--x is missing: give the path of the parameter on the x axis\. These runs differ in {BUFFER} \(2 values\)",
    ),
    "path": (
        {"x": "bufer"},
        r"--x bufer: is not a path in these scenarios; did you mean `buffer`\? These runs differ in",
    ),
    "other path": ({"x": "efficiency"}, r"--x efficiency: is not a path in these scenarios\. These runs differ in "),
    "metric": ({"y": ("eficiency",)}, r"--y: metric `eficiency` does not exist; did you mean `efficiency`\?"),
    "no metric": ({"y": ()}, r"--y is missing: give a metric to draw"),
    "value": ({"where": [("drop", "red")]}, r"--where drop=red: no run has this value; available: epd, fba z=0\.5"),
    "scenario": ({"scenario": "wan"}, r"has no runs of a scenario named wan; available: two TCPs"),
    "engine": ({"engine": "zz"}, r"--engine zz: matches no build in "),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_drawn_is_told_with_what_there_is(path: Path, case: str) -> None:
    arguments, told = WRONG[case]
    with pytest.raises(cy.UsageError, match=told):
        asked(path, **arguments)


def test_last_words_name_what_varies_and_are_refused_where_they_name_several() -> None:
    one, other = (
        LONG.with_values({"vc.vc1.start": start, BUFFER: buffer})
        for start, buffer in (("1 ms", "900 cells"), ("2 ms", "800 cells"))
    )
    both = Scenarios({b"1": one.to_toml(), b"2": other.to_toml()})
    assert both.values("start", "--x") == {b"1": "1 ms", b"2": "2 ms"}  # vc2 has the same value in both
    assert both.varying() == {BUFFER: 2, "vc.vc1.start": 2}
    mixed = LONG.with_values({"vc.vc1.start": "2 ms", "vc.vc2.start": "3 ms"})
    with pytest.raises(
        cy.UsageError,
        match=r"--x start: is ambiguous, with different values at vc\.vc1\.start, vc\.vc2\.start; give a longer path",
    ):
        Scenarios({b"1": one.to_toml(), b"2": mixed.to_toml()}).values("start", "--x")


def test_a_path_names_what_varies_also_where_the_runs_are_chosen_by_it() -> None:
    base = LONG.with_values({"switch.east.ubr.drop": "ppd"})
    every = Scenarios({str(i).encode(): base.with_values({DROP: DROPS[i]}).to_toml() for i in range(3)})
    assert every.only([b"2"]).values("drop", "--x") == {b"2": "fba"}


def test_a_path_that_is_short_in_one_scenario_and_not_among_several_has_them_named() -> None:
    one, other = (
        LONG.with_values({"name": name, "vc.vc1.start": first, "vc.vc2.start": second})
        for name, first, second in (("plain", "1 ms", "1 ms"), ("mixed", "2 ms", "3 ms"))
    )
    every = Scenarios({b"1": one.to_toml(), b"2": other.to_toml()})
    with pytest.raises(
        cy.UsageError,
        match=r"--x vc\.\*\.start: is ambiguous, .*; select one scenario with --scenario NAME: mixed, plain$",
    ):
        every.values("vc.*.start", "--x")
    with pytest.raises(
        cy.UsageError, match=r"--x strat: is not a path .*; select one scenario with --scenario NAME: mixed, plain$"
    ):
        every.values("strat", "--x")
    assert every.only({b"1"}).values("vc.*.start", "--x") == {b"1": "1 ms"}


def test_numbers_of_things_are_parameters_and_what_only_some_have_is_no_difference() -> None:
    few, more = LONG, LONG.with_values({"host.source.count": 4, "host.sink.count": 4})
    both = Scenarios({b"1": few.to_toml(), b"2": more.to_toml()})
    assert both.values("vc.count", "--x") == {b"1": "2", b"2": "4"}
    assert both.varying() == {"host.count": 2, "link.count": 2, "vc.count": 2}


def test_a_draw_counts_once_under_any_name_of_its_scenario(tmp_path: Path) -> None:
    point = LONG.with_values({BUFFER: "300 cells"})
    names = [
        point,
        point.with_values({"name": "other"}),
        point.with_values({"probe": [cy.QueueProbe(of="west->east")]}),
    ]
    fill(tmp_path / "runs.sqlite", *(Job(one.canonical, draw) for one in names for draw in range(REPLICATIONS)))
    (found,) = asked(tmp_path / "runs.sqlite").points
    assert found["runs"] == REPLICATIONS


def test_seeds_are_draws_and_other_engines_are_left_out_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.sqlite"
    fill(path, Job(LONG.canonical, 0), Job(LONG.with_seed(2).canonical, 0))
    assert [point["runs"] for point in asked(path).points] == [2]
    monkeypatch.setattr(_engine, "build", lambda: "later")
    fill(path, Job(LONG.canonical, 0))
    found = asked(path)
    assert [point["runs"] for point in found.points] == [1]
    assert found.notes == ["only runs of engine later are shown; --engine selects another build"]
    monkeypatch.undo()
    assert [point["runs"] for point in asked(path, engine=_engine.build()[:6]).points] == [2]


def shown(figure: Any) -> list[Any]:
    return [axes for axes in figure.axes if axes.get_visible()]


def test_the_means_are_a_line_with_a_band_of_their_intervals(path: Path) -> None:
    points = asked(path, where=[("mss", "512 bytes"), ("drop", "epd")])
    (axes,) = shown(one_figure(points.document()).figure)
    means = [point["efficiency"]["mean"] for point in points.points]
    assert axes.lines[0].get_xydata().tolist() == [[300, means[0]], [1000, means[1]]]
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(max(point["efficiency"]["high"] for point in points.points))


def cut_off(figure: Any) -> list[str]:
    """Return legends and panel titles that are cut off, and titles wider than their panels."""
    figure.draw_without_rendering()
    page = figure.bbox
    texts = [*(text for one in figure.legends for text in one.get_texts()), *(axes.title for axes in shown(figure))]
    texts += figure.texts
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    wide = [axes.get_title() for axes in shown(figure) if axes.title.get_window_extent().width > axes.bbox.width + 1]
    return wide + [
        text for text, box in boxes if box.x0 < page.x0 or box.x1 > page.x1 or box.y0 < page.y0 or box.y1 > page.y1
    ]


def test_a_figure_says_what_it_shows_of_how_many_runs_and_what_its_bands_are() -> None:
    document = points_of(["fairness"], buffer_cells=[500, 1000])
    with style():
        drawn: Any = one_figure(document, tcp="TCP: SACK").figure
        told = ["Fairness over buffer", "20 runs per point; TCP: SACK; means, with 95 % confidence intervals"]
        assert [text.get_text() for text in drawn.texts] == told and cut_off(drawn) == []
        document["points"][1]["runs"] = 4
        assert one_figure(document).figure.texts[1].get_text().startswith("4 to 20 runs per point; means")
        for point in document["points"]:
            point["runs"] = 1
        assert one_figure(document).figure.texts[1].get_text() == "1 run per point"


def points_of(metrics: list[str], **axes: list[Any]) -> dict[str, Any]:
    """Return a document of points at all values of the axes, with invented metrics."""
    numbers = {"mean": 0.5, "low": 0.4, "high": 0.6, "p5": 0.4, "p95": 0.6, "min": 0.3, "max": 0.7}
    points = [
        {**dict(zip(axes, place, strict=True)), "runs": 20, **dict.fromkeys(metrics, numbers)}
        for place in itertools.product(*axes.values())
    ]
    return {"question": {"kind": "table"}, "axes": list(axes), "metrics": metrics, "points": points}


def test_no_legend_and_no_title_is_cut_off_however_long_names_are() -> None:
    buffers, long = [500, 1000, 4000], "frame-drop-from-front threshold=0.9 rest=drop"
    drops = ["atm-red", "cell-red", "drop-from-front", "epd", "fba", "frame-drop-from-front", "packet-red", "ppd"]
    metrics = ["fairness", "mean_cell_transfer_delay_s", "max(port.*.max_queue_cells)"]
    with style():
        for names in (drops, [*drops, "selective-drop", "tail-drop"], [f"{long} {'z' * i}" for i in range(9)]):
            document = points_of(metrics[1:2], buffer_cells=buffers, drop=names)
            figure: Any = _grouped(document, "buffer_cells", "drop", metrics[1:2], "lines").figure
            assert cut_off(figure) == []
            assert len(figure.legends) == 1
            assert shown(figure)[0].bbox.height / figure.dpi > 1.8  # the legend took no room from the panel
        for document in (
            points_of(metrics, buffer_cells=buffers, drop=drops),
            points_of(metrics, buffer_cells=buffers),
        ):
            assert [cut_off(one.figure) for one in figures(document)] == [[]]


def test_the_command_writes_the_figure_and_prints_what_it_shows(cli: Cli, path: Path, tmp_path: Path) -> None:
    arguments = ["plot", path, "--x", "buffer", "--y", "efficiency", "--where", "mss=512 bytes", "--where", "drop=epd"]
    for kind, begins in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        done = cli(*arguments, "--out", f"figure.{kind}", "--format", "csv")
        assert (done.returncode, done.stderr) == (0, f"wrote figure.{kind}\n")
        assert (tmp_path / f"figure.{kind}").read_bytes().startswith(begins)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert len(rows) == 2
    document = cli.json(*arguments, "--out", "figure.png")
    assert float(rows[0]["efficiency.mean"]) == document["points"][0]["efficiency"]["mean"]
    assert document["runs"] == 2 * REPLICATIONS
    assert cli(*arguments, "--out", "figure.png").stdout.startswith(
        "points, means of the runs, 95 % intervals:\nbuffer_cells  runs"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.sqlite", "--x", "a", "--y", "b", "--out", "a.png"], "none.sqlite"),
        (
            ["--x", "a", "--y", "b", "--out", "a.raw"],
            "a.raw: not a kind of figure; its name must end in one of: .png, .svg, .pdf",
        ),
        (["--x", "a", "--y", "b", "--out", "none/a.png"], "there is no folder none"),
        (["--x", "bufer", "--y", "efficiency", "--out", "a.png"], "did you mean `buffer`?"),
        (["--where", "drop", "--x", "buffer", "--y", "efficiency", "--out", "a.png"], "must be PATH=VALUE"),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_nothing(cli: Cli, path: Path, arguments: list[str], told: str) -> None:
    store = [] if arguments[0].endswith(".sqlite") else [path]
    error = cli.refused("plot", *store, *arguments)
    (line,) = error.splitlines()
    assert told in line
    assert list(cli.folder.iterdir()) == []


def test_words_stand_in_the_order_in_which_they_were_run(path: Path) -> None:
    found = asked(path, x=DROP, where=[(MSS, "512 bytes"), (BUFFER, "300 cells")])
    assert [point["drop"] for point in found.points] == ["tail-drop", "epd", "fba z=0.5", "fba z=0.8"]


def test_title_width_and_labels_are_those_asked_for(cli: Cli, path: Path) -> None:
    arguments = ["plot", path, "--x", "buffer", "--y", "efficiency", "--where", "mss=512 bytes", "--where", "drop=epd"]
    words = ["--title", "My $title", "--label", "buffer=buffer of west", "--label", "efficiency=share of the link"]
    assert cli(*arguments, *words, "--width", 5, "--out", "a.svg").returncode == 0
    drawn = (cli.folder / "a.svg").read_text()
    assert all(f"<!-- {text} -->" in drawn for text in ("My $title", "buffer of west", "share of the link"))
    assert 'width="360pt"' in drawn
    for wrong, told in (
        (
            ["--label", "bufer=x"],
            "--label `bufer` does not exist; did you mean `buffer`?",
        ),
        (["--width", "0"], "`0` must be a number of inches from 2 to 100"),
        (["--width", "wide"], "`wide` must be a number of inches from 2 to 100"),
        (["--label", "buffer"], "`buffer` must be NAME=TEXT"),
    ):
        assert told in cli.refused(*arguments, *wrong, "--out", "b.svg")


def test_a_buffer_without_limit_stands_beside_the_others_as_a_word() -> None:
    spread = {"mean": 0.5, "low": 0.4, "high": 0.6, "p5": 0.3, "p95": 0.7, "min": 0.2, "max": 0.8}
    points = [{"buffer_cells": buffer, "runs": 2, "efficiency": spread} for buffer in (500, 1000, float("inf"))]
    document = StoredPoints("buffer_cells", ["efficiency"], points).document()
    (axes,) = one_figure(document).figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["500", "1000", "unlimited"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of 64 files at once, of which some do not finish, under two policies."""
    found = tmp_path_factory.mktemp("files") / "runs.sqlite"
    base = cy.examples.scenario("tcp-incast").with_values({"duration": "250 ms"})
    policies = [base.with_values({"switch.switch.ubr.drop": policy}) for policy in ("tail-drop", "epd")]
    fill(found, *(Job(one.canonical, draw) for one in policies for draw in range(6)))
    return found


def test_the_distribution_of_files_counts_unfinished_ones_and_ends_at_the_finished_share(files: Path) -> None:
    with open_store(files) as store:
        found, lines = collect_files(store, PlotRequest("drop", ()))
        per_run = {
            policy: [run.data for run in runs] for policy, runs in zip(("tail-drop", "epd"), found.results, strict=True)
        }
    assert [line["drop"] for line in lines] == ["tail-drop", "epd"]
    values = {line["drop"]: [value for run in line["durations"] for value in run] for line in lines}
    assert {len(found) for found in values.values()} == {6 * 64}
    with style():
        drawn = distribution(values, across="time", title="files", note="")
    for line, (policy, runs) in zip(drawn.figure.axes[0].lines, per_run.items(), strict=True):
        finished = [one["duration_s"] for run in runs for vc in run["vcs"] for one in vc["transfers"]]
        assert line.get_label() == policy and 0.9 < len(finished) / 384 < 1
        across, shares = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert shares[-1] == pytest.approx(len(finished) / 384)
        for limit in (0.2003, 0.21, 0.2405):
            share = sum(duration <= limit for duration in finished) / 384
            assert shares[np.searchsorted(across, limit, side="right") - 1] == pytest.approx(share)


def test_values_with_bounds_have_a_band_between_the_possible_shares() -> None:
    with style():
        drawn = distribution({"a": [1.0, 2.0, 3.0, Bounded(1.5, math.inf)]}, across="time", title="files", note="")
    place = drawn.figure.axes[0]
    (band,) = place.collections
    corners = {
        tuple(corner)
        for path in band.get_paths()
        for corner in np.asarray(path.vertices, dtype=float).round(6).tolist()
    }
    assert {(2.0, 0.5), (2.0, 0.75), (3.0, 0.75), (3.0, 1.0)} <= corners
    assert np.asarray(place.lines[0].get_ydata(), dtype=float).tolist() == [0, 0.25, 0.25, 0.5, 0.75]


def test_plot_draws_files_with_cdf_and_refuses_what_it_cannot_draw(
    files: Path, path: Path, cli: Cli, tmp_path: Path
) -> None:
    shown = cli.ok("plot", files, "--x", "drop", "--cdf", "--out", "cdf.svg")
    assert shown.startswith("files of all VCs and runs together:\ndrop ")
    points = cli.json("plot", files, "--x", "drop", "--cdf", "--out", "cdf.svg")["points"]
    assert [point["finished_transfers"] + point["unfinished_transfers"] for point in points] == [384, 384]
    assert "leave out --y efficiency" in cli.refused(
        "plot", files, "--x", "drop", "--cdf", "--y", "efficiency", "--out", "a.svg"
    )
    assert "no VC of these runs sends one (file_size)" in cli.refused(
        "plot",
        path,
        "--x",
        "buffer",
        "--where",
        f"{DROP}=epd",
        "--where",
        f"{MSS}=512 bytes",
        "--cdf",
        "--out",
        "a.svg",
    )
    assert "(allowed: drop, transfer_s)" in cli.refused(
        "plot", files, "--x", "drop", "--cdf", "--label", "y=z", "--out", "a.svg"
    )
