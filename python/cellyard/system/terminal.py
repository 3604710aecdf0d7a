"""Safe printing: no name can send control codes, and encodings, closed streams and full disks are handled."""

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
STDOUT_NAME = "standard output"

#: Error handler for characters that an encoding lacks. TOML can read the result back.
ESCAPE_HANDLER = "cellyard-escaped"

#: Control characters, characters that change the order or lines of shown text, and surrogates.
_CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LINE_BREAKS = re.compile("[\n\t]")


def printable(text: str, *, lines: bool = False) -> str:
    r"""``text`` with control and direction characters replaced by their numbers, including line ends unless ``lines``.

    >>> print(printable("\x1b[31mred\n\u202e"))
    \u001b[31mred\u000a\u202e
    """
    shown = _CONTROL_CHARACTERS.sub(_escape_match, text)
    return shown if lines else _LINE_BREAKS.sub(_escape_match, shown)


def _escape_match(found: re.Match[str]) -> str:
    return _as_escapes(found[0])


def _as_escapes(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in text)


def _escape_unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return _as_escapes(error.object[error.start : error.end]), error.end


codecs.register_error(ESCAPE_HANDLER, _escape_unencodable)


class SafeStream:
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
            stream.reconfigure(errors=ESCAPE_HANDLER)

    def write(self, text: str) -> int:
        """Write ``text`` and return its number of characters."""
        if shown := text if self._controls else printable(text, lines=True):
            self._attempt(lambda: self.raw.write(shown))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._attempt(self.raw.flush)

    def _attempt(self, call: Callable[[], object]) -> None:
        try:
            if not self._failure:
                call()
        except OSError as error:
            redirect_to_null(self.raw)
            self._failure = OSError(
                error.errno, error.strerror, STDOUT_NAME
            )  # a broken pipe is a separate class, made by the number
        if self._failure and not self._quiet:
            raise self._failure

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # no way around `printable`
            raise AttributeError(name)
        return getattr(self.raw, name)


def redirect_to_null(stream: TextIO) -> None:
    """Redirect a failing stream to nowhere, so that Python does not complain again at exit."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


@contextmanager
def safe_streams() -> Iterator[None]:
    """In the block, standard output and standard error are a `SafeStream`, even if the command was started with them closed."""
    _open_closed_streams()
    before = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, SafeStream(sys.stdout or _null_stream(), quiet=False))
    sys.stderr = cast(TextIO, SafeStream(sys.stderr or _null_stream(), quiet=True))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _open_closed_streams() -> None:
    """Redirect closed standard streams to nowhere. Otherwise the next opened files would get their numbers."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError as error:
            if error.errno == errno.EBADF:
                os.open(os.devnull, os.O_RDWR)


def _null_stream() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123


def stderr_with_controls() -> TextIO:
    """Standard error for output with intentional control codes; never fails."""
    stream = sys.stderr.raw if isinstance(sys.stderr, SafeStream) else sys.stderr
    return cast(TextIO, SafeStream(stream, quiet=True, controls=True))


def show_cursor() -> None:
    """Show the cursor again."""
    if sys.stderr and sys.stderr.isatty():
        terminal = stderr_with_controls()
        terminal.write(SHOW_CURSOR)
        terminal.flush()
