"""Classes of results and their schema: one description, with nothing of a document lost or invented."""

import json
from typing import Any

import cellyard as cy
import numpy as np
import pytest
from cellyard import _engine, results
from cellyard.experiment import metric_kind
from cellyard.results import path as metric_path, tables, types as result_types
from cellyard.results.part import ResultPart
from cellyard.statistics.bounded import ABOVE, BELOW
from conftest import LAN

SCHEMA: dict[str, Any] = json.loads(_engine.results_schema())

PYTHON = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None), "array": list}


@pytest.fixture(scope="module")
def run() -> cy.RunResult:
    """Return a run with drops, a series, a trace and a digest."""
    probes = '[{ what = "queue", of = "west->east", interval = "100 ms" }, { what = "trace", of = "vc1" }]'
    pool = ("switch.west.pool", '{ buffer = "1000 cells" }')
    return cy.Scenario.from_toml(LAN, overrides=[("probe", probes), pool]).run(digest=True).only


def check(value: Any, schema: dict[str, Any]) -> None:
    """Check that a document has exactly what its schema describes, in the same order."""
    schema = {**schema, **SCHEMA["$defs"].get(schema.get("$ref", "").rpartition("/")[2], {})}
    if "anyOf" in schema:
        check(value, schema["anyOf"][1 if value is None else 0])
    elif "oneOf" in schema:
        assert value in [choice["const"] for choice in schema["oneOf"]]
    elif "properties" in schema:
        assert list(value) == schema["required"]
        for name, inner in value.items():
            check(inner, schema["properties"][name])
    else:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert type(value) in [PYTHON[kind] for kind in kinds]
        for item in value if isinstance(value, list) else []:
            check(item, schema["items"])


def test_the_document_of_a_run_follows_its_schema(run: cy.RunResult) -> None:
    check(run.to_dict(), SCHEMA)
    assert run.to_dict()["trace"] and run.to_dict()["series"]


def test_a_run_has_every_field_of_its_document(run: cy.RunResult) -> None:
    for name in SCHEMA["required"]:
        value, stated = getattr(run, name), run.to_dict()[name]
        if isinstance(stated, list):
            assert len(value) == len(stated) > 0
        elif not isinstance(stated, dict):
            assert value == stated


def test_values_of_parts_are_those_of_the_document(run: cy.RunResult) -> None:
    vc, cell = run.to_dict()["vcs"][0], run.to_dict()["trace"][0]
    (port,) = (port for port in run.to_dict()["ports"] if port["name"] == "west->east")
    found = run.vcs["vc1"]
    assert (found.source, found.destination, found.service_class) == (vc["from"], vc["to"], vc["class"])
    assert (found.carries, found.traffic, found.segments) == ("frames", "tcp", vc["segments"])
    dropped = run.ports[port["name"]].dropped_cells
    assert {name: getattr(dropped, name) for name in port["dropped_cells"]} == port["dropped_cells"]
    assert dropped.total == sum(port["dropped_cells"].values()) > 0
    assert run.ports[port["name"]].classes[0].sent_cells == port["classes"][0]["sent_cells"]
    assert (run.trace[0].reason, run.trace[0].direction) == (cell["reason"], cell["direction"])
    series = run.series[0]
    assert isinstance(series.value, np.ndarray) and series.value.tolist() == run.to_dict()["series"][0]["value"]
    assert (series.service_class, series.vc, series.unit) == (None, None, "cells")


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ("totals", "cells"), ("vcs", "name"), ("ports", "name"), ("classes", "cells_sent"), ("series", "unit"), ("trace", "vc"),
    ],
)  # fmt: skip
def test_unknown_and_missing_fields_are_errors(run: cy.RunResult, part: str, field: str) -> None:
    def changed(**more: Any) -> cy.RunResult:
        document = {**run.to_dict()}
        inner = document[part]
        changed = {**(inner if isinstance(inner, dict) else inner[0]), **more}
        kept = {name: value for name, value in changed.items() if value is not ...}
        document[part] = kept if isinstance(inner, dict) else [kept, *inner[1:]]
        return cy.RunResult(document)

    assert getattr(changed(), part)
    with pytest.raises(TypeError, match="made_up"):
        getattr(changed(made_up=1), part)
    with pytest.raises(TypeError, match=field):
        getattr(changed(**{field: ...}), part)


def test_numbers_are_the_integers_and_floats_of_the_schema() -> None:
    for name, schema in SCHEMA["$defs"].items():
        kind = getattr(results, name, None)
        if not (isinstance(kind, type) and issubclass(kind, ResultPart)):
            assert "oneOf" in schema
            continue
        stated = {}
        for field in schema["required"]:
            types = schema["properties"][field].get("type", [])
            for number in {"integer", "number"} & {*([types] if isinstance(types, str) else types)}:
                stated[field] = number == "integer"
        assert kind.numbers() == stated
    assert results.Totals.numbers()["timeouts"] and not results.Totals.numbers()["efficiency"]


def test_every_list_within_a_run_is_a_table() -> None:
    def lists(schema: dict[str, Any]) -> dict[str, str]:
        """Return the fields that are lists of parts, with the names of the parts."""
        listed = {
            name: property_schema["items"].get("$ref", "").rpartition("/")[2]
            for name, property_schema in schema["properties"].items()
            if "items" in property_schema
        }
        return {name: part for name, part in listed.items() if part}

    within = {(of, field) for of, part in lists(SCHEMA).items() for field in lists(SCHEMA["$defs"][part])}
    assert within == {(of, field) for of, field, _ in tables.WITHIN.values()}
    # Each series becomes a table of points.
    assert {"runs", *lists(SCHEMA), *tables.WITHIN} - {"series"} == set(tables.PARTS)


def test_every_part_with_numbers_can_be_measured() -> None:
    parts = {
        kind
        for kind in vars(result_types).values()
        if isinstance(kind, type) and issubclass(kind, ResultPart) and kind.numbers()
    }
    measured = {below.kind for parts in metric_path.PARTS.values() for below in parts.values()}
    # These parts have no names.
    assert parts - measured == {results.TransferResult, results.DroppedCell}, "not in metric_path.PARTS"


def test_numbers_without_units_are_shares_except_for_two() -> None:
    units = ("_s", "_mbps", "_cells", "_bytes", "_places", ABOVE, BELOW)
    kinds = (kind for kind in vars(result_types).values() if isinstance(kind, type) and issubclass(kind, ResultPart))
    numbers = {
        name for kind in kinds for name, is_count in kind.numbers().items() if not is_count and not name.endswith(units)
    }
    shares = {name.removeprefix("measured_") for name in numbers - {"host_load", "drop_probability"}}
    assert shares == set(metric_kind.SHARES), "see SHARES in experiment/metric_kind.py"
