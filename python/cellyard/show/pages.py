"""Pages from the files in ``templates/``. Every value is escaped, so that no text of a study becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cellyard.show.text import cell, printed, span, spent

FOLDER = Path(__file__).parent / "templates"

#: What Markdown would take for markup. An underscore within a word is none.
_MARKUP = re.compile(r"[\\`*~|$]|(?<=\])\(|(?<![^\W_])_|_(?![^\W_])")


def html(template: str, **values: Any) -> str:
    """A page in HTML."""
    return _environment(html=True).get_template(template).render(values)


def markdown(template: str, **values: Any) -> str:
    """A page in Markdown."""
    return _environment(html=False).get_template(template).render(values)


def in_markdown(value: object) -> str:
    r"""A value as Markdown that shows it as it is, on one line.

    >>> print(in_markdown("a|b, *c* and <d> of max_queue_cells"))
    a\|b, \*c\* and &lt;d&gt; of max_queue_cells
    """
    text = str(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(_MARKUP.sub(r"\\\g<0>", text).splitlines())


@cache
def _environment(*, html: bool) -> Environment:
    environment = Environment(
        autoescape=html,
        finalize=None if html else in_markdown,
        keep_trailing_newline=True,
        loader=FileSystemLoader(FOLDER),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    filters: dict[str, Callable[..., str]] = {"cell": cell, "printed": printed, "span": span, "spent": spent}
    environment.filters |= filters
    return environment
