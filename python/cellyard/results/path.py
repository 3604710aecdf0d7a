"""Paths to the metrics in the result of a run, as text.

================================================  ==============================================================
``totals.timeouts``                               metric of the whole network
``class.vbr.cell_loss_ratio``                     metric of a service class
``vc.tcp1.cells_dropped``                         metric of a VC
``vc.tcp1.port.west->east.dropped_cells.full``    cells of the VC lost at a port, by reason or as ``total``
``vc.tcp1.back.segments``                         reverse TCP of the VC; undefined if only one end sends
``vc.tcp1.end_system.host.mean_acr_mbps``         ABR end system of the VC, by host
``port.west->east.max_queue_cells``               metric of a port
``port.west->east.dropped_cells.full``            cells dropped at the port, by reason or as ``total``
``port.west->east.class.vbr.max_queue_cells``     metric of a class at a port
``port.west->east.input.a->west.tied_refusals``   metric of an input of a port, named like its link
``max(port.*.class.vbr.max_queue_cells)``         ``max``, ``mean``, ``min`` or ``sum`` over all matching names
================================================  ==============================================================
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Any, NamedTuple, get_args

from cellyard.results.part import CountPart, ResultPart
from cellyard.results.run import RunResult
from cellyard.results.types import (
    BackResult,
    ClassResult,
    DroppedCells,
    EndSystemResult,
    PoolPortResult,
    PoolResult,
    PortClassResult,
    PortInputResult,
    PortResult,
    ServiceClass,
    Totals,
    VcPortResult,
    VcResult,
)
from cellyard.statistics.bounded import ABOVE, BELOW, Value, field_value, lifted
from cellyard.system.errors import UsageError, unknown

#: Functions that combine several values into one.
AGGREGATES: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    name: lifted(function) for name, function in (("max", max), ("mean", fmean), ("min", min), ("sum", sum))
}

#: Names of classes. A class that carries nothing in a run is undefined there, whereas a VC or port
#: must exist.
CLASSES: tuple[str, ...] = get_args(ServiceClass)


class Parts(NamedTuple):
    """Parts of one kind: how to find them by name, and the possible names if known beforehand."""

    kind: type[ResultPart]
    find: Callable[[Any], Mapping[str, Any]]
    names: Sequence[str] = ()


#: Name of a part that exists only once.
ONLY = ("",)

#: Parts of a run, and parts of these parts.
PARTS: Mapping[type, Mapping[str, Parts]] = {
    RunResult: {
        "totals": Parts(Totals, lambda run: {"": run.totals}, ONLY),
        "class": Parts(ClassResult, lambda run: run.classes, CLASSES),
        "vc": Parts(VcResult, lambda run: run.vcs_on_demand),
        "port": Parts(PortResult, lambda run: run.ports_on_demand),
        "pool": Parts(PoolResult, lambda run: run.pools),
    },
    VcResult: {
        "port": Parts(VcPortResult, lambda vc: {port.port: port for port in vc.ports}),
        "back": Parts(BackResult, lambda vc: {"": vc.back[0]} if vc.back else {}, ONLY),
        "end_system": Parts(EndSystemResult, lambda vc: {end_system.host: end_system for end_system in vc.end_systems}),
    },
    VcPortResult: {
        "dropped_cells": Parts(DroppedCells, lambda port: {"": port.dropped_cells}, ONLY),
    },
    PoolResult: {
        "port": Parts(PoolPortResult, lambda pool: {port.port: port for port in pool.ports}),
    },
    PortResult: {
        "dropped_cells": Parts(DroppedCells, lambda port: {"": port.dropped_cells}, ONLY),
        "class": Parts(
            PortClassResult, lambda port: {service.service_class: service for service in port.classes}, CLASSES
        ),
        "input": Parts(PortInputResult, lambda port: {brought.link: brought for brought in port.inputs}),
    },
}


class Step(NamedTuple):
    """A step from a part to the parts below it with a matching name."""

    word: str
    name: str
    parts: Parts

    def below(self, part: Any) -> list[Any]:
        """Return the matching parts.

        Raises `UsageError` when there is none, except for a class without traffic.
        """
        parts_by_name = self.parts.find(part)
        matching = [parts_by_name[name] for name in parts_by_name if fnmatchcase(name, self.name)]
        if not (matching or self.parts.names):
            raise unknown(self.word, self.name, parts_by_name)
        return matching


@dataclass(frozen=True)
class MetricPath:
    """Path of a metric in the result of a run."""

    text: str
    steps: tuple[Step, ...]
    field: str
    aggregate: str | None

    @property
    def may_be_bounded(self) -> bool:
        """Whether runs may give only bounds of the metric."""
        return bool({self.field + ABOVE, self.field + BELOW} & set(_numbers(self.steps[-1].parts.kind)))

    def parts_in(self, run: RunResult) -> list[Any]:
        """Return the parts of a run that match the path. Raises `UsageError` when the run has no such VC or port."""
        parts: list[Any] = [run]
        for step in self.steps:
            parts = [lower for part in parts for lower in step.below(part)]
        return parts

    def value_in(self, run: RunResult) -> Value:
        """Return the metric of a run, or its bounds; ``None`` if it is not defined.

        Raises `UsageError` when the run has no such VC or port.
        """
        values = [value for part in self.parts_in(run) if (value := _field(part, self.field)) is not None]
        if not values:
            return None
        return AGGREGATES[self.aggregate](values) if self.aggregate else values[0]  # type: ignore[no-any-return]


def _field(part: Any, name: str) -> Any:
    value = getattr(part, name)
    return field_value(lambda field: getattr(part, field, None), name) if value is None else value


def metric_path(text: str) -> MetricPath:
    """Parse a path. Raises `UsageError` with the possible names when the path leads nowhere.

    >>> metric_path("max(port.*.class.vbr.max_queue_cells)").field
    'max_queue_cells'
    """
    call = re.fullmatch(r"(\w+)\((.*)\)", text)
    aggregate, inner = call.groups() if call else (None, text)
    if aggregate and aggregate not in AGGREGATES:
        raise unknown("aggregate", aggregate, AGGREGATES)
    words = inner.split(".")
    kind: type = RunResult
    part_name = "run"
    steps: list[Step] = []
    while words and (len(words) > 1 or kind is RunResult):
        word = words.pop(0)
        if word not in PARTS.get(kind, {}):
            raise unknown(f"part of {part_name}", word, PARTS.get(kind, {}))
        parts = PARTS[kind][word]
        name = "" if parts.names == ONLY else words.pop(0) if words else "*"
        if parts.names and not any(fnmatchcase(known, name) for known in parts.names):
            raise unknown(word, name, parts.names)
        steps.append(Step(word, name, parts))
        kind, part_name = parts.kind, word
    field = words[0] if words else ""
    if field not in _numbers(kind):
        raise unknown(f"numeric field of {part_name}", field, _numbers(kind))
    if "*" in inner and not aggregate:
        allowed = ", ".join(f"{name}({inner})" for name in AGGREGATES)
        raise UsageError(f"{inner} can match several parts, which must be combined: {allowed}")
    return MetricPath(text, tuple(steps), field, aggregate)


def _numbers(kind: type) -> list[str]:
    """Return the fields of a part that are numbers."""
    if not issubclass(kind, ResultPart):
        return []
    return [*kind.numbers(), *(["total"] if issubclass(kind, CountPart) else [])]
