"""What every question of an experiment is: a class in a module of its own, with ``FIELDS`` and ``read`` beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from cellyard.experiment.plan import Answer, Expected, Plan
    from cellyard.experiment.runner import CachedRunner


class Question(ABC):
    """Base of all questions."""

    #: Its name in a description.
    kind: ClassVar[str]

    @abstractmethod
    def expected(self, plan: Plan) -> Expected:
        """How many points and runs it takes, at most where it may stop earlier."""

    @abstractmethod
    def answer(self, plan: Plan, runner: CachedRunner) -> Answer:
        """The answer, from runs that it asks for."""

    def columns(self, axis: str) -> tuple[str, ...]:
        """What ``axis`` cannot be called: columns of the table in which it stands beside what was found."""
        return ()

    def warnings(self, plan: Plan) -> list[str]:
        """Sentences about a question that is valid, but probably will not get the answer that it asks for."""
        return []

    def chooses(self, axis: str) -> bool:
        """Whether it chooses the values of ``axis`` itself, so that a range of it needs no ``steps``."""
        return False
