"""The question `compare`: planted differences, equal variants, and the wording of answers."""

from collections.abc import Mapping
from typing import Any

import pytest
from cellyard import experiment as ex
from cellyard.statistics.difference import at_confidence, log_no_difference
from cellyard.statistics.inference import holm
from known_answers import BASE, asked, buffers, by, comparison, drawn


def test_compare_finds_a_planted_difference_and_says_how_large_it_is() -> None:
    """The noise of a replication is common to all variants and ten times the planted difference."""

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        common = drawn("common", i).gauss(0.5, 0.5)
        return {"efficiency": common + drawn(at["buffer"], i).gauss(0, 0.01) + (0.05 if at["buffer"] == 1002 else 0)}

    outcome = comparison(replications=20).run(runner=by(measure))
    found = {(record["variant"], record["against"]): record for record in outcome.answer.tables["comparisons"]}
    assert found["1001 cells", "1000 cells"]["better"] == "not significant"
    for against in ("1000 cells", "1001 cells"):
        record = found["1002 cells", against]
        assert record["better"] == "1002 cells"
        assert record["difference_low"] < 0.05 < record["difference_high"]
    assert "1002 cells is better than 1000 cells: efficiency is higher by 0.0" in outcome.text


def test_compare_calls_equal_variants_different_as_rarely_as_stated() -> None:
    """Compares 10 pairs without a difference, 1 000 times.

    Some pair is called different in at most 5 %; 7 % is 3 standard errors above.
    """
    wrong = 0
    for repetition in range(1000):
        r = drawn("equal", repetition)
        variants = [[r.gauss(0, 1) for _ in range(10)] for _ in range(5)]
        pairs = [
            log_no_difference([y - x for x, y in zip(variants[a], variants[b], strict=True)])
            for a in range(5)
            for b in range(a)
        ]
        wrong += any(result.probability < 0.05 for result in holm(pairs, 0.95))
    assert 0.005 < wrong / 1000 < 0.07


def test_intervals_of_compare_exclude_zero_exactly_for_different_pairs() -> None:
    seen = set()
    for repetition in range(60):
        r = drawn("steps", repetition)
        samples = [[r.gauss(shift, 1) for _ in range(8)] for shift in (0, 0.6, 1.2, 2.4)]
        for result, values in zip(holm([log_no_difference(v) for v in samples], 0.95), samples, strict=True):
            found = at_confidence(values, result.confidence)
            assert found.low is not None and found.high is not None
            assert (result.probability < 0.05) == (not found.low <= 0 <= found.high)
            seen.add(result.probability < 0.05)
    assert seen == {True, False}


def test_compare_reports_the_number_of_defined_pairs() -> None:
    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float | None]:
        undefined = at["buffer"] == 1002 and i >= 6
        return {"efficiency": None if undefined else 0.1 * at["buffer"] + drawn(at["buffer"], i).gauss(0, 0.01)}

    text = comparison(replications=10).run(runner=by(measure)).text
    assert text.endswith(
        "10 replications of each variant, with common random numbers; in 6 to 10 of these, the metric is defined for both variants."
    )
    whole = comparison(replications=10, variants=2).run(runner=by(measure)).text
    assert whole.endswith("10 replications of each variant, with common random numbers.")


def test_a_difference_of_a_single_pair_is_not_known() -> None:
    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float | None]:
        return {"efficiency": None if at["buffer"] == 1001 and i else 0.5 + 0.1 * i}

    outcome = comparison(replications=3, variants=2).run(runner=by(measure))
    assert outcome.answer.tables["comparisons"][0]["better"] == "not known"
    assert outcome.text.startswith(
        "The difference in efficiency between 1001 cells and 1000 cells is not known: 1 replication defines it for both."
    )


