"""Scenarios in Python: `Scenario`, examples, networks made by functions, and descriptions without a run."""

from cellyard.scenario.scenario import SET as SET, Overrides as Overrides, Scenario as Scenario, read_text as read_text
