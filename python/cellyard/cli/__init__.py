"""The command line: commands, options and help texts. `cellyard.commands` does the work."""
