"""Reads the description of an experiment and reports all problems at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from cellyard import _engine
from cellyard.experiment.description import base as bases, design, measure
from cellyard.experiment.description.axes import SCALES, Axis, Range, default_name, parts
from cellyard.experiment.description.design import DESIGNS, Design, Dimension
from cellyard.experiment.description.expression import Condition, ConditionError
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.description.measure import RESERVED
from cellyard.experiment.description.problems import Problems
from cellyard.experiment.plan import MOST_RUNS, Plan
from cellyard.experiment.questions import compare, find, optimise, precision, sensitivity, table
from cellyard.experiment.questions.find import check_condition
from cellyard.experiment.questions.question import Question
from cellyard.scenario import Scenario
from cellyard.show.columns import as_columns, quantity
from cellyard.show.words import counted
from cellyard.system.errors import ExperimentError, Problem, ScenarioError, UsageError
from cellyard.system.limits import MOST_REPLICATIONS, MOST_SEED
from cellyard.system.terminal import printable
from cellyard.system.values import plain

#: Fields of a description.
FIELDS = (
    "name",
    "title",
    "base",
    "set",
    "axis",
    "constraints",
    "design",
    "replications",
    "seed",
    "metrics",
    "question",
)
#: Fields of an axis, of its range, and of a design.
AXIS_FIELDS = ("path", "values", "range", "name", "together", "labels")
RANGE_FIELDS = ("from", "to", "steps", "scale", "whole")
DESIGN_FIELDS = ("kind", "points", "seed")
#: Names of experiments, and of axes.
NAME = "[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
AXIS_NAME = "[A-Za-z_][A-Za-z0-9_]{0,63}"
#: Questions by name.
QUESTIONS: Mapping[str, ModuleType] = {
    "table": table,
    "precision": precision,
    "compare": compare,
    "find": find,
    "optimise": optimise,
    "sensitivity": sensitivity,
}

#: Limit on points whose scenarios are checked before anything runs; for a larger grid see
#: `Plan.tried_points`.
MOST_CHECKED = 1000
#: Limit on the points of a design.
MOST_POINTS = 1_000_000


def read_toml(text: str, file: str, folder: Path, *, run_code: bool) -> tuple[Plan, Question]:
    """Read an experiment from TOML text. ``file`` names it in errors; ``run_code`` as for `read`. Raises `ExperimentError`."""
    name = printable(file)
    try:
        data, places = _engine.read_tree(text, name)
    except ScenarioError as error:
        raise ExperimentError(error.problems) from None
    return read(data, Problems(name, places), folder, run_code=run_code)


def read(
    data: Mapping[str, Any],
    problems: Problems,
    folder: Path,
    *,
    scenario: Scenario | None = None,
    run_code: bool = False,
) -> tuple[Plan, Question]:
    """Read an experiment from plain data. ``scenario`` replaces ``base``. Raises `ExperimentError`.

    If the base is a row of a user's study and ``run_code`` is false, checks that need the scenario
    are skipped; see `Plan.code`.
    """
    fields = Fields(data, (), problems, FIELDS)
    name = fields.text("name", needed="what the experiment is called, in letters, digits, - and _") or "experiment"
    if not re.fullmatch(NAME, name):
        fields.wrong("name", "letters, digits, - and _, at most 64", "cannot name files")
    named_base = (
        bases.Base(scenario, "a scenario built in Python")
        if scenario
        else bases.read(data.get("base"), folder, problems, run_code=run_code)
    )
    base = named_base.scenario
    seed = fields.whole("seed", None, least=0, most=MOST_SEED)
    if base is not None:
        base = bases.with_values(base, data.get("set", {}), problems)
        base = base if seed is None else base.with_seed(seed)
        if '"probes":[]' not in base.canonical:  # they change nothing, and what they record is not asked for
            base = base.with_values({"probe": []})
    axes = _axes(data.get("axis", []), problems)
    sound = problems.count
    metrics = measure.read(data.get("metrics"), problems)
    sound = sound if problems.count == sound else -1
    plan = Plan(
        name,
        fields.text("title") or "",
        base or Scenario.__new__(Scenario),
        named_base.told,
        tuple(axes.values()),
        tuple(_constraints(fields, [axis.name for axis in axes.values()])),
        _design(data.get("design", "grid"), problems),
        fields.whole("replications", 20, least=1, most=MOST_REPLICATIONS) or 20,
        metrics,
        data,
        named_base.code,
    )
    # Faulty axes and metrics are not reported again where the question names them.
    named = replace(plan, axes=_named(data, axes), metrics=metrics if sound >= 0 else _Any(metrics))
    question = _question(data.get("question"), named, problems)
    _go_together(plan, axes, problems)
    _have_columns(plan, question, axes, problems)
    if base is not None:
        _values(plan, axes, problems)
        measure.check_names(metrics, data.get("metrics"), _first_scenario(plan), problems)
    problems.complain()
    _can_be_grid(plan, question, axes, problems)
    problems.complain()
    expected = question.expected(plan)
    if expected.runs > MOST_RUNS or expected.points > MOST_POINTS:
        over = f"{expected.runs} runs" if expected.runs > MOST_RUNS else f"{expected.points} points"
        most = MOST_RUNS if expected.runs > MOST_RUNS else MOST_POINTS
        problems.add(("question",), "", f"the experiment makes {over}", allowed=f"at most {most}")
    problems.complain()
    _combinations(plan, problems)
    problems.complain()
    return plan, question


def _axes(stated: Any, problems: Problems) -> dict[int, Axis]:
    """The valid axes by their index in the list."""
    if isinstance(stated, Mapping) or not isinstance(stated, (list, tuple)):
        problems.add(("axis",), stated, "is not a list of tables", allowed="[[axis]] with path, and values or range")
        return {}
    found: dict[int, Axis] = {}
    for place, entry in enumerate(stated):
        axis = _axis(entry, place, problems)
        if axis is None:
            continue
        path = ("axis", place)
        if any(axis.name == other.name for other in found.values()):
            problems.add(
                (*path, "name" if "name" in entry else "path"),
                axis.name,
                "is the name of another axis; give it a name of its own",
            )
            continue
        for one in axis.paths:
            if any(one in other.paths for other in found.values()):
                problems.add((*path, "path"), one, "is varied by another axis")
        found[place] = axis
    return found


class _Any(dict[str, Any]):
    """Metrics some of which are faulty: any name may be one of those."""

    def __contains__(self, name: object) -> bool:
        return True


def _named(data: Mapping[str, Any], axes: Mapping[int, Axis]) -> tuple[Axis, ...]:
    """The axes, with a stand-in for each faulty one, since the question may refer to its values."""
    found = []
    stated, question = data.get("axis"), data.get("question")
    against = question.get("against") if isinstance(question, Mapping) else None
    values = [1, 2, *([against] if isinstance(against, str) else [])]
    for place, entry in enumerate(stated if isinstance(stated, (list, tuple)) else []):
        if place in axes:
            found.append(axes[place])
        elif isinstance(entry, Mapping):
            paths = entry.get("path", "")
            path = str(paths[0]) if isinstance(paths, (list, tuple)) and paths else str(paths)
            found.append(Axis(path, values, str(entry.get("name") or default_name(path))))
    return tuple(found)


def _axis(entry: Any, place: int, problems: Problems) -> Axis | None:
    before = problems.count
    fields = Fields(entry, ("axis", place), problems, AXIS_FIELDS)
    if not isinstance(entry, Mapping):
        return None
    paths = fields.texts("path", what="paths of the scenario, as switch.west.ubr.buffer", single=True)
    if "path" not in fields:
        fields.missing(
            "path", "a path of the scenario, as switch.west.ubr.buffer, or a list of paths that get the same value"
        )
    name = fields.text("name") or default_name(paths[0] if paths else "")
    if not re.fullmatch(AXIS_NAME, name) or name in RESERVED:
        fields.problems.add(
            fields.at("name"),
            name,
            "cannot name an axis",
            allowed=f"a word of letters, digits and _; not {', '.join(RESERVED)}",
        )
    together = fields.text("together") or ""
    values: Any = fields.raw("values")
    if ("values" in fields) == ("range" in fields):
        fields.problems.add(
            fields.path,
            "",
            "needs either values or a range",
            allowed="values = [...] or range = { from = ..., to = ... }",
        )
    elif "range" in fields:
        values = _range(fields.raw("range"), fields)
    elif not isinstance(values, (list, tuple)):
        fields.wrong("values", "a list", "is not a list")
    elif not values:
        fields.wrong("values", "one value or more", "is an empty list: an axis needs values")
    else:
        for number, value in enumerate(values):
            try:
                if value is None or isinstance(value, (list, tuple)):
                    raise UsageError("no single value")
                plain(value, "value")
            except UsageError:
                allowed = "a text, a number, a truth value or a table"
                problems.add((*fields.at("values"), number), value, "is not a value", allowed=allowed)
    labels = _labels(fields, values) if "labels" in fields else ()
    return Axis(paths, values, name, together, labels) if problems.count == before else None


def one_range(stated: Any, where: str) -> Range:
    """Read a range from a table; each message of the `ExperimentError` begins with ``where``."""
    problems = Problems(where)
    found = _range(stated, Fields({"range": stated}, (), problems, ("range",)))
    problems.complain()
    assert found is not None
    return found


def _range(stated: Any, fields: Fields) -> Range | None:
    own = Fields(stated, fields.at("range"), fields.problems, RANGE_FIELDS)
    if not isinstance(stated, Mapping):
        return None
    ends = []
    for key in ("from", "to"):
        try:
            ends.append(parts(own.raw(key)))
        except ValueError:
            if key in own:
                own.wrong(key, 'a number, or a text as "100 cells"', "is not a quantity")
            else:
                own.missing(key, 'a number, or a text as "100 cells"')
    steps = own.whole("steps", None, least=1, most=MOST_POINTS)
    scale = own.choice("scale", SCALES, "linear")
    whole = own.flag("whole", False) if "whole" in own else None
    if len(ends) < 2:
        return None
    (low, unit), (high, other) = ends
    if unit != other:
        own.wrong("to", f"the unit of `from`: {unit or 'none'}", "has another unit")
    elif low >= high:
        own.wrong("to", "more than `from`", "is not above `from`")
    elif scale == "log" and low <= 0:
        own.wrong("from", "more than 0 where the scale is log", "is not above 0")
    return Range(own.raw("from"), own.raw("to"), steps, "log" if scale == "log" else "linear", whole)


def _constraints(fields: Fields, names: Sequence[str]) -> list[Condition]:
    kept = []
    for place, text in enumerate(
        fields.texts("constraints", what='conditions on axes, as ["threshold <= 0.9 * buffer"]', single=True)
    ):
        path = ("constraints", place) if isinstance(fields.raw("constraints"), (list, tuple)) else ("constraints",)
        if check_condition(text, path, names, "axis", fields):
            kept.append(Condition(text))
    return kept


def _design(stated: Any, problems: Problems) -> Design:
    if isinstance(stated, str):
        if stated not in DESIGNS:
            problems.add(("design",), stated, "does not exist", near=DESIGNS)
            return Design()
        stated = {"kind": stated}
    fields = Fields(stated, ("design",), problems, DESIGN_FIELDS)
    kind = fields.choice("kind", DESIGNS, "grid")
    points = fields.whole("points", None, least=1, most=MOST_POINTS)
    if kind != "grid" and points is None and "points" not in fields:
        fields.missing("points", "the number of points")
    if kind == "grid" and "points" in fields:
        fields.wrong("points", "nothing: a grid has the points of its axes", "does not go with a grid")
    if kind == "sobol" and points and points & (points - 1):
        near = 2 ** round(math.log2(points))
        fields.wrong("points", f"a power of 2, as {near}: Sobol's points are even only then", "is not a power of 2")
    seed = fields.whole("seed", 1, least=0, most=2**32 - 1)
    return Design(kind, points, 1 if seed is None else seed)  # type: ignore[arg-type]


def _question(stated: Any, plan: Plan, problems: Problems) -> Question:
    if isinstance(stated, str):
        stated = {"kind": stated}
    if not isinstance(stated, Mapping) or "kind" not in stated:
        value = "" if stated is None else stated
        problems.add(
            ("question",),
            value,
            "is missing" if stated is None else "has no kind",
            allowed=f"kind = one of {', '.join(QUESTIONS)}",
        )
        return table.Table()
    kind = stated["kind"]
    if not isinstance(kind, str) or kind not in QUESTIONS:
        problems.add(("question", "kind"), kind, "unknown question", near=QUESTIONS)
        return table.Table()
    module: Any = QUESTIONS[kind]
    fields = Fields(stated, ("question",), problems, ("kind", *module.FIELDS))
    question: Question = module.read(fields, plan)
    return question


def _go_together(plan: Plan, axes: Mapping[int, Axis], problems: Problems) -> None:
    """Report axes that cannot vary together."""
    for dimension in plan.space:
        first = dimension.axes[0]
        for axis in dimension.axes[1:]:
            place = next(number for number, one in axes.items() if one is axis)
            if axis.is_range != first.is_range:
                problems.add(
                    ("axis", place, "together"),
                    axis.together,
                    f"is a list beside a range, {first.name}",
                    allowed="lists of one length, or ranges of as many steps",
                )
            elif len(axis.levels) != len(first.levels):
                problems.add(
                    ("axis", place, "together"),
                    axis.together,
                    f"has {len(axis.levels)} values, and {first.name} has {len(first.levels)}",
                    allowed="as many values",
                )


def _have_columns(plan: Plan, question: Question, axes: Mapping[int, Axis], problems: Problems) -> None:
    """Report axes whose column name is that of a metric, or of a column of the answer."""
    for place, axis in axes.items():
        if axis.name in (taken := question.columns(axis.name)):
            allowed = f"another name; not {', '.join(taken)}"
            problems.add(("axis", place, "name"), axis.name, "is a column of the answer", allowed=allowed)
        ends = [axis.values.at(share) for share in (0.0, 1.0)] if isinstance(axis.values, Range) else axis.levels
        columns = {name for row in as_columns([{axis.name: level.label} for level in ends]) for name in row}
        for column in sorted({axis.name, *columns}.intersection(plan.metrics)):
            problems.add(
                ("axis", place, "name"),
                axis.name,
                f"has the column of the metric {column}",
                allowed="another name of the axis",
            )


def _can_be_grid(plan: Plan, question: Question, axes: Mapping[int, Axis], problems: Problems) -> None:
    """Report ranges that need ``steps`` for a grid."""
    if plan.design.kind != "grid":
        return
    for place, axis in axes.items():
        if isinstance(axis.values, Range) and axis.values.steps is None and not question.chooses(axis.name):
            problems.add(
                ("axis", place, "range", "steps"), "", "is missing", allowed="how many values a grid has on this axis"
            )


def _first_scenario(plan: Plan) -> Scenario:
    """The scenario of the first values of all axes, or the base if that scenario is invalid."""
    try:
        return _made(plan, [pair for one in plan.space for pair in one.place(0)])
    except (ScenarioError, UsageError):
        return plan.base


def _made(plan: Plan, levels: Sequence[tuple[str, Any]]) -> Scenario:
    pairs = [(path, level.text) for name, level in levels for path in plan.paths[name]]
    return plan.base.with_values(pairs) if pairs else plan.base


def _labels(fields: Fields, values: Any) -> Sequence[str]:
    """The labels of an axis: distinct texts, none of which could be read as a number."""
    labels = fields.texts("labels", what="texts, one for each value")
    many = len(values) if isinstance(values, (list, tuple)) else 0
    if len(labels) != many:
        fields.wrong(
            "labels",
            "one for each of a list of values",
            f"has {counted(len(labels), 'text')}, and there are {counted(many, 'value')}",
        )
    for place, label in enumerate(labels):
        if not label.strip() or not label.isprintable() or label in labels[:place] or quantity(label):
            allowed = "a text of its own for each value, no number and no quantity"
            fields.problems.add((*fields.at("labels"), place), label, "cannot name a value", allowed=allowed)
    return tuple(labels)


def _values(plan: Plan, axes: Mapping[int, Axis], problems: Problems) -> None:
    """Report values that the scenario refuses, each alone."""
    numbers = {axis.name: place for place, axis in axes.items()}
    for dimension in plan.space:
        own = [(number, _tried(plan, dimension, place)) for number, place in enumerate(_candidates(dimension))]
        for axis in dimension.axes:
            wrong = [(index, problem) for index, found in own for problem in found]
            path = ("axis", numbers[axis.name])
            if (
                len({problem.message for _, problem in wrong}) == 1
                and len(wrong) >= len(own)
                and own
                and len({problem.path for _, problem in wrong}) == 1
            ):
                problems.of_scenario((*path, "path"), wrong[0][1])
            elif isinstance(axis.values, Range):
                for _, problem in wrong[:1]:
                    problems.of_scenario((*path, "range"), problem)
            else:
                for index, problem in wrong:
                    stated = _stated_place(axis, index)
                    problems.of_scenario((*path, "values", stated), problem, axis.levels[index].text)
            if wrong:
                break


def _combinations(plan: Plan, problems: Problems) -> None:
    """Report values that are incompatible, and constraints that leave no point."""
    try:
        points = plan.tried_points(MOST_CHECKED)
    except ConditionError as error:
        problems.add(("constraints",), "", f"cannot be judged at every point: {error}")
        return
    whole = plan.design.kind != "grid" or plan.size() <= MOST_CHECKED
    if not points and plan.constraints and whole:
        problems.add(
            ("constraints",), "", "leave no point of those that were tried", allowed="conditions that some point meets"
        )
    if plan.code:  # there is no base
        return
    for point in points:
        try:
            _made(plan, point.levels)
        except (ScenarioError, UsageError) as error:
            first = error.problems[0].text if isinstance(error, ScenarioError) else str(error)
            problems.add(("axis",), "", f"the values {point} do not go together: {first}")
            return


def _stated_place(axis: Axis, index: int) -> int:
    """Index of a level in the list as written, where values may repeat."""
    return index if axis.together else axis.stated.index(axis.levels[index])


#: An uneven fraction of a range, which a value that must be whole does not hit.
BETWEEN = 0.3819


def _candidates(dimension: Dimension) -> list[tuple[tuple[str, Any], ...]]:
    """All values of a list; for a range, both ends and one value between."""
    if dimension.axes[0].is_range:
        return [dimension.at(share) for share in (0.0, BETWEEN, 1.0)]
    return [dimension.place(index) for index in range(dimension.size)]


def _tried(plan: Plan, dimension: Dimension, place: Sequence[tuple[str, Any]]) -> list[Any]:
    """Problems of a value alone that remain with the first values of the other axes."""
    alone = _problems(lambda: _made(plan, place))
    if not alone:
        return []
    others = [pair for one in plan.space if one is not dimension for pair in one.place(0)]
    beside = {(problem.path, problem.message) for problem in _problems(lambda: _made(plan, [*others, *place]))}
    return [problem for problem in alone if (problem.path, problem.message) in beside]


def _problems(make: Callable[[], Any]) -> list[Any]:
    try:
        make()
    except ScenarioError as error:
        return list(error.problems)
    except UsageError as error:  # what no text can say
        return [Problem(str(error), None, None, "", "", str(error), "", None)]
    return []


__all__ = ["QUESTIONS", "design", "read", "read_toml"]
