"""Representations of scenarios, results and figures in a shell and a notebook."""

import pickle
import re
import subprocess
import sys
import types
from functools import cache
from html import escape, unescape
from pathlib import Path

import cellyard as cy
import matplotlib as mpl
import pytest
from cellyard import experiment as ex
from cellyard.results import Trace
from cellyard.study import load

#: Number of characters in 24 lines of 80.
SCREEN = 1920
PROBES = (cy.QueueProbe(of="west->east", interval="1 ms"), cy.CwndProbe(of="vc"), cy.TraceProbe(of="vc1"))


@cache
def result() -> cy.Results:
    return cy.examples.scenario("lan-5", overrides={"duration": "1 s", "probe": PROBES}).run()


@cache
def ensemble() -> cy.Results:
    return cy.examples.scenario("lan-5", overrides={"duration": "100 ms"}).run(replications=3)


def test_repr_of_any_result_fits_a_screen() -> None:
    run = result().only
    parts = [result(), run, ensemble(), run.totals, run.vcs, run.ports, run.classes, run.trace, run.series]
    for part in [*parts, *run.vcs.values(), *run.ports.values(), *run.series]:
        assert len(repr(part)) < SCREEN, part
    assert repr(run).startswith("RunResult('lan-5', 1 s, 5 VCs, 6 series: goodput_mbps ")
    assert re.search(r"time_s=<1001 values, 0 to 1>, value=<1001 values, 0 to \d+>", repr(run.series[0]))
    assert repr(run.vcs) == "<5 by name: vc1, vc2, vc3, vc4, vc5>"
    assert repr(run.trace) == f"<{len(run.trace)} dropped cells>" and run.trace
    assert repr(ensemble()).startswith("Results('lan-5', 3 runs; medians: goodput_mbps ")
    assert repr(cy.Results([])) == "Results(0 runs)"


def test_a_notebook_shows_tables_and_the_topology() -> None:
    run = result().only
    drawing = cy.examples.scenario("lan-5")._repr_html_()
    assert "source1 .. source5 (5)" in drawing and "-&gt;" not in drawing and "<b>lan-5</b>" in drawing
    shown = result()._repr_html_()
    sent = run.vcs["vc1"].cells_sent
    assert f'<td class="n">{sent}</td>' in shown and "<td>west-&gt;east</td>" in shown
    assert shown.startswith(run._repr_html_() + "<p>note: ") and len(shown) < 10_000
    median = ensemble().median("max_queue_cells")
    assert f'<td>max_queue_cells</td><td class="n">{median:.0f}' in ensemble()._repr_html_()
    assert '>smallest</th><th class="n">largest</th>' in ensemble()._repr_html_()  # three runs have no 5 % quantile
    for part in (run.vcs, run.ports, run.trace, run.totals, run.vcs["vc1"], run.series[0]):
        assert part._repr_html_().startswith("<table>")
    assert len(Trace(run.trace * 1000)._repr_html_()) < 10_000
    assert cy.Results([])._repr_html_() == "no runs"
    assert "<script" not in cy.examples.scenario("lan-5", overrides={"name": "<script>"})._repr_html_()


def test_a_large_network_is_shown_in_part() -> None:
    hosts = [cy.Host(name=f"{kind}{i}") for kind in "ab" for i in range(40)]
    links = [cy.Link(from_=host.name, to="west", rate=f"{10 + i} Mbps") for i, host in enumerate(hosts)]
    vcs = [cy.Vc(from_=f"a{i}", to=f"b{i}", traffic="tcp") for i in range(40)]
    scenario = cy.Scenario(duration="1 ms", hosts=hosts, switches=[cy.Switch(name="west")], links=links, vcs=vcs)
    assert re.search(r"\.\.\. and \d+ more lines", scenario._repr_html_())
    run = scenario.run()
    assert "... and 20 more" in run._repr_html_()
    with pytest.raises(cy.UsageError, match=r"port `x` does not exist \(allowed: .*\.\.\. 80 in all\)"):
        run.ports["x"]


def test_a_name_that_is_not_there_says_what_is() -> None:
    ports = result().ports
    with pytest.raises(cy.UnknownNameError, match=r"^port `west` does not exist; did you mean `.*west->east.*`\?$"):
        ports["west"]
    with pytest.raises(KeyError):
        result().vcs["vc9"]
    assert ports.get("west") is None and "west" not in ports
    assert pickle.loads(pickle.dumps(ports)) == ports


def test_results_and_series_are_equal_and_hashed_by_their_numbers() -> None:
    again = cy.examples.scenario("lan-5", overrides={"duration": "1 s", "probe": PROBES}).run()
    assert again == result() and hash(again) == hash(result())
    assert again.only == result().only and hash(again.only) == hash(result().only)
    assert again.series == result().series and set(again.series) == set(result().series)
    queue, cwnd = result().series[:2]
    assert queue != cwnd and queue != "queue" and ensemble() != result()
    assert pickle.loads(pickle.dumps(result())) == result()


def test_a_figure_shows_itself_and_leaves_matplotlib_as_it_was() -> None:
    before = mpl.get_backend()
    mpl.use("svg")
    try:
        settings = dict(mpl.rcParams)
        with cy.plot.style():
            drawn = cy.plot.over_time(result().series)
            figure, _ = cy.plot.panels(1)
        # The figure of a run needs no surrounding style.
        assert cy.plot.saved(cy.plot.over_time(result().series), "png") == cy.plot.saved(drawn, "png")
        assert mpl.get_backend() == "svg" and dict(mpl.rcParams) == settings
    finally:
        mpl.use(before)
    for shown_figure in (drawn, figure):
        assert shown_figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    with pytest.raises(cy.UsageError, match="no series to draw: probes record them"):
        cy.plot.over_time([])


