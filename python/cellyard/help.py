"""Help of a group of commands, in the form in which typer writes it, without importing it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence

#: What is told of an option or a command: its name, and what it does.
Row = tuple[str, str]

#: Most and fewest columns of a page, and most of a name beside which its text begins.
MOST, FEWEST, MOST_NAME = 80, 50, 30
INDENT = "  "


def columns() -> int:
    """How wide a page is on this terminal; two columns stay free."""
    return max(min(shutil.get_terminal_size().columns, MOST) - 2, FEWEST)


def page(name: str, text: str, options: Sequence[Row], commands: Sequence[Row], epilog: str) -> str:
    """The page of the group ``name``; ``commands`` come with all their text, and one sentence is told, as far as it fits."""
    width = columns()
    longest = max(len(name) for name, _ in commands)
    short = [(name, sentence(told, width - 6 - longest)) for name, told in commands]
    usage = f"Usage: {name} "
    parts = [_filled("[OPTIONS] COMMAND [ARGS]...", width, usage, " " * len(usage))]
    parts += [_filled(text, width, INDENT, INDENT)]
    parts += [_section("Options", options, width), _section("Commands", short, width)]
    parts += [_filled(epilog, width, INDENT, INDENT)] if epilog else []
    return "\n\n".join(parts)


def sentence(text: str, most: int) -> str:
    """The first sentence of a text, or as many of its words as fit into ``most`` columns with an ellipsis.

    >>> sentence("Validate a scenario and draw it; run nothing. What follows is told elsewhere.", 50)
    'Validate a scenario and draw it; run nothing.'
    >>> sentence("Validate a scenario and draw it; run nothing.", 24)
    'Validate a scenario...'
    """
    words = text.partition("\n\n")[0].split()
    end = next((i for i, word in enumerate(words, 1) if word.endswith(".")), len(words))
    if len(" ".join(words[:end])) <= most:
        return " ".join(words[:end])
    while end and len(" ".join(words[:end])) + len("...") > most:
        end -= 1
    return " ".join(words[:end]) + "..."


def _section(heading: str, rows: Iterable[Row], width: int) -> str:
    """Names with their texts beside them."""
    rows = list(rows)
    beside = min(max(len(name) for name, _ in rows), MOST_NAME) + 2
    lines = [f"{heading}:"]
    for name, text in rows:
        first, *more = _filled(text, max(width - beside - 2, 10)).splitlines()
        if len(name) > beside - 2:
            lines.append(INDENT + name)
            name = ""
        lines += [f"{INDENT}{name:{beside}}{first}", *(" " * beside + INDENT + line for line in more)]
    return "\n".join(lines)


def _filled(text: str, width: int, first: str = "", later: str = "") -> str:
    return textwrap.fill(
        " ".join(text.split()), width, initial_indent=first, subsequent_indent=later, replace_whitespace=False
    )
