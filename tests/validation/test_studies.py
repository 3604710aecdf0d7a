"""Every published table as an ensemble, against the tolerances that the study states. Run by `make validate`."""

from typing import Any

import pytest
from cellyard.study import Rows, load, select, studies
from cellyard.study.agreement import agreement
from conftest import reproduced

REPLICATIONS = 20

TOLERANCES = [
    pytest.param(name, tolerance, id=" ".join(map(str, (name, *tolerance.values()))))
    for name, study in studies().items()
    for tolerance in study.info.get("tolerance", ())
]

_done: dict[tuple[str, str], Rows] = {}


def ensemble(name: str, table: str) -> Rows:
    """Rows of a table, simulated once per session."""
    if (name, table) not in _done:
        study = load(name)
        reproduction = reproduced(study, select(study, [table]), replications=REPLICATIONS)
        _done[name, table] = reproduction.rows
    return _done[name, table]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tolerance"), TOLERANCES)
def test_ensemble_agrees_with_the_published_values(name: str, tolerance: dict[str, Any]) -> None:
    limits = {key: tolerance[key] for key in ("mean_abs_error", "rank_correlation") if key in tolerance}
    group = {key: value for key, value in tolerance.items() if key not in ("table", "metric", *limits)}
    found = agreement(ensemble(name, tolerance["table"]).where(**group), tolerance["metric"])
    assert found["rows"] > 0
    if "mean_abs_error" in limits:
        assert found["mean_abs_error"] <= limits["mean_abs_error"]
    if "rank_correlation" in limits:
        assert found["rank_correlation"] >= limits["rank_correlation"]
