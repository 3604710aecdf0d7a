"""Whether efficiencies along an axis can be compared: whether the goodput that they are relative to is in keeping with fair shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from cellyard.overview import mbps, outline
from cellyard.scenario import Scenario

#: Scenarios that differ in one axis, each with its value there.
Line: TypeAlias = Sequence[tuple[str, Scenario]]

#: Scenarios of a line whose fair shares are computed.
MOST_ASKED = 50

#: Why there is no efficiency.
UNSTATED = 'the scenario states no measure.max_goodput, as a rate or as "fair shares" of the links'
#: What makes efficiencies comparable.
CURE = 'measure.max_goodput = "fair shares" makes it relative to the sum at each point'


class FairSums:
    """What fair shares of the links add up to in scenarios, each computed once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int | None, int | None]] = {}

    def note(self, axis: str, lines: Iterable[Line]) -> list[str]:
        """A sentence where a line has one largest goodput and unlike sums: its efficiencies cannot be compared."""
        for line in lines:
            asked = line if len(line) <= MOST_ASKED else [*line[: MOST_ASKED - 1], line[-1]]
            first: dict[int, tuple[str, int]] = {}
            for value, scenario in asked:
                stated, fair = self._of(scenario)
                if not stated or not fair:
                    continue
                other, of_other = first.setdefault(stated, (value, fair))
                # The sums are rounded to the bit per second that is printed.
                if abs(fair - of_other) > 1:
                    return [
                        f"{axis} changes what the links can deliver: fair shares add up to {mbps(of_other)} with {other} and to "
                        f"{mbps(fair)} with {value}, but efficiency is relative to {mbps(stated)} in both; {CURE}"
                    ]
        return []

    def _of(self, scenario: Scenario) -> tuple[int | None, int | None]:
        """The goodput that efficiency is relative to, and the sum, in bits per second."""
        found = self._known.get(scenario.canonical)
        if found is None:
            facts = outline(scenario.canonical)
            found = self._known[scenario.canonical] = facts["max_goodput_bps"], facts["fair_goodput_bps"]
        return found


def lines(points: Iterable[tuple[Mapping[str, str], Scenario]], axes: Sequence[str]) -> list[Line]:
    """Points, by what they say of all axes, in groups that differ in ``axes`` alone; the value is that of the first of these."""
    found: dict[tuple[tuple[str, str], ...], list[tuple[str, Scenario]]] = {}
    for values, scenario in points:
        others = tuple((name, value) for name, value in values.items() if name not in axes)
        found.setdefault(others, []).append((values[axes[0]], scenario))
    return [line for line in found.values() if len(line) > 1]
