"""The commands ``cellyard study run`` and ``cellyard study report``: rows of a study next to their published values."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellyard.commands import laboratory, texts
from cellyard.commands.picture import Picture, add_figure
from cellyard.outputs.options import RunOptions
from cellyard.runs.batch import core_count
from cellyard.runs.expected import outline, seconds
from cellyard.show.table import Table
from cellyard.show.text import dump, json_text, rough_time
from cellyard.statistics.difference import FEWEST
from cellyard.study import Study, folder as user_study, load, select
from cellyard.study.reproduce import Reproduction
from cellyard.study.rows import Rows
from cellyard.system.errors import UsageError
from cellyard.system.files import FileSet
from cellyard.system.limits import MOST_RUNS
from cellyard.system.progress import LINE_SECONDS

#: Work expected to take longer is announced.
LONG_SECONDS = 10.0
#: Fields of a row's document besides its table and parameters.
ROW_PARTS = ("simulated", "published", "range", "note", "not_judged")


def command(
    name: str,
    *,
    tables: Sequence[str],
    where: Sequence[tuple[str, str]],
    options: RunOptions,
    output_format: str = "table",
    style: str | None = None,
) -> int:
    """Simulate, print and write; returns the exit status. With a ``style`` of figures, writes a report."""
    study = load(name)
    rows = select(study, tables, where)
    print_code_files(study)
    replications = options.replications
    if style is not None:
        replications = replications or study.replications
    elif replications is None and (single := study.info.get("single")):
        replications = FEWEST
        print(f"note: each row has {FEWEST} replications, since in single runs {single}", file=sys.stderr)
    work = StudyWork(study, rows, replications=replications, seed=options.seed)
    work.report_folder = Path(name).absolute().name
    work.chosen = [f"--table {table}" for table in dict.fromkeys(tables)]
    work.chosen += [f"--where {key}={value}" for key, value in where]
    return laboratory.run(work, options, output_format=output_format, style=style)


def print_code_files(study: Study) -> None:
    """Before code of a user's folder runs, print its files."""
    if study.is_own:
        print(user_study.code_line(study.folder), file=sys.stderr)


