"""The command ``cellyard store scenario``: prints a stored scenario as a file."""

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
        chosen = [scenario for scenario in found if scenario.hex().startswith(which.lower())]
        if len(chosen) != 1:
            listed = [
                f"{scenario.hex()[:8]} ({name})" for scenario, name in found.items() if not chosen or scenario in chosen
            ]
            more = f", ... {len(listed)} in all" if len(listed) > MOST_NAMED else ""
            match = "several scenarios" if chosen else "no scenario"
            raise UsageError(
                printable(
                    f"{which[:60] or repr(which)}: {match} in {store.path} with a hash that begins so "
                    f"(allowed: {', '.join(listed[:MOST_NAMED]) or 'none'}{more})"
                )
            )
        print(Scenario.from_toml(contents.scenario_toml(store, chosen[0])).to_toml(), end="")
    return 0
