"""The commands of ``cellyard store``, on stores of finished runs."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from cellyard.cli import options as options
from cellyard.cli.parser import Group

TEXT = "Inspect, query, export and prune stores of finished runs."
STORE_HELP = "store file, or a folder written with --out"


def store(parser: ArgumentParser) -> None:
    """Add the store of a command; an environment variable gives its default."""
    shown = f"{STORE_HELP}; default: ${options.STORE}"
    # argparse reads a default that is a text as if it were given, which reports a missing store.
    default = os.environ.get(options.STORE, "")
    options.file(parser, "path", nargs="?", type=_store_name, default=default, metavar="FILE", help=shown)


def _store_name(text: str) -> Path:
    """Read the name of a store; without one, name both ways to give it."""
    if not text.strip():
        raise ArgumentTypeError(f"no store is named; name a {STORE_HELP}, or set the variable {options.STORE}")
    return Path(text)


def run_filters(parser: ArgumentParser) -> None:
    """Add filters of runs by scenario and engine build."""
    scenario_filter(parser)
    parser.add_argument("--engine", metavar="BUILD", help="only runs of this engine build")


def scenario_filter(parser: ArgumentParser) -> None:
    """Add the filter of runs by scenario."""
    parser.add_argument("--scenario", metavar="NAME", help="only runs of scenarios with this name")


def add(group: Group) -> None:
    """Add the commands of ``cellyard store``."""
    text = "Show the runs in a store by scenario and engine build, with dates."
    show = group.command("show", "store_show", text, "cellyard store show runs.sqlite")
    store(show)
    options.output_format(show)

    text = (
        "Query a store with SQL. Tables: runs (totals), vcs, vc_ports, transfers, back, end_systems, ports, port_classes, "
        "port_inputs, pools, pool_ports, classes, kept, "
        "scenarios, parameters, series, trace. Needs the packages duckdb and polars."
    )
    example = "cellyard store query runs.sqlite 'SELECT avg(fairness) FROM runs'"
    query = group.command("query", "store_query", text, example)
    options.file(query, "path", metavar="FILE", help=STORE_HELP)
    query.add_argument("sql", metavar="SQL", help="SQL statement (DuckDB)")
    options.output_format(query)

    text = (
        "Print a stored scenario as TOML. To repeat a stored run, give its replication: "
        "cellyard run again.toml --replication 7."
    )
    scenario = group.command("scenario", "store_scenario", text, "cellyard store scenario runs.sqlite 3f2a >again.toml")
    options.file(scenario, "path", metavar="FILE", help=STORE_HELP)
    scenario.add_argument(
        "which", metavar="HASH", help="hash of the scenario, as the tables show it, or the beginning of the hash"
    )

    text = (
        "Write tables of the runs as Parquet or CSV files. Points of probes are written only with --table series and "
        "--table trace. Needs the package polars."
    )
    export = group.command(
        "export", "store_export", text, "cellyard store export runs.sqlite --out tables --format csv"
    )
    store(export)
    options.file(export, "--out", required=True, metavar="DIR", help="folder for the tables")
    options.repeatable(
        export,
        "--table",
        dest="tables",
        metavar="T",
        help="only this table; may be repeated; default: all but series and trace",
    )
    kind = "format of the files; default: parquet"
    export.add_argument("--format", dest="file_format", choices=("parquet", "csv"), default="parquet", help=kind)
    run_filters(export)
    options.overwrite(export)

    example = "cellyard store merge all.sqlite one.sqlite other.sqlite"
    merge = group.command("merge", "store_merge", "Copy the runs of other stores into one store.", example)
    options.file(merge, "path", metavar="FILE", help="store to copy the runs into; created if it does not exist")
    options.file(merge, "others", nargs="+", metavar="OTHER", help="stores to copy the runs from")

    text = "Remove runs that match every given condition."
    prune = group.command("prune", "store_prune", text, "cellyard store prune runs.sqlite --damaged")
    store(prune)
    scenario_filter(prune)
    options.flag(
        prune,
        "--damaged",
        dest="only_damaged",
        help="damaged runs: their stored data have changed since they were written",
    )

    text = "Compare runs between the last two builds of the engine. Shows which numbers of the same runs changed, and by how much."
    diff = group.command("diff", "store_diff", text, "cellyard store diff runs.sqlite")
    store(diff)
    scenario_filter(diff)
    options.output_format(diff)
