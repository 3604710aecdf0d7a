"""The result of one run with its parts by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from cellyard.results.part import ResultPart
from cellyard.results.types import ClassResult, DroppedCell, PoolResult, PortResult, Series, Totals, VcResult
from cellyard.show.notebook import parts_html, shortened, table_html
from cellyard.show.text import format_value
from cellyard.system.errors import UnknownNameError, unknown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Part = TypeVar("Part", bound=ResultPart)

#: Fields of each VC and port that a notebook shows.
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
    """Parts of one kind by name, in scenario order.

    An unknown name raises `UsageError` with the known names.

    >>> Named("port", {})["west"]
    Traceback (most recent call last):
    cellyard.errors.UnknownNameError: port `west` does not exist; there are none
    """

    def __init__(self, kind: str, parts: Mapping[str, Part]) -> None:
        super().__init__(parts)
        self.kind = kind

    def __missing__(self, name: object) -> Part:
        raise UnknownNameError(str(unknown(self.kind, str(name), self)))

    def __repr__(self) -> str:
        return f"<{len(self)} by name: {shortened(self)}>"

    def _repr_html_(self) -> str:
        return parts_html(self.kind, self)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, dict(self))


class MadeOnDemand(Mapping[str, Part]):
    """Parts of one kind by name, each created from its document on first access."""

    def __init__(self, make: Callable[[Mapping[str, Any]], Part], documents: Iterable[Mapping[str, Any]]) -> None:
        self._make = make
        self._documents = {}
        for document in documents:
            if "name" not in document:
                make(document)  # raises what it raises of a document that lacks something
            self._documents[document["name"]] = document
        self._parts: dict[str, Part] = {}

    def __getitem__(self, name: str) -> Part:
        if name not in self._parts:
            self._parts[name] = self._make(self._documents[name])
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)


class Trace(tuple[DroppedCell, ...]):
    """Dropped cells in order; the representation shows only a few."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} dropped cells>"

    def _repr_html_(self) -> str:
        return parts_html("dropped cell", {str(index): drop for index, drop in enumerate(self)})


@dataclass(frozen=True, eq=False, repr=False)
class RunResult:
    """Result of one run.

    ``data`` is the engine's document, with units in the names. Points are numpy arrays, and traced
    drops a sequence.
    """

    data: Mapping[str, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunResult) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.name, self.seed, self.replication, self.duration_s, self.totals))

    def __repr__(self) -> str:
        replication = "" if self.replication is None else f", replication {self.replication}"
        headline = {name: getattr(self.totals, name) for name in ("goodput_mbps", "efficiency", "fairness")}
        totals = ", ".join(f"{name} {format_value(value)}" for name, value in headline.items() if value is not None)
        series = f", {len(self.data['series'])} series" if self.data["series"] else ""
        return f"RunResult({self.name!r}{replication}, {self.duration_s:g} s, {len(self.data['vcs'])} VCs{series}: {totals})"

    def _repr_html_(self) -> str:
        """Show the totals, the VCs, and the ports where cells can queue."""
        totals = [(name, getattr(self.totals, name)) for name in type(self.totals).numbers()]
        known = [(name, value) for name, value in totals if value is not None]
        parts = [f"<b>{escape(self.name)}</b>: {self.duration_s:g} s simulated"]
        parts.append(table_html([name for name, _ in known], [[value for _, value in known]]))
        parts.append(parts_html("vc", self.vcs, VC_FIELDS))
        queueing = {name: port for name, port in self.ports.items() if port.can_queue}
        if queueing:
            parts.append(parts_html("port", queueing, PORT_FIELDS))
        if self.series:
            rows = [
                [
                    " ".join(words for words in (series.what, series.statistic) if words),
                    series.of,
                    series.vc or series.service_class or "",
                    len(series.value),
                    series.unit,
                ]
                for series in self.series
            ]
            parts.append(table_html(["series", "of", "", "points", "unit"], rows))
        return "".join(parts)

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.data["name"])

    @property
    def seed(self) -> int:
        """Seed of all random draws."""
        return int(self.data["seed"])

    @property
    def replication(self) -> int | None:
        """Index of this replication in its ensemble; ``None`` for a run without an ensemble."""
        return self.data["replication"]  # type: ignore[no-any-return]

    @property
    def duration_s(self) -> float:
        """Simulated time in seconds."""
        return float(self.data["duration_s"])

    @property
    def measured_s(self) -> float:
        """Length of the measuring time in seconds. Goodputs and delays are measured over it."""
        return float(self.data["measured_s"])

    @property
    def digest(self) -> str | None:
        """Digest over all cell transmissions; ``None`` unless requested."""
        return self.data["digest"]  # type: ignore[no-any-return]

    @cached_property
    def totals(self) -> Totals:
        """Results of the whole network."""
        return Totals.from_document(self.data["totals"])

    @cached_property
    def vcs(self) -> Named[VcResult]:
        """VCs by name, in scenario order."""
        return Named("VC", self.vcs_on_demand)

    @cached_property
    def vcs_on_demand(self) -> Mapping[str, VcResult]:
        """Return ``vcs`` as a mapping that creates each VC on first access."""
        return MadeOnDemand(VcResult.from_document, self.data["vcs"])

    @cached_property
    def ports(self) -> Named[PortResult]:
        """Ports by name, in scenario order."""
        return Named("port", self.ports_on_demand)

    @cached_property
    def ports_on_demand(self) -> Mapping[str, PortResult]:
        """Return ``ports`` as a mapping that creates each port on first access."""
        return MadeOnDemand(PortResult.from_document, self.data["ports"])

    @cached_property
    def pools(self) -> Named[PoolResult]:
        """Pools in which ports take part, by switch."""
        results = map(PoolResult.from_document, self.data.get("pools", ()))
        return Named("pool", {result.switch: result for result in results})

    @cached_property
    def classes(self) -> Named[ClassResult]:
        """Service classes that have VCs, by name."""
        results = map(ClassResult.from_document, self.data["classes"])
        return Named("service class", {result.service_class: result for result in results})

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """Series that the probes recorded, in scenario order."""
        return tuple(map(Series.from_document, self.data["series"]))

    @cached_property
    def trace(self) -> Trace:
        """Dropped cells that the ``trace`` probes recorded, in order of time."""
        return Trace(map(DroppedCell.from_document, self.data["trace"]))

    def to_dict(self) -> dict[str, Any]:
        """Return ``data`` as plain data, ready for JSON."""
        return with_lists(self.data)


#: Fields of a series that have a value for each point.
_COLUMNS = tuple(Series.PARTS)


def with_arrays(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's document with the points of its series as arrays.

    >>> with_arrays({"series": [{"of": "vc1", "time_s": [0, 1], "value": [2, 3]}]})["series"][0]["value"]
    array([2., 3.])
    """
    return _with_points(result, lambda points: points)


def with_lists(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's document, ready for JSON, with points and traced drops as lists."""
    trace = {"trace": list(result["trace"])} if "trace" in result else {}
    return _with_points(result, lambda points: points.tolist()) | trace


def _with_points(result: Mapping[str, Any], form: Callable[[NDArray[np.float64]], Any]) -> dict[str, Any]:
    if not result.get("series"):
        return dict(result)
    import numpy as np

    series = [
        series | {column: form(np.asarray(series[column], float)) for column in _COLUMNS} for series in result["series"]
    ]
    return {**result, "series": series}
