"""The store of finished runs in one file. Runs are found by content, and several processes can add runs at a time."""

from __future__ import annotations

import os
import shlex
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cellyard.runs.identity import WHOLE, Identity
from cellyard.runs.protocols import NewRun
from cellyard.show.notebook import sentences_html, table_html
from cellyard.show.words import counted
from cellyard.store import contents, schema
from cellyard.store.encoding import (
    DamageError,
    EncodedResult,
    encoded,
    encoded_part,
    piece_seal,
    run_seal,
    seal,
)
from cellyard.store.reader import Reader
from cellyard.system.errors import UsageError
from cellyard.system.terminal import printable
from cellyard.system.values import file_path

if TYPE_CHECKING:
    from cellyard.results.run import RunResult
    from cellyard.scenario import Scenario
    from cellyard.store.contents import StoredRun

#: Name of the store in a folder of results.
FILE_NAME = "runs.sqlite"

#: Least time between two syncs to the disk, in seconds, except at the end.
DISK_SECONDS = 1.0

_INSERT_RUN = (
    "INSERT INTO run (hash, scenario, replication, engine, finished_s, cpu_s, bytes, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (hash) DO NOTHING"
)

#: Largest document that is stored in addition to the kept part.
WHOLE_BYTES = 1 << 20


def _encoded_parts(run: NewRun) -> dict[bytes, EncodedResult]:
    """The parts of a run to store."""
    if not run.identity.keep:
        return {WHOLE: encoded(run.result, run.text)}
    parts = {run.identity.keep_hash: encoded_part(run.result)}
    if run.text is not None and len(run.text) <= WHOLE_BYTES:
        parts[WHOLE] = encoded({}, run.text)
    return parts


def _scenario_row(identity: Identity) -> dict[str, Any]:
    """The row of a run's scenario."""
    from cellyard import _engine

    name, seed = _engine.heading(identity.scenario)
    return {"name": name, "seed": seed, "canonical": zlib.compress(identity.scenario.encode())}


