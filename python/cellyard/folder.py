"""The folder that a command writes its results into: one command at a time, and nothing else is overwritten unasked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any

from cellyard.errors import UsageError
from cellyard.store import writable_folder

try:
    import fcntl
except ImportError:  # not on Windows, where two commands may meet in one folder
    fcntl = None  # type: ignore[assignment]

#: File that says what a folder holds and where that came from. It is written before the first run.
MARK = "provenance.json"


class ResultFolder(AbstractContextManager["ResultFolder"]):
    """``path``, made if need be, held for one command until the end of the ``with`` block.

    ``holds`` says what is written there in words ("the study ubr-plus"), ``content`` is another text when it is something else.
    Raises `UsageError` when the folder cannot be written, another command is writing there, or, unless ``overwrite``, it holds
    something else. Files whose names begin with a dot do not count.
    """

    def __init__(
        self, path: Path, *, holds: str, content: str, provenance: Mapping[str, Any], overwrite: bool = False
    ) -> None:
        self.path = writable_folder(path)
        self._lock = _lock(path)
        try:
            if not overwrite:
                _refuse_others(path, holds, content)
            mark = {"holds": holds, "content": content, **provenance}
            (path / MARK).write_text(json.dumps(mark, indent=2) + "\n", encoding="utf-8")
        except BaseException:
            self._unlock()
            raise

    @property
    def runs(self) -> Path:
        """File of the finished runs."""
        return self.path / "runs.jsonl"

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _lock(path: Path) -> int | None:
    """An open folder that nobody else has locked; the system unlocks it when the process ends, however it ends."""
    if fcntl is None:
        return None
    folder = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        raise UsageError(
            f"{path}: another command is writing there; wait for its end, or choose another folder"
        ) from None
    except OSError:  # a file system without locks
        os.close(folder)
        return None
    return folder


def _refuse_others(path: Path, holds: str, content: str) -> None:
    there = sorted(file.name for file in path.iterdir() if not file.name.startswith("."))
    if not there:
        return
    how = "choose another folder, or say --overwrite to replace files of the same names"
    if MARK not in there:
        some = ", ".join(there[:3]) + (", ..." if len(there) > 3 else "")
        raise UsageError(f"{path}: holds files that Cellyard did not write ({some}); {how}")
    try:
        mark = json.loads((path / MARK).read_text(encoding="utf-8"))
        found, same = str(mark["holds"]), mark["content"] == content
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{path / MARK}: does not say what the folder holds; {how}") from None
    if not same:
        what = f"another version of {holds}" if found == holds else f"{found}, not {holds}"
        raise UsageError(f"{path}: holds results of {what}; {how}")
