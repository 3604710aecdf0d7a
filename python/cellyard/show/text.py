"""Formats numbers and times as text, and documents as JSON."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cellyard.statistics.bounded import Bounded, known
from cellyard.statistics.ranges import has_quantiles
from cellyard.statistics.student import CONFIDENCE

#: Number of points or list entries formatted at once.
PIECE_ITEMS = 10_000

#: Heads of columns of ranges; see `range_head`.
RANGE_HEADS = ("5-95 %", "min-max", "range")

#: Head of a column of confidence intervals, and what stands in it if all runs have one value.
INTERVAL = f"{100 * CONFIDENCE:g} % interval"
ALL_EQUAL = "all equal"

#: Decimals of a shown number, by its least size.
_DECIMALS = ((1e4, 0), (100, 1), (0.1, 3), (0.01, 4), (0, 5))


def format_value(value: Any, *, is_count: bool = False) -> str:
    """A value as a table shows it: at least three significant digits, and nothing for ``None``.

    Means and quantiles of counts have at most one decimal, below 1 two, and no trailing zeros.

    >>> [format_value(v) for v in (0.12345, 0.0123456, 123.456, 12345.6, 1e-7, 0.0, 1234567, None, "lan")]
    ['0.123', '0.0123', '123.5', '12346', '1.00e-07', '0', '1234567', '', 'lan']
    >>> format_value(0.1), format_value(0.1 - 1e-16), format_value(99.99999)  # with the decimals of what it is rounded to
    ('0.100', '0.100', '100.0')
    >>> [format_value(v, is_count=True) for v in (45.8, 46.04, 0.25, 0.5, 0.0123456, 3067.25, 12340.6)]
    ['45.8', '46', '0.25', '0.5', '0.0123', '3067.2', '12341']
    """
    if value is None:
        return ""
    if isinstance(value, Bounded):
        return value.text(lambda end: format_value(end, is_count=is_count))
    if not isinstance(value, float):
        return str(value)
    size = abs(value)
    if size == 0:
        return "0"
    if is_count and 0.1 <= size < 1e9:
        decimals = 0 if size >= 1e4 else 1 if size >= 1 else 2
        return f"{value:.{decimals}f}".rstrip("0").removesuffix(".") if decimals else f"{value:.0f}"
    if not 0.001 <= size < 1e9:
        return f"{value:.2e}"
    decimals = _decimals(size)
    decimals = _decimals(round(size, decimals))
    return f"{value:.{decimals}f}"


def _decimals(size: float) -> int:
    return next(decimals for least, decimals in _DECIMALS if size >= least)


def rough_time(seconds: float) -> str:
    """A time that is only known roughly.

    >>> rough_time(0.0213), rough_time(41.3), rough_time(706.0), rough_time(9000.0)
    ('0.021 s', '41 s', '12 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def cell_count(number: int, nouns: str = "cells") -> str:
    """A number of cells, in millions from 100 000 on.

    >>> cell_count(3486), cell_count(6_100_000), cell_count(146_700_000, "bottleneck cells")
    ('3486 cells', '6.1 million cells', '146.7 million bottleneck cells')
    """
    return f"{number / 1e6:.1f} million {nouns}" if number >= 100_000 else f"{number} {nouns}"


def cpu_time(cpu_seconds: float, decimals: int = 1, *, finished: float = 1) -> str:
    """CPU time of the engine for runs, in words; ``finished`` is 0 if no run has finished.

    >>> cpu_time(23.46), cpu_time(0.0), cpu_time(0.0, finished=0)
    ('23.5 s of CPU time in the engine', 'all from the store', '0.0 s of CPU time in the engine')
    """
    if not cpu_seconds and finished:
        return "all from the store"
    return f"{cpu_seconds:.{decimals}f} s of CPU time in the engine"


def format_range(ends: Sequence[float] | None, *, is_count: bool = False) -> str:
    """A range as a table shows it, with ends as `format_value` formats values or counts.

    >>> format_range([3.05e-4, 0.5]), format_range([0.2, Bounded(0.3, math.inf)])
    ('3.05e-04..0.500', '')
    """
    if not known(ends or ()):
        return ""
    return "..".join(format_value(end, is_count=is_count) for end in ends or ())


def range_head(*runs: int) -> str:
    """Head of a column of ranges over this many runs each.

    >>> range_head(20), range_head(4, 8), range_head(20, 4)
    ('5-95 %', 'min-max', 'range')
    """
    kinds = {has_quantiles(n) for n in runs}
    return "range" if len(kinds) > 1 else "5-95 %" if kinds == {True} else "min-max"


def range_name(runs: int) -> str:
    """Name of a range over this many runs.

    >>> range_name(20), range_name(4)
    ('5 to 95 %', 'smallest to largest')
    """
    return "5 to 95 %" if has_quantiles(runs) else "smallest to largest"


def decimals(value: float, step: float) -> int:
    """Number of decimals of a value that was rounded to ``step``."""
    return 0 if abs(value) >= 100 and value == round(value) else max(0, -math.floor(math.log10(step) + 1e-9))


def json_text(value: object) -> str:
    """JSON on one line; arrays become lists, mappings objects."""
    return _JSON.encode(value)


def _json_default(value: object) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"cannot be written as JSON: {value!r}")


_JSON = json.JSONEncoder(default=_json_default)


def json_pieces(value: object) -> Iterator[str]:
    """The text of `json_text` in pieces, so that series and long lists never exist as one text.

    >>> "".join(json_pieces({"a": [1, {"b": None}], "c": {}})) == json_text({"a": [1, {"b": None}], "c": {}})
    True
    """
    if isinstance(value, dict) and value:
        begin = "{"
        for key, inner in value.items():
            yield f"{begin}{json.dumps(key)}: "
            yield from json_pieces(inner)
            begin = ", "
        yield "}"
    elif isinstance(value, list) and value and _has_arrays(value[0]):
        begin = "["
        for inner in value:
            yield begin
            yield from json_pieces(inner)
            begin = ", "
        yield "]"
    elif (isinstance(value, list) or hasattr(value, "tolist")) and len(value) > PIECE_ITEMS:  # type: ignore[arg-type]
        begin = "["
        for start in range(0, len(value), PIECE_ITEMS):  # type: ignore[arg-type]
            yield begin + json_text(value[start : start + PIECE_ITEMS])[1:-1]  # type: ignore[index]
            begin = ", "
        yield "]"
    else:
        yield json_text(value)


def _has_arrays(value: object) -> bool:
    """Whether a value contains arrays, as series do."""
    if not isinstance(value, dict):
        return False
    return any(
        hasattr(inner, "tolist") or (isinstance(inner, list) and inner and _has_arrays(inner[0]))
        for inner in value.values()
    )


def dump(document: Mapping[str, Any]) -> str:
    """JSON with one row, group or claim per line, so that two documents are easy to compare."""
    return "".join(dump_pieces(document))


def dump_pieces(document: Mapping[str, Any]) -> Iterator[str]:
    """The text of `dump` in pieces."""
    begin = "{\n  "
    for key, value in document.items():
        yield f"{begin}{json.dumps(key)}: "
        if isinstance(value, list) and value:
            begin = "[\n    "
            for item in value:
                yield begin
                yield from json_pieces(item)
                begin = ",\n    "
            yield "\n  ]"
        else:
            yield from json_pieces(value)
        begin = ",\n  "
    yield "\n}" if document else "{\n  \n}"
