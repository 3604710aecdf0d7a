"""What each command of the command line does: a module per command, named after it.

Where one prints or writes much, the text has a module of its own (``run_text``), and so have the files (``run_files``).
"""

#: Exit statuses: a run failed, or a file could not be written; bad usage, or a scenario that cannot be simulated.
FAILED, USAGE = 1, 2

#: Exit status of a fault in Cellyard itself, as `sysexits.h` has it for internal errors of software.
FAULT = 70

#: Exit status of a command that was interrupted; what was finished has been printed and written.
INTERRUPTED = 130
