"""Runs to be made, and what is told of them while they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cellyard.runs.identity import Identity

if TYPE_CHECKING:
    from cellyard.runs.protocols import Keep
    from cellyard.runs.spool import Recorded

    #: A run's JSON without what its probes recorded, that as far as no part had it, and the words of its traced drops.
    Document = tuple[str, Recorded, Sequence[str]]


@dataclass(frozen=True)
class Job:
    """One run: a scenario in the engine's canonical JSON, the replication that it is, if any, and what is kept (all by default)."""

    scenario: str
    replication: int | None = None
    keep: Keep | None = None

    @cached_property
    def identity(self) -> Identity:
        """All that decides what is kept: scenario (seed included), replication, engine down to its sources, `Keep`."""
        from cellyard import _engine

        return Identity(self.scenario, self.replication, _engine.build(), self.keep.identity if self.keep else "")


def label(job: Job) -> str:
    """A run in words."""
    name = json.loads(job.scenario).get("name", "run")
    return name if job.replication is None else f"{name}, replication {job.replication}"


def records(job: Job) -> bool:
    """Whether there are probes, which record points or traced drops."""
    return '"probes":[]' not in job.scenario


@dataclass(frozen=True, slots=True)
class Ran:
    """A run as the engine hands it over: its place, its document or why there is none, and the CPU time that it took."""

    place: int
    document: Document | None
    error: tuple[str, str] | None
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class News:
    """What has happened since the last time: runs done so far with the share of those under way, parts recorded, runs finished."""

    progress: float
    parts: Sequence[tuple[int, Recorded]]
    runs: Sequence[Ran]
