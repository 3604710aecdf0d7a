"""Typed results of runs. Names end in the unit unless the value is dimensionless."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellyard.system.lazy import lazily

if TYPE_CHECKING:
    from cellyard.results.ensemble import Results as Results
    from cellyard.results.run import Named as Named, RunResult as RunResult, Trace as Trace
    from cellyard.results.types import *  # noqa: F403

__getattr__, __dir__ = lazily(
    __name__,
    {
        "ensemble": "Results",
        "run": "Named RunResult Trace",
        "types": "BackResult Carries ClassResult DropReason DroppedCell DroppedCells EndSystemResult FlowKind "
        "PoolPortResult PoolResult PortClassResult PortInputResult PortResult "
        "Series ServiceClass Statistic Totals TransferResult VcPortResult VcResult",
    },
)