@pytest.mark.parametrize(
    ("replications", "variants", "difference", "better", "probability"),
    [
        (2, 2, 1, "not known", None),
        (5, 2, 1, "not known", None),
        (6, 2, 1, "1001 cells", 2**-5),
        (6, 3, 1, "not known", None),
        (8, 3, 1, "1001 cells", 3 * 2**-7),
        (2, 2, 0, "not significant", 1.0),
    ],
)
def test_equal_differences_are_significant_only_by_enough_equal_signs(
    replications: int, variants: int, difference: int, better: str, probability: float | None
) -> None:
    """Equal differences have no spread, so only their signs count: n are equal by chance with probability 2^(1 - n)."""
    outcome = comparison(replications=replications, variants=variants).run(
        runner=by(lambda at, i: {"efficiency": i + difference * (at["buffer"] - 1000)})
    )
    record = outcome.answer.tables["comparisons"][0]
    assert (record["better"], record["difference"]) == (better, difference)
    assert record["p"] == (probability and pytest.approx(probability))
    ends = None if better == "not known" else difference
    assert (record["difference_low"], record["difference_high"]) == (ends, ends)
    if better == "not known":
        assert outcome.text.startswith(
            "The difference in efficiency between 1001 cells and 1000 cells is not known: "
            f"it is 1 in each of {replications} replications, too few to show how it varies."
        )
        assert "differences" not in [figure.name for figure in outcome.figures()]


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        (
            [0.1, 0.3, 0.2],
            ["{} is higher with each of the 3 others than with 1000 cells; the largest estimated gain is 0.3 [0.3, 0.3], with 1002 cells."],
        ),
        (
            [0.1, -0.3, 0.0],
            [
                "{} is higher with 1001 cells than with 1000 cells, by 0.1 [0.1, 0.1].",
                "{} is lower with 1002 cells, by 0.3 [0.3, 0.3].",
                "With 1003 cells, there is no significant difference in {}.",
            ],
        ),
        (
            [-0.1, -0.3, 0.0],
            [
                "{} is lower with 1001 cells and 1002 cells than with 1000 cells; the largest estimated loss is 0.3 [0.3, 0.3], "
                "with 1002 cells.",
                "With 1003 cells, there is no significant difference in {}.",
            ],
        ),
    ],
)  # fmt: skip
def test_comparisons_against_a_value_claim_nothing_about_the_others(gains: list[float], expected: list[str]) -> None:
    """With twenty replications, equal differences are significant."""
    metrics = ["efficiency", "fairness"]
    answer = asked(
        lambda at, i: dict.fromkeys(metrics, [0.0, *gains][int(at["buffer"]) - 1000]),
        buffers(*range(1000, 1004)),
        metrics=metrics,
        question=ex.Compare("buffer", metrics, against="1000 cells"),
    ).answer
    assert answer.sentences[:-1] == [
        *(sentence.format(metric) for metric in metrics for sentence in expected),
        "Each was compared with 1000 cells only; to test all pairs, leave out `against`.",
    ]


@pytest.mark.parametrize(
    ("significant", "expected"),
    [
        (0, "No difference in efficiency is shown; no significant difference in 9 of 9 comparisons."),
        (1, "In efficiency, 1001 cells is better in 2 of its 6 comparisons, by 0.1 on average; "
            "no significant difference in 7 of 9 comparisons."),
        (3, "Best in efficiency is 1001 cells: better in all its 6 comparisons, by 0.1 on average; "
            "no significant difference in 3 of 9 comparisons."),
    ],
)  # fmt: skip
def test_comparisons_of_all_pairs_name_the_best_only_if_it_wins_everywhere(significant: int, expected: str) -> None:
    policies = ["epd", "tail-drop", "ppd"]
    better = policies[:significant]
    answer = asked(
        lambda at, i: {"efficiency": 0.1 * (at["buffer"] == 1001 and at["policy"] in better)},
        buffers(1000, 1001, 1002),
        ex.Axis("switch.west.ubr.drop", policies, name="policy"),
        question=ex.Compare("buffer"),
    ).answer
    assert answer.sentences[0] == expected


