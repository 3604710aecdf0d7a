"""Runs on many machines or processes: the public name of `cellyard.runs.cluster`."""

from cellyard.runs.cluster import Workers as Workers
