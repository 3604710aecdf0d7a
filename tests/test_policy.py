"""Drop policies as Python functions: their text, their errors, and the same decisions as in the engine."""

# mypy: disable-error-code="no-untyped-def"
# ruff: noqa: N803, RET503, RET505, SIM222, SIM300

import json
import linecache
import math
import pickle
import re
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import cellyard as cy
import pytest
from cellyard import _engine
from cellyard.cli.command import exit_status
from cellyard.programs import Policy, words
from conftest import LAN, ROOT
from hypothesis import Phase, given, settings, strategies as st

NUMBERS = count()


def function(text: str, **others: Any) -> Any:
    """Return what the source ``text`` defines as ``made``, from a file that only Python's line cache has."""
    file = f"<policy {next(NUMBERS)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"cy": cy, "math": math, **others}
    exec(compile(text, file, "exec"), names)
    return names["made"]


@cy.policy
def half_share(X, Y, N, R="900 cells", Z=0.8):
    """Refuse frames of VCs with more than their share."""
    if X > R and Y * N > Z * X:
        return cy.refuse


@cy.policy
def fair(X, Y, N, K, R="0.9 K", Z=0.8):
    if X > R and Y * N * (X - R) > Z * (K - R) * X:
        return cy.refuse


@cy.policy(asked="cells", queue={"average": 0.0, "on": False}, vc={"seen": -3}, export_tag=False)
def everything(queue, vc, draw, X, MCR, idle, *, low=0.5, pause="5 ms"):
    queue.average += (X - queue.average) / (4 * 1e2)
    vc.seen -= 2 - 1
    p = -((X + 1) ** 2) / (X - (3 - 2)) * (low * pause)
    if not (queue.on or (X > 3 and not X < math.floor(low))):
        queue.on = not queue.on
        p = min(p, 1.0) - -abs(X)
    elif X == 3:
        pass
    elif (idle > 2 or True) or queue.average != max(low, 0x10):
        if draw() < p:
            return cy.refuse_cell
        elif sum(MCR) > MCR:
            return cy.push_out_cell
    else:
        return cy.tag
    return cy.accept


EVERYTHING = """\
queue state average = 0.0
queue state on = false
vc state seen = -3
average = average + (X - average) / (4 * 100.0)
seen = seen - (2 - 1)
p = -power(X + 1, 2) / (X - (3 - 2)) * (low * pause)
if not (on or X > 3 and not X < floor(low)) {
    on = not on
    p = min(p, 1.0) - -abs(X)
} else if X == 3 {
} else if idle > 2 or true or average != max(low, 16) {
    if draw() < p {
        refuse_cell
    } else if sum(MCR) > MCR {
        push_out_cell
    }
} else {
    tag
}
accept
"""


def lan(drop: Any) -> cy.Scenario:
    return cy.Scenario.from_toml(LAN).with_values({"switch.west.ubr.drop": drop})


def test_the_text_is_readable_and_the_engine_takes_it() -> None:
    assert half_share.text == "if X > R and Y * N > Z * X {\n    refuse\n}\n"
    assert everything.text == EVERYTHING
    made = lan(everything())
    assert cy.Scenario.from_toml(made.to_toml()) == made
    assert half_share.__doc__ == "Refuse frames of VCs with more than their share."
    assert (half_share.__name__, repr(half_share)) == ("half_share", "Policy(half_share)")


def test_a_call_gives_the_component_with_its_parameters() -> None:
    drop = half_share(R="300 cells")
    assert drop == cy.Program(program=half_share.text, parameters={"R": "300 cells", "Z": 0.8})
    assert everything() == cy.Program(
        program=EVERYTHING, asked="cells", export_tag=False, parameters={"low": 0.5, "pause": "5 ms"}
    )
    required: Policy = function("@cy.policy\ndef made(X, R, Z=1):\n    if X > R * Z:\n        return cy.refuse\n")
    with pytest.raises(TypeError, match=r"made\(\) needs values of: R"):
        required()
    with pytest.raises(TypeError, match=r"made\(\) has no parameter `Q` \(allowed: R, Z\)"):
        required(Q=1)


