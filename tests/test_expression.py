"""Conditions and formulas: text in arithmetic, huge numbers and deep nesting never crash.

Each is answered or refused.
"""

import math
import random
from typing import Any

import pytest
from cellyard.experiment.description.expression import LONGEST, Condition, ConditionError, Formula
from cellyard.show.columns import spellings

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
        assert Condition(text).holds(values) in (True, False)
        assert Formula("a / b - a").value(values) is None


def test_expressions_with_hundreds_of_parts_are_evaluated() -> None:
    signs, terms, calls = "-" * 490 + "a < 5", "a" + " + a" * 120 + " > 5", "abs(" * 90 + "a" + ")" * 90 + " < 5"
    assert max(map(len, (signs, terms, calls))) <= LONGEST
    for text in (signs, terms, calls, "not " * 100 + "a < 5", "+-" * 240 + "a < 5"):
        assert Condition(text).holds({"a": 1})


def test_random_texts_are_refused_or_give_an_answer() -> None:
    draw = random.Random(38)
    pieces = f"a|b|'x'|{HUGE}|1e308|0| + | - | * | / | < | == |(|)|min(|, | and |not |-".split("|")
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
                    assert expression.holds(values_by_name) in (True, False)
                else:
                    number = expression.value(values_by_name)
                    assert number is None or (isinstance(number, float) and math.isfinite(number))
            except ConditionError:
                continue
    assert made > 100


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("p99_s < 20 ms", 0.0199, True),
        ("p99_s < 20 ms", 0.0201, False),
        ("p99_s<20ms and p99_s > '10 ms'", 0.015, True),
        ('p99_s < "20 ms"', 0.0199, True),
        ("p99_s - 5 us <= 2 * 1e-3 s", 0.002005, True),
        ("p99_s < 5", 4.9, True),
        ("queue_cells <= 40 cells or queue_cells == 50 cells", 50, True),
        ("rate_mbps >= 0.5 Gbps", 500, True),
        ("rate_mbps >= 0.5 Gbit/s", 499, False),
        ("sent_bytes > 100 kB", 100_001, True),
        ("policy == 'fba z=5 s' or policy == '5 x'", "5 x", True),
    ],
)
def test_quantities_are_numbers_in_the_unit_of_results(text: str, value: Any, holds: bool) -> None:
    condition = Condition(text)
    (name,) = condition.names
    condition.unit({name: name.rpartition("_")[2]})
    assert condition.holds({name: value}) is holds


@pytest.mark.parametrize(
    ("text", "message", "allowed"),
    [
        ("p99_s < 20 kB", "compares `20 kB` with `p99_s`, which has another unit", "a number in s, ms, us, ns"),
        ("1 > p99_s - 20 kB", "compares `20 kB` with `p99_s`", "a number in s, ms, us, ns"),
        ("max(p99_s, '3 cells') < 1", "compares `'3 cells'` with `p99_s`", "a number in s, ms, us, ns"),
        ("queue_cells < 5 ms", "compares `5 ms` with `queue_cells`", "a number in cells, cell"),
        ("queue_cells < 5 packets", "has `5 packets`, and the scenario has cells", ""),
        ("efficiency < 5 ms", "compares `5 ms` with `efficiency`", "a number without unit"),
        ("p99_s / p99_s < 5 ms", "compares `5 ms` with `p99_s / p99_s`", "a number without unit"),
        ("p99_s < 20 parsecs", "unknown unit `parsecs`", f"a number in {', '.join(spellings())}"),
    ],
)
def test_a_quantity_of_another_unit_is_refused(text: str, message: str, allowed: str) -> None:
    units = {"p99_s": "s", "queue_cells": "cells", "efficiency": ""}
    with pytest.raises(ConditionError) as raised:
        Condition(text).unit(units)
    assert str(raised.value).startswith(message) and raised.value.allowed == allowed
    Condition("queue_cells < 5 packets").unit(units, "packet")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("t < 0.02", "t < 0.02 s"),
        ("0.01 < t <= 20 ms", "0.01 s < t <= 20 ms"),
        ("t < 1 and not q > 30", "t < 1 s and not q > 30 cells"),
        ("q < 2 * 30 and share == 0 and q / 2 <= 5", "q < 2 * 30 and share == 0 and q / 2 <= 5 cells"),
        ("max(t, u) < 3 and name == 'a b'", "max(t, u) < 3 s and name == 'a b'"),
    ],
)
def test_numbers_that_are_compared_with_a_unit_are_shown_with_it(text: str, shown: str) -> None:
    units = {"t": "s", "u": "s", "q": "cells", "share": "", "name": None}
    assert Condition(text).with_units(units, {"s": "s", "cells": "cells"}) == shown
