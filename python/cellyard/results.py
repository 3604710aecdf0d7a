"""Results of runs with their types. Names end in their unit unless dimensionless."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from cellyard import frame
from cellyard.errors import SeveralRunsError, UnknownNameError, unknown
from cellyard.notebook import listed, parts_html, table_html
from cellyard.ranges import has_quantiles, interval, median
from cellyard.result_part import ResultPart
from cellyard.result_types import BackResult as BackResult
from cellyard.result_types import Carries as Carries
from cellyard.result_types import ClassResult as ClassResult
from cellyard.result_types import DroppedCell as DroppedCell
from cellyard.result_types import DroppedCells as DroppedCells
from cellyard.result_types import DropReason as DropReason
from cellyard.result_types import EndSystemResult as EndSystemResult
from cellyard.result_types import FlowKind as FlowKind
from cellyard.result_types import PortClassResult as PortClassResult
from cellyard.result_types import PortResult as PortResult
from cellyard.result_types import Series as Series
from cellyard.result_types import ServiceClass as ServiceClass
from cellyard.result_types import Totals as Totals
from cellyard.result_types import TransferResult as TransferResult
from cellyard.result_types import VcPortResult as VcPortResult
from cellyard.result_types import VcResult as VcResult
from cellyard.text import cell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Part = TypeVar("Part", bound=ResultPart)

#: What a notebook shows of each VC and port.
VC_FIELDS = (
    "traffic",
    "goodput_mbps",
    "cells_sent",
    "cells_dropped",
    "cell_loss_ratio",
    "frame_loss_ratio",
    "p99_cell_transfer_delay_s",
    "retransmitted_segments",
    "timeouts",
)
PORT_FIELDS = ("rate_mbps", "sent_cells", "dropped_cells", "max_queue_cells", "mean_queue_cells", "utilisation")


class Named(dict[str, Part]):
    """Like parts of a result by name, in scenario order; a name that is not there raises `UsageError` with those that are.

    >>> Named("port", {})["west"]
    Traceback (most recent call last):
    cellyard.errors.UnknownNameError: port 'west' does not exist. There are: none
    """

    def __init__(self, kind: str, parts: Mapping[str, Part]) -> None:
        super().__init__(parts)
        self.kind = kind

    def __missing__(self, name: object) -> Part:
        raise UnknownNameError(str(unknown(self.kind, str(name), self)))

    def __repr__(self) -> str:
        return f"<{len(self)} by name: {listed(self)}>"

    def _repr_html_(self) -> str:
        return parts_html(self.kind, self)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, dict(self))


class MadeOnDemand(Mapping[str, Part]):
    """Like parts of a result by name, each made from its document when it is looked at for the first time."""

    def __init__(self, make: Callable[[Mapping[str, Any]], Part], documents: Iterable[Mapping[str, Any]]) -> None:
        self._make = make
        self._documents = {}
        for document in documents:
            if "name" not in document:
                make(document)  # raises what it raises of a document that lacks something
            self._documents[document["name"]] = document
        self._made: dict[str, Part] = {}

    def __getitem__(self, name: str) -> Part:
        if name not in self._made:
            self._made[name] = self._make(self._documents[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)


class Trace(tuple[DroppedCell, ...]):
    """Dropped cells in order, of which few are shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} dropped cells>"

    def _repr_html_(self) -> str:
        return parts_html("dropped cell", {str(place): one for place, one in enumerate(self)})


