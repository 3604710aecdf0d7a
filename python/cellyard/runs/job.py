"""Jobs: runs to be made, and the news about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cellyard.runs.identity import Identity

if TYPE_CHECKING:
    from cellyard.runs.protocols import Keep
    from cellyard.runs.spool import Recorded

    #: A run's JSON without probe data, the probe data not yet handed over, and the texts of its
    #: traced drops.
    Document = tuple[str, Recorded, Sequence[str]]


@dataclass(frozen=True)
class Job:
    """A run: a scenario in canonical JSON, its replication, if any, and what is kept (by default everything)."""

    scenario: str
    replication: int | None = None
    keep: Keep | None = None

    @cached_property
    def identity(self) -> Identity:
        """Everything that determines what is kept: scenario (with seed), replication, engine down to its sources, `Keep`."""
        from cellyard import _engine

        return Identity(self.scenario, self.replication, _engine.build(), self.keep.identity if self.keep else "")


def run_label(job: Job) -> str:
    """A run in words."""
    from cellyard import _engine

    try:
        name, _ = _engine.heading(job.scenario)
    except ValueError:  # not a scenario
        name = "run"
    return name if job.replication is None else f"{name}, replication {job.replication}"


def has_probes(job: Job) -> bool:
    """Whether the job has probes, which record points or traced drops."""
    return '"probes":[]' not in job.scenario


@dataclass(frozen=True, slots=True)
class RawRun:
    """A run as the engine returns it: its place, its document or error, and its CPU time."""

    place: int
    document: Document | None
    error: tuple[str, str] | None
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Update:
    """News since the last report: runs done including fractions in progress, parts recorded, runs finished."""

    progress: float
    parts: Sequence[tuple[int, Recorded]]
    runs: Sequence[RawRun]
