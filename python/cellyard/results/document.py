"""Result documents from the engine, most of which need never be decoded."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

#: Number of bytes within which the first line of most documents ends.
FIRST_BYTES = 4096

#: A member of an object as far as its value, and the end of the object.
_MEMBER = re.compile(r'[\s,]*"(\w+)"\s*:\s*')
_END = re.compile(r"\s*\}\s*\Z")


class Document(Mapping[str, Any]):
    r"""A run's JSON object, decoded on demand: the first line alone where that is enough.

    The engine breaks its text before `vcs`, as the part before is small. The text may also be bytes
    that `zlib` has compressed. Raises `ValueError` on reading a text that is not a JSON object.

    >>> run = Document('{"totals": {"cells": 7},\n"vcs": [{"name": "vc1"}]}')
    >>> run["totals"], len(run)
    ({'cells': 7}, 2)
    """

    __slots__ = ("_known", "_start", "_text")

    def __init__(self, text: str | bytes) -> None:
        self._text = text
        self._known: dict[str, Any] | None = None
        #: Where the text that is not decoded yet starts; `None` when there is none.
        self._start: int | None = 0

    @property
    def text(self) -> str:
        """The whole text."""
        if isinstance(self._text, bytes):
            try:
                self._text = zlib.decompress(self._text).decode()
            except zlib.error as error:
                raise ValueError(str(error)) from None
        return self._text

    def _first_line(self) -> str:
        """The first line with its line break; empty where the text is a single line."""
        if isinstance(self._text, bytes):
            try:
                begin = zlib.decompressobj().decompress(self._text, FIRST_BYTES)
            except zlib.error as error:
                raise ValueError(str(error)) from None
            if end := begin.find(b"\n") + 1:
                return begin[:end].decode()
        return self.text[: self.text.find("\n") + 1]

    def _first(self) -> dict[str, Any]:
        """What is decoded so far; at least the first line of several."""
        if self._known is None:
            line = self._first_line()
            self._known = json.loads(line.rstrip("\n,") + "}") if line else {}
            self._start = len(line)
        return self._known

    def _all(self) -> dict[str, Any]:
        known = self._first()
        if self._start is not None:
            known |= self._rest(self._start)
            self._start = None
        return known

    def _rest(self, start: int) -> dict[str, Any]:
        """What follows ``start``, decoded where it is, since a copy can take hundreds of megabytes."""
        text, rest = self.text, {}
        if not start:
            if isinstance(rest := json.loads(text), dict):
                return rest
            raise json.JSONDecodeError("Expecting an object", text, 0)
        decode = json.JSONDecoder().raw_decode
        while found := _MEMBER.match(text, start):
            rest[found[1]], start = decode(text, found.end())
        if not _END.match(text, start):
            raise json.JSONDecodeError("Expecting a member or the end of an object", text, start)
        return rest

    def __getitem__(self, name: str) -> Any:
        known = self._first()
        return known[name] if name in known else self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"
