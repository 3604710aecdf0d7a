"""Experiments with known answers: a function of the point replaces the engine."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cellyard import experiment as ex
from cellyard.experiment.description.design import Point
from cellyard.runs.runner import Replicate, Runner
from cellyard.scenario import examples
from cellyard.statistics.bounded import Value

BASE = examples.scenario("lan-5")
BUFFER = "switch.west.ubr.buffer"
Measure = Callable[[Mapping[str, Any], int], Mapping[str, Value]]


def by(measure: Measure) -> Runner[Point]:
    """Return a runner whose results are a function of the values of a point and of the replication."""

    def run(draws: Sequence[Replicate[Point]]) -> Iterator[tuple[int, Mapping[str, Value]]]:
        for place, draw in enumerate(draws):
            yield place, measure(draw.point.values, draw.replication)

    return run


def drawn(*address: object) -> random.Random:
    """Return a separate random generator for each address."""
    return random.Random("/".join(map(str, address)))


def buffers(*cells: int, **more: Any) -> ex.Axis:
    """Return an axis of these buffers."""
    return ex.Axis(BUFFER, [f"{number} cells" for number in cells], **more)


def made(*axes: ex.Axis, **fields: Any) -> Any:
    """Return an experiment on the efficiency of `lan-5`, unless stated otherwise."""
    return ex.Experiment(axes=axes, **{"name": "made", "base": BASE, "metrics": ["efficiency"], **fields})


def asked(measure: Measure, *axes: ex.Axis, **fields: Any) -> Any:
    """Return the outcome of such an experiment, of which the results are a function."""
    return made(*axes, **fields).run(runner=by(measure))


def comparison(metrics: Sequence[str] = ("efficiency",), variants: int = 3, replications: int = 10) -> Any:
    question = ex.Compare("buffer", metrics)
    return made(buffers(*range(1000, 1000 + variants)), metrics=metrics, question=question, replications=replications)


def hill(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
    """Result surface with its maximum at r = 0.6, z = 0.3; fairness falls with r."""
    noise = drawn(i).gauss(0, 0.01)
    return {"efficiency": 1 - (at["r"] - 0.6) ** 2 - (at["z"] - 0.3) ** 2 + noise, "fairness": 1 - at["r"]}
