"""Options of commands that make runs."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
