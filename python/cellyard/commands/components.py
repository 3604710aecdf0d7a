"""The command ``cellyard components``: describes what a scenario can contain."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from cellyard.show.table import Table
from cellyard.show.words import listed
from cellyard.system.errors import UsageError, unknown

WIDTH = 110


def _families() -> list[dict[str, Any]]:
    from cellyard import _engine

    families: list[dict[str, Any]] = json.loads(_engine.registry())["families"]
    return families


def command(name: str | None) -> None:
    """Print a component or a family, or the list of all."""
    print(describe(name) if name else overview())


def overview() -> str:
    """All families with their components, a line each."""
    rows = []
    for family in _families():
        if family["tag"] is None:
            rows.append([family["name"], "", family["help"]])
        else:
            rows += [[family["name"], c["name"], c["help"]] for c in family["components"]]
    return f"{Table.from_rows(['family', 'component', ''], rows)}\n\ncellyard components NAME shows one component."


def describe(name: str) -> str:
    """A component, or all components of a family; raises `UsageError` when the name is unknown."""
    found: dict[str, list[str]] = {}
    for family in _families():
        pages = [_page(family, component) for component in family["components"]]
        for component, page in zip(family["components"], pages, strict=True):
            found.setdefault(component["name"], []).append(page)
        if family["tag"]:
            found.setdefault(family["name"], []).extend(pages)
    if name not in found:
        raise _within(name) or unknown("component", name, found)
    return "\n\n\n".join(dict.fromkeys(found[name]))


def _within(name: str) -> UsageError | None:
    """The error for a field or a value of a field: the components that have it."""
    found: dict[str, list[str]] = {}
    for component in (component for family in _families() for component in family["components"]):
        for parameter in component["parameters"]:
            if name == parameter["name"]:
                found.setdefault("a field", []).append(component["name"])
            elif any(name == choice["name"] for choice in parameter["kind"].get("choices", ())):
                found.setdefault(f"a value of `{parameter['name']}`", []).append(component["name"])
    places = listed([f"{what} of {listed(components)}" for what, components in found.items()])
    first = next((components[0] for components in found.values()), "")
    return UsageError(f"`{name}` is {places}: see `cellyard components {first}`") if found else None


def _page(family: dict[str, Any], component: dict[str, Any]) -> str:
    kind = f" ({family['name']})" if family["tag"] else ""
    lines = [f"{component['name']}{kind}", *_wrap(component["help"])]
    if component["formula"]:
        lines += ["", *_wrap(component["formula"], "formula   ")]
    if component["diagram"]:
        lines += ["", component["diagram"]]
    if component["source"]:
        lines += ["", *_wrap(component["source"], "source    ")]
    if component["limits"]:
        lines += ["", *_wrap(component["limits"], "limits    ")]
    for parameter in component["parameters"]:
        lines += ["", *_parameter(parameter)]
    if own := component["own"]:
        lines += ["", "any name   optional", *_wrap(own["help"], "    "), *_wrap(f"allowed: {own['allowed']}", "    ")]
    if component["shorthand"] and component["parameters"]:
        lines += ["", f'The name alone, "{component["name"]}", means this component with every default.']
    return "\n".join(lines)


def _parameter(parameter: dict[str, Any]) -> Iterator[str]:
    default = "required" if parameter["required"] else f"default: {parameter['default_text']}"
    yield f"{parameter['name']}   {default}"
    yield from _wrap(parameter["help"], "    ")
    choices = parameter["kind"].get("choices")
    if choices:
        width = max(len(choice["name"]) for choice in choices)
        for choice in choices:
            yield from _wrap(choice["help"], f"    {choice['name']:<{width}}  ")
            for detail in ("formula", "source", "limits"):
                if choice[detail]:
                    yield from _wrap(f"{detail}: {choice[detail]}", " " * (width + 6))
    else:
        yield from _wrap(f"allowed: {parameter['allowed']}", "    ")
    if only := parameter["only_with"]:
        yield f"    only with {only['parameter']} {', '.join(only['values'])}"


def _wrap(text: str, first: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first))
