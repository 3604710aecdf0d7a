"""The study runner: documents, selection, ensembles, verdicts."""

import csv
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cellyard.commands import study_run, texts
from cellyard.scenario import Scenario
from cellyard.store import Store
from cellyard.study import Row, Rows, load, select, studies
from cellyard.study.agreement import agreement, rank_correlation
from cellyard.study.metrics import METRICS
from cellyard.study.reproduce import Reproduction
from cellyard.system.errors import ScenarioError, UsageError
from conftest import Cli, reproduced
from hypothesis import given, strategies as st

STUDIES = sorted(studies())


def document(cli: Cli, *options: object) -> dict[str, Any]:
    shown = cli.ok("study", "run", *options, "--format", "json")
    found: dict[str, Any] = json.loads(shown)
    return found


def test_rows_of_table_1_reach_the_published_queues_on_the_lan(cli: Cli) -> None:
    found = document(cli, "ubr-plus", "--table", "1")
    rows = {(row["configuration"], row["sources"]): row for row in found["rows"]}
    assert rows["lan", 5]["simulated"]["max_queue_cells"] == 7591
    assert rows["lan", 15]["simulated"]["max_queue_cells"] == 22831
    assert rows["wan", 5]["simulated"]["max_queue_cells"] == pytest.approx(59211, rel=0.001)
    assert rows["wan", 15]["simulated"]["max_queue_cells"] == pytest.approx(196203, rel=0.02)
    for (configuration, _), row in rows.items():
        floor = 0.999 if configuration == "lan" else 0.98
        assert row["simulated"]["efficiency"] >= floor and row["simulated"]["fairness"] >= floor
        assert row["simulated"]["cell_loss_ratio"] == 0


def test_document_has_the_promised_shape(cli: Cli) -> None:
    options = ["--table", "2-3", "--where", "configuration=lan", "--where", "buffer_cells=1000", "--replications", 3]
    found = document(cli, "ubr-plus", *options)
    assert list(found) == [
        "study", "engine_version", "seed", "replications", "centre", "complete", "notes", "rows", "answer", "numbers", "evidence",
            "summary",
        "claims", "cells", "bottleneck_cells", "timing", "provenance",
    ]  # fmt: skip
    assert len(found["rows"]) == 8
    row = found["rows"][0]
    parameters = ["configuration", "sources", "buffer_cells", "drop_policy"]
    assert list(row) == ["table", *parameters, "simulated", "published", "range"]
    assert set(row["simulated"]) == {*METRICS, "vc_goodput_mbps"}
    assert len(row["simulated"]["vc_goodput_mbps"]) == row["sources"]
    assert row["published"] == {"efficiency": 0.21, "fairness": 0.68}
    for metric, (low, high) in row["range"].items():
        assert low <= row["simulated"][metric] <= high
    for metric in ("efficiency", "fairness"):
        summary = found["summary"][metric]
        assert summary["rows"] == 8 and 0 <= summary["inside_range"] <= 8
        errors = [abs(r["simulated"][metric] - r["published"][metric]) for r in found["rows"]]
        assert summary["mean_abs_error"] == pytest.approx(np.mean(errors))
        assert {g.get("configuration") for g in summary["groups"]} == {None, "lan"}
    assert found["replications"] == 3 and found["centre"] == "median"
    assert found["claims"] == []  # their tables are incomplete


@pytest.mark.parametrize("centre", ["median", "mean"])
def test_simulated_is_the_centre_that_the_study_states(centre: str) -> None:
    study = load("ubr-plus")
    study = replace(study, info={**study.info, "centre": centre})
    row = select(study, ["2-3"], {"configuration": "lan", "buffer_cells": "1000"})[:1]
    begun = Reproduction(study, Rows(row), replications=3)
    assert texts.of_study(study, begun, begun.to_dict(wall_seconds=0)).startswith("no row finished, seed ")
    done = reproduced(study, Rows(row), replications=3)
    assert f"{centre}s of 3 replications" in texts.of_study(study, done, done.to_dict(wall_seconds=0))
    values = study.scenario(row[0]).run(replications=3).values("efficiency")
    expected = {"median": np.median(values), "mean": np.mean(values)}
    assert expected["median"] != expected["mean"]
    assert done.rows[0].simulated["efficiency"] == pytest.approx(expected[centre])
    assert done.to_dict(wall_seconds=0)["centre"] == centre


