"""Limits on arguments, shared by the command line and Python."""

import operator
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import SupportsIndex, SupportsInt

# What only functions need is imported by them, since the help of a command needs the constants alone.

#: Limit on the replications of a scenario or row.
MOST_REPLICATIONS = 100_000
#: Limit on threads.
MOST_JOBS = 1024
#: Limit on the workers of a cluster on one machine.
MOST_WORKERS = 1024
#: Limit on the runs of a grid or study, checked before memory is allocated.
MOST_RUNS = 1_000_000
#: Largest seed.
MOST_SEED = 2**63 - 1


#: Default limit on the memory of concurrent runs, as a fraction of the machine's memory.
MEMORY_SHARE = 0.5
#: Files where Linux reports the memory limit of a group of processes.
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(k|[kK]i|[MGT]i?)?B\s*")
_LARGEST_SIZE = 2**63
#: Sizes that are allowed.
SIZES = "a size such as 4GB or 500 MiB, at least 1 byte; units: B, kB, MB, ..., KiB, MiB, ..."


def memory_bytes(value: str | int | None) -> int | None:
    """Bytes of a size such as ``"4 GB"`` or a number. ``None`` gives half of the machine's memory, or ``None`` if unknown.

    Raises `UsageError` for anything else.

    >>> memory_bytes("4GB"), memory_bytes("1.5 GiB"), memory_bytes("1 KiB"), memory_bytes(1000)
    (4000000000, 1610612736, 1024, 1000)
    >>> memory_bytes("4")
    Traceback (most recent call last):
    cellyard.errors.UsageError: memory = '4': must be a size such as 4GB or 500 MiB, at least 1 byte; units: B, kB, MB, ..., KiB, MiB, ...
    """
    if value is None:
        machine = _machine_bytes()
        return machine and int(machine * MEMORY_SHARE)
    return size_bytes("memory", value)


def size_bytes(name: str, value: str | int) -> int:
    """Bytes of a size such as ``"4 GB"`` or a number; raises `UsageError`, which calls it ``name``, for anything else."""
    from cellyard.system.errors import UsageError
    from cellyard.system.values import shown

    size = None
    if isinstance(value, str):
        if found := _SIZE.fullmatch(value):
            number, unit = found.groups()
            scale = 1024 if unit and unit.endswith("i") else 1000
            size = int(float(number) * scale ** (" kMGT".index(unit[0].replace("K", "k")) if unit else 0))
    else:
        size = whole(name, value, most=_LARGEST_SIZE - 1)
    if size is None or not 0 < size < _LARGEST_SIZE:
        raise UsageError(f"{name} = {shown(value)}: must be {SIZES}")
    return size


def _machine_bytes() -> int | None:
    """Memory of the machine, or the limit of this process's group."""
    try:
        found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None
    for path in _CGROUP_LIMITS:
        with suppress(OSError, ValueError):  # no such file, or the word `max`
            found.append(int(Path(path).read_text(encoding="ascii")))
    return min(found)


def whole(name: str, value: object, *, least: int = 1, most: int) -> int | None:
    """``value`` as an ``int``, or ``None``; raises `UsageError` unless it is a whole number within the bounds.

    >>> whole("jobs", 4.0, most=MOST_JOBS)
    4
    >>> whole("jobs", 0, most=MOST_JOBS)
    Traceback (most recent call last):
    cellyard.errors.UsageError: jobs = 0: must be a whole number from 1 to 1024
    """
    from cellyard.system.errors import UsageError
    from cellyard.system.values import as_python, shown

    if value is None:
        return None
    value = as_python(value)
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
