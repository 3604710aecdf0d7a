"""The question ``find``: the smallest, or largest, value of an axis that meets a requirement.

The requirement holds at a value when at least a given share of the replications there meets all its
conditions. The search assumes that it holds from the value found to the end of the axis. Bisection
narrows the interval between a value that fails and one that holds. Then the neighbours of the
border are tried until their shares are clearly below the required one. So the value found is the
first that holds with these random draws. At the end, values on both sides are tried. If one of them
contradicts the assumption, every value is tried if they are few. If a value beyond the first that holds
is then shown to fail, no value is the answer, and the answer says where the requirement holds.

The value found is selected, which biases its share upwards. Two results show the uncertainty. Fresh
replications, which had no part in the search, give Wilson's interval of its share at `CONFIDENCE`. A
bracket contains the border with at least that confidence, if the assumption holds. It begins at the
nearest value that is shown to be below the required share, and ends at the first that is shown to
have it, each by an exact binomial test at half the error. As several values are tested, the next value
tried beyond each end must show the same. With common random numbers it does whenever the end does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from statistics import NormalDist
from typing import Any, ClassVar, Literal

from cellyard.experiment.description.axes import Level, Range
from cellyard.experiment.description.design import Dimension, Point
from cellyard.experiment.description.expression import ALLOWED, Condition, ConditionError, Unit
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.metric_kind import column_units, condition_text
from cellyard.experiment.not_known import run_longer
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.question import Question
from cellyard.runs.runner import CachedRunner
from cellyard.show.words import counted, listed, percent
from cellyard.statistics.bounded import Value, every
from cellyard.statistics.inference import exact_share_interval, share_interval

Want = Literal["smallest", "largest"]

#: Limit on values that are all tried where the assumption turns out to be wrong.
MOST_VALUES = 100
#: Default number of values tried on each side at the end.
CHECKS = 3
#: The verdict on an assumption that a value beyond the first that holds contradicts.
WRONG = "wrong"
#: Square of the normal quantile of `CONFIDENCE`. If all of n trials succeed, the share is at least
#: n / (n + Z_SQUARED).
Z_SQUARED = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
#: Confidence that a share is below the required one, from which further neighbours are skipped. One
#: in 10 000 errs.
CLEAR_CONFIDENCE = 0.9998


@dataclass(frozen=True)
class Find(Question):
    """The ``want`` value of ``axis`` for which ``share`` of the replications meet all of ``require``.

    With ``monotone`` false every value is tried. Otherwise ``checks`` values on each side of the
    result are tried at the end.
    """

    axis: str
    require: Sequence[str]
    share: float = 0.95
    want: Want = "smallest"
    monotone: bool = True
    checks: int = CHECKS
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
            tried = min(tried, searches * (2 + 3 * halvings + 2 * self.checks))
        at = plan.size(without=dimension)
        return Expected(at * tried, at * (tried + searches) * plan.replications, at_most=True)

    def warnings(self, plan: Plan) -> list[str]:
        """Notes about too few replications for the share, and about steps finer than they resolve."""
        warnings, replications = [], plan.replications
        lowest = share_interval(replications, replications, CONFIDENCE)[0]
        if lowest < self.share < 1:
            needed = math.ceil(Z_SQUARED * self.share / (1 - self.share))
            warnings.append(
                f"{counted(replications, 'replication')} cannot show a share of {percent(self.share)}: even if the requirement holds "
                f"in all of them, they show a share of at least {percent(lowest)} (95 % confidence); {needed} replications are needed"
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
            records.append(
                {
                    **point.shown_labels,
                    self.axis: None if found is None else search.label(found),
                    "share": None if found is None else search.share(found),
                    "share_low": low,
                    "share_high": high,
                    "values_tried": len(search.tried),
                    "assumption": search.verdict,
                    "bracket_from": bracket[0],
                    "bracket_to": bracket[1],
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
        results = []
        for search, found in searches:
            if found is not None:
                border = search.border(found)
                results.append(
                    f"At {search.point}: the {self.want} {self.axis} is {search.described(found)}"
                    f"{border and f' (with 95 % confidence {border})'}."
                )
            elif search.verdict == WRONG:
                results.append(f"At {search.point}: no {self.want} {self.axis} was found, as it fails again beyond.")
            elif search.size:
                results.append(f"At {search.point}: {search.none_of(self.axis)} meets it; {search.nearest()}.")
            else:
                results.append(f"At {search.point}: the constraints exclude every value of {self.axis}.")
        if len(results) > MOST_SENTENCES:
            omitted = len(results) - MOST_SENTENCES + 1
            results[-omitted:] = [f"The table has {omitted} more points."]
        return [f"The requirement is {self._requirement(plan)}.", *results]

    def _sentences(self, plan: Plan, search: Search, found: int | None) -> list[str]:
        """What a single search found, with its uncertainty and its assumption."""
        if not search.size:
            return [f"The constraints exclude every value of {self.axis}."]
        if search.verdict == WRONG and found is None:
            side = "larger" if self.want == "smallest" else "smaller"
            return [
                f"No {self.want} {self.axis} was found that gives {self._requirement(plan)}: the requirement fails again at {side} values.",
                search.assumption,
                f"{search.where_it_holds()}.",
            ]
        if found is None:
            subject = search.none_of(self.axis)
            return [
                f"{subject[0].upper()}{subject[1:]} gives {self._requirement(plan)}: {search.nearest()}.",
                f"The axis has {counted(search.size, 'value')}, from {search.label(0)} to {search.label(search.size - 1)}.",
                search.assumption,
            ]
        low, _ = search.fresh_interval(found)
        border, replications, value = search.border(found), plan.replications, search.label(found)
        fresh, is_shown = counted(replications, "fresh replication"), low >= self.share
        unshown = "a fresh replication does" if replications == 1 else "fresh replications do"
        not_shown = "" if is_shown else f", but {unshown} not show it"
        too_low = "" if is_shown else ", less than required; more replications may show it"
        has_neighbour = found - 1 in search.tried
        neighbour = f", and with {search.label(found - 1)} in {search.shown_share(found - 1)}" if has_neighbour else ""
        end = "" if found else f"; nothing beyond this end of {self.axis} was tried"
        return [
            f"The {self.want} {self.axis} that gives {self._requirement(plan)} is {search.described(found)}{not_shown}{end}.",
            f"The requirement holds with {value} in {search.shown_share(found)} of {replications} replications{neighbour}.",
            f"In {fresh}, it holds in {search.shown_share(found, fresh=True)}: the share is at least "
            f"{percent(low)} (95 % confidence){too_low}.",
            *([f"With 95 % confidence, the true {self.want} value is {border}."] if border else []),
            search.assumption,
        ]


#: Limit on the sentences about single points.
MOST_SENTENCES = 5


class Search:
    """The search along one axis at one point of the others.

    Candidates are numbered from the wanted end: index 0 is the smallest or largest value, as wanted.
    """

    def __init__(
        self,
        find: Find,
        plan: Plan,
        runner: CachedRunner[Point],
        dimension: Dimension,
        point: Point,
        *,
        unknown_as: bool = False,
    ) -> None:
        self._find = find
        self._plan = plan
        self._runner = runner
        self.point = point
        self._conditions = [Condition(text) for text in find.require]
        candidates = [dimension.at_index(index) for index in range(dimension.size)]
        if find.want == "largest":
            candidates.reverse()
        levels = [self._level(candidate) for candidate in candidates]
        numbers = [level.number for level in levels]
        if all(number is not None for number in numbers):  # sort by size, regardless of the order of the list
            order = sorted(range(len(levels)), key=lambda i: numbers[i] or 0, reverse=find.want == "largest")
            candidates = [candidates[i] for i in order]
        self._candidates = [candidate for candidate in candidates if plan.allows(point.with_levels(candidate))]
        #: Share of replications that meet the requirement, by index. Fresh replications are kept
        #: separately.
        self.tried: dict[int, float] = {}
        self._fresh: dict[int, float] = {}
        #: The assumption, in a word and in a sentence.
        self.verdict, self.assumption = "", ""
        #: Whether a run counts that is not known to meet the requirement, and whether there was one.
        self._unknown_as, self.has_unknown = unknown_as, False
        #: The search in which such runs count, if it finds the same.
        self.hopeful: Search | None = None
        self.found: int | None = None

    @property
    def size(self) -> int:
        """Number of candidates."""
        return len(self._candidates)

    def label(self, index: int) -> str:
        """The value of a candidate."""
        return self._level(self._candidates[index]).label

    def described(self, index: int) -> str:
        """The value found at a candidate. Beyond the end of an axis of numbers there may be a better one."""
        number = self._level(self._candidates[index]).number
        is_open = index == 0 and number is not None and math.isfinite(number)
        return self.label(index) + (f" or {'less' if self._find.want == 'smallest' else 'more'}" if is_open else "")

    def _level(self, candidate: Sequence[tuple[str, Level]]) -> Level:
        return dict(candidate)[self._find.axis]

    def share(self, index: int) -> float:
        """Share of the replications that meet the requirement at a candidate."""
        self._try([index])
        return self.tried[index]

    def _try(self, indices: Sequence[int]) -> None:
        new = [index for index in indices if index not in self.tried]
        self.tried |= self._shares(new, self._plan.replication_numbers)

    def _shares(self, indices: Sequence[int], replications: range) -> dict[int, float]:
        points = [self.point.with_levels(self._candidates[index]) for index in indices]
        samples = self._runner.samples(points, replications)
        return {index: self._held(runs) / len(runs) for index, runs in zip(indices, samples, strict=True)}

    def _held(self, runs: Sequence[Mapping[str, Value]]) -> int:
        """Number of runs that meet all conditions."""
        judged = [every(condition.holds(run) for condition in self._conditions) for run in runs]
        unknown = judged.count(None)
        self.has_unknown = self.has_unknown or unknown > 0
        return judged.count(True) + unknown * self._unknown_as

    def shown_share(self, index: int, *, fresh: bool = False) -> str:
        """Share of the replications that meet the requirement, from the least to the largest possible one."""
        searches = [self, *([self.hopeful] if self.hopeful else [])]
        shares = [search.fresh_share(index) if fresh else search.share(index) for search in searches]
        return " to ".join(dict.fromkeys(map(percent, shares)))

    def fresh_share(self, index: int) -> float:
        """Share of an equal number of fresh replications, which had no part in the search."""
        if index not in self._fresh:
            replications = self._plan.replications
            self._fresh |= self._shares([index], range(replications, 2 * replications))
        return self._fresh[index]

    def fresh_interval(self, index: int) -> tuple[float, float]:
        """Interval of the share at a candidate, from fresh replications."""
        low, high = self._interval(self.fresh_share(index), CONFIDENCE)
        return low, self.hopeful.fresh_interval(index)[1] if self.hopeful else high

    def _interval(self, share: float, confidence: float) -> tuple[float, float]:
        replications = self._plan.replications
        return share_interval(round(share * replications), replications, confidence)

    def _is_below(self, index: int, confidence: float) -> bool:
        """Whether the share at a candidate is below the required one."""
        return self._interval(self.share(index), confidence)[1] < self._find.share

    def none_of(self, axis: str) -> str:
        """Subject of a sentence on values that fail: all of the axis, or those tried."""
        tried = len(self.tried)
        return f"no value of {axis}" if tried == self.size else f"none of the {tried} values of {axis} tried"

    def nearest(self) -> str:
        """Where the largest share of replications meets the requirement, of values that fail; of equal ones, nearest to holding."""
        best = max(self.tried, key=lambda index: ((self.hopeful or self).share(index), index))
        share = self.shown_share(best)
        return f"the largest share is {share}, with {self.label(best)}" if share != percent(0) else "it holds in none"

    def bracket(self, found: int) -> tuple[str | None, str | None]:
        """The values, in the order of the axis, between which the replications place the border.

        One end is the nearest before ``found`` that is shown to be below the required share, as is the
        next tried before it, or the end of the axis. It is
        ``None`` if ``found`` is the end of the axis. The other is the first from ``found`` on that is
        shown to have the share, as is the next tried, or ``None`` if there is no such value.
        """
        first, last = self._border(found)
        if self.hopeful:
            first = self.hopeful._border(found)[0]
        return (first, last) if self._find.want == "smallest" else (last, first)

    def _border(self, found: int) -> tuple[str | None, str | None]:
        """The two ends of `bracket`, the first before ``found``."""
        tried = sorted(self.tried)
        first = next((b for a, b in reversed(list(pairwise(tried))) if b < found and self._shown(a, b) < 0), 0)
        ends = zip(tried, [*tried[1:], tried[-1]], strict=True)
        last = next((self.label(a) for a, b in ends if a >= found and self._shown(a, b) > 0), None)
        return self.label(first) if found else None, last

    def _shown(self, *indices: int) -> int:
        """1 if each share at some candidates is shown to be the required one or more, -1 if less, else 0."""
        ends = [self._exact(index) for index in indices]
        return all(low >= self._find.share for low, _ in ends) - all(high < self._find.share for _, high in ends)

    def _exact(self, index: int) -> tuple[float, float]:
        replications = self._plan.replications
        return exact_share_interval(round(self.share(index) * replications), replications, CONFIDENCE)

    def border(self, found: int) -> str:
        """Where the border is, in words; empty if both ends of its bracket are one value, or nothing beyond ``found`` is known."""
        low, high = self.bracket(found)
        if None in (low, high) and {low, high} <= {None, self.label(found)}:
            return ""
        if low is None:
            return f"at most {high}; its lower end is not known"
        if high is None:
            return f"at least {low}; its upper end is not known"
        return "" if low == high else f"between {low} and {high}"

    def holds(self, index: int) -> bool:
        """Whether the requirement holds at a candidate."""
        return self.share(index) >= self._find.share - 1e-12

    def run(self) -> int | None:
        """Index of the first candidate at which the requirement holds; ``None`` if there is none."""
        self.found = self._run()
        if self.found is not None:
            self.fresh_share(self.found)
        return self.found

    def _run(self) -> int | None:
        if not self.size:
            return None
        if not self._find.monotone:
            self.verdict = "none: every value tried"
            self._try(range(self.size))
            self.assumption = f"Nothing was assumed: all {self.size} values were tried."
            return self._first()
        found = self._first_near(self._bisect())
        side, other = ("larger", "largest") if self._find.want == "smallest" else ("smaller", "smallest")
        if self._is_contradicted(found):
            if self.size <= MOST_VALUES:
                self._try(range(self.size))
            found = self._first()
            failing = [i for i in self.tried if found is not None and i > found and self._is_below(i, CONFIDENCE)]
            if found is not None and failing:
                self.verdict = WRONG
                if found == 0 and max(filter(self.holds, self.tried)) < min(failing):
                    self.assumption = f'{self.where_it_holds()}; `want = "{other}"` searches for the border.'
                    return found
                worst = min(failing, key=lambda index: (self.share(index), index))
                self.assumption = (
                    f"It holds with {self.label(found)} in {self.shown_share(found)} of the replications, and with "
                    f"{self.label(worst)} in {self.shown_share(worst)}."
                )
                return None
        self.verdict = "held where checked"
        self.assumption = (
            f"Assumption: if the requirement holds at a value, it holds at every {side} value, which none of the "
            f"{len(self.tried)} values tried contradicts."
        )
        return found

    @property
    def conclusion(self) -> tuple[int | None, str, str]:
        """What was found, the verdict, and if that is `WRONG` also if the requirement holds."""
        return self.found, self.verdict, self.where_it_holds() if self.verdict == WRONG else ""

    def where_it_holds(self) -> str:
        """The values tried at which the requirement holds, in the order of the axis; neighbours among those tried as ranges."""
        tried = sorted(self.tried, reverse=self._find.want == "largest")
        groups = [list(group) for holds, group in groupby(tried, self.holds) if holds]
        ends = [(self.label(group[0]), self.label(group[-1])) for group in groups]
        ranges = [first if first == last else f"{first} to {last}" for first, last in ends]
        return f"Of the values tried, it holds at {listed(ranges, most=2 if len(ranges) == 2 else 1)}"

    def _first(self) -> int | None:
        """The first candidate tried at which the requirement holds."""
        return min(filter(self.holds, self.tried), default=None)

    def _bisect(self) -> int | None:
        """The border between failing and holding by bisection, if the first candidate fails and the last holds."""
        self._try(sorted({0, self.size - 1}))
        if self.holds(0):
            return 0
        if not self.holds(self.size - 1):
            return None
        low, high = 0, self.size - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.holds(middle) else (middle, high)
        return high

    def _first_near(self, border: int | None) -> int | None:
        """The first candidate that holds among the neighbours of a border without a significant difference from it.

        If values are few, each neighbour is tried. Otherwise the distance doubles each time.
        """
        start = self.size if border is None else border
        self._walk(start, -1, lambda index: self._is_below(index, CLEAR_CONFIDENCE))
        if exact_share_interval(self._plan.replications, self._plan.replications, CONFIDENCE)[0] >= self._find.share:
            self._walk(start, 1, lambda index: self._shown(self._before(index), index) > 0)
        return self._first()

    def _walk(self, start: int, step: int, is_far: Callable[[int], bool]) -> None:
        """Try candidates on one side of ``start`` up to the first that is far enough. With many values, each step doubles."""
        index, stride = start + step, 1
        while 0 <= index < self.size and not is_far(index):
            stride = stride if self.size <= MOST_VALUES else 2 * stride
            index += step * stride

    def _before(self, index: int) -> int:
        """The last candidate tried before another."""
        return max(tried for tried in self.tried if tried < index)

    def _is_contradicted(self, found: int | None) -> bool:
        """Whether a candidate before the border holds, or one beyond is below the required share."""
        border = self.size if found is None else found
        indices_before = _evenly_spaced(0, border - 1, self._find.checks)
        indices_beyond = _evenly_spaced(border, self.size - 1, self._find.checks)
        self._try([*indices_before, *indices_beyond])
        return any(self.holds(i) if i < border else self._is_below(i, CONFIDENCE) for i in self.tried)


def _evenly_spaced(first: int, last: int, count: int) -> list[int]:
    """``count`` indices from ``first`` to ``last``, evenly spaced.

    >>> _evenly_spaced(0, 10, 3), _evenly_spaced(0, 1, 3), _evenly_spaced(5, 4, 3)
    ([1, 5, 9], [0, 1], [])
    """
    total = last - first + 1
    if total <= count:
        return list(range(first, last + 1))
    return sorted({first + (total * (2 * i + 1)) // (2 * count) for i in range(count)}) if count else []


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
