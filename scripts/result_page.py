"""Generate the reference page of results from the schema that the engine derives from its structs.

This module is part of scripts/generate.py.
"""

from __future__ import annotations

from typing import Any

from result_classes import RENAMED, Types, plain, properties, reference, text

PAGE = """# Results

What a run gives back: the objects under `runs` of `cellyard run --format json` ([JSON
Schema](../python/cellyard/schemas/results.schema.json)), and the classes of `cellyard.results` in Python. None is `null` in
JSON. The unit 1 is that of counts of other things and of plain numbers. All three are generated
from `crates/engine/src/run/results/`.

## Values of what did not finish

A run may end before a file does. Then the duration of that transfer is only bounded:

| file | bounds of its duration |
|---|---|
| completely acknowledged | known |
| under way at the end of the run | at least the time since it began |
| due, but not begun | at least 0 |

Due are the files of a TCP with `files` = n that would begin before its `stop`. Of an endless
sequence only the file under way counts. `unfinished_transfers` counts both kinds.

A quantile is a number only if the unfinished files cannot change it. Otherwise it is `null`, and
two fields bound it. The field that ends in `_above` has the lower bound: the quantile with each
unfinished file at its lower bound. The field that ends in `_below` has the upper bound: the
quantile with each unfinished file at infinity. It is `null` if that is infinite. The longest
duration and `completed_s` have only a lower bound, `file_goodput_mbps` only an upper one.

Tables show such a value as `> 0.3`, or as `0.2..0.3` if it is bounded on both sides. Paths such as
`max(vc.*.completed_s)` and `totals.p99_transfer_s` give metrics with these bounds. [What an
experiment does with them](experiments.md#values-that-are-not-known) is stated there.

Results that an earlier version stored lack these fields. Their durations are those of the finished
files alone.
"""

#: Words in the names of fields that state the unit.
UNITS = {
    "s": "s",
    "mbps": "Mb/s",
    "bytes": "bytes",
    "cells": "cells",
    "frames": "frames",
    "segments": "segments",
    "vcs": "VCs",
}


def unit(name: str, schema: dict[str, Any]) -> str:
    """Return the unit of a field: from the schema if stated there, otherwise from its name.

    A field that is not a number has an empty unit.
    """
    inner, _ = plain(schema)
    inner = inner.get("items", inner)
    if inner.get("type") not in ("integer", "number"):
        return ""
    named = [UNITS[word] for word in name.split("_") if word in UNITS]
    return str(schema.get("unit") or (named[-1] if named else "1"))


def page_type(schema: dict[str, Any]) -> str:
    """Return the type of a field as shown on the page, with a link if the type has a section."""
    inner, optional = plain(schema)
    if inner.get("type") == "array":
        return f"list of {page_type(inner['items'])}"
    name = reference(inner)
    typed = (
        f"[{name}](#{name.lower()})"
        if name
        else {"string": "text", "boolean": "true or false"}.get(inner["type"], inner["type"])
    )
    return f"{typed} or none" if optional else typed


def page_section(title: str, schema: dict[str, Any]) -> str:
    """Return the section of one type: its fields or its words."""
    head = f"## {title}\n\n{text(schema)}\n\n"
    if "oneOf" in schema:
        return head + "\n".join(f"* `{item['const']}`: {text(item)}" for item in schema["oneOf"]) + "\n"
    lines = ["| field | unit | type | what it is |", "|---|---|---|---|"]
    for name, inner in properties(schema):
        shown = f"`{name}`, in Python `{RENAMED[name]}`" if name in RENAMED else f"`{name}`"
        lines.append(f"| {shown} | {unit(name, inner)} | {page_type(inner)} | {text(inner)} |".replace("|  |", "| |"))
    return head + "\n".join(lines) + "\n"


def page(schema: dict[str, Any]) -> str:
    """Return the reference page."""
    order = Types(schema).order
    sections = [page_section("RunResult", schema), *(page_section(name, schema["$defs"][name]) for name in order)]
    return "\n".join([PAGE, *sections])
