"""The command line. Each command imports its module only when called, so ``cellyard --help`` is fast."""

import argparse
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from cellyard.cli import options as options, store as cli_store
from cellyard.cli.command import exit_status
from cellyard.cli.parser import Group, Parser
from cellyard.commands import USAGE
from cellyard.system import signals, terminal

#: Values of --kernel; `twin` is the reference engine.
KERNELS = ("auto", "arithmetic", "slotted", "twin")
SHELLS = ("bash", "zsh", "tcsh")


def parser() -> Parser:
    """Return the parser of the whole command line."""
    root = Parser(
        prog="cellyard",
        description="A laboratory for TCP over cell-switched (ATM) networks, simulated cell by cell.",
        epilog="Example: cellyard study run ubr-plus --table 2-3",
    )
    root.add_argument("--version", action=options.Print, nargs=0, const=_version, help="print the version")
    completion = "print the completion script for this shell"
    root.add_argument("--print-completion", action=options.Print, choices=SHELLS, const=_completion, help=completion)
    top = Group(root)
    _scenarios(top)
    study = "Reproduce published studies and compare with their printed values."
    _studies(top.group("study", study, "cellyard study list"))
    cli_store.add(top.group("store", cli_store.TEXT, "cellyard store show runs.sqlite"))
    example = "cellyard example --experiments buffer > buffer.toml"
    _experiments(top.group("experiment", "Answer a question with many runs: experiments.", example))
    return root


def _scenarios(top: Group) -> None:
    example = "cellyard run lan-5.toml --grid switch.west.ubr.drop=epd,fba"
    run = top.command("run", "run", "Simulate a scenario and print results per VC, port and class.", example)
    options.scenario(run)
    options.replications(run)
    options.replication(run)
    options.seed(run)
    options.results(run)
    forced = (
        "kernel for all ports; arithmetic needs one class, and cells of one length; twin is the reference engine, which "
        "records envelopes only; "
        "never changes a result; default: auto"
    )
    run.add_argument("--kernel", choices=KERNELS, default="auto", help=forced)
    limit = "end each capture file at this size, such as 1GB; default: 100MB"
    run.add_argument("--capture-limit", type=options.size, metavar="SIZE", help=limit)
    options.file(
        run,
        "--plot",
        metavar="FILE",
        help="draw the probes, by default the queue of the bottleneck, to this PNG, SVG or PDF file",
    )
    run.add_argument(
        "--plot-from",
        metavar="TIME",
        help="start the plot at this time, such as '0.5 s'; default: the start of the run",
    )
    run.add_argument("--plot-to", metavar="TIME", help="end the plot at this time; default: the end of the run")
    options.style(run, default=None)

    text = (
        "Validate a scenario and draw its topology; run nothing. Prints the resolved scenario, with every default, on standard "
        "output. Prints the topology, the expected cost and notes on standard error. The cost covers all runs of --grid and "
        "--replications."
    )
    check = top.command("check", "check", text, "cellyard check lan-5.toml")
    options.scenario(check)
    options.replications(check)
    options.memory(check)
    options.flag(check, "--brief", help="omit the resolved scenario; print the rest on standard output")

    text = "List components, or show one. Shows its formula, source and parameters with units, ranges and defaults."
    listed = top.command("components", "components", text, "cellyard components epd")
    shown = "component or family to show; default: list all"
    options.choice(listed, "name", words=_component_names, nargs="?", metavar="NAME", help=shown)

    text = "List the ready-made scenarios or experiments, or print one."
    ready = top.command("example", "example", text, "cellyard example lan-5 > lan-5.toml")
    options.choice(
        ready, "name", words=_example_names, nargs="?", metavar="NAME", help="example to print; default: list all"
    )
    options.flag(ready, "--experiments", help="list or print experiments instead of scenarios")

    text = "Print a JSON Schema, or write all of them to a folder. Editors complete and check scenario and experiment files with them."
    schema = top.command("schema", "schema", text, "cellyard schema --out schemas")
    named = "schema to print: scenario, experiment or results; default: list all"
    options.choice(schema, "name", words=_schema_names, nargs="?", metavar="NAME", help=named)
    options.file(schema, "--out", metavar="DIR", help="write to this folder; without a NAME, write all")

    text = (
        "Show a scenario in the browser. The page shows queues cell by cell, knobs for all values, and two variants side by side. "
        "Without a file, it opens with a story."
    )
    explore = top.command("explore", "explore", text, "cellyard explore lan-5.toml")
    options.file(explore, "path", nargs="?", metavar="SCENARIO", help="scenario file (TOML)")
    port = options.whole_number(0, 65535)
    explore.add_argument("--port", type=port, default=0, metavar="N", help="TCP port to serve on; default: a free port")
    options.flag(explore, "--no-browser", help="print the address; do not open a browser")
    options.file(
        explore, "--save", metavar="FILE", help="write the whole page to this file instead; it opens without cellyard"
    )

    _plot(top)


def _plot(top: Group) -> None:
    text = "Draw means of stored runs over a parameter, with their intervals. Print the plotted values."
    plot = top.command("plot", "plot", text, "cellyard plot results --x buffer --y efficiency --out buffer.png")
    cli_store.store(plot)
    options.file(plot, "--out", required=True, metavar="FILE", help="figure to write: a PNG, SVG or PDF file")
    across = "parameter on the x axis: its path in the scenario, or the end of that path; if omitted, an error lists what varies"
    plot.add_argument("--x", default="", metavar="PATH", help=across)
    metric = "metric: a total, or a path as in experiments; may be repeated"
    options.repeatable(plot, "--y", metavar="METRIC", help=metric)
    of_files = "draw the distribution of the durations of files at each value of --x, in place of a metric"
    options.flag(plot, "--cdf", help=of_files)
    options.where(plot, "PATH=VALUE", "only runs with this value of a parameter")
    cli_store.run_filters(plot)
    options.style(plot)
    plot.add_argument("--title", metavar="TEXT", help="title of the figure; default: what it shows")
    plot.add_argument(
        "--width", type=options.inches, metavar="INCHES", help="width of the figure; default: what it needs"
    )
    named = "label of an axis or a metric, which are named as by --x and --y; may be repeated"
    options.repeatable(plot, "--label", type=options.pair("NAME=TEXT"), metavar="NAME=TEXT", dest="labels", help=named)
    options.output_format(plot)


