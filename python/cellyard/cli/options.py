"""Arguments and options that several commands share, and how their texts become values."""

from __future__ import annotations

import argparse
import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cellyard.system.limits import MOST_JOBS, MOST_REPLICATIONS, MOST_SEED, MOST_WORKERS

#: Environment variable that names the store which commands share.
STORE = "CELLYARD_STORE"

#: How results are printed on standard output.
FORMATS = ("table", "json", "csv")

#: Completion of file names, in the words of shtab for each shell.
_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from ``least`` to ``most``."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ArgumentTypeError(f"'{text[:60]}' must be a whole number from {least} to {most}")
        return value

    return number


def pair(shape: str) -> Callable[[str], tuple[str, str]]:
    """Return a reader of texts like ``PATH=VALUE``, which are split at the first equals sign."""

    def read(text: str) -> tuple[str, str]:
        key, equals, value = text.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise ArgumentTypeError(f"'{text[:60]}' must be {shape}")
        return key.strip(), value.strip()

    return read


def named(text: str) -> Path:
    """Read the name of a file or folder. An unset shell variable would give the empty name, which means the current folder."""
    if not text.strip():
        raise ArgumentTypeError("an empty name; . is the current folder")
    return Path(text)


def file(parser: ArgumentParser, *names: str, **settings: Any) -> None:
    """Add an argument or option that names a file or folder, which shells complete."""
    action = parser.add_argument(*names, **({"type": named} | settings))
    action.complete = _FILES  # type: ignore[attr-defined]  # what shtab looks for


def choice(parser: ArgumentParser, *names: str, words: Callable[[], list[str]], **settings: Any) -> None:
    """Add an argument that takes a name; ``words`` lists the known names when a completion script is written."""
    parser.add_argument(*names, **settings).words = words  # type: ignore[attr-defined]


def flag(parser: ArgumentParser, name: str, **settings: Any) -> None:
    """Add an option without a value."""
    parser.add_argument(name, action="store_true", **settings)


def several(parser: ArgumentParser, name: str, **settings: Any) -> None:
    """Add an option that may be repeated."""
    parser.add_argument(name, action="append", default=[], **settings)


def scenario(parser: ArgumentParser) -> None:
    """Add the scenario of a command, and the values that replace its own."""
    file(parser, "path", type=Path, metavar="SCENARIO.toml", help="scenario in TOML; - reads standard input")
    overridden = "replace a value, or remove it with the value default; may be repeated"
    several(parser, "--set", dest="overrides", type=pair("PATH=VALUE"), metavar="PATH=VALUE", help=overridden)
    varied = "run with each of these values; several options make a grid"
    several(parser, "--grid", type=pair("PATH=a,b,c"), metavar="PATH=a,b,c", help=varied)


def experiment(parser: ArgumentParser) -> None:
    """Add the experiment of a command."""
    file(parser, "path", type=Path, metavar="EXPERIMENT.toml", help="experiment in TOML; - reads standard input")


def replications(parser: ArgumentParser, *, otherwise: str = "one run as stated") -> None:
    """Add the number of replications."""
    parser.add_argument(
        "--replications",
        type=whole(1, MOST_REPLICATIONS),
        metavar="N",
        help=f"number of runs, each with its own random draws; default: {otherwise}",
    )


def replication(parser: ArgumentParser) -> None:
    """Add the choice of a single replication."""
    parser.add_argument(
        "--replication",
        type=whole(0, MOST_REPLICATIONS - 1),
        metavar="K",
        help="run only replication K; the first one is 0",
    )


def seed(parser: ArgumentParser) -> None:
    """Add the seed."""
    parser.add_argument("--seed", type=whole(0, MOST_SEED), metavar="S", help="seed of every random stream")


def running(parser: ArgumentParser) -> None:
    """Add where and with what runs are made: threads, memory, a cluster."""
    jobs = "number of threads; default: all cores. Changes only the time taken"
    parser.add_argument("--jobs", type=whole(1, MOST_JOBS), metavar="J", help=jobs)
    memory = "memory that runs and results may need together, as in 4GB; default: half of the machine's"
    parser.add_argument("--memory", metavar="SIZE", help=memory)
    cluster = "run on the Dask cluster with this scheduler; needs the extra dask"
    parser.add_argument("--on", metavar="tcp://HOST:PORT", help=cluster)
    workers = "run on a Dask cluster of N processes on this machine"
    parser.add_argument("--workers", type=whole(1, MOST_WORKERS), metavar="N", help=workers)


def writing(
    parser: ArgumentParser, out: str = "folder for results; runs that it already holds are not repeated"
) -> None:
    """Add where results and finished runs are kept."""
    file(parser, "--out", metavar="DIR", help=out)
    overwrite(parser)
    shared = f"file of finished runs that commands share, used instead of one in --out; default: ${STORE}"
    file(parser, "--store", default=os.environ.get(STORE) or None, metavar="FILE", help=shared)


def overwrite(parser: ArgumentParser) -> None:
    """Add the permission to write into a folder that holds something else."""
    flag(parser, "--overwrite", help="write into --out even if it holds something else")


def output_format(parser: ArgumentParser) -> None:
    """Add the format of standard output."""
    shown = "format of standard output; default: table"
    parser.add_argument("--format", dest="output_format", choices=FORMATS, default="table", help=shown)


def where(parser: ArgumentParser, shape: str, help: str) -> None:  # noqa: A002
    """Add a choice of rows or runs by the values of parameters."""
    several(parser, "--where", type=pair(shape), metavar=shape, help=f"{help}; repeat it for more values or parameters")


class Print(argparse.Action):
    """An option that prints a text, made by calling ``const`` with the parser and the option's value, and ends the command."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"dest": argparse.SUPPRESS, "default": argparse.SUPPRESS})

    def __call__(self, parser: ArgumentParser, namespace: object, value: object, option: object = None) -> None:
        """Print the text and exit with status 0."""
        print(self.const(parser, value))
        parser.exit()
