"""The result folder of a command. Only one command uses it at a time, and other content is overwritten only on request."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cellyard.store.folder_label import MARK, marked
from cellyard.system.errors import UsageError
from cellyard.system.files import FileSet, missing, remove_empty, sealed, settle, sums, writable_folder, write_whole
from cellyard.system.lock import FolderLock
from cellyard.system.terminal import printable

if TYPE_CHECKING:
    from cellyard.store import Store

#: File of finished runs of an earlier version. Its names do not identify the runs.
OLD_RUNS = "runs.jsonl"


class ResultFolder(AbstractContextManager["ResultFolder"]):
    """``path``, created if missing, and locked for one command until the end of the ``with`` block.

    ``holds`` describes the content in words ("the study ubr-plus"); ``content`` is a text that
    identifies it. Raises `UsageError` in three cases: the folder cannot be written, another command
    is using it, or it holds something else and ``overwrite`` is false. Files whose names begin with
    a dot do not count.
    """

    def __init__(
        self, path: Path, *, holds: str, content: str, provenance: Mapping[str, Any], overwrite: bool = False
    ) -> None:
        made = missing(path)
        self.path = writable_folder(path)
        self._mark = {"holds": holds, "content": content, **provenance}
        self._store: Store | None = None
        try:
            self._lock = FolderLock(path)
        except BlockingIOError:
            raise UsageError(
                f"{path}: another command is writing there; wait until it ends, or choose another folder"
            ) from None
        try:
            settle(path, overwrite=overwrite)
            if not overwrite:
                _refuse_others(path, holds, content)
            if marked(path) is None:
                write_whole(path / MARK, sealed(self._mark), follow=False)
        except OSError as error:
            self._lock.release()
            remove_empty(made)
            raise UsageError(f"{error.filename or path}: cannot be written: {error.strerror or error}") from None
        except BaseException:
            self._lock.release()
            raise

    def store(self, path: Path | None = None) -> Store:
        """The store of the folder, or the store at ``path``, which `publish` then mentions."""
        from cellyard.store import NAME, Store

        if path is None and (self.path / NAME).is_symlink():
            raise UsageError(
                printable(f"{self.path / NAME}: is a link, which is not followed; name its target with --store")
            )
        self._store = Store(path or self.path / NAME)
        if path:
            self._mark["store"] = str(path.absolute())
        if path is None and (old := self.path / OLD_RUNS).exists():
            self._store.note = f"{old}: finished runs of an earlier version, which are ignored; remove the file"
        return self._store

    def publish(self, add: Callable[[FileSet], None]) -> str:
        """Replace the result files by those that ``add`` adds, all or none; returns what failed and what is kept, in words."""
        failure, rest = self._store.failure if self._store else None, "all other files are complete"
        before = sums(self.path)
        try:
            self._is_there()
            with FileSet(self.path) as files:
                add(files)
                files.add(MARK, sealed(self._mark))
        except OSError as error:
            failure, rest = failure or error, "the result files are unchanged"
        except KeyboardInterrupt:
            there = sums(self.path) != before
            state = "complete" if there else "unchanged"
            raise KeyboardInterrupt(f"the result files are {state}, and {self._kept()}") from None
        return self._told(failure, "", rest) if failure else ""

    def told(self, failure: OSError, what: str) -> str:
        """A sentence that ``what`` could not be written during the runs, why, and what is kept."""
        return self._told(failure, f"{what} ", "the result files are unchanged")

    def _told(self, failure: OSError, what: str, rest: str) -> str:
        why = failure.strerror or failure
        return printable(f"{failure.filename or self.path}: {what}cannot be written: {why}; {rest}, and {self._kept()}")

    def _kept(self) -> str:
        return _kept_in(self._store)

    def _is_there(self) -> None:
        if not self._lock.is_of(self.path):
            how = "the folder was removed, moved or replaced while the command ran"
            raise OSError(errno.ENOENT, how, str(self.path))

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def open_store(folder: ResultFolder | None, path: Path | None) -> Store | None:
    """The store of a command: the one at ``path``, or the one of its folder, if any."""
    if folder:
        return folder.store(path)
    if path:
        from cellyard.store import Store

        return Store(path)
    return None


def untold(store: Store | None) -> str:
    """Why runs could not be added to a store outside a folder, in words; empty if nothing failed."""
    if not store or not store.failure:
        return ""
    why = store.failure.strerror or store.failure
    return printable(f"{store.path}: cannot be written: {why}; {_kept_in(store)}")


def interrupted(finished: str, store: Store | None) -> str:
    """Message of an interrupted command: what has ``finished``, and what is kept for the next run."""
    kept = _kept_in(store) if store else "nothing is kept without --out or --store"
    if store and store.kept:
        kept += ", and the same command continues from there"
    return printable(f"interrupted: {finished}; {kept}")


def _kept_in(store: Store | None) -> str:
    kept = store.kept if store else 0
    where = f" in {store.path}" if store else ""
    return f"{kept} finished run{'s are' if kept != 1 else ' is'} kept{where}"


def _refuse_others(path: Path, holds: str, content: str) -> None:
    there = sorted(file.name for file in path.iterdir() if not file.name.startswith("."))
    if not there:
        return
    how = "choose another folder, or use --overwrite to replace files of the same names"
    if MARK not in there:
        some = ", ".join(there[:3]) + (", ..." if len(there) > 3 else "")
        raise UsageError(f"{path}: holds files that Cellyard did not write ({some}); {how}")
    mark = marked(path)
    if mark is None:
        raise UsageError(
            f"{path / MARK}: does not say what the folder holds: its checksum does not match, or an earlier version wrote it; {how}"
        )
    if mark["content"] != content:
        found = mark["holds"]
        what = f"another version of {holds}" if found == holds else f"{found}, not {holds}"
        raise UsageError(f"{path}: holds results of {what}; {how}")
