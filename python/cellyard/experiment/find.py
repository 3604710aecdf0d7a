"""The question ``find``: the smallest, or largest, value of an axis for which a requirement holds.

The requirement holds at a value when at least a stated share of the replications there meets all its conditions. The search assumes that
it goes on holding from the value found to the end of the axis: it halves the stretch between a value that fails and one that
holds. At the end it tries values on both sides. If one of them says otherwise, the assumption is wrong, which is told, and
every value is tried if they are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from cellyard.experiment.axes import Level
from cellyard.experiment.design import Dimension, Point
from cellyard.experiment.expression import ALLOWED, Condition, ConditionError
from cellyard.experiment.fields import Fields
from cellyard.experiment.plan import CONFIDENCE, Answer, Expected, Plan
from cellyard.experiment.question import Question
from cellyard.experiment.runner import Draw, Remembered
from cellyard.experiment.sentences import counted, listed, percent
from cellyard.experiment.statistics import share_interval

Want = Literal["smallest", "largest"]

#: Values that are all tried where the requirement turns out not to go on holding.
MOST_TRIED = 100
#: Values tried on each side at the end unless the question says otherwise.
CHECKS = 3


@dataclass(frozen=True)
class Find(Question):
    """The ``want`` value of ``axis`` for which ``share`` of the replications meet all of ``require``.

    With ``monotone`` false every value is tried. ``checks`` values on each side of the one found are tried at the end.
    """

    axis: str
    require: Sequence[str]
    share: float = 0.95
    want: Want = "smallest"
    monotone: bool = True
    checks: int = CHECKS
    kind: ClassVar[str] = "find"

    def columns(self, axis: str) -> tuple[str, ...]:
        """What no axis can be called: columns of the table."""
        return ("share", "share_low", "share_high", "values_tried", "assumption")

    def chooses(self, axis: str) -> bool:
        """The axis that is searched."""
        return axis == self.axis

    def expected(self, plan: Plan) -> Expected:
        """What a search tries at most, for every point of the other axes: where values are few enough, all of them."""
        dimension = plan.dimension(self.axis)
        tried = dimension.size
        if self.monotone and tried > MOST_TRIED:
            tried = min(tried, 2 + math.ceil(math.log2(max(dimension.size, 2))) + 2 * self.checks)
        points = plan.size(without=dimension) * tried
        return Expected(points, points * plan.replications, at_most=True)

    def answer(self, plan: Plan, runner: Remembered) -> Answer:
        """The value found at each point of the other axes, and what was assumed."""
        dimension = plan.dimension(self.axis)
        sentences, records = [], []
        for point in plan.points(without=dimension):
            search = Search(self, plan, runner, dimension, point)
            found = search.run()
            sentences.append(self._sentence(plan, search, found))
            share = search.share(found) if found is not None else None
            ends = (
                share_interval(round(share * plan.replications), plan.replications, CONFIDENCE)
                if share is not None
                else (None, None)
            )
            records.append(
                {
                    **point.told,
                    self.axis: None if found is None else search.label(found),
                    "share": share,
                    "share_low": ends[0],
                    "share_high": ends[1],
                    "values_tried": len(search.tried),
                    "assumption": search.verdict,
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
        share = search.share(found)
        low, high = share_interval(round(share * plan.replications), plan.replications, CONFIDENCE)
        sentence = (
            f"{where}{'the' if where else 'The'} {self.want} {self.axis} that gives {asked} is {search.label(found)}: "
            f"there {percent(share)} of {plan.replications} do "
            f"(a share from {percent(low)} to {percent(high)} at 95 % confidence)"
        )
        before = found - 1
        if before >= 0 and before in search.tried:
            sentence += f"; with {search.label(before)} it is {percent(search.share(before))}"
        elif before < 0:
            sentence += "; it is the end of the axis, beyond which nothing was tried"
        return f"{sentence}. {search.told}"


class Search:
    """The search along one axis at one point of the others. Places count from the end that is wanted: 0 is the first candidate."""

    def __init__(self, find: Find, plan: Plan, runner: Remembered, dimension: Dimension, point: Point) -> None:
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
        #: Share of the replications that meet the requirement, by place.
        self.tried: dict[int, float] = {}
        #: What was assumed, in a word and in a sentence.
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
        points = [self.point.with_levels(self._places[place]) for place in new]
        self._runner([Draw(point, i) for point in points for i in self._plan.draws])
        for place, samples in zip(new, self._runner.samples(points, self._plan.draws), strict=True):
            held = sum(all(condition.holds(one) for condition in self._conditions) for one in samples)
            self.tried[place] = held / len(samples)

    def holds(self, place: int) -> bool:
        """Whether the requirement holds at a place."""
        return self.share(place) >= self._find.share - 1e-12

    def run(self) -> int | None:
        """The first place at which the requirement holds; ``None`` where there is none."""
        if not self.size:
            return None
        if not self._find.monotone:
            self.verdict, self.told = (
                "none: every value tried",
                f"Nothing was assumed: all {counted(self.size, 'value')} were tried.",
            )
            return self._first_of_all()
        found = self._bisect()
        against = self._contradiction(found)
        side = "larger" if self._find.want == "smallest" else "smaller"
        if against is None:
            self.verdict = "held where checked"
            self.told = (
                f"Assumed: once the requirement holds it holds for every {side} value; "
                f"all {counted(len(self.tried), 'value')} tried agree."
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
        """The border between failing and holding, if the first places fail and the last ones hold."""
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

    def _contradiction(self, found: int | None) -> int | None:
        """A place that fails beyond the border or holds before it, among some on each side; ``None`` where all agree."""
        border = self.size if found is None else found
        before = _spread(0, border - 1, self._find.checks)
        beyond = _spread(border, self.size - 1, self._find.checks)
        self._try([*before, *beyond])
        return next((place for place in sorted(self.tried) if self.holds(place) != (place >= border)), None)


def _spread(first: int, last: int, count: int) -> list[int]:
    """Some places from ``first`` to ``last``, evenly apart and within.

    >>> _spread(0, 10, 3), _spread(0, 1, 3), _spread(5, 4, 3)
    ([1, 5, 9], [0, 1], [])
    """
    many = last - first + 1
    if many <= count:
        return list(range(first, last + 1))
    return sorted({first + (many * (2 * i + 1)) // (2 * count) for i in range(count)}) if count else []


#: What its table of the description has beside ``kind``.
FIELDS = ("axis", "require", "share", "want", "monotone", "checks")


def read(fields: Fields, plan: Plan) -> Find:
    """The question as it is described."""
    names = [axis.name for axis in plan.axes]
    axis = fields.text("axis", needed="the name of the axis on which a value is searched") or ""
    if axis and axis not in names:
        fields.problems.add(fields.at("axis"), axis, "is no axis", near=names)
    elif axis:
        labels = [one.label for one in next(one for one in plan.axes if one.name == axis).levels]
        if len(set(labels)) < len(labels):
            fields.wrong(
                "axis", "another of the axes that vary together", "has equal values, which names cannot tell apart"
            )
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
    """Note what is wrong with a condition; whether nothing is."""
    try:
        condition = Condition(text)
    except ConditionError as error:
        fields.problems.add(path, text, str(error), allowed=ALLOWED)
        return False
    wrong = [name for name in condition.names if name not in names]
    for name in wrong:
        fields.problems.add(path, name, f"is no {what}", near=names)
    return not wrong
