"""Safe printing: no name can send control codes, and encodings, closed streams and full disks are handled."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

#: Shows the terminal's cursor, which a progress bar hides.
SHOW_CURSOR = "\x1b[?25h"

#: Name of standard output in errors.
OUTPUT = "standard output"

#: Error handler for characters that an encoding lacks. TOML can read the result back.
ESCAPED = "cellyard-escaped"

#: Control characters, characters that change the order or lines of shown text, and surrogates.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LINES = re.compile("[\n\t]")


def printable(text: str, *, lines: bool = False) -> str:
    r"""``text`` with control and direction characters replaced by their numbers, including line ends unless ``lines``.

    >>> print(printable("\x1b[31mred\n\u202e"))
    \u001b[31mred\u000a\u202e
    """
    shown = _OBEYED.sub(_number, text)
    return shown if lines else _LINES.sub(_number, shown)


def _number(found: re.Match[str]) -> str:
    return _escaped(found[0])


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in text)


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return _escaped(error.object[error.start : error.end]), error.end


codecs.register_error(ESCAPED, _escape)


class Shown:
    """A text stream that makes all text `printable`. A ``quiet`` one never fails; text that cannot be written is lost.

    Any other stream, once it has failed, keeps failing with an `OSError` that names standard
    output. With ``controls``, text is written unchanged.
    """

    def __init__(self, stream: TextIO, *, quiet: bool, controls: bool = False) -> None:
        self.raw = stream
        self._quiet = quiet
        self._controls = controls
        self._failure: OSError | None = None
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ESCAPED)

    def write(self, text: str) -> int:
        """Write ``text`` and return its number of characters."""
        if shown := text if self._controls else printable(text, lines=True):
            self._try(lambda: self.raw.write(shown))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._try(self.raw.flush)

    def _try(self, call: Callable[[], object]) -> None:
        try:
            if not self._failure:
                call()
        except OSError as error:
            give_up(self.raw)
            self._failure = OSError(
                error.errno, error.strerror, OUTPUT
            )  # a broken pipe is a class of its own, made by the number
        if self._failure and not self._quiet:
            raise self._failure

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # no way around `printable`
            raise AttributeError(name)
        return getattr(self.raw, name)


def give_up(stream: TextIO) -> None:
    """Redirect a failing stream to nowhere, so that Python does not complain again at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextmanager
def streams() -> Iterator[None]:
    """In the block, standard output and standard error are `Shown`, even if the command was started with them closed."""
    _open_all()
    before = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, Shown(sys.stdout or _nowhere(), quiet=False))
    sys.stderr = cast(TextIO, Shown(sys.stderr or _nowhere(), quiet=True))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _open_all() -> None:
    """Redirect closed standard streams to nowhere. Otherwise the next opened files would get their numbers."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError as error:
            if error.errno == errno.EBADF:
                os.open(os.devnull, os.O_RDWR)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123


def with_controls() -> TextIO:
    """Standard error for output with intentional control codes; never fails."""
    stream = sys.stderr.raw if isinstance(sys.stderr, Shown) else sys.stderr
    return cast(TextIO, Shown(stream, quiet=True, controls=True))


def show_cursor() -> None:
    """Show the cursor again."""
    if sys.stderr and sys.stderr.isatty():
        terminal = with_controls()
        terminal.write(SHOW_CURSOR)
        terminal.flush()