def test_everything_but_timing_is_the_same_for_any_number_of_jobs(cli: Cli) -> None:
    options = shlex.split("ubr-plus --table 2-3 --where configuration=lan --where sources=5 --replications 2")
    first, *others = (document(cli, *options, "--jobs", jobs) for jobs in (1, 2, 5))
    apart = {"timing": 0, "provenance": 0}
    assert all(other | apart == first | apart for other in others) and len(first["rows"]) == 12


def test_study_resumes_from_its_folder(cli: Cli, tmp_path: Path) -> None:
    options = ["ubr-plus", "--table", "1", "--out", "out"]
    first = document(cli, *options)
    again = document(cli, *options)
    assert again["timing"]["cpu_seconds"] == 0 < first["timing"]["cpu_seconds"]
    apart = {"timing": 0, "provenance": 0}
    assert again | apart == first | apart
    assert json.loads((tmp_path / "out/ubr-plus.json").read_text())["rows"] == first["rows"]
    lines = list(csv.DictReader((tmp_path / "out/ubr-plus.csv").open()))
    assert lines[0]["simulated.max_queue_cells"] == "7591"
    assert not any(" " in value for column, value in lines[0].items() if column.startswith("simulated."))
    vcs = list(csv.DictReader((tmp_path / "out/ubr-plus-vcs.csv").open()))
    assert [line["vc"] for line in vcs[:6]] == ["1", "2", "3", "4", "5", "1"]
    assert sum(float(line["goodput_mbps"]) for line in vcs[:5]) == pytest.approx(125.2, rel=1e-3)


def test_only_runs_that_are_to_be_made_are_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def announced(rows: Rows, replications: int) -> str:
        with Store(tmp_path / "runs.sqlite") as store:
            work = study_run.StudyWork(study, rows, replications=replications, seed=1)
            work.run({"threads": 1, "store": store, "on": None}, lambda done, points: None)
        return capsys.readouterr().err

    monkeypatch.setattr(study_run, "LONG_SECONDS", 0.0)
    study = load("ubr-plus")
    rows = select(study, ["2-3"], [("configuration", "lan"), ("sources", "5"), ("buffer_cells", "1000")])
    assert len(rows) == 4
    assert announced(Rows(rows[:1]), 1).startswith("ubr-plus: 1 run to make, about ")
    assert announced(Rows(rows[:2]), 1).startswith("ubr-plus: 1 run to make (1 already stored), about ")
    assert announced(rows, 2).startswith("ubr-plus: 6 runs to make (2 already stored), about ")
    assert announced(rows, 2) == ""


@pytest.mark.parametrize(
    ("name", "tables", "where"),
    [
        ("ubr-plus", {"1": {}, "zero-loss": {}}, {"configuration": "lan", "sources": 5}),
        (
            "abr-or-ubr",
            {"ubr": {"receiver_window_bytes": 600000}, "granularity": {"granularity_ms": 100}},
            {"epd": "yes"},
        ),
    ],
)
def test_a_network_that_stands_in_several_tables_is_run_once(
    name: str, tables: dict[str, dict[str, Any]], where: dict[str, Any], tmp_path: Path
) -> None:
    def made(rows: Rows) -> Reproduction:
        done = Reproduction(study, rows)
        assert list(done.advance()) == list(range(1, done.total + 1))
        return done

    study = load(name)
    rows = Rows(study.tables[table].rows.where(**where, **own)[0] for table, own in tables.items())
    with Store(tmp_path / "runs.sqlite") as store:
        assert sum(Reproduction(study, rows).advance(store=store)) == 1
        for one in rows:  # whichever row is chosen, the run is found
            again = Reproduction(study, Rows([one]))
            assert list(again.advance(store=store)) == [1] and again.cpu_seconds == 0
        assert store.kept == 1
    together = made(rows)
    assert [row.table for row in together.rows] == list(tables) and together.total == 1
    assert [row.simulated for row in together.rows] == [made(Rows([row])).rows[0].simulated for row in rows]


