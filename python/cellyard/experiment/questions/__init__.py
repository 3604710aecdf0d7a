"""The six questions of experiments, a module each."""
