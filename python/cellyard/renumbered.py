"""VCs without names are numbered in order, so a number may be another VC's where an axis changes how many there are."""

from __future__ import annotations

from collections.abc import Container, Iterable

from cellyard.attainable import Line
from cellyard.scenario import Scenario


def counts(paths: Iterable[str]) -> bool:
    """Whether one of the paths is how many hosts, switches or VCs there are.

    >>> counts(["vc.start", "host.near.count"]), counts(["host.account"])
    (True, False)
    """
    return any(path.rpartition(".")[2] == "count" for path in paths)


def note(axis: str, lines: Iterable[Line], names: Container[str] | None = None) -> list[str]:
    """A sentence on the first VC, among ``names`` where they are given, that one name does not stand for all along a line."""
    for line in lines:
        first: dict[str, tuple[str, str]] = {}
        for value, scenario in line:
            for name, ends in _ends(scenario).items():
                other, before = first.setdefault(name, (value, ends))
                if ends != before and (names is None or name in names):
                    return [
                        f"{axis} changes which VC {name} is: {before} with {other}, {ends} with {value}; "
                        "a `name` for each entry of `vc` keeps VCs apart"
                    ]
    return []


def _ends(scenario: Scenario) -> dict[str, str]:
    """Where each VC begins and ends."""
    return {vc["name"]: f"{vc['from']} to {vc['to']}" for vc in scenario.to_dict()["vcs"]}
