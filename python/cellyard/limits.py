"""Bounds of what can be asked for, common to the command line and Python."""

from __future__ import annotations

import operator
from typing import SupportsIndex, SupportsInt

from cellyard.errors import UsageError
from cellyard.values import own, shown

#: Replications of one scenario or row.
MOST_REPLICATIONS = 100_000
#: Threads.
MOST_JOBS = 1024
#: Runs of one grid or study, refused before memory is taken.
MOST_RUNS = 1_000_000
#: Seeds are below.
MOST_SEED = 2**63 - 1


def whole(name: str, value: object, *, least: int = 1, most: int) -> int | None:
    """``value`` as an ``int``, ``None`` as it is; raises `UsageError` unless it is a whole number within the bounds.

    >>> whole("jobs", 4.0, most=MOST_JOBS)
    4
    >>> whole("jobs", 0, most=MOST_JOBS)
    Traceback (most recent call last):
    cellyard.errors.UsageError: jobs = 0: must be a whole number from 1 to 1024
    """
    if value is None:
        return None
    value = own(value)
    found = None if isinstance(value, bool) else _whole(value)
    if found is None or not least <= found <= most:
        raise UsageError(f"{name} = {shown(value)}: must be a whole number from {least} to {most}")
    return found


def _whole(value: object) -> int | None:
    if isinstance(value, SupportsIndex):
        return operator.index(value)
    if not isinstance(value, SupportsInt):
        return None
    try:
        found = int(value)
    except (ValueError, OverflowError):  # not finite
        return None
    return found if found == value else None
