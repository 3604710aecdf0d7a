"""Options of commands that make runs, and what these say of the runs that they keep."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellyard.system.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cellyard.outputs.folder import ResultFolder
    from cellyard.runs.cluster import Workers
    from cellyard.store import Store


@dataclass(frozen=True)
class RunOptions:
    """How often, with which resources a command makes its runs, and where it keeps them.

    The fields are the options of the command line. Experiments state their own ``replications`` and
    ``seed``.
    """

    replications: int | None = None
    seed: int | None = None
    jobs: int | None = None
    memory: str | None = None
    on: str | None = None
    workers: int | None = None
    out: Path | None = None
    overwrite: bool = False
    store: Path | None = None

    def cluster(self) -> AbstractContextManager[Workers | None]:
        """The requested cluster, if any."""
        if self.on is None and self.workers is None:
            return nullcontext()
        from cellyard.runs.cluster import requested_cluster

        return requested_cluster(self.on, self.workers, self.jobs)

    def folder(
        self, *, command: str, holds: str, origin: Mapping[str, Any], content: str = ""
    ) -> AbstractContextManager[ResultFolder | None]:
        """The folder of ``--out``, if any; ``content`` identifies what it holds, by default ``holds`` does."""
        if self.out is None:
            return nullcontext()
        from cellyard.outputs.folder import ResultFolder

        return ResultFolder(
            self.out,
            command=command,
            holds=holds,
            content=content or holds,
            provenance=origin,
            overwrite=self.overwrite,
        )

    def open_store(self, folder: ResultFolder | None) -> Store | None:
        """The store of ``--store``, or the one of the folder, if any."""
        if folder:
            return folder.store(self.store)
        if self.store:
            from cellyard.store import Store

            return Store(self.store)
        return None

    def engine(self, store: Store | None, cluster: Workers | None) -> dict[str, Any]:
        """Arguments of `cellyard.runs.batch.run_jobs`."""
        return {"threads": self.jobs, "memory": self.memory, "store": store, "on": cluster}


def write_failure(store: Store | None) -> str:
    """Why runs could not be added to a store outside a folder, in words; empty if nothing failed."""
    if not store or not store.failure:
        return ""
    why = store.failure.strerror or store.failure
    return printable(f"{store.path}: cannot be written: {why}; {kept_runs(store)}")


def interrupted_message(finished: str, store: Store | None) -> str:
    """Message of an interrupted command: what has ``finished``, and what is kept for the next run."""
    kept = kept_runs(store) if store else "nothing is kept without --out or --store"
    if store and store.kept:
        kept += ", and the same command continues from there"
    return printable(f"interrupted: {finished}; {kept}")


def kept_runs(store: Store | None) -> str:
    """How many runs a store keeps, and where, in words."""
    kept = store.kept if store else 0
    place = f" in {store.path}" if store else ""
    return f"{kept} finished run{'s are' if kept != 1 else ' is'} kept{place}"
