"""Merges stores and removes runs."""

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from cellyard.results.run import with_lists
from cellyard.store import contents, schema
from cellyard.store.contents import StoredRun
from cellyard.store.encoding import Piece, piece_seal
from cellyard.store.file import Store
from cellyard.system.errors import UsageError

#: Number of runs per transaction. Others can write in between.
RUNS_PER_TRANSACTION = 200


@dataclass
class MergeReport:
    """Result of a merge: runs added, runs already there, results added to those, and what was left out, in words."""

    added: int = 0
    known: int = 0
    completed: int = 0
    left_out: list[str] = field(default_factory=list)


def merge(store: Store, other: Store) -> MergeReport:
    """Add the runs of ``other`` that are missing from ``store``, and missing results of its runs.

    Damaged runs are left out. If both have a result, that of ``store`` stays; differences are
    reported. Raises `UsageError` when ``store`` cannot be written.
    """
    done = MergeReport()
    with other.snapshot():
        _merge(store, other, done)
    return done


def _merge(store: Store, other: Store, done: MergeReport) -> None:
    try:
        if missing := contents.missing_parts(other):
            done.left_out.append(f"{other.path}: is damaged: {missing}")
        for portion in _portions(contents.runs(other)):
            whole = [(run, why) for run in portion for why in [contents.damage_in(other, run)]]
            done.left_out += [f"{other.path}: {run.label} is damaged: {why}" for run, why in whole if why]
            with schema.transaction(store.connection):
                for run in (run for run, why in whole if not why):
                    _merge_run(store, other, run, done)
    except sqlite3.Error as error:
        raise UsageError(f"{store.path}: cannot be written: {schema.as_system_error(error).strerror}") from None


def _portions(runs: Iterable[StoredRun]) -> Iterator[Sequence[StoredRun]]:
    rest = iter(runs)
    while portion := list(islice(rest, RUNS_PER_TRANSACTION)):
        yield portion


def _merge_run(store: Store, other: Store, run: StoredRun, done: MergeReport) -> None:
    present = store.connection.execute("SELECT id FROM run WHERE hash = ?", (run.hash,)).fetchone()
    number = int(present[0]) if present else _add_run(store, other, run)
    done.added += not present
    done.known += bool(present)
    completed = 0
    rows = other.connection.execute("SELECT keep, seal, recorded, content FROM result WHERE run = ?", (run.number,))
    for keep, seal, recorded, content in rows.fetchall():
        existing = store.connection.execute(
            "SELECT seal FROM result WHERE run = ? AND keep = ?", (number, keep)
        ).fetchone()
        if existing:
            if existing[0] != seal and _differ(store.read(run.hash, keep), other.read(run.hash, keep)):
                done.left_out.append(
                    f"{other.path}: {run.label} has different results in {store.path}, which keeps its own"
                )
            continue
        row = {"run": number, "keep": keep, "seal": seal, "recorded": recorded, "content": content}
        store.insert("result", row)
        if recorded is not None:
            _copy_pieces(store, number, other.pieces(run.number, run.hash), run.hash)
        completed = 1
    if completed:
        store.count_bytes(number)
    done.completed += completed if present else 0


def _differ(kept: Any, other: Any) -> bool:
    """Whether two results differ in their numbers, however each was compressed. Needed because arrays have no truth value."""
    return kept is None or other is None or with_lists(kept) != with_lists(other)


def _copy_pieces(store: Store, number: int, pieces: Iterable[Piece], run: bytes) -> None:
    """Add the pieces of a run."""
    for piece in pieces:
        seal = piece_seal(run, piece)
        row: dict[str, Any] = {"run": number, "series": piece.series, "place": piece.place, "seal": seal}
        store.insert("piece", {**row, "content": piece.content})


def _add_run(store: Store, other: Store, run: StoredRun) -> int:
    def scenario() -> dict[str, Any]:
        query = "SELECT canonical FROM scenario WHERE hash = ?"
        (canonical,) = other.connection.execute(query, (run.scenario,)).fetchone()
        return {"name": run.name, "seed": run.seed, "canonical": zlib.compress(zlib.decompress(canonical))}

    row = {
        "hash": run.hash,
        "scenario": store.number("scenario", "hash", run.scenario, scenario),
        "replication": run.replication,
        "engine": store.number("engine", "build", run.engine, dict),
        "finished_s": run.finished_s,
        "cpu_s": run.cpu_s,
        "bytes": 0,
    }
    return store.insert("run", row)


def remove(
    store: Store, runs: Iterable[StoredRun], is_chosen: Callable[[StoredRun], bool] = lambda run: True
) -> list[StoredRun]:
    """Remove runs and free their disk space; returns those that were removed.

    Others may write meanwhile, and SQLite reuses the numbers of removed runs. So the transaction
    that removes a run first looks it up again and asks ``is_chosen``. A different run stays. Raises
    `UsageError` when the file cannot be written.
    """
    connection = store.connection
    removed: list[StoredRun] = []
    try:
        for portion in _portions(runs):
            with schema.transaction(connection):
                present = [
                    now for run in portion if (now := contents.run_at(store, run.number)) and now.hash == run.hash
                ]
                chosen = [run for run in present if is_chosen(run)]
                for table, column in (("piece", "run"), ("result", "run"), ("run", "id")):
                    connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(run.number,) for run in chosen])
            removed += chosen
        with schema.transaction(connection):
            for table in ("scenario", "engine"):
                connection.execute(f"DELETE FROM {table} WHERE id NOT IN (SELECT {table} FROM run)")
        schema.retry_while_busy(lambda: connection.execute("PRAGMA incremental_vacuum").fetchall())
        schema.retry_while_busy(lambda: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
    except sqlite3.Error as error:
        raise UsageError(f"{store.path}: cannot be written: {schema.as_system_error(error).strerror}") from None
    return removed


def repair(store: Store) -> None:
    """Remove results whose runs are lost, and rebuild the indices; raises `UsageError` when the file cannot be written."""
    try:
        with schema.transaction(store.connection):
            for table in ("result", "piece"):
                store.connection.execute(f"DELETE FROM {table} WHERE run NOT IN (SELECT id FROM run)")
            store.connection.execute("REINDEX")
    except sqlite3.Error as error:
        raise UsageError(f"{store.path}: cannot be written: {schema.as_system_error(error).strerror}") from None
