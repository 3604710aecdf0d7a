"""Traced drops as numeric records, each of which becomes a dictionary on access."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, overload

from cellyard.show.text import PIECE_ITEMS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    class Records(Protocol):
        """Records of drops, in memory or in a file."""

        def __len__(self) -> int: ...
        def __getitem__(self, selection: slice, /) -> NDArray[np.void]: ...


#: Record format of the engine (`crates/python/src/recorded.rs`). Words are numbers; -1, NaN and, for
#: words, `NO_WORD` stand for none. `counts_bytes` is 1 if the four quantities of the queue are bytes, else 0.
RECORD = (
    ("time_s", "=f8"),
    ("threshold", "=f8"),
    ("waiting", "=i8"),
    ("waiting_of_vc", "=i8"),
    ("active_vcs", "=i8"),
    ("frame", "=u4"),
    ("cell", "=u4"),
    ("port", "=u4"),
    ("vc", "=u4"),
    ("direction", "=u4"),
    ("reason", "=u4"),
    ("average_queue", "=f8"),
    ("drop_probability", "=f8"),
    ("policy_state", "=u4"),
    ("counts_bytes", "=u4"),
    ("free_places", "=i8"),
    ("dynamic_threshold_places", "=f8"),
    ("pool_queues", "=u4"),
)
#: Number in place of a word that is not there.
NO_WORD = 2**32 - 1
#: Record fields in stores that were written before the number of fields was.
FIRST_FIELDS = 11
_WORDS = ("port", "vc", "direction", "reason", "policy_state", "pool_queues")
_COUNTS = ("waiting", "waiting_of_vc", "active_vcs", "free_places")
_MEASURES = ("threshold", "average_queue", "drop_probability", "dynamic_threshold_places")
#: Fields whose key in a drop ends in the unit of the queue.
_IN_PLACES = ("waiting", "waiting_of_vc", "threshold", "average_queue")

#: Keys of a drop, in the order of the engine's documents.
KEYS = (
    *("time_s", "port", "vc", "direction", "frame", "cell", "reason"),
    *("waiting_cells", "waiting_of_vc_cells", "active_vcs", "threshold_cells", "average_queue_cells"),
    *("drop_probability", "policy_state", *(f"{name}_bytes" for name in _IN_PLACES)),
    *("free_places", "dynamic_threshold_places", "pool_queues"),
)


class Drops(Sequence[dict[str, Any]]):
    """Traced drops in order, as dictionaries like those in JSON.

    ``words`` are the words that records refer to by number.
    """

    def __init__(self, records: Records, words: Sequence[str]) -> None:
        self._records = records
        self._words = tuple(words)

    @property
    def records(self) -> Records:
        """Return the records of all drops."""
        return self._records

    @property
    def words(self) -> list[str]:
        """Return the words that records refer to by number."""
        return list(self._words)

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return self._tables(index)
        position = range(len(self))[index]
        return self._tables(slice(position, position + 1))[0]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self), PIECE_ITEMS):
            yield from self._tables(slice(start, start + PIECE_ITEMS))

    def __eq__(self, other: object) -> bool:
        return self.tolist() == list(other) if isinstance(other, (Drops, list)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def tolist(self) -> list[dict[str, Any]]:
        """Return all drops as a list, ready for JSON."""
        return list(self)

    def _tables(self, selection: slice) -> list[dict[str, Any]]:
        records = self._records[selection]
        columns: dict[str, list[Any]] = {name: records[name].tolist() for name, _ in RECORD}
        for name in _WORDS:
            columns[name] = [None if number == NO_WORD else self._words[number] for number in columns[name]]
        for name in _COUNTS:
            columns[name] = [None if count < 0 else count for count in columns[name]]
        for name in _MEASURES:
            columns[name] = [None if value != value else value for value in columns[name]]
        for name in _IN_PLACES:
            pairs = list(zip(columns[name], columns["counts_bytes"], strict=True))
            columns[f"{name}_cells"] = [None if is_bytes else value for value, is_bytes in pairs]
            columns[f"{name}_bytes"] = [value if is_bytes else None for value, is_bytes in pairs]
        return [dict(zip(KEYS, values, strict=True)) for values in zip(*map(columns.__getitem__, KEYS), strict=True)]
