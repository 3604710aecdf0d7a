"""What is to be noted of the scenarios of an experiment: what each notes of itself, told once, and what no single one shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from cellyard.errors import ScenarioError
from cellyard.experiment.design import Point
from cellyard.experiment.expression import ConditionError
from cellyard.experiment.plan import LACKING, Plan
from cellyard.experiment.sentences import counted, listed
from cellyard.scenario import Scenario

#: The buffers of each class at each port, in cells; ``None`` has no limit.
Queues: TypeAlias = dict[str, dict[str, set[int | None]]]

#: Points that are all asked, and how many of a larger grid are drawn; see `Plan.tried_points`.
MOST_ASKED, DRAWN = 100, 50
#: Notes that are told, and values of an axis that each names.
MOST_TOLD, MOST_NAMED = 8, 4


def notes(plan: Plan, scenario: Callable[[Point], Scenario]) -> list[str]:
    """Sentences about what is allowed and hardly meant, as `Scenario.notes` has them; where not all points have one, with those that do.

    First is told what no scenario shows by itself: that classes which are compared have unlike queues.
    """
    asked: list[Point] = []
    found: dict[str, list[Point]] = {}
    points: list[Point] = []
    queues = {axis.name: Queues() for axis in plan.axes if any(path.split(".")[-1] == "class" for path in axis.paths)}
    with suppress(ConditionError):  # of many points not all were looked at when the description was read
        points = plan.tried_points(MOST_ASKED, drawn=DRAWN)
    for point in points:
        with suppress(ScenarioError):
            made = scenario(point)
            own = made.notes()
            asked.append(point)
            for note in own:
                found.setdefault(note, []).append(point)
            ports = made.describe()["ports"] if queues else []
            for axis, of in queues.items():
                _add_queues(of, ports, dict(point.levels)[axis].text)
    ranked = sorted(found.items(), key=lambda one: -len(one[1]))
    told = [f"{name} is not defined: {LACKING}" for name in plan.lacking]
    told += [note for axis, of in queues.items() for note in _unlike(axis, of)]
    told += [f"{note}{_where(own, asked)}" for note, own in ranked[:MOST_TOLD]]
    if len(found) > MOST_TOLD:
        told.append(
            f"{counted(len(found) - MOST_TOLD, 'other note')} of as many points or fewer; `cellyard check` tells those of a scenario"
        )
    return told


def _add_queues(found: Queues, ports: Iterable[Mapping[str, Any]], service: str) -> None:
    """Add the buffers of a class at ports where its data can wait."""
    for port in ports:
        for queue in port["queues"]:
            if queue["class"] == service and port["can_queue"] and port["data_vcs"]:
                found.setdefault(port["name"], {}).setdefault(service, set()).add(queue["buffer"])


def _unlike(axis: str, found: Queues) -> list[str]:
    """A sentence where queues of the classes of an axis have other buffers: whoever compares the classes compares these, too."""
    unlike = [port for port, of in found.items() if len(set(map(frozenset, of.values()))) > 1]
    if not unlike:
        return []
    more = f" and {counted(len(unlike) - 1, 'other port')}" if len(unlike) > 1 else ""
    sizes = [f"{service} has {_buffers(buffers)}" for service, buffers in found[unlike[0]].items()]
    return [
        f"{axis} compares queues of unlike size, as each class has a buffer of its own: at {unlike[0]}{more} {listed(sizes)}"
    ]


def _buffers(sizes: Iterable[int | None]) -> str:
    """Buffers from the smallest to none.

    >>> _buffers([2000, None, 500]), _buffers([1000])
    ('500 cells, 2000 cells and no limit', '1000 cells')
    """
    ordered = sorted(sizes, key=lambda size: (size is None, size))
    return listed(["no limit" if size is None else f"{size} cells" for size in ordered], most=MOST_NAMED)


def _where(own: Sequence[Point], asked: Sequence[Point]) -> str:
    """The values of axes at which alone all of ``own`` are, those first that say most, or how many they are."""
    left, parts = list(asked), []
    names = list(dict(asked[0].levels))
    while names and len(left) > len(own):
        at = {name: dict.fromkeys(dict(point.levels)[name] for point in own) for name in names}
        kept = {name: [point for point in left if dict(point.levels)[name] in at[name]] for name in names}
        best = min(names, key=lambda name: len(kept[name]))
        names.remove(best)
        if len(kept[best]) < len(left):
            parts.append(f"{best} = {listed([one.label for one in at[best]], most=MOST_NAMED)}")
        left = kept[best]
    if len(left) > len(own):
        return f" (at {len(own)} of {len(asked)} points, as {own[0]})"
    return f" (at {'; '.join(parts)})" if parts else ""
