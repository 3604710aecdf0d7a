"""Exit statuses of commands. Each error becomes one line on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from cellyard.commands import FAILED, FAULT, INTERRUPTED, USAGE
from cellyard.system import terminal

#: Environment variable: unless empty or 0, internal errors print a Python traceback.
TRACEBACK = "CELLYARD_TRACEBACK"


def guarded(call: Callable[[], int | None]) -> int:
    """Return the exit status of a call, and print its errors on standard error."""
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
    except BrokenPipeError:  # whoever read our output has closed it
        return FAILED
    except OSError as error:
        told(f"{error.filename or 'system'}: {error.strerror or error}")
        return FAILED
    except MemoryError:
        told("out of memory")
        return FAILED
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as fault:  # an engine panic is not an `Exception`
        return _fault(fault)


def _fault(fault: BaseException) -> int:
    """Report an internal error, or an error in the modules of a user's study. Return its exit status."""
    from cellyard.study.folder import place

    asked = os.environ.get(TRACEBACK, "") not in ("", "0")
    if asked:
        import traceback

        print("".join(traceback.format_exception(fault)), end="", file=sys.stderr)
    what = ": ".join(filter(None, [type(fault).__name__, str(fault)]))
    if where := place(fault):
        told(f"{where}: {what}")
        return USAGE
    how = "the command and this traceback" if asked else f"the command and the output with {TRACEBACK}=1"
    told(f"internal error in cellyard: {what}; please report it with {how}")
    return FAULT


def told(message: str) -> None:
    """Print a message on one line of standard error, with control characters in names escaped."""
    print(terminal.printable(message), file=sys.stderr)
