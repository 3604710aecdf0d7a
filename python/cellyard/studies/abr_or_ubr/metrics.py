"""What no path of study.toml can say: the goodput of sources that not every network has."""

from __future__ import annotations

import cellyard as cy
from cellyard.study import Row

#: Sources whose rates the tables print.
SOURCES = 5


def metrics(run: cy.RunResult, row: Row) -> dict[str, float | None]:
    """Goodputs of the first five sources in Mb/s; none of a source that the network lacks."""
    goodputs = [vc.goodput_mbps for vc in run.vcs.values()]
    return {f"d{n + 1}_mbps": goodputs[n] if n < len(goodputs) else None for n in range(SOURCES)}