def test_tables_beside_others_are_judged_on_their_own() -> None:
    def summary(*tables: str) -> dict[str, Any]:
        done = reproduced(study, select(study, tables, [("sources", "5"), ("buffer_cells", "1000"), ("tcp", "reno")]))
        return done.summary()["efficiency"]

    study = load("guaranteed-rate")
    alone, both = summary("3-5"), summary("3-5", "reno-lan")
    assert "without_tables" not in alone
    assert both["without_tables"] == ["reno-lan"]
    assert both["mean_abs_error"] == alone["mean_abs_error"]
    assert {group["table"] for group in both["groups"]} == {"3-5", "reno-lan"}


def test_csv_has_the_ends_of_ranges_apart(cli: Cli) -> None:
    options = shlex.split("ubr-plus --table 1 --where configuration=lan --replications 2 --format csv")
    done = cli("study", "run", *options)
    line = next(csv.DictReader(done.stdout.splitlines()))
    low, high = (float(line[f"range.efficiency.{end}"]) for end in ("low", "high"))
    assert low <= float(line["simulated.efficiency"]) <= high


def test_table_output_puts_published_beside_simulated(cli: Cli) -> None:
    shown = cli.ok("study", "run", "ubr-plus", "--table", "1")
    assert "max_queue_cells  published" in shown and "7591       7591     +0" in shown
    # The agreement of single runs has no column of ranges.
    several = cli.ok("study", "run", "ubr-plus", "--table", "1", "--replications", 2)
    assert "inside the range" not in shown and "inside the range  if drawn at random" in several
    listed = cli("study", "list").stdout
    assert all(name in listed for name in STUDIES)


def test_every_row_of_every_study_is_a_valid_scenario() -> None:
    for name in STUDIES:
        study = load(name)
        for table in study.tables.values():
            assert table.rows, table.name
            for row in table.rows:
                data = study.scenario(row).to_dict()
                assert data["vcs"]
                if "sources" in row.parameters:
                    tcps = [vc for vc in data["vcs"] if vc["traffic"]["kind"] == "tcp"]
                    directions = 2 if row.get("traffic") == "two-way" else 1
                    assert len(tcps) == directions * row["sources"]


@pytest.mark.parametrize(
    ("name", "table", "where", "efficiency", "fairness"),
    [
        ("ubr-plus", "2-3", {"configuration": "lan", "buffer_cells": "3000"}, 0.08, 0.09),
        ("ubr-plus", "4", {"configuration": "lan", "sources": "15"}, 0.07, 0.05),
        ("ubr-plus", "5", {"sources": "5", "buffer_cells": "1000"}, 0.08, 0.09),
        ("ubr-plus", "6", {"sources": "15", "buffer_cells": "12000"}, 0.03, 0.02),
        ("guaranteed-rate", "1-2", {"configuration": "wan", "buffer_cells": "36000"}, 0.08, 0.13),
        ("guaranteed-rate", "3-5", {"tcp": "vanilla", "buffer_cells": "3000"}, 0.10, 0.20),
        ("guaranteed-rate", "reno-lan", {"sources": "15"}, 0.10, 0.14),
        ("guaranteed-rate", "4-6", {"tcp": "vanilla", "gr": "0.5", "sources": "5"}, 0.04, 0.16),
        ("guaranteed-rate", "4-6", {"tcp": "sack", "gr": "0.5", "sources": "5"}, 0.05, 0.10),
        ("guaranteed-rate", "7-8-9", {"tcp": "vanilla", "drop_policy": "epd"}, 0.06, 0.08),
    ],
)
def test_sampled_rows_stay_near_the_published_values(
    name: str, table: str, where: dict[str, str], efficiency: float, fairness: float
) -> None:
    """Checks bands of mean absolute error, 1.5 times as wide as measured with three replications.

    `make validate` checks all tables.
    """
    study = load(name)
    sampled = reproduced(study, select(study, [table], where), replications=3)
    assert agreement(sampled.rows, "efficiency")["mean_abs_error"] < efficiency
    assert agreement(sampled.rows, "fairness")["mean_abs_error"] < fairness


