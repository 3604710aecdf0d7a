"""Notes about the scenarios of an experiment: those of single scenarios, each once, and those about several together."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from cellyard.experiment.description import base as bases
from cellyard.experiment.description.design import Dimension, Point, at_shares, where
from cellyard.experiment.description.expression import ConditionError
from cellyard.experiment.metric_kind import is_of_whole_run
from cellyard.experiment.plan import Plan
from cellyard.experiment.questions.question import Question
from cellyard.runs.runner import CachedRunner
from cellyard.scenario import Scenario, axis_notes
from cellyard.show.hints import NO_MAX_GOODPUT
from cellyard.show.words import counted, listed
from cellyard.system.errors import ScenarioError

#: Largest number of points of which all are checked, and number sampled from a larger grid; see
#: `Plan.checked_points`.
MOST_CHECKED, SAMPLED_POINTS = 100, 50
#: The name of a VC in the path of a metric.
_NAMED_VC = re.compile(r"\bvc\.([^.*]+)\.")
#: What to do about a kind of notes on finished runs, in an experiment.
HINTS = {
    "tied_refusals": ': to see how much, add an axis with path = "tie_order", values = ["fixed", "rotating", "random", "fair"]'
}
#: Limit on reported warnings.
MOST_REPORTED = 8


def notes(plan: Plan, question: Question, scenario: Callable[[Point], Scenario]) -> list[str]:
    """Notes about valid but probably mistaken settings, as from `Scenario.notes`, with the points they apply to.

    Notes about the whole experiment come first, for example that compared service classes have
    different queues.
    """
    points_by_note: dict[str, list[Point]] = {}
    points: list[Point] = []
    queues = {axis.name: axis_notes.Queues() for axis in plan.axes if any(map(axis_notes.is_of_vcs, axis.paths))}
    with suppress(ConditionError):  # reading the description checks only a sample of many points
        points = plan.checked_points(MOST_CHECKED, sampled=SAMPLED_POINTS)
    checked: dict[Point, Scenario] = {}
    for point in points:
        with suppress(ScenarioError):
            checked[point] = scenario(point)
            for note in checked[point].notes(replicated=True):
                points_by_note.setdefault(note, []).append(point)
            ports = checked[point].describe()["ports"] if queues else []
            for axis, buffers in queues.items():
                axis_notes.add_queues(buffers, ports, dict(point.levels)[axis].text)
    ranked = sorted(points_by_note.items(), key=lambda item: -len(item[1]))
    warnings = [f"{name} is undefined: {NO_MAX_GOODPUT}" for name in plan.undefined_metrics]
    warnings += question.warnings(plan)
    warnings += _repeated_values(plan)
    warnings += _whole_run_metrics(plan)
    warnings += _equal_scenarios(checked)
    warnings += _own_rest(plan, checked)
    warnings += _along_axes(plan, checked, scenario)
    warnings += [note for axis, buffers in queues.items() for note in axis_notes.differing_queues(axis, buffers)]
    warnings += [f"{note}{_where(affected, list(checked))}" for note, affected in ranked[:MOST_REPORTED]]
    if len(ranked) > MOST_REPORTED:
        warnings.append(
            f"{counted(len(ranked) - MOST_REPORTED, 'other note')} on equally many points or fewer; "
            "`cellyard check` shows all notes of a scenario"
        )
    return warnings


def _repeated_values(plan: Plan) -> list[str]:
    """A sentence for each value that an axis lists several times. Axes that vary together may repeat values."""
    lists = (axis for axis in plan.axes if not axis.is_range and not axis.together)
    return [
        note
        for axis in lists
        for note in axis_notes.repeated(axis.name, axis.written_levels, lambda level: str(level.label))
    ]


def _equal_scenarios(checked: Mapping[Point, Scenario]) -> list[str]:
    """A sentence on points with one scenario, whose rows are equal."""
    equal = axis_notes.equal_pairs(checked.items())
    if not equal:
        return []
    known, point = equal[0]
    others = f", and {counted(len(equal) - 1, 'other point')} repeat one" if len(equal) > 1 else ""
    is_default = any(level.text == "default" for _, level in (*known.levels, *point.levels))
    hint = "; `default` is the default of the format, and `base` the value of the base" if is_default else ""
    return [f"{point} gives the same scenario as {known}{others}: their results are equal{hint}"]


def _own_rest(plan: Plan, checked: Iterable[Point]) -> list[str]:
    """A sentence for `set`, and one for each axis, that changes a policy, and with it the base's ``rest_of_frame``."""
    changed = plan.description.get("set") or {}
    found = []
    if plan.before_set and changed and not plan.keeps_rest:
        whole = plan.before_set.with_values(changed)
        found = ["`set`"] if bases.at_levels(plan.before_set, list(changed.items())) != whole else []
    for axis in plan.axes:
        for level in dict.fromkeys(dict(point.levels)[axis.name] for point in checked):
            pairs = [(path, level.text) for path in axis.paths if level.text != bases.UNCHANGED]
            with suppress(ScenarioError):
                if plan.scenario([(axis.name, level)]) != plan.base.with_values(pairs):
                    found.append(axis.name)
                    break
    return [
        f"{name} changes a drop policy, and each policy has its own `rest_of_frame` instead of that of the base; "
        "an axis or `set` with the path of `rest_of_frame` states another"
        for name in found
    ]


