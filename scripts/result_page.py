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
from `crates/engine/src/results/`.
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
