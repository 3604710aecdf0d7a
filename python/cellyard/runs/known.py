"""What a batch asks of whatever keeps its finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cellyard.runs.identity import Identity


@dataclass(frozen=True)
class Added:
    """A finished run to be kept: what it is, what is kept of it, the engine's document if it is at hand, and what the run cost."""

    identity: Identity
    result: Mapping[str, Any]
    text: str | None = None
    cpu_seconds: float = 0.0


class KnownRuns(Protocol):
    """Finished runs that are kept, as `cellyard.store.Store` does in a file."""

    #: The first error of writing, if any; runs go on after it.
    failure: OSError | None

    def get(self, identity: Identity) -> Mapping[str, Any] | None:
        """What is kept of a run, or ``None``."""

    def add_all(self, runs: Sequence[Added]) -> None:
        """Keep finished runs, in one go."""
