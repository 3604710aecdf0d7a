"""The SQLite file of a store: its tables, their version, and opening or refusing a file."""

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from cellyard.system.errors import UsageError
from cellyard.system.files import check_regular

T = TypeVar("T")

#: SQLite application id of a store: the letters "Cyrd".
APPLICATION = 0x43797264

#: Statements that upgrade the tables, one entry per version. The version is their number. Hashes
#: and seals are bytes.
#:
#: `result.keep` is the hash of what is kept, empty for the whole document. `recorded` is JSON that
#: says which parts of the document are in `piece`. A whole result may have points and traced drops,
#: in pieces: series 0, 1, ... and -1 for drops. `scenario.name` and `scenario.seed` are for people
#: who use SQLite directly. Cellyard reads both from the text that the hash seals. `run.seal` covers
#: when a run was added, its CPU time and its bytes. Runs that version 1 stored have no seal.
MIGRATIONS: list[tuple[str, ...]] = [
    (
        "CREATE TABLE engine (id INTEGER PRIMARY KEY, build TEXT NOT NULL UNIQUE)",
        """CREATE TABLE scenario (
            id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, seed INTEGER NOT NULL, canonical BLOB NOT NULL
        )""",
        """CREATE TABLE run (
            id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, scenario INTEGER NOT NULL REFERENCES scenario, replication INTEGER,
            engine INTEGER NOT NULL REFERENCES engine, finished_s INTEGER NOT NULL, cpu_s REAL NOT NULL, bytes INTEGER NOT NULL
        )""",
        """CREATE TABLE result (
            id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, keep BLOB NOT NULL, seal BLOB NOT NULL, recorded TEXT,
            content BLOB NOT NULL, UNIQUE (run, keep)
        )""",
        """CREATE TABLE piece (
            id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, series INTEGER NOT NULL, place INTEGER NOT NULL,
            seal BLOB NOT NULL, content BLOB NOT NULL, UNIQUE (run, series, place)
        )""",
    ),
    ("ALTER TABLE run ADD COLUMN seal BLOB",),
    # Scenarios may have buffers in bytes, and programs that know `length` and `places`, which were names for parameters.
    (),
    # Switches may have pools.
    (),
    # Programs may know `free`, `pool` and `reserve`, which were names for parameters.
    (),
]

#: Longest wait for other writers, whose transactions are short.
BUSY_SECONDS = 30.0

#: Longest wait inside SQLite before checking for an interrupt.
_BUSY_MILLISECONDS = 200

#: Size of SQLite's cache.
_CACHE_KIB = 32 << 10

#: Hints in messages: for options that create a store, and for those that need an existing one.
_NEW_STORE = "a new file name creates a new store"
ALLOWED = "allowed: a file written with --store, or a folder written with --out"


