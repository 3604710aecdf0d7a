"""The units of a grid's values in data tables are those that the engine reads."""

import json
from collections.abc import Callable
from typing import Any

import cellyard as cy
import pytest
from cellyard import _engine
from cellyard.show.columns import _ALIASES, _UNITS, as_columns
from cellyard.system.format import aal5
from conftest import LAN

#: For each kind of quantity: a field, its place in the resolved scenario, and how many of its units
#: make one of the column.
FIELDS: dict[str, tuple[str, Callable[[dict[str, Any]], float]]] = {
    "s": ("link.0.delay", lambda data: data["links"][0]["delay"] / aal5().ticks_per_second),
    "ticks": ("link.0.delay", lambda data: data["links"][0]["delay"]),
    "mbps": ("link.0.rate", lambda data: data["links"][0]["rate"] / 1e6),
    "cells_per_s": ("link.0.rate", lambda data: data["links"][0]["rate"] / aal5().cell_bits),
    "cells": ("switch.west.ubr.buffer", lambda data: data["switches"][0]["queues"][0]["buffer"]),
    "bytes": ("vc.traffic.rwnd", lambda data: data["vcs"][0]["traffic"]["rwnd"]),
}


def test_every_unit_of_the_engine_is_known_in_each_spelling() -> None:
    units = [unit for quantity in json.loads(_engine.registry())["units"] for unit in quantity["units"]]
    assert {unit["name"] for unit in units} == set(_UNITS)
    assert {(other, unit["name"]) for unit in units for other in unit["also"]} == set(_ALIASES.items())


@pytest.mark.parametrize("unit", [*_UNITS, *_ALIASES])
def test_quantities_have_the_value_that_the_engine_reads(unit: str) -> None:
    column = _UNITS[_ALIASES.get(unit, unit)][0]
    path, read = FIELDS[column]
    numbers = {"bps": 5000, "b/s": 5000, "bit/s": 5000, "cells/s": 500, "cell": 300, "cells": 300}
    numbers |= dict.fromkeys(("Tbps", "Tb/s", "Tbit/s", "GB", "GiB"), 1) | dict.fromkeys(("B", "byte", "bytes"), 4096)
    number = numbers.get(unit, 3)
    (point,) = as_columns([{path: f"{number} {unit}"}])
    (name,) = point
    assert name == f"{path}_{column}"
    if unit.startswith("packet"):  # a unit in the format `ethernet` alone
        incast = cy.examples.scenario("incast").with_values({"switch.switch.ubr.buffer": f"{number} {unit}"})
        assert read(incast.to_dict()) == point[name]
        return
    scenario = cy.Scenario.from_toml(LAN, overrides=[(path, f"{number} {unit}")])
    assert read(scenario.to_dict()) == pytest.approx(point[name], rel=1e-9)


def test_columns_of_mixed_values_keep_the_text_as_typed() -> None:
    for values in (
        ["default", "200 ms"],
        ["epd", '{ policy = "fba" }'],
        ["1", "2 cells"],
        ["1 s", "2 cells"],
        ["unlimited"],
    ):
        assert as_columns([{"x": value} for value in values]) == [{"x": value} for value in values]
    assert as_columns([{"x": '"1 kB"'}, {"x": "1000 bytes"}]) == [{"x_bytes": 1000}, {"x_bytes": 1000}]
    assert as_columns([{}, {}]) == [{}, {}]
