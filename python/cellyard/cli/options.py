"""Arguments and options that several commands share, and the readers of their values."""

import argparse
import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cellyard.system.limits import MOST_JOBS, MOST_REPLICATIONS, MOST_SEED, MOST_WORKERS, SIZES, size_bytes

#: Environment variable that names the shared store.
STORE = "CELLYARD_STORE"

#: Formats of results on standard output.
FORMATS = ("table", "json", "csv")

#: Limits on the width of a figure.
LEAST_INCHES, MOST_INCHES = 2, 100
#: Styles of figures, as in `cellyard.plot.STYLES`.
STYLES = ("paper", "slide")

#: Completion of file names, in the words of shtab for each shell.
_FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from ``least`` to ``most``."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ArgumentTypeError(f"`{text[:60]}` must be a whole number from {least} to {most}")
        return value

    return number


def inches(text: str) -> float:
    """Read the width of a figure."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not LEAST_INCHES <= value <= MOST_INCHES:
        raise ArgumentTypeError(f"`{text[:60]}` must be a number of inches from {LEAST_INCHES} to {MOST_INCHES}")
    return value


def size(text: str) -> str:
    """Read a size such as 4GB."""
    from cellyard.system.errors import UsageError  # not for help

    try:
        size_bytes("size", text)
    except UsageError:
        raise ArgumentTypeError(f"`{text[:60]}` must be {SIZES}") from None
    return text


def pair(shape: str) -> Callable[[str], tuple[str, str]]:
    """Return a reader of texts like ``PATH=VALUE``, which are split at the first equals sign."""

    def read(text: str) -> tuple[str, str]:
        key, equals, value = text.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise ArgumentTypeError(f"`{text[:60]}` must be {shape}")
        return key.strip(), value.strip()

    return read


def path_name(text: str) -> Path:
    """Read the name of a file or folder. The empty name, often an unset shell variable, would mean the current folder."""
    if not text.strip():
        raise ArgumentTypeError("an empty name is not allowed; use . for the current folder")
    return Path(text)


def file(parser: ArgumentParser, *names: str, **settings: Any) -> None:
    """Add an argument or option that names a file or folder, which shells complete."""
    action = parser.add_argument(*names, **({"type": path_name} | settings))
    action.complete = _FILES  # type: ignore[attr-defined]  # what shtab looks for


def choice(parser: ArgumentParser, *names: str, words: Callable[[], list[str]], **settings: Any) -> None:
    """Add an argument that takes a name; ``words`` lists the known names when a completion script is written."""
    parser.add_argument(*names, **settings).words = words  # type: ignore[attr-defined]


def flag(parser: ArgumentParser, name: str, **settings: Any) -> None:
    """Add an option without a value."""
    parser.add_argument(name, action="store_true", **settings)


def repeatable(parser: ArgumentParser, name: str, **settings: Any) -> None:
    """Add an option that may be repeated."""
    parser.add_argument(name, action="append", default=[], **settings)


def scenario(parser: ArgumentParser) -> None:
    """Add the scenario file of a command, with --set and --grid."""
    file(parser, "path", type=Path, metavar="SCENARIO.toml", help="scenario file; - reads standard input")
    overridden = "change a value of the scenario; the value default restores its default; may be repeated"
    repeatable(parser, "--set", dest="overrides", type=pair("PATH=VALUE"), metavar="PATH=VALUE", help=overridden)
    varied = "run once for each value; several --grid options run every combination"
    repeatable(parser, "--grid", type=pair("PATH=a,b,c"), metavar="PATH=a,b,c", help=varied)


def experiment(parser: ArgumentParser) -> None:
    """Add the experiment of a command."""
    file(parser, "path", type=Path, metavar="EXPERIMENT.toml", help="experiment file; - reads standard input")


def replications(parser: ArgumentParser, *, otherwise: str = "one run exactly as stated") -> None:
    """Add the number of replications."""
    parser.add_argument(
        "--replications",
        type=whole_number(1, MOST_REPLICATIONS),
        metavar="N",
        help=f"number of runs, each with its own random draws; default: {otherwise}",
    )


def replication(parser: ArgumentParser) -> None:
    """Add the choice of a single replication."""
    parser.add_argument(
        "--replication",
        type=whole_number(0, MOST_REPLICATIONS - 1),
        metavar="K",
        help="run only replication K, counted from 0",
    )


def seed(parser: ArgumentParser) -> None:
    """Add the seed."""
    parser.add_argument(
        "--seed",
        type=whole_number(0, MOST_SEED),
        metavar="S",
        help="seed of all random streams; default: the scenario's",
    )


def results(parser: ArgumentParser) -> None:
    """Add the options of a command that prints the results of its runs."""
    _runs(parser, "folder for results; runs already in it are not repeated; default: none")
    output_format(parser)


def report(parser: ArgumentParser) -> None:
    """Add the options of a command that writes a report."""
    _runs(parser, "folder for the report; default: NAME-report")
    style(parser)


def _runs(parser: ArgumentParser, out: str) -> None:
    """Add the resources of runs (threads, memory, a cluster), and where results and finished runs are kept."""
    jobs = "number of threads; never changes a result; default: all cores"
    parser.add_argument("--jobs", type=whole_number(1, MOST_JOBS), metavar="J", help=jobs)
    memory(parser)
    cluster = "run on the Dask cluster with this scheduler; needs the package distributed; default: this machine"
    parser.add_argument("--on", metavar="tcp://HOST:PORT", help=cluster)
    workers = "run on a Dask cluster of N processes on this machine; default: none"
    parser.add_argument("--workers", type=whole_number(1, MOST_WORKERS), metavar="N", help=workers)
    file(parser, "--out", metavar="DIR", help=out)
    overwrite(parser)
    shared = f"store of finished runs that commands share, instead of the one in --out; default: ${STORE}"
    file(parser, "--store", default=os.environ.get(STORE) or None, metavar="FILE", help=shared)


def memory(parser: ArgumentParser) -> None:
    """Add the memory limit of runs."""
    limit = "memory limit for runs and results together, such as 4GB; default: half of the machine's memory"
    parser.add_argument("--memory", type=size, metavar="SIZE", help=limit)


def overwrite(parser: ArgumentParser) -> None:
    """Add --overwrite, which allows writing into a folder that holds something else."""
    flag(parser, "--overwrite", help="write into --out even if it holds other files")


def output_format(parser: ArgumentParser) -> None:
    """Add the format of standard output."""
    shown = "format of standard output; default: table"
    parser.add_argument("--format", dest="output_format", choices=FORMATS, default="table", help=shown)


def style(parser: ArgumentParser, default: str | None = STYLES[0]) -> None:
    """Add the style of figures."""
    shown = "size of type in figures: for a paper, or larger for a slide; default: paper"
    parser.add_argument("--style", choices=STYLES, default=default, help=shown)


def where(parser: ArgumentParser, shape: str, help: str) -> None:  # noqa: A002
    """Add a choice of rows or runs by the values of parameters."""
    repeatable(
        parser,
        "--where",
        type=pair(shape),
        metavar=shape,
        help=f"{help}; may be repeated for more values or parameters",
    )


class Print(argparse.Action):
    """An option that prints ``const(parser, value)`` and ends the command."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"dest": argparse.SUPPRESS, "default": argparse.SUPPRESS})

    def __call__(self, parser: ArgumentParser, namespace: object, value: object, option: object = None) -> None:
        """Print the text and exit with status 0."""
        print(self.const(parser, value))
        parser.exit()
