"""Finds side effects of an axis: changes of the largest goodput, of the numbers of VCs, or of the sizes of queues."""

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from cellyard.runs.expected import outline
from cellyard.scenario.overview import buffer_text, mbps
from cellyard.scenario.scenario import Scenario
from cellyard.show.hints import USE_FAIR_SHARES
from cellyard.show.words import counted, listed

Named = TypeVar("Named")

#: Scenarios that differ only in one axis, each with its value on the axis.
Line: TypeAlias = Sequence[tuple[str, Scenario]]

#: Limit on the scenarios of a line whose fair shares are computed.
MOST_COMPUTED = 50

#: The buffers of each class at each port, in cells; ``None`` is unlimited.
Queues: TypeAlias = dict[str, dict[str, set[tuple[float, str]]]]

#: Limit on values of an axis that a note names.
MOST_NAMED = 4


class FairSums:
    """Sums of the fair shares of scenarios, each computed once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int | None, int | None]] = {}

    def note(self, axis: str, lines: Iterable[Line]) -> list[str]:
        """A sentence if a line has one largest goodput but different sums, so that its efficiencies are not comparable."""
        for line in lines:
            computed = line if len(line) <= MOST_COMPUTED else [*line[: MOST_COMPUTED - 1], line[-1]]
            first_by_goodput: dict[int, tuple[str, int]] = {}
            for value, scenario in computed:
                max_goodput, fair = self._goodputs(scenario)
                if not max_goodput or not fair:
                    continue
                first_value, first_fair = first_by_goodput.setdefault(max_goodput, (value, fair))
                # Sums are rounded to the bit per second that is printed.
                if abs(fair - first_fair) > 1:
                    return [
                        f"{axis} changes what the links can deliver: fair shares add up to {mbps(first_fair)} with {first_value} and to "
                        f"{mbps(fair)} with {value}, but efficiency is relative to {mbps(max_goodput)} in both; {USE_FAIR_SHARES}"
                    ]
        return []

    def _goodputs(self, scenario: Scenario) -> tuple[int | None, int | None]:
        """The goodput to which efficiency is relative, and the sum, in bits per second."""
        goodputs = self._known.get(scenario.canonical)
        if goodputs is None:
            facts = outline(scenario.canonical)
            goodputs = self._known[scenario.canonical] = facts["max_goodput_bps"], facts["fair_goodput_bps"]
        return goodputs


def repeated(axis: str, values: Iterable[Any], label: Callable[[Any], str] = str) -> list[str]:
    """A sentence on each value that is listed several times.

    >>> repeated("buffer", ["1", "2", "1"])
    ['buffer: `1` is listed 2 times but runs only once']
    """
    return [
        f"{axis}: `{label(value)}` is listed {count} times but runs only once"
        for value, count in Counter(values).items()
        if count > 1
    ]


def equal_pairs(points: Iterable[tuple[Named, Scenario]]) -> list[tuple[Named, Named]]:
    """The points that have the scenario of an earlier one, each after that one."""
    first: dict[str, Named] = {}
    found = ((first.setdefault(scenario.canonical, point), point) for point, scenario in points)
    return [(known, point) for known, point in found if known is not point]


def lines_along(points: Iterable[tuple[Mapping[str, str], Scenario]], axes: Sequence[str]) -> list[Line]:
    """Groups of points that differ only in ``axes``, by the value of the first of these."""
    lines_by_others: dict[tuple[tuple[str, str], ...], list[tuple[str, Scenario]]] = {}
    for values, scenario in points:
        others = tuple((name, value) for name, value in values.items() if name not in axes)
        lines_by_others.setdefault(others, []).append((values[axes[0]], scenario))
    return [line for line in lines_by_others.values() if len(line) > 1]


def changes_counts(paths: Iterable[str]) -> bool:
    """Whether one of the paths is the number of hosts, switches or VCs.

    >>> changes_counts(["vc.start", "host.near.count"]), changes_counts(["host.account"])
    (True, False)
    """
    return any(path.rpartition(".")[2] == "count" for path in paths)


def renumbered_vcs(axis: str, lines: Iterable[Line], names: Container[str] | None = None) -> list[str]:
    """A sentence on the first VC, optionally among ``names``, whose name means different VCs along a line."""
    for line in lines:
        first_by_name: dict[str, tuple[str, str]] = {}
        for value, scenario in line:
            for name, ends in _ends(scenario).items():
                first_value, first_ends = first_by_name.setdefault(name, (value, ends))
                if ends != first_ends and (names is None or name in names):
                    return [
                        f"{axis} changes which VC is called {name}: {first_ends} with {first_value}, {ends} with {value}; "
                        "give each entry of `vc` a `name`"
                    ]
    return []


def _ends(scenario: Scenario) -> dict[str, str]:
    """Both ends of each VC."""
    return {vc["name"]: f"{vc['from']} to {vc['to']}" for vc in scenario.to_dict()["vcs"]}


def is_of_vcs(path: str) -> bool:
    """Whether a path is the service class of VCs.

    >>> [is_of_vcs(path) for path in ("vc.*.class", "switch.west.scheduler.class")]
    [True, False]
    """
    return path.startswith("vc.") and path.endswith(".class")


def add_queues(queues: Queues, ports: Iterable[Mapping[str, Any]], service: str) -> None:
    """Add the buffers of a class at ports where its data can wait."""
    for port in ports:
        for queue in port["queues"]:
            if queue["class"] == service and port["can_queue"] and port["data_vcs"]:
                size = math.inf if queue["places"] is None else queue["places"]
                queues.setdefault(port["name"], {}).setdefault(service, set()).add((size, buffer_text(queue)))


def differing_queues(axis: str, queues: Queues) -> list[str]:
    """A sentence if the classes on an axis have different buffers, which a comparison of classes also compares."""
    ports = [port for port, buffers in queues.items() if len(set(map(frozenset, buffers.values()))) > 1]
    if not ports:
        return []
    more = f" and {counted(len(ports) - 1, 'other port')}" if len(ports) > 1 else ""
    sizes = [f"{service} has {_buffers(buffers)}" for service, buffers in queues[ports[0]].items()]
    return [
        f"{axis} compares queues of different size, since each class has its own buffer: at {ports[0]}{more} {listed(sizes)}"
    ]


def _buffers(sizes: Iterable[tuple[float, str]]) -> str:
    """Buffer sizes from the smallest to unlimited.

    >>> _buffers([(2000, "2000 cells"), (math.inf, "unlimited"), (500, "500 cells")]), _buffers([(1000, "1000 bytes")])
    ('500 cells, 2000 cells and no limit', '1000 bytes')
    """
    return listed(["no limit" if math.isinf(size) else text for size, text in sorted(sizes)], most=MOST_NAMED)