def test_a_policy_works_in_other_forms() -> None:
    made: Policy = function(
        "def outer():\n"
        "    if True:\n"
        "        @cy.policy(\n"
        "            never_below=0.1,\n"
        "        )\n"
        "        def made(X: int, K: int) -> cy.programs.Verdict | None:\n"
        "            '''Text.\n"
        "Not indented.'''\n"
        "            used = X + 1\n"
        "            if used > K / 2: return refuse\n"
        "        return made\n"
        "made = outer()\n",
        refuse=cy.refuse,
    )
    assert made.text == "used = X + 1\nif used > K / 2 {\n    refuse\n}\n"
    assert made().never_below == 0.1 and lan(made()).run()
    empty: Policy = function("@cy.policy\ndef made(): pass\n")
    assert (empty.text, empty.decide()) == ("", "accept")


#: Functions that cannot be policies: their decorator, arguments and body, what the error says, and the text at its caret.
WRONG: dict[str, tuple[str, str, str, str, str]] = {
    "loop": ("", "X", "while X > 3:\n  pass", "the language has no loops", "while"),
    "for": ("", "X", "for i in X: pass", "the language has no loops", "for"),
    "with": ("", "X", "with X: pass", "only assignments, `if` and `return` are statements", "with"),
    "call": ("", "X", "print(X)", "only assignments, `if` and `return` are statements", "print"),
    "typed": ("", "X", "p: int = X", "an assignment cannot have a type", "p: int"),
    "two": ("", "X", "p = q = X", "assign one name at a time", "q = X"),
    "pair": ("", "X", "p, q = X, 1", "only a name or a state can be assigned", "p, q"),
    "item": ("", "X", "X[1] = 1", "only a name or a state can be assigned", "X[1]"),
    "argument": ("", "X", "X = 1", "`X` is an argument and cannot be assigned", "X = 1"),
    "word": ("", "X", "vc = X", "`vc` is a word of the language and cannot be assigned", "vc ="),
    "chained": ("", "X", "p = 1 < X < 3", "compare two numbers at a time, joined by `and`", "X < 3"),
    "is": ("", "X", "p = X is X", "this is not in the language", "X is"),
    "choice": ("", "X", "p = 1 if X else 2", "write an `if` statement", "1 if"),
    "floor": ("", "X", "p = X // 2", "write math.floor(a / b)", "X //"),
    "modulo": ("", "X", "p = X % 2", "write a - b * math.floor(a / b)", "X %"),
    "plus": ("", "X", "p = +X", "this is not in the language", "+X"),
    "text": ("", "X", "p = 'ä' + é", "this is neither a number nor a truth value", "'ä'"),
    "behind": ("", "X", "p = X + 'ä' + 1", "this is neither a number nor a truth value", "'ä'"),
    "digits": ("", "X", f"p = X + {10**18}", "a number has at most 18 digits", "1000"),
    "tiny": ("", "X", "p = X + 1e-30", "a number has at most 18 digits", "1e-30"),
    "function": ("", "X", "p = flor(X)", "unknown function `flor`; did you mean `floor`?", "flor"),
    "method": ("", "X", "p = math.sqrt(X)", "unknown function `math.sqrt`", "math.sqrt"),
    "power": ("", "X", "p = pow(X, 2)", "write a power as a ** n", "pow("),
    "arity": ("", "X", "p = min(X)", "`min` takes 2 values, not 1", "min(X)"),
    "named": ("", "X", "p = float(x=X)", "`float` takes values without names", "X)"),
    "star": ("", "X", "p = max(*X, 1)", "`max` takes values without names", "*X"),
    "sum": ("", "X", "p = sum(X)", "`sum` takes one of MCR, PCR, SCR", "X)"),
    "no draw": ("", "X", "p = draw()", "`draw` is a name of the language: add it to the arguments", "draw"),
    "no known": ("", "X", "p = X + Y", "`Y` is a name of the language: add it to the arguments", "Y"),
    "unknown": ("", "X", "p1 = X + p2", "unknown name `p2`: a policy knows only its arguments; did you mean", "p2"),
    "verdict": ("", "X", "return X", "return a verdict, such as cy.refuse", "X"),
    "nothing": ("", "X", "return", "return a verdict, such as cy.refuse", "return"),
    "as value": ("", "X", "p = cy.refuse", "`cy.refuse` is a verdict and stands alone behind `return`", "cy.refuse"),
    "constant": ("", "X", "p = math.pi", "`math.pi` has no value in the language; pass it as a parameter", "math.pi"),
    "reach": ("", "X", "return cy.tag\np = X", "this is never reached", "p ="),
    "unused": ("", "X, R", "p = X", "the parameter `R` is not used", "R"),
    "field": ("", "X, asked", "p = X", "`asked` is a field of the drop policy", "asked"),
    "reserved": ("", "X, tag", "p = X", "`tag` is a word of the language and cannot be an argument", "tag"),
    "default": ("", "Y, X=1", "p = X", "`X` is a name of the language and has no default", "X=1"),
    "many": ("", "*X", "p = X", "an argument of a policy is passed by its name", "X"),
    "by place": ("", "X, /", "p = X", "an argument of a policy is passed by its name", "X, /"),
    "letters": ("", "X, é", "p = X", "`é` must consist of ASCII letters, digits and _", "é"),
    "no state": ("", "queue, X", "p = X", "the policy has no state of the queue", "queue"),
    "owner": ("vc={'n': 0}", "vc, X", "p = vc", "`vc` has no value itself; use vc.NAME", "vc\n"),
    "state": ("vc={'seen': 0}", "vc, X", "vc.sen = X", "`sen` is not a state of the vc", "vc.sen"),
    "bare": ("vc={'seen': 0}", "vc, X", "p = seen + X", "`seen` is a state; write vc.seen", "seen"),
    "taken": ("vc={'R': 0}", "vc, X, R", "p = R", "`R` is also a state of the vc", "R):"),
    "no owner": ("vc={'n': 0}", "X", "p = vc.n", "add `vc` to the arguments", "vc.n"),
    "long": ("", "X", "p = " + " + ".join(["X"] * 260), "the policy has more than 256 steps", "X"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_function_that_cannot_be_a_policy_is_refused_at_its_place(case: str) -> None:
    decorator, arguments, body, message, at = WRONG[case]
    lines = body.replace("\n", "\n    ")
    text = f"\n\n@cy.policy({decorator})\ndef made({arguments}):\n    {lines}\n"
    with pytest.raises(cy.PolicyError) as raised:
        function(text.replace("policy()", "policy"))
    (problem,) = raised.value.problems
    assert problem.line is not None and problem.column is not None
    line = text.splitlines()[problem.line - 1]
    assert message in problem.message or message in problem.text
    assert f"{line[problem.column - 1 :]}\n".startswith(at)
    place, shown, caret = str(raised.value).splitlines()
    assert re.match(rf"<policy \d+>:{problem.line}:{problem.column}: ", place)
    assert shown.strip() == line.strip() and shown[len(caret) - 1 :] == line[problem.column - 1 :]
    assert isinstance(raised.value, ValueError) and isinstance(raised.value, cy.CellyardError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_a_function_without_source_is_refused() -> None:
    names = {"cy": cy}
    with pytest.raises(cy.PolicyError, match="the source of the function `f` cannot be found; define it in a file"):
        exec("@cy.policy\ndef f(X): pass", names)
    with pytest.raises(cy.PolicyError, match="a lambda cannot be a policy"):
        cy.policy(lambda X: cy.refuse)
    with pytest.raises(cy.PolicyError, match="is not a function"):
        cy.policy(print)
    with pytest.raises(cy.PolicyError, match="cannot be async"):
        function("@cy.policy\nasync def made(X): pass")


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"vc": 1}, "must map names of state"),
        ({"vc": {"a b": 1}}, "cannot be a state: it needs letters, digits and _"),
        ({"queue": {"_types": 1}}, "'_types' cannot be a state: its first character must be a letter"),
        ({"queue": {"X": 1}}, "'X' is a word of the language"),
        ({"queue": {"a": "1"}}, "must be a number below"),
        ({"queue": {"a": math.inf}}, "must be a number below"),
        ({"queue": {"a": 1}, "vc": {"a": 1}}, "'a' is also a state of the queue"),
    ],
)
def test_states_that_cannot_be_are_refused(states: Any, message: str) -> None:
    with pytest.raises(cy.UsageError, match=message):
        cy.policy(**states)


