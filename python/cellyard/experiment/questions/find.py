"""The question ``find``: the smallest, or largest, value of an axis that meets a requirement.

The requirement holds at a value when at least a given share of the replications there meets all its
conditions. The answer is the first value that holds beyond all values that are shown to fail. So of
a requirement that holds, fails and holds again, it is the value from which on nothing fails, and the
answer says where else the requirement holds.

The search assumes that it holds from the value found to the end of the axis. Bisection
narrows the interval between a value that fails and one that holds. Then the neighbours of the
border are tried until their shares are clearly below the required one. At the end, values on both
sides are tried. If one of them contradicts the assumption, every value is tried if they are few.

The value found is selected, which biases its share upwards. Two results show the uncertainty. Fresh
replications, which had no part in the search, give Wilson's interval of its share at `CONFIDENCE`. A
bracket contains the border with at least that confidence, if the assumption holds. It begins at the
nearest value that is shown to be below the required share, and ends at the first that is shown to
have it, each by an exact binomial test at half the error. As several values are tested, the next value
tried beyond each end must show the same. With common random numbers it does whenever the end does.
If every value was tried because nothing is assumed, the bracket needs no assumption either.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from cellyard.experiment.description.axes import Range
from cellyard.experiment.description.design import Point
from cellyard.experiment.description.expression import ALLOWED, Condition, ConditionError, Unit
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.metric_kind import column_units, condition_text
from cellyard.experiment.not_known import run_longer
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.question import JUDGED, Question
from cellyard.experiment.questions.search import CHECKS, MOST_VALUES, Z_SQUARED, Search, Wanted
from cellyard.runs.runner import CachedRunner
from cellyard.show.words import counted, listed, percent
from cellyard.statistics.bounded import Value, every
from cellyard.statistics.inference import share_interval
from cellyard.system.limits import MOST_REPLICATIONS

#: Limit on the sentences about single points.
MOST_SENTENCES = 5


@dataclass(frozen=True)
class Find(Wanted, Question):
    """The ``want`` value of ``axis`` for which ``share`` of the replications meet all of ``require``: see `Wanted`."""

    kind: ClassVar[str] = "find"

    def reserved_columns(self, axis: str) -> tuple[str, ...]:
        """Reserved column names."""
        return ("share", "share_low", "share_high", "values_tried", "assumption", "bracket_from", "bracket_to")

    def chooses(self, axis: str) -> bool:
        """Whether ``axis`` is the searched one."""
        return axis == self.axis

    def expected(self, plan: Plan) -> Expected:
        """Upper bound on what a search tries, for every point of the other axes. If values are few enough, this is all of them."""
        dimension = plan.dimension(self.axis)
        tried = dimension.size
        names = {name for text in self.require for name in Condition(text).names}
        searches = 2 if any(plan.metrics[name].may_be_bounded for name in names) else 1
        if self.monotone and tried > MOST_VALUES:
            halvings = math.ceil(math.log2(max(tried, 2)))
            tried = min(tried, searches * (2 + 4 * halvings + 2 * self.checks))
        at = plan.size(without=dimension)
        return Expected(at * tried, at * (tried + searches) * plan.replications, at_most=True)

    def judged(self, runs: Sequence[Mapping[str, Value]]) -> dict[str, Any]:
        """How many runs meet all conditions, and their share, which is ``None`` if some runs are not known."""
        conditions = [Condition(text) for text in self.require]
        found = [every(condition.holds(run) for condition in conditions) for run in runs]
        met = found.count(True)
        return dict(zip(JUDGED, (met, None if None in found else met / len(runs)), strict=True))

    def warnings(self, plan: Plan) -> list[str]:
        """Notes about too few replications for the share, and about steps finer than they resolve."""
        warnings, replications = [], plan.replications
        lowest = share_interval(replications, replications, CONFIDENCE)[0]
        if lowest < self.share < 1:
            needed = math.ceil(Z_SQUARED * self.share / (1 - self.share))
            warnings.append(
                f"{counted(replications, 'replication')} cannot show a share of {percent(self.share)}, even if all of them meet "
                f"the conditions; {needed} can"
            )
        dimension = plan.dimension(self.axis)
        if dimension.size > MOST_VALUES and any(
            isinstance(axis.values, Range) and axis.values.steps is None for axis in dimension.axes
        ):
            warnings.append(
                f"the range of {self.axis} has no steps, so {dimension.size} values are searched, more finely than the replications "
                "resolve; set steps, or use the bracket of the answer"
            )
        return warnings

    def answer(self, plan: Plan, runner: CachedRunner[Point]) -> Answer:
        """The value found at each point of the other axes, and the assumptions."""
        dimension = plan.dimension(self.axis)
        searches: list[tuple[Search, int | None]] = []
        undecided: list[str] = []
        records = []
        for point in plan.points(without=dimension):
            search = Search(self, plan, runner, dimension, point)
            found = search.run()
            if search.has_unknown:
                hopeful = Search(self, plan, runner, dimension, point, unknown_as=True)
                hopeful.run()
                if hopeful.conclusion != search.conclusion:
                    undecided.append(self._undecided(plan, search, hopeful))
                    records.append(self._undecided_record(search, found, hopeful))
                    continue
                search.hopeful = hopeful
            searches.append((search, found))
            low, high = (None, None) if found is None else search.fresh_interval(found)
            bracket = (None, None) if found is None else search.bracket(found)
            ends = [None if index is None else search.label(index) for index in bracket]
            first, last = ends if self.want == "smallest" else reversed(ends)
            records.append(
                {
                    **point.shown_labels,
                    self.axis: None if found is None else search.label(found),
                    "share": None if found is None else search.share(found),
                    "share_low": low,
                    "share_high": high,
                    "values_tried": len(search.tried),
                    "assumption": search.verdict,
                    "bracket_from": first,
                    "bracket_to": last,
                }
            )
        metrics = [name for text in self.require for name in Condition(text).names]
        several = len(searches) + len(undecided) > 1
        sentences = (
            self._summary(plan, searches) if several else self._sentences(plan, *searches[0]) if searches else []
        )
        if undecided:
            sentences += [*undecided, *run_longer(metrics, runner)]
        return Answer(sentences, {"found": records}, tuple(dict.fromkeys(metrics)))

    def _undecided(self, plan: Plan, search: Search, hopeful: Search) -> str:
        """A sentence on a point where the runs that are not known decide which value is found."""
        where = f"At {search.point}: the" if search.point.levels else "The"
        worst, best = ("no value" if one.found is None else one.described(one.found) for one in (search, hopeful))
        between = f"{best} if all of these runs meet the requirement, and {worst} if none does"
        if best == worst:
            between = f"{best} in either case, but whether the requirement holds at other values is open"
        return f"{where} {self.want} {self.axis} that gives {self._requirement(plan)} is not known: it is {between}."

    def _undecided_record(self, search: Search, found: int | None, hopeful: Search) -> dict[str, Any]:
        ends = [None if index is None else search.label(index) for index in (hopeful.found, found)]
        low, high = ends if self.want == "smallest" else reversed(ends)
        return {
            **search.point.shown_labels,
            **dict.fromkeys((self.axis, "share", "share_low", "share_high")),
            "values_tried": len(search.tried.keys() | hopeful.tried.keys()),
            "assumption": "not known",
            "bracket_from": low,
            "bracket_to": high,
        }

    def _requirement(self, plan: Plan) -> str:
        conditions = [condition_text(text, plan.metrics, plan.noun) for text in self.require]
        return f"{listed(conditions)} in {percent(self.share)} of the replications"

    def _summary(self, plan: Plan, searches: Sequence[tuple[Search, int | None]]) -> list[str]:
        """The requirement and the value found at each point, as far as there is room; the table has all."""
        results, unconfirmed = [], []
        for search, found in searches:
            if found is not None:
                border = search.border(found)
                safe = f", with no {self._beyond} value shown to fail" if search.failing_again else ""
                islands = f"; {self._also_suffice(search, found)}" if search.failing_again else ""
                results.append(
                    f"At {search.point}: the {self.want} {self.axis} is {search.described(found)}{safe}"
                    f"{border and f' (with 95 % confidence {border})'}{islands}."
                )
                if search.fresh_interval(found)[0] < self.share:
                    unconfirmed.append(f"{search.point} ({percent(search.fresh_share(found))})")
            elif search.failing_again:
                results.append(f"At {search.point}: {self._where_it_holds(search)}.")
            elif search.size:
                results.append(f"At {search.point}: {search.none_of(self.axis)} meets it; {search.nearest()}.")
            else:
                results.append(f"At {search.point}: the constraints exclude every value of {self.axis}.")
        if len(results) > MOST_SENTENCES:
            omitted = len(results) - MOST_SENTENCES + 1
            results[-omitted:] = [f"The table has {omitted} more points."]
        if unconfirmed:
            results.append(
                f"Too few fresh replications to confirm the value, or too low a share of them, at {listed(unconfirmed, most=3)}; "
                "more `replications` show which."
            )
        return [f"Wanted is the {self.want} {self.axis} that gives {self._requirement(plan)}.", *results]

    @property
    def _beyond(self) -> str:
        """How values that should hold as well compare with the one found."""
        return "larger" if self.want == "smallest" else "smaller"

    def _where_it_holds(self, search: Search) -> str:
        """Which values hold, and which fails again so that none is found."""
        holding, failing = search.holding(), search.label(_worst(search))
        return (
            f"of the values of {self.axis} tried, {_suffice(holding)}, but {failing} fails again: "
            f"not every {self._beyond} value is safe"
        )

    def _sentences(self, plan: Plan, search: Search, found: int | None) -> list[str]:
        """What a single search found, with its uncertainty and its assumption."""
        if not search.size:
            return [f"The constraints exclude every value of {self.axis}."]
        tried = f"{len(search.tried)} of {search.size}" if len(search.tried) < search.size else f"All {search.size}"
        ends = search.label(0), search.label(search.size - 1)
        low, high = ends if self.want == "smallest" else reversed(ends)
        tried += f" values of {self.axis} were tried, from {low} to {high}."
        if found is None and search.failing_again:
            first, worst = min(filter(search.holds, search.tried)), _worst(search)
            other = "largest" if self.want == "smallest" else "smallest"
            is_reversed = max(filter(search.holds, search.tried)) < min(search.failing_again) and not first
            where = self._where_it_holds(search)
            return [
                f"{where[0].upper()}{where[1:]}.",
                f"A value suffices if it gives {self._requirement(plan)}.",
                self._met(plan, search, first, worst),
                *([f'`want = "{other}"` searches for the border.'] if is_reversed else []),
                tried,
            ]
        nothing_fails = "none of the values tried is shown to contradict this"
        assumption = f"The search assumes that all {self._beyond} values suffice too; {nothing_fails}."
        assumed = [assumption] if self.monotone and not search.failing_again else []
        if found is None:
            subject, nearest = search.none_of(self.axis), search.nearest()
            return [
                f"{subject[0].upper()}{subject[1:]} gives {self._requirement(plan)}.",
                f"{nearest[0].upper()}{nearest[1:]}.",
                tried,
                *assumed,
            ]
        least, _ = search.fresh_interval(found)
        border, fresh, is_shown = search.border(found), search.met(found, fresh=True), least >= self.share
        safe = f", with no {self._beyond} value shown to fail," if search.failing_again else ""
        not_shown = "" if is_shown else ", but fresh replications do not confirm it"
        end = "" if found else f"; no {'smaller' if self.want == 'smallest' else 'larger'} value was tried"
        neighbours = [found - 1] if found - 1 in search.tried else []
        return [
            f"The {self.want} {self.axis} that gives {self._requirement(plan)}{safe} is {search.described(found)}{not_shown}{end}.",
            self._met(plan, search, found, *neighbours),
            f"Of {counted(plan.replications, 'fresh replication')} with {search.label(found)}, which the search did not use, {fresh} "
            f"{_meet(fresh)} {self._conditions}.",
            f"So at least {percent(least)} of all runs do (95 % confidence).",
            *([] if is_shown else [self._advice(search, found)]),
            *([f"With 95 % confidence, the true {self.want} value is {border}."] if border else []),
            *(self._islands(plan, search, found) if search.failing_again else []),
            *(assumed or [tried]),
        ]

    @property
    def _conditions(self) -> str:
        return "this condition" if len(self.require) == 1 else "these conditions"

    def _met(self, plan: Plan, search: Search, first: int, *others: int) -> str:
        """How many replications meet the conditions at some values."""
        met = search.met(first)
        of = counted(plan.replications, "replication")
        also = [f" With {search.label(other)}, {search.met(other)} {_do(search.met(other))}." for other in others]
        return f"With {search.label(first)}, {met} of {of} {_meet(met)} {self._conditions}.{''.join(also)}"

    def _islands(self, plan: Plan, search: Search, found: int) -> list[str]:
        """Sentences on values that hold before others that fail."""
        met = f"{search.met(_worst(search))} of {counted(plan.replications, 'replication')}"
        text = self._also_suffice(search, found)
        return [f"{text[0].upper()}{text[1:]}, with {met}."]

    def _also_suffice(self, search: Search, found: int) -> str:
        """Values that hold before others that fail."""
        side = "smaller" if self.want == "smallest" else "larger"
        holding, failing = search.holding(before=found), search.label(_worst(search))
        return f"of the {side} values tried, {_suffice(holding)} too, but {failing} fails again"

    def _advice(self, search: Search, found: int) -> str:
        """What would confirm a value that fresh replications do not."""
        safe = search.bracket(found)[1]
        if safe is not None and safe != found:
            return f"With 95 % confidence, {search.label(safe)} suffices."
        if self.share == 1:
            return "No number of replications can show a share of 100 %; state a lower `share`."
        share = search.fresh_share(found)
        if (needed := replications_needed(share, self.share)) and needed <= MOST_REPLICATIONS:
            return f"If the share stays at {percent(share)}, about {counted(needed, 'replication')} would confirm it."
        return f"This share is not clearly above the required one, so a {self._beyond} value may be needed."


def replications_needed(share: float, required: float) -> int | None:
    """From how many replications on Wilson's interval of ``share`` is above the required one; ``None`` if it never is.

    >>> replications_needed(1.0, 0.95), replications_needed(0.85, 0.8), replications_needed(0.8, 0.8)
    (73, 246, None)
    """
    return math.ceil(Z_SQUARED * required * (1 - required) / (share - required) ** 2) if share > required else None


def _worst(search: Search) -> int:
    """The value that fails again with the lowest share."""
    return min(search.failing_again, key=lambda index: (search.share(index), index))


def _suffice(holding: Sequence[str]) -> str:
    """That ranges of values suffice: up to two, or else the first and the number of others."""
    verb = "suffices" if len(holding) == 1 and " to " not in holding[0] else "suffice"
    return f"{listed(holding, most=2 if len(holding) == 2 else 1)} {verb}"


def _meet(met: str) -> str:
    return "meets" if met == "1" else "meet"


def _do(met: str) -> str:
    return "does" if met == "1" else "do"


#: Fields of the question's table besides ``kind``.
FIELDS = ("axis", "require", "share", "want", "monotone", "checks")


def read(fields: Fields, plan: Plan) -> Find:
    """Read the question from its table."""
    axis = fields.axis("on which a value is searched", [axis.name for axis in plan.axes])
    if axis:
        labels = [
            candidate.label for candidate in next(candidate for candidate in plan.axes if candidate.name == axis).levels
        ]
        if len(set(labels)) < len(labels):
            fields.wrong(
                "axis", "another of the axes that vary together", "has repeated values, which cannot be searched"
            )
    fields.needs_grid(plan.design.kind, "cannot be used with the question find")
    question = Find(axis, requirements(fields, plan))
    share = fields.number("share", question.share, above=0, below=1.0000001)
    checks = fields.whole("checks", CHECKS, least=0, most=100)
    return replace(
        question,
        share=min(share or question.share, 1.0),
        want="largest" if fields.choice("want", ("smallest", "largest"), "smallest") == "largest" else "smallest",
        monotone=fields.flag("monotone", True),
        checks=CHECKS if checks is None else checks,
    )


def requirements(fields: Fields, plan: Plan) -> list[str]:
    """The conditions of ``require``, each on metrics of the experiment."""
    needed_items = 'conditions on metrics, such as "cell_loss_ratio < 0.001"'
    if "require" not in fields:
        fields.missing("require", needed_items)
    conditions, units = [], column_units(plan.metrics)
    for index, text in enumerate(fields.texts("require", items=needed_items, single=True)):
        path = (
            (*fields.at("require"), index) if isinstance(fields.raw("require"), (list, tuple)) else fields.at("require")
        )
        if check_condition(text, path, plan.metrics, "metric of the experiment", fields, units, plan.noun):
            conditions.append(text)
    return conditions


def check_condition(
    text: str, path: Any, names: Container[str], kind: str, fields: Fields, units: Mapping[str, Unit], noun: str
) -> bool:
    """Report what is wrong with a condition on names; returns whether it is valid."""
    try:
        condition = Condition(text)
        condition.unit(units, noun)
    except ConditionError as error:
        fields.problems.add(path, text, str(error), allowed=error.allowed or ALLOWED)
        return False
    wrong = [name for name in condition.names if name not in names]
    for name in wrong:
        fields.problems.add(path, name, f"unknown {kind}", near=units)
    return not wrong
