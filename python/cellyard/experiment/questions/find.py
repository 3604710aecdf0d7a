"""The question ``find``: the smallest, or largest, value of an axis that meets a requirement.

The requirement holds at a value when at least a given share of the replications there meets all its
conditions. The search assumes that it holds from the value found to the end of the axis. Bisection
narrows the interval between a value that fails and one that holds. Then the neighbours of the
border are tried until their shares are clearly below the required one. So the value found is the
first that holds with these random draws. At the end, values on both sides are tried. If one of them
contradicts the assumption, the answer says so, and every value is tried if they are few.

The value found is selected, which biases its share upwards. Two results show the uncertainty. Fresh
replications, which had no part in the search, give the interval of its share. A bracket begins at
the nearest value whose share is below the required one. It ends at the first value whose share is
separated from the share at its beginning. Both results use Wilson's interval at `CONFIDENCE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar, Literal

from cellyard.experiment.description.axes import Level, Range
from cellyard.experiment.description.design import Dimension, Point
from cellyard.experiment.description.expression import ALLOWED, Condition, ConditionError
from cellyard.experiment.description.fields import Fields
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.questions.question import Question
from cellyard.experiment.runner import CachedRunner, Replicate
from cellyard.show.words import counted, listed, percent
from cellyard.statistics.inference import share_interval

Want = Literal["smallest", "largest"]

#: Limit on values that are all tried where the assumption turns out to be wrong.
MOST_TRIED = 100
#: Default number of values tried on each side at the end.
CHECKS = 3
#: Square of the normal quantile of `CONFIDENCE`. If all of n trials succeed, the share is at least
#: n / (n + Z_SQUARED).
Z_SQUARED = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
#: Confidence that a share is below the required one, from which further neighbours are skipped. One
#: in 10 000 errs.
CLEARLY = 0.9998


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

    def columns(self, axis: str) -> tuple[str, ...]:
        """Reserved column names."""
        return ("share", "share_low", "share_high", "values_tried", "assumption", "bracket_from", "bracket_to")

    def chooses(self, axis: str) -> bool:
        """Whether ``axis`` is the searched one."""
        return axis == self.axis

    def expected(self, plan: Plan) -> Expected:
        """Upper bound on what a search tries, for every point of the other axes. If values are few enough, this is all of them."""
        dimension = plan.dimension(self.axis)
        tried = dimension.size
        if self.monotone and tried > MOST_TRIED:
            halvings = math.ceil(math.log2(max(tried, 2)))
            tried = min(tried, 2 + 3 * halvings + 2 * self.checks)
        at = plan.size(without=dimension)
        return Expected(at * tried, at * (tried + 1) * plan.replications, at_most=True)

    def warnings(self, plan: Plan) -> list[str]:
        """Warnings about too few replications for the share, and about steps finer than they can separate."""
        found, many = [], plan.replications
        most = share_interval(many, many, CONFIDENCE)[0]
        if most < self.share < 1:
            needed = math.ceil(Z_SQUARED * self.share / (1 - self.share))
            found.append(
                f"{counted(many, 'replication')} cannot show a share of {percent(self.share)}: if all hold, the share is at least "
                f"{percent(most)} at 95 % confidence; {needed} replications can"
            )
        dimension = plan.dimension(self.axis)
        if dimension.size > MOST_TRIED and any(
            isinstance(axis.values, Range) and axis.values.steps is None for axis in dimension.axes
        ):
            found.append(
                f"the range of {self.axis} has no steps, so {dimension.size} values are searched, finer than the replications tell apart; "
                "state steps, or read the bracket"
            )
        return found

    def answer(self, plan: Plan, runner: CachedRunner) -> Answer:
        """The value found at each point of the other axes, and the assumptions."""
        dimension = plan.dimension(self.axis)
        sentences, records = [], []
        for point in plan.points(without=dimension):
            search = Search(self, plan, runner, dimension, point)
            found = search.run()
            sentences.append(self._sentence(plan, search, found))
            low, high = (None, None) if found is None else search.fresh_interval(found)
            bracket = ("", "") if found is None else search.bracket(found)
            records.append(
                {
                    **point.told,
                    self.axis: None if found is None else search.label(found),
                    "share": None if found is None else search.share(found),
                    "share_low": low,
                    "share_high": high,
                    "values_tried": len(search.tried),
                    "assumption": search.verdict,
                    "bracket_from": bracket[0] or None,
                    "bracket_to": bracket[1] or None,
                }
            )
        metrics = [name for text in self.require for name in Condition(text).names]
        return Answer(sentences, {"found": records}, tuple(dict.fromkeys(metrics)))

    def _sentence(self, plan: Plan, search: Search, found: int | None) -> str:
        where = f"At {search.point}: " if search.point.levels else ""
        asked = f"{listed(list(self.require))} in {percent(self.share)} of the replications"
        if found is None:
            ends = (
                f"{search.label(0)} to {search.label(search.size - 1)}"
                if search.size
                else "nothing, which the constraints leave"
            )
            return (
                f"{where}{'no' if where else 'No'} value of {self.axis} tried from {ends} gives {asked}. {search.told}"
            )
        low, _ = search.fresh_interval(found)
        (first, last), many = search.bracket(found), plan.replications
        shown = "" if low >= self.share else f", so {percent(self.share)} is not shown"
        near = found - 1 in search.tried
        where_not = f"; with {search.label(found - 1)} it is {percent(search.share(found - 1))}" if near else ""
        end = "" if found else f"; it is the end of {self.axis}, beyond which nothing was tried"
        between = f"The {many} replications place the border between {first} and {last}. " if first != last else ""
        return (
            f"{where}{'the' if where else 'The'} {self.want} {self.axis} that gives {asked} is {search.label(found)}: "
            f"there {percent(search.share(found))} of {many} do{where_not}{end}. "
            f"Of {many} fresh replications {percent(search.fresh_share(found))} do "
            f"(a share of at least {percent(low)} at 95 % confidence{shown}). {between}{search.told}"
        )


class Search:
    """The search along one axis at one point of the others. Places count from the wanted end; 0 is the first candidate."""

    def __init__(self, find: Find, plan: Plan, runner: CachedRunner, dimension: Dimension, point: Point) -> None:
        self._find = find
        self._plan = plan
        self._runner = runner
        self.point = point
        self._conditions = [Condition(text) for text in find.require]
        places = [dimension.place(index) for index in range(dimension.size)]
        if find.want == "largest":
            places.reverse()
        own = [self._own(place) for place in places]
        numbers = [level.number for level in own]
        if all(number is not None for number in numbers):  # in the order of their size, however they are listed
            order = sorted(range(len(own)), key=lambda i: numbers[i] or 0, reverse=find.want == "largest")
            places = [places[i] for i in order]
        self._places = [place for place in places if plan.allows(point.with_levels(place))]
        #: Share of replications that meet the requirement, by place. Fresh replications are kept
        #: separately.
        self.tried: dict[int, float] = {}
        self._fresh: dict[int, float] = {}
        #: The assumption, in a word and in a sentence.
        self.verdict, self.told = "", ""

    @property
    def size(self) -> int:
        """Number of candidates."""
        return len(self._places)

    def label(self, place: int) -> str:
        """The value at a place."""
        return self._own(self._places[place]).label

    def _own(self, place: Sequence[tuple[str, Level]]) -> Level:
        return dict(place)[self._find.axis]

    def share(self, place: int) -> float:
        """Share of the replications that meet the requirement at a place."""
        self._try([place])
        return self.tried[place]

    def _try(self, places: Sequence[int]) -> None:
        new = [place for place in places if place not in self.tried]
        self.tried |= self._shares(new, self._plan.draws)

    def _shares(self, places: Sequence[int], draws: range) -> dict[int, float]:
        points = [self.point.with_levels(self._places[place]) for place in places]
        self._runner([Replicate(point, i) for point in points for i in draws])
        samples = self._runner.samples(points, draws)
        held = [sum(all(condition.holds(one) for condition in self._conditions) for one in of) for of in samples]
        return {place: many / len(draws) for place, many in zip(places, held, strict=True)}

    def fresh_share(self, place: int) -> float:
        """Share of an equal number of fresh replications, which had no part in the search."""
        if place not in self._fresh:
            many = self._plan.replications
            self._fresh |= self._shares([place], range(many, 2 * many))
        return self._fresh[place]

    def fresh_interval(self, place: int) -> tuple[float, float]:
        """Interval of the share at a place, from fresh replications."""
        return self._interval(self.fresh_share(place), CONFIDENCE)

    def _interval(self, share: float, confidence: float) -> tuple[float, float]:
        many = self._plan.replications
        return share_interval(round(share * many), many, confidence)

    def _is_below(self, place: int, confidence: float) -> bool:
        """Whether the share at a place is below the required one."""
        return self._interval(self.share(place), confidence)[1] < self._find.share

    def bracket(self, found: int) -> tuple[str, str]:
        """The values, in the order of the axis, between which the replications place the border.

        One end is the nearest before ``found`` whose share is below the required one, or the end of
        the axis. The other is the first from ``found`` on that holds, as does the next tried, with
        a share separated from that of the first end.
        """
        before = next((place for place in range(found - 1, -1, -1) if self._tried_below(place)), 0)
        most = self._interval(self.share(before), CONFIDENCE)[1] if before < found else 0.0
        after = [place for place in sorted(self.tried) if place >= found]
        beyond = next(
            (
                place
                for place, following in zip(after, [*after[1:], after[-1]], strict=True)
                if self.holds(place)
                and self.holds(following)
                and self._interval(self.share(place), CONFIDENCE)[0] > most
            ),
            after[-1],
        )
        ends = self.label(before), self.label(beyond)
        return ends if self._find.want == "smallest" else (ends[1], ends[0])

    def _tried_below(self, place: int) -> bool:
        return place in self.tried and self._is_below(place, CONFIDENCE)

    def holds(self, place: int) -> bool:
        """Whether the requirement holds at a place."""
        return self.share(place) >= self._find.share - 1e-12

    def run(self) -> int | None:
        """The first place at which the requirement holds; ``None`` if there is none."""
        if not self.size:
            return None
        if not self._find.monotone:
            self.verdict, self.told = (
                "none: every value tried",
                f"Nothing was assumed: all {counted(self.size, 'value')} were tried.",
            )
            return self._first_of_all()
        found = self._first_near(self._bisect())
        against = self._contradiction(found)
        side = "larger" if self._find.want == "smallest" else "smaller"
        if against is None:
            self.verdict = "held where checked"
            self.told = (
                f"Assumed: once the requirement holds it holds for every {side} value; "
                f"none of the {counted(len(self.tried), 'value')} tried contradicts that."
            )
            return found
        self.verdict = "wrong"
        says = f"({self.label(against)} says otherwise)"
        wrong = f"The assumption that the requirement goes on holding for every {side} value is wrong {says}"
        if self.size <= MOST_TRIED:
            self.told = f"{wrong}; so all {counted(self.size, 'value')} were tried."
            return self._first_of_all()
        self.told = f"{wrong}; of {self.size} values {len(self.tried)} were tried, and the value told is the {self._find.want} of those."
        return min((place for place in self.tried if self.holds(place)), default=None)

    def _first_of_all(self) -> int | None:
        self._try(range(self.size))
        return next((place for place in range(self.size) if self.holds(place)), None)

    def _bisect(self) -> int | None:
        """The border between failing and holding by bisection, if the first place fails and the last holds."""
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
        """The first place that holds among the neighbours of a border that the replications cannot separate from it.

        If values are few, each neighbour is tried. Otherwise the distance doubles each time.
        """
        start = self.size if border is None else border
        self._walk(start, -1, lambda place: self._is_below(place, CLEARLY))
        most = self._share_below(start)
        if self._interval(1.0, CONFIDENCE)[0] > most:  # or no share could be separated from it
            self._walk(start, 1, lambda place: self._interval(self.share(place), CONFIDENCE)[0] > most)
        return min((place for place in self.tried if self.holds(place)), default=None)

    def _walk(self, start: int, step: int, is_far: Callable[[int], bool]) -> None:
        """Try places on one side of ``start`` up to the first that is far enough. With many values, each step doubles."""
        place, stride = start + step, 1
        while 0 <= place < self.size and not is_far(place):
            stride = stride if self.size <= MOST_TRIED else 2 * stride
            place += step * stride

    def _share_below(self, start: int) -> float:
        """Upper end of the share at the nearest place before a border that is below the required one; 0 if there is none."""
        below = [place for place in self.tried if place < start and self._is_below(place, CONFIDENCE)]
        return self._interval(self.share(max(below)), CONFIDENCE)[1] if below else 0.0

    def _contradiction(self, found: int | None) -> int | None:
        """A place before the border that holds, or one beyond that is below the required share; ``None`` if all agree."""
        border = self.size if found is None else found
        before = _spread(0, border - 1, self._find.checks)
        beyond = _spread(border, self.size - 1, self._find.checks)
        self._try([*before, *beyond])
        return next(
            (
                place
                for place in sorted(self.tried)
                if (self.holds(place) if place < border else self._is_below(place, CONFIDENCE))
            ),
            None,
        )


def _spread(first: int, last: int, count: int) -> list[int]:
    """``count`` places from ``first`` to ``last``, evenly spaced.

    >>> _spread(0, 10, 3), _spread(0, 1, 3), _spread(5, 4, 3)
    ([1, 5, 9], [0, 1], [])
    """
    many = last - first + 1
    if many <= count:
        return list(range(first, last + 1))
    return sorted({first + (many * (2 * i + 1)) // (2 * count) for i in range(count)}) if count else []


#: Fields of the question's table besides ``kind``.
FIELDS = ("axis", "require", "share", "want", "monotone", "checks")


def read(fields: Fields, plan: Plan) -> Find:
    """Read the question from its table."""
    names = [axis.name for axis in plan.axes]
    axis = fields.text("axis", needed="the name of the axis on which a value is searched") or ""
    if axis and axis not in names:
        fields.problems.add(fields.at("axis"), axis, "is not an axis", near=names)
    elif axis:
        labels = [one.label for one in next(one for one in plan.axes if one.name == axis).levels]
        if len(set(labels)) < len(labels):
            fields.wrong("axis", "another of the axes that vary together", "has equal values, which cannot be compared")
    if plan.design.kind != "grid":
        fields.problems.add(("design",), plan.design.kind, "does not go with a search", allowed="grid")
    made = Find(axis, requirements(fields, plan))
    share = fields.number("share", made.share, above=0, below=1.0000001)
    checks = fields.whole("checks", CHECKS, least=0, most=100)
    return replace(
        made,
        share=min(share or made.share, 1.0),
        want="largest" if fields.choice("want", ("smallest", "largest"), "smallest") == "largest" else "smallest",
        monotone=fields.flag("monotone", True),
        checks=CHECKS if checks is None else checks,
    )


def requirements(fields: Fields, plan: Plan, *, needed: bool = True) -> list[str]:
    """The conditions of ``require``, each on metrics of the experiment."""
    what = 'conditions on metrics, as "cell_loss_ratio < 0.001"'
    if needed and "require" not in fields:
        fields.missing("require", what)
    kept = []
    for place, text in enumerate(fields.texts("require", what=what, single=True)):
        path = (
            (*fields.at("require"), place) if isinstance(fields.raw("require"), (list, tuple)) else fields.at("require")
        )
        if check_condition(text, path, plan.metrics, "metric of the experiment", fields):
            kept.append(text)
    return kept


def check_condition(text: str, path: Any, names: Any, what: str, fields: Fields) -> bool:
    """Report what is wrong with a condition; returns whether it is valid."""
    try:
        condition = Condition(text)
    except ConditionError as error:
        fields.problems.add(path, text, str(error), allowed=ALLOWED)
        return False
    wrong = [name for name in condition.names if name not in names]
    for name in wrong:
        fields.problems.add(path, name, f"unknown {what}", near=names)
    return not wrong
