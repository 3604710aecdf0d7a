"""The store of finished runs."""

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import cellyard as cy
import numpy as np
import pytest
from cellyard.results.drops import Drops
from cellyard.runs.batch import Job, run_jobs
from cellyard.runs.identity import Identity
from cellyard.store import Store, schema
from cellyard.store.encoding import PIECE_NUMBERS
from cellyard.system.files import writable_folder
from conftest import LAN, ROOT, Cli, stored

SHORT = cy.Scenario.from_toml(LAN, overrides=[("duration", "5 ms")])
CANONICAL = SHORT.canonical


class Efficiency:
    """Keeps one number, and counts its calls."""

    identity = "efficiency"

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, result: Mapping[str, Any]) -> dict[str, Any]:
        self.calls += 1
        return {"efficiency": result["totals"]["efficiency"]}


def runs(jobs: list[Job], path: Path, **options: Any) -> tuple[list[Mapping[str, Any]], int]:
    """Return results in order, and the number of runs made."""
    with Store(path) as store:
        found = sorted(run_jobs(jobs, store=store, **options), key=lambda run: run.index)
        assert store.failure is None
    return [run.result for run in found], sum(run.cpu_seconds > 0 for run in found)


def test_stored_runs_are_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    jobs = [Job(CANONICAL, replication) for replication in range(4)]
    assert runs(jobs[:2], path)[1] == 2
    fresh = [run.result for run in sorted(run_jobs(jobs), key=lambda run: run.index)]
    assert runs(jobs, path) == (fresh, 2)
    assert runs(jobs, path) == (fresh, 0)
    assert runs([Job(SHORT.with_seed(2).canonical, 0), Job(CANONICAL)], path)[1] == 2
    assert [file.name for file in tmp_path.iterdir()] == ["runs.sqlite"]


def test_equal_jobs_run_once(tmp_path: Path) -> None:
    jobs = [Job(CANONICAL, 1), Job(CANONICAL, 0), Job(CANONICAL, 1)]
    reported: list[float] = []
    found, made = runs(jobs, tmp_path / "runs.sqlite", on_progress=reported.append)
    assert made == 2 and found[0] == found[2] != found[1] and reported[-1] == 3


def test_kept_parts_are_derived_from_a_stored_whole_result_and_then_stored(tmp_path: Path) -> None:
    keep = Efficiency()
    unkept = [Job(CANONICAL, replication) for replication in range(3)]
    kept = [Job(CANONICAL, replication, keep) for replication in range(3)]
    whole, _ = runs(unkept, tmp_path / "a.sqlite")
    found, made = runs(kept, tmp_path / "a.sqlite")
    assert made == 0 and keep.calls == 3
    assert found == [{"efficiency": result["totals"]["efficiency"]} for result in whole]
    assert runs(kept, tmp_path / "a.sqlite") == (found, 0) and keep.calls == 3, "it is stored as well"
    # The reverse also holds: a run of which only a part is kept is stored whole, too.
    assert runs(kept, tmp_path / "b.sqlite") == (found, 3)
    assert runs(unkept, tmp_path / "b.sqlite") == (whole, 0)


def test_of_a_run_with_probes_only_the_kept_part_is_stored(tmp_path: Path) -> None:
    watched = SHORT.with_values({"probe": [cy.CwndProbe(of="vc1")]}).canonical
    found, made = runs([Job(watched, None, Efficiency())], tmp_path / "runs.sqlite")
    assert made == 1 and runs([Job(watched, None, Efficiency())], tmp_path / "runs.sqlite") == (found, 0)
    (whole,), made = runs([Job(watched)], tmp_path / "runs.sqlite")
    assert made == 1 and len(whole["series"][0]["value"]) > 1
    assert runs([Job(watched)], tmp_path / "runs.sqlite")[1] == 0


@pytest.mark.parametrize("options", [{"kernel": "slotted"}, {"digest": True}])
def test_forced_kernels_and_digests_do_not_use_the_store(tmp_path: Path, options: dict[str, Any]) -> None:
    jobs = [Job(CANONICAL)]
    assert runs(jobs, tmp_path / "runs.sqlite", **options)[1] == 1
    assert runs(jobs, tmp_path / "runs.sqlite", **options)[1] == 1
    assert stored(tmp_path / "runs.sqlite") == 0


