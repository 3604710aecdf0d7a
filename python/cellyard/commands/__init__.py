"""The commands of the command line, each in a module named after it.

Commands with much output have further modules for printed text (``run_text``) and files
(``run_files``).
"""

#: Exit statuses. FAILED: a run failed, or a file could not be written. USAGE: wrong usage, or an
#: invalid scenario.
FAILED, USAGE = 1, 2

#: Exit status of a fault in Cellyard itself: internal software error in `sysexits.h`.
FAULT = 70

#: Exit status of an interrupted command. Finished results have been printed and written.
INTERRUPTED = 130
