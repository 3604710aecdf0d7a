"""What is in a store: its runs, by scenario and engine, and which of them are damaged."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cellyard.errors import OtherVersionError, UsageError
from cellyard.identity import WHOLE, run_hash, text_hash
from cellyard.store.content import DamageError
from cellyard.store.reader import Reader

#: Runs that are looked at in one go.
PAGE = 1000

#: Letters of what the engine says of a scenario that it cannot read.
MOST_TOLD = 200

#: What is wrong with a run whose scenario, replication and engine are not those of its hash.
_UNKNOWN = "it is not known by what it is"

_RUNS = """
SELECT run.id, run.hash, scenario.hash, scenario.name, scenario.seed, run.replication, engine.build, run.finished_s, run.cpu_s, run.bytes
FROM run LEFT JOIN scenario ON scenario.id = run.scenario LEFT JOIN engine ON engine.id = run.engine
WHERE run.id > ? AND (? IS NULL OR scenario.name = ?) AND (? IS NULL OR engine.build = ?) ORDER BY run.id LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run: its number in the file, what it is known by, when it was added (seconds since 1970), its CPU time, and its size.

    Scenario, name and seed are ``None`` where they are lost, and then it is not consistent.
    """

    number: int
    hash: bytes
    scenario: bytes
    name: str
    seed: int
    replication: int | None
    engine: str
    finished_s: int
    cpu_s: float
    bytes: int

    @property
    def label(self) -> str:
        """The run in words."""
        draw = "" if self.replication is None else f", replication {self.replication}"
        if self.name is None:
            return f"a run that has lost its scenario{draw}"
        return f"the run of {self.name}, seed {self.seed}{draw}"

    @property
    def is_consistent(self) -> bool:
        """Whether its hash is that of what it is known by."""
        return isinstance(self.engine, str) and self.hash == run_hash(
            self.scenario or b"", self.replication, self.engine
        )


def date(seconds: int) -> str:
    """A moment in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def runs(store: Reader, *, name: str | None = None, engine: str | None = None) -> Iterator[StoredRun]:
    """All runs in order of being added, or those of scenarios of that name and of that engine."""
    last = 0
    while True:
        rows = store.connection.execute(_RUNS, (last, name, name, engine, engine, PAGE)).fetchall()
        if not rows:
            return
        for row in rows:
            yield StoredRun(*row)
        last = rows[-1][0]


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one scenario name by one engine; ``latest`` is the number of the one that was added last."""

    name: str
    engine: str
    scenarios: int
    runs: int
    first_s: int
    last_s: int
    cpu_s: float
    bytes: int
    latest: int


def groups(store: Reader) -> list[Group]:
    """How many runs there are of which scenario by which engine, by name and date."""
    # Runs are added up by numbers first, as there may be millions.
    rows = store.connection.execute(
        """WITH part AS MATERIALIZED (
            SELECT scenario, engine, count(*) AS runs, min(finished_s) AS first_s, max(finished_s) AS last_s,
                sum(cpu_s) AS cpu_s, sum(bytes) AS bytes, max(id) AS latest
            FROM run GROUP BY scenario, engine
        )
        SELECT scenario.name, engine.build, count(*), sum(runs), min(first_s), max(last_s), sum(cpu_s), sum(bytes), max(latest)
        FROM part JOIN scenario ON scenario.id = part.scenario JOIN engine ON engine.id = part.engine
        GROUP BY scenario.name, engine.build ORDER BY scenario.name, min(first_s), engine.build"""
    )
    return [Group(*row) for row in rows]


def engines(store: Reader) -> dict[str, int]:
    """Builds of the engine and how many runs each has, the oldest first; those that are damaged, too."""
    rows = store.connection.execute(
        """SELECT engine.build, count(run.id) FROM engine JOIN run ON run.engine = engine.id
        GROUP BY engine.build ORDER BY max(finished_s), max(run.id)"""
    )
    return dict(rows.fetchall())


def builds(found: Iterable[Group]) -> dict[str, int]:
    """Builds of the engine in what is there, and how many runs each has, the oldest first."""
    counts: dict[str, int] = {}
    for group in sorted(found, key=lambda group: (group.last_s, group.latest)):
        # A build stands where its last run does.
        counts[group.engine] = counts.pop(group.engine, 0) + group.runs
    return counts


def canonical(store: Reader, scenario: bytes) -> str:
    """The canonical JSON of the scenario of that hash: times in ticks, rates in bit/s; raises `UsageError` when it is damaged."""
    try:
        return _canonical(store, scenario)
    except DamageError:
        raise _damage(store, f"the scenario {scenario.hex()}", "its hash does not match") from None


def _canonical(store: Reader, scenario: bytes) -> str:
    found = store.connection.execute("SELECT canonical FROM scenario WHERE hash = ?", (scenario,)).fetchone()
    try:
        text = zlib.decompress(found[0]).decode() if found else ""
    except (zlib.error, ValueError):
        text = ""
    if text_hash(text) != scenario:
        raise DamageError("the hash of its scenario does not match")
    return text


def _damage(store: Reader, what: str, why: object) -> UsageError:
    """That something in a store is damaged, and what to do."""
    how = f"`cellyard store prune {store.path} --damaged` removes what is damaged"
    return UsageError(f"{store.path}: {what} is not as it was written: {why}; {how}")


def toml(store: Reader, one: bytes) -> str:
    """The scenario of that hash as a scenario file; raises `UsageError` when it is damaged, or of a version that knows more or less."""
    from cellyard import _engine

    text = canonical(store, one)
    try:
        return _engine.write_toml(text)
    except ValueError as error:
        told = f"{store.path}: the scenario {one.hex()} is of another version of Cellyard"
        raise OtherVersionError(f"{told}: {str(error)[:MOST_TOLD]}") from None


def scenarios(store: Reader) -> dict[bytes, str]:
    """The names of all scenarios by their hashes."""
    return dict(store.connection.execute("SELECT hash, name FROM scenario ORDER BY name, hash").fetchall())


def keeps(store: Reader, run: StoredRun) -> list[bytes]:
    """What is stored of a run: hashes of what was kept, empty for the whole result."""
    rows = store.connection.execute("SELECT keep FROM result WHERE run = ? ORDER BY id", (run.number,))
    return [keep for (keep,) in rows]


def result(store: Reader, run: StoredRun, keep: bytes = WHOLE) -> Mapping[str, Any] | None:
    """What is stored of a run, if it is; raises `UsageError` when it is not as it was written."""
    try:
        if not run.is_consistent:
            raise DamageError(_UNKNOWN)
        return store.read(run.hash, keep)
    except (DamageError, sqlite3.DatabaseError) as error:
        raise _damage(store, run.label, error) from None


def check(store: Reader, run: StoredRun) -> None:
    """Raise `UsageError` where a run is not known by what it is."""
    if not run.is_consistent:
        raise _damage(store, run.label, _UNKNOWN)


def columns(store: Reader, run: StoredRun) -> dict[str, Any]:
    """What says in a table which run it is; raises `UsageError` when that is not as it was written."""
    check(store, run)
    return {
        "run": run.hash.hex(),
        "scenario": run.scenario.hex(),
        "scenario_name": run.name,
        "seed": run.seed,
        "replication": run.replication,
        "engine_build": run.engine,
        "finished_utc": date(run.finished_s).removesuffix("+00:00"),
        "cpu_s": run.cpu_s,
    }


def damaged(store: Reader, run: StoredRun) -> str:
    """Why a run cannot be used, if so."""
    if not run.is_consistent:
        return _UNKNOWN
    try:
        _canonical(store, run.scenario)
        found = [store.read(run.hash, keep) for keep in keeps(store, run)]
    except (DamageError, sqlite3.DatabaseError) as error:
        return str(error)
    return "" if found else "it has no result"
