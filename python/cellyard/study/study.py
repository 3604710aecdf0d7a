"""A published study as data plus small scripts; `cellyard.study.reproduce` runs it.

A study is a folder with these files:

* ``study.toml``: citation, shared values, assumptions;
* ``tables/*.csv``: the tables as published;
* ``scenario.py``: makes a scenario from a row of a table;
* ``claims.py``: claims of the text, and whether they hold;
* ``figures.py``;
* ``metrics.py``, if a metric needs code.

Cellyard's studies are next to this file; users keep theirs anywhere. `load` reads ``study.toml`` as
data. Code of a study runs only through `Study.part`.
"""

import csv
import importlib
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from cellyard.results import RunResult
from cellyard.scenario import Scenario
from cellyard.show.notebook import sentences_html, table_html
from cellyard.study import folder as user_study
from cellyard.study.metrics import Measures, read as read_measures
from cellyard.study.rows import PRINTED, Row as Row, Rows as Rows, Value
from cellyard.study.verdicts import Verdict
from cellyard.system.errors import ScenarioError, UsageError, unknown
from cellyard.system.terminal import printable
from cellyard.system.values import file_path

FOLDER = Path(__file__).parent.parent / "studies"

#: Default replications of each row in a report. They narrow the 95 % interval of a fairness with
#: deviation 0.05 to less than 0.04.
REPLICATIONS = 30


@dataclass(frozen=True)
class Claim:
    """A claim in a study's text, judged on the rows of the tables it needs."""

    text: str
    tables: tuple[str, ...]
    judge: Callable[[Rows], Verdict]


def claim(text: str, *tables: str) -> Callable[[Callable[[Rows], Verdict]], Claim]:
    """Decorator that makes a function of rows a `Claim`. The claim is judged when all of ``tables`` were run."""
    return lambda judge: Claim(text, tables, judge)


def count(pairs: Iterable[bool]) -> tuple[int, int]:
    """Number of true values, and number of all.

    >>> count([True, False, True])
    (2, 3)
    """
    held = list(pairs)
    return sum(held), len(held)


@dataclass(frozen=True)
class Table:
    """A table of a study; ``metrics`` are its published columns. ``published`` is false for rows that Cellyard adds.

    ``beside`` names a table with the same rows but one option changed. The results become a second
    column there and do not count in the overall agreement. ``text`` is shown below the title in a
    report.
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    rows: Rows
    published: bool
    beside: str | None = None
    text: str = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameter columns."""
        return tuple(self.rows[0].parameters) if self.rows else ()


