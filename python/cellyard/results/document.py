"""The engine's document of a run, of which most is never looked at."""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

_Decoder = codecs.getincrementaldecoder("utf-8")
_VALUE = json.JSONDecoder().raw_decode
_SPACE = r"[ \t\n\r]*"
#: What opens an object, what stands before a value (names with escapes apart), and what stands after one.
_OPEN = re.compile(rf"{_SPACE}\{{{_SPACE}(\}}{_SPACE}\Z)?")
_NAME = re.compile(rf'"([^"\\\x00-\x1f]*)"{_SPACE}:{_SPACE}')
_COLON = re.compile(rf"{_SPACE}:{_SPACE}")
_AFTER = re.compile(rf'{_SPACE}(?:,{_SPACE}(?=")|\}}{_SPACE}(\Z))')

#: As much of a compressed document is decompressed at first: what stands before its VCs and ports, and some more.
FIRST_CHARACTERS = 2048


class Document(Mapping[str, Any]):
    """A JSON object, each name in it once, that is decoded as far as it is asked for: what stands after that costs nothing.

    It is given as text, or as bytes that `zlib` has compressed. Like `json.loads`, but that raises `ValueError` only where it comes to
    what is no JSON.

    >>> run = Document('{"totals": {"cells": 7}, "vcs": [{"name": "vc1"}]}')
    >>> run["totals"], len(run)
    ({'cells': 7}, 2)
    """

    __slots__ = ("_compressed", "_known", "_place", "_text")

    def __init__(self, text: str | bytes) -> None:
        if isinstance(text, str):
            self._text, self._compressed = text, b""
        else:
            first = zlib.decompressobj().decompress(text, FIRST_CHARACTERS)
            # The cut may go through a character.
            self._text, self._compressed = _Decoder().decode(first), text
        self._known: dict[str, Any] = {}
        #: Where the next member begins; `None` after the last one.
        self._place: int | None = 0

    @property
    def text(self) -> str:
        """All of it; raises `ValueError` where the bytes are not as they were compressed."""
        if self._compressed:
            try:
                self._text, self._compressed = zlib.decompress(self._compressed).decode(), b""
            except zlib.error as error:
                raise ValueError(str(error)) from None
        return self._text

    def __getitem__(self, name: str) -> Any:
        known = self._known
        while name not in known and self._place is not None:
            self._decode_next()
        return known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def _all(self) -> dict[str, Any]:
        while self._place is not None:
            self._decode_next()
        return self._known

    def _decode_next(self) -> None:
        try:
            self._decode()
        except ValueError:
            if not self._compressed:
                raise
            self.text  # noqa: B018  # what was cut off was needed
            self._decode()

    def _decode(self) -> None:
        """Decode the next member; what follows must be there, too, so that no number is cut."""
        text, place = self._text, self._place or 0
        if not place:
            begin = _after(_OPEN, text, 0)
            place = begin.end()
            if begin[1] is not None:
                self._place = None
                return
        found = _NAME.match(text, place)
        if found:
            name, place = found[1], found.end()
        else:
            name, place = _VALUE(text, place)
            if not isinstance(name, str):
                raise json.JSONDecodeError("Expecting a name", text, place)
            place = _after(_COLON, text, place).end()
        value, place = _VALUE(text, place)
        follows = _after(_AFTER, text, place)
        self._known[name] = value
        self._place = follows.end() if follows[1] is None else None


def _after(mark: re.Pattern[str], text: str, place: int) -> re.Match[str]:
    found = mark.match(text, place)
    if not found:
        raise json.JSONDecodeError("Expecting an object", text, place)
    return found
