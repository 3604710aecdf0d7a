"""Reproduces any study: simulates each row, puts the values next to the published ones, and judges claims."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellyard import _engine
from cellyard.results import run_notes
from cellyard.runs.batch import Job
from cellyard.runs.runner import CachedRunner, EngineRunner, replicates
from cellyard.statistics.ranges import interval, mean, median, whole_count
from cellyard.store import Store
from cellyard.study.agreement import summary
from cellyard.study.answer import answer
from cellyard.study.metrics import Measures, RowMetrics
from cellyard.study.rows import Row, Rows
from cellyard.study.study import Study
from cellyard.study.verdicts import Replications
from cellyard.system.limits import MOST_REPLICATIONS, MOST_RUNS, whole

#: Numbers in a note, and names that it shortens.
_NUMBERS = re.compile(r"\d[\d.]*( and \d+ more)?")


def _nameless(canonical: str) -> str:
    """A scenario without its name, which affects no number."""
    return json.dumps({**json.loads(canonical), "name": ""})


@dataclass(frozen=True, eq=False)
class Network:
    """A distinct network of a study: its scenario, and the rows that describe it, or other VCs of it."""

    scenario: str
    rows: list[Row]


class NetworkRunner(EngineRunner[Network]):
    """Runs networks, as published unless ``is_drawn``, and keeps the metrics of their rows."""

    batch = MOST_RUNS  # all, so that those that are stored come first

    def __init__(self, measures: Measures, *, is_drawn: bool) -> None:
        super().__init__()
        self.measures, self.is_drawn = measures, is_drawn
        #: Scenarios as a store names them, by scenario without a name.
        self.named: dict[str, str] = {}

    def job(self, network: Network) -> Job:
        """The run of a network. Only metrics of the study's own function differ among its rows."""
        rows = network.rows if self.measures.module else network.rows[:1]
        text = self.named.get(_nameless(network.scenario), network.scenario)
        return Job(text, keep=RowMetrics(self.measures, tuple(rows)))

    def read(self, result: Mapping[str, Any]) -> tuple[Mapping[str, Any], run_notes.Facts]:
        """What is kept of a run, which holds its facts."""
        return result, result["facts"]


