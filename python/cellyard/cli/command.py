"""Runs commands: turns their errors into one-line messages on standard error and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from cellyard.commands import FAILED, FAULT, INTERRUPTED, USAGE
from cellyard.system import terminal

#: Environment variable that shows the traceback of a fault, unless it is empty or 0.
TRACEBACK = "CELLYARD_TRACEBACK"


def guarded(call: Callable[[], int | None]) -> int:
    """Exit status of a call; reports errors on standard error."""
    from cellyard.system.errors import ProblemsError, RunError, UsageError

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
    except MemoryError:
        told("there is not enough memory")
        return FAILED
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as fault:  # a panic of the engine is no `Exception`
        return _fault(fault)


def _fault(fault: BaseException) -> int:
    """Report an internal error, or an error in the code of a user's study, and return its exit status."""
    from cellyard.study.folder import place

    asked = os.environ.get(TRACEBACK, "") not in ("", "0")
    if asked:
        import traceback

        print("".join(traceback.format_exception(fault)), end="", file=sys.stderr)
    what = ": ".join(filter(None, [type(fault).__name__, str(fault)]))
    if where := place(fault):
        told(f"{where}: {what}")
        return USAGE
    how = "please report it with the command" if asked else f"please report it with what {TRACEBACK}=1 shows"
    told(f"this is a fault in cellyard itself: {what}; {how}")
    return FAULT


def told(message: str) -> None:
    """Print a message as one line, whatever names it contains."""
    print(terminal.printable(message), file=sys.stderr)
