"""Foundations: errors, files, cell formats, limits, locks, progress, signals, the terminal and values."""
