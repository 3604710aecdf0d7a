"""Metrics of a study: paths into results, its functions, and when a stored run is reused."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cellyard as cy
import pytest
from cellyard import studies as package
from cellyard.commands.run_text import CELL_TOTALS, FRAME_TOTALS
from cellyard.commands.study_run import records, vc_records
from cellyard.results import Totals
from cellyard.results.path import metric_path
from cellyard.store import Store
from cellyard.study import Rows, Study, load, study as study_module
from cellyard.study.reproduce import Reproduction
from conftest import ROOT, reproduced

SCENARIO = """
import cellyard as cy

def scenario(row, shared):
    link = {"rate": "16.96 Mbps", "delay": "1 ms"}
    video = [cy.Vc(name="video", from_="source1", to="sink", traffic=cy.Vbr(rate="4 Mbps", on="10 ms", off="10 ms"))]
    return cy.Scenario(
        name=f"mine {row['sources']}",
        duration="500 ms",
        measure=cy.Measure(max_goodput="10 Mbps"),
        hosts=[cy.Host(name="source", count=2), cy.Host(name="sink")],
        switches=[cy.Switch(name=name, ubr=cy.Queue(buffer="100 cells")) for name in ("west", "east")],
        links=[
            cy.Link(from_="source", to="west", **link),
            cy.Link(from_="west", to="east", rate="8.48 Mbps", delay="1 ms"),
            cy.Link(from_="east", to="sink", **link),
        ],
        vcs=[cy.Vc(name="tcp", from_="source", to="sink", traffic=cy.Tcp()), *(video if row["video"] else [])],
    )
"""

TABLE = """
name = "mine"
group_by = []
[citation]
title = "mine"
[shared]
[[table]]
name = "t"
file = "t.csv"
title = "t"
metrics = ["efficiency"]
"""

Make = Callable[..., Study]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Return a function that writes the study ``mine`` of two rows, with and without a VBR source.

    Each call writes it anew.
    """
    monkeypatch.setattr(package, "__path__", [str(tmp_path)])
    monkeypatch.setattr(study_module, "FOLDER", tmp_path)
    # Compiled modules are identified by second and size. A file written twice in a second would be
    # mistaken for the first.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def forget() -> None:
        for name in [name for name in sys.modules if name.startswith("cellyard.studies.mine")]:
            del sys.modules[name]

    def make(metrics: str = "", own: str = "", column: str = "") -> Study:
        forget()
        folder = tmp_path / "mine"
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        table = TABLE.replace('["efficiency"]', f'["efficiency", "{column}"]') if column else TABLE
        (folder / "study.toml").write_text(f"{table}\n[metrics]\n{metrics}")
        (folder / "tables/t.csv").write_text("sources,video,efficiency\n2,1,0.50\n2,0,\n")
        for name, text in {"scenario": SCENARIO, "claims": "CLAIMS = ()", "metrics": own}.items():
            (folder / f"{name}.py").write_text(text)
        return load("mine")

    yield make
    forget()


def done(study: Study, **options: Any) -> Rows:
    return reproduced(study, study.tables["t"].rows, **options).rows


