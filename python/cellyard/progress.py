"""How far long work is: a bar on a terminal, plain lines elsewhere, always on standard error."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

#: Between two plain lines.
LINE_SECONDS = 5.0


class Progress(AbstractContextManager["Progress"]):
    """Shows how many of ``total`` runs are done, parts of runs counted."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._started = self._told = time.monotonic()
        self._first: float | None = None
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        if sys.stderr and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            from cellyard.terminal import printable, with_controls

            counted = TextColumn("{task.completed:.2f} of {task.total} runs")
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), counted, TimeRemainingColumn())
            self._bar = Bar(*columns, console=Console(file=with_controls()), transient=True)
            self._task = self._bar.add_task(printable(self._what), total=self._total)
            self._bar.start()
        return self

    def update(self, done: float) -> None:
        """So many runs have finished, with the share of each that is under way."""
        self._first = done if self._first is None else self._first
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done)
        elif time.monotonic() - self._told >= LINE_SECONDS:
            self._told = time.monotonic()
            print(
                f"{self._what}: {done:.2f} of {self._total} runs, {self.seconds:.0f} s{self._left(done)}",
                file=sys.stderr,
            )

    def _left(self, done: float) -> str:
        """How long the rest will take if it goes on as since the first update: runs found in a folder took no time."""
        if self._first is None or done <= self._first:
            return ""
        seconds = self.seconds * (self._total - done) / (done - self._first)
        return f", some {seconds:.0f} s left"

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.monotonic() - self._started

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()
