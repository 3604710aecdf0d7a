"""The interface of questions. Each is a class in its own module, with ``FIELDS`` and ``read`` next to it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cellyard.experiment.description.design import Point
from cellyard.experiment.plan import Answer, Expected, Plan
from cellyard.runs.runner import CachedRunner
from cellyard.statistics.bounded import Value

#: Columns of the table of points that a question may add: how many runs meet its conditions, and their share.
JUDGED = ("met", "share")


class Question(ABC):
    """Base of all questions."""

    #: Name of the question in a description.
    kind: ClassVar[str]

    @abstractmethod
    def expected(self, plan: Plan) -> Expected:
        """Number of points and runs, an upper bound where the question may stop earlier."""

    @abstractmethod
    def answer(self, plan: Plan, runner: CachedRunner[Point]) -> Answer:
        """The answer, from the runs it requests."""

    def reserved_columns(self, axis: str) -> tuple[str, ...]:
        """Reserved column names: ``axis`` must not be called like a column next to it in the answer's table."""
        return ()

    def judged(self, runs: Sequence[Mapping[str, Value]]) -> dict[str, Any]:
        """What the question says of the runs of a point, for `JUDGED` of its columns."""
        return {}

    def warnings(self, plan: Plan) -> list[str]:
        """Notes about a question that is valid, but probably will not get its answer."""
        return []

    def chooses(self, axis: str) -> bool:
        """Whether the question chooses the values of ``axis`` itself, so that a range needs no ``steps``."""
        return False
