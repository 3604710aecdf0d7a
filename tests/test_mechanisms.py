"""The page that compares all mechanisms is complete, and as simulated."""

from __future__ import annotations

import json
import re
from importlib import import_module
from itertools import cycle

import pytest
from cellyard import _engine

#: Mechanisms that are not on the page. Without minimum rates `erica-mcr` equals `erica` to the bit, and a program is
#: whatever its text says.
LEFT_OUT = {"erica-mcr", "program"}


@pytest.mark.parametrize("family", ["drop", "feedback"])
def test_every_policy_and_feedback_is_compared(family: str) -> None:
    pytest.importorskip("matplotlib")
    (known,) = (found for found in json.loads(_engine.registry())["families"] if found["name"] == family)
    used = [getattr(mechanism, family) for mechanism in import_module("mechanisms").MECHANISMS]
    shown = {
        component if isinstance(component, str) else next(iter(component.TAG.values()))
        for component in used
        if component is not None
    }
    assert shown == {component["name"] for component in known["components"]} - LEFT_OUT


@pytest.fixture
def tables() -> dict[str, dict[str, list[str]]]:
    """Return the cells of the page by network and mechanism."""
    text = import_module("mechanisms").PAGE.read_text(encoding="utf-8")
    found = {}
    for name, section in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.M | re.S):
        lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
        found[name] = {cells[0]: cells for cells in lines[1:]}
    return found


def test_each_mechanism_is_as_simulated_on_one_of_the_networks(tables: dict[str, dict[str, list[str]]]) -> None:
    pytest.importorskip("matplotlib")
    made = import_module("mechanisms")
    assert [*tables] == [network.name for network in made.NETWORKS]
    (replications,) = re.findall(r"--replications (\d+)", made.PAGE.read_text(encoding="utf-8"))
    quick = [network for network in made.NETWORKS if network.name in ("LAN", "satellite")]
    for network, mechanism in zip(cycle(quick), made.MECHANISMS):
        values = made.measured(made.scenario_with(network, mechanism), int(replications))
        line = made.line(mechanism, values).strip("| ").split(" | ")
        assert tables[network.name][mechanism.name] == line


def test_the_sentences_on_mechanisms_are_those_of_the_tables(tables: dict[str, dict[str, list[str]]]) -> None:
    pytest.importorskip("matplotlib")
    made = import_module("mechanisms")
    sentences = re.findall(
        r"^\* (.+): most efficient (.+) \((.+); tail drop (.+)\), fairest (.+) \((.+); tail drop (.+)\)\.$",
        made.PAGE.read_text(encoding="utf-8"),
        re.M,
    )
    assert [name for name, *_ in sentences] == [*tables]
    for name, *told in sentences:
        for place, (best, value, plain) in ((2, told[:3]), (3, told[3:])):
            cells = {mechanism: float(row[place]) for mechanism, row in tables[name].items() if mechanism != made.IDEAL}
            assert cells[best] == max(cells.values())
            assert float(value) == pytest.approx(cells[best], abs=0.0056)
            assert float(plain) == pytest.approx(cells["tail drop"], abs=0.0056)
