"""Interfaces of arguments of runs: the store of finished runs, the kept part of each result, and cancellation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cellyard.runs.identity import Identity


class Cancel(Protocol):
    """Cancels runs when set, like a `threading.Event`."""

    def is_set(self) -> bool:
        """Whether runs are to be cancelled."""


class Keep(Protocol):
    """Selects the part of a result that is stored and yielded."""

    @property
    def identity(self) -> str:
        """A text that differs whenever the selection does."""

    def __call__(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """The kept part of the engine's document of a run."""


@dataclass(frozen=True)
class NewRun:
    """A finished run to store: its identity, the kept part, the engine's document if available, and the cost."""

    identity: Identity
    result: Mapping[str, Any]
    text: str | None = None
    cpu_seconds: float = 0.0


class RunStore(Protocol):
    """A collection of finished runs, such as `cellyard.store.Store`."""

    #: The first write error, if any. Runs continue after it.
    failure: OSError | None

    def get(self, identity: Identity) -> Mapping[str, Any] | None:
        """What is kept of a run, or ``None``."""

    def add_all(self, runs: Sequence[NewRun]) -> None:
        """Store finished runs in one transaction."""
