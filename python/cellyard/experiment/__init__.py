"""Experiments: from a description to an answer.

A description names a base scenario, axes that vary it, metrics and one question. It is a TOML file (`Experiment.read`) or built here::

    from cellyard import experiment as ex

    loss = ex.Experiment(
        name="buffer",
        base=ready.scenario("lan-5"),
        axes=[ex.Axis("switch.west.ubr.buffer", ex.Range("500 cells", "8000 cells", steps=16))],
        metrics=["cell_loss_ratio"],
        question=ex.Find("buffer", ["cell_loss_ratio < 0.001"]),
    )
    print(loss.run().text)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellyard.experiment.axes import Axis as Axis
    from cellyard.experiment.axes import Range as Range
    from cellyard.experiment.compare import Compare as Compare
    from cellyard.experiment.design import Design as Design
    from cellyard.experiment.experiment import Experiment as Experiment
    from cellyard.experiment.experiment import Outcome as Outcome
    from cellyard.experiment.find import Find as Find
    from cellyard.experiment.optimise import Optimise as Optimise
    from cellyard.experiment.precision import Precision as Precision
    from cellyard.experiment.sensitivity import Sensitivity as Sensitivity
    from cellyard.experiment.table import Table as Table

_HOME = {
    "Axis": "axes",
    "Compare": "compare",
    "Design": "design",
    "Experiment": "experiment",
    "Find": "find",
    "Optimise": "optimise",
    "Outcome": "experiment",
    "Precision": "precision",
    "Range": "axes",
    "Sensitivity": "sensitivity",
    "Table": "table",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"cellyard.experiment.{_HOME[name]}"), name)
    raise AttributeError(f"module 'cellyard.experiment' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOME, "__doc__", "__file__", "__name__"])
