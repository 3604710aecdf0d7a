"""Compares two builds of the engine by the numbers of runs that both have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cellyard.results.numbers import numbers
from cellyard.results.tables import SERIES
from cellyard.runs.identity import run_hash
from cellyard.store.contents import StoredRun, check, engines, keeps, result
from cellyard.system.errors import UsageError

if TYPE_CHECKING:
    from cellyard.store.file import Store

#: Numeric fields of a traced drop.
_OF_DROPS = ("time_s", "frame", "cell", "waiting_cells", "waiting_of_vc_cells", "active_vcs", "threshold_cells")

#: The part of a path that names one of many things of a kind.
_NAMED = re.compile(r"^(vcs|ports|classes)\.[^.]+")


@dataclass(frozen=True, slots=True)
class Moved:
    """A number of a run that differs in the later build; ``None`` where it is missing."""

    run: StoredRun
    path: str
    before: float | None
    after: float | None

    @property
    def kind(self) -> str:
        """The path without the name of the VC, port or class."""
        return _NAMED.sub(r"\1.*", self.path)

    @property
    def change(self) -> float:
        """The later value minus the earlier one; infinite where the number appeared or vanished."""
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


def builds(store: Store, before: str | None, after: str | None) -> tuple[str, str]:
    """The builds to compare: given by prefixes, or the last two of the store; raises `UsageError` if that is not possible."""
    there = list(engines(store))
    listed = ", ".join(there) or "none"

    wrong = []

    def named(option: str, text: str) -> str:
        found = [build for build in there if build.startswith(text)]
        if len(found) != 1:
            wrong.append(
                f"{option} {text}: {'several builds begin so' if found else 'the store has no run of this build'}"
            )
            return ""
        return found[0]

    earlier = named("--from", before) if before else None
    later = named("--to", after) if after else None
    if wrong:
        raise UsageError("; ".join([*wrong, f"builds in the store: {listed}"]))
    rest = [build for build in there if build not in (later, earlier)]
    later = later or (rest.pop() if rest else None)
    earlier = earlier or (rest.pop() if rest else None)
    if earlier is None or later is None or earlier == later:
        raise UsageError(f"{store.path}: needs runs of two engine builds to compare; builds in the store: {listed}")
    return earlier, later


def moved(store: Store, comparison: Comparison, *, name: str | None = None) -> Iterator[Moved]:
    """Every number that differs between the builds. Updates the counts of ``comparison`` meanwhile."""
    there = {}
    for run in store.runs(name=name, engine=comparison.after):
        check(store, run)
        there[run.hash] = run
    comparison.only_after = len(there)
    for run in store.runs(name=name, engine=comparison.before):
        check(store, run)
        other = there.get(run_hash(run.scenario, run.replication, comparison.after))
        if other is None:
            comparison.only_before += 1
            continue
        comparison.only_after -= 1
        comparison.both += 1
        # Compare the whole result if both have it, otherwise the kept parts that both have.
        for keep in sorted(keeps(store, run)):
            one, its = result(store, run, keep), result(store, other, keep)
            if one is not None and its is not None:
                yield from _differences(run, dict(numbers(one)), dict(numbers(its)), comparison)
                yield from _of_points(run, _series(one), _series(its), comparison)
                yield from _of_drops(run, one.get("trace") or (), its.get("trace") or (), comparison)
                break
        else:
            comparison.apart += 1


def _differences(
    run: StoredRun, before: dict[str, float], after: dict[str, float], comparison: Comparison
) -> Iterator[Moved]:
    for path in dict.fromkeys([*before, *after]):
        comparison.numbers += 1
        if before.get(path) != after.get(path):
            yield Moved(run, path, before.get(path), after.get(path))


def _series(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The series of a result by their paths."""
    named = [key for key in SERIES if key != "unit"]
    every = result.get("series") or ()
    return {".".join(["series", *(str(one[key]) for key in named if one.get(key) is not None)]): one for one in every}


def _of_points(
    run: StoredRun,
    before: Mapping[str, Mapping[str, Any]],
    after: Mapping[str, Mapping[str, Any]],
    comparison: Comparison,
) -> Iterator[Moved]:
    """Differences of each series: the number of its points, or else the first point that differs."""
    for path in dict.fromkeys([*before, *after]):
        one, its = (
            [part[path][name] for name in ("value", "time_s")] if path in part else None for part in (before, after)
        )
        if one is None or its is None or len(one[0]) != len(its[0]):
            comparison.numbers += 1
            yield Moved(run, f"{path}.points", len(one[0]) if one else None, len(its[0]) if its else None)
            continue
        comparison.numbers += 2 * len(one[0])
        for name, old, new in zip(("value", "time_s"), one, its, strict=True):
            for place in (old != new).nonzero()[0][:1]:
                yield Moved(run, f"{path}.{name}", float(old[place]), float(new[place]))


def _of_drops(
    run: StoredRun, before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], comparison: Comparison
) -> Iterator[Moved]:
    """Differences of traced drops: their counts by VC, port and reason, or else the first difference in a drop."""

    def counted(part: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return dict(Counter(f"trace.{one['vc']}.{one['port']}.{one['reason']}.drops" for one in part))

    counts = counted(before), counted(after)
    if counts[0] != counts[1]:
        yield from _differences(run, *counts, comparison)
        return
    comparison.numbers += len(_OF_DROPS) * len(before)
    for one, its in zip(before, after, strict=True):
        unlike = [key for key in _OF_DROPS if one[key] != its[key]]
        if unlike:
            yield from (Moved(run, f"trace.{key}", one[key], its[key]) for key in unlike)
            return
