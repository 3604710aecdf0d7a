"""``cellyard store``: overview, tables, upkeep, and comparison of two engines; also from Python."""

import csv
import json
import re
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cellyard as cy
import polars as pl
import pytest
from cellyard import _engine
from cellyard.results.drops import Drops
from cellyard.runs.batch import Job, run_jobs
from cellyard.store import Store
from cellyard.store.upkeep import merge
from conftest import COMMANDS, LAN, Cli, stored

SHORT = cy.Scenario.from_toml(LAN, overrides=[("duration", "5 ms")])
PROBED = SHORT.with_values({"name": "probed", "probe": [cy.CwndProbe(of="vc1")]})


OF_ALL = "SELECT scenario FROM runs"


class Goodput:
    """Keeps one number."""

    identity = "goodput"

    def __call__(self, result: Mapping[str, Any]) -> dict[str, Any]:
        return {"goodput_mbps": result["totals"]["goodput_mbps"]}


def filled(path: Path, *jobs: Job) -> list[Mapping[str, Any]]:
    """Return the results of jobs in order, after storing them."""
    with Store(path) as store:
        return [run.result for run in sorted(run_jobs(jobs, threads=1, store=store), key=lambda run: run.index)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a store of two replications, a run with a probe, and a run of which one number was kept."""
    found = tmp_path / "runs.sqlite"
    plain = [Job(SHORT.canonical, replication) for replication in range(2)]
    filled(found, *plain, Job(PROBED.canonical), Job(PROBED.with_seed(2).canonical, None, Goodput()))
    return found


def test_a_stored_run_is_repeated_from_its_scenario_and_replication(cli: Cli, path: Path, tmp_path: Path) -> None:
    with Store(path) as store:
        for run in store.runs():
            known, scenario = store.result(run), store.scenario(run)
            assert Job(scenario.canonical, run.replication).identity.run == run.hash
            if known is not None:
                assert scenario.run(replication=run.replication).only == known
        wanted = next(run for run in store.runs(name="two TCPs") if run.replication == 1)
        number = store.result(wanted).totals.goodput_mbps  # type: ignore[union-attr]
        hashes = [run.scenario.hex() for run in store.runs(name="probed")]
    again = tmp_path / "again.toml"
    again.write_text(cli("store", "scenario", path, wanted.scenario.hex()[:8]).stdout)
    probe = 'probe=[{ what = "cwnd", of = "vc1" }]'
    shown = cli.ok("run", again, "--replication", "1", "--set", probe, "--format", "json")
    (run_again,) = json.loads(shown)["runs"]
    assert (run_again["replication"], run_again["totals"]["goodput_mbps"]) == (1, number) and run_again["series"]
    for prefix, message in (
        ("zz", f"zz: no scenario in {path} with a hash that begins so (allowed: "),
        ("", ": several scenarios in "),
    ):
        told = cli.refused("store", "scenario", path, prefix)
        assert message in told
        assert all(f"{scenario_hash[:8]} (probed)" in told for scenario_hash in hashes)
    told = cli.refused("run", again, "--replication", "1", "--replications", "2")
    assert (
        told
        == "--replications and --replication cannot be used together: give the number of runs, or the one replication to run\n"
    )
    with pytest.raises(cy.UsageError, match="not both"):
        SHORT.run(replication=1, replications=2)


def test_show_lists_the_runs_of_a_store(cli: Cli, path: Path) -> None:
    shown = cli.ok("store", "show", path)
    assert shown.startswith(f"{path}: 4 runs, ")
    groups = cli.json("store", "show", path)["groups"]
    assert [(group["scenario_name"], group["scenarios"], group["runs"]) for group in groups] == [
        ("probed", 2, 2),
        ("two TCPs", 1, 2),
    ]
    assert all(group["engine_build"] == _engine.build() and group["bytes"] > 0 for group in groups)
    folder = cli("store", "show", path.parent)  # as a folder of --out
    assert folder.stdout == shown
    assert [file.name for file in path.parent.iterdir()] == ["runs.sqlite"]


def test_export_has_the_numbers_of_runs_with_their_identity(cli: Cli, path: Path, tmp_path: Path) -> None:
    results = filled(path, *(Job(SHORT.canonical, replication) for replication in range(2)), Job(PROBED.canonical))
    assert cli("store", "export", path, "--out", "csv", "--format", "csv").returncode == 0
    assert cli("store", "export", path, "--out", "parquet", "--table", "series", "--table", "runs").returncode == 0
    lines = list(csv.DictReader((tmp_path / "csv/runs.csv").open()))
    assert [line["scenario_name"] for line in lines] == ["two TCPs", "two TCPs", "probed"]
    assert [line["replication"] for line in lines] == ["0", "1", ""]
    for line, result in zip(lines, results, strict=True):
        for name, value in result["totals"].items():
            assert (float(line[name]) if line[name] else None) == value
    vcs = pl.read_csv(tmp_path / "csv/vcs.csv")
    assert len(vcs) == 6 and set(vcs["name"]) == {"vc1", "vc2"}
    assert vcs["goodput_mbps"].to_list() == [vc["goodput_mbps"] for result in results for vc in result["vcs"]]
    assert {file.name for file in (tmp_path / "parquet").iterdir()} == {
        "runs.parquet", "series.parquet", "provenance.json", "SHA256SUMS",
    }  # fmt: skip
    assert pl.read_parquet(tmp_path / "parquet/runs.parquet")["finished_utc"].dtype == pl.Datetime("us")
    series = pl.read_parquet(tmp_path / "parquet/series.parquet")
    assert series["value"].to_list() == results[2]["series"][0]["value"].tolist()
    kept = list(csv.DictReader((tmp_path / "csv/kept.csv").open()))
    assert [(line["seed"], line["path"]) for line in kept] == [("2", "goodput_mbps")]
    scenarios = list(csv.DictReader((tmp_path / "csv/scenarios.csv").open()))
    assert SHORT.canonical in [line["canonical"] for line in scenarios] and len(scenarios) == 3


def test_query_answers_in_sql(cli: Cli, path: Path) -> None:
    sql = "SELECT scenario_name, count(*) AS n, max(finished_utc) AS last FROM runs GROUP BY ALL ORDER BY n DESC"
    assert "two TCPs       2" in cli("store", "query", path, sql).stdout
    rows = cli.json("store", "query", path, sql)["rows"]
    assert [(row["scenario_name"], row["n"]) for row in rows] == [("two TCPs", 2), ("probed", 1)]
    joined = "SELECT sum(v.segments) AS s FROM vcs v JOIN runs r USING (run) WHERE r.scenario_name = 'two TCPs'"
    (found,) = csv.DictReader(cli("store", "query", path, joined, "--format", "csv").stdout.splitlines())
    assert int(float(found["s"])) == sum(
        vc["segments"]
        for result in filled(path, Job(SHORT.canonical, 0), Job(SHORT.canonical, 1))
        for vc in result["vcs"]
    )
    for wrong in ("SELECT nothing FROM runs", "nonsense", "", " ; "):
        told = cli.refused("store", "query", path, wrong)
        assert told.startswith("SQL: ") and told.count("\n") == 1


@pytest.mark.parametrize("module", ["polars", "duckdb"])
def test_a_missing_extra_is_named_in_one_sentence(
    path: Path, module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cellyard.cli.command import exit_status
    from cellyard.commands import store_query

    monkeypatch.setitem(__import__("sys").modules, module, None)
    assert exit_status(lambda: store_query.command(path, "SELECT 1", output_format="table")) == 2
    assert capsys.readouterr().err == f"this needs the package {module}: pip install {module}\n"


def test_merge_adds_missing_runs_once(cli: Cli, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    filled(other, Job(SHORT.canonical, 1), Job(SHORT.canonical, 2), Job(PROBED.with_seed(2).canonical))
    done = cli("store", "merge", "all.sqlite", path, other)
    assert done.stdout.splitlines() == [
        f"{path}: 4 runs added, 0 already in the store",
        f"{other}: 1 runs added, 2 already in the store, 1 of these completed with further results",
    ]
    assert cli("store", "merge", "all.sqlite", path, other).stdout.count(" 0 runs added") == 2
    jobs = [*(Job(SHORT.canonical, n) for n in range(3)), Job(PROBED.canonical), Job(PROBED.with_seed(2).canonical)]
    with Store(tmp_path / "all.sqlite") as store:
        found = list(run_jobs(jobs, store=store))
        assert [run.cpu_seconds for run in found] == [0.0] * 5
        fresh = sorted(run_jobs(jobs), key=lambda run: run.index)
        assert [cy.RunResult(run.result) for run in found] == [cy.RunResult(run.result) for run in fresh]
    told = cli.refused("store", "merge", path, path)
    assert "cannot be merged into itself" in told


def test_merge_leaves_out_damaged_runs_and_reports_them(cli: Cli, path: Path) -> None:
    _damage(path)
    done = cli("store", "merge", "new.sqlite", path)
    assert done.returncode == 1 and done.stdout == f"{path}: 3 runs added, 0 already in the store\n"
    assert done.stderr.startswith(f"left out: {path}: the run of two TCPs, seed 1, replication 1 is damaged")


def _damage(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE result SET content = x'00' WHERE run = (SELECT id FROM run WHERE replication = 1)")
    connection.commit()
    connection.close()


def test_merge_reports_results_that_differ(path: Path, tmp_path: Path) -> None:
    job = Job(SHORT.canonical, 0)
    with Store(tmp_path / "other.sqlite") as other, Store(path) as store:
        other.add(job.identity, {"totals": {}})
        done = merge(store, other)
        assert done.left_out == [
            f"{other.path}: the run of two TCPs, seed 1, replication 0 has different results in {path}, which keeps its own"
        ]
        assert store.get(job.identity) != {"totals": {}}


def test_merge_ignores_differences_in_compression(path: Path, tmp_path: Path) -> None:
    job = Job(PROBED.canonical)
    filled(tmp_path / "other.sqlite", job)
    with Store(tmp_path / "other.sqlite") as other, Store(path) as store:
        with other.connection as at_once:
            at_once.execute("UPDATE result SET seal = x'00' WHERE seal IS NOT NULL")
        other.read = store.read  # type: ignore[method-assign]
        done = merge(store, other)
    assert (done.known, done.left_out) == (1, [])


@pytest.mark.parametrize("how", ["canonical = x'00'", "hash = x'00'"])
def test_a_damaged_scenario_is_reported_and_pruned(cli: Cli, path: Path, how: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE scenario SET {how} WHERE name = 'probed' AND seed = 1")
    connection.close()
    for command in (
        ["store", "query", path, "SELECT * FROM scenarios"],
        ["plot", path, "--x", "seed", "--out", "figure.png"],
    ):
        told = cli.refused(*command)
        assert told.count("\n") == 1
        assert "is damaged: " in told and "prune" in told
    assert ": removed 1 run, " in cli("store", "prune", path, "--damaged").stdout
    assert cli("store", "query", path, "SELECT * FROM scenarios").returncode == 0


def test_prune_removes_only_the_selected_runs(cli: Cli, path: Path) -> None:
    assert cli("store", "prune", path).returncode == 2
    size = path.stat().st_size
    _damage(path)
    done = cli("store", "prune", path, "--damaged").stdout
    assert "removed 1 run, " in done and done.endswith("; 3 runs remain\n") and stored(path) == 3
    assert "removed 2 runs, " in cli("store", "prune", path, "--scenario", "probed").stdout
    with Store(path) as store:
        assert [(run.name, run.replication) for run in store.runs()] == [("two TCPs", 0)]
        for table, count in (("scenario", 1), ("engine", 1), ("result", 1), ("piece", 0)):
            assert store.connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (count,)
    assert path.stat().st_size < size


def test_diff_shows_which_numbers_changed_and_by_how_much(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = cli.refused("store", "diff", path)
    assert "needs runs of two engine builds" in told
    before = filled(path, Job(SHORT.canonical, 0), Job(SHORT.canonical, 1))
    monkeypatch.setattr(_engine, "build", lambda: "later")
    with Store(path) as store:
        for replication, result in enumerate(before):
            changed = json.loads(json.dumps(dict(result)))
            if replication == 1:
                changed["totals"]["segments"] += 6
                changed["vcs"][0]["segments"] *= 2
            store.add(Job(SHORT.canonical, replication).identity, changed)
        store.add(Job(SHORT.canonical, 9).identity, before[0])
    monkeypatch.undo()
    found = cli.json("store", "diff", path)
    assert (found["before"], found["after"]) == (_engine.build(), "later")
    assert (found["both"], found["only_before"], found["only_after"]) == (2, 2, 1)
    segments = before[1]["totals"]["segments"], before[1]["vcs"][0]["segments"]
    assert [
        (change["replication"], change["path"], change["before"], change["after"]) for change in found["moved"]
    ] == [
        (1, "totals.segments", segments[0], segments[0] + 6),
        (1, "vcs.vc1.segments", segments[1], 2 * segments[1]),
    ]
    text = cli("store", "diff", path).stdout
    assert "2 numbers changed, in 1 runs" in text
    assert "vcs.*.segments" in text
    assert "replication 1: vcs.vc1.segments" in text
    assert "0.500" in text  # of twice as many
    unchanged = cli("store", "diff", path, "--scenario", "probed").stdout
    assert "0 runs in both builds" in unchanged and "no number changed" in unchanged


def test_runs_stored_by_another_version_are_a_usage_error(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (known,) = filled(path, Job(SHORT.canonical, 0))
    totals = {name: value for name, value in known["totals"].items() if name != "timeouts"}
    unknown = SHORT.canonical.replace('"policy":"epd"', '"policy":"made-up"')
    assert unknown != SHORT.canonical
    monkeypatch.setattr(_engine, "build", lambda: "other")
    with Store(path) as store:
        store.add(Job(SHORT.canonical, 0).identity, {**known, "totals": {**totals, "made_up": 1}})
        store.add(Job(unknown.replace('"two TCPs"', '"unknown"'), 0).identity, dict(known))
    monkeypatch.undo()
    plot = ["plot", path, "--engine", "other", "--x", "switch.west.ubr.buffer", "--y", "efficiency", "--out", "a.png"]
    told = cli.refused(*plot, "--scenario", "two TCPs")
    assert "made by another version of Cellyard: Totals has no timeouts, has the unknown field made_up" in told
    told = cli.refused(*plot, "--scenario", "unknown")
    assert "was written by an incompatible version of Cellyard: unknown variant `made-up`" in told
    (of_it,) = csv.DictReader(
        cli("store", "query", path, f"{OF_ALL} WHERE scenario_name = 'unknown'", "--format", "csv").stdout.splitlines()
    )
    assert cli("store", "scenario", path, of_it["scenario"]).stderr == told


def test_diff_shows_changed_points(cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(path) as store:
        (before,) = (result for run in store.runs(name="probed") if (result := store.result(run)) is not None)
        (series,) = before.data["series"]
        moved = {**series, "value": series["value"] + 5}
        monkeypatch.setattr(_engine, "build", lambda: "later")
        store.add(Job(PROBED.canonical).identity, {**before.data, "series": [moved]})
    monkeypatch.undo()
    (found,) = cli.json("store", "diff", path)["moved"]
    assert (found["path"], found["after"] - found["before"]) == ("series.cwnd.vc1.value", 5)


def test_diff_shows_changed_drops(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lossy = {"duration": "2 s", "probe": [cy.TraceProbe(of="tcp")]}
    canonical = cy.examples.scenario("lossy-link").with_values(lossy).canonical
    (result,) = filled(tmp_path / "traced.sqlite", Job(canonical))
    drops = result["trace"]

    def moved(build: str, records: Any) -> list[Mapping[str, Any]]:
        path = shutil.copy(tmp_path / "traced.sqlite", tmp_path / f"{build}.sqlite")
        monkeypatch.setattr(_engine, "build", lambda: build)
        with Store(path) as store:
            store.add(Job(canonical).identity, {**result, "trace": Drops(records, drops.words)})
        monkeypatch.undo()
        done = cli("store", "diff", path, "--format", "json")
        return list(json.loads(done.stdout)["moved"])

    assert moved("same", drops.records) == []
    (fewer,) = moved("fewer", drops.records[:-3])
    assert (fewer["path"], fewer["before"], fewer["after"]) == (
        "trace.tcp.source->sink.link.drops",
        len(drops),
        len(drops) - 3,
    )
    later = drops.records[:].copy()
    later["time_s"][5:] += 1
    (change,) = moved("later", later)
    assert (change["path"], change["before"], change["after"]) == (
        "trace.time_s",
        drops[5]["time_s"],
        later["time_s"][5],
    )


def test_frames_from_python(path: Path) -> None:
    with cy.open_store(path.parent) as store:
        in_polars, in_pandas = store.to_frame("runs"), store.to_frame("runs", library="pandas")
        assert in_polars["fairness"].to_list() == in_pandas["fairness"].to_list() and len(in_polars) == 3
        assert len(store.to_frame("ports", name="probed")) == len(PROBED.run().ports)
        points = [
            point
            for run in store.runs(name="probed")
            if (found := store.result(run))
            for point in found.series[0].value
        ]
        in_polars, in_pandas = store.to_frame("series"), store.to_frame("series", library="pandas")
        assert in_polars["value"].to_list() == in_pandas["value"].tolist() == points
        assert len(set(in_polars["time_s"])) > 1
        assert list(in_polars.columns) == list(in_pandas.columns) and in_pandas["scenario_name"].unique().tolist() == [
            "probed"
        ]
        assert in_polars["finished_utc"].dtype == store.to_frame("runs")["finished_utc"].dtype
        assert store.to_frame("series", name="none").is_empty()
        assert store.to_frame("series", library="pandas", name="none").empty
        first = next(run for run in store.runs() if run.replication == 0)
        assert store.result(first) == SHORT.run(replications=1)[0]
        with pytest.raises(cy.UsageError, match="table `run`"):
            store.to_frame("run")
        with pytest.raises(cy.UsageError, match="library"):
            store.to_frame(library="numpy")
    with pytest.raises(cy.UsageError, match="this store does not exist"):
        cy.open_store(path.parent / "none.sqlite")


def test_runs_from_python_share_a_store(tmp_path: Path) -> None:
    with cy.open_store(tmp_path / "new.sqlite", create=True) as store:
        first = SHORT.run(replications=2, store=store)
        assert SHORT.run(replications=2, store=store) == first == SHORT.run(replications=2)
    assert stored(tmp_path / "new.sqlite") == 2


@pytest.mark.parametrize("command", ["show", "export", "diff", "prune", "query", "merge"])
def test_a_missing_store_is_one_error_and_is_not_created(cli: Cli, tmp_path: Path, command: str) -> None:
    options: dict[str, list[object]] = {"export": ["--out", "tables"], "prune": ["--damaged"], "query": ["SELECT 1"]}
    names = ["all.sqlite", "none.sqlite"] if command == "merge" else ["none.sqlite"]
    told = cli.refused("store", command, *names, *options.get(command, []))
    assert told.startswith("none.sqlite: this store does not exist; ") and told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["show", "export", "diff", "prune", "query"])
def test_a_file_that_is_no_store_is_refused_without_offering_to_create_one(cli: Cli, lan: Path, command: str) -> None:
    options: dict[str, list[object]] = {"export": ["--out", "tables"], "prune": ["--damaged"], "query": ["SELECT 1"]}
    done = cli("store", command, lan, *options.get(command, []))
    allowed = "allowed: a file written with --store, or a folder written with --out"
    assert (done.returncode, done.stderr) == (2, f"{lan}: is not a store of runs; {allowed}\n")
    lan.write_bytes(b"")
    told = cli.refused("store", command, lan, *options.get(command, []))
    assert told == f"{lan}: is an empty file, not a store of runs; {allowed}\n"
    assert lan.read_bytes() == b""


def test_the_error_about_a_folder_names_the_shared_store_of_its_runs(cli: Cli, lan: Path) -> None:
    assert cli("run", lan, "--out", "out", "--store", "shared.sqlite").returncode == 0
    told = cli.refused("store", "show", "out")
    assert told.startswith("out: has no runs.sqlite; its runs are in ")
    assert f" {lan.parent / 'shared.sqlite'}, the file of --store; allowed: " in told
    assert cli("store", "show", "shared.sqlite").returncode == 0


def test_help_and_docstring_name_every_table() -> None:
    from cellyard.store import frames

    for text in (Store.to_frame.__doc__, COMMANDS["store", "query"].description):
        assert text and not [part for part in frames.PARTS if not re.search(rf"\b{part}\b", text)]


def test_the_varying_parameters_of_scenarios_are_a_table(cli: Cli, lan: Path) -> None:
    grid = ("--grid", "switch.west.ubr.drop=epd,fba", "--grid", "switch.west.ubr.buffer=2..3 cells")
    assert cli("run", lan, *grid, "--set", "duration=10 ms", "--store", "runs.sqlite").returncode == 0
    sql = "SELECT path, value, number, unit, count(*) AS n FROM runs JOIN parameters USING (scenario) GROUP BY ALL ORDER BY ALL"
    (*rows,) = cli.json("store", "query", "runs.sqlite", sql)["rows"]
    assert rows == [
        {"path": "switch.west.ubr.buffer", "value": "2 cells", "number": 2, "unit": "cells", "n": 2},
        {"path": "switch.west.ubr.buffer", "value": "3 cells", "number": 3, "unit": "cells", "n": 2},
        {"path": "switch.west.ubr.drop", "value": "epd", "number": None, "unit": None, "n": 2},
        {"path": "switch.west.ubr.drop", "value": "fba", "number": None, "unit": None, "n": 2},
    ]
