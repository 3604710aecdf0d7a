"""The command ``cellyard store prune``: removes runs from a store."""

from __future__ import annotations

from pathlib import Path

from cellyard import _engine
from cellyard.store import open_store
from cellyard.store.contents import StoredRun, damage_in, engine_builds, runs
from cellyard.store.upkeep import remove, repair
from cellyard.system.errors import UsageError
from cellyard.system.terminal import printable


def command(
    path: Path, *, older_engines: bool, engine: str | None, scenario: str | None, only_damaged: bool, dry_run: bool
) -> int:
    """Remove the runs that meet all given conditions."""
    if not (older_engines or engine or scenario or only_damaged):
        raise UsageError(
            "no condition given: select runs with --older-engines, --engine BUILD, --scenario NAME or --damaged"
        )
    with open_store(path) as store:
        builds = engine_builds(store)
        if engine and engine not in builds:
            raise UsageError(
                f"--engine {engine}: the store has no run of this build; its builds: {', '.join(builds) or 'none'}"
            )
        keep = _kept_build(builds) if older_engines else None

        def is_chosen(run: StoredRun) -> bool:
            if only_damaged and not damage_in(store, run):
                return False
            if not run.is_consistent:  # of what it is, is not known
                return only_damaged
            return run.engine != keep and scenario in (None, run.name) and engine in (None, run.engine)

        if only_damaged and not dry_run:
            repair(store)
        chosen = [run for run in runs(store, name=scenario, engine=engine) if is_chosen(run)]
        if not dry_run:
            chosen = remove(store, chosen, is_chosen)
        size = sum(run.bytes for run in chosen if run.is_consistent)
        ((left,),) = store.rows("SELECT count(*) FROM run")
    amount = f"{len(chosen)} run{'s' * (len(chosen) != 1)}, {size / 1e6:.1f} MB"
    print(printable(f"{store.path}: {'would remove' if dry_run else 'removed'} {amount}; {left} runs remain"))
    return 0


def _kept_build(builds: dict[str, int]) -> str | None:
    """The build that does not count as older: this engine's, or the last that ran if that has no runs."""
    return _engine.build() if _engine.build() in builds else next(reversed(builds), None)
