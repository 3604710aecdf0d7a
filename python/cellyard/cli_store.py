"""The commands on stores of finished runs: ``cellyard store``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from cellyard import declare
from cellyard.cli_command import Format, command

#: Names the store that commands share.
VARIABLE = "CELLYARD_STORE"

app = declare.Group(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Stores of finished runs: what is in them, tables, upkeep.",
    epilog="Example: cellyard store show runs.sqlite",
)


class FileFormat(StrEnum):
    """What tables are written as."""

    parquet = "parquet"
    csv = "csv"


def named(text: str) -> Path:
    """A file or folder that is named; the empty name of an unset shell variable would be the current folder."""
    if not text.strip():
        raise declare.BadParameter("an empty name")
    return Path(text)


StoreFile = Annotated[
    Path | None,
    declare.Option(
        "--store",
        help="File of finished runs that commands share, instead of one in --out; runs that it holds are not run again.",
        metavar="FILE",
        parser=named,
        envvar=VARIABLE,
    ),
]

StorePath = Annotated[
    Path, declare.Argument(help="A store, or a folder of --out.", metavar="FILE", parser=named, envvar=VARIABLE)
]
TableFormat = Annotated[Format, declare.Option("--format", help="What to print on standard output.")]
ScenarioName = Annotated[
    str | None, declare.Option("--scenario", help="Only runs of scenarios of this name.", metavar="NAME")
]
EngineBuild = Annotated[
    str | None, declare.Option("--engine", help="Only runs of this build of the engine.", metavar="BUILD")
]


@command(app, "show", "cellyard store show runs.sqlite")
def show(path: StorePath, output_format: TableFormat = Format.table) -> int:
    """Tell what is in a store: runs by scenario and engine, dates."""
    from cellyard.commands import store_show

    return store_show.command(path, output_format=output_format.value)


@command(app, "query", "cellyard store query runs.sqlite 'SELECT scenario_name, avg(fairness) FROM runs GROUP BY ALL'")
def query(
    path: Annotated[Path, declare.Argument(help="A store, or a folder of --out.", metavar="FILE", parser=named)],
    sql: Annotated[str, declare.Argument(help="A statement of DuckDB.", metavar="SQL")],
    output_format: TableFormat = Format.table,
) -> int:
    """Ask in SQL.

    Tables: runs (totals), vcs, vc_ports, transfers, back, end_systems, ports, port_classes, classes, kept, scenarios, series, trace.
    Needs the extra `data`.
    """
    from cellyard.commands import store_query

    return store_query.command(path, sql, output_format=output_format.value)


@command(app, "scenario", "cellyard store scenario runs.sqlite 3f2a >again.toml")
def scenario(
    path: Annotated[Path, declare.Argument(help="A store, or a folder of --out.", metavar="FILE", parser=named)],
    which: Annotated[str, declare.Argument(help="Its hash in the tables, or the beginning of it.", metavar="HASH")],
) -> int:
    """Print a scenario of the store as a file.

    With its --replication a stored run is made again: cellyard run again.toml --replication 7.
    """
    from cellyard.commands import store_scenario

    return store_scenario.command(path, which)


@command(app, "export", "cellyard store export runs.sqlite --out tables --format csv")
def export(
    path: StorePath,
    out: Annotated[Path, declare.Option(help="Folder for the tables.", metavar="DIR", parser=named)],
    table: Annotated[
        list[str] | None, declare.Option("--table", help="Only this table; may be repeated.", metavar="T")
    ] = None,
    file_format: Annotated[FileFormat, declare.Option("--format", help="Kind of file.")] = FileFormat.parquet,
    scenario: ScenarioName = None,
    engine: EngineBuild = None,
    overwrite: Annotated[
        bool, declare.Option("--overwrite", help="Write into --out even if it holds something else.")
    ] = False,
) -> int:
    """Write tables of the runs as Parquet or CSV.

    All tables but the points of probes, which `--table series` and `--table trace` ask for. Needs the extra `data`.
    """
    from cellyard.commands import store_export

    return store_export.command(
        path,
        out=out,
        tables=table or [],
        file_format=file_format.value,
        scenario=scenario,
        engine=engine,
        overwrite=overwrite,
    )


@command(app, "merge", "cellyard store merge all.sqlite one.sqlite other.sqlite")
def merge(
    path: Annotated[
        Path, declare.Argument(help="The store that gets the runs; made if need be.", metavar="FILE", parser=named)
    ],
    others: Annotated[list[Path], declare.Argument(help="Stores to take them from.", metavar="OTHER...", parser=named)],
) -> int:
    """Add the runs of other stores."""
    from cellyard.commands import store_merge

    return store_merge.command(path, others)


@command(app, "prune", "cellyard store prune runs.sqlite --older-engines --dry-run")
def prune(
    path: StorePath,
    older_engines: Annotated[
        bool,
        declare.Option(
            "--older-engines", help="Runs of all builds but this engine's, or but the last where that has none."
        ),
    ] = False,
    engine: EngineBuild = None,
    scenario: ScenarioName = None,
    damaged: Annotated[bool, declare.Option("--damaged", help="Runs that are not as they were written.")] = False,
    dry_run: Annotated[
        bool, declare.Option("--dry-run", help="Tell what would be removed, and remove nothing.")
    ] = False,
) -> int:
    """Remove runs, those for which all holds that is asked for."""
    from cellyard.commands import store_prune

    return store_prune.command(
        path, older_engines=older_engines, engine=engine, scenario=scenario, only_damaged=damaged, dry_run=dry_run
    )


@command(app, "diff", "cellyard store diff runs.sqlite")
def diff(
    path: StorePath,
    before: Annotated[
        str | None,
        declare.Option(
            "--from", help="The earlier build, or its beginning; the last but one by default.", metavar="BUILD"
        ),
    ] = None,
    after: Annotated[
        str | None,
        declare.Option("--to", help="The later build, or its beginning; the last by default.", metavar="BUILD"),
    ] = None,
    scenario: ScenarioName = None,
    output_format: TableFormat = Format.table,
) -> int:
    """Compare runs between two builds of the engine.

    Tells which numbers of the same runs moved, and by how much.
    """
    from cellyard.commands import store_diff

    return store_diff.command(path, before=before, after=after, scenario=scenario, output_format=output_format.value)
