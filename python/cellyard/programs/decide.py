"""Decisions of a policy in Python, which the engine's reference evaluator takes."""

import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from cellyard.components.drop import Program
from cellyard.programs.words import BITS, DRAW, KNOWN, OWNERS, RATES, Verdict
from cellyard.system.errors import ScenarioError
from cellyard.system.values import as_python, plain, shown

#: Largest value of a name of the language.
MOST = 2**63 - 1


#: Values of either type for parameters without a value.
STAND_INS: tuple[str | float, ...] = (0.567891, "7919 cells")
#: Limit on the combinations of types that are tried.
MOST_TYPES = 64
_PLACED = re.compile(r"(?P<message>.*) \(line (?P<line>\d+), column \d+\)", re.S)


class State:
    """State of a queue or of one VC. It has only the declared names, and each keeps its type."""

    __slots__ = ("__dict__", "_types")

    _types: Mapping[str, type]

    def __init__(self, start: Mapping[str, float]) -> None:
        object.__setattr__(self, "_types", {name: type(value) for name, value in start.items()})
        vars(self).update(start)

    def __setattr__(self, name: str, value: Any) -> None:
        kept = self._types.get(name)
        if kept is None:
            raise AttributeError(self._unknown(name))
        if kept is float and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kept or not isinstance(value, (int, float)):
            raise TypeError(f"the state {name!r} has the type {kept.__name__}, not {type(value).__name__}")
        if not -(2**127) <= value <= 2**127 - 2 if kept is int else not math.isfinite(value):
            raise OverflowError(f"{name} = {shown(value)}: must be finite, and an integer must fit into 128 bits")
        vars(self)[name] = value

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._unknown(name))

    def _unknown(self, name: str) -> str:
        return f"unknown state `{name}` (allowed: {', '.join(self._types) or 'none'})"

    def __repr__(self) -> str:
        return f"State({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def verdict(policy: Program, values: Mapping[str, Any]) -> Verdict:
    """The verdict of a program for values by name, with a `State` for each owner. Changes the states."""
    from cellyard import _engine

    known: dict[str, int] = {}
    sums = dict.fromkeys(RATES, 0)
    for name in KNOWN:
        if name in values and not (name == "K" and values[name] == math.inf):
            value = as_python(values[name])
            rates = list(value) if name in RATES and isinstance(value, Iterable) else [value]
            of_vcs = [_whole(name, rate) for rate in rates]
            known[name] = of_vcs[0]
            if name in RATES:
                sums[name] = sum(of_vcs)
    if "K" not in values:
        policy = replace(policy, never_below=None)
    drop = plain(policy, "drop")
    scenario = _scenario(json.dumps(drop), f"{known['K']} cells" if "K" in known else "unlimited")
    if "K" not in values and (parameter := _fraction_of_k(scenario)):
        raise TypeError(f"missing values: K, for {parameter} = {shown(drop[parameter])}")
    states = [cast(State, values[owner]) for owner in OWNERS]
    start = {name: value for state in states for name, value in vars(state).items()}
    found, changed = _engine.decide(scenario, known, list(sums.values()), start, _draws(values.get(DRAW)))
    for state in states:
        vars(state).update({name: changed[name] for name in vars(state)})
    return cast(Verdict, found)


def fault(policy: Program, required: Sequence[str]) -> tuple[int, str] | None:
    """Line and message of what is wrong with a program of which parameters ``required`` have no value yet, if anything.

    The type of a parameter is that of its value: a number, or a quantity. So a program is right if it is
    for some types of those.
    """
    found = None
    for values in itertools.islice(itertools.product(STAND_INS, repeat=len(required)), MOST_TYPES):
        parameters = {**policy.parameters, **dict(zip(required, values, strict=True))}
        try:
            _scenario(json.dumps(plain(replace(policy, parameters=parameters), "drop")), "1000 cells")
        except ScenarioError as error:
            messages = [problem.message for problem in error.problems if problem.path.endswith(".program")]
            placed = [match for message in messages if (match := _PLACED.fullmatch(message))]
            if not placed:
                return None
            found = found or (int(placed[0]["line"]), placed[0]["message"])
        else:
            return None
    return found if len(STAND_INS) ** len(required) <= MOST_TYPES else None


def _whole(name: str, value: Any) -> int:
    least, most = -(name == "idle"), 1 if name in BITS else MOST
    is_number = isinstance(value, (int, float)) and (name in BITS or not isinstance(value, bool))
    if not is_number or value != value // 1 or not least <= value <= most:
        raise TypeError(f"{name} = {shown(value)}: must be a whole number from {least} to {most}")
    return int(value)


def _draws(value: Any) -> Callable[[], float]:
    """A function that returns the next random number from 0 to below 1."""

    def draw() -> float:
        drawn = float(value() if callable(value) else value)
        if not 0 <= drawn < 1:
            raise ValueError(f"draw = {drawn}: must be from 0 to below 1")
        return drawn

    return draw


@lru_cache
def _scenario(drop: str, buffer: str) -> str:
    """A canonical scenario with this drop policy at its only queue."""
    from cellyard import _engine

    ends = {"rate": "1 Mbps", "delay": "1 ms"}
    scenario = {
        "name": "decision",
        "duration": "1 s",
        "host": [{"name": "a"}, {"name": "b"}],
        "switch": [{"name": "s", "ubr": {"buffer": buffer, "drop": json.loads(drop)}}],
        "link": [{"from": "a", "to": "s", **ends}, {"from": "s", "to": "b", **ends}],
        "vc": [{"from": "a", "to": "b", "class": "ubr", "traffic": {"kind": "cbr", "rate": "1 Mbps"}}],
    }
    return _engine.read_json(json.dumps(scenario), [])


def _fraction_of_k(scenario: str) -> str:
    """The first parameter that is a fraction of K; empty if there is none."""
    drop = json.loads(scenario)["switches"][0]["queues"][0]["drop"]
    return next((name for name, value in drop.items() if isinstance(value, dict) and "fraction" in value), "")
