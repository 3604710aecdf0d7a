"""All numbers of a result, with their paths."""

from collections.abc import Iterator, Mapping
from typing import Any


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float | int]]:
    """Yield every number in a document with its path.

    List items are identified by name, or else by index.

    >>> list(numbers({"totals": {"cells": 5, "fairness": None}, "vcs": [{"name": "vc1", "segments": 2}], "of": [7, "a"]}))
    [('totals.cells', 5), ('vcs.vc1.segments', 2), ('of.0', 7)]
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            name = inner.get("name") or inner.get("class") if isinstance(inner, dict) else None
            yield from numbers(inner, f"{path}.{name if isinstance(name, str) else index}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value
