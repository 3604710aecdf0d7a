"""Generate the reference pages of components: an index, and a page for each group of families.

This module is part of scripts/generate.py.
"""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import Any, NamedTuple

Registry = dict[str, Any]


class Page(NamedTuple):
    """A page of components: its file, its title, and the families on it."""

    file: str
    title: str
    families: tuple[str, ...]


PAGES = (
    Page("scenario", "The whole scenario", ("scenario", "format", "measure", "ensemble")),
    Page(
        "network",
        "Hosts, switches, links and VCs",
        ("host", "switch", "pool", "link", "change", "vc", "shape", "processing"),
    ),
    Page("drop", "Class queues and drop policies", ("queue", "drop")),
    Page("scheduler", "Schedulers", ("scheduler",)),
    Page("tcp", "TCP", ()),
    Page("traffic", "Traffic", ("traffic",)),
    Page("police", "Contracts and policers", ("contract", "police")),
    Page("abr", "ABR: end systems and feedback", ("abr", "feedback")),
    Page("probe", "Probes", ("probe",)),
)

#: Components that have their own page instead of a section on the page of their family.
ALONE = {("traffic", "tcp"): "tcp"}

GENERATED = "Generated from the registry (`crates/engine/src/text/registry/`)"

#: First line of every page but the index.
HEAD = "[How to read the tables](../components.md#how-to-read-the-tables) and [terms](../glossary.md)."

#: Characters in a line of a formula.
WIDTH = 90

INDEX = f"""# Components

Everything that a scenario can name. {GENERATED}; `cellyard components NAME` prints one entry.

| page | entries |
|---|---|
{{entries}}

## How to read the tables

| values | meaning |
|---|---|
| "1 ns" to "5 s" | a string with a number and any unit of its kind, see below |
| number | with at most {{decimals}} decimals if nothing else is said, or a ratio, "1/3" |
| cells or fraction | a queue length: cells such as "800 cells", or a fraction of the buffer from 0 to 1 |
| name | {{name}} |
| program | [a program](programs.md) of {{program}} |

A component without required parameters may be given by its name alone if its family says so.

## Units

| quantity | units, with other spellings |
|---|---|
{{units}}

Any other spelling is an error, with a suggestion if one is near.

```{{{{toctree}}}}
:hidden:
:maxdepth: 1

{{files}}
```
"""


def pages(registry: Registry) -> dict[str, str]:
    """Return the text of each page by its path below `docs`."""
    found = {"components.md": index(registry)}
    families = {family["name"]: family for family in registry["families"]}
    assert sorted(families) == sorted(name for page in PAGES for name in page.families)
    for page in PAGES:
        parts = [f"# {page.title}\n\n{HEAD}\n"]
        if len(page.families) == 1:
            parts.append(chapter(families[page.families[0]], "#"))
        else:
            parts += [f"\n## {name}\n{chapter(families[name], '##')}" for name in page.families]
        for (family, component), file in ALONE.items():
            if file == page.file:
                (only,) = (one for one in families[family]["components"] if one["name"] == component)
                parts.append(f"\n{only['help']}\n{section(only, {})}")
        found[f"components/{page.file}.md"] = "".join(parts)
    return found


def index(registry: Registry) -> str:
    """Return the page that lists all others, and the units of all quantities."""
    entries: dict[str, list[str]] = {page.file: [] for page in PAGES}
    for family in registry["families"]:
        for component in family["components"]:
            file, anchor = place(family, component)
            name = component["name"] if family["tag"] else family["name"]
            entries[file].append(f"[`{name}`](components/{file}.md{anchor})")
    links = [f"| [{page.title}](components/{page.file}.md) | {'; '.join(entries[page.file])} |" for page in PAGES]
    rows = [
        f"| {quantity['quantity']} | {', '.join(unit['name'] and spelled(unit) for unit in quantity['units'])} |"
        for quantity in registry["units"]
    ]
    allowed = {
        p["kind"]["type"]: p["allowed"] for f in registry["families"] for c in f["components"] for p in c["parameters"]
    }
    return INDEX.format(
        entries="\n".join(links),
        decimals=DECIMALS,
        name=allowed["name"],
        program=allowed["program"].removeprefix("a program of ").partition(";")[0],
        units="\n".join(rows),
        files="\n".join(f"components/{page.file}" for page in PAGES),
    )


def spelled(unit: Registry) -> str:
    """Return a unit, with its other spellings in brackets."""
    also = ", ".join(f"`{other}`" for other in unit["also"])
    return f"`{unit['name']}`" + (f" ({also})" if also else "")


def place(family: Registry, component: Registry) -> tuple[str, str]:
    """Return the file that describes a component, and the anchor there."""
    if alone := ALONE.get((family["name"], component["name"])):
        return alone, ""
    (page,) = (page for page in PAGES if family["name"] in page.families)
    return page.file, f"#{component['name'] if family['tag'] else family['name']}"


def address(family: str) -> str:
    """Return where the components of a family are described, as a link from another page of components."""
    (page,) = (page for page in PAGES if family in page.families)
    return f"{page.file}.md" + (f"#{family}" if len(page.families) > 1 else "")


