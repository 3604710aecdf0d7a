"""A file of finished runs from which an interrupted batch goes on."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from cellyard.errors import UsageError
from cellyard.files import digest, to_disk
from cellyard.results import with_arrays
from cellyard.text import json_pieces

#: How a line begins: the checksum is of all that follows it on the line.
HEAD, SEAL = b'{"sha256": "', 64

#: A longer line is made twice, for its checksum and to be written, and not kept as text between.
KEPT_BYTES = 32 << 20

#: Bytes of a line that are written in one go.
WRITTEN_AT_ONCE = 1 << 20

#: At most so often what was appended is brought to the disk, beside the end.
DISK_SECONDS = 1.0


class Store(AbstractContextManager["Store"]):
    """Finished runs in a file of JSON lines: appended as they finish, found again by their identity.

    Every line carries a checksum. Raises `UsageError`, which names the line, when one is not as it was written. The last line is left out
    when its end is missing: that is what a command leaves that was killed while it wrote; `note` then says so. What cannot be
    appended is no error: `failure` is the first one, and the runs go on.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, dict[str, Any]] = {}
        self._kept: set[str] = set()
        #: What is to be told of the file, if anything.
        self.note = ""
        #: The first error of writing.
        self.failure: OSError | None = None
        try:
            if path.exists():
                if not path.is_file():
                    raise UsageError(f"{path}: must be a file, in which finished runs are kept")
                self._load()
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise UsageError(f"{path}: cannot be read and written: {error.strerror or error}") from None
        self._was = os.fstat(self._file)
        self._on_disk = time.monotonic()

    def _load(self) -> None:
        torn = 0
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    self._take(number, line[:-1])
                else:
                    torn = len(line)
        if torn:
            os.truncate(self._path, self._path.stat().st_size - torn)
            self.note = f"{self._path}: the last line had no end, and is left out: that run is simulated again"

    def _take(self, number: int, line: bytes) -> None:
        try:
            identity, result = _read(line)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise UsageError(
                f"{self._path}:{number}: not a finished run as it was written: its checksum does not match; remove the line "
                "to simulate that run again, or move the file away to start anew"
            ) from None
        self._known[identity] = result

    def get(self, identity: str) -> dict[str, Any] | None:
        """Result of the run ``identity`` if it was finished before."""
        found = self._known.get(identity)
        if found is not None:
            self._kept.add(identity)
        return found

    def add(self, identity: str, result: dict[str, Any], *, replication: int | None) -> None:
        """Append a finished run; a process that is killed after this returns has kept it."""
        self._known[identity] = result
        entry = {"identity": identity, "replication": replication, "result": result}
        seal = hashlib.sha256()
        kept: list[bytes] = []
        size = 0
        for piece in _body(entry):
            seal.update(piece)
            size += len(piece)
            if size <= KEPT_BYTES:
                kept.append(piece)
        head = HEAD + f'{seal.hexdigest()}", '.encode()
        try:
            pieces = kept if size <= KEPT_BYTES else _body(entry)
            self._append(itertools.chain([head], pieces, [b"\n"]))
        except OSError as error:
            self._fails(error)
        else:
            self._kept.add(identity)

    def _append(self, pieces: Iterable[bytes]) -> None:
        """Write a line; one that has no end, because the command is killed or stopped meanwhile, is left out when it is read."""
        before = os.fstat(self._file).st_size
        try:
            for some in _gathered(pieces):
                written = 0
                while written < len(some):
                    written += os.write(self._file, some[written:])
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._file, before)
            raise
        if time.monotonic() - self._on_disk >= DISK_SECONDS:
            self._to_disk()

    def _to_disk(self) -> None:
        to_disk(self._file)
        self._on_disk = time.monotonic()

    def _fails(self, error: OSError) -> None:
        self.failure = self.failure or OSError(error.errno, error.strerror, str(self._path))

    @property
    def kept(self) -> int:
        """Number of runs that were asked for or added and are in the file, which is 0 when it is no longer there."""
        try:
            return len(self._kept) if os.path.samestat(self._was, self._path.stat()) else 0
        except OSError:
            return 0

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._to_disk()
        except OSError as error:
            self._fails(error)
        os.close(self._file)


def _body(entry: Mapping[str, Any]) -> Iterator[bytes]:
    """What follows the checksum on a line, without the brace that begins it."""
    pieces = json_pieces(entry)
    yield next(pieces)[1:].encode()
    for piece in pieces:
        yield piece.encode()


def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same in pieces of a megabyte or more: a line that is not long is written in one go."""
    some: list[bytes] = []
    size = 0
    for piece in pieces:
        some.append(piece)
        size += len(piece)
        if size >= WRITTEN_AT_ONCE:
            yield b"".join(some)
            some, size = [], 0
    yield b"".join(some)


def _read(line: bytes) -> tuple[str, dict[str, Any]]:
    """Identity and result of a line; raises `ValueError` or the like when it is not as `Store.add` writes it."""
    start = len(HEAD) + SEAL
    head, seal, after, body = line[: len(HEAD)], line[len(HEAD) : start], line[start : start + 3], line[start + 3 :]
    if (head, after) != (HEAD, b'", ') or seal.decode("ascii") != digest(body):
        raise ValueError("its checksum does not match")
    entry = json.loads(b"{" + body)
    identity, result = entry["identity"], with_arrays(entry["result"])
    if not isinstance(identity, str):
        raise TypeError("its identity is no text")
    return identity, result