def _studies(study: Group) -> None:
    study.command("list", "study_list", "List the studies and their tables.", "cellyard study list")
    example = "cellyard study run ubr-plus --table 2-3 --replications 20"
    run = study.command(
        "run", "study_run", "Simulate rows of a study and compare them with the published values.", example
    )
    _rows(run)
    options.replications(run)
    options.seed(run)
    options.results(run)

    text = "Print the scenario of a row as a file, to run or to vary it."
    example = "cellyard study scenario ubr-plus --table 4 --where z=0.95"
    _rows(study.command("scenario", "study_scenario", text, example))

    text = (
        "Simulate a study and write a report. The report compares tables with the published ones. It shows figures, claims with "
        "their evidence, assumptions, and mismatches."
    )
    report = study.command("report", "study_run", text, "cellyard study report ubr-plus --out results/ubr-plus")
    _rows(report)
    options.replications(report, otherwise="as the study states, usually 30")
    options.seed(report)
    options.report(report)


def _rows(command: ArgumentParser) -> None:
    """Add the study of a command and the choice of its rows."""
    name = "name of a study (see cellyard study list), or the folder of your study, such as ./NAME"
    options.choice(command, "name", words=_study_names, metavar="NAME", help=name)
    options.repeatable(
        command, "--table", dest="tables", metavar="T", help="only this table; may be repeated; default: all"
    )
    options.where(command, "KEY=VALUE", "only rows with this value of a parameter (a column of the table)")


def _experiments(experiment: Group) -> None:
    example = "cellyard experiment run buffer.toml --out results/buffer"
    run = experiment.command("run", "experiment_run", "Run an experiment and answer its question.", example)
    options.experiment(run)
    options.results(run)

    text = "Validate an experiment and estimate its cost; run nothing."
    check = experiment.command("check", "experiment_check", text, "cellyard experiment check buffer.toml")
    options.experiment(check)
    options.memory(check)

    text = "Run an experiment and write a report. The report has the answer, tables and figures."
    example = "cellyard experiment report buffer.toml --out results/buffer"
    report = experiment.command("report", "experiment_run", text, example)
    options.experiment(report)
    options.report(report)


def _component_names() -> list[str]:
    import json

    from cellyard import _engine

    families = json.loads(_engine.registry())["families"]
    return sorted({c["name"] for family in families for c in (family, *family["components"])})


def _example_names() -> list[str]:
    from cellyard.scenario import examples

    return examples.names()


def _schema_names() -> list[str]:
    from cellyard.system import schemas

    return list(schemas.NAMES)


def _study_names() -> list[str]:
    from cellyard.study import studies

    return sorted(studies())


def _version(parser: ArgumentParser, value: object) -> str:
    from cellyard import _engine

    return f"cellyard {_engine.version()}"


def _completion(root: ArgumentParser, shell: object) -> str:
    import shtab

    for action in commands(root).values():
        for option in action._actions:
            if words := getattr(option, "words", None):
                option.choices = words()
    return shtab.complete(root, str(shell))


def commands(root: ArgumentParser) -> dict[tuple[str, ...], ArgumentParser]:
    """Return the parsers of all commands below a parser, by their words."""
    found: dict[tuple[str, ...], ArgumentParser] = {}
    for action in root._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                further = commands(below)
                found |= {(name, *words): parser for words, parser in further.items()} or {(name,): below}
    return found


def run(arguments: Sequence[str]) -> int:
    """Run the command of a command line and return its exit status."""
    try:
        found, unknown = parser().parse_known_args(arguments)
        values = vars(found)
        if "module" not in values:
            values["shows_help"].print_help(sys.stderr)
            return USAGE
        if unknown:
            _refuse(values["reads"], unknown[0])
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    command = import_module(f"cellyard.commands.{values.pop('module')}").command
    del values["shows_help"], values["reads"]
    if "jobs" in values:
        from cellyard.outputs.options import RunOptions

        own = {name: values.pop(name) for name in RunOptions.__dataclass_fields__ if name in values}
        values["options"] = RunOptions(**own)
    status: int | None = command(**values)
    return status or 0


def _refuse(command: ArgumentParser, word: str) -> NoReturn:
    """Exit with an error about an unknown option or an unexpected argument."""
    if not word.startswith("-"):
        command.error(f"unexpected argument `{word}`")
    import difflib

    names = [name for action in command._actions for name in action.option_strings]
    near = difflib.get_close_matches(word.partition("=")[0], names, 1)
    command.error(f"unknown option `{word}`" + (f"; did you mean `{near[0]}`?" if near else ""))


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command ``cellyard``; ends with `SystemExit`."""
    if arguments is not None:
        sys.argv[1:] = arguments  # results record the command line
    with terminal.safe_streams(), signals.as_interrupts() as received:
        status = exit_status(lambda: _flushed(arguments))
        if received:
            terminal.show_cursor()
    sys.exit(signals.STATUS_BASE + received[-1] if received else status)


def _flushed(arguments: list[str] | None) -> int:
    """Return the exit status of a command after flushing its output."""
    status = run(sys.argv[1:] if arguments is None else arguments)
    if status == 0:
        sys.stdout.flush()
    return status