def test_a_command_shows_a_mistake_in_a_policy_as_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    text = "@cy.policy\ndef made(X):\n    if X > y:\n        return cy.refuse\n"
    assert exit_status(lambda: function(text)) == 2
    place, shown, caret = capsys.readouterr().err.splitlines()
    assert place.endswith(":3:12: unknown name `y`: a policy knows only its arguments; did you mean `Y`?")
    assert (shown, caret) == ("    if X > y:", "           ^")


def test_the_words_are_those_of_the_engine() -> None:
    of_drop = json.loads(_engine.registry())["programs"]["drop"]
    known, functions, verdicts = (
        [entry["word"] for entry in of_drop[kind]] for kind in ("names", "functions", "verdicts")
    )
    text = (ROOT / "crates/engine/src/text/program/names.rs").read_text(encoding="utf-8")
    keywords = re.findall(r'"(\w+)"', text.partition("KEYWORDS: [&str; ")[2].partition("];")[0])
    assert (list(words.KNOWN), list(words.FUNCTIONS), list(words.VERDICTS)) == (known, functions, verdicts)
    assert sorted(words.KEYWORDS) == sorted(keywords)
    limits = (ROOT / "crates/engine/src/text/program/mod.rs").read_text(encoding="utf-8")
    assert f"MOST_STEPS: usize = {words.MOST_STEPS};" in limits


