"""Being asked to end: Ctrl-C, SIGTERM and SIGHUP end a command in the same way, each with its own exit status."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: What ends a command; not every system has all of them.
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

#: Added to the number of a signal in the exit status, as shells do: 130, 143, 129.
BASE = 128


@contextmanager
def heard() -> Iterator[list[int]]:
    """In the block, each of the signals raises `KeyboardInterrupt`; their numbers as they come.

    One that is ignored, as ``nohup`` has it, goes on being ignored. Ctrl-C is heard as often as it comes. The others are heard once:
    the end of a terminal is told by the system and by the shell, and the second must not cut short what the first has begun.
    """
    numbers: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        if not numbers or number == signal.SIGINT:
            numbers.append(number)
            raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():  # no other may
        for name in NAMES:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, end)
    try:
        yield numbers
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
