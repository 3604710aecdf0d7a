"""What an experiment states: its axes, design, metrics and base, and how they are read."""