class Store(Reader, AbstractContextManager["Store"]):
    """Finished runs in one SQLite file, created if missing unless ``create`` is false; closed at the end of the ``with`` block.

    Once `add` returns, the run survives the end of the process. The disk has it within
    `DISK_SECONDS`, or at the end. Every result has a checksum, which is checked on reading. Write
    errors do not stop the runs; `failure` is the first one. Raises `UsageError` when the file is
    not a store, is of a newer version, or cannot be read and written.
    """

    def __init__(self, path: Path | str, *, create: bool = True) -> None:
        super().__init__(Path(path), create=create)
        #: The first write error.
        self.failure: OSError | None = None
        #: Hashes of the runs that were requested and found, or added.
        self._runs: set[bytes] = set()
        self._opened_stat = self.path.stat()
        self._synced_at = time.monotonic()
        self._dirty = False

    def get(self, identity: Identity) -> Mapping[str, Any] | None:
        """Result of the run if it was finished before; raises `UsageError` when it is damaged."""
        try:
            found = self.read(identity.run, identity.keep_hash)
        except DamageError:
            raise UsageError(_damage_message(self.path, identity)) from None
        except sqlite3.Error as error:
            raise UsageError(f"{self.path}: cannot be read: {schema.as_system_error(error).strerror}") from None
        if found is not None:
            self._runs.add(identity.run)
        return found

    def add(
        self,
        identity: Identity,
        result: Mapping[str, Any],
        *,
        replication: int | None = None,
        text: str | None = None,
        cpu_seconds: float = 0.0,
    ) -> None:
        """Store a finished run. Once this returns, killing the process does not lose it.

        ``result`` is the kept part. ``text`` is the engine's document without what probes recorded,
        if available. If nothing was recorded, it is stored too, so that later requests for other
        parts of the run need no new run. ``cpu_seconds`` is the cost. ``replication`` is that of
        ``identity``. A run that is already stored stays as it is.
        """
        self.add_all([NewRun(identity, result, text, cpu_seconds)])

    def add_all(self, runs: Sequence[NewRun]) -> None:
        """Store finished runs in one transaction, like `add`; if that fails, store as many as possible."""
        packs = [(run, _encoded_parts(run)) for run in runs]
        try:
            self._add(packs)
        except (sqlite3.Error, OSError) as error:
            if schema.is_busy(error):
                self._record_failure(error)
                return
            for pack in packs:
                self._add_alone(pack)

    def _add_alone(self, pack: tuple[NewRun, Mapping[bytes, EncodedResult]]) -> None:
        """Store one run. If it does not fit next to the log, move the log into the file first."""
        try:
            self._add([pack])
        except (sqlite3.Error, OSError):
            with suppress(sqlite3.Error):
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            try:
                self._add([pack])
            except (sqlite3.Error, OSError) as error:
                self._record_failure(error)

    def _add(self, packs: Sequence[tuple[NewRun, Mapping[bytes, EncodedResult]]]) -> None:
        to_disk = time.monotonic() - self._synced_at >= DISK_SECONDS
        if to_disk:
            self.connection.execute("PRAGMA synchronous = FULL")
        self._dirty = True
        try:
            with schema.transaction(self.connection):
                #: Numbers of scenarios and engines. No other process can change them during the
                #: transaction.
                numbers: dict[bytes | str, int] = {}
                for run, parts in packs:
                    self._add_run(run, parts, numbers)
        finally:
            if to_disk:
                self.connection.execute("PRAGMA synchronous = NORMAL")
                self._synced_at = time.monotonic()
        self._runs.update(run.identity.run for run, _ in packs)

    def _add_run(self, run: NewRun, parts: Mapping[bytes, EncodedResult], numbers: dict[bytes | str, int]) -> None:
        """Store a run and those of its results that are missing."""
        identity = run.identity
        size = sum([len(part.content) for part in parts.values()])
        finished_s, cpu_s = int(time.time()), float(run.cpu_seconds)
        scenario = self._row_number(
            "scenario", "hash", identity.scenario_hash, lambda: _scenario_row(identity), numbers
        )
        engine = self._row_number("engine", "build", identity.engine, dict, numbers)
        sealed = run_seal(identity.run, finished_s, cpu_s, size)
        row = (identity.run, scenario, identity.replication, engine, finished_s, cpu_s, size, sealed)
        cursor = self.connection.execute(_INSERT_RUN, row)
        if cursor.rowcount:
            number = int(cursor.lastrowid or 0)
        else:
            query = "SELECT id FROM run WHERE hash = ?"
            number, size = int(self.connection.execute(query, (identity.run,)).fetchone()[0]), 0
        if sum(self._add_result(identity, number, keep, part) for keep, part in parts.items()) != size:
            self.count_bytes(number)

    def count_bytes(self, run: int) -> None:
        """Record the total size in bytes of the results of the run with that number, after some were added."""
        query = "SELECT hash, finished_s, cpu_s, bytes, seal FROM run WHERE id = ?"
        ((known, finished_s, cpu_s, before, sealed),) = self.connection.execute(query, (run,))
        if sealed is not None and sealed != run_seal(known, finished_s, cpu_s, before):
            return  # what is damaged stays so, and is noticed
        size = contents.stored_bytes(self, run)
        values = (size, run_seal(known, finished_s, cpu_s, size), run)
        self.connection.execute("UPDATE run SET bytes = ?, seal = ? WHERE id = ?", values)

    def _row_number(
        self,
        table: str,
        column: str,
        value: bytes | str,
        others: Callable[[], Mapping[str, Any]],
        numbers: dict[bytes | str, int],
    ) -> int:
        if value not in numbers:
            numbers[value] = self.number(table, column, value, others)
        return numbers[value]

    def number(self, table: str, column: str, value: bytes | str, others: Callable[[], Mapping[str, Any]]) -> int:
        """Number of the row with that value in a table. A missing row is created with ``others``."""
        row = self.connection.execute(f"SELECT id FROM {table} WHERE {column} = ?", (value,)).fetchone()
        return int(row[0]) if row else self.insert(table, {column: value, **others()})

    def insert(self, table: str, values: Mapping[str, Any]) -> int:
        """Add a row and return its number."""
        marks = ", ".join("?" * len(values))
        statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"
        return int(self.connection.execute(statement, tuple(values.values())).lastrowid or 0)

    def _add_result(self, identity: Identity, run: int, keep: bytes, part: EncodedResult) -> int:
        """Store a result unless it exists; returns the number of bytes added."""
        values = (run, keep, seal(identity.run, keep, part.recorded, part.content), part.recorded, part.content)
        cursor = self.connection.execute(
            "INSERT OR IGNORE INTO result (run, keep, seal, recorded, content) VALUES (?, ?, ?, ?, ?)", values
        )
        if not cursor.rowcount:
            return 0
        size = len(part.content)
        for piece in part.pieces():
            sealed = piece_seal(identity.run, piece)
            row = {"run": run, "series": piece.series, "place": piece.place, "seal": sealed, "content": piece.content}
            self.insert("piece", row)
            size += len(piece.content)
        return size

    def _record_failure(self, error: Exception) -> None:
        self.failure = self.failure or schema.as_system_error(error, self.path)

    def _repr_html_(self) -> str:
        """Show the file, and the number of runs by scenario name and engine."""
        groups = contents.groups(self)
        title = f"{self.path}: {counted(sum(group.runs for group in groups), 'run')}"
        rows = [[group.name, group.engine, group.runs, f"{group.cpu_s:.1f}"] for group in groups]
        return sentences_html(title, ()) + table_html(["scenario", "engine", "runs", "CPU time [s]"], rows)

    @property
    def kept(self) -> int:
        """Number of runs that were requested or added and are in the file; 0 if the file no longer exists."""
        try:
            return len(self._runs) if os.path.samestat(self._opened_stat, self.path.stat()) else 0
        except OSError:
            return 0

    def runs(self, *, name: str | None = None, engine: str | None = None) -> Iterator[StoredRun]:
        """The stored runs in order of addition, optionally only those of scenarios called ``name`` and of a build of the ``engine``.

        Damaged runs are always included, since their scenario and engine are unknown. Raises
        `UsageError` if runs or results are missing from the file.
        """
        contents.check_tables(self)
        return contents.runs(self, name=name, engine=engine)

    def result(self, run: StoredRun) -> RunResult | None:
        """Result of a run, ``None`` if only a part of it is stored; raises `UsageError` when it is damaged."""
        from cellyard.results.run import RunResult

        found = contents.result(self, run)
        return RunResult(found) if found is not None else None

    def scenario(self, run: StoredRun) -> Scenario:
        """The scenario of a run: ``store.scenario(run).run(replication=run.replication)`` repeats the run."""
        from cellyard.scenario import Scenario

        return Scenario.from_toml(contents.scenario_toml(self, run.scenario))

    def to_frame(
        self, part: str = "runs", *, library: str = "polars", name: str | None = None, engine: str | None = None
    ) -> Any:
        """A table of the stored runs as a frame of polars, or of ``pandas``; needs that package.

        ``part`` is one of:

        - ``runs`` (their totals), ``vcs``, ``vc_ports`` (VCs at their ports), ``transfers`` (files
          of TCPs);
        - ``back`` (data in the other direction), ``end_systems`` (of ABR), ``ports``,
          ``port_classes``, ``port_inputs``, ``pools``, ``pool_ports``, ``classes``;
        - ``kept`` (numbers of partly stored runs), ``scenarios``, ``parameters`` (what varies among
          them);
        - ``series`` (a line for each point; in pandas, names are categories) or ``trace``.

        Names end in their unit. ``name`` and ``engine`` select runs as in `runs`. Raises
        `UsageError` for any other part or library, for a missing library, and for damaged data.
        """
        from cellyard.store import frames

        return frames.frame(self, part, library=library, name=name, engine=engine)

    def close(self) -> None:
        """Write everything to the disk and close the file; safe to call repeatedly."""
        try:
            if self._dirty:
                # Move the log into the file and sync both. The last process to close the file
                # removes the log.
                self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                self._dirty = False
        except sqlite3.ProgrammingError:  # closed already
            return
        except sqlite3.Error as error:
            self._record_failure(error)
        with suppress(sqlite3.Error):
            self.connection.close()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(path: Path | str, *, create: bool = False) -> Store:
    """The store in a file, or in a folder of ``--out``; raises `cellyard.UsageError` when there is none, unless ``create``.

    Use it in a ``with`` block, or `Store.close` it.
    """
    found = file_path("path", path)
    if not found.is_dir():
        return Store(found, create=create)
    if not create and not (found / FILE_NAME).exists():
        from cellyard.store.folder_label import store_of

        shared = store_of(found)
        hint = (
            f"its runs are in {shared}, the file of --store"
            if shared
            else "a command with --store keeps its runs in that file"
        )
        raise UsageError(printable(f"{found}: has no {FILE_NAME}; {hint}; {schema.ALLOWED}"))
    return Store(found / FILE_NAME, create=create)


def _damage_message(path: Path, identity: Identity) -> str:
    from cellyard import _engine

    name, seed = _engine.heading(identity.scenario)
    draw = "" if identity.replication is None else f", replication {identity.replication}"
    return (
        f"{path}: the run of {name}, seed {seed}{draw} is damaged: its checksum does not match; "
        f"`cellyard store prune {shlex.quote(str(path))} --damaged` removes damaged runs, which are then simulated again"
    )
