"""Make README.md fit for a package index: its relative links lead to the tag of the version in the repository."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A link or picture of Markdown with a relative target: whether it is a picture, its text, and its target.
RELATIVE = re.compile(r"(!?)(\[[^]]*\])\((?!\w+:|#)([^)\s]+)\)")


def for_index(text: str) -> str:
    """Return a page, or metadata with it, with addresses for relative links. Pictures get those of their files."""
    package = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]

    def absolute(link: re.Match[str]) -> str:
        place = f"{package['repository']}/{'raw' if link[1] else 'blob'}/v{package['version']}"
        return f"{link[1]}{link[2]}({place}/{link[3]})"

    return RELATIVE.sub(absolute, text)
