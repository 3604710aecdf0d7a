"""Reproduces any study: simulates each row, puts the values beside the published ones, and judges claims."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cellyard import _engine
from cellyard.results import run_notes
from cellyard.runs.batch import Job, run_jobs
from cellyard.statistics.ranges import interval, mean, median, whole_count
from cellyard.store import Store
from cellyard.study.agreement import summary
from cellyard.study.answer import answer
from cellyard.study.metrics import RowMetrics
from cellyard.study.rows import Row, Rows
from cellyard.study.study import Study
from cellyard.study.verdicts import Replications
from cellyard.system.limits import MOST_REPLICATIONS, whole

#: Numbers in a note, and names that it shortens.
_NUMBERS = re.compile(r"\d[\d.]*( and \d+ more)?")


def _nameless(canonical: str) -> str:
    """A scenario without its name, which affects no number."""
    return json.dumps({**json.loads(canonical), "name": ""})


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
        self.cpu_seconds = 0.0
        self._rows = rows
        draws: tuple[int | None, ...] = (None,) if replications is None else tuple(range(replications))
        self._jobs: list[Job] = []
        measures = study.measures
        # Rows of one network share its runs. They describe different VCs of it, or appear in
        # several tables.
        alike: dict[str, tuple[int, str, list[Row]]] = {}
        #: Per row: the number of its distinct network, and its place among the rows of that
        #: network.
        self._places: list[tuple[int, int]] = []
        for row in rows:
            text = study.scenario(row).with_seed(seed).canonical
            number, _, own = alike.setdefault(_nameless(text), (len(alike), text, []))
            if not own or measures.module:
                own.append(row)
            self._places.append((number, len(own) - 1))
        for _, text, own in alike.values():
            keep = RowMetrics(measures, tuple(own))
            self._jobs.extend(Job(text, draw, keep) for draw in draws)
        self._draws = len(draws)
        self._kept: dict[int, Mapping[str, Any]] = {}

    @property
    def total(self) -> int:
        """Number of runs."""
        return len(self._jobs)

    @property
    def missing(self) -> Mapping[str, int]:
        """The scenarios with unfinished runs, each with the number of these."""
        return Counter(job.scenario for index, job in enumerate(self._jobs) if index not in self._kept)

    def advance(self, *, store: Store | None = None, **engine: Any) -> Iterator[int]:
        """Simulate, and yield the number of finished runs after each. Closing the iterator stops; finished runs stay.

        ``engine`` holds further arguments of `cellyard.runs.batch.run_jobs`.
        """
        if store:
            self._name_as_the_study()
        for finished in run_jobs(self._jobs, store=store, **engine):
            self._kept[finished.index] = finished.result
            self.cpu_seconds += finished.cpu_seconds
            yield len(self._kept)

    def _name_as_the_study(self) -> None:
        """Name each network after the first of all rows that have it, so that a store finds it whichever rows were selected."""
        every = [row for table in self.study.tables.values() for row in table.rows]
        if len(self._rows) == len(every):
            return
        first: dict[str, str] = {}
        for row in every:
            text = self.study.scenario(row).with_seed(self.seed).canonical
            first.setdefault(_nameless(text), text)
        named = {text: first.get(_nameless(text), text) for text in {job.scenario for job in self._jobs}}
        self._jobs = [replace(job, scenario=named[job.scenario]) for job in self._jobs]

    @property
    def complete(self) -> bool:
        """Whether every run has finished."""
        return len(self._kept) == self.total

    @property
    def rows(self) -> Rows:
        """Rows with all their runs, in the order of the tables."""
        rows = []
        for (scenario, place), row in zip(self._places, self._rows, strict=True):
            first = scenario * self._draws
            runs = [self._kept[i]["metrics"][place] for i in range(first, first + self._draws) if i in self._kept]
            if len(runs) == self._draws:
                rows.append(self._judge(row, runs))
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
        """The study's centre of ``values``; an ``int`` where all values are, and the centre is whole."""
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
        rows_by_network: dict[int, list[Row]] = {}
        for (network, _), row in zip(self._places, self._rows, strict=True):
            rows_by_network.setdefault(network, []).append(row)
        alike: dict[str, tuple[str, list[int]]] = {}
        for network in rows_by_network:
            scenario = self.study.scenario(rows_by_network[network][0])
            for text in scenario.notes(replicated=self.replications is not None):
                alike.setdefault(_NUMBERS.sub("#", text), (text, []))[1].append(network)
        told = list(alike.values())
        finished = sorted(self._kept)
        found = run_notes.notes([self._kept[index]["facts"] for index in finished])
        for note in run_notes.concerning(found, " ".join(self.study.measures.names)):
            affected = list(dict.fromkeys(finished[place] // self._draws for place in note.runs))
            if note.kind == "tied_refusals" and (
                self.study.assumes("tie_order")
                or self.study.scenario(rows_by_network[affected[0]][0]).states("tie_order")
            ):
                continue
            told.append((note.text, affected))
        return [
            f"{text}{self._where([row for network in affected for row in rows_by_network[network]])}"
            for text, affected in told
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
        rows = self.rows
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
            "cells": sum(run["cells"] for run in self._kept.values()),
            "bottleneck_cells": sum(run["bottleneck_cells"] for run in self._kept.values()),
            "timing": {"cpu_seconds": self.cpu_seconds, "wall_seconds": wall_seconds},
        }
