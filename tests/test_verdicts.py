"""Verdicts on claims: what intervals over replications decide, and what they leave open."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

import pytest
from cellyard.study import Row, Rows
from cellyard.study.verdicts import Replications, Rule, Verdict, every, share
from cellyard.system.errors import UsageError


def with_margins(by_run: Mapping[str, Sequence[float]]) -> Replications:
    """Return rows with these margins by replication."""
    centres = {name: fmean(values) for name, values in by_run.items()}
    return Replications(Rows([Row("1", {}, {}, simulated=centres, samples={k: tuple(v) for k, v in by_run.items()})]))


def verdict_of(*by_run: Sequence[float], least: int) -> str:
    """Return the verdict on the claim that at least so many margins exceed 0."""
    names = {str(k): values for k, values in enumerate(by_run)}

    def judge(rows: Rows) -> Verdict:
        return Verdict("", Rule(tuple(rows[0].simulated[name] for name in names), least))

    return with_margins(names).decide(judge)[0]


def test_a_verdict_needs_intervals_on_one_side() -> None:
    up, down, around = ([1.0, 1.1, 0.9] * 4, [-1.0, -1.1, -0.9] * 4, [1.0, -0.9, 0.1] * 4)
    assert verdict_of(up, up, least=2) == verdict_of(up, down, least=1) == verdict_of(up, around, least=1) == "holds"
    assert verdict_of(up, down, least=2) == verdict_of(down, around, least=2) == "contradicted"
    assert verdict_of(up, around, least=2) == verdict_of(down, around, least=1) == "not decided"
    # Fewer than six replications decide nothing, however equal.
    assert verdict_of([1.0] * 5, least=1) == "not decided" and verdict_of([1.0] * 6, least=1) == "holds"


def test_the_evidence_counts_what_is_shown() -> None:
    margins = {"a": [1.0, 1.1, 0.9] * 4, "b": [1.0, -0.9, 0.1] * 4, "c": [-1.0, -1.1, -0.9] * 4}
    found = with_margins(margins).decide(lambda rows: Verdict("text", share(rows[0].simulated.values(), 2 / 3)))
    assert found == ("not decided", "text. Of 3 conditions (2 needed), 1 are shown to hold and 1 to be violated")


def test_noise_alone_seldom_decides() -> None:
    """Without any difference, a verdict is given in at most about 5 % of the cases, however many margins there are."""
    draw = random.Random(1)
    for count, least in ((1, 1), (4, 4), (12, 10), (12, 3)):
        found = Counter(
            verdict_of(*([draw.gauss(0, 1) for _ in range(20)] for _ in range(count)), least=least) for _ in range(300)
        )
        assert found["contradicted"] <= 0.05 * 300 + 12 and found["holds"] <= 0.05 * 300 + 12, (count, least, found)


def test_a_median_on_the_other_side_than_the_mean_decides_nothing() -> None:
    values = (1.0,) * 11 + (-9.0,) * 9
    row = Row("1", {}, {}, simulated={"m": 1.0}, samples={"m": values})
    assert Replications(Rows([row])).decide(lambda rows: Verdict("", every(rows[0].simulated["m"])))[0] == "not decided"


def test_a_claim_of_which_no_run_defines_the_numbers_is_not_decided() -> None:
    row = Row("1", {}, {}, simulated={"m": 1.0, "n": 1.0}, samples={"m": (1.0,) * 8, "n": (None,) * 7 + (1.0,)})

    def judge(rows: Rows) -> Verdict:
        return Verdict("", every(value for value in rows[0].simulated.values() if value is not None))

    assert Replications(Rows([row])).decide(judge)[0] == "not decided"


def test_a_verdict_without_rules_is_refused() -> None:
    for rules in ((), (True,)):
        with pytest.raises(UsageError, match=r"needs rules, made by every\(\) or share\(\)"):
            Verdict("", *rules)
