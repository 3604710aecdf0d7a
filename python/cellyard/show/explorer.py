"""The page of the explorer: its files, and a single-file version."""

import base64
import gzip
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from cellyard.system.errors import UsageError

FOLDER = Path(__file__).parent.parent / "explorer"

#: Colours and type, which reports have too.
LOOK = Path(__file__).parent / "templates/look.css"

#: Media types of the page's files, by suffix.
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
}

_IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([a-z]+\.js)';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) ([A-Za-z_]+))", re.MULTILINE)


@dataclass(frozen=True)
class Explorer:
    """The explorer with these scenarios by name; it opens ``opened``, or else a story.

    Raises `UsageError` if its engine is not built.
    """

    scenarios: Mapping[str, str]
    opened: str | None = None

    def __post_init__(self) -> None:
        if not (FOLDER / "engine.wasm").exists():
            raise UsageError(
                "the engine of the explorer is not built: run `make explorer` in a copy of the sources, then `pip install` from it"
            )

    def files(self) -> dict[str, bytes]:
        """Every file of the page by name."""
        found = {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES}
        return {**found, LOOK.name: LOOK.read_bytes(), "examples.json": self._data().encode()}

    def page(self) -> str:
        """The page as a single file, which opens from a disk and in a frame."""
        style = "".join(path.read_text(encoding="utf-8") for path in (LOOK, FOLDER / "style.css"))
        script = _bundled("app.js")
        allowed = {
            "default-src": "'none'",
            "script-src": f"{_hash(script)} 'wasm-unsafe-eval'",
            "worker-src": "blob:",
            "style-src": _hash(style),
            "img-src": "blob: data:",
            "base-uri": "'none'",
            "form-action": "'none'",
        }
        policy = "; ".join(f"{name} {value}" for name, value in allowed.items())
        engine = base64.b64encode(gzip.compress((FOLDER / "engine.wasm").read_bytes(), mtime=0)).decode()
        inline = {
            "examples.json": self._data().replace("<", "\\u003c"),
            "engine.wasm": engine,
            "worker.js": _bundled("worker.js"),
        }
        data = "\n".join(f'<script type="text/plain" id="file:{name}">{text}</script>' for name, text in inline.items())
        text = (FOLDER / "index.html").read_text(encoding="utf-8")
        text = re.sub(r'(http-equiv="Content-Security-Policy" content=")[^"]*', lambda found: found[1] + policy, text)
        text = re.sub(r'<link rel="(?:module)?preload"[^>]*>\n', "", text)
        text = text.replace('<link rel="stylesheet" href="look.css">\n', "")
        text = text.replace('<link rel="stylesheet" href="style.css">', f"<style>{style}</style>")
        return text.replace(
            '<script type="module" src="app.js"></script>', f'{data}\n<script type="module">{script}</script>'
        )

    def _repr_html_(self) -> str:
        """The page in an isolated frame, which can only compute and offer downloads."""
        rights = "allow-scripts allow-downloads"
        size = "width: 100%; height: 900px; border: 1px solid #ccd3da"
        return f'<iframe sandbox="{rights}" style="{size}" srcdoc="{escape(self.page())}"></iframe>'

    def _data(self) -> str:
        return json.dumps({"examples": dict(self.scenarios), "opened": self.opened, "stories": stories()})


def _stories() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((FOLDER / "stories.toml").read_text(encoding="utf-8"))["story"]
    return found


def stories() -> list[dict[str, Any]]:
    """Stories in order: `name`, `title`, `text`, `attempt`, `knobs` that it is about, and `sides`, each with `base` and `set`."""
    return [
        {
            **{field: story[field] for field in ("name", "title", "text")},
            "attempt": story["attempt"]["text"],
            "knobs": _knobs(story),
            "sides": [
                {"base": story["base"], "set": {**story["set"], **story.get("a", {})}},
                {"base": story.get("base_b", story["base"]), "set": {**story["set"], **story.get("b", {})}},
            ],
        }
        for story in _stories()
    ]


def _knobs(story: Mapping[str, Any]) -> list[str]:
    """Return the paths in which variants of a story differ, or that it advises to change."""
    tried = story["attempt"]
    return [
        *{
            path: None
            for values in (story.get("a"), story.get("b"), tried.get("both"), tried.get("b"))
            for path in values or {}
        }
    ]


def attempt(name: str) -> dict[str, dict[str, str]]:
    """What a story advises to try: values for B (`b`), or for both variants (`both`)."""
    found: dict[str, dict[str, str]] = next(story["attempt"] for story in _stories() if story["name"] == name)
    return found


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _bundled(name: str, done: dict[str, str] | None = None) -> str:
    """A module preceded by its imports, each in its own scope."""
    done = {} if done is None else done
    text = (FOLDER / name).read_text(encoding="utf-8")
    before = "".join(_bundled(other, done) for _, other in _IMPORT.findall(text) if other not in done)
    if name in done:
        return before
    exported = [found[1] for found in _EXPORT.findall(text)]
    body = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_scope(found[2])};\n", text)
    body = _EXPORT.sub(lambda found: found[1], body)
    done[name] = body
    return f"{before}const {_scope(name)} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();\n"


def _scope(name: str) -> str:
    return f"module_{name.removesuffix('.js')}"
