"""Conditions and formulas: text in arithmetic, huge numbers and deep nesting never crash.

Each is answered or refused.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from cellyard.experiment.description.expression import LONGEST, Condition, ConditionError, Formula

HUGE = "9" * 400


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("'x' * 3000000000 != 'y'", "does arithmetic with a text, which can only be compared: `'x' \\* 3000000000`"),
        ("a < -'x'", "does arithmetic with a text"),
        ("a < min('x', 1)", "does arithmetic with a text"),
        ("a < abs('x')", "does arithmetic with a text"),
        (f"a < {HUGE}", "has a number above 1.8e\\+308: `9+\\.\\.\\.`"),
        ("a < 1e999", "has a number above 1.8e\\+308: `1e999`"),
        (f"({'-' * 450}a) ** 2 < 1", "has an expression that is not supported"),
    ],
)
def test_texts_in_arithmetic_and_numbers_beyond_a_float_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConditionError, match=message) as raised:
        Condition(text)
    assert len(str(raised.value)) < 200


def test_text_values_can_only_be_compared() -> None:
    assert Condition("policy != 'epd' or buffer > 10").holds({"policy": "fba", "buffer": 1})
    for text in ("policy * buffer != 'x'", "-policy < 1", "max(policy, 'x') != 1 * buffer"):
        with pytest.raises(ConditionError, match="does arithmetic with"):
            Condition(text).holds({"policy": "fba", "buffer": 3_000_000_000})
    with pytest.raises(ConditionError, match="compares a number with a text"):
        Condition("policy < buffer").holds({"policy": "fba", "buffer": 1})


@pytest.mark.parametrize("values", [{"a": 10**400, "b": 0.5}, {"a": math.inf, "b": math.inf}, {"a": 1, "b": 0}])
def test_values_beyond_a_float_are_undefined(values: dict[str, Any]) -> None:
    for text in ("a - b < 1", "a / b < 1", "a <= b", "a * a - b * b < 0", "a / b - a / b <= 0"):
        condition = Condition(text)
        excess = condition.excess(values)
        assert excess == excess
        assert not condition.holds(values) or excess <= 0
        assert Formula("a / b - a").value(values) is None


def test_expressions_with_hundreds_of_parts_are_evaluated() -> None:
    signs, terms, calls = "-" * 490 + "a < 5", "a" + " + a" * 120 + " > 5", "abs(" * 90 + "a" + ")" * 90 + " < 5"
    assert max(map(len, (signs, terms, calls))) <= LONGEST
    for text in (signs, terms, calls, "not " * 100 + "a < 5", "+-" * 240 + "a < 5"):
        condition = Condition(text)
        assert condition.holds({"a": 1}) and condition.excess({"a": 1}) <= 0


def test_random_texts_are_refused_or_give_an_answer() -> None:
    draw = random.Random(38)
    pieces = [
        "a",
        "b",
        "'x'",
        HUGE,
        "1e308",
        "0",
        " + ",
        " - ",
        " * ",
        " / ",
        " < ",
        " == ",
        "(",
        ")",
        "min(",
        ", ",
        " and ",
        "not ",
        "-",
    ]
    values = [0, -1, 1e308, math.inf, None, 10**400, "text", True]
    made = 0
    for _ in range(10_000):
        text = "".join(draw.choices(pieces, k=draw.randrange(3, 9)))
        for kind in (Condition, Formula):
            try:
                expression = kind(text)
            except ConditionError:
                continue
            made += 1
            values_by_name: dict[str, Any] = {name: draw.choice(values) for name in expression.names}
            try:
                if isinstance(expression, Condition):
                    assert expression.holds(values_by_name) in (True, False) and not math.isnan(
                        expression.excess(values_by_name)
                    )
                else:
                    number = expression.value(values_by_name)
                    assert number is None or (isinstance(number, float) and math.isfinite(number))
            except ConditionError:
                continue
    assert made > 100
