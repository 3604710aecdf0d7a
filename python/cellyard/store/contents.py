"""Lists what is in a store: runs by scenario and engine, and damaged runs."""

import shlex
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cellyard.runs.identity import WHOLE, run_hash, text_hash
from cellyard.store.encoding import DamageError, run_seal
from cellyard.store.reader import Reader
from cellyard.system.errors import OtherVersionError, UsageError

#: Number of runs read in one query.
RUNS_PER_QUERY = 1000

#: Limit on letters of the engine's message about an unreadable scenario.
MOST_MESSAGE_CHARACTERS = 200

#: Limit on scenarios whose names and seeds are cached.
_MOST_HEADINGS = 1 << 16

#: The last second of the year 9999, the latest possible date.
_LAST_S = 253_402_300_799

#: Message for a run whose scenario, replication, engine or numbers do not match its hash and
#: checksum.
_HASH_MISMATCH = "its hash or checksum does not match"

_RUNS = """
SELECT run.id, run.hash, scenario.hash, run.replication, engine.build, run.finished_s, run.cpu_s, run.seal, run.bytes
FROM run LEFT JOIN scenario ON scenario.id = run.scenario LEFT JOIN engine ON engine.id = run.engine
"""

#: Total size of all results of a run, in bytes.
_SIZE = (
    "coalesce((SELECT sum(length(content)) FROM result WHERE run = {0}), 0)"
    " + coalesce((SELECT sum(length(content)) FROM piece WHERE run = {0}), 0)"
)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run: its number in the file, its identity, when it was added (seconds since 1970), CPU time and size.

    ``name`` and ``seed`` come from the scenario's text, and are ``None`` if that is damaged or
    lost. Other fields may be anything unless the run `is_consistent`.
    """

    number: int
    hash: bytes
    scenario: bytes
    name: str | None
    seed: int | None
    replication: int | None
    engine: str
    finished_s: int
    cpu_s: float
    seal: bytes | None
    bytes: int

    @property
    def label(self) -> str:
        """The run in words."""
        draw = "" if self.replication is None else f", replication {self.replication}"
        if self.name is None:
            return f"a run whose scenario is damaged or lost{draw}"
        return f"the run of {self.name}, seed {self.seed}{draw}"

    @property
    def is_consistent(self) -> bool:
        """Whether the scenario is intact, the hash matches the identity, and the checksum matches the numbers."""
        if self.name is None or not isinstance(self.engine, str):
            return False
        typed = isinstance(self.finished_s, int) and isinstance(self.bytes, int) and isinstance(self.cpu_s, float)
        if not typed or not (0 <= self.finished_s <= _LAST_S and self.bytes >= 0 and self.cpu_s >= 0):
            return False
        return self.hash == run_hash(self.scenario, self.replication, self.engine) and self.seal in (
            None,  # of version 1
            run_seal(self.hash, self.finished_s, self.cpu_s, self.bytes),
        )


def utc_date(seconds: int) -> str:
    """A moment in UTC, as text."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def runs(store: Reader, *, name: str | None = None, engine: str | None = None) -> Iterator[StoredRun]:
    """All runs in order of addition, or those of a scenario name and an engine. Inconsistent runs are always included."""
    last = 0
    while True:
        rows = store.rows(f"{_RUNS} WHERE run.id > ? ORDER BY run.id LIMIT ?", (last, RUNS_PER_QUERY))
        if not rows:
            return
        for row in rows:
            run = _run(store, row)
            wanted = name in (None, run.name) and engine in (None, run.engine)
            if wanted or not run.is_consistent:
                yield run
        last = rows[-1][0]


def run_at(store: Reader, number: int) -> StoredRun | None:
    """The run that has that number now, if any."""
    rows = store.rows(f"{_RUNS} WHERE run.id = ?", (number,))
    return _run(store, rows[0]) if rows else None


def _run(store: Reader, row: Sequence[Any]) -> StoredRun:
    return StoredRun(*row[:3], *(heading(store, row[2]) or (None, None)), *row[3:])


def heading(store: Reader, scenario: bytes) -> tuple[str, int] | None:
    """Name and seed of the scenario with that hash, from its text; ``None`` if that is damaged or lost."""
    found = store.headings.get(scenario)
    if found is None and isinstance(scenario, bytes):
        from cellyard import _engine

        try:
            found = _engine.heading(_canonical(store, scenario))
        except ValueError:  # `DamageError` is one
            return None
        if len(store.headings) >= _MOST_HEADINGS:
            store.headings.clear()
        store.headings[scenario] = found
    return found


