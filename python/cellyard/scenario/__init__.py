"""Scenarios in Python: `Scenario`, its ready examples, networks made by functions, and what can be told of one without a run."""

from cellyard.scenario.scenario import SET as SET, Overrides as Overrides, Scenario as Scenario, read_text as read_text
