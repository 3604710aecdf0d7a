"""Warnings about the scenarios of an experiment: those of single scenarios, each once, and those about several together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from cellyard.experiment.description.design import Dimension, Point, at_shares
from cellyard.experiment.description.expression import ConditionError
from cellyard.experiment.metric_kind import is_of_whole_run
from cellyard.experiment.plan import Plan
from cellyard.experiment.questions.question import Question
from cellyard.scenario import Scenario
from cellyard.scenario.axis_notes import (
    MOST_NAMED,
    FairSums,
    Line,
    Queues,
    add_queues,
    changes_counts,
    differing_queues,
    is_of_vcs,
    lines_along,
    renumbered_vcs,
)
from cellyard.scenario.hints import NO_MAX_GOODPUT, SYNCHRONISED_TCPS
from cellyard.show.words import counted, listed
from cellyard.statistics.ranges import Number
from cellyard.system.errors import ScenarioError

#: Largest number of points of which all are checked, and number sampled from a larger grid; see
#: `Plan.checked_points`.
MOST_CHECKED, SAMPLED_POINTS = 100, 50
#: The name of a VC in the path of a metric.
_NAMED_VC = re.compile(r"\bvc\.([^.*]+)\.")
#: Metrics that are 0 where no TCP delivered anything.
_ZERO_WITHOUT_DELIVERY = ("totals.efficiency", "totals.goodput_mbps")
#: Limit on reported warnings.
MOST_REPORTED = 8


def notes(plan: Plan, question: Question, scenario: Callable[[Point], Scenario]) -> list[str]:
    """Warnings about valid but probably mistaken settings, as from `Scenario.notes`, with the points they apply to.

    Warnings about the whole experiment come first, for example that compared service classes have
    different queues.
    """
    points_by_note: dict[str, list[Point]] = {}
    points: list[Point] = []
    queues = {axis.name: Queues() for axis in plan.axes if any(map(is_of_vcs, axis.paths))}
    with suppress(ConditionError):  # reading the description checks only a sample of many points
        points = plan.checked_points(MOST_CHECKED, sampled=SAMPLED_POINTS)
    checked: dict[Point, Scenario] = {}
    for point in points:
        with suppress(ScenarioError):
            checked[point] = scenario(point)
            for note in checked[point].notes():
                points_by_note.setdefault(note, []).append(point)
            ports = checked[point].describe()["ports"] if queues else []
            for axis, buffers in queues.items():
                add_queues(buffers, ports, dict(point.levels)[axis].text)
    ranked = sorted(points_by_note.items(), key=lambda item: -len(item[1]))
    warnings = [f"{name} is undefined: {NO_MAX_GOODPUT}" for name in plan.undefined_metrics]
    warnings += question.warnings(plan)
    warnings += _repeated_values(plan)
    warnings += _whole_run_metrics(plan)
    warnings += _along_axes(plan, checked, scenario)
    warnings += [note for axis, buffers in queues.items() for note in differing_queues(axis, buffers)]
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
        f"{axis.name}: `{level.label}` is listed {count} times but runs only once"
        for axis in lists
        for level, count in Counter(axis.written_levels).items()
        if count > 1
    ]


def _along_axes(plan: Plan, checked: Mapping[Point, Scenario], scenario: Callable[[Point], Scenario]) -> list[str]:
    """Sentences on axes along which efficiencies are not comparable, or along which measured VCs change their numbers."""
    compares = any(path.text == "totals.efficiency" for path in plan.metrics.values())
    vcs = {name for path in plan.metrics.values() for name in _NAMED_VC.findall(path.text)}
    notes, sums = [], FairSums()
    labelled = [(point.labels, checked_scenario) for point, checked_scenario in checked.items()]
    for dimension in plan.space:
        counts = vcs and any(changes_counts(axis.paths) for axis in dimension.axes)
        if not (compares or counts):
            continue
        axes = [dimension.name, *(axis.name for axis in dimension.axes)]
        lines_of_dimension = lines_along(labelled, axes) or [_line(plan, dimension, scenario)]
        notes += sums.note(dimension.name, lines_of_dimension) if compares else []
        notes += renumbered_vcs(dimension.name, lines_of_dimension, vcs) if counts else []
    return notes


def _line(plan: Plan, dimension: Dimension, scenario: Callable[[Point], Scenario]) -> Line:
    """Both ends and the middle of a dimension at the middle of the others, if no design points differ in it alone."""
    line = []
    for share in (0.0, 0.5, 1.0):
        point = at_shares(plan.space, [share if other is dimension else 0.5 for other in plan.space])
        with suppress(ScenarioError):
            line.append((point.labels[dimension.name], scenario(point)))
    return line


def no_deliveries(
    plan: Plan, scenario: Callable[[Point], Scenario], measured: Mapping[Point, Mapping[int, Mapping[str, Number]]]
) -> list[str]:
    """A sentence on runs in which no TCP delivered anything, judged by efficiency or goodput, with their points.

    Only points count at which all VCs are TCPs and several begin before the end. Only scenarios of
    such runs are built.
    """
    names = [name for name, path in plan.metrics.items() if path.text in _ZERO_WITHOUT_DELIVERY]
    failures = {
        point: failed
        for point, samples in measured.items()
        if (failed := sum(any(sample[name] == 0 for name in names) for sample in samples.values()))
    }
    affected = [point for point in failures if _starts_together(scenario(point))]
    if not affected:
        return []
    in_time = " in the measuring time" if plan.may_measure_part else ""
    failed, runs = sum(failures[point] for point in affected), sum(map(len, measured.values()))
    where = f" in {failed} of {runs} runs{_where(affected, list(measured))}" if failed < runs else ""
    return [f"no TCP delivered anything{in_time}{where}; if frames were lost, {SYNCHRONISED_TCPS}"]


def _starts_together(scenario: Scenario) -> bool:
    """Whether all VCs are TCPs and several begin before the end of the run."""
    data = scenario.to_dict()
    tcps = [vc for vc in data["vcs"] if vc["traffic"]["kind"] == "tcp"]
    return len(tcps) == len(data["vcs"]) and sum(vc["start"] < data["duration"] for vc in tcps) > 1


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
    """The axis values that distinguish the affected points, most informative first, or the number of points."""
    matching, parts = list(checked), []
    names = list(dict(checked[0].levels))
    while names and len(matching) > len(affected):
        values = {name: dict.fromkeys(dict(point.levels)[name] for point in affected) for name in names}
        selected = {name: [point for point in matching if dict(point.levels)[name] in values[name]] for name in names}
        best = min(names, key=lambda name: len(selected[name]))
        names.remove(best)
        if len(selected[best]) < len(matching):
            parts.append(f"{best} = {listed([level.label for level in values[best]], most=MOST_NAMED)}")
        matching = selected[best]
    if len(matching) > len(affected):
        return f" (at {len(affected)} of {len(checked)} points, for example {affected[0]})"
    return f" (at {'; '.join(parts)})" if parts else ""