# Decisions in Python


def test_decisions_in_python_are_exact() -> None:
    assert half_share.decide(X=1000, Y=400, N=2, R=900, Z=0.8) == "accept"  # 800 > 800 is false
    assert half_share.decide(X=1000, Y=401, N=2, Z=0.8) == cy.refuse
    tenths: Policy = function(
        "@cy.policy\ndef made(X, a):\n    if a + 0.2 == 0.3 and X / 3 * 3 == X: return cy.refuse\n"
    )
    assert tenths.decide(X=1, a=0.1) == "refuse"
    assert fair.decide(X=95, Y=40, N=5, K=100) == fair.decide(X=95, Y=40, N=5, K=100, R=90) == "refuse"
    assert fair.decide(X=95, Y=40, N=5, K=math.inf) == "accept"
    for wrong in (math.nan, None, -1, 0.5, 2**63, True):
        with pytest.raises(TypeError, match=f"X = {wrong}: must be a whole number from 0 to "):
            half_share.decide(X=wrong, Y=1, N=1)
    # A local name holds floats if any of its values is one: 0.1 + 0.2 > 0.3 as floats, not as decimals.
    wide: Policy = function(
        "@cy.policy\ndef made(X):\n    p = 0.1\n    q = abs(p)\n    if X > 1:\n        p = float(X)\n"
        "    if q + 0.2 > 0.3: return cy.refuse\n"
    )
    assert wide.decide(X=1) == "refuse"
    with pytest.raises(TypeError, match="missing values: K"):
        fair.decide(X=95, Y=19, N=5)
    with pytest.raises(TypeError, match=r"unknown values: Q \(allowed: X, Y, N, R, Z\)"):
        half_share.decide(X=95, Y=19, N=5, Q=1)
    with pytest.raises(cy.ScenarioError, match=r'R = "9 cels"'):
        half_share.decide(X=95, Y=19, N=5, R="9 cels")


