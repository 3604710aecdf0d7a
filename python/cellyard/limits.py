"""Bounds of what can be asked for, common to the command line and Python."""

from __future__ import annotations

from cellyard.errors import UsageError

#: Replications of one scenario or row.
MOST_REPLICATIONS = 100_000
#: Threads.
MOST_JOBS = 1024
#: Runs of one grid or study, refused before memory is taken.
MOST_RUNS = 1_000_000
#: Seeds are below.
MOST_SEED = 2**63 - 1


def whole(name: str, value: object, *, least: int = 1, most: int) -> None:
    """Raise `UsageError` unless ``value`` is ``None`` or a whole number within the bounds.

    >>> whole("jobs", 0, most=MOST_JOBS)
    Traceback (most recent call last):
    cellyard.errors.UsageError: jobs = 0: must be a whole number from 1 to 1024
    """
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise UsageError(f"{name} = {value!r}: must be a whole number from {least} to {most}")
