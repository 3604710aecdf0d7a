"""What each command of the command line does: a module per command, named after it.

Where one prints or writes much, the text has a module of its own (``run_text``), and so have the files (``run_files``).
"""

#: Exit status of a command that was interrupted; what was finished has been printed and written.
INTERRUPTED = 130
