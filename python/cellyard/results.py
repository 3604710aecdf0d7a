"""Results of runs with their types. Names end in their unit unless dimensionless."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

from cellyard.errors import UsageError, unknown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The whole network in one run.

    ``cells`` counts cell transmissions over all links, ``bottleneck_cells`` those of data at ports that can
    queue. ``goodput_mbps`` is the sum of the TCP VCs' goodputs, ``efficiency`` that sum over the largest possible one that
    the scenario states (``None`` when it states none), ``fairness`` Jain's index (sum x)^2 / (n sum x^2) of those goodputs.
    ``cell_loss_ratio`` counts data cells of all VCs. ``max_queue_cells`` is the longest queue of any port, all its classes together.
    The delays are those of the TCPs' data cells (of all VCs when there is no TCP); the 99 % quantile is ``None`` where other sources
    share a class with TCPs.
    """

    cells: int
    bottleneck_cells: int
    goodput_mbps: float
    efficiency: float | None
    fairness: float | None
    cell_loss_ratio: float | None
    max_queue_cells: int
    mean_cell_transfer_delay_s: float | None
    p99_cell_transfer_delay_s: float | None
    segments: int
    retransmitted_segments: int
    timeouts: int
    fast_retransmits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VcResult:
    """One VC: counters of its data direction, goodput of the bytes delivered in order, once.

    ``goodput_mbps`` and the delays are of the measuring time; cell sources deliver 48 bytes a cell. A cell's transfer delay lasts from
    the end of its transmission by the source host to its arrival at the destination; ``cell_delay_variation_s`` is the largest less
    the smallest (peak-to-peak).
    """

    name: str
    source: str
    destination: str
    service_class: str
    traffic: str
    goodput_mbps: float
    delivered_bytes: int
    frames_sent: int
    frames_delivered: int
    frames_damaged: int
    cells_sent: int
    cells_delivered: int
    cells_dropped: int
    segments: int
    retransmitted_segments: int
    timeouts: int
    fast_retransmits: int
    duplicate_acks: int
    mean_cell_transfer_delay_s: float | None
    max_cell_transfer_delay_s: float | None
    cell_delay_variation_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedCells:
    """Cells dropped at a port by reason: refused by the policy, buffer full, rest of a damaged frame, lost on the link."""

    policy: int
    full: int
    rest: int
    link: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.policy + self.full + self.rest + self.link


