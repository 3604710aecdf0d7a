"""The command line. Heavy imports wait until a command needs them: ``cellyard --help`` is instant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

from cellyard import cli_store, declare, signals, terminal
from cellyard.cli_command import Format, command, guarded
from cellyard.cli_store import StoreFile
from cellyard.limits import MOST_JOBS, MOST_REPLICATIONS, MOST_SEED, MOST_WORKERS

app = declare.Group(
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="A laboratory for TCP over cell-switched (ATM) networks, simulated cell by cell.",
    epilog="Example: cellyard study run ubr-plus --table 2-3",
)
study_app = declare.Group(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Published studies, simulated beside what was printed.",
    epilog="Example: cellyard study list",
)
app.add_group(study_app, name="study")
app.add_group(cli_store.app, name="store")
experiment_app = declare.Group(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Experiments: a question, and many runs to answer it.",
    epilog="Example: cellyard example --experiments buffer > buffer.toml",
)
app.add_group(experiment_app, name="experiment")


class Kernel(StrEnum):
    """How ports move cells; ``twin`` is the reference engine."""

    auto = "auto"
    arithmetic = "arithmetic"
    slotted = "slotted"
    twin = "twin"


def _beginning(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """For the completion of a name that the shell has a beginning of; ``names`` are imported only then."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def _components() -> Iterable[str]:
    import json

    from cellyard import _engine

    families = json.loads(_engine.registry())["families"]
    return sorted({c["name"] for family in families for c in (family, *family["components"])})


def _examples() -> Iterable[str]:
    from cellyard import ready

    return ready.names()


def _studies() -> Iterable[str]:
    from cellyard.study import studies

    return sorted(studies())


ScenarioFile = Annotated[
    Path, declare.Argument(help="Scenario in TOML; - reads standard input.", metavar="SCENARIO.toml")
]
Overrides = Annotated[
    list[str] | None,
    declare.Option(
        "--set", help="Replace a value, or `default` to take it away; may be repeated.", metavar="PATH=VALUE"
    ),
]
Grid = Annotated[
    list[str] | None,
    declare.Option(help="Run with each of these values; several make a grid.", metavar="PATH=a,b,c"),
]
StudyName = Annotated[
    str,
    declare.Argument(
        help="Name of the study (see `cellyard study list`), or the folder of one of your own.",
        metavar="NAME",
        autocompletion=_beginning(_studies),
    ),
]
Tables = Annotated[list[str] | None, declare.Option("--table", help="Only this table; may be repeated.", metavar="T")]
Where = Annotated[
    list[str] | None,
    declare.Option(
        help="Only rows with this value of a parameter (a column of the table); may be repeated, also for more values of one.",
        metavar="KEY=VALUE",
    ),
]


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Reads a whole number within bounds; what is none is refused with both bounds."""

    def number(text: str | int) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise declare.BadParameter(f"'{str(text)[:60]}' must be a whole number from {least} to {most}")
        return value

    return number


Replications = Annotated[
    int | None,
    declare.Option(
        parser=_whole(1, MOST_REPLICATIONS),
        metavar="N",
        help="Runs of an ensemble, each with its own draws; without it one run as stated.",
    ),
]
Replication = Annotated[
    int | None,
    declare.Option(
        parser=_whole(0, MOST_REPLICATIONS - 1),
        metavar="K",
        help="Only this one of the replications, which are numbered from 0.",
    ),
]
Draws = Annotated[
    int,
    declare.Option(
        "--replications",
        parser=_whole(1, MOST_REPLICATIONS),
        metavar="N",
        help="Runs of each row, each with its own draws.",
    ),
]
Seed = Annotated[
    int | None, declare.Option(parser=_whole(0, MOST_SEED), metavar="S", help="Seed of every random stream.")
]
Jobs = Annotated[
    int | None,
    declare.Option(
        parser=_whole(1, MOST_JOBS), metavar="J", help="Threads; all cores by default. Changes only the time taken."
    ),
]


OnCluster = Annotated[
    str | None,
    declare.Option(
        "--on", help="Run on the Dask cluster with this scheduler; needs the extra `dask`.", metavar="tcp://HOST:PORT"
    ),
]
LocalWorkers = Annotated[
    int | None,
    declare.Option(
        "--workers",
        parser=_whole(1, MOST_WORKERS),
        metavar="N",
        help="Run on a Dask cluster of N processes of this machine.",
    ),
]
Memory = Annotated[
    str | None,
    declare.Option(
        help="What the runs and their results may need together, as 4GB. Default: half of the machine's memory.",
        metavar="SIZE",
    ),
]


def _folder(text: str) -> Path:
    """A folder that is named; the empty name of an unset shell variable would be the current one."""
    if not text.strip():
        raise declare.BadParameter("an empty name; . is the current folder")
    return Path(text)


Out = Annotated[
    Path | None,
    declare.Option(
        help="Folder for results; runs that it already holds are not run again.", metavar="DIR", parser=_folder
    ),
]
Overwrite = Annotated[bool, declare.Option("--overwrite", help="Write into --out even if it holds something else.")]
OutputFormat = Annotated[Format, declare.Option("--format", help="What to print on standard output.")]


def pairs(option: str, texts: list[str] | None, *, key: str = "") -> list[tuple[str, str]]:
    """Options like ``KEY=VALUE``, split at the first equals sign."""
    from cellyard.errors import UsageError

    found = []
    for text in texts or ():
        path, equals, value = text.partition("=")
        if not (path.strip() and equals and value.strip()):
            word = key or ("KEY" if option == "--where" else "PATH")
            raise UsageError(f"{option} '{text[:60]}': must be {word}={'a,b,c' if option == '--grid' else 'VALUE'}")
        found.append((path.strip(), value.strip()))
    return found


def _version(wanted: bool) -> None:
    if wanted:
        import typer

        from cellyard import _engine

        print(f"cellyard {_engine.version()}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, declare.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A laboratory for TCP over cell-switched (ATM) networks, simulated cell by cell."""


