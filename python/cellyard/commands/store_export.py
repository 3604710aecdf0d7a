"""The command ``cellyard store export``: writes the runs of a store as table files."""

import io
import sys
from collections.abc import Sequence
from pathlib import Path

from cellyard.commands import FAILED
from cellyard.outputs import provenance
from cellyard.outputs.folder import ResultFolder
from cellyard.store import Store, open_store
from cellyard.store.frames import LARGE_PARTS, PARTS, import_extra
from cellyard.system.errors import unknown
from cellyard.system.files import FileSet
from cellyard.system.terminal import printable


def command(
    path: Path,
    *,
    out: Path,
    tables: Sequence[str],
    file_format: str,
    scenario: str | None,
    engine: str | None,
    overwrite: bool,
) -> int:
    """Write a file for each table; returns the exit status."""
    for name in tables:
        if name not in PARTS:
            raise unknown("--table: table", name, PARTS)
    import_extra("polars")
    chosen = list(dict.fromkeys(tables)) or [part for part in PARTS if part not in LARGE_PARTS]
    written: list[str] = []
    with open_store(path) as store, store.snapshot():
        holds = "tables of a store"
        with ResultFolder(
            out,
            command="store export",
            holds=holds,
            content=holds,
            provenance=provenance.of_command(),
            overwrite=overwrite,
        ) as folder:

            def add(files: FileSet) -> None:
                for part in chosen:
                    content = _content(store, part, file_format, scenario, engine)
                    if content:
                        files.add(f"{part}.{file_format}", content)
                        written.append(f"{part}.{file_format}")

            if unwritten := folder.publish(add):
                print(unwritten, file=sys.stderr)
                return FAILED
    print(printable(f"{out}: {', '.join(written) or 'no tables, because no stored run matches'}"))
    return 0


def _content(store: Store, part: str, file_format: str, scenario: str | None, engine: str | None) -> bytes:
    """A table as a file; empty if it has no lines."""
    frame = store.to_frame(part, name=scenario, engine=engine)
    if not len(frame):
        return b""
    file = io.BytesIO()
    if file_format == "csv":
        frame.write_csv(file)
    else:
        frame.write_parquet(file)
    return file.getvalue()
