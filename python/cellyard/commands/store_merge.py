"""The command ``cellyard store merge``: copies the runs of stores into one."""

import sys
from collections.abc import Sequence
from pathlib import Path

from cellyard.commands import FAILED
from cellyard.store import open_store
from cellyard.store.upkeep import merge
from cellyard.system.errors import UsageError
from cellyard.system.terminal import printable


def command(path: Path, others: Sequence[Path]) -> int:
    """Add the runs of ``others`` to the store ``path``; returns 1 when some were left out."""
    status = 0
    for other in others:
        with open_store(other) as source:
            if path.exists() and source.path.samefile(path):
                raise UsageError(f"{other}: cannot be merged into itself; name another store")
            with open_store(path, create=True) as store:
                done = merge(store, source)
        parts = [f"{done.added} runs added", f"{done.known} already in the store"]
        parts += [f"{done.completed} of these completed with further results"] if done.completed else []
        print(printable(f"{other}: {', '.join(parts)}"))
        for reason in done.left_out:
            print(printable(f"left out: {reason}"), file=sys.stderr)
            status = FAILED
    return status
