"""The command ``cellyard store prune``: removes runs from a store."""

from pathlib import Path

from cellyard.store import open_store
from cellyard.store.contents import StoredRun, damage_in, runs
from cellyard.store.upkeep import remove, repair
from cellyard.system.errors import UsageError
from cellyard.system.terminal import printable


def command(path: Path, *, scenario: str | None, only_damaged: bool) -> int:
    """Remove the runs that meet all given conditions."""
    if not (scenario or only_damaged):
        raise UsageError("no condition given: select runs with --scenario NAME or --damaged")
    with open_store(path) as store:

        def is_chosen(run: StoredRun) -> bool:
            if only_damaged and not damage_in(store, run):
                return False
            if not run.is_consistent:  # of what it is, is not known
                return only_damaged
            return scenario in (None, run.name)

        if only_damaged:
            repair(store)
        removed = remove(store, list(filter(is_chosen, runs(store, name=scenario))), is_chosen)
        size = sum(run.bytes for run in removed if run.is_consistent)
        ((left,),) = store.rows("SELECT count(*) FROM run")
    amount = f"{len(removed)} run{'s' * (len(removed) != 1)}, {size / 1e6:.1f} MB"
    print(printable(f"{store.path}: removed {amount}; {left} runs remain"))
    return 0
