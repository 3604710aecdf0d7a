"""Errors. Each text addresses the person who typed the scenario or the command."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cellyard.system.terminal import printable

#: Limit on existing names that a message lists.
MOST_NAMES = 40


class CellyardError(Exception):
    """Base of all errors that Cellyard raises intentionally."""


class UsageError(CellyardError, ValueError):
    """An unusable option, argument, name or folder. The command line exits with status 2."""


class UnknownNameError(UsageError, KeyError):
    """A name that a result does not have."""

    def __str__(self) -> str:
        return str(self.args[0])  # a `KeyError` shows its text in quotes


class SeveralRunsError(UsageError, AttributeError):
    """An attribute of single runs was requested of several. An `AttributeError`, so that `hasattr` returns false."""


class OtherVersionError(UsageError, TypeError):
    """A stored scenario or result made by an incompatible version: it has unknown fields, or lacks required ones."""


class RunError(CellyardError):
    """A run failed. Other runs of the batch are not affected. The command line exits with status 1.

    ``excerpt`` is the line of a program that failed, with a caret below it, and otherwise empty. It
    ends the text.
    """

    def __init__(self, summary: str = "", excerpt: str = "") -> None:
        self.summary = summary
        self.excerpt = printable_excerpt(excerpt)
        super().__init__(*filter(None, (summary, self.excerpt)))

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.summary, self.excerpt)))


class CancelledError(RunError):
    """A run was cancelled through its ``cancel``."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a scenario or an experiment.

    ``text`` is the whole problem in words, with control and direction characters as numbers.
    ``line`` and ``column`` count from 1. They are 0 or ``None`` for data from Python. ``excerpt`` is
    a line of a program with a caret below the fault, and empty elsewhere. It ends the text.
    """

    text: str
    line: int | None
    column: int | None
    path: str
    value: str
    message: str
    allowed: str
    suggestion: str | None
    excerpt: str = ""

    def __post_init__(self) -> None:
        summary, excerpt = printable(self.summary), printable_excerpt(self.excerpt)
        object.__setattr__(self, "excerpt", excerpt)
        object.__setattr__(self, "text", f"{summary}\n{excerpt}" if excerpt else summary)

    @property
    def summary(self) -> str:
        """``text`` without the excerpt, on one line."""
        return self.text.removesuffix(f"\n{self.excerpt}") if self.excerpt else self.text

    def __str__(self) -> str:
        return self.text


def printable_excerpt(text: str) -> str:
    """Lines of a program as they are shown: a tab is one column, as for the caret below it."""
    return printable(text.replace("\t", " ").replace("\r", ""), lines=True)


class ProblemsError(CellyardError, ValueError):
    """An invalid description, with all its ``problems``. The command line exits with status 2.

    Beyond 50 problems, the list holds the first ones, and a last one that counts the rest.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.text for problem in self.problems))

    def __reduce__(self) -> tuple[object, ...]:
        # Pickling recreates an exception from `args`, which is only its text. Process pools pickle
        # errors.
        return type(self), (self.problems,), {**vars(self), "problems": self.problems}


class ScenarioError(ProblemsError):
    """A scenario that cannot be simulated."""


class ExperimentError(ProblemsError):
    """An experiment that cannot be run."""


class PolicyError(ProblemsError):
    """A Python function that cannot be a policy. Its problem has the place in the source, and an excerpt."""


def either(names: Sequence[str]) -> str:
    """Quoted names joined as alternatives.

    >>> print(either(["a", "b", "c"]))
    `a`, `b` or `c`
    """
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} or {last}" if others else last


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for an unknown name: what was probably meant, or otherwise the known names.

    >>> print(unknown("study", "ubr", ["abr-or-ubr", "gfr", "ubr-plus"]))
    study `ubr` does not exist; did you mean `abr-or-ubr` or `ubr-plus`?
    >>> print(unknown("study", "tcp", ["gfr", "ubr-plus"]))
    study `tcp` does not exist (allowed: gfr, ubr-plus)
    """
    from cellyard._engine import near

    known, name = sorted(known), printable(str(name))
    within = min((k for k in known if name and name in k), key=lambda k: k.index(name), default=None)
    meant = near(name, known) or ([within] if within else [])
    shown = name if len(name) <= 60 else name[:57] + "..."
    names = ", ".join(known[:MOST_NAMES]) + (f", ... {len(known)} in all" if len(known) > MOST_NAMES else "")
    hint = f"; did you mean {either(meant)}?" if meant else f" (allowed: {names})" if known else "; there are none"
    return UsageError(f"{kind} `{shown}` does not exist{hint}")


#: Messages and pickles should name errors by their public module.
for _error in list(globals().values()):
    if isinstance(_error, type) and issubclass(_error, CellyardError):
        _error.__module__ = "cellyard.errors"
