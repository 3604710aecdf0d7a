"""A file of finished runs from which an interrupted batch goes on, and folders that can be written."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from cellyard.errors import UsageError
from cellyard.results import with_arrays
from cellyard.text import json_text


class Store(AbstractContextManager["Store"]):
    """Finished runs in a file of JSON lines: appended as they finish, found again by their identity."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._load()
        self._file: TextIO = path.open("a", encoding="utf-8")

    def _load(self) -> None:
        complete = 0
        for number, line in enumerate(self._path.read_bytes().splitlines(keepends=True), 1):
            if not line.endswith(b"\n"):
                break
            try:
                entry = json.loads(line)
                identity, result = entry["identity"], with_arrays(entry["result"])
            except (ValueError, TypeError, KeyError, AttributeError):
                identity = result = None
            if not (isinstance(identity, str) and isinstance(result, dict)):
                raise UsageError(f"{self._path}:{number}: not a finished run; move the file away to start anew")
            self._known[identity] = result
            complete += len(line)
        # A run that was killed while it wrote leaves a torn last line.
        if complete < self._path.stat().st_size:
            os.truncate(self._path, complete)

    def get(self, identity: str) -> dict[str, Any] | None:
        """Result of the run ``identity`` if it was finished before."""
        return self._known.get(identity)

    def add(self, identity: str, result: dict[str, Any], *, replication: int | None) -> None:
        """Append a finished run; it is on its way to the disk when this returns."""
        self._known[identity] = result
        entry = {"identity": identity, "replication": replication, "result": result}
        self._file.write(json_text(entry) + "\n")
        self._file.flush()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def writable_folder(path: Path) -> Path:
    """``path`` as a folder that can be written, made if need be; raises `UsageError` and leaves nothing behind."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        trial = path / f".cellyard-trial-{os.getpid()}"
        trial.touch()
        trial.unlink()
    except OSError as error:
        for folder in made:
            with suppress(OSError):  # somebody else may use it by now
                folder.rmdir()
        raise UsageError(f"{path}: cannot write there: {error.strerror or error}") from None
    return path
