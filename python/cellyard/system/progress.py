"""Progress of long work on standard error: a bar on a terminal, plain lines elsewhere. Notebooks show a bar."""

from __future__ import annotations

import importlib
import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress as Bar, TaskID

#: Time between plain lines.
LINE_SECONDS = 5.0
#: Least time of work that a notebook shows, and time between its updates.
NOTEBOOK_SECONDS = 0.5


class Progress(AbstractContextManager["Progress"]):
    """Shows how many of ``total`` runs are done, the pace and the remaining time. Bar and pace count fractions of runs.

    For a single run, shows how much of ``simulated_seconds`` has passed; with ``points``, how many
    have all their runs. With ``at_most``, fewer may be enough.
    """

    def __init__(
        self,
        title: str,
        total: int,
        *,
        points: int | None = None,
        simulated_seconds: float | None = None,
        at_most: bool = False,
    ) -> None:
        self._title = title
        self._total = total
        self._points = points
        self._most = "at most " if at_most else ""
        self._simulated_seconds = simulated_seconds if total == 1 else None
        self._started = self._last_shown = time.monotonic()
        self._done_before: float | None = None
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        if sys.stderr and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress as Bar, TextColumn

            from cellyard.system.terminal import printable, stderr_with_controls

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[count]}", markup=False),
            )
            self._bar = Bar(*columns, console=Console(file=stderr_with_controls()), transient=True)
            self._task = self._bar.add_task(
                printable(self._title), total=self._total, count=self._count_text(0.0, None)
            )
            self._bar.start()
        return self

    def update(self, done: float, points: int | None = None) -> None:
        """Report finished runs, including fractions of those in progress, and the number of points with all their runs."""
        self._done_before = done if self._done_before is None else self._done_before
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done, count=self._count_text(done, points) + self._pace(done))
        elif time.monotonic() - self._last_shown >= LINE_SECONDS:
            self._last_shown = time.monotonic()
            print(
                f"{self._title}: {self._count_text(done, points)}, {self.seconds:.0f} s{self._pace(done)}",
                file=sys.stderr,
            )

    def _count_text(self, done: float, points: int | None) -> str:
        """The progress in words."""
        if self._simulated_seconds is not None:
            seconds = done * self._simulated_seconds
            text = f"{seconds:{'.3g' if seconds < 999.5 else '.0f'}} of {self._simulated_seconds:g} s simulated"
        else:
            text = f"{int(done + 1e-6)} of {self._most}{self._total} runs"
            if points is not None and self._points:
                text = f"{points} of {self._most}{self._points} points, {text}"
        return text

    def _pace(self, done: float) -> str:
        """The pace and the remaining time at this pace. Runs found in a folder took no time and do not count."""
        if self._done_before is None or done <= self._done_before:
            return ""
        rate = (done - self._done_before) / max(self.seconds, 1e-9)
        pace = f", {rate:.3g} runs/s" if self._total > 1 else ""
        return f"{pace}, {self._most or 'about '}{max(self._total - done, 0) / rate:.0f} s left"

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.monotonic() - self._started

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()


class NotebookProgress(Progress):
    """Shows progress below the working notebook cell through IPython's display; shows nothing elsewhere.

    Calls from Python are silent outside of notebooks.
    """

    def __enter__(self) -> NotebookProgress:
        self._display = display()
        self._handle: Any = None
        return self

    def update(self, done: float, points: int | None = None) -> None:
        """Report progress like `Progress.update`."""
        self._done_before = done if self._done_before is None else self._done_before
        if self._display and time.monotonic() - self._last_shown >= NOTEBOOK_SECONDS:
            self._last_shown = time.monotonic()
            self._show(done, f"{self._title}: {self._count_text(done, points)}{self._pace(done)}")

    def _show(self, done: float, text: str) -> None:
        from html import escape

        bar = f"<progress max='{self._total}' value='{done:.2f}'></progress>"
        shown = {"text/plain": text, "text/html": f"{bar} {escape(text)}"}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            from html import escape

            state = "ended" if kind else "done"
            text = f"{self._title}: {state} after {self.seconds:.1f} s"
            self._handle.update({"text/plain": text, "text/html": escape(text)}, raw=True)


def display() -> Any:
    """IPython's display function; ``None`` outside of notebooks."""
    ipython = sys.modules.get("IPython")  # which a notebook has imported
    shell = ipython.get_ipython() if ipython else None
    if not hasattr(shell, "kernel"):
        return None
    return importlib.import_module("IPython.display").display
