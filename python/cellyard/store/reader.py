"""Reads the file of a store: results by the hashes of their runs."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from cellyard.runs.identity import WHOLE
from cellyard.store import schema
from cellyard.store.encoding import DamageError, Piece, decoded, decoded_part, piece_seal, seal
from cellyard.system.errors import UsageError


class Reader:
    """The file at ``path``, created if missing and ``create`` is true. All reads are checked against checksums."""

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        self.connection = schema.connect(path, create=create)
        #: Cached names and seeds of scenarios by hash; see `cellyard.store.contents.heading`.
        self.headings: dict[bytes, tuple[str, int]] = {}

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query; raises `UsageError` if the file is damaged or cannot be read."""
        try:
            return schema.retry_while_busy(lambda: self.connection.execute(query, values).fetchall())
        except sqlite3.Error as error:
            raise UsageError(f"{self.path}: cannot be read: {schema.as_system_error(error).strerror}") from None

    def snapshot(self) -> AbstractContextManager[None]:
        """A ``with`` block in which all reads see one moment."""
        return schema.snapshot(self.connection)

    def read(self, run: bytes, keep: bytes = WHOLE) -> Mapping[str, Any] | None:
        """A stored part of the run with that hash, by default all; ``None`` if missing. Raises `DamageError` and SQLite's errors."""
        return schema.retry_while_busy(lambda: self._read(run, keep))

    def _read(self, run: bytes, keep: bytes) -> Mapping[str, Any] | None:
        row = self.connection.execute(
            "SELECT run, seal, recorded, content FROM result WHERE run = (SELECT id FROM run WHERE hash = ?) AND keep = ?",
            (run, keep),
        ).fetchone()
        if row is None:
            return None
        number, sealed, recorded, content = row
        # Damaged values may have another type.
        typed = isinstance(content, bytes) and isinstance(recorded, (str, type(None)))
        if not typed or seal(run, keep, recorded, content) != sealed:
            raise DamageError("its checksum does not match")
        if keep != WHOLE:
            return decoded_part(content)
        return decoded(content, recorded, self.pieces(number, run) if recorded is not None else ())

    def pieces(self, number: int, run: bytes) -> Iterator[Piece]:
        """The pieces of the run with that number and hash, in order; raises `DamageError`."""
        rows = self.connection.execute(
            "SELECT series, place, content, seal FROM piece WHERE run = ? ORDER BY series, place", (number,)
        )
        for series, place, content, sealed in rows:
            piece = Piece(series, place, content)
            if not isinstance(content, bytes) or piece_seal(run, piece) != sealed:
                raise DamageError("the checksum of some points does not match")
            yield piece