def test_stored_series_and_drops_are_read_back_unchanged(tmp_path: Path) -> None:
    probes = [cy.CwndProbe(of="vc1"), cy.QueueProbe(of="west->east", interval="500 ns"), cy.TraceProbe(of="vc1")]
    watched = SHORT.with_values({"probe": probes, "duration": "40 ms"})
    jobs = [Job(watched.canonical, replication) for replication in range(2)]
    (ran, made), (loaded, none) = runs(jobs, tmp_path / "runs.sqlite"), runs(jobs, tmp_path / "runs.sqlite")
    assert (made, none) == (2, 0)
    for fresh, stored_result in zip(map(cy.RunResult, ran), map(cy.RunResult, loaded), strict=True):
        assert fresh == stored_result and json.dumps(fresh.to_dict()) == json.dumps(stored_result.to_dict())
        cwnd, queue = stored_result.series
        assert len(queue.value) > PIECE_NUMBERS and len(cwnd.value) > 5
        assert isinstance(queue.value, np.ndarray) and queue.value.dtype == float
        assert isinstance(stored_result.data["trace"], Drops) and len(stored_result.data["trace"]) > 10
    assert cy.RunResult(ran[0]) != cy.RunResult(loaded[1])


def test_runs_of_an_earlier_engine_can_be_read_and_repeated(tmp_path: Path) -> None:
    """The store predates line breaks and averages of drops in documents.

    It has one run with probes and two replications.
    """
    path = tmp_path / "runs.sqlite"
    shutil.copyfile(ROOT / "tests/stores/version-2.sqlite", path)
    with Store(path) as store:
        kept = list(store.runs())
        assert len(kept) == 3
        traced = 0
        for run in kept:
            found = store.result(run)
            assert found
            result, again = found.data, deepcopy(store.scenario(run).run(replication=run.replication).only.data)
            # There are fields that did not exist then.
            for part in ("vcs", "ports"):
                for before, now in zip(result[part], again[part], strict=True):
                    for queue in now.get("classes", ()):
                        for name in (
                            "program_asked",
                            "buffer_bytes",
                            "max_queue_bytes",
                            "buffer_places",
                            "max_queue_places",
                        ):
                            del queue[name]
                    # Utilisation is computed by another formula: its last bit may differ.
                    moved = {name for name in before if before[name] != now[name]}
                    assert moved <= {"utilisation", "measured_utilisation"}
                    assert all(before[name] == pytest.approx(now[name]) for name in moved)
            assert result["totals"] == {name: again["totals"][name] for name in result["totals"]}
            assert found.totals.unfinished_transfers is None
            assert all(port.tied_refusals is None and port.inputs == () for port in found.ports.values())
            for series, series_again in zip(result["series"], again["series"], strict=True):
                assert series["time_s"].tolist() == series_again["time_s"].tolist()
                assert series["value"].tolist() == series_again["value"].tolist()
            assert list(result["trace"]) == list(again["trace"])
            traced += len(result["trace"])
        assert traced > 10


def tampered(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute(statement).rowcount > 0
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE result SET content = (SELECT content FROM result WHERE run = 1) WHERE run = 2",
        "UPDATE result SET recorded = '{}' WHERE run = 2",
        "UPDATE result SET seal = x'00' WHERE run = 2",
        "UPDATE piece SET content = substr(content, 1, 20) WHERE run = 2",
        "UPDATE piece SET run = 3 - run",
        "DELETE FROM piece WHERE run = 2",
    ],
)
def test_a_damaged_result_is_refused_with_its_name(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "runs.sqlite"
    jobs = [Job(SHORT.with_values({"probe": [cy.CwndProbe(of="vc1")]}).canonical, n) for n in range(2)]
    runs(jobs[:1], path)
    runs(jobs[1:], path)
    if "3 - run" in statement:  # without meeting itself on the way
        tampered(path, "UPDATE piece SET run = run + 10")
        statement = "UPDATE piece SET run = 13 - run"
    tampered(path, statement)
    message = r"runs\.sqlite: the run of two TCPs, seed 1, replication 1 is damaged: its checksum does not match"
    with Store(path) as store, pytest.raises(cy.UsageError, match=message):
        store.get(jobs[1].identity)


def refused(path: Path) -> str:
    def there() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}

    before = there()
    with pytest.raises(cy.UsageError) as caught:
        Store(path)
    assert there() == before
    return str(caught.value)