@pytest.mark.parametrize(
    ("declared", "arguments", "line", "message"),
    [
        ("", "X", "if X > True + 1: return cy.refuse", r"`\+` takes numbers, not a truth value"),
        ("", "X", "if X: return cy.refuse", "expected something true or false, not the integer before it"),
        ("queue={'n': 0}", "queue, X", "queue.n += 0.5", "`n` holds the type integer, not decimal"),
        ("vc={'on': True}", "vc, X, R", "vc.on = R", "`on` holds the type truth value, not decimal"),
        ("queue={'n': 0}", "queue, X, R=0.5", "queue.n = R", "`n` holds the type integer, not decimal"),
    ],
)
def test_wrong_types_are_errors_of_the_decorator(declared: str, arguments: str, line: str, message: str) -> None:
    """The place is that of the statement in the function."""
    text = f"@cy.policy({declared})\ndef made({arguments}):\n    p = X\n    {line}\n    if p > 3: return cy.refuse\n"
    with pytest.raises(cy.PolicyError, match=message) as raised:
        function(text)
    (problem,) = raised.value.problems
    assert (problem.line, problem.column) == (4, 5)
    assert problem.excerpt.splitlines()[0].strip() == line


def test_a_parameter_without_value_may_have_either_type() -> None:
    """The unit of its value decides the type: an integer of `n` takes cells, and no plain number."""
    made: Policy = function(
        "@cy.policy(queue={'n': 0, 'x': 0.0})\ndef made(queue, X, R, Z):\n    queue.n = R\n    queue.x = Z\n"
        "    if X > queue.n + queue.x: return cy.refuse\n"
    )
    assert made.decide(X=11, R="9 cells", Z=1.5) == "refuse"
    with pytest.raises(cy.ScenarioError, match="`n` holds the type integer, not decimal"):
        made.decide(X=11, R=9, Z=1.5)


def test_state_and_draws_in_python() -> None:
    queue, vc = everything.new_state("queue"), everything.new_state("vc")
    assert everything.decide(queue=queue, vc=vc, draw=0.5, X=8, MCR=[1, 2], idle=0) == "push_out_cell"
    assert (queue.average, queue.on, vc.seen) == (0.02, False, -4)
    for wrong in (-0.1, 1.0, math.nan):
        with pytest.raises(ValueError, match=rf"draw = {wrong}: must be from 0 to below 1"):
            everything.decide(queue=queue, vc=vc, draw=lambda wrong=wrong: wrong, X=8, MCR=3, idle=0)
    assert everything.decide(queue=queue, vc=vc, draw=0, X=2, MCR=1, idle=0) == "accept" and queue.on and vc.seen == -5
    assert everything.new_state("vc").seen == -3 and repr(vc) == "State(seen=-5)"
    with pytest.raises(TypeError, match=r"vc = State\(average.*: must be a state from new_state\('vc'\)"):
        everything.decide(queue=queue, vc=queue, draw=0, X=2, MCR=1, idle=0)
    drawn = iter([0.25, 0.75])
    twice: Policy = function(
        "@cy.policy\ndef made(draw, X):\n    if draw() < X and draw() * 4 == 3: return cy.refuse\n"
    )
    assert (twice.decide(draw=lambda: next(drawn), X=1), list(drawn)) == ("refuse", [])
    with pytest.raises(AttributeError, match=r"unknown state `other` \(allowed: seen\)"):
        vc.other = 1
    with pytest.raises(TypeError, match="the state 'seen' has the type int, not Fraction"):
        vc.seen = Fraction(1, 2)
    with pytest.raises(cy.UsageError, match="must be 'queue' or 'vc'"):
        everything.new_state("port")


# Random policies

