"""The page that compares all mechanisms is complete, and as simulated."""

from __future__ import annotations

import csv
import json
import re
from itertools import cycle

import cellyard as cy
import figures
import pytest
from cellyard import _engine


@pytest.mark.parametrize("family", ["drop", "feedback"])
def test_a_policy_without_a_row_by_hand_gets_one_with_its_defaults(family: str) -> None:
    shown = {figures.component(getattr(one, family)) for one in figures.MECHANISMS if getattr(one, family)}
    (known,) = (found for found in json.loads(_engine.registry())["families"] if found["name"] == family)
    assert shown == {component["name"] for component in known["components"]} - figures.LEFT_OUT
    assert figures.unlisted(family, shown - {"ppd", "erica"}) == ["ppd" if family == "drop" else "erica"]
    of_network = figures.NETWORKS[0]
    by_hand, by_name = figures.Mechanism("PPD", "", cy.Ppd()), figures.Mechanism("ppd", "", "ppd")
    assert figures.scenario_with(of_network, by_name) == figures.scenario_with(of_network, by_hand)


@pytest.fixture
def tables() -> dict[str, dict[str, list[str]]]:
    """Return the lines of the table by network and mechanism."""
    found: dict[str, dict[str, list[str]]] = {}
    with figures.TABLE.open(encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    assert tuple(head) == figures.HEAD
    for cells in lines:
        found.setdefault(cells[0], {})[cells[1]] = cells
    return found


def test_each_mechanism_is_as_simulated_on_one_of_the_networks(tables: dict[str, dict[str, list[str]]]) -> None:
    assert [*tables] == [network.name for network in figures.NETWORKS]
    quick = [network for network in figures.NETWORKS if network.name in ("LAN", "satellite")]
    for network, mechanism in zip(cycle(quick), figures.MECHANISMS):
        values = figures.measured(figures.scenario_with(network, mechanism))
        assert tables[network.name][mechanism.name] == figures.line(network, mechanism, values)


def test_the_sentences_on_mechanisms_are_those_of_the_tables(tables: dict[str, dict[str, list[str]]]) -> None:
    sentences = re.findall(
        r"^\* (.+): most efficient (.+) \((.+); tail drop (.+)\), fairest (.+) \((.+); tail drop (.+)\)\.$",
        figures.PAGE.read_text(encoding="utf-8"),
        re.M,
    )
    assert [name for name, *_ in sentences] == [*tables]
    for name, *told in sentences:
        for place, (best, value, plain) in ((3, told[:3]), (4, told[3:])):
            cells = {
                mechanism: float(row[place]) for mechanism, row in tables[name].items() if mechanism != figures.IDEAL
            }
            assert cells[best] == max(cells.values())
            assert float(value) == pytest.approx(cells[best], abs=0.0056)
            assert float(plain) == pytest.approx(cells["tail drop"], abs=0.0056)
