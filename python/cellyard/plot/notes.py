"""Parts of the notes in figures: what was simulated, and how often."""

import re
from collections.abc import Iterable

#: TCPs by their `recovery`, as figures name them.
RECOVERIES = {"vanilla": "vanilla", "tahoe": "Tahoe", "reno": "Reno", "new-reno": "NewReno", "sack": "SACK"}


def tcps(scenarios: Iterable[str]) -> str:
    """The TCPs of scenarios in canonical JSON.

    >>> tcps(['{"recovery":"sack"}', '{"recovery":"vanilla"}']), tcps([])
    ('TCP: vanilla, SACK', 'no TCP')
    """
    # Search the text, since parsing is slow. Names cannot contain such quotes.
    found = {name for text in scenarios for name in re.findall(r'"recovery":"([a-z-]+)"', text)}
    return f"TCP: {', '.join(label for name, label in RECOVERIES.items() if name in found)}" if found else "no TCP"


def runs(counts: Iterable[int], of: str = "point") -> str:
    """The numbers of runs behind the points of a figure.

    >>> runs([20, 20]), runs([6, 20], "row"), runs([1])
    ('20 runs per point', '6 to 20 runs per row', '1 run per point')
    """
    found = sorted(set(counts))
    several = f"{found[0]} to " if len(found) > 1 else ""
    return f"{several}{found[-1]} run{'s' * (found[-1] > 1)} per {of}"
