"""The six questions that an experiment can ask, a module each."""