def retry_while_busy(call: Callable[[], T]) -> T:
    """Return the result of ``call``, retried for `BUSY_SECONDS` while another process writes; then raise SQLite's error."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return call()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > until:
                raise


def is_busy(error: Exception) -> bool:
    """Whether another process was writing, or opening and closing so often that SQLite gave up (its "locking protocol")."""
    busy = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in busy


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Make all reads in the block see one moment, even if other processes change it meanwhile."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit all writes in the block together, or none."""
    retry_while_busy(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        yield
        retry_while_busy(lambda: connection.execute("COMMIT"))
    except BaseException:
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Connect to the store in the file ``path``, created if missing and ``create`` is true.

    Raises `UsageError` for a file that is not a store, is of a newer version, or cannot be read and
    written. Nothing is left behind then.
    """
    existed = _is_file(path, create=create)
    connection: sqlite3.Connection | None = None
    try:
        if existed and not os.access(path, os.W_OK):
            raise _denied(path)
        if not os.access(path.parent, os.W_OK):
            denied = _denied(path.parent)
            raise OSError(denied.errno, f"its folder is not writable: {denied.strerror}")
        uri = f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        # Decode damaged text anyway, since the checksum finds it.
        connection.text_factory = lambda raw: raw.decode(errors="replace")
        _prepare(connection, path, _NEW_STORE if create else ALLOWED)
    except (sqlite3.Error, OSError) as error:
        _close_and_clean(connection, path, existed)
        raise UsageError(_refusal_message(path, error, _NEW_STORE if create else ALLOWED)) from None
    except BaseException:
        _close_and_clean(connection, path, existed)
        raise
    return connection


def _denied(path: Path) -> OSError:
    """Why an existing file or folder cannot be written."""
    number = errno.EACCES
    if hasattr(os, "statvfs") and os.statvfs(path).f_flag & os.ST_RDONLY:
        number = errno.EROFS
    return OSError(number, os.strerror(number))


def _files_of(path: Path) -> list[Path]:
    """The file of a store, and its log and index, which are next to the target of a link."""
    target = path.resolve() if path.is_symlink() else path
    return [path, *(target.with_name(target.name + suffix) for suffix in ("-wal", "-shm"))]


def _is_file(path: Path, *, create: bool) -> bool:
    """Whether the file exists; raises `UsageError` when it is not a file, or is required and missing."""
    try:
        if path.is_dir():
            raise UsageError(f"{path}: is a folder; must be a file for finished runs")
        for file in _files_of(path):
            check_regular(file)
        if path.exists():
            # SQLite accepts an empty file as a database and would create tables in it.
            if not create and not path.stat().st_size:
                raise UsageError(f"{path}: is an empty file, not a store of runs; {ALLOWED}")
            return True
        if not create:
            raise UsageError(f"{path}: this store does not exist; {ALLOWED}")
        if not path.parent.is_dir():
            raise UsageError(f"{path}: cannot be created: the folder {path.parent} does not exist")
    except OSError as error:  # for example an invalid name
        raise UsageError(_refusal_message(Path(error.filename or path), error, ALLOWED)) from None
    return False


def _prepare(connection: sqlite3.Connection, path: Path, allowed: str) -> None:
    """Create or upgrade the tables as needed; errors and ``allowed`` as for `_version`."""
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
    version = retry_while_busy(lambda: _version(connection, path, allowed))
    # Commits go to the file's log. `Store` decides when the log is synced; SQLite also syncs it
    # before merging it into the file.
    settings = ["journal_mode = WAL", "synchronous = NORMAL", f"cache_size = -{_CACHE_KIB}"]
    for setting in ["auto_vacuum = INCREMENTAL", *settings] if version == 0 else settings:
        # Each setting accesses the file, which another process may be creating or closing.
        retry_while_busy(partial(connection.execute, f"PRAGMA {setting}"))
    if version < len(MIGRATIONS):
        with transaction(connection):
            for step in MIGRATIONS[_version(connection, path, allowed) :]:
                for statement in step:
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _version(connection: sqlite3.Connection, path: Path, allowed: str) -> int:
    """Version of the tables, 0 before they exist.

    Raises `UsageError`, which contains ``allowed``, for another file and for a newer version.
    """
    # Read all three at one moment, since another process may be creating the tables.
    alone = not connection.in_transaction
    if alone:
        connection.execute("BEGIN")
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        if alone:
            connection.execute("ROLLBACK")
    if application != APPLICATION and (application or version or tables):
        raise UsageError(f"{path}: is an SQLite file, but not a store of runs; {allowed}")
    if version < 0:
        raise UsageError(f"{path}: is damaged: its version is {version}, which does not exist; {allowed}")
    if version > len(MIGRATIONS):
        raise UsageError(
            f"{path}: is a store of version {version}, written by a newer Cellyard; this one reads up to {len(MIGRATIONS)}; "
            f"{allowed}"
        )
    return int(version)


def _close_and_clean(connection: sqlite3.Connection | None, path: Path, existed: bool) -> None:
    """Close, and remove the empty file that was created."""
    if connection is not None:
        connection.close()
    with suppress(OSError):
        if not existed and path.stat().st_size == 0:
            path.unlink()


def _refusal_message(path: Path, error: Exception, allowed: str) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return f"{path}: is not a store of runs; {allowed}"
    if code == sqlite3.SQLITE_CANTOPEN:
        return f"{path}: {as_system_error(error).strerror}"
    return f"{path}: cannot be read and written: {as_system_error(error).strerror}"


def as_system_error(error: Exception, path: Path | None = None) -> OSError:
    """Convert an SQLite error to one with the system's message and number."""
    if isinstance(error, OSError):
        return OSError(error.errno, error.strerror or str(error), str(path or ""))
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    busy = (errno.EAGAIN, f"other processes have been writing for {BUSY_SECONDS:.0f} s")
    number, words = {
        sqlite3.SQLITE_FULL: (errno.ENOSPC, os.strerror(errno.ENOSPC)),
        sqlite3.SQLITE_READONLY: (errno.EROFS, "it, or its folder, is read-only"),
        sqlite3.SQLITE_CANTOPEN: (errno.EACCES, "cannot open a store there"),
        sqlite3.SQLITE_BUSY: busy,
        sqlite3.SQLITE_PROTOCOL: busy,
        sqlite3.SQLITE_CORRUPT: (errno.EIO, f"it is damaged ({error})"),
    }.get(code, (errno.EIO, str(error)))
    return OSError(number, words, str(path or ""))