def test_everything_of_the_package_is_there_and_imported_when_used() -> None:
    assert {"examples", "plot", "study", "reproduce", "results", "traffic", "Scenario", "__version__"} <= set(dir(cy))
    assert cy.__version__ == cy.version() and cy.Tcp is cy.traffic.Tcp and cy.QueueProbe is cy.probe.Queue
    assert len(dir(cy)) <= 47
    code = (
        "import sys, cellyard as cy; assert not {'numpy', 'matplotlib', 'cellyard.components'} & set(sys.modules); "
        "cy.examples.names(), cy.study.studies(), cy.plot.MARKERS; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'plots'"):
        cy.plots  # noqa: B018


def test_help_explains_every_field() -> None:
    text = " ".join((cy.Tcp.__doc__ or "").split())
    for part in (
        "mss: Maximum segment size, in bytes of data.",
        'Allowed: "1 byte" to "65495 bytes"; units: bytes, byte, kB',
        "Default: ``512 bytes``.",
        "file_size: Size of each file; if omitted, the data never end.",
        "Default: unlimited.",
    ):
        assert part in text
    assert "rate: Cell rate" in (cy.Cbr.__doc__ or "") and "Required." in (cy.Cbr.__doc__ or "")
    text = " ".join((cy.Scenario.__doc__ or "").split())
    assert "hosts: End systems." in text and "duration: Simulated time" in text


class Handle:
    """Stands in for the handle that IPython's ``display`` returns."""

    def __init__(self, shown: list[dict[str, str]]) -> None:
        self._shown = shown

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self._shown.append(data)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Return what a notebook shows below a cell, each output replacing the last.

    Every output is shown, however briefly.
    """
    from cellyard.system import progress

    shown: list[dict[str, str]] = []

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw and display_id and not shown
        shown.append(data)
        return Handle(shown)

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    showing = types.ModuleType("IPython.display")
    showing.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", showing)
    monkeypatch.setattr(progress, "NOTEBOOK_SECONDS", 0.0)
    return shown


def small_experiment() -> ex.Experiment:
    return ex.Experiment(
        name="small",
        base=cy.examples.scenario("lan-5", overrides={"duration": "20 s"}),
        axes=[ex.Axis("switch.west.ubr.buffer", ["500 cells", "1000 cells"])],
        metrics=["efficiency"],
        replications=4,
    )


def test_a_notebook_shows_how_far_an_experiment_is_and_that_it_is_done(notebook: list[dict[str, str]]) -> None:
    outcome = small_experiment().run(jobs=1)
    texts = [update["text/plain"] for update in notebook]
    assert len(texts) > 3 and texts[0].startswith("small: 0 of 2 points, ")
    assert any(
        re.fullmatch(r"small: 1 of 2 points, \d of 8 runs, .* runs/s, about \d+ s left", update) for update in texts
    )
    assert re.fullmatch(r"small: done after \d+\.\d s", texts[-1])
    assert notebook[-2]["text/html"].startswith("<progress max='8' value='")
    assert outcome.runs == 8


def test_a_notebook_shows_the_simulated_time_of_one_run_and_names_as_text(notebook: list[dict[str, str]]) -> None:
    cy.examples.scenario("lan-5", overrides={"duration": "20 s", "name": "a<b"}).run()
    assert any(re.match(r"a<b: .* of 20 s simulated", one["text/plain"]) for one in notebook)
    assert all("a&lt;b" in one["text/html"] for one in notebook)


def test_nothing_is_shown_from_python_where_no_notebook_is(capfd: pytest.CaptureFixture[str]) -> None:
    small_experiment().run()
    assert capfd.readouterr() == ("", "")


def test_a_notebook_shows_experiments_studies_and_stores(tmp_path: Path) -> None:
    base = cy.examples.scenario("lan-5").with_values({"duration": "20 ms"})
    experiment = ex.Experiment(
        name="drops",
        title="Which <policy>?",
        base=base,
        axes=[ex.Axis("switch.west.ubr.drop", ["epd", "fba"], name="policy")],
        metrics=["cell_loss_ratio"],
        replications=2,
    )
    shown = experiment._repr_html_()
    assert "Which &lt;policy&gt;?" in shown and "2 points, 4 runs" in shown and "<td>epd, fba</td>" in shown
    with cy.open_store(tmp_path / "runs.sqlite", create=True) as store:
        outcome = experiment.run(store=store)
        assert "runs.sqlite: 4 runs" in store._repr_html_() and "<td>lan-5</td>" in store._repr_html_()
    shown = outcome._repr_html_()
    assert outcome.answer and all(escape(sentence) in shown for sentence in outcome.answer.sentences)
    assert shown.count("<img") == 1 and 'alt="' in shown and "<td>epd</td>" in shown
    drawn = outcome.figures()
    assert [figure.name for figure in drawn] == ["lines"] and drawn[0].alt in unescape(shown)
    study = load("ubr-plus")
    assert study.question in unescape(study._repr_html_()) and "2-3</td>" in study._repr_html_()


def test_an_outcome_shows_itself_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    base = cy.examples.scenario("lan-5").with_values({"duration": "10 ms"})
    outcome = ex.Experiment(name="plain", base=base, metrics=["cell_loss_ratio"], replications=1).run()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<img" not in outcome._repr_html_() and "cell_loss_ratio" in outcome._repr_html_()
