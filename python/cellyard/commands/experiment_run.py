"""The commands ``cellyard experiment run`` and ``cellyard experiment report``: an experiment and its answer."""

import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellyard.commands import laboratory, tables, texts
from cellyard.commands.picture import Picture, add_figure
from cellyard.experiment import reading
from cellyard.experiment.experiment import Experiment, Outcome
from cellyard.experiment.plan import Plan
from cellyard.experiment.questions.question import Question
from cellyard.outputs.options import RunOptions
from cellyard.scenario import read_text
from cellyard.scenario.file_kind import other_kind
from cellyard.show.table import Table, csv_pieces
from cellyard.show.text import dump_pieces
from cellyard.study import folder as user_study
from cellyard.system.errors import ExperimentError, UsageError
from cellyard.system.files import FileSet
from cellyard.system.terminal import printable

#: Limit on table rows on the page. The files next to it have all.
MOST_ROWS = 200


def command(path: Path, *, options: RunOptions, output_format: str = "table", style: str | None = None) -> int:
    """Run the experiment, write and print its results; returns the exit status. With a ``style`` of figures, writes a report."""
    return laboratory.run(ExperimentWork(*load(path)), options, output_format=output_format, style=style)


def load(path: Path) -> tuple[str, Experiment]:
    """The text of a description and its experiment. Before code of a user's study runs, prints which."""
    text, plan, question = outline(path)
    if plan.code:
        print(user_study.code_line(plan.code, ["scenario"]), file=sys.stderr)
        plan, question = reading.read_toml(text, str(path), _description_folder(path), run_code=True)
    return text, Experiment.from_plan(plan, question)


def _description_folder(path: Path) -> Path:
    """The folder of a description's files."""
    return Path() if str(path) == "-" else path.parent


def outline(path: Path) -> tuple[str, Plan, Question]:
    """The text of a description, with its plan and question as far as they are known without running code of a user's study."""
    text = read_text(path)
    try:
        return text, *reading.read_toml(text, str(path), _description_folder(path), run_code=False)
    except ExperimentError:
        if message := other_kind(text, "experiment"):
            raise UsageError(printable(f"{path}: {message}")) from None
        raise


class ExperimentWork(laboratory.Work):
    """An experiment, with the text of its description."""

    kind, results = "experiment", "runs"

    def __init__(self, text: str, experiment: Experiment) -> None:
        self._text, self._expected = text, experiment.expected()
        self.name = self.report_folder = experiment.name
        self.total, self.points, self.at_most = self._expected.runs, self._expected.points, self._expected.at_most
        self.outcome = Outcome(experiment)

    def run(self, engine: Mapping[str, Any], on_progress: Callable[..., None]) -> None:
        """Ask the question."""
        self._runner = self.outcome.experiment.engine(on_progress, **engine)
        self.outcome.ask(self._runner)

    @property
    def finished(self) -> str:
        """How many runs have finished."""
        return f"{self.outcome.runs} of {'at most ' * self._expected.at_most}{self.total} runs finished"

    def document(self, wall_seconds: float) -> dict[str, Any]:
        """The document of the outcome."""
        timing = {"cpu_seconds": self._runner.cpu_seconds, "wall_seconds": wall_seconds}
        return {**self.outcome.to_dict(), "timing": timing}

    def records(self, document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The points."""
        points: Sequence[Mapping[str, Any]] = document["points"]
        return points

    def text(self, document: Mapping[str, Any], out: Path | None) -> str:
        """The answer, its tables, and the points."""
        return texts.of_experiment(document, out)

    def add(self, files: FileSet, document: Mapping[str, Any]) -> None:
        """Add the description, the base scenario, the document, and CSV files of points, runs and answer tables."""
        files.add("experiment.toml", self._text)
        files.add("base.toml", self.outcome.experiment.plan.base.to_toml())
        files.add("results.json", itertools.chain(dump_pieces(document), "\n"))
        files.add("points.csv", Table.from_records(document["points"]).csv())
        files.add("runs.csv", csv_pieces(self.outcome.records))
        for title, records in tables.answer_tables(document).items():
            files.add(f"{title}.csv", Table.from_records(records).csv())

    def add_report(self, files: FileSet, document: Mapping[str, Any]) -> None:
        """Add the page and the figures."""
        from cellyard.experiment.figures import figures

        experiment = self.outcome.experiment
        pictures = [add_figure(files, drawn) for drawn in figures(document, **experiment.figure_facts)]
        files.add("index.html", page(document, pictures, text=self._text, base=f"Base: {experiment.plan.base_summary}"))


def page(document: Mapping[str, Any], pictures: Sequence[Picture], *, text: str, base: str) -> str:
    """The whole HTML page, figures included."""
    from cellyard.show import pages

    shown = {tables.heading(name, document).capitalize(): table for name, table in tables.of_outcome(document).items()}
    return pages.html(
        "experiment.html", document=document, figures=pictures, tables=shown, most=MOST_ROWS, text=text, base=base
    )
