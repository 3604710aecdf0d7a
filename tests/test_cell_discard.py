"""The fifth study: its tables, its networks, and the collapse in a short run."""

import html
import shlex
from dataclasses import replace
from pathlib import Path
from statistics import mean
from types import SimpleNamespace

import pytest
from cellyard import plot
from cellyard.scenario import Scenario
from cellyard.study import Row, Rows, load
from conftest import Cli

STUDY = load("cell-discard")
scenario = STUDY.part("scenario")
metrics = STUDY.part("metrics")

#: Metrics of a run in which nothing arrives.
NOTHING = {
    "fairness": None,
    "mean_queue_cells": 20.0,
    "p50_transfer_s": None,
    "p95_transfer_s": None,
    "unfinished_sources": 50.0,
}


def test_the_table_is_that_published() -> None:
    rows = STUDY.tables["1-2"].rows
    published = [(row.published["goodput"] or 0, row.published["fairness"] or 0) for row in rows]
    assert len(rows) == 16 and round(sum(g for g, _ in published), 3) == 14.629
    assert min(f for _, f in published) == 0.085


def test_ideal_goodputs_are_those_of_the_text() -> None:
    ideal = {key: scenario.ideal_bps(STUDY.info["shared"][key]["rate"], sources, mss) / 1e3
             for key, sources in (("lan", 10), ("access", 50)) for mss in (1460,)}  # fmt: skip
    assert round(ideal["lan"] / 1e3, 1) == 12.9 and round(ideal["access"]) == 584
    assert round(scenario.ideal_bps("149.76 Mbps", 10, 9140) / 1e6, 1) == 13.5
    assert round(scenario.ideal_bps("33.92 Mbps", 50, 9140) / 1e3) == 609


@pytest.mark.parametrize("table", sorted(STUDY.tables))
def test_a_row_is_what_is_simulated(table: str) -> None:
    names = {"red": "atm-red", "drop-from-front-frames": "frame-drop-from-front"}
    for row in STUDY.tables[table].rows:
        found = STUDY.scenario(row).to_dict()
        (queue,) = found["switches"][0]["queues"]
        assert queue["drop"]["policy"] == names.get(row["drop_policy"], row["drop_policy"]) and queue["buffer"] == 8192
        tcps = [vc["traffic"] for vc in found["vcs"]]
        assert len(tcps) == row.get("sources", 10 if row["environment"] == "lan" else 50)
        assert {tcp["mss"] for tcp in tcps} == {row["mss_bytes"]}
        assert {tcp["both_ways"] for tcp in tcps} == {row.get("two_way") == "yes"}
        if row["drop_policy"] == "red":
            given = scenario.parameters(row["parameters"])
            assert queue["drop"]["min_th"] == {"cells": given["min_th"]}
            assert queue["drop"]["segment_cells"] == {1460: 32, 9140: 192}[row["mss_bytes"]]


def measured(policy: str, mss_bytes: int) -> dict[str, float]:
    """Return the means of two short runs of the access network."""
    (row,) = STUDY.tables["1-2"].rows.where(environment="access", mss_bytes=mss_bytes, drop_policy=policy)
    runs = list(short(row).run(replications=2))
    each = [metrics.metrics(run, row) for run in runs]
    return {key: mean(one[key] or 0.0 for one in each) for key in each[0]}


def short(row: Row) -> Scenario:
    return STUDY.scenario(row).with_values({"duration": "40 s"})


def test_ubr_collapses_with_large_segments_and_not_with_small_ones() -> None:
    large, small, epd = measured("tail-drop", 9140), measured("tail-drop", 1460), measured("epd", 1460)
    assert large["fairness"] < 0.5 < 0.7 < small["fairness"]
    assert large["unfinished_sources"] >= 5 and small["unfinished_sources"] == 0
    assert epd["goodput"] > small["goodput"] + 0.05 and epd["wasted_percent"] < small["wasted_percent"]


def test_claims_and_answer_are_told_where_no_source_gets_through() -> None:
    rows = [
        replace(row, simulated={**NOTHING, "goodput": 0.0}) for table in STUDY.tables.values() for row in table.rows
    ]
    for claim in STUDY.claims:
        assert claim.judge(Rows(rows)).evidence


