"""How Sphinx makes the documentation site from the pages in this folder: `make site`."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from docutils import nodes
from pygments.lexer import RegexLexer
from pygments.token import Generic, Text
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
nb_output_stderr = "remove"
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
html_title = f"Cellyard {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_search_scorer = str(ROOT / "docs/static/scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": look(dark=False),
    "dark_css_variables": look(dark=True),
}
# The explorer is one page, saved there by `make site` before the build.
html_extra_path = ["build/extra"]
# `explore:story=red` and `explore:example=lan-5` are links into the explorer; `mend_links` adds the rest.
myst_url_schemes = {"http": None, "https": None, "explore": "explore.html#{{path}}"}

LINK = re.compile(r"(\]\(|\]: )((?:\.\./)+)([^)\s#]+)")
#: Pages of the site that show a file outside of this folder.
SHOWN = {
    (ROOT / "docs" / path.parent / target).resolve(): path.relative_to(ROOT / "docs")
    for path in (ROOT / "docs/published").glob("*.md")
    for target in re.findall(r"\{include\} (.*)", path.read_text(encoding="utf-8"))
}


class Console(RegexLexer):
    """Commands after `$`, and output in one colour, which may contain `#`."""

    name = "console"
    tokens: ClassVar = {"root": [(r"^\$ .*\n", Generic.Prompt), (r".*\n", Generic.Output), (r".+", Text)]}


def link_to_repository(_: Sphinx, page: str, text: list[str]) -> None:
    """Make links to files outside this folder links to the repository, or to the page that shows the file.

    The pages can thus be read both here and where the repository is shown.
    """
    folder = (ROOT / "docs" / page).parent

    def absolute(match: re.Match[str]) -> str:
        target = (folder / (match[2] + match[3])).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return match[0]
        if target in SHOWN:
            return f"{match[1]}{'../' * page.count('/')}{SHOWN[target]}"
        if not target.exists():
            raise FileNotFoundError(f"docs/{page}.md links to {match[2]}{match[3]}, which does not exist")
        return f"{match[1]}{REPOSITORY}/blob/main/{target.relative_to(ROOT)}"

    text[0] = LINK.sub(absolute, text[0])


def with_dark_pictures(app: Sphinx, tree: nodes.document) -> None:
    """Show NAME-dark.png instead of NAME.png where the page is dark."""
    for picture in list(tree.findall(nodes.image)):
        dark = re.sub(r"\.png$", "-dark.png", picture["uri"])
        _, file = app.env.relfn2path(dark, app.env.docname)
        if dark != picture["uri"] and Path(file).exists():
            other = picture.deepcopy()
            other["uri"] = dark
            picture["classes"].append("only-light")
            other["classes"].append("only-dark")
            picture.parent.insert(picture.parent.index(picture) + 1, other)


#: Thousands are separated by a narrow space that does not break.
THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d.,]*\d)")


def mend_links(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Complete links into the explorer, and write numbers in one style."""
    for link in tree.findall(nodes.reference):
        target = link.get("refuri", "")
        if target.startswith("explore.html#"):
            what, _, name = target.partition("#")[2].partition("=")
            if what == "example":
                side = {"base": name, "set": {}}
                state = quote(json.dumps({"sides": [side, side], "both": False}))
                target = f"explore.html#{state}"
            link["refuri"] = "../" * page.count("/") + target
    for text in list(tree.findall(nodes.Text)):
        if not isinstance(text.parent, (nodes.literal, nodes.literal_block, nodes.raw)) and THOUSANDS.search(text):
            text.parent.replace(text, nodes.Text(THOUSANDS.sub(lambda found: found[0].replace(" ", "\u202f"), text)))


#: What the theme's pages lack for readers with a keyboard or a screen reader, and what is written instead.
MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
    '<th class="head"><p></p></th>': "<td></td>",
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
    '<script src="_static/searchtools.js">': '<script src="search-texts.js"></script><script src="_static/searchtools.js">',
}
#: What a notebook shows while it runs.
PROGRESS = re.compile(r'<div class="output text_html">[^<]*: done after [^<]*</div>')
DRAWING = re.compile(r'<img alt="([^"]*)" src="([^"]*(?:cells|network)-[\w-]+\.svg)" ?/>')
STYLE = re.compile(r"<title>.*?</title>\n<style>.*?</style>\n")


