"""Warnings about the scenarios of an experiment: each scenario's own, once, and those that only several show together."""

from __future__ import annotations

import re
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
    lines,
    renumbered,
)
from cellyard.scenario.hints import IN_STEP, UNSTATED
from cellyard.show.words import counted, listed
from cellyard.statistics.ranges import Number
from cellyard.system.errors import ScenarioError

#: Largest number of points of which all are checked, and number drawn from a larger grid; see
#: `Plan.tried_points`.
MOST_ASKED, DRAWN = 100, 50
#: The name of a VC in the path of a metric.
_NAMED_VC = re.compile(r"\bvc\.([^.*]+)\.")
#: Metrics that are 0 where no TCP delivered anything.
_OF_TCPS = ("totals.efficiency", "totals.goodput_mbps")
#: Limit on reported warnings.
MOST_TOLD = 8


def notes(plan: Plan, question: Question, scenario: Callable[[Point], Scenario]) -> list[str]:
    """Warnings about valid but probably mistaken settings, as from `Scenario.notes`, with the points they apply to.

    Warnings about the whole experiment come first, for example that compared service classes have
    different queues.
    """
    asked: list[Point] = []
    found: dict[str, list[Point]] = {}
    points: list[Point] = []
    queues = {axis.name: Queues() for axis in plan.axes if any(map(is_of_vcs, axis.paths))}
    with suppress(ConditionError):  # of many points not all were looked at when the description was read
        points = plan.tried_points(MOST_ASKED, drawn=DRAWN)
    made_of: list[tuple[Point, Scenario]] = []
    for point in points:
        with suppress(ScenarioError):
            made = scenario(point)
            made_of.append((point, made))
            own = made.notes()
            asked.append(point)
            for note in own:
                found.setdefault(note, []).append(point)
            ports = made.describe()["ports"] if queues else []
            for axis, of in queues.items():
                add_queues(of, ports, dict(point.levels)[axis].text)
    ranked = sorted(found.items(), key=lambda one: -len(one[1]))
    told = [f"{name} is not defined: {UNSTATED}" for name in plan.lacking]
    told += question.warnings(plan)
    told += _of_whole_run(plan)
    told += _along_axes(plan, made_of, scenario)
    told += [note for axis, of in queues.items() for note in differing_queues(axis, of)]
    told += [f"{note}{_where(own, asked)}" for note, own in ranked[:MOST_TOLD]]
    if len(found) > MOST_TOLD:
        told.append(
            f"{counted(len(found) - MOST_TOLD, 'other note')} of as many points or fewer; `cellyard check` shows those of a scenario"
        )
    return told


def _along_axes(
    plan: Plan, made_of: Sequence[tuple[Point, Scenario]], scenario: Callable[[Point], Scenario]
) -> list[str]:
    """Sentences on axes along which efficiencies are not comparable, or along which measured VCs change their numbers."""
    compares = any(path.text == "totals.efficiency" for path in plan.metrics.values())
    vcs = {name for path in plan.metrics.values() for name in _NAMED_VC.findall(path.text)}
    notes, sums = [], FairSums()
    labelled = [(point.labels, made) for point, made in made_of]
    for dimension in plan.space:
        counts = vcs and any(changes_counts(axis.paths) for axis in dimension.axes)
        if not (compares or counts):
            continue
        axes = [dimension.name, *(axis.name for axis in dimension.axes)]
        found = lines(labelled, axes) or [_line(plan, dimension, scenario)]
        notes += sums.note(dimension.name, found) if compares else []
        notes += renumbered(dimension.name, found, vcs) if counts else []
    return notes


def _line(plan: Plan, dimension: Dimension, scenario: Callable[[Point], Scenario]) -> Line:
    """Both ends and the middle of a dimension at the middle of the others, if no design points differ in it alone."""
    made = []
    for share in (0.0, 0.5, 1.0):
        point = at_shares(plan.space, [share if one is dimension else 0.5 for one in plan.space])
        with suppress(ScenarioError):
            made.append((point.labels[dimension.name], scenario(point)))
    return made


def of_nothing(
    plan: Plan, scenario: Callable[[Point], Scenario], measured: Mapping[Point, Mapping[int, Mapping[str, Number]]]
) -> list[str]:
    """A sentence on runs in which no TCP delivered anything, judged by efficiency or goodput, with their points.

    Only points count at which all VCs are TCPs and several begin before the end. Only scenarios of
    such runs are built.
    """
    names = [name for name, path in plan.metrics.items() if path.text in _OF_TCPS]
    found = {
        point: many
        for point, kept in measured.items()
        if (many := sum(any(one[name] == 0 for name in names) for one in kept.values()))
    }
    own = [point for point in found if _begins_together(scenario(point))]
    if not own:
        return []
    when = " in the measuring time" if plan.measures_a_part else ""
    many, runs = sum(found[point] for point in own), sum(map(len, measured.values()))
    some = f" in {many} of {runs} runs{_where(own, list(measured))}" if many < runs else ""
    return [f"no TCP delivered anything{when}{some}: where frames were lost, {IN_STEP}"]


def _begins_together(scenario: Scenario) -> bool:
    """Whether all VCs are TCPs and several begin before the end of the run."""
    stated = scenario.to_dict()
    tcps = [vc for vc in stated["vcs"] if vc["traffic"]["kind"] == "tcp"]
    return len(tcps) == len(stated["vcs"]) and sum(vc["start"] < stated["duration"] for vc in tcps) > 1


def _of_whole_run(plan: Plan) -> list[str]:
    """A sentence on metrics that ignore the given measuring time."""
    asked = [name for name, path in plan.metrics.items() if is_of_whole_run(path)]
    if not asked or not plan.measures_a_part:
        return []
    verb = "is" if len(asked) == 1 else "are"
    applies = "measure.warm_up and measure.window apply to goodputs, delays, and what ports have as measured_cell_loss_ratio and the like"
    return [f"{listed(asked)} {verb} of the whole run: {applies}"]


def _where(own: Sequence[Point], asked: Sequence[Point]) -> str:
    """The axis values that only the points ``own`` have, most informative first, or the number of points."""
    left, parts = list(asked), []
    names = list(dict(asked[0].levels))
    while names and len(left) > len(own):
        at = {name: dict.fromkeys(dict(point.levels)[name] for point in own) for name in names}
        kept = {name: [point for point in left if dict(point.levels)[name] in at[name]] for name in names}
        best = min(names, key=lambda name: len(kept[name]))
        names.remove(best)
        if len(kept[best]) < len(left):
            parts.append(f"{best} = {listed([one.label for one in at[best]], most=MOST_NAMED)}")
        left = kept[best]
    if len(left) > len(own):
        return f" (at {len(own)} of {len(asked)} points, as {own[0]})"
    return f" (at {'; '.join(parts)})" if parts else ""
