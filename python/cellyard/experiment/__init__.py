"""Experiments: from a description to an answer.

A description names a base scenario, axes that vary it, metrics and one question. It is a TOML file
(`Experiment.read`) or a Python object::

    from cellyard import experiment as ex

    loss = ex.Experiment(
        name="buffer",
        base=examples.scenario("lan-5"),
        axes=[ex.Axis("switch.west.ubr.buffer", ex.Range("500 cells", "8000 cells", steps=16))],
        metrics=["cell_loss_ratio"],
        question=ex.Find("buffer", ["cell_loss_ratio < 0.001"]),
    )
    print(loss.run().text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellyard.system.lazy import lazily

if TYPE_CHECKING:
    from cellyard.experiment.description.axes import Axis as Axis, Range as Range
    from cellyard.experiment.description.design import Design as Design
    from cellyard.experiment.experiment import Experiment as Experiment, Outcome as Outcome
    from cellyard.experiment.questions.compare import Compare as Compare
    from cellyard.experiment.questions.find import Find as Find
    from cellyard.experiment.questions.precision import Precision as Precision
    from cellyard.experiment.questions.sensitivity import Sensitivity as Sensitivity
    from cellyard.experiment.questions.table import Table as Table

__getattr__, __dir__ = lazily(
    __name__,
    {
        "description.axes": "Axis Range",
        "description.design": "Design",
        "experiment": "Experiment Outcome",
        "questions.compare": "Compare",
        "questions.find": "Find",
        "questions.precision": "Precision",
        "questions.sensitivity": "Sensitivity",
        "questions.table": "Table",
    },
)
