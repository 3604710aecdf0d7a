"""The question `optimise`: a known maximum, requirements, and the order of the best points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from cellyard.statistics.bounded import Value
from known_answers import by, hill, optimising


def test_optimise_gets_near_the_top_and_gives_up_bad_trials() -> None:
    experiment = optimising(goals={"efficiency": "highest"}, trials=80)
    outcome = experiment.run(runner=by(hill))
    assert outcome.answer is not None
    (best,) = outcome.answer.tables["best"]
    assert abs(float(best["r"]) - 0.6) < 0.12
    assert abs(float(best["z"]) - 0.3) < 0.12
    assert "given up early (median)" in outcome.text
    assert outcome.runs < 80 * 8
    point = next(at for at, kept in outcome.measured.items() if len(kept) == 16)  # the best point, with fresh runs too
    fresh = [value for i in range(8, 16) if isinstance(value := outcome.measured[point][i]["efficiency"], float)]
    assert f"{sum(fresh) / 8:.4g} [" in outcome.text and "in 8 fresh replications" in outcome.text
    again = experiment.run(runner=by(hill))
    assert again.answer == outcome.answer  # every run gives the same result


def test_optimise_meets_its_requirements() -> None:
    outcome = optimising(goals={"efficiency": "highest"}, require=["fairness > 0.6"], trials=60).run(runner=by(hill))
    assert outcome.answer is not None
    (best,) = outcome.answer.tables["best"]
    assert 0.2 < float(best["r"]) < 0.4
    none = optimising(goals={"efficiency": "highest"}, require=["fairness > 2"], trials=10).run(runner=by(hill))
    assert "No trial meets fairness > 2." in none.text


def test_optimise_with_two_goals_returns_a_pareto_front() -> None:
    outcome = optimising(goals={"efficiency": "highest", "fairness": "highest"}, trials=60).run(runner=by(hill))
    assert outcome.answer is not None
    best = [(record["efficiency"], record["fairness"]) for record in outcome.answer.tables["best"]]
    assert len(best) > 3
    assert not any(a[0] >= b[0] and a[1] >= b[1] for a in best for b in best if a is not b)
    assert (
        f"{len(best)} points are Pareto-optimal for highest efficiency and highest fairness: no trial" in outcome.text
    )
    assert outcome.text.count("(95 % confidence: +-") == 1
    assert outcome.text.count("(uncertainty not known)") == 1  # fairness is equal in all replications


def test_best_points_are_sorted_by_the_first_goal() -> None:
    for direction, sign in (("highest", 1), ("lowest", -1)):
        goals = {"fairness": direction, "efficiency": "highest"}
        answer = optimising(goals=goals, trials=24, sampler="random").run(runner=by(hill)).answer
        assert answer is not None
        found = [sign * record["fairness"] for record in answer.tables["best"]]
        assert len(found) > 1 and found == sorted(found, reverse=True)


@pytest.mark.parametrize("pruner", ["none", "median"])
def test_a_point_of_which_some_runs_have_no_value_is_not_best(pruner: str) -> None:
    """The surface is highest at r = 0.6, but beyond 0.5 every fourth run gives no value, and the others give more."""

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, Value]:
        found = hill(at, i)
        return found if at["r"] < 0.5 else {**found, "efficiency": None if i % 4 == 0 else found["efficiency"] + 1}

    outcome = optimising(goals={"efficiency": "highest"}, trials=24, pruner=pruner).run(runner=by(measure))
    assert outcome.answer is not None
    (best,), unknown = (outcome.answer.tables[name] for name in ("best", "not_known"))
    assert float(best["r"]) < 0.5 and len(unknown) > 3
    assert all(float(record["r"]) >= 0.5 and record["efficiency"] is None for record in unknown)
    assert f"{len(unknown)} not known" in outcome.text and "Some runs have no value: efficiency in " in outcome.text

    # A condition, of which the means cover only some runs, decides nothing either.
    goals, require = {"fairness": "lowest"}, ["efficiency > 1"]
    outcome = optimising(goals=goals, require=require, trials=24, pruner=pruner).run(runner=by(measure))
    assert outcome.text.startswith("No trial meets efficiency > 1, among the ")
