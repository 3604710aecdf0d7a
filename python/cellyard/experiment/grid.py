"""Grids: expands the values of ``--grid`` to points, each with its scenario."""

import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cellyard.scenario import paths
from cellyard.scenario.file_kind import other_kind
from cellyard.scenario.scenario import SET, Scenario, read_text
from cellyard.system.errors import Problem, ScenarioError, UsageError
from cellyard.system.limits import MOST_RUNS
from cellyard.system.terminal import printable


@dataclass(frozen=True)
class Point:
    """One point of a grid: its values and its scenario."""

    values: Mapping[str, str]
    scenario: Scenario


def expand(
    path: Path,
    *,
    overrides: Sequence[tuple[str, str]] = (),
    grid: Sequence[tuple[str, str]] = (),
    seed: int | None = None,
    runs_per_point: int = 1,
) -> list[Point]:
    """Every combination of the distinct values of ``grid``, checked; raises `UsageError` when there are too many."""
    axes = [[(key, value) for value in dict.fromkeys(grid_values(key, values))] for key, values in grid]
    runs = runs_per_point
    for axis in axes:
        runs *= len(axis)
    if runs > MOST_RUNS:
        raise UsageError(f"--grid and --replications make {runs} runs, and at most {MOST_RUNS} are allowed at once")
    text = read_text(path)
    varied = [key for key, _ in grid]
    _check_paths(text, varied, [key for key, _ in overrides])
    if seed is not None and "seed" in [*varied, *(key for key, _ in overrides)]:
        raise UsageError(f"--seed {seed}: --set or --grid sets the seed too; set it once")
    fixed = [*overrides, *([("seed", str(seed))] if seed is not None else [])]
    points = []
    for values in itertools.product(*axes):
        try:
            scenario = Scenario.from_toml(text, file=printable(str(path)), overrides=[*fixed, *values])
        except ScenarioError as error:
            if message := other_kind(text, "scenario"):
                raise UsageError(printable(f"{path}: {message}")) from None
            raise _with_options(error, text, fixed) from None
        points.append(Point(dict(values), scenario))
    return points


def _with_options(error: ScenarioError, text: str, fixed: Sequence[tuple[str, str]]) -> ScenarioError:
    """The error with ``--set PATH=VALUE`` or ``--grid PATH=VALUE`` for each override; those in ``fixed`` are of --set."""
    of_set = set()
    try:
        Scenario.from_toml(text, overrides=fixed)
    except ScenarioError as other:
        of_set = {(problem.path, problem.message) for problem in other.problems if problem.text.startswith(SET)}

    def named(problem: Problem) -> Problem:
        if not problem.text.startswith(SET):
            return problem
        option = "--set" if (problem.path, problem.message) in of_set else "--grid"
        setting = problem.summary.removeprefix(SET).replace(f"{problem.path} = ", f"{problem.path}=", 1)
        return replace(problem, text=f"{option} {setting}")

    return ScenarioError([named(problem) for problem in error.problems])


def _check_paths(text: str, varied: Sequence[str], fixed: Sequence[str]) -> None:
    """Raise `UsageError` when two options set one field of a scenario, in any spelling."""
    if not varied:
        return
    try:
        scenario = Scenario.from_toml(text)
    except ScenarioError:  # reported with the values set
        scenario = None
    fields = paths.fields_of(scenario, [*varied, *fixed])
    for place, path in enumerate(varied):
        for others, option in ((varied[:place], "another --grid"), (fixed, "--set")):
            if (spelling := paths.also(fields, path, others)) is not None:
                raise UsageError(f"--grid `{path}`: {option} sets it too{spelling}; set each path once")


#: A range of whole numbers, as in `1..5`, optionally followed by a unit.
_WHOLE = re.compile(r"(-?\d+)\s*\.\.\s*(-?\d+)\s*([A-Za-z]*)")


def grid_values(path: str, text: str) -> list[str]:
    """Values of ``path`` with ranges expanded: ``1..5`` is every whole number, a table with `from` and `to` an axis range.

    >>> grid_values("vc.0.traffic.initial_window", "1..3, 8")
    ['1', '2', '3', '8']
    >>> grid_values("switch.west.ubr.buffer", '{ from = "500 cells", to = "4000 cells", steps = 4, scale = "log" }')
    ['500 cells', '1000 cells', '2000 cells', '4000 cells']
    """
    return [value for part in split_values(path, text) for value in _expand_range(path, part)]


def _expand_range(path: str, part: str) -> list[str]:
    if match := _WHOLE.fullmatch(part):
        first, last, unit = match.groups()
        range_table: Any = {"from": f"{first} {unit}".strip(), "to": f"{last} {unit}".strip()}
        range_table["steps"] = abs(int(last) - int(first)) + 1
    elif part.startswith("{") and _is_toml(part):
        range_table = tomllib.loads(f"value = {part}")["value"]
        if not {"from", "to"} <= range_table.keys():
            return [part]
    else:
        return [part]
    from cellyard.experiment.reading import read_range

    return [level.text for level in read_range(range_table, f"--grid `{path}={part[:60]}`").each_step]


def split_values(path: str, text: str) -> list[str]:
    """Split values of ``path`` at commas outside quotes, brackets and braces; raises `UsageError` for faulty text.

    >>> split_values("switch.west.ubr.drop", 'epd, { policy = "fba", z = 0.5 },"a,b"')
    ['epd', '{ policy = "fba", z = 0.5 }', '"a,b"']
    """
    values, depth, quote, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and depth == 0:
            values.append(text[start:position].strip())
            start = position + 1
    values.append(text[start:].strip())
    option = f"--grid `{path}={text[:60]}`"
    if "" in values:
        raise UsageError(f"{option}: empty value between commas")
    if depth or quote:
        raise UsageError(f"{option}: unclosed quote, bracket or brace")
    if text.startswith("[") and len(values) == 1 and not _is_toml(text):
        raise UsageError(f"{option}: give the values without brackets, as in {path}=a,b,c")
    return values


def _is_toml(value: str) -> bool:
    try:
        tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return False
    return True