def lost(run: cy.RunResult, vc: str) -> dict[str, cy.results.DroppedCells]:
    """Return the losses of a VC at each port."""
    return {there.port: there.dropped_cells for there in run.vcs[vc].ports}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("totals.timeouts", lambda r: r.totals.timeouts),
        ("vc.video.cells_sent", lambda r: r.vcs["video"].cells_sent),
        ("max(vc.*.p95_cell_transfer_delay_s)", lambda r: max(v.p95_cell_transfer_delay_s for v in r.vcs.values())),
        ("vc.tcp1.port.west->east.dropped_cells.full", lambda r: lost(r, "tcp1")["west->east"].full),
        ("sum(vc.*.port.*.dropped_cells.total)", lambda r: sum(v.cells_dropped for v in r.vcs.values())),
        ("class.vbr.cell_loss_ratio", lambda r: r.classes["vbr"].cell_loss_ratio),
        ("class.abr.cell_loss_ratio", lambda r: None),
        ("port.west->east.max_queue_cells", lambda r: r.ports["west->east"].max_queue_cells),
        ("port.west->east.dropped_cells.full", lambda r: r.ports["west->east"].dropped_cells.full),
        ("port.west->east.class.vbr.max_queue_cells", lambda r: r.ports["west->east"].classes[0].max_queue_cells),
        ("max(port.*.max_queue_cells)", lambda r: r.totals.max_queue_cells),
        ("min(port.*.max_queue_cells)", lambda r: min(p.max_queue_cells for p in r.ports.values())),
        ("sum(vc.tcp*.goodput_mbps)", lambda r: r.vcs["tcp1"].goodput_mbps + r.vcs["tcp2"].goodput_mbps),
        ("mean(vc.tcp*.timeouts)", lambda r: (r.vcs["tcp1"].timeouts + r.vcs["tcp2"].timeouts) / 2),
        ("sum(port.*.class.*.sent_cells)", lambda r: sum(c.sent_cells for p in r.ports.values() for c in p.classes)),
        ("max(class.a*.cells_sent)", lambda r: None),
    ],
)
def test_a_path_leads_to_a_field_of_the_result(mine: Make, text: str, value: Callable[[cy.RunResult], Any]) -> None:
    study = mine()
    run = study.scenario(study.tables["t"].rows[0]).run().only
    assert metric_path(text).value_in(run) == value(run)
    assert run.totals.max_queue_cells > 0 and run.ports["west->east"].dropped_cells.full > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("totals.timeout", "numeric field of totals `timeout` does not exist; did you mean `timeouts`"),
        ("vc.video.traffic", "numeric field of vc `traffic` does not exist.*cells_sent"),
        ("vc", "numeric field of vc `` does not exist.*cells_sent"),
        ("class.vbrr.cells_sent", "class `vbrr` does not exist; did you mean `vbr`"),
        ("port.a.clas.vbr.sent_cells", "part of port `clas` does not exist; did you mean `class`"),
        ("port.a.dropped_cells.fool", "numeric field of dropped_cells `fool` does not exist.*full, link"),
        ("port.a.dropped_cells", "numeric field of port `dropped_cells` does not exist; did you mean `arrived_cells`"),
        ("top(port.*.max_queue_cells)", "aggregate `top` does not exist.*allowed: max, mean, min, sum"),
        (
            "port.*.max_queue_cells",
            r"port\.\*\.max_queue_cells can match several parts, which must be combined: max\(.*, mean\(.*, min\(.*, sum\(",
        ),
        ("", "part of run `` does not exist.*allowed: class, pool, port, totals, vc"),
    ],
)
def test_a_path_that_leads_nowhere_names_the_file_and_what_there_is(mine: Make, text: str, message: str) -> None:
    with pytest.raises(cy.UsageError, match=rf'mine/study.toml: \[metrics\] x = ".*": {message}'):
        _ = mine(f'x = "{text}"').measures


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (
            'totals = ["timeout"]',
            r"study.toml: \[metrics\] totals: metric `timeout` does not exist; did you mean `timeouts`",
        ),
        ('vcs = ["name"]', r"study.toml: \[metrics\] vcs: metric `name` does not exist \(allowed: .*goodput_mbps"),
        ('totals = "timeouts"', r'study.toml: \[metrics\] totals = "timeouts": must be a list of names'),
        ("own = [1]", r"study.toml: \[metrics\] own = \[1\]: must be a list of names"),
        ("x = 1", r"study.toml: \[metrics\] x = 1: must be a path in quotes"),
        ('efficiency = "totals.efficiency"', "study.toml: .*: efficiency is stated twice"),
        ('vc_goodput_mbps = "totals.goodput_mbps"', "study.toml: .*: vc_goodput_mbps is stated twice"),
        ('totals = ["fairness"]', r"study.toml: table t: metric `efficiency` does not exist \(allowed: fairness\)"),
    ],
)
def test_a_declaration_that_cannot_be_measured_is_refused_before_anything_runs(
    mine: Make, metrics: str, message: str
) -> None:
    study = mine(metrics)
    with pytest.raises(cy.UsageError, match=message):
        Reproduction(study, study.tables["t"].rows)


def test_a_vc_or_port_that_a_run_lacks_is_an_error_that_says_which_there_are(mine: Make) -> None:
    study = mine('x = "vc.video.cells_sent"')
    with pytest.raises(cy.UsageError, match=r"study.toml: .*: mine 2: vc `video` does not exist.*allowed: tcp1, tcp2"):
        done(study)


def test_rows_hold_what_the_study_declares(mine: Make) -> None:
    metrics = """
    totals = ["efficiency", "timeouts"]
    vcs = ["goodput_mbps", "cells_dropped"]
    vbr_mean_cell_transfer_delay_s = "class.vbr.mean_cell_transfer_delay_s"
    queue_cells = "max(port.*.max_queue_cells)"
    """
    rows = done(mine(metrics), replications=2)
    with_video, without = rows
    delay = "vbr_mean_cell_transfer_delay_s"
    names = ["efficiency", "timeouts", delay, "queue_cells", "vc_goodput_mbps", "vc_cells_dropped"]
    assert list(with_video.simulated) == list(without.simulated) == names
    assert with_video.simulated[delay] > 0 and without.simulated[delay] is None
    assert delay in with_video.ranges and delay not in without.ranges
    assert with_video.counts == {"timeouts", "queue_cells"}
    assert len(with_video.simulated["vc_cells_dropped"]) == 3 and len(without.simulated["vc_cells_dropped"]) == 2
    document = {"rows": [row.to_dict() for row in rows]}
    assert [*vc_records(document)[0]] == ["table", "sources", "video", "vc", "goodput_mbps", "cells_dropped"]
    assert sum(r["cells_dropped"] for r in vc_records(document)[:3]) == sum(with_video.simulated["vc_cells_dropped"])
    assert [*records(document)[0]["simulated"]] == names[:4]


