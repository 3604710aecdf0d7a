"""Damaged stores: tables are unchanged, or there is one message.

Any column, row or page may be damaged.
"""

import random
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cellyard as cy
import numpy as np
import pytest
from cellyard.commands import store_prune, store_show
from cellyard.runs.batch import Job, run_jobs
from cellyard.store import Store, contents, frames
from cellyard.store.upkeep import merge, remove
from conftest import LAN, Cli, stored

SHORT = cy.Scenario.from_toml(LAN, overrides=[("duration", "5 ms")])
PROBED = SHORT.with_values({"name": "probed", "probe": [cy.CwndProbe(of="vc1")]})
JOBS = [*(Job(SHORT.canonical, replication) for replication in range(3)), Job(PROBED.canonical)]
PARTS = ("runs", "vcs", "kept", "scenarios", "series")


class Goodput:
    """Keeps one number."""

    identity = "goodput"

    def __call__(self, result: Mapping[str, Any]) -> dict[str, Any]:
        return {"goodput_mbps": result["totals"]["goodput_mbps"]}


def filled(path: Path, *jobs: Job) -> None:
    with Store(path) as store:
        list(run_jobs(jobs, threads=1, store=store))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the file of a store of four runs.

    Points are stored for one run. For another, the values kept from it are stored, too.
    """
    path = tmp_path_factory.mktemp("whole") / "runs.sqlite"
    filled(path, *JOBS)
    filled(path, Job(SHORT.canonical, 1, Goodput()))
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, whole: bytes) -> Path:
    found = tmp_path / "runs.sqlite"
    found.write_bytes(whole)
    return found


def tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the tables of a store. Raises `UsageError`."""
    with Store(path) as store:
        return {part: list(map(flat, frames.records(store, part, store.runs()))) for part in PARTS}


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, np.ndarray) else value for name, value in record.items()}