def inlined(page: Path, text: str) -> str:
    """Put drawings into the page, where they have the colours of its theme."""

    def drawing(match: re.Match[str]) -> str:
        made = STYLE.sub("", (page.parent / match[2]).read_text(encoding="utf-8"))
        return made.replace('role="img"', f'role="img" aria-label="{match[1]}"').strip()

    return DRAWING.sub(drawing, text)


PICTURE = re.compile(r'<img (?![^>]*--inches)(?=[^>]*src="([^"]*\.(?:png|svg))")([^>]*?) ?/>')


def sized(page: Path, text: str) -> str:
    """Give each picture its width in inches: on a phone it keeps a part of it, so that its type can be read."""

    def picture(match: re.Match[str]) -> str:
        inches = width_in_inches((page.parent / match[1]).resolve())
        kind = " wide" if inches > 4 else ""
        old = re.search(r'class="([^"]*)"', match[2])
        rest = match[2].replace(old[0], "").strip() if old else match[2]
        return f'<img class="{old[1] if old else ""}{kind}" style="--inches: {inches:.2f}" {rest} />'

    return PICTURE.sub(picture, text)


def width_in_inches(file: Path) -> float:
    """Return the printed width of a PNG or SVG; a PNG that states no density is a picture of a screen."""
    if file.suffix == ".svg":
        found = re.search(r'<svg[^>]*? width="([\d.]+)(pt)?"', file.read_text(encoding="utf-8"))
        return float(found[1]) / (72 if found[2] else 96) if found else 0
    data = file.read_bytes()
    width = int.from_bytes(data[16:20])
    place = data.find(b"pHYs")
    per_inch = 0.0254 * int.from_bytes(data[place + 4 : place + 8]) if place > 0 else 110
    return width / per_inch


def with_thumbnails(page: Path, text: str) -> str:
    """Put the first figure of each page of the gallery before its link in the table."""

    def figure(match: re.Match[str]) -> str:
        other = (page.parent / match[1]).read_text(encoding="utf-8")
        found = re.search(r'<img [^>]*src="(\.\./_images/[^"]*)"', other)
        return f'<td><img class="thumbnail" alt="" src="{found[1]}" />{match[0][4:]}' if found else match[0]

    return re.sub(r'<td><p><a class="reference internal" href="([\w-]+\.html)">', figure, text)


def searched(page: str) -> str:
    """Return the text of a page with the sections that the search shows excerpts of."""
    main = page.partition('<article role="main"')[2].partition("</article>")[0].partition(">")[2]
    main = re.sub(r'(?s)<(script|style|svg)\b.*?</\1>|<a class="headerlink".*?</a>', "", main)
    main = re.sub(r'<(?!/?section\b)[^>]*>|(?<=<section) class="[^"]*"|(?<=\s)\s+', "", main)
    return f'<div role="main">{main}</div>'


def mend_pages(app: Sphinx, failure: Exception | None) -> None:
    """Mend the built pages, once all are written."""
    if failure:
        return
    site, texts = Path(app.outdir), {}
    for page in site.glob("**/*.html"):
        if page.name == "explore.html":
            continue
        text = page.read_text(encoding="utf-8")
        for old, new in MENDED.items():
            text = text.replace(old, new)
        text = PROGRESS.sub("", sized(page, inlined(page, text)))
        if page.parts[-2:] == ("gallery", "index.html"):
            text = with_thumbnails(page, text)
        page.write_text(text, encoding="utf-8")
        texts[str(page.relative_to(site))] = searched(text)
    # From disk a page cannot fetch others, so the search reads their texts from a script.
    code = (ROOT / "docs/static/search-texts.js").read_text(encoding="utf-8")
    (site / "search-texts.js").write_text(code.replace("TEXTS", json.dumps(texts)), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the hooks."""
    app.add_lexer("console", Console)
    app.connect("source-read", link_to_repository)
    # Before Sphinx collects the pictures.
    app.connect("doctree-read", with_dark_pictures, priority=400)
    app.connect("doctree-resolved", mend_links)
    app.connect("build-finished", mend_pages)
