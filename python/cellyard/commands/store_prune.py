"""Removing runs from a store: the command ``cellyard store prune``."""

from __future__ import annotations

from pathlib import Path

from cellyard import _engine
from cellyard.errors import UsageError
from cellyard.store import Store, open_store
from cellyard.store.contents import StoredRun, damaged, engines
from cellyard.store.upkeep import remove
from cellyard.terminal import printable


def command(
    path: Path, *, older_engines: bool, engine: str | None, scenario: str | None, only_damaged: bool, dry_run: bool
) -> int:
    """Remove runs for which all holds that is asked for."""
    if not (older_engines or engine or scenario or only_damaged):
        raise UsageError("say what to remove: --older-engines, --engine BUILD, --scenario NAME or --damaged")
    with open_store(path) as store:
        builds = engines(store)
        if engine and engine not in builds:
            raise UsageError(f"--engine {engine}: no run is of this build; there are: {', '.join(builds) or 'none'}")
        keep = _kept_build(builds) if older_engines else None

        def is_chosen(run: StoredRun) -> bool:
            return run.engine != keep and not (only_damaged and not damaged(store, run))

        chosen = [run for run in _named(store, scenario, engine) if is_chosen(run)]
        size = sum(run.bytes for run in chosen)
        if not dry_run:
            remove(store, chosen)
        left = sum(engines(store).values())
    what = f"{len(chosen)} run{'s' * (len(chosen) != 1)}, {size / 1e6:.1f} MB"
    print(printable(f"{store.path}: {'would remove' if dry_run else 'removed'} {what}; {left} runs are there"))
    return 0


def _kept_build(builds: dict[str, int]) -> str | None:
    """The build that is not older: this engine's, or the last that ran where that has no runs."""
    return _engine.build() if _engine.build() in builds else next(reversed(builds), None)


def _named(store: Store, scenario: str | None, engine: str | None) -> list[StoredRun]:
    """The runs by scenario and engine; with neither also those that are damaged in just that."""
    return list(store.runs(name=scenario, engine=engine))