def chapter(family: Registry, level: str) -> str:
    """Return the text of a family, with its components in sections below ``level``."""
    components, tag = family["components"], family["tag"]
    if tag is None:
        (only,) = components
        where, _, more = family["help"].partition("; ")[2].partition(". ")
        text = " ".join(filter(None, (only["help"], more, f"Where: {stop(where)}")))
        return f"\n{text}\n{section(only, {})}"
    short = any(component["shorthand"] for component in components)
    chosen = f'`{tag} = "{components[0]["name"]}"` and so on' + (", or by the name alone" if short else "")
    without = f" A table without `{tag}` is `{family['untagged']}`." if family["untagged"] else ""
    text = f"\n{family['help']}\n\nChosen by {chosen}.{without}\n"
    first: dict[str, str] = {}
    for component in components:
        text += f"\n{level}# {component['name']}\n\n{component['help']}"
        alone = ALONE.get((family["name"], component["name"]))
        text += f" [A separate page]({alone}.md) describes it.\n" if alone else f"\n{section(component, first)}"
    return text


def section(component: Registry, first: dict[str, str]) -> str:
    """Return formula, source, limits and parameters of a component.

    ``first`` has the rows that earlier components of the family showed, each with the name of the
    first such component. They are not repeated.
    """
    formula = component["formula"].replace("; ", ";\n").splitlines()
    lines = "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in formula)
    parts = [f"\n```text\n{text}\n```\n" for text in (lines, component["diagram"]) if text]
    parts += [f"\n{each.capitalize()}: {stop(component[each])}\n" for each in ("source", "limits") if component[each]]
    rows = {parameter["name"]: row(parameter) for parameter in component["parameters"]}
    known = {name: first[text] for name, text in rows.items() if text in first}
    first |= {text: component["name"] for name, text in rows.items() if name not in known}
    if new := [text for name, text in rows.items() if name not in known]:
        parts.append("\n| parameter | meaning | values | default |\n|---|---|---|---|\n" + "".join(new))
    if own := component["own"]:
        parts.append(f"| *any name* | {own['help']} | {own['allowed']} | none |\n")
    shown = list(first.values())
    others = groupby(sorted(known, key=lambda name: shown.index(known[name])), known.get)
    if same := [f"as for [{other}](#{other}): {', '.join(f'`{name}`' for name in names)}" for other, names in others]:
        parts.append(f"\n{'Also' if new or own else 'Parameters'}, {'; '.join(same)}.\n")
    for parameter in component["parameters"]:
        choices = parameter["kind"].get("choices")
        if choices and parameter["name"] not in known:
            parts.append(f"\nValues of `{parameter['name']}`:\n\n")
            parts += map(bullet, choices)
            parts.append(set_by_choices(component, parameter["name"], choices))
    return "".join(parts)


def stop(text: str) -> str:
    """Return the text with a full stop at its end."""
    return text if text.endswith(".") else f"{text}."


def row(parameter: Registry) -> str:
    """Return a parameter's row in the table of its component."""
    text = parameter["help"]
    if only := parameter["only_with"]:
        text += f" Only with `{only['parameter']}` = {', '.join(only['values'])}."
    if parameter["required"]:
        default = "required"
    elif parameter["default"] is None:
        default = parameter["default_text"]
    else:
        default = f"`{parameter['default_text']}`"
    cells = (cell.replace("|", "\\|") for cell in (text, values(parameter["kind"], parameter["allowed"]), default))
    return f"| `{parameter['name']}` | {' | '.join(cells)} |\n"


def set_by_choices(component: Registry, name: str, choices: list[Registry]) -> str:
    """Return the table of the defaults that choices of the parameter ``name`` set; empty if they set none."""
    defaults = {parameter["name"]: parameter["default_text"] for parameter in component["parameters"]}
    fields = [field for field in defaults if any(field in choice["sets"] for choice in choices)]
    if not fields:
        return ""
    heads = [f"`{choice['name']}`" for choice in choices]
    lines = [f"\n| default with `{name}` | {' | '.join(heads)} |\n"]
    lines.append("|---" * (1 + len(choices)) + "|\n")
    for field in fields:
        cells = [choice["sets"].get(field, defaults[field]) for choice in choices]
        lines.append(f"| `{field}` | {' | '.join(cells)} |\n")
    return "".join(lines)


#: Decimals of a number of which the tables state none.
DECIMALS = 6


def values(kind: Registry, allowed: str) -> str:
    """Return the allowed values of a parameter; the index explains what is the same in all tables."""
    match kind["type"]:
        case "component":
            return f"[{kind['family']}]({address(kind['family'])})"
        case "list":
            return f"list, each {values(kind['items'], kind['items_allowed'])}"
        case "name" | "program":
            return str(kind["type"])
        case "threshold":
            return "cells or fraction"
        case "bool":
            return "true, false"
        case "reference":
            return allowed.removeprefix("the name of ")
    for article in ("an integer", "a number"):
        if allowed.startswith(f"{article} from "):
            allowed = allowed.removeprefix(article[: article.index(" ") + 1]).replace(" from ", ", ", 1)
    return allowed.partition("; units:")[0].partition(f" with at most {DECIMALS} decimals")[0]


def bullet(choice: Registry) -> str:
    """Return the list item for one of the values of a parameter."""
    formula = f" `{choice['formula']}`." if choice["formula"] else ""
    source = f" Source: {choice['source']}." if choice["source"] else ""
    limits = f" Limits: {choice['limits']}" if choice["limits"] else ""
    return f"* `{choice['name']}`: {choice['help']}{formula}{source}{limits}\n"
