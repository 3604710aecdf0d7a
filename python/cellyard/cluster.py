"""Runs on many machines or processes: the public name of `cellyard.runs.cluster`."""

from cellyard.runs.cluster import (
    AHEAD as AHEAD,
    ANSWER_SECONDS as ANSWER_SECONDS,
    LEAST_SECONDS as LEAST_SECONDS,
    LOST_SECONDS as LOST_SECONDS,
    POLL_SECONDS as POLL_SECONDS,
    START_SECONDS as START_SECONDS,
    TASK_RUNS as TASK_RUNS,
    TASK_SECONDS as TASK_SECONDS,
    Done as Done,
    Workers as Workers,
    asked as asked,
    run_task as run_task,
)