@dataclass(frozen=True, eq=False, repr=False)
class RunResult:
    """One run. ``data`` is the engine's own document, units in its names: points as numpy arrays, traced drops as a sequence."""

    data: Mapping[str, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunResult) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.name, self.seed, self.replication, self.duration_s, self.totals))

    def __repr__(self) -> str:
        draw = "" if self.replication is None else f", replication {self.replication}"
        found = {name: getattr(self.totals, name) for name in ("goodput_mbps", "efficiency", "fairness")}
        totals = ", ".join(f"{name} {cell(value)}" for name, value in found.items() if value is not None)
        series = f", {len(self.data['series'])} series" if self.data["series"] else ""
        return f"RunResult({self.name!r}{draw}, {self.duration_s:g} s, {len(self.data['vcs'])} VCs{series}: {totals})"

    def _repr_html_(self) -> str:
        """Its totals, its VCs, and the ports where cells can queue."""
        totals = [(name, getattr(self.totals, name)) for name in type(self.totals).numbers()]
        known = [(name, value) for name, value in totals if value is not None]
        shown = [f"<b>{escape(self.name)}</b>: {self.duration_s:g} s simulated"]
        shown.append(table_html([name for name, _ in known], [[value for _, value in known]]))
        shown.append(parts_html("vc", self.vcs, VC_FIELDS))
        queueing = {name: port for name, port in self.ports.items() if port.can_queue}
        if queueing:
            shown.append(parts_html("port", queueing, PORT_FIELDS))
        if self.series:
            rows = [
                [one.what, one.of, one.vc or one.service_class or "", len(one.value), one.unit] for one in self.series
            ]
            shown.append(table_html(["series", "of", "", "points", "unit"], rows))
        return "".join(shown)

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.data["name"])

    @property
    def seed(self) -> int:
        """Seed of every random stream."""
        return int(self.data["seed"])

    @property
    def replication(self) -> int | None:
        """Which replication of an ensemble this is; ``None`` for a run as the scenario states it."""
        return self.data["replication"]  # type: ignore[no-any-return]

    @property
    def duration_s(self) -> float:
        """Simulated time."""
        return float(self.data["duration_s"])

    @property
    def measured_s(self) -> float:
        """Measuring time: goodputs and delays are of this part of the run."""
        return float(self.data["measured_s"])

    @property
    def digest(self) -> str | None:
        """Digest over every cell transmission, if it was asked for."""
        return self.data["digest"]  # type: ignore[no-any-return]

    @cached_property
    def totals(self) -> Totals:
        """The whole network."""
        return Totals.from_document(self.data["totals"])

    @cached_property
    def vcs(self) -> Named[VcResult]:
        """VCs by name, in scenario order."""
        return Named("VC", self.vcs_on_demand)

    @cached_property
    def vcs_on_demand(self) -> Mapping[str, VcResult]:
        """``vcs`` for who needs few of them."""
        return MadeOnDemand(VcResult.from_document, self.data["vcs"])

    @cached_property
    def ports(self) -> Named[PortResult]:
        """Ports by name, in scenario order."""
        return Named("port", self.ports_on_demand)

    @cached_property
    def ports_on_demand(self) -> Mapping[str, PortResult]:
        """``ports`` for who needs few of them."""
        return MadeOnDemand(PortResult.from_document, self.data["ports"])

    @cached_property
    def classes(self) -> Named[ClassResult]:
        """Service classes that carry traffic, by name."""
        found = map(ClassResult.from_document, self.data["classes"])
        return Named("service class", {one.service_class: one for one in found})

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """What the probes recorded, in scenario order."""
        return tuple(map(Series.from_document, self.data["series"]))

    @cached_property
    def trace(self) -> Trace:
        """What the ``trace`` probes saw, in order."""
        return Trace(map(DroppedCell.from_document, self.data["trace"]))

    def to_dict(self) -> dict[str, Any]:
        """``data`` as plain data, ready for JSON."""
        return with_lists(self.data)