@pytest.mark.parametrize("loss", [0, 1])
def test_values_that_win_equally_often_are_named_together(loss: int) -> None:
    """1001 and 1002 cells are equal and beat the others, except for one comparison with 1003 cells if ``loss``."""
    values = {1000: 0.0, 1001: 0.3, 1002: 0.3, 1003: 0.1}

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        lost = loss and at["policy"] == "epd" and at["buffer"] == 1003
        return {"goodput_mbps": values[at["buffer"]] + lost}

    answer = asked(
        measure,
        buffers(*range(1000, 1004)),
        ex.Axis("switch.west.ubr.drop", ["epd", "tail-drop"], name="policy"),
        metrics=["goodput_mbps"],
        question=ex.Compare("buffer"),
    ).answer
    if loss:
        gains = "by 0.2667 Mb/s on average"
        shown = f"1001 cells and 1002 cells are each better in 3 of their 6 comparisons, {gains}, and worse in 1"
        assert answer.sentences[0].startswith(f"In goodput_mbps, {shown};")
    else:
        assert answer.sentences[0] == (
            "Best in goodput_mbps are 1001 cells and 1002 cells, with no significant difference between them: each better "
            "in all their 4 comparisons with the others, by 0.25 Mb/s on average; "
            "no significant difference in 2 of 12 comparisons."
        )


@pytest.mark.parametrize("count", [1, 3, 6])
def test_many_comparisons_give_a_sentence_for_each_of_four_metrics(count: int) -> None:
    names = [f"m{k}" for k in range(count)]

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        return dict.fromkeys(names, int(at["buffer"]) / 10000 + drawn(at["buffer"], i).gauss(0, 0.001))

    answer = asked(
        measure,
        buffers(500, 1000, 2000, 4000),
        metrics=dict.fromkeys(names, "efficiency"),
        question=ex.Compare("buffer", names),
        replications=10,
    ).answer
    assert len(answer.tables["comparisons"]) == 6 * count
    assert len(answer.sentences) == min(count, 4) + 1 + (count > 4)
    first = "Best in m0 is 4000 cells: better in all its 3 comparisons, by 0.28"
    assert answer.sentences[0].startswith(first) and "; all 6 differences are significant." in answer.sentences[0]
    assert (answer.sentences[-2] == "The table has 2 more metrics.") == (count == 6)


def test_an_efficiency_above_one_is_noted() -> None:
    above = comparison(variants=2).run(runner=by(lambda at, i: {"efficiency": 1.1 + 0.01 * i}))
    (note,) = above.to_dict()["notes"]
    assert note.startswith("efficiency reaches 1.190: more was delivered than measure.max_goodput allows. If an axis")
    fair = asked(
        lambda at, i: {"efficiency": 1.1 + 0.01 * i},
        buffers(1000, 1001),
        base=BASE.with_values({"measure.max_goodput": "fair shares"}),
        question=ex.Compare("buffer"),
    )
    (note,) = fair.to_dict()["notes"]
    assert "fair shares" not in note  # the base has them already
    assert comparison(variants=2).run(runner=by(lambda at, i: {"efficiency": 1.0004})).to_dict()["notes"] == []


@pytest.mark.parametrize("against", [None, "1000 cells"])
@pytest.mark.parametrize("variants", [2, 6])
@pytest.mark.parametrize(("metric", "verb"), [("timeouts", "are"), ("p99_transfer_s", "is"), ("max_queue_cells", "is")])
def test_a_verb_agrees_with_its_metric(metric: str, verb: str, variants: int, against: str | None) -> None:
    text = asked(
        lambda at, i: {metric: at["buffer"] - 900.0 + drawn(at["buffer"], i).random()},
        buffers(*range(1000, 1000 + variants)),
        metrics=[metric],
        question=ex.Compare("buffer", [metric], against=against, better={metric: "lower"}),
    ).text
    wrong = {"are": "is", "is": "are"}[verb]
    assert f"{metric} {wrong} " not in text.replace(f"est in {metric} is", "")
    assert "It are" not in text
    assert "They is" not in text
    assert f"{metric} {verb} " in text or f"est in {metric} is" in text or f"In {metric}, " in text
    for question in (ex.Table(), ex.Precision({metric: "50 %"})):
        text = asked(lambda at, i: {metric: 10.0 + drawn(i).random()}, metrics=[metric], question=question).text
        assert f"{metric} {verb} 10." in text