def changed(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount != 0
    connection.close()


def shown(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    store_show.command(path, output_format="csv")
    return capsys.readouterr().out


@pytest.mark.parametrize("change", ["name = 'other'", "seed = 99", "name = x'FF00'", "name = char(27) || '[31m'"])
def test_name_and_seed_are_those_of_the_sealed_text(
    path: Path, change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, overview = tables(path), shown(path, capsys)
    changed(path, f"UPDATE scenario SET {change}")
    assert tables(path) == before and shown(path, capsys) == overview
    with Store(path) as store:
        assert len(list(store.runs(name="two TCPs"))) == 3 and contents.scenarios(store).keys() == {
            run.scenario for run in store.runs()
        }


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE run SET finished_s = -5 WHERE id = 1",
        "UPDATE run SET finished_s = 1000000000000000000 WHERE id = 1",
        "UPDATE run SET finished_s = finished_s + 1 WHERE id = 1",
        "UPDATE run SET cpu_s = cpu_s * 2 WHERE id = 1",
        "UPDATE run SET cpu_s = 'abc' WHERE id = 1",
        "UPDATE run SET bytes = bytes + 1 WHERE id = 1",
        "UPDATE run SET replication = 7 WHERE id = 1",
        "UPDATE run SET scenario = 2 WHERE id = 1",
        "UPDATE run SET scenario = 77 WHERE id = 1",
        "UPDATE run SET hash = 'text' WHERE id = 1",
        "UPDATE engine SET build = x'FF'",
        "UPDATE engine SET build = 'made up'",
        "UPDATE scenario SET canonical = 'text' WHERE id = 1",
        "UPDATE scenario SET hash = 17 WHERE id = 1",
        "DELETE FROM scenario WHERE id = 1",
        "DELETE FROM engine",
        "DELETE FROM result WHERE run = 1",
        "DELETE FROM run WHERE id = 1",
    ],
)
def test_a_damaged_run_is_an_error_in_tables_and_overview_until_it_is_pruned(
    path: Path, change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(path, change)
    for look in (tables, lambda path: shown(path, capsys)):
        with pytest.raises(cy.UsageError, match=r"runs\.sqlite: .*prune .*--damaged` removes damaged runs") as raised:
            look(path)
        assert "\n" not in str(raised.value)
    store_prune.command(path, scenario=None, only_damaged=True)
    assert len(tables(path)["runs"]) == stored(path) < 4
    filled(path, *JOBS)
    assert stored(path) == 4 and len(tables(path)["runs"]) == 4


@pytest.mark.parametrize(
    "change",
    [
        ["UPDATE result SET content = 'text' WHERE run = 2"],
        ["UPDATE result SET recorded = x'FF' WHERE run = 4"],
        ["DELETE FROM result WHERE run = 2 AND keep = x''"],
        ["UPDATE piece SET content = 'text'"],
    ],
)  # fmt: skip
def test_a_result_with_a_missing_or_replaced_part_is_an_error(path: Path, change: list[str]) -> None:
    changed(path, *change)
    with pytest.raises(cy.UsageError, match="is damaged"):
        tables(path)


def test_the_number_of_points_is_sealed(path: Path) -> None:
    none = """UPDATE result SET recorded = '{"points": [0], "drops": null, "words": []}' WHERE run = 4"""
    changed(path, "DELETE FROM piece", none)
    with Store(path) as store, pytest.raises(cy.UsageError, match="its checksum does not match"):
        store.get(JOBS[3].identity)


def emptied(path: Path, table: str) -> None:
    """Overwrite the first page of a table or index so that it claims to have no entries."""
    with sqlite3.connect(path) as connection:
        ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
        ((size,),) = connection.execute("PRAGMA page_size")
    connection.close()
    raw = bytearray(path.read_bytes())
    raw[(page - 1) * size + 1 : page * size] = bytes(size - 1)
    path.write_bytes(raw)


@pytest.mark.parametrize("table", ["run", "scenario", "engine", "result"])
def test_a_table_whose_page_was_zeroed_is_an_error_and_not_an_empty_table(
    path: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    emptied(path, table)
    for look in (tables, lambda path: shown(path, capsys)):
        with pytest.raises(cy.UsageError, match=r"^[^\n]*runs\.sqlite: [^\n]*$"):
            look(path)
        if table == "result":  # the overview reads no results
            break


@pytest.mark.parametrize("index", ["sqlite_autoindex_run_1", "sqlite_autoindex_result_1"])
def test_prune_rebuilds_an_index_whose_page_was_zeroed(path: Path, index: str) -> None:
    before = tables(path)
    emptied(path, index)
    with pytest.raises(cy.UsageError, match=r"prune .*--damaged"):
        tables(path)
    store_prune.command(path, scenario=None, only_damaged=True)
    assert tables(path) == before


def test_flipped_bits_and_zeroed_holes_never_change_a_table_in_silence(path: Path, whole: bytes) -> None:
    before, draw = tables(path), random.Random(38)
    refused = 0
    for case in range(120):
        raw, place = bytearray(whole), draw.randrange(len(whole))
        if case % 4:
            raw[place] ^= 1 << draw.randrange(8)
        else:
            raw[place : place + 512] = bytes(len(raw[place : place + 512]))
        path.write_bytes(raw)
        try:
            assert tables(path) == before
        except cy.UsageError as error:
            assert str(error).startswith(f"{path}: ")
            refused += 1
        for beside in path.parent.glob("runs.sqlite-*"):
            beside.unlink()
    assert 5 < refused < 120


def test_two_concurrent_prunes_keep_runs_added_in_between(path: Path) -> None:
    with Store(path) as store, Store(path) as other:
        chosen = list(store.runs())
        assert len(remove(other, list(other.runs()))) == 4
        filled(path, *(Job(SHORT.with_seed(7).canonical, replication) for replication in range(4)))
        assert [run.number for run in other.runs()] == [run.number for run in chosen]
        assert remove(store, chosen) == [] and stored(path) == 4


def test_a_run_repaired_after_selection_is_not_pruned(path: Path) -> None:
    changed(path, "UPDATE result SET content = x'00' WHERE run = 4")
    with Store(path) as store, Store(path) as other:

        def is_damaged(run: contents.StoredRun) -> bool:
            return bool(contents.damage_in(store, run))

        chosen = list(filter(is_damaged, store.runs()))
        assert [run.number for run in chosen] == [4]
        remove(other, chosen)
        filled(path, JOBS[3])
        assert [run.number for run in other.runs()] == [1, 2, 3, 4]
        assert remove(store, chosen, is_damaged) == [] and stored(path) == 4


def test_tables_show_one_moment_while_another_process_prunes(path: Path) -> None:
    before = tables(path)["runs"]
    with Store(path) as store, Store(path) as other, store.snapshot():
        found = frames.records(store, "runs", store.runs())
        first = next(found)
        remove(other, list(other.runs()))
        assert [first, *found] == before and stored(path) == 0


def test_merge_reads_a_store_at_one_moment(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, judge = tables(path), contents.damage_in

    def pruned(store: Store, run: contents.StoredRun) -> str:
        with Store(path) as other:
            remove(other, list(other.runs()))
        return judge(store, run)

    monkeypatch.setattr(contents, "damage_in", pruned)
    with Store(tmp_path / "all.sqlite") as store, Store(path) as other:
        done = merge(store, other)
    assert (done.added, done.left_out) == (4, []) and tables(tmp_path / "all.sqlite") == before


def test_runs_of_a_store_of_version_1_are_sealed_when_results_are_added(path: Path, whole: bytes) -> None:
    before = tables(path)
    changed(path, "ALTER TABLE run DROP COLUMN seal", "PRAGMA user_version = 1")
    assert tables(path) == before
    filled(path, Job(SHORT.canonical, 2, Goodput()))
    with Store(path) as store:
        assert [run.seal is None for run in store.runs()] == [True, True, False, True]
    changed(path, "UPDATE run SET cpu_s = 7 WHERE id = 1")
    assert tables(path)["runs"][0]["cpu_s"] == 7
    changed(path, "UPDATE run SET cpu_s = 7 WHERE id = 3")
    with pytest.raises(cy.UsageError, match="replication 2 is damaged"):
        tables(path)


def sizes(path: Path) -> tuple[list[int], list[int]]:
    """Return the bytes that a store counts for its runs, and those that it has."""
    with Store(path) as store:
        runs = list(store.runs())
        for run in runs:
            contents.check_run(store, run)
        sums = [
            store.connection.execute(
                "SELECT (SELECT sum(length(content)) FROM result WHERE run = ?1)"
                " + coalesce((SELECT sum(length(content)) FROM piece WHERE run = ?1), 0)",
                (run.number,),
            ).fetchone()[0]
            for run in runs
        ]
    return [run.bytes for run in runs], sums


def test_bytes_of_runs_are_counted_once_however_they_were_added(path: Path, tmp_path: Path) -> None:
    counted, actual = sizes(path)
    assert counted == actual and len(set(counted)) > 1
    filled(path, *JOBS)  # are there
    assert sizes(path) == (counted, actual)
    with Store(tmp_path / "all.sqlite") as store, Store(path) as other:
        merge(store, other)
        assert merge(store, other).known == 4
    assert sizes(tmp_path / "all.sqlite") == (counted, actual)
    filled(tmp_path / "part.sqlite", JOBS[0])
    filled(path, Job(SHORT.canonical, 0, Goodput()))
    with Store(tmp_path / "part.sqlite") as store, Store(path) as other:
        assert merge(store, other).completed == 1
    counted, actual = sizes(tmp_path / "part.sqlite")
    assert counted == actual == sizes(path)[0]


def test_a_command_on_a_damaged_store_is_one_line_and_status_2(cli: Cli, path: Path) -> None:
    emptied(path, "run")
    told = cli.refused("store", "export", path, "--out", "tables")
    assert told == (
        f"{path}: is damaged: runs that are lost although their results exist: 4; "
        f"`cellyard store prune {path} --damaged` removes damaged runs\n"
    )
    assert cli("store", "prune", path, "--damaged").stdout.endswith("; 0 runs remain\n")


def test_advice_on_a_damaged_store_is_quoted_for_a_shell(cli: Cli, path: Path, tmp_path: Path) -> None:
    emptied(path, "run")
    odd = path.rename(tmp_path / "a $(b).sqlite")
    assert f"`cellyard store prune '{odd}' --damaged`" in cli("store", "export", odd, "--out", "tables").stderr