def test_rows_whose_single_runs_mislead_are_replicated_by_default(cli: Cli) -> None:
    chosen = shlex.split("--table 1-2 --where environment=access --where drop_policy=epd --where mss_bytes=9140")
    done = cli("study", "run", "cell-discard", *chosen)
    assert done.stderr == (
        "note: each row has 6 replications, since in single runs all sources start at once, "
        "and with 9140 bytes they collide again and again\n"
    )
    assert "\nmeans of 6 replications, " in done.stdout
    ensemble = cli("study", "run", "cell-discard", *chosen, "--replications", "2")
    assert "\nfairness: the text's index (equations 2 and 3): 1 minus the mean distance " in ensemble.stdout
    assert f"\n{STUDY.centre}s of the replications, min-max:\nenvironment" in ensemble.stdout
    assert ensemble.stderr == ""


def test_what_fairness_is_here_stands_in_the_report_and_in_the_stored_summary(cli: Cli, tmp_path: Path) -> None:
    where = [option for key in ("environment=lan", "drop_policy=epd", "sources=10") for option in ("--where", key)]
    cli.ok("study", "report", "cell-discard", "--table", "sources", *where, "--replications", 2, "--out", "out")
    told = "fairness: the text's index (equations 2 and 3): 1 minus the mean distance "
    assert told in html.unescape((tmp_path / "out/index.html").read_text(encoding="utf-8"))
    assert told in (tmp_path / "out/README.md").read_text(encoding="utf-8")
    assert f"*Fairness*{told.removeprefix('fairness')}" in (STUDY.folder / "README.md").read_text(encoding="utf-8")


def test_figure_6_shows_a_collapse_in_which_some_sources_get_through() -> None:
    rows = STUDY.tables["1-2"].rows.where(environment="access", drop_policy="tail-drop")
    with plot.style():
        drawn = STUDY.part("figures").collapse(STUDY, rows)
    assert "Replication 0" in drawn.text
    small, large = (axes.lines[0].get_ydata() for axes in drawn.figure.axes)  # kb/s
    assert len(small) == len(large) == 50 and min(small) > 100
    assert sum(rate < 50 for rate in large) >= 5 and sum(rate > 300 for rate in large) >= 20
    run = STUDY.scenario(rows.where(mss_bytes=9140)[0]).run(replications=1).only
    assert sorted(large) == pytest.approx(sorted(1000 * vc.goodput_mbps for vc in run.vcs.values()))


def test_figures_of_single_runs_are_of_the_rows_that_were_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = STUDY.part("figures")
    seen: list[Row] = []

    def watched(_: object, rows: Rows, *__: object) -> list[SimpleNamespace]:
        seen.extend(rows)
        points = SimpleNamespace(time_s=[0.0, 1.0], value=[1.0, 2.0])
        return [SimpleNamespace(vcs={"vc1": SimpleNamespace(goodput_mbps=1.0)}, series=[points]) for _ in rows]

    monkeypatch.setattr(figures, "watched", watched)
    measured = {"goodput": 0.9, "fairness": 0.8, "mean_queue_cells": 1.0, "p50_transfer_s": 1.0, "p95_transfer_s": 2.0}
    measured["wasted_percent"] = 0.0
    every = Rows(replace(row, simulated=measured) for row in STUDY.tables["1-2"].rows)
    wanted: list[tuple[dict[str, object], set[str]]] = [
        ({"environment": "lan"}, {"queues"}),
        ({"mss_bytes": 9140}, {"figure-6"}),
        ({"environment": "access", "mss_bytes": 1460, "drop_policy": ["tail-drop", "red"]}, {"figure-6", "queues"}),
        ({"environment": "lan", "mss_bytes": 9140}, set()),
    ]
    for where, names in wanted:
        seen.clear()
        chosen = every.where(**where)
        with plot.style():
            drawn = {one.name: one for one in (drawing() for drawing in figures.figures(STUDY, chosen))}
        assert names == {"figure-6", "queues"} & set(drawn)
        assert all(row in chosen for row in seen) and bool(seen) == bool(names)
    (row, *_) = STUDY.tables["1-2"].rows
    assert STUDY.scenario(row).seed == 1 and replace(STUDY, seed=7).scenario(row).seed == 7