def test_a_row_that_is_no_scenario_is_named_with_its_table() -> None:
    study = load("cell-discard")
    row = study.tables["1-2"].rows.where(environment="lan", drop_policy="epd")[0]
    row = replace(row, parameters={**row.parameters, "parameters": "threshold=9000"})
    with pytest.raises(ScenarioError) as error:
        study.scenario(row)
    for problem in error.value.problems:
        assert problem.text.startswith("cell-discard, table 1-2, environment = lan, ")
        assert "threshold=9000" in problem.text
        assert problem.path in problem.text


def test_where_takes_any_of_several_values_of_one_parameter() -> None:
    study = load("guaranteed-rate")
    rows = select(study, ["3-5"], [("tcp", "reno"), ("tcp", "sack"), ("sources", "5")])
    assert {row["tcp"] for row in rows} == {"reno", "sack"} and {row["sources"] for row in rows} == {5}
    with pytest.raises(UsageError, match=r"no row has tcp = cubic \(allowed: sack, reno, vanilla\)"):
        select(study, ["3-5"], [("tcp", "reno"), ("tcp", "cubic")])
    with pytest.raises(UsageError, match="rows chosen so far have no vbr_period_ms"):
        select(study, ["1-2", "3-5"], [("tcp", "reno"), ("vbr_period_ms", "300")])


def test_tables_hold_what_was_published() -> None:
    tables = load("ubr-plus").tables
    sizes = {name: len(table.rows) for name, table in tables.items()}
    assert {name: sizes[name] for name in ("1", "2-3", "4", "5", "6")} == {"1": 4, "2-3": 48, "4": 44, "5": 54, "6": 54}
    (factorial,) = tables["5"].rows.where(sources=15, buffer_cells=1000, z=0.5, r_fraction=0.1)
    assert factorial.published == {"efficiency": 0.06, "fairness": 0.20}
    assert all(None not in row.published.values() for name in ("5", "6") for row in tables[name].rows)
    satellite = load("guaranteed-rate").tables["7-8-9"].rows
    (sack,) = satellite.where(tcp="sack", gr=0.1, buffer_cells=200000, drop_policy="selective-drop")
    assert len(satellite) == 54 and sack.published == {"efficiency": 0.78, "fairness": 0.82}
    doubtful = [row for row in tables["4"].rows if row.doubtful]
    assert len(doubtful) == 2 and all("lost" in row.note for row in doubtful)


def test_doubtful_values_are_shown_and_not_judged() -> None:
    row = Row("t", {"n": 1}, {"efficiency": 0.5}, simulated={"efficiency": 0.9})
    assert agreement(Rows([row]), "efficiency")["rows"] == 1
    doubted = replace(row, doubtful=frozenset(["efficiency"]))
    assert agreement(Rows([doubted]), "efficiency")["rows"] == 0
    assert doubted.to_dict()["published"] == {"efficiency": 0.5}


