"""Exit statuses of commands. Each error becomes one line on standard error, with the line of a program below it."""

import os
import sys
from collections.abc import Callable

from cellyard.commands import FAILED, FAULT, INTERRUPTED, USAGE
from cellyard.system import terminal

#: Environment variable: unless empty or 0, internal errors print a Python traceback.
TRACEBACK = "CELLYARD_TRACEBACK"


def exit_status(call: Callable[[], int | None]) -> int:
    """Return the exit status of a call, and print its errors on standard error."""
    try:
        return call() or 0
    except KeyboardInterrupt as ended:
        print_error(": ".join(["interrupted", *map(str, ended.args)]))
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has closed it
        return FAILED
    except OSError as error:
        print_error(f"{error.filename or 'system'}: {error.strerror or error}")
        return FAILED
    except MemoryError:
        print_error("out of memory")
        return FAILED
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # an engine panic is not an `Exception`
        return _error_status(error)


def _error_status(error: BaseException) -> int:
    """Print an error of ours, or an internal one. Return its exit status."""
    from cellyard.system.errors import ProblemsError, RunError, UsageError  # not for help

    if isinstance(error, ProblemsError):
        print(error, file=sys.stderr)
        return USAGE
    if isinstance(error, UsageError):
        print_error(str(error))
        return USAGE
    if isinstance(error, RunError):
        print_error(error.summary)
        if error.excerpt:
            print(error.excerpt, file=sys.stderr)
        return FAILED
    return _fault(error)


def _fault(fault: BaseException) -> int:
    """Report an internal error, or an error in the modules of a user's study. Return its exit status."""
    from cellyard.study.folder import place

    with_traceback = os.environ.get(TRACEBACK, "") not in ("", "0")
    if with_traceback:
        import traceback

        print("".join(traceback.format_exception(fault)), end="", file=sys.stderr)
    summary = ": ".join(filter(None, [type(fault).__name__, str(fault)]))
    if source := place(fault):
        print_error(f"{source}: {summary}")
        return USAGE
    attachment = (
        "the command and this traceback" if with_traceback else f"the command and the output with {TRACEBACK}=1"
    )
    print_error(f"internal error in cellyard: {summary}; please report it with {attachment}")
    return FAULT


def print_error(message: str) -> None:
    """Print a message on one line of standard error, with control characters in names escaped."""
    print(terminal.printable(message), file=sys.stderr)
