"""Scenarios in Python: the data of a TOML file, built from typed, keyword-only components.

>>> import cellyard as cy
>>> lan = cy.Scenario(
...     name="two TCPs",
...     duration="1 s",
...     hosts=[cy.Host(name="source", count=2), cy.Host(name="sink", count=2)],
...     switches=[cy.Switch(name="west", ubr=cy.Queue(buffer="1000 cells", drop="epd")), cy.Switch(name="east")],
...     links=[
...         cy.Link(from_="source", to="west", rate="155.52 Mbps", delay="5 us"),
...         cy.Link(from_="west", to="east", rate="155.52 Mbps", delay="5 us"),
...         cy.Link(from_="east", to="sink", rate="155.52 Mbps", delay="5 us"),
...     ],
...     vcs=[cy.Vc(from_="source", to="sink", traffic=cy.Tcp(recovery="vanilla"))],
... )
>>> result = lan.run()
>>> list(result.vcs)
['vc1', 'vc2']
>>> result.vcs["vc1"].goodput_mbps > 1
True
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, Unpack

from cellyard.scenario import fields as scenario_fields
from cellyard.system.errors import Problem, ScenarioError, UsageError
from cellyard.system.limits import MOST_REPLICATIONS, MOST_SEED, whole
from cellyard.system.terminal import printable
from cellyard.system.values import file_path, overrides as pairs, plain, shown, unicode

if TYPE_CHECKING:
    from cellyard.components.network import ScenarioFields
    from cellyard.results import Results
    from cellyard.runs.cluster import Workers
    from cellyard.runs.protocols import Cancel, RunStore
    from cellyard.show.explorer import Explorer

#: Overrides: values by their dotted paths, or pairs of both.
Overrides: TypeAlias = Mapping[str, object] | Iterable[tuple[str, object]]

#: Source of a scenario: the file named in errors (``None`` for data), its text, and the overrides.
Source: TypeAlias = tuple[str | None, str, tuple[tuple[str, str], ...]]

#: Prefix of the engine's problems about overrides.
SET = "override: "

#: Largest scenario file, in bytes.
MAX_FILE_BYTES = 16 * 1024 * 1024


class Scenario:
    """A network with its traffic, checked and complete: every default is filled in.

    The keyword arguments are the fields of a scenario file. Quantities are text with their unit. Raises
    `cellyard.ScenarioError` with everything that is wrong.
    """

    __slots__ = ("_canonical", "_source")

    _canonical: str
    _source: Source

    def __init__(self, **fields: Unpack[ScenarioFields]) -> None:
        from cellyard.components.network import SCENARIO_KEYS

        unknown = sorted(set(fields) - set(SCENARIO_KEYS))
        if unknown:
            raise TypeError(f"Scenario() has no field `{unknown[0]}` (allowed: {', '.join(SCENARIO_KEYS)})")
        data = {SCENARIO_KEYS[name]: plain(value, name) for name, value in fields.items() if value is not None}
        self._read(None, json.dumps(data), ())

    def _read(self, file: str | None, text: str, overrides: tuple[tuple[str, str], ...]) -> None:
        self._source = (file, text, overrides)
        try:
            self._canonical = _canonical(self._source)
        except ScenarioError as error:
            raise _with_overrides(error, self._source) from None

    @classmethod
    def from_toml(cls, text: str, *, file: str = "scenario", overrides: Overrides = ()) -> Self:
        """Read a scenario from TOML text.

        ``file`` names the text in error messages. ``overrides`` are values by dotted paths as for
        `with_values`, or pairs such as ``("switch.west.ubr.buffer", "2000 cells")``.
        """
        if isinstance(text, Path) or (isinstance(text, str) and text.strip().endswith(".toml") and "=" not in text):
            raise UsageError(f"text = {shown(text)}: is the name of a file; use Scenario.read for a file")
        scenario = cls.__new__(cls)
        scenario._read(unicode("file", file), unicode("text", text), pairs("overrides", overrides))
        return scenario

    @classmethod
    def read(cls, path: str | Path, *, overrides: Overrides = ()) -> Self:
        """Read a scenario from a TOML file; raises `cellyard.UsageError` when the file cannot be read."""
        return cls.from_toml(read_text(file_path("path", path)), file=printable(str(path)), overrides=overrides)

    @property
    def canonical(self) -> str:
        """The engine's JSON form: times in ticks, rates in bit/s, everything expanded."""
        return self._canonical

    @property
    def source(self) -> str:
        """The text that the scenario was read from, without overrides: TOML, or JSON if it was built in Python."""
        return self._source[1]

    def states(self, field: str) -> bool:
        """Whether the text or an override states a field, such as ``ensemble.start_jitter``, instead of leaving it to its default."""
        from cellyard import _engine

        _, text, overrides = self._source
        data = json.loads(text) if text.startswith("{") else _engine.read_tree(text, "")[0]
        first, *rest = field.split(".")
        values = [value for path, value in overrides if path in (first, field)]
        if values:
            return values[-1].strip() != "default"
        return first in data and (not rest or rest[0] in data[first])

    @property
    def name(self) -> str:
        """Name for reports."""
        from cellyard import _engine

        return _engine.heading(self._canonical)[0]

    @property
    def seed(self) -> int:
        """Seed of every random stream."""
        from cellyard import _engine

        return _engine.heading(self._canonical)[1]

    def with_seed(self, seed: int) -> Self:
        """A copy with another seed; raises `UsageError` unless the seed is a whole number from 0 to 2^63 - 1."""
        return self.with_values({"seed": whole("seed", seed, least=0, most=MOST_SEED)})

    def with_values(self, values: Overrides) -> Self:
        """A copy with other values at dotted paths, like ``--set`` of the command line.

        A value is a number, a text as in a scenario file (``"2000 cells"``, ``"fba"``), a
        component, a list, or ``None`` for the default. Numbers and arrays of numpy are accepted.
        Numbers with more decimals than the model holds are rounded. Groups keep their names. Raises
        `cellyard.ScenarioError` when a path leads nowhere or the result is invalid.

        >>> from cellyard.commands import example
        >>> lan = Scenario.from_toml(example.text("lan-5"))
        >>> other = lan.with_values({"switch.west.ubr.drop": "fba", "host.source.count": 3, "host.sink.count": 3})
        >>> len(lan.to_dict()["vcs"]), len(other.to_dict()["vcs"])
        (5, 3)
        """
        file, text, overrides = self._source
        scenario = type(self).__new__(type(self))
        scenario._read(file, text, (*overrides, *pairs("values", values)))
        return scenario

    def to_dict(self) -> dict[str, Any]:
        """`canonical` as plain data."""
        data: dict[str, Any] = json.loads(self._canonical)
        return data

    def to_toml(self) -> str:
        """The resolved scenario as TOML. Reading it gives an equal scenario."""
        return "".join(self.toml_pieces())

    def toml_pieces(self) -> list[str]:
        """`to_toml` in pieces of about a megabyte: of many VCs, the whole text would take memory twice."""
        from cellyard import _engine

        return _engine.write_toml(self._canonical)

    def describe(self) -> dict[str, Any]:
        """Topology, every port with its scheduler and its class queues, whether it can queue, and the expected cost."""
        from cellyard import _engine

        data: dict[str, Any] = json.loads(_engine.describe(self._canonical))
        return data

    def notes(self, *, replicated: bool = False) -> list[str]:
        """Notes about settings that are valid, but probably a mistake; also part of `describe`.

        With ``replicated``, also about starts that replications draw although the scenario does not say
        so, and about replications that draw nothing, or only the timer phase.
        """
        from cellyard import _engine

        notes = _engine.notes(self._canonical)
        if replicated:
            notes += _engine.replication_notes(self._canonical, self.states("ensemble.start_jitter"))
        return notes

    def run(
        self,
        *,
        seed: int | None = None,
        replications: int | None = None,
        replication: int | None = None,
        jobs: int | None = None,
        digest: bool = False,
        kernel: str = "auto",
        memory: str | int | None = None,
        captures: str | Path | None = None,
        capture_limit: str | int | None = None,
        store: RunStore | None = None,
        on: str | Workers | None = None,
        workers: int | None = None,
        cancel: Cancel | None = None,
    ) -> Results:
        """Simulate once, or ``replications`` times with separate random numbers, or one ``replication`` (numbered from 0).

        ``jobs`` is the number of threads, by default all cores. It affects only the time. ``digest``
        requests the digest over every cell transmission. ``kernel`` forces the kernel of all ports:
        ``auto``, ``arithmetic``, ``slotted``, or ``twin`` for the reference engine, whose only series
        are envelopes. ``memory`` limits the predicted memory of concurrent runs, as bytes or
        ``"4 GB"``; by default it is half of the machine's memory.

        Capture probes write their files into the folder ``captures``, or nothing without a folder.
        No file exceeds ``capture_limit`` bytes, by default ``"100 MB"``. Runs that ``store``
        (`cellyard.open_store`) holds are taken from there, and finished runs are added. The store
        is ignored with ``digest`` or a forced kernel, and runs with captures are always made. A
        notebook shows progress. With ``on``, the address of a scheduler or a
        `cellyard.cluster.Workers`, the runs go to a Dask cluster. With ``workers`` they go to this
        number of processes on this machine.

        Once ``cancel``, such as a `threading.Event` of another thread, is set, the runs end and
        `cellyard.CancelledError` is raised. Raises `cellyard.RunError` when a run fails, and
        `OSError` when a capture or ``store`` cannot be written. Raises `cellyard.UsageError` in
        these cases:

        * An argument is out of bounds, or the forced kernel cannot serve a port.
        * A run may need too much memory, or its probes record too much.
        * More traffic waits somewhere than could leave before the latest time of a run (350 000 s).
        """
        from cellyard.results import Results, RunResult
        from cellyard.runs.batch import Job, run_jobs
        from cellyard.runs.captures import check_possible, files, limit_bytes, pieces
        from cellyard.runs.expected import outline
        from cellyard.runs.spool import Spool, loaded
        from cellyard.system.files import writable_folder, write_whole
        from cellyard.system.progress import NotebookProgress, display

        replications = whole("replications", replications, most=MOST_REPLICATIONS)
        text = self._canonical if seed is None else self.with_seed(seed)._canonical
        replication = whole("replication", replication, least=0, most=MOST_REPLICATIONS - 1)
        if None not in (replications, replication):
            raise UsageError(
                "give either replications (a number of runs) or replication (the number of one run), not both"
            )
        replication_numbers: Sequence[int | None] = [replication] if replications is None else range(replications)
        jobs_of_runs = [Job(text, number) for number in replication_numbers]
        seconds = outline(text)["duration_s"] if len(jobs_of_runs) == 1 and display() else None
        limit = limit_bytes(capture_limit)
        if captures is not None:
            on_cluster = on is not None or workers is not None
            check_possible("captures", [text], limit=limit, kernel=kernel, on_cluster=on_cluster)
        folder = None if captures is None else writable_folder(file_path("captures", captures))
        with (
            Spool(folder) if folder else nullcontext() as spool,
            NotebookProgress(self.name, len(jobs_of_runs), simulated_seconds=seconds) as progress,
        ):
            finished = run_jobs(
                jobs_of_runs,
                threads=jobs,
                digest=bool(digest),
                kernel=kernel,
                memory=memory,
                spool=spool,
                capture_limit=limit if folder else None,
                store=store,
                on=on,
                workers=workers,
                cancel=cancel,
                on_progress=progress.update,
            )
            results_by_index = {run.index: loaded(run.result) if spool else run.result for run in finished}
            results = [RunResult(results_by_index[index]) for index in range(len(jobs_of_runs))]
            if folder and spool:
                for name, captured in files(spool, dict(enumerate(job.scenario for job in jobs_of_runs))):
                    write_whole(folder / name, pieces(captured))
        if store and store.failure:
            raise store.failure
        return Results(results, self)

    def explore(self) -> Explorer:
        """The scenario in the explorer, shown by notebooks in a frame: queues cell by cell, and controls for values.

        The browser computes everything. The notebook cell grows by about 1 MB. Raises `UsageError`
        if the engine of the explorer is not built.
        """
        from cellyard.show.explorer import Explorer

        file, text, overrides = self._source
        source = text if file is not None and not overrides else self.to_toml()
        return Explorer({self.name: source}, self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._canonical == other._canonical

    def __hash__(self) -> int:
        return hash(self._canonical)

    def __repr__(self) -> str:
        return f"Scenario({self.name!r})"

    def _repr_html_(self) -> str:
        from cellyard.runs.expected import outline
        from cellyard.scenario import overview
        from cellyard.show.notebook import drawing_html

        facts = outline(self.canonical)
        parts = [overview.topology(facts), overview.size(facts), *(f"note: {note}" for note in facts["notes"])]
        return drawing_html(self.name, "\n\n".join(parts))


Scenario.__doc__ = f"{Scenario.__doc__ or ''}\n    Fields:\n{scenario_fields.TEXT}"


def _canonical(source: Source) -> str:
    """The source in the engine's JSON form; raises `ScenarioError`."""
    from cellyard import _engine

    file, text, overrides = source
    return _engine.read_json(text, list(overrides)) if file is None else _engine.read_toml(text, file, list(overrides))


def _with_overrides(error: ScenarioError, source: Source) -> ScenarioError:
    """The error. If the text is valid without the overrides, each problem also shows them and how to remove a conflict."""
    file, text, overrides = source
    if not overrides:
        return error
    try:
        _canonical((file, text, ()))
    except ScenarioError:
        return error
    values = ", ".join(f"{path}={value}" for path, value in overrides)
    addition = f"; with {values[:57]}..." if len(values) > 60 else f"; with {values}"
    return ScenarioError(
        [
            problem
            if problem.text.startswith(SET) and problem.value
            else replace(problem, text=problem.summary + addition + _remedy(problem))
            for problem in error.problems
        ]
    )


def _remedy(problem: Problem) -> str:
    """An override that removes a value of the text that became invalid, such as `vc[0].abr` of a VC set to another class."""
    if ", or no " not in problem.allowed:
        return ""
    path = re.sub(r"\[(\d+)\]", r".\1", problem.path)
    return f"; {path}=default removes it"


def _how_to_write(path: Path) -> str:
    """The command that writes an example to a file, if a missing file has its name; otherwise empty."""
    stem = path.name.removesuffix(".toml")
    for folder, option in (("examples", ""), ("experiment/examples", "--experiments ")):
        if stem.isascii() and (Path(__file__).parent.parent / folder / f"{stem}.toml").is_file():
            return f"; `cellyard example {option}{stem} > {stem}.toml` writes this example"
    return ""


def read_text(path: Path) -> str:
    """Text of a file of limited size, ``-`` for standard input; raises `UsageError` saying why it cannot be read."""
    name = printable(str(path))
    if name == "-" and sys.stdin is None:
        raise UsageError("-: cannot read: standard input is closed")
    try:
        with sys.stdin.buffer if name == "-" else path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise UsageError(f"{name}: larger than the limit of {MAX_FILE_BYTES} bytes")
        return raw.decode("utf-8-sig")  # some editors on Windows write a byte order mark
    except FileNotFoundError as error:
        raise UsageError(f"{name}: cannot read: {error.strerror}{_how_to_write(path)}") from None
    except OSError as error:
        raise UsageError(f"{name}: cannot read: {error.strerror or error}") from None
    except UnicodeEncodeError:
        raise UsageError(f"{shown(str(path))}: cannot read: it is not a valid file name") from None
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise UsageError(f"{name}:{line}: not a text in UTF-8") from None
