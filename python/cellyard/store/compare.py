"""Compares two builds of the engine by the numbers of runs that both have."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellyard.results.numbers import numbers
from cellyard.results.tables import SERIES
from cellyard.runs.identity import run_hash
from cellyard.store.contents import StoredRun, check_run, engine_builds, result, stored_parts
from cellyard.store.file import Store
from cellyard.system.errors import UsageError

#: Numeric fields of a traced drop.
_DROP_FIELDS = ("time_s", "frame", "cell", "waiting_cells", "waiting_of_vc_cells", "active_vcs", "threshold_cells")

#: The part of a path that names one of many things of a kind.
_NAME_IN_PATH = re.compile(r"^(vcs|ports|classes)\.[^.]+")


@dataclass(frozen=True, slots=True)
class ChangedNumber:
    """A number of a run that differs in the later build; ``None`` if it is missing."""

    run: StoredRun
    path: str
    before: float | None
    after: float | None

    @property
    def kind(self) -> str:
        """The path without the name of the VC, port or class."""
        return _NAME_IN_PATH.sub(r"\1.*", self.path)

    @property
    def change(self) -> float:
        """The later value minus the earlier one; infinite if the number appeared or vanished."""
        return float("inf") if self.before is None or self.after is None else self.after - self.before

    @property
    def relative(self) -> float:
        """The change relative to the larger magnitude of both values; infinite like `change`."""
        if self.before is None or self.after is None:
            return float("inf")
        return self.change / max(abs(self.before), abs(self.after))


@dataclass
class Comparison:
    """Two builds: runs of both, runs of only one, runs with nothing in common, and the count of compared numbers."""

    before: str
    after: str
    both: int = 0
    only_before: int = 0
    only_after: int = 0
    apart: int = 0
    numbers: int = 0


def last_builds(store: Store) -> tuple[str, str]:
    """The last two builds of the store; raises `UsageError` if it has fewer."""
    builds = list(engine_builds(store))
    if len(builds) < 2:
        listed = ", ".join(builds) or "none"
        raise UsageError(f"{store.path}: needs runs of two engine builds to compare; builds in the store: {listed}")
    return builds[-2], builds[-1]


def changed_numbers(store: Store, comparison: Comparison, *, name: str | None = None) -> Iterator[ChangedNumber]:
    """Every number that differs between the builds. Updates the counts of ``comparison`` meanwhile."""
    later_runs = {}
    for run in store.runs(name=name, engine=comparison.after):
        check_run(store, run)
        later_runs[run.hash] = run
    comparison.only_after = len(later_runs)
    for run in store.runs(name=name, engine=comparison.before):
        check_run(store, run)
        later_run = later_runs.get(run_hash(run.scenario, run.replication, comparison.after))
        if later_run is None:
            comparison.only_before += 1
            continue
        comparison.only_after -= 1
        comparison.both += 1
        # Compare the whole result if both have it, otherwise the kept parts that both have.
        for keep in sorted(stored_parts(store, run)):
            old, new = result(store, run, keep), result(store, later_run, keep)
            if old is not None and new is not None:
                yield from _changed_values(run, dict(numbers(old)), dict(numbers(new)), comparison)
                yield from _changed_points(run, _series(old), _series(new), comparison)
                yield from _changed_drops(run, old.get("trace") or (), new.get("trace") or (), comparison)
                break
        else:
            comparison.apart += 1


def _changed_values(
    run: StoredRun, before: dict[str, float], after: dict[str, float], comparison: Comparison
) -> Iterator[ChangedNumber]:
    for path in dict.fromkeys([*before, *after]):
        comparison.numbers += 1
        if before.get(path) != after.get(path):
            yield ChangedNumber(run, path, before.get(path), after.get(path))


def _series(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The series of a result by their paths."""
    named = [key for key in SERIES if key != "unit"]
    all_series = result.get("series") or ()
    return {
        ".".join(["series", *(str(series[key]) for key in named if series.get(key) is not None)]): series
        for series in all_series
    }


def _changed_points(
    run: StoredRun,
    before: Mapping[str, Mapping[str, Any]],
    after: Mapping[str, Mapping[str, Any]],
    comparison: Comparison,
) -> Iterator[ChangedNumber]:
    """Differences of each series: the number of its points, or else the first point that differs."""
    for path in dict.fromkeys([*before, *after]):
        earlier, later = (
            [part[path][name] for name in ("value", "time_s")] if path in part else None for part in (before, after)
        )
        if earlier is None or later is None or len(earlier[0]) != len(later[0]):
            comparison.numbers += 1
            yield ChangedNumber(
                run, f"{path}.points", len(earlier[0]) if earlier else None, len(later[0]) if later else None
            )
            continue
        comparison.numbers += 2 * len(earlier[0])
        for name, old, new in zip(("value", "time_s"), earlier, later, strict=True):
            for place in (old != new).nonzero()[0][:1]:
                yield ChangedNumber(run, f"{path}.{name}", float(old[place]), float(new[place]))


def _changed_drops(
    run: StoredRun, before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], comparison: Comparison
) -> Iterator[ChangedNumber]:
    """Differences of traced drops: their counts by VC, port and reason, or else the first difference in a drop."""

    def counted(part: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return dict(Counter(f"trace.{drop['vc']}.{drop['port']}.{drop['reason']}.drops" for drop in part))

    counts = counted(before), counted(after)
    if counts[0] != counts[1]:
        yield from _changed_values(run, *counts, comparison)
        return
    comparison.numbers += len(_DROP_FIELDS) * len(before)
    for old, new in zip(before, after, strict=True):
        changed = [key for key in _DROP_FIELDS if old[key] != new[key]]
        if changed:
            yield from (ChangedNumber(run, f"trace.{key}", old[key], new[key]) for key in changed)
            return
