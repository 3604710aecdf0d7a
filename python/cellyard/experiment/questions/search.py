"""The search of the question ``find`` along one axis.

A value *holds* if at least the required share of its replications meets all conditions. It *fails*
if its share is shown to be lower. The value found is the first that holds beyond all that fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import NormalDist
from typing import Literal

from cellyard.experiment.description.axes import Level
from cellyard.experiment.description.design import Dimension, Point
from cellyard.experiment.description.expression import Condition
from cellyard.experiment.plan import CONFIDENCE, Plan
from cellyard.runs.runner import CachedRunner
from cellyard.show.words import percent
from cellyard.statistics.bounded import Value, every
from cellyard.statistics.inference import exact_share_interval, share_interval

Want = Literal["smallest", "largest"]

#: Default share of the replications that must meet the conditions.
DEFAULT_SHARE = 0.95
#: Default number of values tried on each side at the end.
CHECKS = 3

#: Limit on values that are all tried where the assumption turns out to be wrong.
MOST_VALUES = 100
#: The verdict on an assumption that a value beyond the first that holds contradicts.
WRONG = "wrong"
#: Square of the normal quantile of `CONFIDENCE`. If all of n trials succeed, the share is at least
#: n / (n + Z_SQUARED).
Z_SQUARED = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
#: Confidence that a share is below the required one, from which further neighbours are skipped. One
#: in 10 000 errs.
CLEAR_CONFIDENCE = 0.9998


@dataclass(frozen=True)
class Wanted:
    """The ``want`` value of ``axis`` for which ``share`` of the replications meet all of ``require``.

    With ``monotone`` false every value is tried. Otherwise ``checks`` values on each side of the
    result are tried at the end.
    """

    axis: str
    require: Sequence[str]
    share: float = DEFAULT_SHARE
    want: Want = "smallest"
    monotone: bool = True
    checks: int = CHECKS


class Search:
    """The search along one axis at one point of the others.

    Candidates are numbered from the wanted end: index 0 is the smallest or largest value, as wanted.
    """

    def __init__(
        self,
        wanted: Wanted,
        plan: Plan,
        runner: CachedRunner[Point],
        dimension: Dimension,
        point: Point,
        *,
        unknown_as: bool = False,
    ) -> None:
        self._wanted = wanted
        self._plan = plan
        self._runner = runner
        self.point = point
        self._conditions = [Condition(text) for text in wanted.require]
        candidates = [dimension.at_index(index) for index in range(dimension.size)]
        if wanted.want == "largest":
            candidates.reverse()
        levels = [self._level(candidate) for candidate in candidates]
        numbers = [level.number for level in levels]
        if all(number is not None for number in numbers):  # sort by size, regardless of the order of the list
            order = sorted(range(len(levels)), key=lambda i: numbers[i] or 0, reverse=wanted.want == "largest")
            candidates = [candidates[i] for i in order]
        self._candidates = [candidate for candidate in candidates if plan.allows(point.with_levels(candidate))]
        #: Share of replications that meet the requirement, by index. Fresh replications are kept
        #: separately.
        self.tried: dict[int, float] = {}
        self._fresh: dict[int, float] = {}
        #: What became of the assumption, in a word.
        self.verdict = "held where checked"
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
        return self.label(index) + (f" or {'less' if self._wanted.want == 'smallest' else 'more'}" if is_open else "")

    def _level(self, candidate: Sequence[tuple[str, Level]]) -> Level:
        return dict(candidate)[self._wanted.axis]

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

    def met(self, index: int, *, fresh: bool = False) -> str:
        """Number of replications that meet all conditions, from the least to the largest possible one."""
        shares = [search.fresh_share(index) if fresh else search.share(index) for search in self._bounds]
        return " to ".join(dict.fromkeys(str(round(share * self._plan.replications)) for share in shares))

    @property
    def _bounds(self) -> list[Search]:
        """The search itself, and the one in which runs that are not known count, if any."""
        return [self, *([self.hopeful] if self.hopeful else [])]

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
        return self._interval(self.share(index), confidence)[1] < self._wanted.share

    def none_of(self, axis: str) -> str:
        """Subject of a sentence on values that fail: all of the axis, or those tried."""
        return f"no value of {axis}" if len(self.tried) == self.size else f"none of the values of {axis} tried"

    def nearest(self) -> str:
        """Where the largest share of replications meets the conditions, of values that fail; of equal ones, nearest to holding."""
        best = max(self.tried, key=lambda index: ((self.hopeful or self).share(index), index))
        shares = dict.fromkeys(percent(search.share(best)) for search in self._bounds)
        shown = " to ".join(shares)
        return (
            f"the largest share is {shown}, with {self.label(best)}"
            if shown != percent(0)
            else "the share is 0 % at each"
        )

    def bracket(self, found: int) -> tuple[int | None, int | None]:
        """The candidates between which the replications place the border, from the wanted end.

        If the value found is the first, or if nothing is shown, an end is ``None``.
        """
        first, last = self._bracket_of_all() if self._is_free else self._bracket(found)
        if self.hopeful:
            first, _ = self.hopeful._bracket_of_all() if self._is_free else self.hopeful._bracket(found)
        return first if found else None, last

    @property
    def _is_free(self) -> bool:
        """Whether the search assumes nothing of values beyond the one found."""
        return not self._wanted.monotone or self.verdict == WRONG

    def _bracket(self, found: int) -> tuple[int | None, int | None]:
        """The nearest candidate before ``found`` that is shown to fail, as is the next tried before it, or the end of the axis.

        Then the first from ``found`` on that is shown to have the share, as is the next tried, if any.
        """
        tried = sorted(self.tried)
        first = next((b for a, b in reversed(list(pairwise(tried))) if b < found and self._shown(a, b) < 0), 0)
        ends = zip(tried, [*tried[1:], tried[-1]], strict=True)
        return first, next((a for a, b in ends if a >= found and self._shown(a, b) > 0), None)

    def _bracket_of_all(self) -> tuple[int | None, int | None]:
        """The bracket of the last border if nothing is assumed; ``None`` at both ends unless every candidate was tried.

        The last candidate that is shown to fail is one of many, so each is judged at an equal part of
        the error. Beyond the other end every candidate must be shown to have the share. That needs no
        correction, since all of these tests must succeed.
        """
        if len(self.tried) < self.size:
            return None, None
        confidence = 1 - (1 - CONFIDENCE) / self.size
        failing = [index for index in self.tried if self._exact(index, confidence)[1] < self._wanted.share]
        last = max((index for index in self.tried if self._shown(index) <= 0), default=-1) + 1
        return max(failing, default=0), last if last < self.size else None

    def _shown(self, *indices: int) -> int:
        """1 if each share at some candidates is shown to be the required one or more, -1 if less, else 0."""
        ends = [self._exact(index, CONFIDENCE) for index in indices]
        return all(low >= self._wanted.share for low, _ in ends) - all(high < self._wanted.share for _, high in ends)

    def _exact(self, index: int, confidence: float) -> tuple[float, float]:
        replications = self._plan.replications
        return exact_share_interval(round(self.share(index) * replications), replications, confidence)

    def border(self, found: int) -> str:
        """Where the border is, in words; empty if both ends of its bracket are one value, or its ends are those of the axis."""
        first, last = self.bracket(found)
        if (last is None and not first) or (first is None and last == found):
            return ""
        if first is None or last is None:
            known = self.label(last if first is None else first)  # type: ignore[arg-type]
            is_limit_above = (first is None) == (self._wanted.want == "smallest")
            limits = ("at most", "lower") if is_limit_above else ("at least", "upper")
            return f"{limits[0]} {known}; no {limits[1]} limit is shown"
        low, high = (first, last) if self._wanted.want == "smallest" else (last, first)
        if low == high:
            return ""
        words = ("above", "at most") if self._wanted.want == "smallest" else ("at least", "below")
        return f"{words[0]} {self.label(low)} and {words[1]} {self.label(high)}"

    def holds(self, index: int) -> bool:
        """Whether the requirement holds at a candidate."""
        return self.share(index) >= self._wanted.share - 1e-12

    def run(self) -> int | None:
        """Index of the first candidate at which the requirement holds; ``None`` if there is none."""
        self.found = self._run()
        if self.found is not None:
            self.fresh_share(self.found)
        return self.found

    def _run(self) -> int | None:
        if not self.size:
            self.verdict = ""
            return None
        if not self._wanted.monotone:
            self.verdict = "none: every value tried"
            self._try(range(self.size))
        elif self._is_contradicted(self._first_near(self._bisect())):
            if self.size <= MOST_VALUES:
                self._try(range(self.size))
            elif found := self._first_safe():
                self._narrow(self._before(found), found)
            if self.failing_again:
                self.verdict = WRONG
        return self._first_safe()

    @property
    def failing_again(self) -> list[int]:
        """Candidates tried beyond the first that holds which are shown to fail."""
        first = self._first()
        return [i for i in sorted(self.tried) if first is not None and i > first and self._is_below(i, CONFIDENCE)]

    def _first_safe(self) -> int | None:
        """The first candidate tried that holds beyond all that are shown to fail."""
        last = max(self.failing_again, default=-1)
        return min((i for i in self.tried if i > last and self.holds(i)), default=None)

    @property
    def conclusion(self) -> tuple[int | None, str, list[str]]:
        """What was found, the verdict, and if values fail again also where the requirement holds."""
        return self.found, self.verdict, self.holding() if self.failing_again else []

    def holding(self, *, before: int | None = None) -> list[str]:
        """The values tried that hold, or those ``before`` another, in the order of the axis; neighbours among them as ranges."""
        tried = sorted(self.tried, reverse=self._wanted.want == "largest")
        groups = [list(group) for holds, group in groupby(tried, self.holds) if holds]
        groups = [group for group in groups if before is None or group[0] < before]
        return [
            self.label(group[0]) if len(group) == 1 else f"{self.label(group[0])} to {self.label(group[-1])}"
            for group in groups
        ]

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
        return self._narrow(0, self.size - 1)

    def _narrow(self, low: int, high: int) -> int:
        """The border between a candidate that does not hold and a later one that does, by bisection."""
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
        if exact_share_interval(self._plan.replications, self._plan.replications, CONFIDENCE)[0] >= self._wanted.share:
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
        indices_before = _evenly_spaced(0, border - 1, self._wanted.checks)
        indices_beyond = _evenly_spaced(border, self.size - 1, self._wanted.checks)
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
