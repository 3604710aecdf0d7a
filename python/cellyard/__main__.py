"""``python -m cellyard`` is the command line, and so is ``cellyard``."""

import gc
import signal
import sys

INTERRUPTED = 130

#: New objects between two looks for circles of them, of which a command makes few; Python's own is 700 or 2000.
CIRCLES_AFTER = 100_000


def main() -> None:
    """Entry point; Ctrl-C is quiet while it still imports, and changes nothing once the command has ended."""
    gc.set_threshold(CIRCLES_AFTER)
    try:
        from cellyard.cli.main import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Python notes a KeyboardInterrupt that leaves code made from a text, as where a dataclass is made, and would end `python -m` by the
        # signal instead of with our status, although it was handled. The next such code makes it forget.
        eval("None")


if __name__ == "__main__":
    main()