@dataclass(frozen=True, slots=True, kw_only=True)
class PortClassResult:
    """One class queue of a port; ``buffer_cells`` is ``None`` when it is unlimited."""

    service_class: str
    buffer_cells: int | None
    sent_cells: int
    dropped_cells: int
    max_queue_cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PortResult:
    """One port of a switch, named after its link.

    ``can_queue`` tells whether cells can wait there at all. ``held_cells`` are waiting or in service at the end; arrived = accepted +
    dropped (``link`` apart, which come after service), accepted = sent + held. ``max_queue_cells`` and ``mean_queue_cells`` (over the
    whole time) count the waiting cells of all classes. ``utilisation`` is the share of the time in which the link sends.
    ``efficiency`` is the goodput of the TCPs that send data through it, as cells on the line, over its rate; ``None`` without TCPs.
    """

    name: str
    switch: str
    rate_mbps: float
    can_queue: bool
    arrived_cells: int
    accepted_cells: int
    sent_cells: int
    held_cells: int
    dropped_cells: DroppedCells
    max_queue_cells: int
    mean_queue_cells: float
    utilisation: float
    efficiency: float | None
    classes: tuple[PortClassResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassResult:
    """One service class over the whole network: data cells of its VCs, and their transfer delays as in `VcResult`.

    ``p99_cell_transfer_delay_s`` comes from bins of at most 1/64 relative width and is never too small;
    ``cell_delay_variation_s`` is the largest of its VCs'.
    """

    service_class: str
    cells_sent: int
    cells_delivered: int
    cell_loss_ratio: float | None
    mean_cell_transfer_delay_s: float | None
    p99_cell_transfer_delay_s: float | None
    cell_delay_variation_s: float | None


@dataclass(frozen=True, kw_only=True)
class Series:
    """What a probe recorded: ``value`` in ``unit`` at ``time_s``, both arrays of equal length."""

    what: str
    of: str
    service_class: str | None
    vc: str | None
    unit: str
    time_s: NDArray[np.float64]
    value: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedCell:
    """A dropped cell that a ``trace`` probe saw: when, where, why, and the queue that it found.

    ``waiting_cells`` is X of its class queue, ``waiting_of_vc_cells`` Y_i, ``active_vcs`` N_a. ``threshold_cells`` is what the drop
    policy (reason ``policy``) or the buffer (``full``) allows in that state: of X, or of Y_i for policies that count by VC. A policy
    decides at the first cell of a frame; those after it share its fate. With the reason ``link`` a link lost it on purpose: there is
    no queue to tell of, and ``port`` is that link.
    """

    time_s: float
    port: str
    vc: str
    direction: str
    frame: int
    cell: int
    reason: str
    waiting_cells: int | None
    waiting_of_vc_cells: int | None
    active_vcs: int | None
    threshold_cells: float | None


@dataclass(frozen=True, eq=False)
class RunResult:
    """One run. ``data`` is the engine's own document, units in its names, the points of series as numpy arrays."""

    data: Mapping[str, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunResult) and self.to_dict() == other.to_dict()

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
    def digest(self) -> str | None:
        """Digest over every cell transmission, if it was asked for."""
        return self.data["digest"]  # type: ignore[no-any-return]

    @cached_property
    def totals(self) -> Totals:
        """The whole network."""
        return _typed(Totals, self.data["totals"])

    @cached_property
    def vcs(self) -> dict[str, VcResult]:
        """VCs by name, in scenario order."""
        return {vc["name"]: _typed(VcResult, vc) for vc in self.data["vcs"]}

    @cached_property
    def ports(self) -> dict[str, PortResult]:
        """Ports by name, in scenario order."""
        ports = {}
        for port in self.data["ports"]:
            parts = {
                "dropped_cells": _typed(DroppedCells, port["dropped_cells"]),
                "classes": tuple(_typed(PortClassResult, c) for c in port["classes"]),
            }
            ports[port["name"]] = _typed(PortResult, {**port, **parts})
        return ports

    @cached_property
    def classes(self) -> dict[str, ClassResult]:
        """Service classes that carry traffic, by name."""
        return {c["class"]: _typed(ClassResult, c) for c in self.data["classes"]}

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """What the probes recorded, in scenario order."""
        return tuple(_typed(Series, series) for series in with_arrays(self.data)["series"])

    @cached_property
    def trace(self) -> tuple[DroppedCell, ...]:
        """What the ``trace`` probes saw, in order."""
        return tuple(_typed(DroppedCell, cell) for cell in self.data["trace"])

    def to_dict(self) -> dict[str, Any]:
        """``data`` as plain data, ready for JSON."""
        return with_lists(self.data)


class Results(Sequence[RunResult]):
    """The runs of one scenario: a single one, or the replications of an ensemble in order.

    With a single run, ``totals``, ``vcs``, ``ports``, ``classes``, ``series`` and ``trace`` are that run's; with several they
    raise, and `median` and `interval` sum them up.
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

    def __repr__(self) -> str:
        return f"Results({self.runs[0].name!r}, {len(self.runs)} runs)"

    @property
    def only(self) -> RunResult:
        """The single run; raises `UsageError` when there are several."""
        if len(self.runs) != 1:
            raise UsageError(f"there are {len(self.runs)} runs: index them, or use median() and interval()")
        return self.runs[0]

    @property
    def totals(self) -> Totals:
        """Totals of the single run."""
        return self.only.totals

    @property
    def vcs(self) -> dict[str, VcResult]:
        """VCs of the single run by name."""
        return self.only.vcs

    @property
    def ports(self) -> dict[str, PortResult]:
        """Ports of the single run by name."""
        return self.only.ports

    @property
    def classes(self) -> dict[str, ClassResult]:
        """Service classes of the single run by name."""
        return self.only.classes

    @property
    def series(self) -> tuple[Series, ...]:
        """Series of the single run."""
        return self.only.series

    @property
    def trace(self) -> tuple[DroppedCell, ...]:
        """Dropped cells that the ``trace`` probes of the single run saw."""
        return self.only.trace

    def values(self, metric: str) -> list[float]:
        """A metric of `Totals` over the runs, leaving out runs where it is undefined.

        Raises `cellyard.UsageError` for a name that `Totals` does not have.
        """
        known = [field.name for field in dataclasses.fields(Totals)]
        if metric not in known:
            raise unknown("metric", metric, known)
        found = (getattr(run.totals, metric) for run in self.runs)
        return [float(value) for value in found if value is not None]

    def median(self, metric: str) -> float | None:
        """Median of a metric of `Totals` over the runs; ``None`` when no run defines it."""
        return median(self.values(metric))

    def interval(self, metric: str) -> tuple[float, float] | None:
        """Range from the 5 % to the 95 % quantile of a metric of `Totals` over the runs."""
        return interval(self.values(metric))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"runs": [run.to_dict() for run in self.runs]}


def median(values: Sequence[float]) -> float | None:
    """Median; ``None`` of nothing.

    >>> median([3.0, 1.0, 2.0])
    2.0
    """
    return quantile(values, 0.5) if values else None


def whole_count(metric: str, value: float | None) -> float | int | None:
    """Counts stay whole numbers where their centre is one.

    >>> whole_count("timeouts", 3.0), whole_count("timeouts", 3.5), whole_count("efficiency", 1.0)
    (3, 3.5, 1.0)
    """
    is_count = metric.endswith(("cells", "segments", "timeouts", "retransmits"))
    return int(value) if is_count and value is not None and value.is_integer() else value


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; ``None`` of nothing.

    >>> mean([3.0, 1.0, 2.0])
    2.0
    """
    return statistics.fmean(values) if values else None


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Range from the 5 % to the 95 % quantile; ``None`` of nothing.

    >>> interval([float(i) for i in range(101)])
    (5.0, 95.0)
    """
    return (quantile(values, 0.05), quantile(values, 0.95)) if values else None


def quantile(values: Sequence[float], p: float) -> float:
    """Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan, 1996).

    Quantiles of equal values are that value, which those of `statistics.quantiles` are not to the last bit.

    >>> quantile([0.0, 1.0], 0.25)
    0.25
    """
    ordered = sorted(values)
    place = p * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


#: What a series holds by the point.
_COLUMNS = ("time_s", "value")


def with_arrays(result: Mapping[str, Any]) -> dict[str, Any]:
    """A run's document with the points of its series as arrays.

    >>> with_arrays({"series": [{"of": "vc1", "time_s": [0, 1], "value": [2, 3]}]})["series"][0]["value"]
    array([2., 3.])
    """
    return _with_points(result, lambda points: points)


def with_lists(result: Mapping[str, Any]) -> dict[str, Any]:
    """A run's document with the points of its series as lists, ready for JSON."""
    return _with_points(result, lambda points: points.tolist())


def _with_points(result: Mapping[str, Any], form: Callable[[NDArray[np.float64]], Any]) -> dict[str, Any]:
    if not result.get("series"):
        return dict(result)
    import numpy as np

    series = [one | {column: form(np.asarray(one[column], float)) for column in _COLUMNS} for one in result["series"]]
    return {**result, "series": series}


#: The engine's names that are keywords of Python or say less than they could.
_RENAMED = {"from": "source", "to": "destination", "class": "service_class"}


def _typed(kind: type[T], data: Mapping[str, Any]) -> T:
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    renamed = {_RENAMED.get(key, key): value for key, value in data.items()}
    return kind(**{name: value for name, value in renamed.items() if name in names})
