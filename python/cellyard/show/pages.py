"""Renders pages from the files in ``templates/``. Every value is escaped, so that no text becomes markup."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cellyard.show.table import Table, in_markdown
from cellyard.show.text import cpu_time

FOLDER = Path(__file__).parent / "templates"


def html(template: str, **values: Any) -> str:
    """Render a page in HTML."""
    return _environment(html=True).get_template(template).render(values)


def markdown(template: str, **values: Any) -> str:
    """Render a page in Markdown."""
    return _environment(html=False).get_template(template).render(values)


def _in_markdown(value: object) -> str:
    return value.markdown() if isinstance(value, Table) else in_markdown(value)


@cache
def _environment(*, html: bool) -> Environment:
    environment = Environment(
        autoescape=html,
        finalize=None if html else _in_markdown,
        keep_trailing_newline=True,
        loader=FileSystemLoader(FOLDER),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    filters: dict[str, Callable[..., str]] = {"cpu_time": cpu_time}
    environment.filters |= filters
    return environment
