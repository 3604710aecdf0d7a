"""The description of an experiment: reading its axes, design, metrics and base."""
