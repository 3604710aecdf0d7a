"""The command ``cellyard store scenario``: prints a stored scenario as a file."""

from __future__ import annotations

from pathlib import Path

from cellyard.scenario import Scenario
from cellyard.store import contents, open_store
from cellyard.system.errors import UsageError
from cellyard.system.terminal import printable

#: Limit on scenarios that a message names.
MOST_NAMED = 8


def command(path: Path, which: str) -> int:
    """Print the scenario whose hash begins with ``which``."""
    with open_store(path) as store, store.snapshot():
        found = contents.scenarios(store)
        chosen = [one for one in found if one.hex().startswith(which.lower())]
        if len(chosen) != 1:
            there = [f"{one.hex()[:8]} ({name})" for one, name in found.items() if not chosen or one in chosen]
            more = f", ... ({len(there)})" if len(there) > MOST_NAMED else ""
            what = "several scenarios" if chosen else "no scenario"
            raise UsageError(
                printable(
                    f"{which[:60] or repr(which)}: {what} in {store.path} with a hash that begins so; "
                    f"{'these' if chosen else 'there are'}: {', '.join(there[:MOST_NAMED]) or 'none'}{more}"
                )
            )
        print(Scenario.from_toml(contents.toml(store, chosen[0])).to_toml(), end="")
    return 0
