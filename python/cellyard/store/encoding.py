"""Encodes results as bytes: compressed JSON, with points and traced drops in separate pieces, all with checksums."""

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from cellyard.results.document import Document
from cellyard.results.drops import FIRST_FIELDS, NO_WORD, RECORD, Drops
from cellyard.results.run import with_arrays
from cellyard.runs.identity import HASH_BYTES
from cellyard.show.text import json_text

#: Compression level. Higher ones are not worth their time.
_LEVEL = 1

#: Shorter documents are stored uncompressed.
SHORT_BYTES = 512

#: Window bits and memory level of the compression. The defaults of zlib take twice as long, since
#: they set up memory that a document of some kilobytes does not fill, and compress no better.
_WINDOW_BITS, _MEMORY_LEVEL = 14, 6

#: First bytes of compressed content, with which no JSON begins: for windows of 14 or 15 bits.
_COMPRESSED = (b"\x68", b"\x78")

#: Number of points or traced drops per piece.
PIECE_NUMBERS = 1 << 16

#: Stands for traced drops in place of a series number.
DROPS_SERIES = -1


class DamageError(ValueError):
    """Stored data differ from what was written."""


@dataclass(frozen=True)
class Piece:
    """Some points of a series, or some traced drops (`DROPS_SERIES`), in order of ``place``."""

    series: int
    place: int
    content: bytes


@dataclass(frozen=True)
class EncodedResult:
    """An encoded result: its document, a JSON list of what is in pieces, and the source of the pieces."""

    content: bytes
    recorded: str | None = None
    pieces: Callable[[], Iterable[Piece]] = tuple


def encoded(result: Mapping[str, Any], text: str | None = None) -> EncodedResult:
    """Encode a whole result. ``text`` is its document without points and traced drops, if available."""
    if isinstance(result, Document):
        return EncodedResult(_compressed(result.text))
    series = result.get("series") or ()
    drops = result.get("trace")
    traced = drops if isinstance(drops, Drops) else None
    if not series and traced is None:
        return EncodedResult(_compressed(text or json_text(result)))
    recorded = {
        "points": [len(part["time_s"]) for part in series],
        "drops": len(traced) if traced is not None else None,
        "fields": len(RECORD),
        "words": traced.words if traced is not None else [],
    }
    if text is None:
        bare = {**result, "series": [{**part, "time_s": [], "value": []} for part in series]}
        text = json_text(bare | ({"trace": []} if traced is not None else {}))
    return EncodedResult(_compressed(text), json.dumps(recorded), partial(_pieces, series, traced))


def encoded_part(kept: Mapping[str, Any]) -> EncodedResult:
    """Encode the kept part of a result."""
    return EncodedResult(_compressed(json_text(kept)))


def _compressed(text: str) -> bytes:
    raw = text.encode()
    if len(raw) <= SHORT_BYTES:
        return raw
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL)
    return press.compress(raw) + press.flush()


def _decompressed(content: bytes) -> bytes:
    return zlib.decompress(content) if content.startswith(_COMPRESSED) else content


def _pieces(series: Iterable[Mapping[str, Any]], drops: Drops | None) -> Iterator[Piece]:
    import numpy as np

    for number, part in enumerate(series):
        for place, start in enumerate(range(0, len(part["time_s"]), PIECE_NUMBERS)):
            span = slice(start, start + PIECE_NUMBERS)
            columns = (np.asarray(part[name][span], "<f8").tobytes() for name in ("time_s", "value"))
            yield Piece(number, place, zlib.compress(b"".join(columns), _LEVEL))
    for place, start in enumerate(range(0, len(drops) if drops is not None else 0, PIECE_NUMBERS)):
        records = drops.records[start : start + PIECE_NUMBERS]  # type: ignore[union-attr]
        yield Piece(DROPS_SERIES, place, zlib.compress(records.astype(_stored_record_type()).tobytes(), _LEVEL))


#: What stands for a field that an older record lacks, if that is not NaN.
MISSING = {"policy_state": NO_WORD, "counts_bytes": 0, "free_places": -1, "pool_queues": NO_WORD}


def _stored_record_type(fields: int = len(RECORD)) -> Any:
    """Record type of a stored traced drop in little-endian order, limited to its first ``fields``."""
    import numpy as np

    return np.dtype(list(RECORD[:fields])).newbyteorder("<")


def decoded(content: bytes, recorded: str | None, pieces: Iterable[Piece]) -> Mapping[str, Any]:
    """Decode a whole result; raises `DamageError` unless all of its pieces are there."""
    try:
        if recorded is None:  # then nothing of it is an array
            return Document(content if content.startswith(_COMPRESSED) else content.decode())
        return _with_pieces(json.loads(_decompressed(content)), json.loads(recorded), pieces)
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error) as error:
        raise DamageError(str(error)) from None


def decoded_part(content: bytes) -> dict[str, Any]:
    """Decode the kept part of a result."""
    try:
        return with_arrays(json.loads(_decompressed(content)))
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error) as error:
        raise DamageError(str(error)) from None


def _with_pieces(result: dict[str, Any], recorded: Mapping[str, Any], pieces: Iterable[Piece]) -> dict[str, Any]:
    import numpy as np

    found: dict[int, list[Piece]] = {}
    for piece in pieces:
        found.setdefault(piece.series, []).append(piece)

    def numbers(series: int, columns: int) -> list[bytes]:
        """The bytes of each column of a series."""
        parts: list[list[bytes]] = [[] for _ in range(columns)]
        for piece in found.get(series, ()):
            raw = zlib.decompress(piece.content)
            size = len(raw) // columns
            for column in range(columns):
                parts[column].append(raw[column * size : (column + 1) * size])
        return [b"".join(column_parts) for column_parts in parts]

    for number, (series, count) in enumerate(zip(result["series"], recorded["points"], strict=True)):
        columns = [np.frombuffer(raw, "<f8").astype(float) for raw in numbers(number, 2)]
        if [len(column) for column in columns] != [count, count]:
            raise DamageError("points are missing")
        series |= dict(zip(("time_s", "value"), columns, strict=True))
    if recorded["drops"] is not None:
        stored = np.frombuffer(numbers(DROPS_SERIES, 1)[0], _stored_record_type(recorded.get("fields", FIRST_FIELDS)))
        if len(stored) != recorded["drops"]:
            raise DamageError("traced drops are missing")
        records = np.empty(len(stored), list(RECORD))
        for name, _ in RECORD:
            missing = MISSING.get(name, np.nan)
            records[name] = stored[name] if name in (stored.dtype.names or ()) else missing
        result["trace"] = Drops(records, recorded["words"])
    return result


def seal(run: bytes, keep: bytes, recorded: str | None, content: bytes) -> bytes:
    """Checksum of a result together with its run."""
    return _checksum(run + keep + (recorded or "").encode() + b"\n" + content)


def run_seal(run: bytes, finished_s: int, cpu_s: float, size: int) -> bytes:
    """Checksum of the other data of a run: when it was added, its CPU time, and the size of its results in bytes."""
    return _checksum(run + f"{finished_s} {cpu_s!r} {size}".encode())


def piece_seal(run: bytes, piece: Piece) -> bytes:
    """Checksum of a piece with its place."""
    return _checksum(run + f"{piece.series} {piece.place}\n".encode() + piece.content)


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:HASH_BYTES]
