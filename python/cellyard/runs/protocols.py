"""Interfaces of arguments of runs: what is kept of each, and cancellation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


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
