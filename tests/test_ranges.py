"""Ranges of ensembles, and how often one more draw lies in them."""

from __future__ import annotations

import numpy as np
import pytest
from cellyard.statistics import ranges


@pytest.mark.parametrize("runs", [2, 4, 9, 10, 20, 37, 100])
@pytest.mark.parametrize(("law", "off"), [("random", 0.0), ("standard_normal", 0.023), ("standard_exponential", 0.018)])
def test_a_further_value_lies_in_the_range_as_often_as_stated(runs: int, law: str, off: float) -> None:
    """Uses a Monte Carlo simulation of 4000 ensembles, with a standard error of at most 0.008."""
    draws = getattr(np.random.default_rng(1), law)((4000, runs + 1))
    found = [ranges.interval(ensemble[:-1].tolist()) or (0, 0) for ensemble in draws]
    inside = np.mean([low <= one <= high for (low, high), one in zip(found, draws[:, -1], strict=True)])
    assert inside == pytest.approx(ranges.share_inside(runs), abs=3 * 0.008 + off * ranges.has_quantiles(runs))


def test_ranges_are_of_quantiles_from_ten_runs_on_even_where_some_have_no_value() -> None:
    values = [float(n) for n in range(9)]
    assert ranges.interval(values) == (0, 8)
    assert ranges.interval([*values, 9.0]) == pytest.approx((0.45, 8.55))
    assert ranges.interval(values, runs=10) == pytest.approx((0.4, 7.6))