@command(app, "run", "cellyard run lan-5.toml --grid switch.west.ubr.drop=tail-drop,epd,fba --replications 20")
def run(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    grid: Grid = None,
    replications: Replications = None,
    replication: Replication = None,
    seed: Seed = None,
    jobs: Jobs = None,
    out: Out = None,
    overwrite: Overwrite = False,
    store: StoreFile = None,
    on: OnCluster = None,
    workers: LocalWorkers = None,
    output_format: OutputFormat = Format.table,
    kernel: Annotated[
        Kernel,
        declare.Option(
            help="Force the kernel of all ports: arithmetic (one class), slotted, or twin, the reference engine (no series). "
            "Changes no number."
        ),
    ] = Kernel.auto,
    memory: Memory = None,
    plot: Annotated[
        Path | None,
        declare.Option(
            help="Draw the series of the probes of a single run into a PNG, SVG or PDF file.", metavar="FILE"
        ),
    ] = None,
    plot_from: Annotated[
        str | None,
        declare.Option(help="Draw from this time on, as in '0.5 s'; the beginning by default.", metavar="TIME"),
    ] = None,
    plot_to: Annotated[
        str | None, declare.Option(help="Draw up to this time; the end by default.", metavar="TIME")
    ] = None,
) -> int:
    """Simulate a scenario: what each VC, port and class got."""
    from cellyard.commands import run

    return run.command(
        scenario,
        overrides=pairs("--set", overrides),
        grid=pairs("--grid", grid),
        replications=replications,
        replication=replication,
        seed=seed,
        jobs=jobs,
        out=out,
        overwrite=overwrite,
        store=store,
        on=on,
        workers=workers,
        output_format=output_format.value,
        kernel=kernel.value,
        memory=memory,
        plot=plot,
        plot_from=plot_from,
        plot_to=plot_to,
    )


