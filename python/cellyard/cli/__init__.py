"""The command line: which commands and options there are; `cellyard.commands` does what they say."""