def stored_bytes(store: Reader, run: int) -> int:
    """Total size in bytes of the stored results of the run with that number."""
    ((found,),) = store.rows(f"SELECT {_SIZE.format('?1')}", (run,))
    return int(found)


#: What may be missing, with a query that counts affected runs from indices alone.
_MISSING_PARTS = {
    "runs that are lost although their results exist": "SELECT count(DISTINCT run) FROM result WHERE run NOT IN (SELECT id FROM run)",
    "runs without a result": "SELECT count(*) FROM run WHERE id NOT IN (SELECT run FROM result)",
}


def missing_parts(store: Reader) -> str:
    """What is missing from the tables of a store, in words; empty if nothing is."""
    counts = {part: store.rows(query)[0][0] for part, query in _MISSING_PARTS.items()}
    return "; ".join(f"{part}: {count}" for part, count in counts.items() if count)


def check_tables(store: Reader) -> None:
    """Raise `UsageError` if results lack their run, or a run lacks all results."""
    if found := missing_parts(store):
        raise UsageError(f"{store.path}: is damaged: {found}; {_repair_advice(store)}")


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one scenario name by one engine; ``latest`` is the number of the run added last."""

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
    """Number of runs by scenario name and engine, ordered by name and date; raises `UsageError` for an inconsistent run."""
    check_tables(store)
    found: dict[tuple[str, str], _Counts] = {}
    for run in runs(store):
        if not run.is_consistent:
            raise _damage_error(store, run.label, _HASH_MISMATCH)
        found.setdefault((str(run.name), run.engine), _Counts()).add(run)
    made = [
        Group(
            *key,
            len(counted.scenarios),
            counted.runs,
            counted.first_s,
            counted.last_s,
            counted.cpu_s,
            counted.bytes,
            counted.latest,
        )
        for key, counted in found.items()
    ]
    return sorted(made, key=lambda group: (group.name, group.first_s, group.engine))


@dataclass(slots=True)
class _Counts:
    """Running counts of a `Group`. A mutable class, since there may be millions of runs."""

    scenarios: set[bytes] = field(default_factory=set)
    runs: int = 0
    first_s: int = _LAST_S
    last_s: int = 0
    cpu_s: float = 0.0
    bytes: int = 0
    latest: int = 0

    def add(self, run: StoredRun) -> None:
        self.scenarios.add(run.scenario)
        self.runs += 1
        self.first_s, self.last_s = min(self.first_s, run.finished_s), max(self.last_s, run.finished_s)
        self.cpu_s += run.cpu_s
        self.bytes += run.bytes
        self.latest = run.number


def engine_builds(store: Reader) -> dict[str, int]:
    """Builds of the engine and their numbers of runs, the oldest first; includes damaged runs."""
    rows = store.rows(
        """SELECT engine.build, count(run.id) FROM engine JOIN run ON run.engine = engine.id
        GROUP BY engine.build ORDER BY max(finished_s), max(run.id)"""
    )
    return {build: count for build, count in rows if isinstance(build, str)}


def builds_of_groups(found: Iterable[Group]) -> dict[str, int]:
    """Builds of the engine in the groups and their numbers of runs, the oldest first."""
    counts: dict[str, int] = {}
    for group in sorted(found, key=lambda group: (group.last_s, group.latest)):
        # Move the build to the position of its last run.
        counts[group.engine] = counts.pop(group.engine, 0) + group.runs
    return counts


def canonical_scenario(store: Reader, scenario: bytes) -> str:
    """The canonical JSON of the scenario with that hash: times in ticks, rates in bit/s; raises `UsageError` when it is damaged."""
    try:
        return _canonical(store, scenario)
    except DamageError:
        raise _damage_error(store, f"the scenario {scenario.hex()}", "its hash does not match") from None


def _canonical(store: Reader, scenario: bytes) -> str:
    found = store.rows("SELECT canonical FROM scenario WHERE hash = ?", (scenario,))
    try:
        text = zlib.decompress(found[0][0]).decode() if found else ""
    except (zlib.error, ValueError, TypeError):
        text = ""
    if text_hash(text) != scenario:
        raise DamageError("the hash of its scenario does not match")
    return text


def _damage_error(store: Reader, subject: str, reason: object) -> UsageError:
    """An error about damage in a store, with advice."""
    return UsageError(f"{store.path}: {subject} is damaged: {reason}; {_repair_advice(store)}")


def _repair_advice(store: Reader) -> str:
    return f"`cellyard store prune {shlex.quote(str(store.path))} --damaged` removes damaged runs"


def scenario_toml(store: Reader, scenario: bytes) -> str:
    """The scenario with that hash as a scenario file; raises `UsageError` when it is damaged or of an incompatible version."""
    from cellyard import _engine

    text = canonical_scenario(store, scenario)
    try:
        return "".join(_engine.write_toml(text))
    except ValueError as error:
        message = f"{store.path}: the scenario {scenario.hex()} was written by an incompatible version of Cellyard"
        raise OtherVersionError(f"{message}: {str(error)[:MOST_MESSAGE_CHARACTERS]}") from None


def scenarios(store: Reader) -> dict[bytes, str]:
    """The names of all scenarios by hash, in the order of names; ``damaged`` for one whose text is damaged."""
    hashes = [scenario for (scenario,) in store.rows("SELECT hash FROM scenario") if isinstance(scenario, bytes)]
    names = {scenario: (heading(store, scenario) or ("damaged", 0))[0] for scenario in hashes}
    return dict(sorted(names.items(), key=lambda pair: (pair[1], pair[0])))


def stored_parts(store: Reader, run: StoredRun) -> list[bytes]:
    """Stored parts of a run: hashes of what was kept, empty for the whole result."""
    query = "SELECT keep FROM result WHERE run = (SELECT id FROM run WHERE id = ? AND hash = ?) ORDER BY id"
    return [keep for (keep,) in store.rows(query, (run.number, run.hash))]


def result(store: Reader, run: StoredRun, keep: bytes = WHOLE) -> Mapping[str, Any] | None:
    """A stored part of a run, if it exists; raises `UsageError` when it is damaged."""
    check_run(store, run)
    try:
        return _read(store, run, keep)
    except (DamageError, sqlite3.DatabaseError) as error:
        raise _damage_error(store, run.label, error) from None


def _read(store: Reader, run: StoredRun, keep: bytes) -> Mapping[str, Any] | None:
    """A stored part of a run, if it exists; raises `DamageError` if it cannot be found by the run's hash."""
    found = store.read(run.hash, keep)
    if found is None and keep in stored_parts(store, run):
        raise DamageError("the index of the file lacks it")
    return found


