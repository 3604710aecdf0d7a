"""``python -m cellyard`` is the command line."""

from cellyard.cli import main

main()
