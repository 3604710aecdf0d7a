"""Keeps points, traced drops and captures of runs on disk during a command, so that memory holds only a few."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from cellyard.results.drops import RECORD, Drops

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    #: `time_s` and `value` of each series.
    Points = Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]
    #: Parts of captures: probe number, bytes, and the time in seconds at which the limit ended the
    #: file, if it did.
    Parts = Sequence[tuple[int, NDArray[np.uint8], float | None]]
    #: Points, bytes of traced drops if any, and parts of captures.
    Recorded = tuple[Points, NDArray[np.uint8] | None, Parts]

#: Memory that a run in progress may hold before data are written, by the engine's estimate.
HOLD_BYTES = 8 << 20

#: Total memory for data of finished runs when the disk is full.
KEPT_BYTES = 64 << 20


class SpoolError(OSError):
    """Data of probes cannot be written, or read back."""


class Spool(AbstractContextManager["Spool"]):
    """An unnamed file in ``folder``, which vanishes with the ``with`` block, however the process ends.

    A run in progress passes its data to `add` whenever they take more than ``hold_bytes``.
    """

    def __init__(self, folder: Path, *, hold_bytes: int = HOLD_BYTES) -> None:
        self.hold_bytes = hold_bytes
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._end = 0
        self._memory_bytes = 0
        self._runs: dict[int, tuple[list[tuple[SpooledArray, SpooledArray]], SpooledArray]] = {}
        self._captures: dict[int, dict[int, CapturedFile]] = {}

    def add(self, run: int, recorded: Recorded) -> None:
        """Write what the run of that number has recorded since the previous part. Raises `SpoolError`."""
        points, drops, captured = recorded
        self._capture(run, captured)
        if run not in self._runs:
            columns = [(SpooledArray(self, "=f8"), SpooledArray(self, "=f8")) for _ in points]
            self._runs[run] = columns, SpooledArray(self, list(RECORD))
        columns, records = self._runs[run]
        for (times, values), (time_s, value) in zip(columns, points, strict=True):
            times.append(time_s)
            values.append(value)
        if drops is not None:
            records.append(drops.view(list(RECORD)))

    def finished(
        self, run: int, result: Mapping[str, Any], recorded: Recorded, words: Sequence[str]
    ) -> Mapping[str, Any]:
        """The document of a finished run, including what was recorded since the last part. Raises `SpoolError`."""
        points, drops, captured = recorded
        self._capture(run, captured)
        if not points and drops is None and run not in self._runs:
            return in_memory(result, recorded, words)
        parts = self._runs.get(run)
        try:
            self.add(run, (points, drops, ()))
        except SpoolError:
            self._memory_bytes += sum(time_s.nbytes + value.nbytes for time_s, value in points)
            self._memory_bytes += drops.nbytes if drops is not None else 0
            if parts or self._memory_bytes > KEPT_BYTES:
                raise
            del self._runs[run]
            return in_memory(result, recorded, words)
        columns, records = self._runs.pop(run)
        return _with_recorded(result, columns, Drops(records, words))

    def captures(self, run: int) -> Mapping[int, CapturedFile]:
        """Return the content of the captures of a run, by probe number."""
        return self._captures.get(run, {})

    def _capture(self, run: int, parts: Parts) -> None:
        """Write the next parts of captures. Raises `SpoolError`."""
        run_captures = self._captures.setdefault(run, {}) if parts else {}
        for probe, content, limited_at_s in parts:
            captured = run_captures.setdefault(probe, CapturedFile(SpooledArray(self, "u1")))
            captured.content.append(content)
            captured.limited_at_s = limited_at_s

    def write(self, content: NDArray[Any]) -> int:
        """Append numbers and return their position."""
        start = self._end
        try:
            if self._file is None:
                import tempfile

                self._file = tempfile.TemporaryFile(buffering=0, dir=self._folder)  # noqa: SIM115
            rest = content.data.cast("B")
            self._file.seek(start)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise SpoolError(error.errno, error.strerror, str(self._folder)) from None
        self._end = start + content.nbytes
        return start

    def read(self, start: int, into: NDArray[Any]) -> None:
        """Fill an array with the numbers at that position."""
        if self._file is None:
            raise ValueError("nothing was written")
        self._file.seek(start)
        rest = into.data.cast("B")
        while rest:
            read = self._file.readinto(rest)  # type: ignore[attr-defined]
            if not read:
                raise SpoolError(
                    0, "the temporary file of probe data is shorter than what was written to it", str(self._folder)
                )
            rest = rest[read:]

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()


class SpooledArray:
    """Numbers of one kind in a `Spool`. Supports slices like an array and reads them on access."""

    def __init__(self, spool: Spool, kind: DTypeLike) -> None:
        import numpy as np

        self._spool = spool
        self._kind = np.dtype(kind)
        # For each piece, the count of numbers before it, and its position in the file.
        self._counts_before, self._positions = array("q"), array("q")
        self._length = 0

    def append(self, numbers: NDArray[Any]) -> None:
        """Append numbers. Raises `SpoolError`."""
        if len(numbers):
            place = self._spool.write(numbers.view("u1"))
            self._counts_before.append(self._length)
            self._positions.append(place)
            self._length += len(numbers)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> NDArray[Any]:
        import numpy as np

        start, stop, step = part.indices(self._length)
        numbers = np.empty(max(stop - start, 0), self._kind)
        piece = bisect.bisect_right(self._counts_before, start) - 1
        done = 0
        while done < len(numbers):
            begin = start + done - self._counts_before[piece]
            end = self._counts_before[piece + 1] if piece + 1 < len(self._counts_before) else self._length
            count = min(end - start - done, len(numbers) - done)
            place = self._positions[piece] + begin * self._kind.itemsize
            self._spool.read(place, numbers[done : done + count].view("u1"))
            done += count
            piece += 1
        return numbers[::step]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:].astype(self._kind if dtype is None else dtype, copy=False)

    def tolist(self) -> list[Any]:
        """All numbers as a list."""
        return list(self[:].tolist())


@dataclass(slots=True)
class CapturedFile:
    """Content of a capture so far."""

    content: SpooledArray
    #: Simulated time in seconds at which the limit ended the file.
    limited_at_s: float | None = None


def in_memory(result: Mapping[str, Any], recorded: Recorded, words: Sequence[str]) -> Mapping[str, Any]:
    """The document of a run with the data of its probes as arrays."""
    points, drops, _ = recorded
    return _with_recorded(result, points, Drops(drops.view(list(RECORD)), words) if drops is not None else ())


def loaded(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document of a run with spooled data loaded into arrays, which outlive the spool."""
    columns = [(series["time_s"][:], series["value"][:]) for series in result["series"]]
    drops = result["trace"]
    return _with_recorded(result, columns, Drops(drops.records[:], drops.words) if isinstance(drops, Drops) else ())


def _with_recorded(
    result: Mapping[str, Any], columns: Sequence[tuple[Any, Any]], drops: Drops | tuple[()]
) -> Mapping[str, Any]:
    if not columns and not len(drops):
        return result
    result = dict(result)
    for series, (time_s, value) in zip(result["series"], columns, strict=True):
        series |= {"time_s": time_s, "value": value}
    if len(drops):
        result["trace"] = drops
    return result