OWN = (
    "def metrics(run, row):\n    return {'frames': sum(vc.frames_sent for vc in run.vcs.values()), 'per_source': %s}\n"
)


def test_a_studys_own_function_measures_what_no_path_does(mine: Make) -> None:
    study = mine('own = ["frames", "per_source"]', OWN % "run.totals.goodput_mbps / row['sources']")
    rows = done(study)
    for row in rows:
        run = study.scenario(row).run().only
        assert row.simulated["frames"] == sum(vc.frames_sent for vc in run.vcs.values()) > 0
        assert row.simulated["per_source"] == run.totals.goodput_mbps / 2
        assert "frames" in row.counts and "per_source" not in row.counts


@pytest.mark.parametrize(
    ("names", "value", "message"),
    [
        ('["frames"]', "1.5", r"own = \['frames'\]: its module metrics gives frames, per_source"),
        (
            '["frames", "per_source"]',
            "'much'",
            "its module metrics gives per_source = 'much': must be a number or None",
        ),
        ('["frames", "per_source"]', "float('nan')", "its module metrics gives per_source = nan: must be a number"),
    ],
)
def test_a_studys_own_function_must_give_the_numbers_that_are_declared(
    mine: Make, names: str, value: str, message: str
) -> None:
    with pytest.raises(cy.UsageError, match=message):
        done(mine(f"own = {names}", OWN % value))


def test_a_stored_run_answers_for_any_metrics_as_a_fresh_one_would(mine: Make, tmp_path: Path) -> None:
    def measured(study: Study, store: Store | None = None) -> tuple[list[dict[str, Any]], float]:
        reproduction = Reproduction(study, study.tables["t"].rows)
        list(reproduction.advance(store=store))
        return [dict(row.simulated) for row in reproduction.rows], reproduction.cpu_seconds

    asked = [
        ("", ""),
        ("", ""),
        ('x = "totals.segments"', ""),
        ('x = "totals.timeouts"', ""),
        ('x = "totals.segments"', ""),
        ('totals = ["efficiency"]', ""),
        ('vcs = ["segments"]', ""),
        ('own = ["frames", "per_source"]', OWN % "1.0"),
        ('own = ["frames", "per_source"]', OWN % "2.0"),
        ('own = ["frames", "per_source"]', OWN % "1.0"),
    ]
    seen = []
    for place, (metrics, own) in enumerate(asked):
        study = mine(metrics, own)
        with Store(tmp_path / "runs.sqlite") as store:
            found, cpu_seconds = measured(study, store)
        assert (cpu_seconds > 0) is (place == 0), "only the first asks for runs"
        assert found == measured(study)[0]
        seen.append(found)
    assert seen[2] == seen[4] != seen[3] and seen[7] == seen[9] != seen[8]


def test_the_columns_of_the_summary_are_totals() -> None:
    assert {*FRAME_TOTALS, *CELL_TOTALS} <= set(Totals.numbers())


def test_the_declaration_that_the_documentation_shows_can_be_measured(mine: Make) -> None:
    page = (ROOT / "docs/studies.md").read_text(encoding="utf-8")
    (declared,) = re.findall(r"^```toml\n\[metrics\]\n(.*?)^```", page, re.M | re.S)
    (own,) = re.findall(r"^```python\n(def metrics.*?)^```", page, re.M | re.S)
    row = done(mine(declared, own))[0]
    assert {"vbr_cell_loss_ratio", "tcp_goodput_mbps", "frames_per_timeout", "vc_cells_dropped"} <= set(row.simulated)


def test_what_the_other_end_of_a_vc_and_its_abr_end_systems_did_is_measured() -> None:
    (both,) = cy.examples.scenario("lan-5", overrides={"duration": "100 ms", "vc.traffic.both_ways": "true"}).run()
    assert metric_path("vc.vc1.back.segments").value_in(both) == both.vcs["vc1"].back[0].segments > 0
    (plain,) = cy.examples.scenario("lan-5", overrides={"duration": "1 ms"}).run()
    assert metric_path("vc.vc1.back.segments").value_in(plain) is None
    (paced,) = cy.examples.scenario("abr-erica", overrides={"duration": "1100 ms"}).run()
    name, vc = next(iter(paced.vcs.items()))
    rates = {end.host: end.mean_acr_mbps for end in vc.end_systems}
    assert metric_path(f"sum(vc.{name}.end_system.*.mean_acr_mbps)").value_in(paced) == sum(rates.values()) > 0
