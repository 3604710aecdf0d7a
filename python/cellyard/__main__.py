"""``python -m cellyard`` is the command line, and so is ``cellyard``."""

import gc
import signal
import sys

INTERRUPTED = 130

#: Number of new objects between garbage collections. Commands make few reference cycles. Python's
#: default is 700 or 2000.
GC_THRESHOLD = 100_000


def main() -> None:
    """Entry point. Ctrl-C during imports prints nothing, and has no effect once the command has ended."""
    gc.set_threshold(GC_THRESHOLD)
    try:
        from cellyard.cli.main import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Python records a KeyboardInterrupt that leaves code made from text, such as a dataclass. It
        # would end `python -m` by the signal instead of with our status, although we handled it.
        # Running other such code clears the record.
        eval("None")


if __name__ == "__main__":
    main()
