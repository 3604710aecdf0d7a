"""Foundations: errors, files, limits, locks, progress, signals, the terminal and values."""