def test_gains_are_from_the_low_value_to_the_high_one_of_rows_alike_in_the_rest() -> None:
    values = {(1, 0.5): 0.75, (1, 0.2): 0.5, (2, 0.2): 0.25, (2, 0.5): 0.125, (4, 0.2): None, (4, 0.5): 1.0}
    values[3, 0.5] = 0.0  # alone
    rows = Rows(Row("t", {"n": n, "z": z}, {"e": None}, simulated={"efficiency": e}) for (n, z), e in values.items())
    found = [(low["n"], low["z"], high["n"], high["z"]) for low, high in rows.pairs("z", 0.2, 0.5)]
    assert found == [(n, 0.2, n, 0.5) for n in (1, 2, 4)]
    assert rows.gains("efficiency", "z", 0.2, 0.5) == [0.25, -0.125]
    assert rows.gains("efficiency", "z", 0.5, 0.2) == [-0.25, 0.125]


@pytest.mark.parametrize(
    ("metric", "published", "ends", "inside"),
    [
        # A value printed with two decimals: from 0.495 to 0.505.
        *(("efficiency", 0.5, (low, 0.6), inside) for low, inside in ((0.504, 1), (0.506, 0))),
        *(("efficiency", 0.5, (0.4, high), inside) for high, inside in ((0.496, 1), (0.494, 0))),
        # A value in whole cells: from 7590.5 to 7591.5.
        *(("max_queue_cells", 7591, (low, 7600.0), inside) for low, inside in ((7591.4, 1), (7591.6, 0))),
        *(("max_queue_cells", 7591, (7500.0, high), inside) for high, inside in ((7590.6, 1), (7590.4, 0))),
    ],
)
def test_published_values_are_inside_a_range_if_what_they_were_rounded_from_can_be(
    metric: str, published: float, ends: tuple[float, float], inside: int
) -> None:
    row = Row("t", {"n": 1}, {metric: published}, simulated={metric: ends[0]}, ranges={metric: ends})
    assert agreement(Rows([row]), metric)["inside_range"] == inside


def test_agreement_tells_how_many_would_be_inside_if_each_were_one_more_draw() -> None:
    row = Row("t", {"n": 1}, {"e": 0.5}, simulated={"e": 0.5}, ranges={"e": (0.4, 0.6)}, runs=20)
    assert agreement(Rows(48 * [row]), "e")["expected_inside"] == pytest.approx(48 * 17 / 21)
    few = Row("t", {"n": 1}, {"e": 0.5}, simulated={"e": 0.5}, ranges={"e": (0.4, 0.6)}, runs=4)
    assert agreement(Rows(48 * [few]), "e")["expected_inside"] == pytest.approx(48 * 3 / 5)
    assert agreement(Rows([Row("t", {"n": 1}, {"e": 0.5}, simulated={"e": 0.5})]), "e")["expected_inside"] is None


def test_metrics_of_the_class_beside_the_tcps_are_those_of_that_class() -> None:
    """Both classes queue and lose cells at the bottleneck, in different numbers.

    Other ports have shorter queues.
    """
    study = load("guaranteed-rate")
    where = {"configuration": "lan", "gr": "0.1", "vbr_buffer": "1000"}
    done = reproduced(study, select(study, ["vbr-cost"], where))
    (row,) = done.rows
    run = study.scenario(row).with_seed(1).run().only
    vbr, ubr = run.classes["vbr"], run.classes["ubr"]
    delays = ("mean_cell_transfer_delay_s", "p99_cell_transfer_delay_s", "cell_delay_variation_s")
    for metric in ("cell_loss_ratio", "max_queue_cells", *delays):
        assert row.simulated[f"vbr_{metric}"] == getattr(vbr, metric) != getattr(ubr, metric)
    assert vbr.max_queue_cells == 1000 < ubr.max_queue_cells


def test_claims_are_judged_when_their_tables_are_whole() -> None:
    study = load("ubr-plus")
    judged = reproduced(study, select(study, ["1", "zero-loss"]), replications=6)
    (claim,) = judged.claims
    assert claim["verdict"] == "holds" and "7591" in claim["evidence"]
    single = reproduced(study, select(study, ["1", "zero-loss"]))
    assert [claim["verdict"] for claim in single.claims] == ["not decided"]
    part = reproduced(study, select(study, ["1", "zero-loss"], {"sources": "5"}))
    assert part.claims == []


