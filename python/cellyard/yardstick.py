"""Whether one largest goodput, the yardstick of efficiency, serves several scenarios: another MSS has another part of cells for data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cellyard.overview import mbps, outline
from cellyard.scenario import Scenario


def serves_one_mss(scenarios: Iterable[Scenario]) -> str:
    """That ``measure.max_goodput`` is the same with every MSS and what it would be with two of them; empty where that is not so."""
    first: dict[tuple[int, ...], Scenario] = {}
    stated = set()
    for scenario in scenarios:
        data = scenario.to_dict()
        stated.add(data["measure"]["max_goodput"])
        first.setdefault(_mss(data["vcs"]), scenario)
    if len(first) < 2 or len(stated) > 1 or None in stated:
        return ""
    fair = {mss: outline(scenario.canonical)["fair_goodput_bps"] for mss, scenario in first.items() if mss}
    # Of many VCs fair shares are not told.
    told = [(mss, bps) for mss, bps in fair.items() if bps]
    other, of_other = next(((mss, bps) for mss, bps in told if bps != told[0][1]), ((), 0))
    if not other:
        return ""
    one, of_one = told[0]
    return (
        f"measure.max_goodput is {mbps(stated.pop())} with every mss, and fair shares of the links add up to {mbps(of_one)} "
        f"with {_bytes(one)} and to {mbps(of_other)} with {_bytes(other)}"
    )


def _mss(vcs: Sequence[dict[str, Any]]) -> tuple[int, ...]:
    """Every MSS of TCPs, in bytes."""
    return tuple(sorted({vc["traffic"]["mss"] for vc in vcs if vc["traffic"]["kind"] == "tcp"}))


def _bytes(mss: Sequence[int]) -> str:
    return f"{', '.join(map(str, mss))} bytes"
