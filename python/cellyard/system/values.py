"""Converts Python values to plain data of a scenario: numpy numbers to Python's, components to tables."""

import dataclasses
import json
import math
import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, SupportsFloat, SupportsIndex

from cellyard.system.errors import UsageError

#: Limit on nested tables and lists; a scenario has 5 levels.
DEEPEST = 20
#: Limit on the digits of an integer; the largest of a scenario have 19.
MOST_DIGITS = 30


def as_python(value: Any) -> Any:
    """Numpy (or pandas) numbers, texts and lists as Python's, which compare and hash; anything else is returned unchanged.

    >>> import numpy as np
    >>> as_python(np.float64(0.5)), as_python(np.array([1, 2])), as_python("fba")
    (0.5, (1, 2), 'fba')
    """
    if isinstance(value, type) or not hasattr(value, "tolist"):
        return value
    made = value.tolist()
    return _frozen(made) if isinstance(made, list) else made


def _frozen(items: list[Any]) -> tuple[Any, ...]:
    return tuple(_frozen(item) if isinstance(item, list) else item for item in items)


def plain(value: object, path: str, depth: int = 0) -> Any:
    """The plain data of a value. Components become tables as in a scenario file, without default values.

    Raises `UsageError`, which names ``path``, for values that no scenario can have.
    """
    value = as_python(value)
    if depth > DEEPEST:
        raise UsageError(f"{path[:40]}...: more than {DEEPEST} nested tables and lists")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return unicode(path, value)
    if isinstance(value, type):
        hint = f"; did you mean {value.__name__}(...)?" if dataclasses.is_dataclass(value) else ""
        raise UsageError(f"{path} = {value.__name__}: is a class{hint}")
    if dataclasses.is_dataclass(value) and hasattr(value, "TAG"):
        return _table(value, path, depth)
    if isinstance(value, Mapping):
        table = {unicode(path, key): plain(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
        return {key: item for key, item in table.items() if item is not None}
    if isinstance(value, (list, tuple, range)):
        return [
            number(f"{path}[{i}]", item) if item is None else plain(item, f"{path}[{i}]", depth + 1)
            for i, item in enumerate(value)
        ]
    return number(path, value)


def _table(component: Any, path: str, depth: int) -> dict[str, Any]:
    table: dict[str, Any] = dict(component.TAG)
    for field in dataclasses.fields(component):
        if field.name == component.OWN:
            continue
        name = field.name.rstrip("_")
        made = plain(getattr(component, field.name), f"{path}.{name}", depth + 1)
        if made is not None and made != plain(_default(field), ""):
            table[name] = made
    if component.OWN:
        table |= _own(component, path, depth)
    return table


def _own(component: Any, path: str, depth: int) -> dict[str, Any]:
    """The parameters that the user names. Raises `UsageError` for one with the name of a field."""
    at = f"{path}.{component.OWN}"
    given = getattr(component, component.OWN)
    if not isinstance(given, Mapping):
        raise UsageError(f"{at} = {shown(given)}: must map names to values")
    fields = {*component.TAG, *(field.name for field in dataclasses.fields(component))} - {component.OWN}
    for name in given:
        if name in fields:
            raise UsageError(f"{at}: {name!r} is the name of a field of {type(component).__name__}")
    made: dict[str, Any] = plain(given, at, depth + 1)
    return made


def _default(field: dataclasses.Field[Any]) -> Any:
    return None if field.default is dataclasses.MISSING else field.default


def number(path: str, value: object) -> int | float:
    """A number of any type (numpy, fractions, decimal) as a JSON number."""
    if isinstance(value, SupportsIndex):
        made = operator.index(value)
        if abs(made) >= 10**MOST_DIGITS:
            raise UsageError(f"{path}: has more than {MOST_DIGITS} digits")
        return made
    if isinstance(value, SupportsFloat):
        real = float(value)
        if not math.isfinite(real):
            raise UsageError(f"{path} = {real}: must be a finite number")
        return real
    hint = f"; did you mean {value.__name__}()?" if callable(value) and hasattr(value, "__name__") else ""
    raise UsageError(
        f"{path} = {shown(value)}: must be a string, a number, a boolean, a component, a list or a tuple, "
        f"but its type is {type(value).__name__}{hint}"
    )


def shown(value: object) -> str:
    """A value on one line for an error, cut to about 60 characters."""
    try:
        text = ascii(value)
    except Exception:  # a repr of somebody else's that fails must not hide what is wrong
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."


def file_path(name: str, value: object) -> Path:
    """``value`` as a path; raises `UsageError` for anything else."""
    if not isinstance(value, (str, os.PathLike)) or "\0" in str(value):
        raise UsageError(f"{name} = {shown(value)}: must be the name of a file or folder")
    return Path(value)


def unicode(name: str, value: object) -> str:
    """``value`` if it is a string that can be encoded; raises `UsageError` for anything else."""
    if not isinstance(value, str):
        raise UsageError(f"{name} = {shown(value)}: must be a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{name} = {shown(value)}: contains half of a surrogate pair, which is not a character"
        ) from None
    return str(value)


def overrides(name: str, given: object) -> tuple[tuple[str, str], ...]:
    """Pairs of a dotted path and the TOML or bare words to set there, from a mapping or from pairs.

    >>> overrides("values", {"host.source.count": 3, "switch.west.ubr.drop": "fba", "seed": None})
    (('host.source.count', '3'), ('switch.west.ubr.drop', 'fba'), ('seed', 'default'))
    """
    wrong = f"{name} = {shown(given)}: must map paths to values, or be a list of pairs (path, value)"
    items = given.items() if isinstance(given, Mapping) else given
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise UsageError(wrong)
    made = []
    for item in items:
        if isinstance(item, str) or not isinstance(item, (tuple, list)) or len(item) != 2:
            raise UsageError(wrong)
        path = unicode(f"path in {name}", item[0])
        made.append((path, _override(path, as_python(item[1]))))
    return tuple(made)


def _override(path: str, value: object) -> str:
    if isinstance(value, str):
        return unicode(path, value)
    return "default" if value is None else toml(plain(value, path))


def toml(value: Any) -> str:
    """Plain data as a TOML value on one line.

    >>> toml({"policy": "fba", "z": 0.5, "more": [1, True]})
    '{ policy = "fba", z = 0.5, more = [1, true] }'
    """
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if bare else json.dumps(name, ensure_ascii=False)
