"""Ranges of ensembles, and how often one more draw lies in them."""

import numpy as np
import pytest
from cellyard.statistics import ranges


@pytest.mark.parametrize("runs", [2, 4, 9, 10, 20, 37, 100])
@pytest.mark.parametrize("law", ["random", "standard_normal", "standard_exponential"])
def test_a_further_value_lies_in_the_range_as_often_as_stated(runs: int, law: str) -> None:
    """Uses a Monte Carlo simulation of 4000 ensembles, with a standard error of at most 0.008."""
    draws = getattr(np.random.default_rng(1), law)((4000, runs + 1))
    found = [ranges.interval(ensemble[:-1].tolist()) or (0, 0) for ensemble in draws]
    inside = np.mean([low <= one <= high for (low, high), one in zip(found, draws[:, -1], strict=True)])
    assert inside == pytest.approx(ranges.share_inside(runs), abs=3 * 0.008)


@pytest.mark.parametrize("runs", range(1, 120))
def test_ends_of_ranges_are_values_of_runs(runs: int) -> None:
    """Of two modes without values between them, no end lies between. Each end has the rank nearest to its quantile."""
    values = [float(n) for n in range(runs)]
    low, high = ranges.interval(values) or (0, 0)
    assert low in values and high == runs - 1 - low and abs(low - 0.05 * (runs - 1)) <= 0.5
    assert ranges.has_quantiles(runs) == (low > 0)
    for slow in range(runs + 1):
        modes = [0.0137] * (runs - slow) + [0.29] * slow
        assert set(ranges.interval(modes) or ()) <= set(modes)