def test_files_that_are_no_store_are_refused_and_nothing_is_left_behind(tmp_path: Path) -> None:
    folder, text, other = tmp_path / "folder", tmp_path / "text", tmp_path / "other.sqlite"
    folder.mkdir()
    text.write_text("my thesis\n" * 100)
    tampered_other = sqlite3.connect(other)
    tampered_other.execute("CREATE TABLE mine (a)")
    tampered_other.close()
    assert refused(folder) == f"{folder}: is a folder; must be a file for finished runs"
    assert refused(text) == f"{text}: is not a store of runs; a new file name creates a new store"
    assert "is an SQLite file, but not a store of runs" in refused(other)
    assert refused(tmp_path / "none/a.sqlite").endswith(
        f"a.sqlite: cannot be created: the folder {tmp_path / 'none'} does not exist"
    )
    with pytest.raises(sqlite3.OperationalError) as unable:
        sqlite3.connect(tmp_path / "none/a.sqlite")
    assert schema._refusal_message(other, unable.value, "") == f"{other}: cannot open a store there"
    with pytest.raises(cy.UsageError, match="this store does not exist"):
        Store(tmp_path / "a", create=False)
    assert not (tmp_path / "a").exists()


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.sqlite") as store:
        store.connection.execute("PRAGMA user_version = 9")
    message = refused(tmp_path / "runs.sqlite")
    assert (
        f"is a store of version 9, written by a newer Cellyard; this one reads up to {len(schema.MIGRATIONS)}"
        in message
    )


def test_a_store_of_an_older_version_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.sqlite"
    (found,), _ = runs([Job(CANONICAL)], path)
    later = [*schema.MIGRATIONS, ("ALTER TABLE run ADD COLUMN note TEXT", "CREATE INDEX later ON run (note)")]
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    assert runs([Job(CANONICAL)], path) == ([found], 0)
    with Store(path) as store:
        assert store.connection.execute("PRAGMA user_version").fetchone() == (len(later),)
        assert store.connection.execute("SELECT note FROM run").fetchall() == [(None,)]
    monkeypatch.undo()
    assert f"version {len(later)}" in refused(path)


def test_a_store_whose_creation_was_interrupted_is_completed(tmp_path: Path) -> None:
    (tmp_path / "empty.sqlite").touch()
    begun = sqlite3.connect(tmp_path / "begun.sqlite")
    begun.execute("PRAGMA journal_mode = WAL")
    begun.close()
    for name in ("empty.sqlite", "begun.sqlite"):
        assert runs([Job(CANONICAL)], tmp_path / name)[1] == 1


