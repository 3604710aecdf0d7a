"""Interface of a batch to the store of finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cellyard.runs.identity import Identity


@dataclass(frozen=True)
class Added:
    """A finished run to store: its identity, the kept part, the engine's document if available, and the cost."""

    identity: Identity
    result: Mapping[str, Any]
    text: str | None = None
    cpu_seconds: float = 0.0


class KnownRuns(Protocol):
    """A collection of finished runs, such as `cellyard.store.Store`."""

    #: The first write error, if any. Runs continue after it.
    failure: OSError | None

    def get(self, identity: Identity) -> Mapping[str, Any] | None:
        """What is kept of a run, or ``None``."""

    def add_all(self, runs: Sequence[Added]) -> None:
        """Store finished runs in one transaction."""
