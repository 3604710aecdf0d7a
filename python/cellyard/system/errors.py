"""What can go wrong; each error's text is meant for the person who typed the scenario or the command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cellyard.system.terminal import printable

#: More names that exist are not listed.
MOST_NAMES = 40


class CellyardError(Exception):
    """Base of all errors that Cellyard raises on purpose."""


class UsageError(CellyardError, ValueError):
    """An option, an argument, a name or a folder that cannot be used. The command line ends with status 2."""


class UnknownNameError(UsageError, KeyError):
    """A name that a result does not have."""

    def __str__(self) -> str:
        return str(self.args[0])  # a `KeyError` shows its text in quotes


class SeveralRunsError(UsageError, AttributeError):
    """What only a single run has was asked of several: `hasattr` says no."""


class OtherVersionError(UsageError, TypeError):
    """A stored scenario or result that has what this version of Cellyard does not know, or lacks what it does: another version made it."""


class RunError(CellyardError):
    """A run failed; other runs of the same batch are not affected. The command line ends with status 1."""


class CancelledError(RunError):
    """A run was cancelled, as its ``cancel`` was set."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a scenario or an experiment.

    ``text`` is all of it in words, with controls and marks of direction as their numbers. ``line`` and ``column`` count from 1 and are
    0 or ``None`` where there is no text (data from Python).
    """

    text: str
    line: int | None
    column: int | None
    path: str
    value: str
    message: str
    allowed: str
    suggestion: str | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))

    def __str__(self) -> str:
        return self.text


class ProblemsError(CellyardError, ValueError):
    """A description that cannot be used, with everything that is wrong with it in ``problems``. The command line ends with status 2.

    Of more than 50 problems these are the first, and a last one that says how many more there are.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.text for problem in self.problems))

    def __reduce__(self) -> tuple[object, ...]:
        # An exception is made again from `args`, which are its text; a pool of processes hands errors over so.
        return type(self), (self.problems,), {**vars(self), "problems": self.problems}


class ScenarioError(ProblemsError):
    """A scenario that cannot be simulated."""


class ExperimentError(ProblemsError):
    """The description of an experiment that cannot be run."""


def either(names: Sequence[str], quote: str) -> str:
    """Quoted names as alternatives.

    >>> print(either(["a", "b", "c"], "'"))
    'a', 'b' or 'c'
    """
    *others, last = (f"{quote}{name}{quote}" for name in names)
    return f"{', '.join(others)} or {last}" if others else last


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that does not exist, with the names that were probably meant.

    >>> print(unknown("study", "ubr-pluss", ["ubr-plus"]))
    study 'ubr-pluss' does not exist; did you mean 'ubr-plus'? There are: ubr-plus
    >>> print(unknown("study", "ubr", ["abr-or-ubr", "gfr", "ubr-plus"]))
    study 'ubr' does not exist; did you mean 'abr-or-ubr' or 'ubr-plus'? There are: abr-or-ubr, gfr, ubr-plus
    """
    from cellyard._engine import near

    known, name = sorted(known), printable(str(name))
    within = min((k for k in known if name and name in k), key=lambda k: k.index(name), default=None)
    meant = near(name, known) or ([within] if within else [])
    hint = "; did you mean " + either(meant, "'") + "?" if meant else "."
    shown = name if len(name) <= 60 else name[:57] + "..."
    there = ", ".join(known[:MOST_NAMES]) + (f", ... ({len(known)})" if len(known) > MOST_NAMES else "")
    return UsageError(f"{kind} '{shown}' does not exist{hint} There are: {there or 'none'}")


#: Messages and pickles name errors by the module that is public.
for _error in list(globals().values()):
    if isinstance(_error, type) and issubclass(_error, CellyardError):
        _error.__module__ = "cellyard.errors"
