"""The commands on stores of finished runs: ``cellyard store``."""

from __future__ import annotations

import os
from argparse import ArgumentParser

from cellyard.cli import options as options
from cellyard.cli.parser import Group

TEXT = "Stores of finished runs: contents, tables, upkeep."
PLACE = "a store, or a folder of --out"


def store(parser: ArgumentParser) -> None:
    """Add the store of a command, which an environment variable can name instead."""
    default = os.environ.get(options.STORE)
    shown = f"{PLACE}; default: ${options.STORE}"
    if default:
        options.file(parser, "path", nargs="?", default=options.named(default), metavar="FILE", help=shown)
    else:
        options.file(parser, "path", metavar="FILE", help=shown)


def chosen(parser: ArgumentParser) -> None:
    """Add the choice of runs by scenario and engine."""
    parser.add_argument("--scenario", metavar="NAME", help="only runs of scenarios of this name")
    parser.add_argument("--engine", metavar="BUILD", help="only runs of this build of the engine")


def add(group: Group) -> None:
    """Add the commands of ``cellyard store``."""
    text = "Show what is in a store: runs by scenario and engine, dates."
    show = group.command("show", "store_show", text, "cellyard store show runs.sqlite")
    store(show)
    options.output_format(show)

    text = (
        "Ask in SQL. Tables: runs (totals), vcs, vc_ports, transfers, back, end_systems, ports, port_classes, classes, kept, "
        "scenarios, parameters, series, trace. Needs the extra data."
    )
    example = "cellyard store query runs.sqlite 'SELECT avg(fairness) FROM runs'"
    query = group.command("query", "store_query", text, example)
    options.file(query, "path", metavar="FILE", help=PLACE)
    query.add_argument("sql", metavar="SQL", help="a statement of DuckDB")
    options.output_format(query)

    text = (
        "Print a scenario of the store as a file. With its --replication a stored run is made again: "
        "cellyard run again.toml --replication 7."
    )
    scenario = group.command("scenario", "store_scenario", text, "cellyard store scenario runs.sqlite 3f2a >again.toml")
    options.file(scenario, "path", metavar="FILE", help=PLACE)
    scenario.add_argument("which", metavar="HASH", help="its hash in the tables, or the beginning of it")

    text = (
        "Write tables of the runs as Parquet or CSV. Writes all tables but the points of probes, which --table series and "
        "--table trace ask for. Needs the extra data."
    )
    export = group.command(
        "export", "store_export", text, "cellyard store export runs.sqlite --out tables --format csv"
    )
    store(export)
    options.file(export, "--out", required=True, metavar="DIR", help="folder for the tables")
    options.several(export, "--table", dest="tables", metavar="T", help="only this table; may be repeated")
    kind = "format of the files; default: parquet"
    export.add_argument("--format", dest="file_format", choices=("parquet", "csv"), default="parquet", help=kind)
    chosen(export)
    options.overwrite(export)

    example = "cellyard store merge all.sqlite one.sqlite other.sqlite"
    merge = group.command("merge", "store_merge", "Add the runs of other stores.", example)
    options.file(merge, "path", metavar="FILE", help="the store that gets the runs; made if it does not exist")
    options.file(merge, "others", nargs="+", metavar="OTHER", help="stores to take them from")

    text = "Remove runs that match every given condition."
    prune = group.command("prune", "store_prune", text, "cellyard store prune runs.sqlite --older-engines --dry-run")
    store(prune)
    older = "runs of all builds but this engine's, or but the last where the store has none of this engine"
    options.flag(prune, "--older-engines", help=older)
    chosen(prune)
    options.flag(prune, "--damaged", dest="only_damaged", help="runs that are not as they were written")
    options.flag(prune, "--dry-run", help="print what would be removed, and remove nothing")

    text = "Compare runs between two builds of the engine. Shows which numbers of the same runs moved, and by how much."
    diff = group.command("diff", "store_diff", text, "cellyard store diff runs.sqlite")
    store(diff)
    earlier = "the earlier build, or the beginning of its name; default: the last but one"
    diff.add_argument("--from", dest="before", metavar="BUILD", help=earlier)
    later = "the later build, or the beginning of its name; default: the last"
    diff.add_argument("--to", dest="after", metavar="BUILD", help=later)
    diff.add_argument("--scenario", metavar="NAME", help="only runs of scenarios of this name")
    options.output_format(diff)