values = st.lists(st.integers(0, 6), min_size=3, max_size=12)


@given(st.data())
def test_rank_correlation_agrees_with_pairwise_counts_of_ranks(data: st.DataObject) -> None:
    a = data.draw(values)
    b = data.draw(st.lists(st.integers(0, 6), min_size=len(a), max_size=len(a)))

    def ranks(x: list[int]) -> list[float]:
        return [sum(v < u for v in x) + (sum(v == u for v in x) + 1) / 2 for u in x]

    found = rank_correlation(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(np.corrcoef(ranks(a), ranks(b))[0, 1])


#: Small bursts make the leaky buckets decide within such a short time.
BURSTS = {"measure.warm_up": "0 s", "vc.*.contract.mbs": "400 cells"}
UDP = {**BURSTS, "duration": "60 ms", "vc.VC6.traffic.rate": "50 Mbps"}
SMALL = {"duration": "800 ms", "switch.*.ubr.buffer": "2000 cells"}
SERVICE = {"configuration": "lan", "vbr": "yes"}
LAN_5 = {"configuration": "lan", "sources": "5", "buffer_cells": "1000"}


@pytest.mark.parametrize(
    ("name", "table", "where", "values"),
    [
        ("ubr-plus", "2-3", LAN_5, {"duration": "0.7 s"}),
        ("guaranteed-rate", "3-5", {**LAN_5, "gr": "0.1"}, {"duration": "0.7 s"}),
        *(("gfr-leaky-bucket", "peer-to-peer", {"scheme": n}, {**BURSTS, "duration": "200 ms"}) for n in "12"),
        *(("gfr-leaky-bucket", "tcp-udp", {"scheme": scheme}, UDP) for scheme in ("chapter-8", "dfba", "weighted")),
        ("gfr-leaky-bucket", "chain", {"scheme": "2"}, {**BURSTS, "duration": "100 ms"}),
        *(("abr-or-ubr", "ubr", {"epd": epd}, SMALL) for epd in ("no", "yes")),
        *(
            ("abr-or-ubr", "services", {**SERVICE, "service": of}, {"duration": "60 ms"})
            for of in ("abr", "gfr", "guaranteed-rate")
        ),
    ],
)
def test_shipped_rows_give_one_digest_under_every_kernel(
    name: str, table: str, where: dict[str, str], values: dict[str, str]
) -> None:
    study = load(name)
    # With two classes at the bottleneck, the arithmetic kernel does not apply.
    kernels = ("auto", "slotted", "twin", *(["arithmetic"] if name == "ubr-plus" else []))
    for row in select(study, [table], where)[: 4 if "sources" in where else 1]:
        scenario = Scenario.from_toml(study.scenario(row).to_toml(), overrides=values)
        runs = [scenario.run(digest=True, kernel=kernel).only for kernel in kernels]
        assert len({run.digest for run in runs}) == 1 and runs[0].digest is not None, row.parameters
        assert runs[0].data["vcs"] == runs[2].data["vcs"] and runs[0].data["ports"] == runs[2].data["ports"]
        assert runs[0].totals.cell_loss_ratio or values is not SMALL


@pytest.mark.parametrize("name", sorted(studies()))
def test_every_study_asks_a_question_and_its_stored_summary_answers(name: str) -> None:
    study = load(name)
    summary = (study.folder / "README.md").read_text(encoding="utf-8")
    lines = summary.partition("## Answer\n\n")[2].partition("\n\n")[0].split("\n")
    assert len(lines) == len(study.answer) + 1
    assert study.question.endswith("?") and study.in_short == lines[0].removeprefix("1. ")


def test_titles_of_tables_fit_on_a_line() -> None:
    for name in studies():
        assert all(len(table.title) <= 160 for table in load(name).tables.values()), name