@command(app, "check", "cellyard check lan-5.toml")
def check(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    grid: Grid = None,
    replications: Replications = None,
    brief: Annotated[
        bool,
        declare.Option("--brief", help="Leave out the resolved scenario, and print the rest on standard output."),
    ] = False,
) -> None:
    """Validate a scenario and draw it; run nothing.

    Prints the resolved scenario with every default on standard output; its topology, the expected cost, with --grid and
    --replications that of all runs, and what has no effect on standard error.
    """
    from cellyard.commands import check

    check.command(
        scenario,
        overrides=pairs("--set", overrides),
        grid=pairs("--grid", grid),
        replications=replications,
        brief=brief,
    )


@command(app, "components", "cellyard components epd")
def components(
    name: Annotated[
        str | None,
        declare.Argument(help="A component or a family.", metavar="NAME", autocompletion=_beginning(_components)),
    ] = None,
) -> None:
    """List components, or show one.

    Parameters with units, ranges and defaults, formula and source of what a scenario can be made of.
    """
    from cellyard.commands import components

    print(components.one(name) if name else components.overview())


@command(app, "example", "cellyard example lan-5 > lan-5.toml")
def example(
    name: Annotated[
        str | None,
        declare.Argument(help="Which one to print.", metavar="NAME", autocompletion=_beginning(_examples)),
    ] = None,
    experiments: Annotated[bool, declare.Option("--experiments", help="Experiments instead of scenarios.")] = False,
) -> None:
    """List ready scenarios or experiments, or print one."""
    from cellyard.commands import example

    print(example.text(name, experiments) if name else example.overview(experiments), end="" if name else "\n")


@command(app, "plot", "cellyard plot results --x buffer --y efficiency --by drop --lines --out buffer.png")
def plot(
    path: cli_store.StorePath,
    out: Annotated[
        Path, declare.Option(help="The figure, a PNG, SVG or PDF file.", metavar="FILE", parser=cli_store.named)
    ],
    x: Annotated[
        str,
        declare.Option(
            "--x",
            help="Parameter that is drawn across: a path of the scenario, or its last words. Without it, an error tells what varies.",
            metavar="PATH",
        ),
    ] = "",
    y: Annotated[
        list[str] | None,
        declare.Option("--y", help="Metric: a total, or a path as in experiments; may be repeated.", metavar="METRIC"),
    ] = None,
    by: Annotated[
        list[str] | None,
        declare.Option("--by", help="A second parameter, and a third that has panels.", metavar="PATH"),
    ] = None,
    where: Annotated[
        list[str] | None,
        declare.Option(
            help="Only runs in which a parameter has this value; may be repeated, also for more values of one.",
            metavar="PATH=VALUE",
        ),
    ] = None,
    lines: Annotated[
        bool, declare.Option("--lines", help="Lines for each value of --by, instead of a heat map.")
    ] = False,
    scenario: cli_store.ScenarioName = None,
    engine: cli_store.EngineBuild = None,
    output_format: OutputFormat = Format.table,
) -> int:
    """Draw stored runs, and print what was drawn.

    Over one parameter, means with the range of the runs; over two a heat map; over three a panel for each value of the third.
    """
    from cellyard.commands import plot

    return plot.command(
        path,
        x=x,
        y=y or [],
        by=by or [],
        where=pairs("--where", where, key="PATH"),
        lines=lines,
        scenario=scenario,
        engine=engine,
        out=out,
        output_format=output_format.value,
    )


@command(study_app, "list", "cellyard study list")
def list_studies() -> None:
    """List the studies and their tables."""
    from cellyard.commands import study_list

    print(study_list.overview())


@command(study_app, "run", "cellyard study run ubr-plus --table 2-3 --where configuration=lan --replications 20")
def run_study(
    name: StudyName,
    table: Tables = None,
    where: Where = None,
    replications: Replications = None,
    seed: Seed = None,
    jobs: Jobs = None,
    memory: Memory = None,
    out: Out = None,
    overwrite: Overwrite = False,
    store: StoreFile = None,
    on: OnCluster = None,
    workers: LocalWorkers = None,
    output_format: OutputFormat = Format.table,
) -> int:
    """Simulate rows beside their published values."""
    from cellyard.commands import study_run

    return study_run.command(
        name,
        tables=table or [],
        where=pairs("--where", where),
        replications=replications,
        seed=seed,
        jobs=jobs,
        memory=memory,
        out=out,
        overwrite=overwrite,
        store=store,
        on=on,
        workers=workers,
        output_format=output_format.value,
    )


