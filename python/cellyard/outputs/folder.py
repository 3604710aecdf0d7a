"""The result folder of a command. Only one command uses it at a time, and other content is overwritten only on request."""

import errno
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any

from cellyard.outputs.kept import kept_runs
from cellyard.show.words import counted
from cellyard.store import Store
from cellyard.store.folder_label import LABEL_FILE, made_by, read_label
from cellyard.system.errors import UsageError
from cellyard.system.files import (
    SUMS_FILE,
    FileSet,
    check_replaceable,
    checksums,
    finish_renames,
    missing_folders,
    remove_empty,
    sealed,
    writable_folder,
    write_whole,
)
from cellyard.system.lock import FolderLock
from cellyard.system.terminal import printable


class ResultFolder(AbstractContextManager["ResultFolder"]):
    """``path``, created if missing, and locked for one command until the end of the ``with`` block.

    ``command`` is the name of the command ("study report"); files of other commands stay. ``holds``
    describes the content in words ("the study ubr-plus"); ``content`` is a text that identifies it.
    Raises `UsageError` in three cases: the folder cannot be written, another command is using it,
    or it holds something else and ``overwrite`` is false. Files whose names begin with a dot do not
    count.
    """

    def __init__(
        self,
        path: Path,
        *,
        command: str,
        holds: str,
        content: str,
        provenance: Mapping[str, Any],
        overwrite: bool = False,
    ) -> None:
        made = missing_folders(path)
        self.path = writable_folder(path)
        self._label = {"holds": holds, "content": content, **provenance}
        self._command = command
        self._store: Store | None = None
        try:
            self._lock = FolderLock(path)
        except BlockingIOError:
            raise UsageError(
                f"{path}: another command is writing there; wait until it ends, or choose another folder"
            ) from None
        try:
            for name in (LABEL_FILE, SUMS_FILE, *checksums(path)):
                check_replaceable(path / name)
            finish_renames(path, overwrite=overwrite)
            if not overwrite:
                _refuse_other_content(path, holds, content)
            if read_label(path) is None:
                write_whole(path / LABEL_FILE, sealed(self._label), follow=False)
        except OSError as error:
            self._lock.release()
            remove_empty(made)
            raise UsageError(f"{error.filename or path}: cannot be written: {error.strerror or error}") from None
        except BaseException:
            self._lock.release()
            raise

    def store(self, path: Path | None = None) -> Store:
        """The store of the folder, or the store at ``path``, which `publish` then mentions."""
        from cellyard.store import FILE_NAME, Store

        if path is None and (self.path / FILE_NAME).is_symlink():
            raise UsageError(
                printable(f"{self.path / FILE_NAME}: is a link, which is not followed; name its target with --store")
            )
        self._store = Store(path or self.path / FILE_NAME)
        if path:
            self._label["store"] = str(path.absolute())
        return self._store

    def publish(self, add: Callable[[FileSet], None]) -> str:
        """Replace the result files by those that ``add`` adds, all or none; returns what failed and what is kept, in words.

        A note on standard error names files of another command, which show earlier results.
        """
        failure, rest = self._store.failure if self._store else None, "all other files are complete"
        earlier = made_by(self.path)
        files = FileSet(self.path, kept={name for name in checksums(self.path) if earlier.get(name) != self._command})
        try:
            self._check_exists()
            with files:
                add(files)
                makers = {name: by for name, by in earlier.items() if by != self._command}
                makers |= dict.fromkeys(files.names, self._command)
                files.add(LABEL_FILE, sealed({**self._label, "made_by": makers}))
        except OSError as error:
            failure, rest = failure or error, f"the result files are {files.state}"
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"the result files are {files.state}, and {self._kept_message()}") from None
        else:
            self._note_older({name: by for name, by in makers.items() if by != self._command})
        return self._failure_message(failure, "", rest) if failure else ""

    def _note_older(self, makers: Mapping[str, str]) -> None:
        """Print which files of other commands stay, as they show results before these."""
        for by in dict.fromkeys(makers.values()):
            names = [name for name in makers if makers[name] == by and (self.path / name).is_file()]
            if names:
                first = next((name for name in names if name.endswith(".html")), names[0])
                rest = f" and {counted(len(names) - 1, 'other file')}" if names[1:] else ""
                message = f"{self.path / first}{rest}: made by `{by}` from earlier results; run that command again"
                print(printable(f"note: {message}"), file=sys.stderr)

    def failure_message(self, failure: OSError, subject: str) -> str:
        """A sentence that ``what`` could not be written during the runs, why, and what is kept."""
        return self._failure_message(failure, f"{subject} ", "the result files are unchanged")

    def _failure_message(self, failure: OSError, subject: str, rest: str) -> str:
        why = failure.strerror or failure
        return printable(
            f"{failure.filename or self.path}: {subject}cannot be written: {why}; {rest}, and {self._kept_message()}"
        )

    def _kept_message(self) -> str:
        return kept_runs(self._store)

    def _check_exists(self) -> None:
        if not self._lock.is_of(self.path):
            reason = "the folder was removed, moved or replaced while the command ran"
            raise OSError(errno.ENOENT, reason, str(self.path))

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def _refuse_other_content(path: Path, holds: str, content: str) -> None:
    names = sorted(file.name for file in path.iterdir() if not file.name.startswith("."))
    if not names:
        return
    advice = "choose another folder, or use --overwrite to replace files of the same names"
    if LABEL_FILE not in names:
        listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        raise UsageError(f"{path}: holds files that Cellyard did not write ({listed}); {advice}")
    label = read_label(path)
    if label is None:
        raise UsageError(
            f"{path / LABEL_FILE}: does not say what the folder holds: its checksum does not match, or an earlier version "
            f"wrote it; {advice}"
        )
    if label["content"] != content:
        found = label["holds"]
        content_name = f"another version of {holds}" if found == holds else f"{found}, not {holds}"
        raise UsageError(f"{path}: holds results of {content_name}; {advice}")
