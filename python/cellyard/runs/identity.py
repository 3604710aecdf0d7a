"""The identity of a run: everything that determines its numbers, and what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

#: Length of a hash in bytes. Among 2^32 contents, a collision has a probability of 2^-64.
HASH_BYTES = 16

#: Stands for the whole result in place of a hash of what is kept.
WHOLE = b""


@dataclass(frozen=True)
class Identity:
    """A run: its scenario in canonical JSON (with seed), its replication, the engine's build; and what is kept.

    ``keep`` is the `cellyard.runs.protocols.Keep.identity` of what is kept, empty for everything.
    """

    scenario: str
    replication: int | None
    engine: str
    keep: str = ""

    @property
    def scenario_hash(self) -> bytes:
        """Hash of the scenario."""
        return text_hash(self.scenario)

    @property
    def keep_hash(self) -> bytes:
        """Hash of what is kept; `WHOLE` for everything."""
        return text_hash(self.keep) if self.keep else WHOLE

    @cached_property
    def run(self) -> bytes:
        """Hash of the run, independent of what is kept."""
        return run_hash(self.scenario_hash, self.replication, self.engine)

    @property
    def whole(self) -> Identity:
        """The identity of the whole result of the run."""
        return replace(self, keep="") if self.keep else self

    def __str__(self) -> str:
        return self.run.hex() + (f"-{self.keep_hash.hex()}" if self.keep else "")


def run_hash(scenario: bytes, replication: int | None, engine: str) -> bytes:
    """Hash of a run from the hash of its scenario."""
    return _hash(scenario + f"\n{replication}\n{engine}".encode())


@lru_cache(maxsize=1024)
def text_hash(text: str) -> bytes:
    """Hash of a text. Cached, since replications share their scenario."""
    return _hash(text.encode())


def _hash(content: bytes) -> bytes:
    import hashlib  # not if nothing is stored

    return hashlib.sha256(content).digest()[:HASH_BYTES]