@dataclass(frozen=True)
class Study:
    """A study: its folder and what its files say.

    With a ``seed``, scenarios of rows use it. ``engine`` holds further arguments of
    `cellyard.runs.batch.run_jobs` for `runs`.
    """

    name: str
    folder: Path
    info: Mapping[str, Any]
    seed: int | None = None
    engine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Title of the publication."""
        return str(self.info["citation"]["title"])

    @property
    def question(self) -> str:
        """The study's question, in a sentence."""
        return str(self.info["question"])

    @property
    def in_short(self) -> str:
        """The first sentence of the stored answer, from the summary next to the tables; empty without one."""
        try:
            summary = (self.folder / "README.md").read_text(encoding="utf-8")
        except OSError:
            return ""
        return summary.partition("\n## Answer\n\n")[2].partition("\n")[0].removeprefix("1. ")

    @property
    def key_figure(self) -> str:
        """Name of the figure below the answer; empty for the first that is drawn."""
        return str(self.info.get("key_figure", ""))

    def _repr_html_(self) -> str:
        """Show the question, the stored answer, and the tables."""
        tables = [[name, len(table.rows), table.title] for name, table in self.tables.items()]
        sentences = [self.question, *([self.in_short] if self.in_short else [])]
        return sentences_html(f"{self.name}: {self.title}", sentences) + table_html(["table", "rows", "title"], tables)

    @property
    def group_by(self) -> tuple[str, ...]:
        """Parameters by whose values agreement is also summarised."""
        return tuple(self.info.get("group_by", ()))

    @cached_property
    def tables(self) -> dict[str, Table]:
        """Tables by name, in order."""
        return {entry["name"]: _read_table(self, entry) for entry in self.info["table"]}

    @property
    def centre(self) -> str:
        """Statistic for an ensemble's ``simulated`` values: ``median`` (default), or ``mean`` if outcomes have two modes.

        With two modes the median is one of them, and a few random outcomes decide which.
        """
        return str(self.info.get("centre", "median"))

    @property
    def replications(self) -> int:
        """Default replications of each row in a report."""
        return int(self.info.get("replications", REPLICATIONS))

    def assumes(self, path: str) -> bool:
        """Whether an assumption has alternatives that set this path of the scenario."""
        return any(path in tried for item in self.info.get("assumed", ()) for tried in item.get("alternatives", ()))

    @property
    def meanings(self) -> Mapping[str, str]:
        """Metrics whose meaning in this study differs from the usual one, with an explanation."""
        return dict(self.info.get("meanings", {}))

    @cached_property
    def measures(self) -> Measures:
        """The metrics of every run; raises `UsageError` if ``[metrics]`` or a column of a table is invalid."""
        file = self.folder / "study.toml"
        measures = read_measures(self.info.get("metrics", {}), file, lambda: self.part("metrics"))
        for table in self.tables.values():
            for metric in table.metrics:
                if metric not in measures.names:
                    raise unknown(f"{file}: table {table.name}: metric", metric, measures.names)
        for metric in self.info.get("told", ()):
            if metric not in measures.names:
                raise unknown(f"{file}: told: metric", metric, measures.names)
        return measures

    def part(self, name: str) -> ModuleType:
        """One of the study's own modules: ``scenario``, ``claims``, ``answer``, ``figures`` or ``metrics``."""
        if not self.is_own:
            return importlib.import_module(f"cellyard.studies.{self.folder.name}.{name}")
        return user_study.part(self.folder, name)

    @property
    def argument(self) -> str:
        """Name of the study in commands: its name, or the path of its folder if it is not one of Cellyard's."""
        return f"./{self.folder.name}" if self.is_own else self.name

    @property
    def is_own(self) -> bool:
        """Whether the study is in a user's folder, and not one of Cellyard's."""
        return self.folder.parent != FOLDER

    def has_part(self, name: str) -> bool:
        """Whether the study has that module."""
        return (self.folder / f"{name}.py").exists()

    def second_column(self, table: Table, rows: Rows) -> tuple[Table, list[Row | None]] | None:
        """The table next to ``table`` in ``rows``, if there is one, and its row for each row of ``table``."""
        for other in self.tables.values():
            if other.beside == table.name and (theirs := rows.where(table=other.name)):
                same = {tuple(row.parameters[p] for p in table.parameters): row for row in theirs}
                own = rows.where(table=table.name)
                return other, [same.get(tuple(row.parameters.values())) for row in own]
        return None

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of the text: ``CLAIMS`` of ``claims.py`` if it is there, else all in order; empty without ``claims.py``."""
        names = vars(self.part("claims")) if self.has_part("claims") else {}
        return tuple(names.get("CLAIMS", (one for one in names.values() if isinstance(one, Claim))))

    @property
    def answer(self) -> tuple[Any, ...]:
        """The sentences of the answer (`cellyard.study.answer.Sentence`); empty without ``answer.py``."""
        return tuple(self.part("answer").ANSWER) if self.has_part("answer") else ()

    def scenario(self, row: Row) -> Scenario:
        """The scenario of a row; raises `ScenarioError`, which names the row, when it is invalid."""
        try:
            made: Scenario = self.part("scenario").scenario(row, self.info["shared"])
            if not isinstance(made, Scenario):
                raise UsageError(
                    f"{self.folder / 'scenario.py'}: scenario(row, shared) gives {type(made).__name__}, not a cellyard.Scenario"
                )
        except ScenarioError as error:
            where = ", ".join(f"{name} = {value}" for name, value in row.parameters.items())
            named = [replace(p, text=f"{self.name}, table {row.table}, {where}: {p.text}") for p in error.problems]
            raise ScenarioError(named) from None
        return made if self.seed is None else made.with_seed(self.seed)

    def runs(self, rows: Iterable[Row], *, replication: int | None = None) -> list[RunResult]:
        """Run each row once, as described or as that replication, in order. Nothing is stored. Raises what `run_jobs` raises."""
        from cellyard.runs.batch import Job, run_jobs

        wanted = [Job(self.scenario(row).canonical, replication) for row in rows]
        finished = sorted(run_jobs(wanted, **self.engine), key=lambda one: one.index)
        return [RunResult(one.result) for one in finished]


def studies() -> dict[str, Study]:
    """All studies by name."""
    found = {}
    for path in sorted(FOLDER.glob("*/study.toml")):
        info = tomllib.loads(path.read_text(encoding="utf-8"))
        found[info["name"]] = Study(info["name"], path.parent, info)
    return found


def is_path(name: str | Path) -> bool:
    """Whether a name is the path of a study's folder. Paths contain a slash, such as ``./tcps``, like programs in a shell.

    >>> [is_path(name) for name in ("./tcps", "studies/tcps", "/tmp/tcps", "..", "tcps")]
    [True, True, True, True, False]
    """
    return isinstance(name, Path) or name in (".", "..") or any(mark in name for mark in (os.sep, "/"))


def load(name: str | Path, *, beside: Path = Path()) -> Study:
    """Cellyard's study of that name, or the study in the folder at that path relative to ``beside``. No code of it runs.

    Raises `UsageError` when there is none.
    """
    known = studies()
    folder = beside / file_path("name", name)
    if not is_path(name):
        if name in known:
            return known[str(name)]
        wrong = unknown("study", str(name), known)
        if (folder / "study.toml").is_file():
            wrong = UsageError(f"{wrong}; a study in a folder is named by its path: ./{printable(str(name))}")
        raise wrong
    if not (folder / "study.toml").is_file():
        raise UsageError(f"study {printable(str(name))}: there is no {printable(str(folder / 'study.toml'))}")
    info = user_study.read(folder)
    if info["name"] in known:
        raise UsageError(f"{folder / 'study.toml'}: name = {info['name']!r} is that of a study of Cellyard")
    return Study(info["name"], folder.resolve(), info)


def select(study: Study, tables: Sequence[str] = (), where: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> Rows:
    """Rows of ``tables`` (all when empty) whose parameters match ``where``.

    A parameter that is repeated in ``where`` may have any of its values. Raises `UsageError` on
    unknown names, and on values that no row has.
    """
    if isinstance(tables, str):
        raise UsageError(f"tables = {tables!r}: must be a list of names, such as [{tables!r}]")
    for name in tables:
        if name not in study.tables:
            raise unknown(f"{study.name}: table", name, study.tables)
    chosen = [table for name, table in study.tables.items() if not tables or name in tables]
    rows = Rows(row for table in chosen for row in table.rows)
    wanted: dict[str, list[str]] = {}
    for key, text in where.items() if isinstance(where, Mapping) else where:
        wanted.setdefault(key, []).append(text)
    for key, texts in wanted.items():
        known = {parameter for table in chosen for parameter in table.parameters}
        if key not in known:
            raise unknown("parameter", key, known)
        there = dict.fromkeys(str(row.parameters[key]) for row in rows if key in row.parameters)
        for text in texts:
            if not rows.where(**{key: _value(text)}):
                known_values = f" (allowed: {', '.join(there)})" if there else f"; the rows chosen so far have no {key}"
                raise UsageError(f"no row has {key} = {text}{known_values}")
        rows = rows.where(**{key: [_value(text) for text in texts]})
    return rows


def only_row(rows: Rows, *, table: str, parameter: str) -> Row:
    """The only row; raises `UsageError` unless there is exactly one.

    The error names what differs among the rows: ``table``, and each parameter in the form ``parameter``.
    """
    if len(rows) == 1:
        return rows[0]
    differing = [table] if len({row.table for row in rows}) > 1 else []
    differing += [
        parameter.format(key)
        for key in (rows[0].parameters if rows else ())
        if len({str(row.parameters.get(key)) for row in rows}) > 1
    ]
    hint = f"; select one by setting {', '.join(differing)}" if differing else ""
    raise UsageError(f"{len(rows)} rows of the study match, and exactly one is needed{hint}")


def _value(text: str) -> Value:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_table(study: Study, entry: Mapping[str, Any]) -> Table:
    metrics = tuple(entry["metrics"])
    doubts = [doubt for doubt in study.info.get("doubtful", ()) if doubt["table"] == entry["name"]]
    path = study.folder / "tables" / entry["file"]
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        for record in reader:
            if None in record or None in record.values():
                columns = len(reader.fieldnames or ())
                raise UsageError(f"{path}:{reader.line_num}: must have {columns} values, one for each column")
            note = record.pop("note", "") or ""
            published = {m: _published(record.pop(m, ""), f"{path}:{reader.line_num}: {m}") for m in metrics}
            parameters = {k: _value(v) for k, v in record.items()}
            row = Row(entry["name"], parameters, published, note, printed=entry.get("printed", PRINTED))
            doubtful = {m for doubt in doubts if row.matches(doubt["row"]) for m in doubt["metrics"]}
            rows.append(replace(row, doubtful=frozenset(doubtful)))
    if not rows:
        raise UsageError(f"{path}: has no rows")
    published, beside, text = entry.get("published", True), entry.get("beside"), entry.get("text", "")
    return Table(entry["name"], entry["title"], metrics, Rows(rows), published, beside, text)


def _published(text: str, where: str) -> float | None:
    """A published value, or ``None`` if nothing was printed."""
    try:
        return float(text) if text else None
    except ValueError:
        raise UsageError(f"{where} = {text!r}: is not a number") from None
