"""The commands on stores of finished runs: ``cellyard store``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

#: Names the store that commands share.
VARIABLE = "CELLYARD_STORE"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Stores of finished runs: what is in them, tables, upkeep.",
    epilog="Example: cellyard store show runs.sqlite",
)


def named(text: str) -> Path:
    """A file or folder that is named; the empty name of an unset shell variable would be the current folder."""
    if not text.strip():
        raise typer.BadParameter("an empty name")
    return Path(text)


StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="File of finished runs that commands share, instead of one in --out; runs that it holds are not run again.",
        metavar="FILE",
        parser=named,
        envvar=VARIABLE,
    ),
]
