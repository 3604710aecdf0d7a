"""The command ``cellyard schema``: prints or writes JSON Schemas."""

from pathlib import Path

from cellyard.show.table import Table
from cellyard.system import schemas
from cellyard.system.files import writable_folder, write_whole
from cellyard.system.terminal import printable


def command(name: str | None, *, out: Path | None) -> None:
    """Write the named schema or all to a folder; without a folder, print the named schema or list all."""
    if out:
        texts = {schemas.file(one).name: schemas.text(one) for one in ([name] if name else schemas.NAMES)}
        writable_folder(out)
        for file, text in texts.items():
            write_whole(out / file, text)
            print(printable(f"wrote {out / file}"))
    elif name:
        print(schemas.text(name), end="")
    else:
        rows = [[one, of, printable(str(schemas.file(one)))] for one, of in schemas.NAMES.items()]
        print(Table.from_rows(["schema", "describes", "file"], rows))