class StudyWork(laboratory.Work):
    """Rows of a study; ``chosen`` holds the options that selected them if they are not all."""

    kind, results = "study", "rows"
    chosen: Sequence[str] = ()

    def __init__(self, study: Study, rows: Rows, *, replications: int | None, seed: int | None) -> None:
        if len(rows) * (replications or 1) > MOST_RUNS:
            raise UsageError(
                f"--replications {replications}: {len(rows)} rows with {replications or 1} runs each are more than {MOST_RUNS} runs; "
                "choose fewer rows or replications"
            )
        self.name, self.study, self._rows = study.name, study, rows
        self.reproduction = Reproduction(study, rows, replications=replications, seed=1 if seed is None else seed)
        self.total = self.reproduction.total

    def run(self, engine: Mapping[str, Any], on_progress: Callable[..., None]) -> None:
        """Simulate. Once it is known which runs are stored, announces the others."""
        self.study = replace(self.study, seed=self.reproduction.seed, engine={**engine, "store": None})
        announced = False

        def report(done: float, points: int) -> None:
            nonlocal announced
            if not announced:
                announced = True
                self._announce_runs(engine)
            on_progress(done, points)

        for _ in self.reproduction.advance(**engine, on_progress=report):
            pass

    def _announce_runs(self, engine: Mapping[str, Any]) -> None:
        """Print the expected time of missing runs if it is long, and the number of stored runs."""
        missing = self.reproduction.missing
        replicated = self.reproduction.replications is not None
        cpu_seconds = sum(seconds(outline(text), replicated=replicated) * count for text, count in missing.items())
        if cpu_seconds < LONG_SECONDS:
            return
        runs = sum(missing.values())
        threads = min(engine["threads"] or core_count(), runs)
        wall_time = (
            "" if engine["on"] else f", {rough_time(cpu_seconds / threads)} on {threads} thread{'s' * (threads > 1)}"
        )
        known = self.total - runs
        beside = f" ({known} already stored)" if known else ""
        announcement = f"{runs} run{'s' * (runs > 1)} to make{beside}, about {rough_time(cpu_seconds)} of CPU time in the engine{wall_time}"
        print(f"{self.name}: {announcement}", file=sys.stderr)

    @property
    def finished(self) -> str:
        """How many rows have finished."""
        return f"{len(self.reproduction.rows)} of {len(self._rows)} rows finished"

    def document(self, wall_seconds: float) -> dict[str, Any]:
        """The document of the reproduction."""
        return self.reproduction.to_dict(wall_seconds=wall_seconds)

    def records(self, document: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows."""
        return records(document)

    def text(self, document: Mapping[str, Any], out: Path | None) -> str:
        """The tables next to the published ones, their agreement, and the claims."""
        return texts.of_study(self.study, self.reproduction, document)

    def add(self, files: FileSet, document: Mapping[str, Any]) -> None:
        """Add the document, the rows, their VCs and their scenarios."""
        files.add(f"{self.name}.json", dump(document) + "\n")
        files.add(f"{self.name}.csv", Table.from_records(records(document)).csv())
        scenarios = map(json_text, scenario_records(self.reproduction))
        files.add(f"{self.name}-scenarios.jsonl", "".join(f"{line}\n" for line in scenarios))
        if vcs := vc_records(document):
            files.add(f"{self.name}-vcs.csv", Table.from_records(vcs).csv())

    def add_report(self, files: FileSet, document: Mapping[str, Any]) -> None:
        """Add the page, its summary and the figures."""
        from cellyard.commands.study_pages import page, summary

        rows = self.reproduction.rows
        figures = draw(self.study, rows, files)
        undrawn = undrawn_note(self.study, len(figures)) if self.chosen else ""
        for name, render in (("README.md", summary), ("index.html", page)):
            files.add(name, render(self.study, rows, document, figures, undrawn=undrawn, chosen=self.chosen))


def draw(study: Study, rows: Rows, files: FileSet) -> list[Picture]:
    """Draw the figures for which ``rows`` suffice, and add each to ``files``."""
    from cellyard.plot import rows as plot_rows

    pictures = []
    started = last_line = time.monotonic()
    drawings = list(plot_rows.drawings(study, rows))
    for drawing in drawings:
        pictures.append(add_figure(files, drawing()))
        if time.monotonic() - last_line >= LINE_SECONDS:
            last_line = time.monotonic()
            far = f"{len(pictures)} of {len(drawings)} figures drawn"
            print(f"{study.name}: {far}, {last_line - started:.0f} s", file=sys.stderr)
    return pictures


def undrawn_note(study: Study, drawn: int) -> str:
    """A sentence that only some figures were drawn; empty when all were."""
    from cellyard.plot import rows as plot_rows

    anything = dict.fromkeys(study.measures.names, 0.0)
    rows = Rows(replace(row, simulated=anything) for table in study.tables.values() for row in table.rows)
    of_all = len(list(plot_rows.drawings(study, rows)))
    return (
        f"{drawn or 'None'} of the study's {of_all} figures: {'the others' if drawn else 'all'} show rows that were not run."
        if drawn < of_all
        else ""
    )


def records(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows for a CSV file with one value per column: ends of ranges separately, VCs left to `vc_records`."""
    found = []
    for row in document["rows"]:
        simulated = {metric: value for metric, value in row["simulated"].items() if not isinstance(value, list)}
        ranges = {metric: {"low": low, "high": high} for metric, (low, high) in row.get("range", {}).items()}
        found.append({**row, "simulated": simulated, **({"range": ranges} if ranges else {})})
    return found


def scenario_records(reproduction: Reproduction) -> list[dict[str, Any]]:
    """One record per row: its table, its parameters, and its scenario as TOML with every default."""
    found = []
    for row in reproduction.rows:
        scenario = reproduction.study.scenario(row).with_seed(reproduction.seed)
        found.append({"table": row.table, **row.parameters, "scenario": scenario.to_toml()})
    return found


def vc_records(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One record per VC of each row, numbered in the scenario's order."""
    found = []
    for row in document["rows"]:
        parameters = {key: value for key, value in row.items() if key not in ROW_PARTS}
        columns = {m.removeprefix("vc_"): values for m, values in row["simulated"].items() if isinstance(values, list)}
        for number, values in enumerate(zip(*columns.values(), strict=True), 1):
            found.append({**parameters, "vc": number, **dict(zip(columns, values, strict=True))})
    return found
