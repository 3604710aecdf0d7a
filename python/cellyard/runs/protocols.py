"""What runs are given: what is kept of each, and what cancels them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Cancel(Protocol):
    """What says that runs are no longer wanted, as a `threading.Event` does."""

    def is_set(self) -> bool:
        """Whether they are not."""


class Keep(Protocol):
    """Picks what is stored and yielded of a result."""

    @property
    def identity(self) -> str:
        """Text that is another one when something else would be kept of the same run."""

    def __call__(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """What is kept of the engine's document of a run."""
