"""Experiments with known answers: a function of the point replaces the engine."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cellyard import experiment as ex
from cellyard.experiment.runner import Replicate, Runner
from cellyard.scenario import examples
from cellyard.statistics.bounded import Value

BASE = examples.scenario("lan-5")
Measure = Callable[[Mapping[str, Any], int], Mapping[str, Value]]


def by(measure: Measure) -> Runner:
    """Return a runner whose results are a function of the values of a point and of the replication."""

    def run(draws: Sequence[Replicate]) -> Iterator[tuple[int, Mapping[str, Value]]]:
        for place, draw in enumerate(draws):
            yield place, measure(draw.point.values, draw.replication)

    return run


def drawn(*address: object) -> random.Random:
    """Return a separate random generator for each address."""
    return random.Random("/".join(map(str, address)))


def comparison(metrics: Sequence[str] = ("efficiency",), variants: int = 3, replications: int = 10) -> ex.Experiment:
    values = [f"{1000 + i} cells" for i in range(variants)]
    return ex.Experiment(
        name="compare",
        base=BASE,
        axes=[ex.Axis("switch.west.ubr.buffer", values)],
        metrics=list(metrics),
        question=ex.Compare("buffer", list(metrics)),
        replications=replications,
    )


def hill(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
    """Result surface with its maximum at r = 0.6, z = 0.3; fairness falls with r."""
    noise = drawn(i).gauss(0, 0.01)
    return {"efficiency": 1 - (at["r"] - 0.6) ** 2 - (at["z"] - 0.3) ** 2 + noise, "fairness": 1 - at["r"]}
