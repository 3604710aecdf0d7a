"""Reads the description of an experiment and reports all problems at once."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from cellyard import _engine
from cellyard.experiment.description import base as bases, measure
from cellyard.experiment.description.axes import SCALES, Axis, Range, default_name, number_and_unit
from cellyard.experiment.description.design import DESIGNS, Design, Dimension
from cellyard.experiment.description.expression import Condition, ConditionError
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.description.measure import RESERVED
from cellyard.experiment.description.problems import Problems
from cellyard.experiment.plan import MOST_RUNS, Plan
from cellyard.experiment.questions import compare, find, precision, sensitivity, table
from cellyard.experiment.questions.find import check_condition
from cellyard.experiment.questions.question import Question
from cellyard.scenario import Scenario, paths
from cellyard.show.columns import as_columns, quantity
from cellyard.show.words import counted
from cellyard.system.errors import ExperimentError, Problem, ScenarioError, UsageError
from cellyard.system.format import of_scenario
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
    "sensitivity": sensitivity,
}

#: Limit on points whose scenarios are checked before anything runs; for a larger grid see
#: `Plan.checked_points`.
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
    name = fields.text("name", needed="a name of letters, digits, - and _") or "experiment"
    if not re.fullmatch(NAME, name):
        fields.wrong("name", "letters, digits, - and _, at most 64", "is not a valid name of files")
    named_base = (
        bases.Base(scenario, "a scenario built in Python")
        if scenario
        else bases.read(data.get("base"), folder, problems, run_code=run_code)
    )
    base = named_base.scenario
    seed = fields.whole("seed", None, least=0, most=MOST_SEED)
    if base is not None:
        base = bases.with_values(base, data.get("set", {}), problems, is_kept=bases.states_rest(data))
        base = base if seed is None else base.with_seed(seed)
        if '"probes":[]' not in base.canonical:  # probes change no number, and an experiment ignores their series
            base = base.with_values({"probe": []})
    axes = _axes(data.get("axis", []), problems)
    _check_paths(data.get("set"), axes, named_base.scenario, problems)
    before = problems.count
    metrics = measure.read(data.get("metrics"), problems, named_base.metrics)
    metrics_are_valid = problems.count == before
    plan = Plan(
        name,
        fields.text("title") or "",
        base or Scenario.__new__(Scenario),
        named_base.summary,
        tuple(axes.values()),
        tuple(_constraints(fields, axes.values(), base)),
        _design(data.get("design", "grid"), problems),
        fields.whole("replications", 20, least=1, most=MOST_REPLICATIONS) or 20,
        metrics,
        data,
        named_base.code,
        named_base.scenario,
    )
    # Faulty axes and metrics are not reported again if the question names them.
    named = replace(plan, axes=_with_stand_ins(data, axes), metrics=metrics if metrics_are_valid else _AnyName(metrics))
    question = _question(data.get("question"), named, problems)
    _check_joint_axes(plan, axes, problems)
    _check_column_names(plan, question, axes, problems)
    if base is not None:
        _check_values(plan, axes, problems)
        measure.check_names(metrics, data.get("metrics"), _first_scenario(plan), problems)
    problems.raise_all()
    _check_grid_steps(plan, question, axes, problems)
    problems.raise_all()
    expected = question.expected(plan)
    if expected.runs > MOST_RUNS or expected.points > MOST_POINTS:
        over = f"{expected.runs} runs" if expected.runs > MOST_RUNS else f"{expected.points} points"
        most = MOST_RUNS if expected.runs > MOST_RUNS else MOST_POINTS
        problems.add(("question",), "", f"the experiment has {over}", allowed=f"at most {most}")
    problems.raise_all()
    _check_combinations(plan, problems)
    problems.raise_all()
    return plan, question


def _axes(data: Any, problems: Problems) -> dict[int, Axis]:
    """The valid axes by their index in the list."""
    if isinstance(data, Mapping) or not isinstance(data, (list, tuple)):
        problems.add(("axis",), data, "is not a list of tables", allowed="[[axis]] with path, and values or range")
        return {}
    axes: dict[int, Axis] = {}
    for index, entry in enumerate(data):
        axis = _axis(entry, index, problems)
        if axis is None:
            continue
        table_path = ("axis", index)
        if any(axis.name == other.name for other in axes.values()):
            problems.add(
                (*table_path, "name" if "name" in entry else "path"),
                axis.name,
                "is also the name of another axis; give the axes different names",
            )
            continue
        axes[index] = axis
    return axes


def _check_paths(data: Any, axes: Mapping[int, Axis], base: Scenario | None, problems: Problems) -> None:
    """Report fields of the scenario that ``set`` and the axes set more than once, in any spelling."""
    stated = [path for path in data if path not in bases.LISTS] if isinstance(data, Mapping) else []
    fields = paths.fields_of(base, [*stated, *(path for axis in axes.values() for path in axis.paths)])
    for place, path in enumerate(stated):
        if (spelling := paths.also(fields, path, stated[:place])) is not None:
            problems.add(("set", path), data[path], f"`set` sets it twice{spelling}; set each path once")
    varied: list[str] = []
    for index, axis in axes.items():
        for path in axis.paths:
            if (spelling := paths.also(fields, path, varied)) is not None:
                message = f"is also the path of another axis{spelling}; vary each path once"
                problems.add(("axis", index, "path"), path, message)
            if (spelling := paths.also(fields, path, stated)) is not None:
                problems.add(("axis", index, "path"), path, f"`set` sets it too{spelling}; set each path once")
        varied += axis.paths


class _AnyName(dict[str, Any]):
    """Metrics that include every name, since some of them are faulty and have no known name."""

    def __contains__(self, name: object) -> bool:
        return True


def _with_stand_ins(data: Mapping[str, Any], axes: Mapping[int, Axis]) -> tuple[Axis, ...]:
    """The axes, with a stand-in for each faulty one, since the question may refer to its values."""
    named_axes = []
    entries, question = data.get("axis"), data.get("question")
    compared_value = question.get("against") if isinstance(question, Mapping) else None
    values = [1, 2, *([compared_value] if isinstance(compared_value, str) else [])]
    for index, entry in enumerate(entries if isinstance(entries, (list, tuple)) else []):
        if index in axes:
            named_axes.append(axes[index])
        elif isinstance(entry, Mapping):
            paths = entry.get("path", "")
            path = str(paths[0]) if isinstance(paths, (list, tuple)) and paths else str(paths)
            named_axes.append(Axis(path, values, str(entry.get("name") or default_name(path))))
    return tuple(named_axes)


def _axis(entry: Any, index: int, problems: Problems) -> Axis | None:
    before = problems.count
    fields = Fields(entry, ("axis", index), problems, AXIS_FIELDS)
    if not isinstance(entry, Mapping):
        return None
    paths = fields.texts("path", items="paths of the scenario, such as switch.west.ubr.buffer", single=True)
    if "path" not in fields:
        fields.missing(
            "path", "a path of the scenario, such as switch.west.ubr.buffer, or a list of paths that get the same value"
        )
    name = fields.text("name") or default_name(paths[0] if paths else "")
    if not re.fullmatch(AXIS_NAME, name) or name in RESERVED:
        fields.problems.add(
            fields.at("name"),
            name,
            "is not a valid name of an axis",
            allowed=f"a word of letters, digits and _, other than {', '.join(RESERVED)}",
        )
    together = fields.text("together") or ""
    values: Any = fields.raw("values")
    if ("values" in fields) == ("range" in fields):
        fields.problems.add(
            fields.path,
            "",
            "needs either values or range",
            allowed="values = [...] or range = { from = ..., to = ... }",
        )
    elif "range" in fields:
        values = _range(fields.raw("range"), fields)
    elif not isinstance(values, (list, tuple)):
        fields.wrong("values", "a list", "is not a list")
    elif not values:
        fields.wrong("values", "one value or more", "empty list")
    else:
        for position, value in enumerate(values):
            try:
                if value is None:
                    raise UsageError("no value")
                plain(value, "value")
            except UsageError:
                allowed = "a string, a number, a boolean, a table or a list"
                problems.add((*fields.at("values"), position), value, "cannot be set in a scenario", allowed=allowed)
    labels = _labels(fields, values) if "labels" in fields else ()
    return Axis(paths, values, name, together, labels) if problems.count == before else None


def read_range(data: Any, where: str) -> Range:
    """Read a range from a table; each message of the `ExperimentError` begins with ``where``."""
    problems = Problems(where)
    result = _range(data, Fields({"range": data}, (), problems, ("range",)))
    problems.raise_all()
    assert result is not None
    return result


def _range(data: Any, fields: Fields) -> Range | None:
    range_fields = Fields(data, fields.at("range"), fields.problems, RANGE_FIELDS)
    if not isinstance(data, Mapping):
        return None
    ends = []
    allowed = 'a number, or a text such as "100 cells"'
    for key in ("from", "to"):
        try:
            ends.append(number_and_unit(range_fields.raw(key)))
        except ValueError:
            if key in range_fields:
                range_fields.wrong(key, allowed, "is not a quantity")
            else:
                range_fields.missing(key, allowed)
    steps = range_fields.whole("steps", None, least=1, most=MOST_POINTS)
    scale = range_fields.choice("scale", SCALES, "linear")
    is_whole = range_fields.flag("whole", False) if "whole" in range_fields else None
    if len(ends) < 2:
        return None
    (low, unit), (high, unit_of_end) = ends
    if unit != unit_of_end:
        range_fields.wrong("to", f"the unit of `from`: {unit or 'none'}", "unit differs from that of `from`")
    elif low >= high:
        range_fields.wrong("to", "more than `from`", "is not above `from`")
    elif scale == "log" and low <= 0:
        range_fields.wrong("from", "more than 0, as the scale is log", "is not above 0")
    return Range(
        range_fields.raw("from"), range_fields.raw("to"), steps, "log" if scale == "log" else "linear", is_whole
    )


def _constraints(fields: Fields, axes: Collection[Axis], base: Scenario | None) -> list[Condition]:
    conditions = []
    units = {axis.name: axis.unit for axis in axes}
    noun = of_scenario(base.canonical).noun if base else "cell"
    for index, text in enumerate(
        fields.texts("constraints", items='conditions on axes, such as ["threshold <= 0.9 * buffer"]', single=True)
    ):
        path = ("constraints", index) if isinstance(fields.raw("constraints"), (list, tuple)) else ("constraints",)
        if check_condition(text, path, units, "axis", fields, units, noun):
            conditions.append(Condition(text))
    return conditions


def _design(data: Any, problems: Problems) -> Design:
    if isinstance(data, str):
        if data not in DESIGNS:
            problems.add(("design",), data, "unknown design", near=DESIGNS)
            return Design()
        data = {"kind": data}
    fields = Fields(data, ("design",), problems, DESIGN_FIELDS)
    kind = fields.choice("kind", DESIGNS, "grid")
    points = fields.whole("points", None, least=1, most=MOST_POINTS)
    if kind != "grid" and points is None and "points" not in fields:
        fields.missing("points", f"the number of points of the design, from 1 to {MOST_POINTS}")
    if kind == "grid" and "points" in fields:
        fields.wrong("points", "no number of points, as the axes determine it", "cannot be set for a grid")
    if kind == "sobol" and points and points & (points - 1):
        near = 2 ** round(math.log2(points))
        fields.wrong("points", f"a power of 2, such as {near}", "is not a power of 2, which a Sobol sequence needs")
    seed = fields.whole("seed", 1, least=0, most=2**32 - 1)
    return Design(kind, points, 1 if seed is None else seed)  # type: ignore[arg-type]


def _question(data: Any, plan: Plan, problems: Problems) -> Question:
    if isinstance(data, str):
        data = {"kind": data}
    if not isinstance(data, Mapping) or "kind" not in data:
        value = "" if data is None else data
        problems.add(
            ("question",),
            value,
            "is missing" if data is None else "missing kind",
            allowed=f"kind = one of {', '.join(QUESTIONS)}",
        )
        return table.Table()
    kind = data["kind"]
    if not isinstance(kind, str) or kind not in QUESTIONS:
        problems.add(("question", "kind"), kind, "unknown question", near=QUESTIONS)
        return table.Table()
    module: Any = QUESTIONS[kind]
    fields = Fields(data, ("question",), problems, ("kind", *module.FIELDS))
    question: Question = module.read(fields, plan)
    return question


def _check_joint_axes(plan: Plan, axes: Mapping[int, Axis], problems: Problems) -> None:
    """Report axes that cannot vary together."""
    for dimension in plan.space:
        first = dimension.axes[0]
        for axis in dimension.axes[1:]:
            index = next(position for position, candidate in axes.items() if candidate is axis)
            if axis.is_range != first.is_range:
                problems.add(
                    ("axis", index, "together"),
                    axis.together,
                    f"has {'a range' if axis.is_range else 'a list'}, but {first.name} has "
                    f"{'a range' if first.is_range else 'a list'}",
                    allowed="lists of equal length, or ranges with equal steps",
                )
            elif len(axis.levels) != len(first.levels):
                problems.add(
                    ("axis", index, "together"),
                    axis.together,
                    f"has {counted(len(axis.levels), 'value')}, but {first.name} has {len(first.levels)}",
                    allowed="equally many values",
                )


def _check_column_names(plan: Plan, question: Question, axes: Mapping[int, Axis], problems: Problems) -> None:
    """Report axes whose column name is that of a metric, or of a column of the answer."""
    for index, axis in axes.items():
        if axis.name in (taken := question.reserved_columns(axis.name)):
            allowed = f"a name other than {', '.join(taken)}"
            problems.add(("axis", index, "name"), axis.name, "names a column of the answer", allowed=allowed)
        ends = [axis.values.at(share) for share in (0.0, 1.0)] if isinstance(axis.values, Range) else axis.levels
        columns = {name for row in as_columns([{axis.name: level.label} for level in ends]) for name in row}
        for column in sorted({axis.name, *columns}.intersection(plan.metrics)):
            problems.add(
                ("axis", index, "name"),
                axis.name,
                f"gets the column {column}, which is also a metric",
                allowed="a different name for the axis",
            )


def _check_grid_steps(plan: Plan, question: Question, axes: Mapping[int, Axis], problems: Problems) -> None:
    """Report ranges that need ``steps`` for a grid."""
    if plan.design.kind != "grid":
        return
    for index, axis in axes.items():
        if isinstance(axis.values, Range) and axis.values.steps is None and not question.chooses(axis.name):
            problems.add(
                ("axis", index, "range", "steps"),
                "",
                "is missing",
                allowed="the number of values on this axis of the grid",
            )


def _first_scenario(plan: Plan) -> Scenario:
    """The scenario of the first values of all axes, or the base if that scenario is invalid."""
    try:
        return plan.scenario([pair for dimension in plan.space for pair in dimension.at_index(0)])
    except (ScenarioError, UsageError):
        return plan.base


def _labels(fields: Fields, values: Any) -> Sequence[str]:
    """The labels of an axis: distinct texts, none of which could be read as a number."""
    labels = fields.texts("labels", items="texts, one for each value")
    value_count = len(values) if isinstance(values, (list, tuple)) else 0
    if len(labels) != value_count:
        fields.wrong(
            "labels",
            "one label for each value of a list",
            f"has {counted(len(labels), 'label')} for {counted(value_count, 'value')}",
        )
    for index, label in enumerate(labels):
        if not label.strip() or not label.isprintable() or label in labels[:index] or quantity(label):
            allowed = "a different text for each value, but no number or quantity"
            fields.problems.add((*fields.at("labels"), index), label, "is not a valid label", allowed=allowed)
    return tuple(labels)


def _check_values(plan: Plan, axes: Mapping[int, Axis], problems: Problems) -> None:
    """Report values that the scenario refuses, each alone."""
    axis_numbers = {axis.name: number for number, axis in axes.items()}
    for dimension in plan.space:
        candidates = _candidates(dimension)
        wrong = [
            (index, problem)
            for index, levels in enumerate(candidates)
            for problem in _value_problems(plan, dimension, levels)
        ]
        same_everywhere = (
            candidates
            and len(wrong) >= len(candidates)
            and len({(problem.path, problem.message) for _, problem in wrong}) == 1
        )
        for axis in dimension.axes:
            path = ("axis", axis_numbers[axis.name])
            if same_everywhere:
                problems.of_scenario((*path, "path"), wrong[0][1])
            elif isinstance(axis.values, Range):
                for _, problem in wrong[:1]:
                    problems.of_scenario((*path, "range"), problem)
            else:
                for index, problem in wrong:
                    written_index = _written_index(axis, index)
                    problems.of_scenario((*path, "values", written_index), problem, axis.levels[index].text)
            if wrong:
                break


def _check_combinations(plan: Plan, problems: Problems) -> None:
    """Report values that are incompatible, and constraints that leave no point."""
    try:
        points = plan.checked_points(MOST_CHECKED)
    except ConditionError as error:
        problems.add(("constraints",), "", f"cannot be evaluated at every point: the condition {error}")
        return
    all_checked = plan.design.kind != "grid" or plan.size() <= MOST_CHECKED
    if not points and plan.constraints and all_checked:
        problems.add(
            ("constraints",),
            "",
            "exclude every point of the design",
            allowed="conditions that at least one point meets",
        )
    if plan.code:  # there is no base
        return
    for point in points:
        try:
            plan.scenario(point.levels)
        except (ScenarioError, UsageError) as error:
            first = error.problems[0].summary if isinstance(error, ScenarioError) else str(error)
            problems.add(("axis",), "", f"the values {point} are invalid together: {first}")
            return


def _written_index(axis: Axis, index: int) -> int:
    """Index of a level in the list as written, where values may repeat."""
    return index if axis.together else axis.written_levels.index(axis.levels[index])


#: An uneven fraction of a range, which a value that must be whole does not hit.
UNEVEN_SHARE = 0.3819


def _candidates(dimension: Dimension) -> list[tuple[tuple[str, Any], ...]]:
    """All values of a list; for a range, both ends and one value between."""
    if dimension.axes[0].is_range:
        return [dimension.at(share) for share in (0.0, UNEVEN_SHARE, 1.0)]
    return [dimension.at_index(index) for index in range(dimension.size)]


def _value_problems(plan: Plan, dimension: Dimension, levels: Sequence[tuple[str, Any]]) -> list[Any]:
    """Problems of a value alone that remain with the first values of the other axes."""
    alone = _problems_of(lambda: plan.scenario(levels))
    if not alone:
        return []
    others = [pair for other in plan.space if other is not dimension for pair in other.at_index(0)]
    together = _problems_of(lambda: plan.scenario([*others, *levels]))
    remaining = {(problem.path, problem.message) for problem in together}
    return [problem for problem in alone if (problem.path, problem.message) in remaining]


def _problems_of(make: Callable[[], Any]) -> list[Any]:
    try:
        make()
    except ScenarioError as error:
        return list(error.problems)
    except UsageError as error:  # a value that TOML cannot express
        return [Problem(str(error), None, None, "", "", str(error), "", None)]
    return []
