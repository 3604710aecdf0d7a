"""Result documents from the engine, most of which need never be decoded."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

#: Number of bytes within which the first line of most documents ends.
FIRST_BYTES = 4096

#: Length of a text of which ports that never queue are decoded only when they are asked for. In a
#: star of many VCs they take most of the memory.
LONG_TEXT = 20_000_000

#: A member of an object as far as its value, and the end of the object.
_MEMBER = re.compile(r'[\s,]*"(\w+)"\s*:\s*')
_END = re.compile(r"\s*\}\s*\Z")
_BEFORE_ITEM = re.compile(r"[\s,\[]*")


class Document(Mapping[str, Any]):
    r"""A run's JSON object, decoded on demand: the first line alone where that is enough.

    The engine breaks its text before `vcs`, as the part before is small. The text may also be bytes
    that `zlib` has compressed. Raises `ValueError` on reading a text that is not a JSON object.

    >>> run = Document('{"totals": {"cells": 7},\n"vcs": [{"name": "vc1"}]}')
    >>> run["totals"], len(run)
    ({'cells': 7}, 2)
    """

    __slots__ = ("_known", "_ports_at", "_queueing", "_start", "_text")

    def __init__(self, text: str | bytes) -> None:
        self._text = text
        self._known: dict[str, Any] | None = None
        #: Where the text that is not decoded yet starts; `None` when there is none.
        self._start: int | None = 0
        #: Where ports start that are not decoded, and those of them that may queue.
        self._ports_at: int | None = None
        self._queueing: list[Any] = []

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
        """The first line with its line break; empty if the text is a single line."""
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
            if found[1] == "ports" and len(text) > LONG_TEXT and text.startswith("[", found.end()):
                rest["ports"], self._ports_at = None, found.end()
                start = self._decode_queueing(found.end())
            else:
                rest[found[1]], start = decode(text, found.end())
        if not _END.match(text, start):
            raise json.JSONDecodeError("Expecting a member or the end of an object", text, start)
        return rest

    def _decode_queueing(self, start: int) -> int:
        """Decode the ports from ``start`` on, keep those that may queue, and return where the list ends."""
        text, decode = self.text, json.JSONDecoder().raw_decode
        while True:
            found = _BEFORE_ITEM.match(text, start)
            start = found.end() if found else start
            if text[start : start + 1] == "]":
                return start + 1
            port, start = decode(text, start)
            if _may_queue(port):
                self._queueing.append(port)

    @property
    def queueing_ports(self) -> list[Any]:
        """The ports of the function `queueing_ports`."""
        known = self._all()
        return list(filter(_may_queue, known["ports"])) if self._ports_at is None else self._queueing

    def __getitem__(self, name: str) -> Any:
        known = self._first()
        if name not in known:
            known = self._all()
        if name == "ports" and self._ports_at is not None:
            known["ports"], _ = json.JSONDecoder().raw_decode(self.text, self._ports_at)
            self._ports_at, self._queueing = None, []
        return known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"


def queueing_ports(run: Mapping[str, Any]) -> list[Any]:
    """The ports of a run that can queue, and those with a program."""
    return run.queueing_ports if isinstance(run, Document) else list(filter(_may_queue, run["ports"]))


def _may_queue(port: Mapping[str, Any]) -> bool:
    return port["can_queue"] or any(queue.get("program_asked") for queue in port.get("classes", ()))
