"""How Sphinx makes the documentation site from the pages in this folder: `make site`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
REPOSITORY = CARGO["repository"]

project = "Cellyard"
author = "the Cellyard contributors"
project_copyright = author
version = release = CARGO["version"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["build"]
default_role = "literal"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# A notebook is a page with cells. It is executed anew for each build, and a cell that fails ends the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 60
nb_merge_streams = True
nb_mime_priority_overrides = [("html", "text/html", 0), ("html", "image/svg+xml", 5)]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_custom_sections = [("Fields", "params_style")]


def look(*, dark: bool) -> dict[str, str]:
    """Type and colours that the explorer and reports have too, as variables of the theme."""
    sheet = (ROOT / "python/cellyard/show/templates/look.css").read_text(encoding="utf-8")
    found = dict(re.findall(r"--([a-z-]+): ([^;]+);", sheet.partition("@media")[2 if dark else 0]))
    names = {
        "color-brand-primary": "accent",
        "color-brand-content": "accent",
        "color-foreground-primary": "ink",
        "font-stack": "font",
    }
    return {variable: found[name] for variable, name in names.items() if name in found}


html_theme = "furo"
html_title = "Cellyard"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": look(dark=False),
    "dark_css_variables": look(dark=True),
}
# The explorer is one page, saved there by `make site` before the build.
html_extra_path = ["build/extra"]
# `explore:story=red` is a link into the explorer. Only the gallery has such links.
myst_url_schemes = {"http": None, "https": None, "explore": "../explore.html#{{path}}"}

LINK = re.compile(r"(\]\(|\]: )((?:\.\./)+)([^)\s#]+)")


def link_to_repository(_: Sphinx, page: str, text: list[str]) -> None:
    """Make links to files outside this folder links to the repository.

    The pages can thus be read both here and where the repository is shown.
    """
    folder = (ROOT / "docs" / page).parent

    def absolute(match: re.Match[str]) -> str:
        target = (folder / (match[2] + match[3])).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return match[0]
        if not target.exists():
            raise FileNotFoundError(f"docs/{page}.md links to {match[2]}{match[3]}, which does not exist")
        return f"{match[1]}{REPOSITORY}/blob/main/{target.relative_to(ROOT)}"

    text[0] = LINK.sub(absolute, text[0])


#: What the theme's pages lack for readers with a keyboard or a screen reader, and what is written instead.
MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
    '<th class="head"><p></p></th>': "<td></td>",
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
}


def mend_pages(app: Sphinx, failure: Exception | None) -> None:
    """Mend the built pages, once all are written."""
    if failure:
        return
    for page in Path(app.outdir).glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        for old, new in MENDED.items():
            text = text.replace(old, new)
        page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.connect("source-read", link_to_repository)
    app.connect("build-finished", mend_pages)
