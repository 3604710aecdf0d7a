"""The engine's document of a run, of which most is never looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_VALUE = json.JSONDecoder().raw_decode
_BEGIN, _COLON, _NEXT = (re.compile(rf"[ \t\n\r]*{mark}[ \t\n\r]*") for mark in (r"\{", ":", "([,}])"))


class Document(Mapping[str, Any]):
    """A JSON object, each name in it once, that is decoded as far as it is asked for: what stands after that costs nothing.

    Like `json.loads`, but that raises `ValueError` only where it comes to what is no JSON.

    >>> run = Document('{"totals": {"cells": 7}, "vcs": [{"name": "vc1"}]}')
    >>> run["totals"], len(run)
    ({'cells': 7}, 2)
    """

    __slots__ = ("_known", "_place", "text")

    def __init__(self, text: str) -> None:
        #: All of it.
        self.text = text
        self._known: dict[str, Any] = {}
        #: Where the next member begins; `None` after the last one.
        self._place: int | None = _after(_BEGIN, text, 0).end()
        if text.startswith("}", self._place):
            self._end(self._place)

    def __getitem__(self, name: str) -> Any:
        known = self._known
        while name not in known and self._place is not None:
            self._decode_next(self._place)
        return known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def _all(self) -> dict[str, Any]:
        while self._place is not None:
            self._decode_next(self._place)
        return self._known

    def _decode_next(self, place: int) -> None:
        text = self.text
        name, place = _VALUE(text, place)
        if not isinstance(name, str):
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, place)
        value, place = _VALUE(text, _after(_COLON, text, place).end())
        follows = _after(_NEXT, text, place)
        self._known[name] = value
        if follows[1] == ",":
            self._place = follows.end()
        else:
            self._end(follows.start(1))

    def _end(self, place: int) -> None:
        """The brace at that place closes the object."""
        if self.text[place + 1 :].strip(" \t\n\r"):
            raise json.JSONDecodeError("Extra data", self.text, place + 1)
        self._place = None


def _after(mark: re.Pattern[str], text: str, place: int) -> re.Match[str]:
    found = mark.match(text, place)
    if not found:
        raise json.JSONDecodeError("Expecting an object", text, place)
    return found
