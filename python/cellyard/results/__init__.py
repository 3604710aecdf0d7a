"""Typed results of runs. Names end in the unit unless the value is dimensionless."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellyard.system.lazy import lazily

if TYPE_CHECKING:
    from cellyard.results.ensemble import Results as Results
    from cellyard.results.run import Named as Named, RunResult as RunResult, Trace as Trace
    from cellyard.results.types import (
        BackResult as BackResult,
        Carries as Carries,
        ClassResult as ClassResult,
        DroppedCell as DroppedCell,
        DroppedCells as DroppedCells,
        DropReason as DropReason,
        EndSystemResult as EndSystemResult,
        FlowKind as FlowKind,
        PortClassResult as PortClassResult,
        PortInputResult as PortInputResult,
        PortResult as PortResult,
        Series as Series,
        ServiceClass as ServiceClass,
        Totals as Totals,
        TransferResult as TransferResult,
        VcPortResult as VcPortResult,
        VcResult as VcResult,
    )

__getattr__, __dir__ = lazily(
    __name__,
    {
        "ensemble": "Results",
        "run": "Named RunResult Trace",
        "types": "BackResult Carries ClassResult DropReason DroppedCell DroppedCells EndSystemResult FlowKind "
        " PortClassResult PortInputResult PortResult Series ServiceClass Totals TransferResult VcPortResult VcResult",
    },
)
