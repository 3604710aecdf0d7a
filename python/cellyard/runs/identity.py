"""What a run is known by: all that decides its numbers, and what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

#: Bytes of a hash: two different contents have one with a chance of 1 in 2^64 among 2^32 contents.
HASH_BYTES = 16

#: What is kept where all is.
WHOLE = b""


@dataclass(frozen=True)
class Identity:
    """A run: its scenario in the engine's canonical JSON (seed included), its replication, the build of the engine; and what is kept.

    ``keep`` is the `cellyard.runs.batch.Keep.identity` of what is kept, empty for all.
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
        """Hash of what is kept; `WHOLE` for all."""
        return text_hash(self.keep) if self.keep else WHOLE

    @cached_property
    def run(self) -> bytes:
        """Hash of the run, whatever is kept of it."""
        return run_hash(self.scenario_hash, self.replication, self.engine)

    @property
    def whole(self) -> Identity:
        """The same run, all of it."""
        return replace(self, keep="") if self.keep else self

    def __str__(self) -> str:
        return self.run.hex() + (f"-{self.keep_hash.hex()}" if self.keep else "")


def run_hash(scenario: bytes, replication: int | None, engine: str) -> bytes:
    """Hash of a run from that of its scenario."""
    return _hash(scenario + f"\n{replication}\n{engine}".encode())


@lru_cache(maxsize=1024)
def text_hash(text: str) -> bytes:
    """Hash of a text, of which the replications of a scenario have one in common."""
    return _hash(text.encode())


def _hash(content: bytes) -> bytes:
    import hashlib  # not where nothing is stored

    return hashlib.sha256(content).digest()[:HASH_BYTES]
