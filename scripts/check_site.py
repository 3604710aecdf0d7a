"""Check the built documentation site: links, offline use and search, phones and accessibility.

Usage: check_site.py SITE. Prints what is wrong and fails if anything is. Barriers for readers with
disabilities are found by axe-core in Chromium; if one of them is missing, that part is left out,
and the script says so.
"""

import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
AXE = ROOT / ".venv/axe/node_modules/axe-core/axe.min.js"

#: Elements that load what they name, and the attribute that names it.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}

#: Extra pages whose fragments are read by a script and are no anchors.
SCRIPTED = ("explore.html",)

#: Seconds within which the browser must have seen all pages.
PATIENCE = 300

DRIVER = """<!doctype html><html lang="en"><head><title>driver</title></head><body><script type="module">
const frame = document.body.appendChild(document.createElement('iframe'));
frame.title = 'page';
const found = [], AXE = AXE_TEXT;
// Type below LEAST pixels, also in pictures, where it has POINTS at least; and what is cut without a shadow or a word.
function unreadable(inner) {
  const [LEAST, POINTS, wrong] = [9, 7.5, new Set()];
  const shown = (element) => element.getClientRects().length > 0;
  for (const element of inner.document.querySelectorAll('article *')) {
    const style = inner.getComputedStyle(element);
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const scale = element.ownerSVGElement ? element.getScreenCTM().a : 1;
    if (words && shown(element) && parseFloat(style.fontSize) * scale < LEAST - 0.05)
      wrong.add(`type of ${(parseFloat(style.fontSize) * scale).toFixed(1)} pixels: ${element.textContent.slice(0, 40)}`);
    const inches = parseFloat(style.getPropertyValue('--inches'));
    if (element.matches('img.wide:not(.thumbnail)') && shown(element) && (element.width / inches) * (POINTS / 72) < LEAST)
      wrong.add(`small type in the picture ${element.getAttribute('src')}`);
    if (element.scrollWidth > element.clientWidth + 1 && style.overflowX !== 'visible'
      && !element.matches('.table-wrapper, pre, .picture, caption, span') && style.clipPath === 'none')
      wrong.add(`cut without a sign: ${element.outerHTML.slice(0, 80)}`);
  }
  return [...wrong];
}
for (const page of PAGES_LIST) for (const width of [1280, 390]) for (const theme of ['light', 'dark']) {
  localStorage.setItem('theme', theme);
  frame.width = width; frame.height = 900;
  frame.src = page;
  await new Promise((done) => { frame.onload = done; });
  const inner = frame.contentWindow;
  const root = inner.document.documentElement;
  if (root.scrollWidth > inner.innerWidth + 1) found.push(`${page}: wider than a screen of ${width} pixels`);
  if (width === 390 && theme === 'light') found.push(...unreadable(inner).map((what) => `${page}, on a phone: ${what}`));
  if (!inner.axe) inner.eval(AXE);
  if (width === 1280) {
    const { violations } = await inner.axe.run();
    for (const one of violations)
      found.push(`${page}, ${theme}: ${one.id}: ${one.help}: ${one.nodes[0].html.slice(0, 200)}`);
  }
}
await fetch('/', { method: 'POST', body: JSON.stringify(found) });
</script></body></html>"""


class Page(HTMLParser):
    """What a page of the site links to, loads and can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect links, anchors and loaded files."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            self.loaded.append(values[LOADED[tag]])


def dead_links(site: Path) -> list[str]:
    """Return links to pages, anchors and files that are not there, and files loaded from elsewhere."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        if path.name in SCRIPTED:
            continue
        shown = path.relative_to(site)
        wrong += [f"{shown}: loads {url}" for url in page.loaded if urlsplit(url).scheme in ("http", "https")]
        for url in (*page.links, *page.loaded):
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists():
                wrong.append(f"{shown}: no file for the link {url}")
            elif anchor and target in pages and target.name not in SCRIPTED and anchor not in pages[target].anchors:
                wrong.append(f"{shown}: no anchor for the link {url}")
    # A page that is opened from disk searches these texts.
    texts = (site / "search-texts.js").read_text(encoding="utf-8")
    wrong += [
        f"{path.relative_to(site)}: not found by the search"
        for path in pages
        if path.name not in SCRIPTED and f'"{path.relative_to(site)}": ' not in texts
    ]
    return wrong


def seen_by_a_browser(site: Path, chromium: str) -> list[str]:
    """Return what axe-core and the width of a phone find wrong on each page."""
    pages = [str(path.relative_to(site)) for path in sorted(site.rglob("*.html")) if path.name not in SCRIPTED]
    axe = json.dumps(AXE.read_text(encoding="utf-8")).replace("</", "<\\/")
    driver = DRIVER.replace("PAGES_LIST", json.dumps(pages)).replace("AXE_TEXT", axe)
    results: Queue[list[str]] = Queue()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/driver.html":
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(driver.encode())

        def do_POST(self) -> None:
            results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing of each request."""

    with (
        tempfile.TemporaryDirectory() as profile,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site))) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/driver.html"
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={profile}",
        ]
        with subprocess.Popen([chromium, *options, address], stderr=subprocess.DEVNULL) as browser:
            try:
                return results.get(timeout=PATIENCE)
            except Empty:
                return [f"the browser has not seen all {len(pages)} pages within {PATIENCE} s"]
            finally:
                browser.kill()
                server.shutdown()


def search_from_disk(site: Path, chromium: str) -> list[str]:
    """Return what is wrong with a search in a page that is opened from disk: each result has an excerpt."""
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        address = f"{(site / 'search.html').as_uri()}?q=buffer"
        command = [chromium, *options, "--virtual-time-budget=10000", "--dump-dom", address]
        page = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE).stdout
    results = re.findall(r'<li class="kind-\w+"><a href="([^"]*)".*?</li>', page, re.DOTALL)
    if not results or results[0].startswith("glossary"):
        return [f"search.html, from disk: {results[0] if results else 'nothing'} is found first"]
    return [] if page.count('class="context"') == len(results) else ["search.html, from disk: results lack excerpts"]


def main() -> int:
    """Check the site and return the exit status."""
    site = Path(sys.argv[1]).resolve()
    wrong = dead_links(site)
    chromium = shutil.which("chromium")
    if chromium and AXE.exists():
        wrong += seen_by_a_browser(site, chromium) + search_from_disk(site, chromium)
    else:
        print("not checked in a browser: Chromium or axe-core is missing", file=sys.stderr)
    print(
        "\n".join(wrong)
        if wrong
        else f"{len(list(site.rglob('*.html')))} pages: no dead link, nothing loaded from elsewhere"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
