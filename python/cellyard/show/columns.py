"""Turns values of a grid into table columns: numbers in the units of results, with the unit at the end of the name."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from cellyard.system.format import Format

#: Units of a scenario file with their column unit and factor. Ticks and cells per second have their own columns,
#: because only the format of the scenario says how long or large they are.
_UNITS: Mapping[str, tuple[str, Decimal]] = {
    "s": ("s", Decimal(1)),
    "ms": ("s", Decimal("1e-3")),
    "us": ("s", Decimal("1e-6")),
    "ns": ("s", Decimal("1e-9")),
    "ticks": ("ticks", Decimal(1)),
    "bps": ("mbps", Decimal("1e-6")),
    "kbps": ("mbps", Decimal("1e-3")),
    "Mbps": ("mbps", Decimal(1)),
    "Gbps": ("mbps", Decimal(1000)),
    "Tbps": ("mbps", Decimal(1_000_000)),
    "cells/s": ("cells_per_s", Decimal(1)),
    "cells": ("cells", Decimal(1)),
    "cell": ("cells", Decimal(1)),
    "packets": ("cells", Decimal(1)),
    "bytes": ("bytes", Decimal(1)),
    "byte": ("bytes", Decimal(1)),
    "kB": ("bytes", Decimal(1000)),
    "MB": ("bytes", Decimal(1000**2)),
    "GB": ("bytes", Decimal(1000**3)),
    "KiB": ("bytes", Decimal(1024)),
    "MiB": ("bytes", Decimal(1024**2)),
    "GiB": ("bytes", Decimal(1024**3)),
}

#: Other spellings of units.
_ALIASES = {
    **{f"{prefix}{bit}/s": f"{prefix}bps" for prefix in ("", "k", "M", "G", "T") for bit in ("b", "bit")},
    "\u00b5s": "us",
    "\u03bcs": "us",
    "B": "bytes",
    "packet": "packets",
}


def spellings(unit: str | None = None) -> list[str]:
    """The units of a scenario file, or those whose quantities have this column unit.

    >>> spellings("s"), spellings("frames")
    (['s', 'ms', 'us', 'ns'], [])
    """
    return [name for name, (of_column, _) in _UNITS.items() if unit in (None, of_column)]


#: The text of an infinite quantity in a scenario file.
UNLIMITED = "unlimited"

_QUANTITY = re.compile(r"([\"']?)([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?) ?([A-Za-z/\u00b5\u03bc]*)\1$")


def as_columns(points: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """The values of each point by column name.

    A column is numeric if all its values are numbers or quantities of one kind; ``unlimited`` among
    them is infinite. Any other column holds the texts as typed.

    >>> as_columns([{"drop": "epd", "buffer": "1000 cells"}, {"drop": "fba", "buffer": "unlimited"}])
    [{'drop': 'epd', 'buffer_cells': 1000}, {'drop': 'fba', 'buffer_cells': inf}]
    >>> as_columns([{"delay": "5 us"}, {"delay": "0.5 ms"}]), as_columns([{"z": "0.8"}]), as_columns([{"n": "default"}])
    ([{'delay_s': 5e-06}, {'delay_s': 0.0005}], [{'z': 0.8}], [{'n': 'default'}])
    """
    paths = dict.fromkeys(path for point in points for path in point)
    columns = {path: _column(path, {point[path] for point in points if path in point}) for path in paths}
    return [{columns[path][0]: columns[path][1][value] for path, value in point.items()} for point in points]


def _column(path: str, texts: set[str]) -> tuple[str, Mapping[str, Any]]:
    """Name of a column, and the value of each text in it."""
    found = {text: quantity(text) for text in texts}
    units = {quantity[0] for quantity in found.values() if quantity and quantity[0] is not None}
    plain = any(quantity and quantity[0] is None for quantity in found.values())
    known = all(quantity or text.strip("\"'") == UNLIMITED for text, quantity in found.items())
    if not known or len(units) + plain != 1:
        return path, {text: text for text in texts}
    name = f"{path}_{units.pop()}" if units else path
    return name, {text: quantity[1] if quantity else float("inf") for text, quantity in found.items()}


def quantity(text: str, format_: Format | None = None) -> tuple[str | None, float | int] | None:
    """Unit of the column and number in it; ``None`` unless the text is a quantity.

    With the format of its scenario, ticks are seconds, and cells per second are Mb/s.

    >>> from cellyard.system.format import aal5
    >>> quantity("1000 cells/s"), quantity("1000 cells/s", aal5())
    (('cells_per_s', 1000), ('mbps', 0.424))
    """
    match = _QUANTITY.match(text)
    if not match:
        return None
    name = _ALIASES.get(match[3], match[3])
    if name and name not in _UNITS:
        return None
    unit, scale = _UNITS[name] if name else (None, Decimal(1))
    if format_ and unit == "ticks":
        unit, scale = "s", 1 / Decimal(format_.ticks_per_second)
    if format_ and unit == "cells_per_s":
        unit, scale = "mbps", format_.cell_bits * Decimal("1e-6")
    value = Decimal(match[2]) * scale
    return unit, int(value) if value == value.to_integral_value() else float(value)