class Reproduction:
    """The simulation of a study, or of some of its rows.

    Iterate over `advance` to run it. `rows`, `summary` and `claims` can be read at any time and
    cover the complete rows. ``replications`` is ``None`` for a single run of each row as published.
    Raises `UsageError` when it is out of bounds.
    """

    def __init__(self, study: Study, rows: Rows, *, replications: int | None = None, seed: int = 1) -> None:
        replications = whole("replications", replications, most=MOST_REPLICATIONS)
        self.study = study
        self.replications = replications
        self.seed = seed
        self._rows = rows
        self._engine = NetworkRunner(study.measures, is_drawn=replications is not None)
        self._runner = CachedRunner(self._engine)
        self._draws = range(replications or 1)
        #: Networks by scenario without a name. Rows of one network share its runs. They describe
        #: different VCs of it, or appear in several tables.
        alike: dict[str, Network] = {}
        #: The network of each row.
        self._network_of: list[Network] = []
        for row in rows:
            text = study.scenario(row).with_seed(seed).canonical
            network = alike.setdefault(_nameless(text), Network(text, []))
            network.rows.append(row)
            self._network_of.append(network)
        self._networks = list(alike.values())

    @property
    def total(self) -> int:
        """Number of runs."""
        return len(self._networks) * len(self._draws)

    @property
    def missing(self) -> Mapping[str, int]:
        """The scenarios with unfinished runs, each with the number of these."""
        left = {one.scenario: len(self._draws) - len(self._runner.measured.get(one, ())) for one in self._networks}
        return {scenario: runs for scenario, runs in left.items() if runs}

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the runs made."""
        return self._engine.cpu_seconds

    def advance(
        self, *, store: Store | None = None, on_progress: Callable[..., None] | None = None, **engine: Any
    ) -> Iterator[int]:
        """Simulate, and yield the number of finished runs after each. Closing the iterator stops; finished runs stay.

        ``engine`` holds further arguments of `cellyard.runs.batch.run_jobs`.
        """
        every = [row for table in self.study.tables.values() for row in table.rows]
        if store and len(self._rows) < len(every):
            # Name each network after the first of all rows that have it, so that the store finds it
            # whichever rows were selected.
            for row in every:
                text = self.study.scenario(row).with_seed(self.seed).canonical
                self._engine.named.setdefault(_nameless(text), text)
        self._engine.on_progress, self._engine.options = on_progress, {"store": store, **engine}
        for _ in self._runner.advance(replicates(self._networks, self._draws)):
            yield self._engine.runs

    @property
    def complete(self) -> bool:
        """Whether every run has finished."""
        return self._runner.runs == self.total

    @property
    def rows(self) -> Rows:
        """Rows with all their runs, in the order of the tables."""
        rows = []
        for network, row in zip(self._network_of, self._rows, strict=True):
            runs = self._runner.measured.get(network, {})
            if len(runs) == len(self._draws):
                place = network.rows.index(row) if self.study.measures.module else 0
                rows.append(self._judge(row, [runs[number]["metrics"][place] for number in self._draws]))
        return Rows(rows)

    def _judge(self, row: Row, runs: Sequence[Mapping[str, Any]]) -> Row:
        """``row`` with simulated values from the metrics of its runs."""
        simulated: dict[str, Any] = {}
        ranges, counts, samples = {}, set(), {}
        for metric in self.study.measures.names:
            samples[metric] = tuple(run[metric] for run in runs)
            values = self._known(metric, [run[metric] for run in runs])
            if values and all(isinstance(value, int) for value in values):
                counts.add(metric)
            simulated[metric] = self._centre(values)
            ends = interval(values)
            if self.replications is not None and ends:
                ranges[metric] = ends
        for metric in self.study.measures.vc_names:
            of_vcs = zip(*(run[metric] for run in runs), strict=True)
            simulated[metric] = [self._centre(self._known(metric, values)) for values in of_vcs]
        row = replace(row, simulated=simulated, ranges=ranges, samples=samples)
        return replace(row, counts=frozenset(counts), runs=len(runs))

    def _known(self, metric: str, values: Sequence[Any]) -> list[Any]:
        """The values that are defined; none if one may be missing only because a run ended too early."""
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) or metric not in self.study.measures.bounded else []

    def _centre(self, values: Sequence[float]) -> float | int | None:
        """The study's centre of ``values``; an ``int`` if all values are, and the centre is whole."""
        centre = {"mean": mean, "median": median}[self.study.centre]
        return whole_count(centre(values), is_count=all(isinstance(value, int) for value in values))

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Every claim whose tables were run completely, with its verdict."""
        rows = self.rows
        whole = {name for name, table in self.study.tables.items() if len(rows.where(table=name)) == len(table.rows)}
        judged: list[dict[str, Any]] = []
        replications = Replications(rows)
        for item in self.study.claims:
            if whole.issuperset(item.tables):
                verdict, evidence = replications.decide(item.judge)
                judged.append({"text": item.text, "verdict": verdict, "evidence": evidence})
        return judged

    @property
    def notes(self) -> list[str]:
        """The notes of `cellyard run` on the scenarios and finished runs, with their rows.

        Notes that differ only in numbers appear once, for the first of their rows. Refusals at ties are
        left out if the scenario or an assumption of the study states the order at ties.
        """
        alike: dict[str, tuple[str, list[Network]]] = {}
        for network in self._networks:
            for text in self.study.scenario(network.rows[0]).notes(replicated=self._engine.is_drawn):
                alike.setdefault(_NUMBERS.sub("#", text), (text, []))[1].append(network)
        of_runs = self._runner.notes(
            self._runner.measured,
            self.study.measures.names,
            lambda one: self.study.assumes("tie_order") or self.study.scenario(one.rows[0]).states("tie_order"),
        )
        told = [*alike.values(), *((note.text, affected) for note, affected in of_runs)]
        return [
            f"{text}{self._where([row for network in affected for row in network.rows])}" for text, affected in told
        ]

    def _where(self, affected: Sequence[Row]) -> str:
        """The number of affected rows and the first of them, unless all are."""
        if len(affected) == len(self._rows):
            return ""
        first = affected[0]
        values = [f"{name} = {value}" for name, value in first.parameters.items() if value != ""]
        return f" (in {len(affected)} of {len(self._rows)} rows; first: table {first.table}, {', '.join(values)})"

    def summary(self) -> dict[str, dict[str, Any]]:
        """Agreement with the published values by metric, over all rows and per table and group; see `cellyard.study.agreement`."""
        return summary(self.study, self.rows)

    def to_dict(self, *, wall_seconds: float) -> dict[str, Any]:
        """The JSON document. Everything but ``timing`` is reproducible."""
        rows, runs = self.rows, [run for of_network in self._runner.measured.values() for run in of_network.values()]
        told = answer(self.study, rows, self.replications)
        return {
            "study": self.study.name,
            "engine_version": _engine.version(),
            "seed": self.seed,
            "replications": self.replications,
            "centre": None if self.replications is None else self.study.centre,
            "complete": self.complete,
            "notes": self.notes,
            "rows": [row.to_dict() for row in rows],
            "answer": [one.text for one in told],
            "numbers": [{"sentence": k, **one.to_dict()} for k, of in enumerate(told, 1) for one in of.numbers],
            "evidence": [{"sentence": k, **one.to_dict()} for k, of in enumerate(told, 1) for one in of.evidence],
            "summary": self.summary(),
            "claims": self.claims,
            **{name: sum(run[name] for run in runs) for name in ("cells", "bottleneck_cells")},
            "timing": {"cpu_seconds": self.cpu_seconds, "wall_seconds": wall_seconds},
        }
