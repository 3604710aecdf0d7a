"""How a function becomes a command: it returns its exit status, and its errors become one line each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from cellyard import declare, terminal
from cellyard.commands import FAILED, INTERRUPTED, USAGE

F = TypeVar("F", bound=Callable[..., int | None])


class Format(StrEnum):
    """How results are printed on standard output."""

    table = "table"
    json = "json"
    csv = "csv"


def command(into: declare.Group, name: str, example: str) -> Callable[[F], F]:
    """Declare a command that returns its exit status; errors become one line each on standard error."""
    return into.command(name, epilog=f"Example: {example}")


def guarded(call: Callable[[], int | None]) -> int:
    """Exit status of a call; what is wrong is told on standard error."""
    from cellyard.errors import ProblemsError, RunError, UsageError

    try:
        return call() or 0
    except ProblemsError as error:
        print(error, file=sys.stderr)
        return USAGE
    except UsageError as error:
        told(str(error))
        return USAGE
    except RunError as error:
        told(str(error))
        return FAILED
    except KeyboardInterrupt as ended:
        told(": ".join(["interrupted", *map(str, ended.args)]))
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away
        return FAILED
    except OSError as error:
        told(f"{error.filename or 'system'}: {error.strerror or error}")
        return FAILED


def told(message: str) -> None:
    """A message is one line, whatever the names in it."""
    print(terminal.printable(message), file=sys.stderr)
