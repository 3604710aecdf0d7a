"""Termination: Ctrl-C, SIGTERM and SIGHUP end a command in one way, each with its own exit status."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Signals that end a command, if the system has them.
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")

#: Limit on the CPU time after the first signal, in seconds. It mostly goes to writing and printing
#: finished runs.
GRACE_SECONDS = 0.7

#: Added to the number of a signal in the exit status, as in shells: 130, 143, 129.
STATUS_BASE = 128


#: Windows has no timer that counts CPU time.
_HAS_TIMER = hasattr(signal, "setitimer")


@contextmanager
def as_interrupts() -> Iterator[list[int]]:
    """In the block, each of the signals raises `KeyboardInterrupt`; yields the list of received signal numbers.

    Ignored signals, as with ``nohup``, stay ignored. Ctrl-C counts every time. The others count
    once: system and shell both announce the end of a terminal, and the second signal must not cut
    short the handling of the first. Handling that takes more than `GRACE_SECONDS` is ended in the
    same way.
    """
    received: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        if not received or number == signal.SIGINT:
            if not received and _HAS_TIMER:
                signal.setitimer(signal.ITIMER_PROF, GRACE_SECONDS)
            received.append(number)
            raise KeyboardInterrupt

    def out_of_time(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():  # no other may
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, end)
        if _HAS_TIMER:
            before[signal.SIGPROF] = signal.signal(signal.SIGPROF, out_of_time)
    try:
        yield received
    finally:
        if _HAS_TIMER and before:
            signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def deferred() -> Iterator[None]:
    """In the block, none of the signals interrupts Python. The first that came is raised again at its end.

    For work that must not be left half done.
    """
    received: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and callable(signal.getsignal(number)):
                before[number] = signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in received[:1]:
            signal.raise_signal(number)
