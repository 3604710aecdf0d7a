"""Ready scenarios: the command ``cellyard example``."""

from __future__ import annotations

from cellyard.ready import names as names
from cellyard.ready import text as text
from cellyard.text import table


def overview() -> str:
    """All examples with what they show, which is their first line."""
    rows = [[name, text(name).splitlines()[0].lstrip("# ")] for name in names()]
    return table(["example", "what it shows"], rows) + "\n\ncellyard example NAME > NAME.toml writes one."