LEAVES = ("X", "Y", "A", "B", "queue.s", "vc.t", "0", "1", "7", "0.5", "12.25", "1e-3")
integers = st.recursive(
    st.sampled_from(["X", "Y", "A", "vc.t", "2", "3"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda a: f"(-{a})"),
        inner.map(lambda a: f"math.floor({a} / 2)"),
    ),
    max_leaves=4,
)
numbers = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda p: f"{p[0]}({p[1]}, {p[2]})"),
        st.tuples(st.sampled_from(["-", "abs", "float", "math.floor"]), inner).map(lambda p: f"({p[0]}({p[1]}))"),
        inner.map(lambda a: f"({a} ** 3)"),
    ),
    max_leaves=8,
)
comparisons = st.tuples(numbers, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers)
conditions = st.recursive(
    st.one_of(comparisons.map(lambda p: f"({' '.join(p)})"), st.sampled_from(["vc.flag", "True", "False"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda a: f"(not {a})"),
    ),
    max_leaves=5,
)
HEAD = "@cy.policy(asked='cells', queue={'s': 0.5}, vc={'t': 1, 'flag': True})\ndef made(queue, vc, X, Y, A, B):\n"
#: Uses every parameter, so that none is unused.
USE = "    unused = A + B\n    vc.flag = not vc.flag or unused < 0\n"


#: One VC with constant traffic on an idle link: X = Y = 0 at each of its cells.
ALONE: dict[str, Any] = {
    "name": "alone",
    "duration": "20 ms",
    "hosts": [cy.Host(name="a"), cy.Host(name="b")],
    "links": [
        cy.Link(from_="a", to="s", rate="10 Mbps", delay="1 us"),
        cy.Link(from_="s", to="b", rate="5 Mbps", delay="1 us"),
    ],
    "vcs": [cy.Vc(from_="a", to="b", class_="ubr", traffic=cy.Cbr(rate="1 Mbps"))],
}


# Without shrinking, which takes minutes here.
@settings(deadline=None, max_examples=100, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(
    st.lists(st.tuples(conditions, integers, numbers), min_size=1, max_size=2),
    conditions,
    st.integers(0, 5).map(lambda n: f"{n} cells"),
    st.integers(0, 3000).map(lambda n: n / 1000),
)
def test_engine_and_python_decide_alike(steps: Any, condition: str, a: str, b: float) -> None:
    lines = [HEAD, USE]
    for test, whole, number in steps:
        lines += [
            f"    if {test}:\n        vc.t = {whole}\n",
            f"    else:\n        p = {whole}\n        p -= {number}\n        queue.s -= p / 3\n",
        ]
    made: Policy = function("".join(lines) + f"    if {condition}: return cy.refuse_cell\n")
    switch = cy.Switch(name="s", ubr=cy.Queue(drop=made(A=a, B=b)))
    scenario = cy.Scenario(**{**ALONE, "switches": [switch]})
    queue, vc = made.new_state("queue"), made.new_state("vc")
    try:
        port = scenario.run().ports["s->b"]
    except cy.RunError as error:
        assert "the program of the queue ubr of s->b fails" in str(error)
        port = None
    cells = range(port.arrived_cells if port else 100)
    try:
        verdicts = [made.decide(queue=queue, vc=vc, X=0, Y=0, A=a, B=b) for _ in cells]
    except ArithmeticError:
        assert port is None
    else:
        assert port is None or verdicts.count("refuse_cell") == port.dropped_cells.total


@pytest.mark.parametrize(
    "whole",
    ["math.floor((X + 7) ** 81)", "X + 10_000_000_000_000_000 * 10_000_000_000_000_000 * 10_000_000_000_000_000"],
)
def test_an_integer_beyond_128_bits_fails_as_in_the_engine(whole: str) -> None:
    made = function(f"@cy.policy\ndef made(X):\n    if {whole} < 0: return cy.refuse\n")
    with pytest.raises(ArithmeticError, match="does not fit into 128 bits"):
        made.decide(X=0)


def test_every_decision_ends_as_in_the_engine() -> None:
    for base in ("9.0 ** 9 ** 9 ** 9 ** 9", "2.0 ** (X / 2)"):
        with pytest.raises(cy.PolicyError, match="must be an integer"):
            function(f"@cy.policy(asked='cells')\ndef made(X):\n    if {base} > X: return cy.refuse\n")
    zero: Policy = function("@cy.policy(asked='cells')\ndef made(X):\n    if 1 / X > 1: return cy.refuse\n")
    with pytest.raises(ArithmeticError, match="division by zero"):
        zero.decide(X=0)
    with pytest.raises(cy.RunError, match="division by zero"):
        cy.Scenario(**{**ALONE, "switches": [cy.Switch(name="s", ubr=cy.Queue(drop=zero()))]}).run()
    bound: Policy = function("@cy.policy(never_below=0.5)\ndef made(X): return cy.refuse\n")
    assert bound.decide(X=51, K=100) == bound.decide(X=1) == "refuse"
    with pytest.raises(ArithmeticError, match="a refusal at an X at or below `never_below`"):
        bound.decide(X=1, K=100)


# Names that mean something else

#: Expressions and verdicts whose words can have another meaning, with the word of an expression.
USES: dict[str, str] = {
    **{f"{word}(X, 5)": word for word in ("min", "max")},
    **{f"{word}(X)": word for word in ("abs", "float", "floor")},
    "sum(MCR)": "sum",
    **{str(word): "" for word in words.VERDICTS},
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("way", ["none", "global", "closure", "late"])
def test_a_name_with_another_meaning_is_refused(use: str, way: str) -> None:
    word = USES[use] or use
    body = f"if {use} >= 5: return cy.refuse" if USES[use] else f"return {use}"
    right: dict[str, Any] = {"floor": math.floor, **{name: getattr(cy, name) for name in words.VERDICTS}}
    head = "@cy.policy(asked='cells')\ndef made(X, MCR):\n    "
    text = f"{head}{body}\n"
    if way == "closure":
        text = (
            "def outer(" + word + "):\n    " + text.replace("\n", "\n    ") + "\n    return made\nmade = outer(len)\n"
        )
    if way == "late":  # the name is assigned below
        text = (
            "def outer():\n    " + text.replace("\n", "\n    ") + f"\n    {word} = 1\n    return made\nmade = outer()\n"
        )
    other = {"global": {word: cy.accept if word == "refuse" else cy.refuse}}.get(way, {})
    if way == "none":
        made: Policy = function(text, **right)
        assert made.decide(X=7, MCR=7) == (made.__wrapped__(7, [7]) if word == "sum" else made.__wrapped__(7, 7))  # type: ignore[attr-defined]
        return
    with pytest.raises(cy.PolicyError, match="does not mean") as raised:
        function(text, **{**right, **other})
    assert raised.value.problems[0].line is not None


@pytest.mark.parametrize(
    "line", ["return box.refuse", "cy = X\n    return cy.refuse", "p = cy.floor(X)", "p = maths.floor(X)"]
)
def test_only_modules_give_words(line: str) -> None:
    class Box:
        refuse = cy.refuse

    with pytest.raises(cy.PolicyError, match=r"does not mean|unknown function"):
        function(f"@cy.policy\ndef made(X):\n    {line}\n", box=Box, maths=math)
    with pytest.raises(cy.PolicyError, match=r"does not mean Python's math\.floor"):
        function("@cy.policy\ndef made(X):\n    p = math.floor(X)\n", math=Box)


def test_a_function_whose_file_has_changed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = "import cellyard as cy\ndef made(X):\n    if X > 5:\n        return cy.refuse\n"
    for change in (
        text,
        text.replace("5", "6"),
        text.replace("refuse", "accept"),
        text.replace("if X > 5", "if X < 5"),
    ):
        file.write_text(text)
        names: dict[str, Any] = {}
        exec(compile(text, str(file), "exec"), names)
        file.write_text(change)
        if change == text:
            assert cy.policy(names["made"]).decide(X=6) == "refuse"
            continue
        with pytest.raises(
            cy.PolicyError, match=r"mine\.py has changed since Python read the function `made`; restart"
        ):
            cy.policy(names["made"])


# Runs


def document(drop: Any, **options: Any) -> dict[str, Any]:
    """Return the tables of a run with a drop policy, but whether it is a program."""
    found = dict(lan(drop).run(**options).only.to_dict())
    for queue in (queue for port in found["ports"] for queue in port["classes"]):
        del queue["program_asked"]
    return {name: found[name] for name in ("totals", "vcs", "ports", "digest")}


def test_a_scheme_as_a_function_is_the_scheme() -> None:
    assert document(fair(Z=0.6), digest=True) == document(cy.Fba(z=0.6), digest=True)
    selective: Policy = function(
        "@cy.policy\ndef made(X, Y, N, R, Z):\n    if X > R:\n        if Y * N > Z * X:\n            return cy.refuse\n"
    )
    assert document(selective(R="0.7 K", Z=0.9), digest=True) == document(cy.SelectiveDrop(r=0.7, z=0.9), digest=True)