def _along_axes(plan: Plan, checked: Mapping[Point, Scenario], scenario: Callable[[Point], Scenario]) -> list[str]:
    """Sentences on axes along which efficiencies are not comparable, or along which measured VCs change their numbers."""
    compares = any(path.text == "totals.efficiency" for path in plan.metrics.values())
    vcs = {name for path in plan.metrics.values() for name in _NAMED_VC.findall(path.text)}
    notes, sums = [], axis_notes.FairSums()
    labelled = [(point.labels, checked_scenario) for point, checked_scenario in checked.items()]
    for dimension in plan.space:
        counts = vcs and any(axis_notes.changes_counts(axis.paths) for axis in dimension.axes)
        if not (compares or counts):
            continue
        axes = [dimension.name, *(axis.name for axis in dimension.axes)]
        lines_of_dimension = axis_notes.lines_along(labelled, axes) or [_line(plan, dimension, scenario)]
        notes += sums.note(dimension.name, lines_of_dimension) if compares else []
        notes += axis_notes.renumbered_vcs(dimension.name, lines_of_dimension, vcs) if counts else []
    return notes


def _line(plan: Plan, dimension: Dimension, scenario: Callable[[Point], Scenario]) -> axis_notes.Line:
    """Both ends and the middle of a dimension at the middle of the others, if no design points differ in it alone."""
    line = []
    for share in (0.0, 0.5, 1.0):
        point = at_shares(plan.space, [share if other is dimension else 0.5 for other in plan.space])
        with suppress(ScenarioError):
            line.append((point.labels[dimension.name], scenario(point)))
    return line


def of_runs(
    plan: Plan, scenario: Callable[[Point], Scenario], points: Sequence[Point], runner: CachedRunner[Point]
) -> list[str]:
    """The notes of `run` on the finished runs of ``points``, each with its points, as far as they concern what is measured."""
    paths = [path.text for path in plan.metrics.values()]
    return [
        f"{note.text}{_where(affected, points)}{HINTS.get(note.kind, '')}"
        for note, affected in runner.notes(points, paths, lambda point: scenario(point).states("tie_order"))
        # Other notes name these metrics.
        if note.kind != "efficiency_above_one" and not (note.kind == "no_efficiency" and plan.undefined_metrics)
    ]


def _whole_run_metrics(plan: Plan) -> list[str]:
    """A sentence on metrics that ignore the given measuring time."""
    metrics = [name for name, path in plan.metrics.items() if is_of_whole_run(path)]
    if not metrics or not plan.may_measure_part:
        return []
    verb = "covers" if len(metrics) == 1 else "cover"
    return [
        f"{listed(metrics)} {verb} the whole run: measure.warm_up and measure.window apply only to goodputs, delays and the "
        "measured_ metrics of ports, such as measured_cell_loss_ratio"
    ]


def _where(affected: Sequence[Point], checked: Sequence[Point]) -> str:
    """Where a note applies, in parentheses; empty if everywhere."""
    place = where(affected, checked)
    return f" ({place})" if place else ""
