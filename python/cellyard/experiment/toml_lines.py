"""Where each key and each value of a TOML text stands. `tomllib` reads the values and says nothing of places.

The scanner expects a text that `tomllib` has read without an error, so it only looks where things begin and end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import TypeAlias

#: A way down: keys of tables and numbers of list entries.
Path: TypeAlias = tuple[str | int, ...]
#: Line and column, from 1.
Place: TypeAlias = tuple[int, int]

_BLANK = re.compile(r"[ \t]*")
_FILLER = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.S)
_SCALAR = re.compile(r"[^,\]}\s#]+(?: \d{2}:[^,\]}\s#]+)?")


def places(text: str) -> Mapping[Path, Place]:
    r"""The place of each key, and of each entry of a list, by its way down from the root.

    >>> places('a = 1\n[[b]]\nc = { d = [5,\n 6] }')[("b", 0, "c", "d", 1)]
    (4, 2)
    """
    return _Scanner(text).found


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._lists: dict[Path, int] = {}
        self.found: dict[Path, Place] = {}
        table: Path = ()
        while True:
            self._skip(_FILLER)
            if self._at >= len(text):
                return
            if text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if not match:
            raise ValueError(f"no TOML at {self._place(self._at)}")  # which tomllib would have refused
        self._at = match.end()
        return match[0]

    def _place(self, at: int) -> Place:
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= at else (low, middle)
        return low + 1, at - self._starts[low] + 1

    def _note(self, path: Path, at: int) -> None:
        self.found.setdefault(path, self._place(at))

    def _header(self) -> Path:
        start = self._at
        is_list = self._text.startswith("[[", start)
        self._at += 2 if is_list else 1
        path: Path = ()
        *above, last = self._key()
        for key in above:
            path = (*path, key)
            if path in self._lists:  # of a list of tables the last is meant
                path = (*path, self._lists[path])
        path = (*path, last)
        self._note(path, start)
        if is_list:
            self._lists[path] = self._lists.get(path, -1) + 1
            path = (*path, self._lists[path])
            self._note(path, start)
        self._at += 2 if is_list else 1
        return path

    def _key(self) -> list[str]:
        """The words of a key, and what follows them skipped up to ``=`` or a bracket."""
        words = []
        while True:
            self._skip(_BLANK)
            if self._text[self._at] in "\"'":
                words.append(tomllib.loads(f"k = {self._skip(_STRING)}")["k"])
            else:
                words.append(self._skip(_BARE))
            self._skip(_BLANK)
            if self._text[self._at] != ".":
                return words
            self._at += 1

    def _pair(self, table: Path) -> None:
        start = self._at
        path = table
        for word in self._key():
            path = (*path, word)
            self._note(path, start)
        self._at += 1
        self._skip(_BLANK)
        self._value(path)

    def _value(self, path: Path) -> None:
        first = self._text[self._at]
        if first in "[{":
            self._at += 1
            self._inside(path, "]" if first == "[" else "}")
        else:
            self._skip(_STRING if first in "\"'" else _SCALAR)

    def _inside(self, path: Path, end: str) -> None:
        """The entries of a list, or the pairs of an inline table."""
        number = 0
        while True:
            self._skip(_FILLER)
            if self._text[self._at] == end:
                self._at += 1
                return
            if self._text[self._at] == ",":
                self._at += 1
            elif end == "}":
                self._pair(path)
            else:
                self._note((*path, number), self._at)
                self._value((*path, number))
                number += 1
