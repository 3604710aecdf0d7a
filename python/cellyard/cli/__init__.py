"""The command line: its commands and options. `cellyard.commands` implements them."""
