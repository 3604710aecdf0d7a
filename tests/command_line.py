"""Provides the parsers of the command line for tests and documentation."""

from argparse import ArgumentParser

from cellyard.cli import main as cli

#: Parsers of all commands by their words, and the words of all groups.
COMMANDS: dict[tuple[str, ...], ArgumentParser] = cli.commands(cli.parser())
GROUPS = sorted({words[:1] for words in COMMANDS if len(words) > 1})
