"""The JSON Schemas of scenarios, experiments and results, which editors and validators read."""

from pathlib import Path

from cellyard.system.errors import unknown

FOLDER = Path(__file__).parent.parent / "schemas"

#: Each schema with what it describes.
NAMES = {
    "scenario": "scenario files",
    "experiment": "experiment files",
    "results": "a run in the JSON of cellyard run --format json",
}


def file(name: str) -> Path:
    """The file of a schema; raises `UsageError` when the name is unknown."""
    if name not in NAMES:
        raise unknown("schema", name, list(NAMES))
    return FOLDER / f"{name}.schema.json"


def text(name: str) -> str:
    """A schema as JSON; raises `UsageError` when the name is unknown."""
    return file(name).read_text(encoding="utf-8")


def directive(name: str) -> str:
    """The first line of a TOML file that names its schema to editors. The schema is that of this installation."""
    return f"#:schema {file(name).resolve().as_uri()}\n"