class Results(Sequence[RunResult]):
    """The runs of one scenario: a single one, or the replications of an ensemble in order.

    With a single run, everything that a `RunResult` tells is that run's; with several it raises, and `median` and `interval` sum them up.
    """

    def __init__(self, runs: Sequence[RunResult]) -> None:
        self.runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> RunResult: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[RunResult]: ...

    def __getitem__(self, index: int | slice) -> RunResult | Sequence[RunResult]:
        return self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[RunResult]:
        return iter(self.runs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Results) and self.runs == other.runs

    def __hash__(self) -> int:
        return hash(self.runs)

    def __repr__(self) -> str:
        if len(self.runs) == 1:
            return f"Results({self.runs[0]!r})"
        name = f"{self.runs[0].name!r}, " if self.runs else ""
        found = {metric: self.median(metric) for metric in ("goodput_mbps", "efficiency", "fairness")}
        medians = ", ".join(f"{metric} {cell(value)}" for metric, value in found.items() if value is not None)
        return f"Results({name}{len(self.runs)} runs{f'; medians: {medians}' if medians else ''})"

    def _repr_html_(self) -> str:
        """A run by its VCs and ports, an ensemble by the medians and ranges of its totals."""
        if len(self) == 1:
            return self[0]._repr_html_()
        if not self.runs:
            return "no runs"
        ranges = {metric: self.interval(metric) for metric in type(self[0].totals).numbers()}
        rows = [[metric, self.median(metric), *ends] for metric, ends in ranges.items() if ends]
        heads = ["5 %", "95 %"] if has_quantiles(len(self)) else ["smallest", "largest"]
        title = f"<b>{escape(self[0].name)}</b>: {len(self)} runs"
        return title + table_html(["", "median", *heads], rows)

    @property
    def only(self) -> RunResult:
        """The single run; raises `SeveralRunsError` when there are several."""
        if len(self.runs) != 1:
            raise SeveralRunsError(f"there are {len(self.runs)} runs: index them, or use median() and interval()")
        return self.runs[0]

    @property
    def name(self) -> str:
        """Name of the scenario of the single run."""
        return self.only.name

    @property
    def seed(self) -> int:
        """Seed of the single run."""
        return self.only.seed

    @property
    def replication(self) -> int | None:
        """Which replication the single run is; ``None`` for a run as the scenario states it."""
        return self.only.replication

    @property
    def duration_s(self) -> float:
        """Simulated time of the single run."""
        return self.only.duration_s

    @property
    def measured_s(self) -> float:
        """Measuring time of the single run."""
        return self.only.measured_s

    @property
    def digest(self) -> str | None:
        """Digest over every cell transmission of the single run; ``None`` unless it was asked for."""
        return self.only.digest

    @property
    def totals(self) -> Totals:
        """Totals of the single run."""
        return self.only.totals

    @property
    def vcs(self) -> Named[VcResult]:
        """VCs of the single run by name."""
        return self.only.vcs

    @property
    def ports(self) -> Named[PortResult]:
        """Ports of the single run by name."""
        return self.only.ports

    @property
    def classes(self) -> Named[ClassResult]:
        """Service classes of the single run by name."""
        return self.only.classes

    @property
    def series(self) -> tuple[Series, ...]:
        """Series of the single run."""
        return self.only.series

    @property
    def trace(self) -> Trace:
        """Dropped cells that the ``trace`` probes of the single run saw."""
        return self.only.trace

    def values(self, metric: str) -> list[float]:
        """A metric over the runs, leaving out runs where it is undefined.

        It is a field of `Totals`, or a path as studies and experiments have them: ``vc.vc1.goodput_mbps``,
        ``max(port.*.mean_queue_cells)``. Raises `cellyard.UsageError` for a name that `Totals` does not have, and for a path that
        leads nowhere.
        """
        known = Totals.numbers()
        if not isinstance(metric, str) or (metric not in known and not {".", "("} & set(metric)):
            raise unknown("metric", metric, known)
        from cellyard.metric_path import metric_path  # which needs the classes of this module

        path = metric_path(f"totals.{metric}" if metric in known else metric)
        found = (path.of(run) for run in self.runs)
        return [float(value) for value in found if value is not None]

    def median(self, metric: str) -> float | None:
        """Median over the runs of a metric as `values` takes it; ``None`` when no run defines it."""
        return median(self.values(metric))

    def interval(self, metric: str) -> tuple[float, float] | None:
        """Range of such a metric: from the 5 % to the 95 % quantile, of fewer than 10 runs from the smallest to the largest."""
        return interval(self.values(metric), runs=len(self.runs))

    def to_frame(self, kind: Literal["polars", "pandas"] = "polars", *, of: str = "totals") -> Any:
        """The numbers of every run as a frame of polars or pandas, units in the names of the columns.

        ``of`` is ``totals`` (a line for each run), ``vcs``, ``ports`` or ``classes`` (a line for each of them in each run, with its
        name), ``transfers`` (a line for each finished file, with its VC), or ``series`` (a line for each point, in pandas its names as
        categories). Raises `cellyard.UsageError` for anything else, and when the library is missing.
        """
        if of not in _FRAMES:
            raise unknown("frame of", str(of), _FRAMES)
        found = [
            {"run": number, "replication": run.replication, **record}
            for number, run in enumerate(self.runs)
            for record in _FRAMES[of](run)
        ]
        if of == "series":
            every = [one for run in self.runs for one in run.series]
            return frame.of_points(found, {name: [getattr(one, name) for one in every] for name in _COLUMNS}, kind)
        return frame.of_records(found, kind)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"runs": [run.to_dict() for run in self.runs]}


def _numbers_of(part: ResultPart) -> dict[str, Any]:
    return {name: getattr(part, name) for name in type(part).numbers()}


def _head(one: Series) -> dict[str, Any]:
    """What stands before each point of a series."""
    return {"what": one.what, "of": one.of, "class": one.service_class, "vc": one.vc, "unit": one.unit}


#: The records of a run that make the lines of a frame.
_FRAMES: Mapping[str, Callable[[RunResult], Iterable[dict[str, Any]]]] = {
    "totals": lambda run: [_numbers_of(run.totals)],
    "vcs": lambda run: ({"vc": name, **_numbers_of(vc)} for name, vc in run.vcs.items()),
    "transfers": lambda run: (
        {"vc": name, **_numbers_of(transfer)} for name, vc in run.vcs.items() for transfer in vc.transfers
    ),
    "ports": lambda run: ({"port": name, **_numbers_of(port)} for name, port in run.ports.items()),
    "classes": lambda run: ({"class": name, **_numbers_of(one)} for name, one in run.classes.items()),
    "series": lambda run: map(_head, run.series),
}


#: What a series holds by the point.
_COLUMNS = tuple(Series.PARTS)


def with_arrays(result: Mapping[str, Any]) -> dict[str, Any]:
    """A run's document with the points of its series as arrays.

    >>> with_arrays({"series": [{"of": "vc1", "time_s": [0, 1], "value": [2, 3]}]})["series"][0]["value"]
    array([2., 3.])
    """
    return _with_points(result, lambda points: points)


def with_lists(result: Mapping[str, Any]) -> dict[str, Any]:
    """A run's document with the points of its series and its traced drops as lists, ready for JSON."""
    trace = {"trace": list(result["trace"])} if "trace" in result else {}
    return _with_points(result, lambda points: points.tolist()) | trace


def _with_points(result: Mapping[str, Any], form: Callable[[NDArray[np.float64]], Any]) -> dict[str, Any]:
    if not result.get("series"):
        return dict(result)
    import numpy as np

    series = [one | {column: form(np.asarray(one[column], float)) for column in _COLUMNS} for one in result["series"]]
    return {**result, "series": series}