READ_ONLY = """
import os, sys
from cellyard.errors import UsageError
from cellyard.store import Store
if os.getuid() == 0:
    os.setuid(65534)
try:
    Store(sys.argv[1])
except UsageError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["runs.sqlite", "new.sqlite"])
def test_a_store_in_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, name: str) -> None:
    runs([Job(CANONICAL)], tmp_path / "runs.sqlite")
    for folder in tmp_path.parents:
        if folder.owner() == tmp_path.owner() and os.getuid() == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    (tmp_path / "runs.sqlite").chmod(0o666)
    tmp_path.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(tmp_path / name)], capture_output=True, text=True, check=True
        )
    finally:
        tmp_path.chmod(0o755)
    assert done.stdout == (
        f"{tmp_path / name}: cannot be read and written: its folder is not writable: Permission denied\n"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["runs.sqlite"]


class Busy(sqlite3.Connection):
    """A connection that reports a busy file the first time each statement is tried."""

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        tried = self.__dict__.setdefault("tried", {"ROLLBACK", "COMMIT"})
        if statement not in tried and not self.in_transaction and "busy_timeout" not in statement:
            tried.add(statement)
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(statement, *values)


@pytest.mark.parametrize("exists", [False, True])
def test_opening_a_store_waits_whichever_statement_finds_it_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    path = tmp_path / "runs.sqlite"
    if exists:
        assert runs([Job(CANONICAL)], path)[1] == 1
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *names, **options: connect(*names, **options, factory=Busy))
    with Store(path) as store:
        assert len(store.connection.__dict__["tried"]) > 5
        assert len(list(store.runs())) == exists


def test_a_writer_waits_for_another_and_reports_when_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "BUSY_SECONDS", 0.3)
    identity = Identity(CANONICAL, 0, "build")
    with Store(tmp_path / "runs.sqlite") as store, Store(tmp_path / "runs.sqlite") as other:
        with schema.transaction(other.connection):
            store.add(identity, {"n": 1})
        assert store.failure and "other processes have been writing" in str(store.failure)
        assert other.get(identity) is None
        store.add(identity, {"n": 1})
        assert other.get(identity) == {"n": 1}


def test_busy_files_are_retried() -> None:
    errors = []
    for code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        error = sqlite3.OperationalError("not now")
        error.sqlite_errorcode = code
        errors.append(error)

    def read() -> int:
        if errors:
            raise errors.pop()
        return 7

    assert schema.retry_while_busy(read) == 7
    damaged = sqlite3.OperationalError("never")
    damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    errors = [damaged, damaged]
    with pytest.raises(sqlite3.OperationalError, match="never"):
        schema.retry_while_busy(read)
    assert len(errors) == 1


def test_commands_share_a_store(cli: Cli, lan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("run", lan, "--set", "duration=20 ms", "--format", "json")
    first = json.loads(cli(*options, "--replications", 2, "--store", "shared.sqlite").stdout)
    monkeypatch.setenv("CELLYARD_STORE", str(tmp_path / "shared.sqlite"))
    again = json.loads(cli(*options, "--replications", 2, "--out", "out").stdout)
    assert again["runs"] == first["runs"] and again["timing"]["cpu_seconds"] == 0 < first["timing"]["cpu_seconds"]
    assert not (tmp_path / "out/runs.sqlite").exists() and stored(tmp_path / "shared.sqlite") == 2
    grid = json.loads(cli(*options, "--replications", 3, "--grid", "switch.west.ubr.drop=epd,fba").stdout)
    assert stored(tmp_path / "shared.sqlite") == 6 and [run["vcs"] for run in grid["runs"][:2]] == [
        run["vcs"] for run in first["runs"]
    ]
    study = shlex.split("study run ubr-plus --table 1 --where configuration=lan --where sources=5 --format json")
    rows = [json.loads(cli(*study).stdout) for _ in range(2)]
    assert rows[0]["rows"] == rows[1]["rows"] and rows[1]["timing"]["cpu_seconds"] == 0
    assert stored(tmp_path / "shared.sqlite") == 7


def test_a_shared_store_that_cannot_be_used_ends_the_command_before_anything_runs(cli: Cli, lan: Path) -> None:
    (cli.folder / "text").write_text("my thesis")
    for command in (("run", lan), ("study", "run", "ubr-plus", "--table", "1")):
        told = cli.refused(*command, "--store", "text")
        assert told.splitlines()[-1] == "text: is not a store of runs; a new file name creates a new store"
    assert (cli.folder / "text").read_text() == "my thesis"
    assert cli("run", lan, "--store", "").returncode == 2


def test_writable_folder_makes_parents_and_leaves_no_trace(tmp_path: Path) -> None:
    assert list(writable_folder(tmp_path / "a/b").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(cy.UsageError, match="cannot be written"):
        writable_folder(tmp_path / "file/deep/er")
    assert {p.name for p in tmp_path.iterdir()} == {"a", "file"}
