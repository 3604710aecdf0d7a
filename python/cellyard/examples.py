"""Example scenarios: the public name of `cellyard.scenario.examples`."""

from cellyard.scenario.examples import FOLDER as FOLDER, names as names, scenario as scenario, text as text