def check_run(store: Reader, run: StoredRun) -> None:
    """Raise `UsageError` if the identity of a run does not match its hash, or if results are missing."""
    if why := _mismatch(store, run):
        raise _damage_error(store, run.label, why)


def _mismatch(store: Reader, run: StoredRun) -> str:
    """Why a run cannot be trusted, without reading its results; empty if it can."""
    if not run.is_consistent:
        return _HASH_MISMATCH
    # A single statement, since another process may be adding to the run. A run that was removed
    # meanwhile is not damaged.
    rows = store.rows(
        f"SELECT bytes, seal, {_SIZE.format('run.id')} FROM run WHERE id = ? AND hash = ?", (run.number, run.hash)
    )
    for written, sealed, stored in rows:
        if not stored:
            return "it has no result"
        if sealed and stored != written:
            return f"its results have {stored} bytes, but {written} were written"
    return ""


def run_columns(store: Reader, run: StoredRun) -> dict[str, Any]:
    """Columns that identify the run in a table; raises `UsageError` when it is damaged."""
    check_run(store, run)
    return {
        "run": run.hash.hex(),
        "scenario": run.scenario.hex(),
        "scenario_name": run.name,
        "seed": run.seed,
        "replication": run.replication,
        "engine_build": run.engine,
        "finished_utc": utc_date(run.finished_s).removesuffix("+00:00"),
        "cpu_s": run.cpu_s,
    }


def damage_in(store: Reader, run: StoredRun) -> str:
    """Why a run cannot be used; empty if it can."""
    if why := _mismatch(store, run):
        return why
    try:
        for keep in stored_parts(store, run):
            _read(store, run, keep)
    except (DamageError, sqlite3.DatabaseError) as error:
        return str(error)
    return ""
