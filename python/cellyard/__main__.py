"""``python -m cellyard`` is the command line, and so is ``cellyard``."""

import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Entry point; Ctrl-C is quiet while it still imports, and changes nothing once the command has ended."""
    try:
        from cellyard.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
