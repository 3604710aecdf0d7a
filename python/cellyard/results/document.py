"""Result documents from the engine, most of which need never be decoded."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any


class Document(Mapping[str, Any]):
    r"""A run's JSON object. The first line is decoded at once, and the rest on demand.

    The engine breaks its text before `vcs`, as the part before is small. In a text of one line,
    everything is decoded on demand. The text may also be bytes that `zlib` has compressed. Raises
    `ValueError` on reading a text that is not a JSON object.

    >>> run = Document('{"totals": {"cells": 7},\n"vcs": [{"name": "vc1"}]}')
    >>> run["totals"], len(run)
    ({'cells': 7}, 2)
    """

    __slots__ = ("_known", "_rest", "text")

    def __init__(self, text: str | bytes) -> None:
        try:
            self.text = text if isinstance(text, str) else zlib.decompress(text).decode()
        except zlib.error as error:
            raise ValueError(str(error)) from None
        first, line_break, rest = self.text.partition("\n")
        self._known: dict[str, Any] = json.loads(f"{first.rstrip(',')}}}") if line_break else {}
        #: Text that is not decoded yet, if any.
        self._rest: str | None = f"{{{rest}" if line_break else first

    def _all(self) -> dict[str, Any]:
        if self._rest is not None:
            rest = json.loads(self._rest)
            if not isinstance(rest, dict):
                raise json.JSONDecodeError("Expecting an object", self._rest, 0)
            self._known |= rest
            self._rest = None
        return self._known

    def __getitem__(self, name: str) -> Any:
        return self._known[name] if name in self._known else self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"
