"""What each command of the command line does: a module per command, named after it."""