@command(study_app, "report", "cellyard study report ubr-plus --out results/ubr-plus")
def report(
    name: StudyName,
    table: Tables = None,
    where: Where = None,
    out: Annotated[
        Path | None, declare.Option(help="Folder of the report; NAME-report by default.", metavar="DIR", parser=_folder)
    ] = None,
    overwrite: Overwrite = False,
    store: StoreFile = None,
    on: OnCluster = None,
    workers: LocalWorkers = None,
    replications: Draws = 20,
    seed: Seed = None,
    jobs: Jobs = None,
    memory: Memory = None,
) -> int:
    """Write a page of tables, figures and claims.

    Tables beside the published ones, figures, claims with their evidence, what is assumed, what does not match.
    """
    from cellyard.commands import study_report

    return study_report.command(
        name,
        tables=table or [],
        where=pairs("--where", where),
        out=out or Path(f"{Path(name).absolute().name}-report"),
        overwrite=overwrite,
        store=store,
        on=on,
        workers=workers,
        replications=replications,
        seed=seed,
        jobs=jobs,
        memory=memory,
    )


ExperimentFile = Annotated[
    Path, declare.Argument(help="Experiment in TOML; - reads standard input.", metavar="EXPERIMENT.toml")
]


@command(experiment_app, "run", "cellyard experiment run buffer.toml --out results/buffer")
def run_experiment(
    experiment: ExperimentFile,
    jobs: Jobs = None,
    memory: Memory = None,
    out: Out = None,
    overwrite: Overwrite = False,
    store: StoreFile = None,
    on: OnCluster = None,
    workers: LocalWorkers = None,
    output_format: OutputFormat = Format.table,
) -> int:
    """Run an experiment and answer its question."""
    from cellyard.commands import experiment_run

    return experiment_run.command(
        experiment,
        jobs=jobs,
        memory=memory,
        out=out,
        overwrite=overwrite,
        store=store,
        on=on,
        workers=workers,
        output_format=output_format.value,
    )


@command(experiment_app, "check", "cellyard experiment check buffer.toml")
def check_experiment(experiment: ExperimentFile) -> None:
    """Validate an experiment and tell what it would take; run nothing."""
    from cellyard.commands import experiment_check

    experiment_check.command(experiment)


@command(experiment_app, "report", "cellyard experiment report buffer.toml --out results/buffer")
def report_experiment(
    experiment: ExperimentFile,
    out: Annotated[
        Path | None, declare.Option(help="Folder of the report; NAME-report by default.", metavar="DIR", parser=_folder)
    ] = None,
    overwrite: Overwrite = False,
    store: StoreFile = None,
    on: OnCluster = None,
    workers: LocalWorkers = None,
    jobs: Jobs = None,
    memory: Memory = None,
) -> int:
    """Run an experiment and write a page of its answer.

    The page also has tables and figures.
    """
    from cellyard.commands import experiment_report

    return experiment_report.command(
        experiment,
        out=out,
        overwrite=overwrite,
        store=store,
        on=on,
        workers=workers,
        jobs=jobs,
        memory=memory,
    )


def main(arguments: list[str] | None = None) -> NoReturn:
    """The command ``cellyard``; ends with `SystemExit`."""
    if arguments is not None:
        sys.argv[1:] = arguments  # results tell how they were asked for
    with terminal.streams(), signals.heard() as asked:
        status = guarded(lambda: _app(arguments))
        if asked:
            terminal.show_cursor()
    sys.exit(signals.BASE + asked[-1] if asked else status)


def _app(arguments: list[str] | None) -> int:
    """The exit status of the parser and of the command that it calls, after all that was printed has gone out."""
    status = declare.run(app, sys.argv[1:] if arguments is None else arguments, name="cellyard", call=guarded)
    if status == 0:
        sys.stdout.flush()
    return status
