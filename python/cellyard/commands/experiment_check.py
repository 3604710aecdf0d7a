"""The command ``cellyard experiment check``: describes an experiment and its cost. Nothing is simulated."""

from pathlib import Path

from cellyard.commands.experiment_run import outline
from cellyard.experiment.description.axes import Range
from cellyard.experiment.experiment import Experiment
from cellyard.experiment.plan import Plan
from cellyard.experiment.questions.question import Question
from cellyard.runs.batch import core_count
from cellyard.runs.expected import memory as memory_in_words
from cellyard.show.text import rough_time
from cellyard.show.words import counted, listed

#: Checks that need the base scenario.
_UNCHECKED = "paths and values of set and axes, names of VCs and ports in metrics, CPU time, memory, notes"


def command(path: Path, *, memory: str | None) -> None:
    """Print what is varied, points, runs, CPU time, memory and notes. No code of a user's study runs."""
    _, plan, question = outline(path)
    print(about(plan, question, memory=memory))


def about(plan: Plan, question: Question, *, memory: str | None = None) -> str:
    """The experiment and its predicted cost in a few lines; raises `UsageError` if a run may need more than ``memory``."""
    lines = [f"{plan.name}: {plan.title or question.kind}", f"base: {plan.base_summary}"]
    for axis in plan.axes:
        by = ", by ratio" if axis.is_log else ""
        ends = f"{axis.at(0).label} to {axis.at(1).label}{by}"
        steps = axis.values.steps if isinstance(axis.values, Range) else None
        ends += f", {counted(steps, 'value')}" if steps else ""
        values = ends if axis.is_range else listed([level.label for level in axis.levels])
        beside = f" (varies side by side with the other axes of `{axis.together}`)" if axis.together else ""
        lines.append(f"axis {axis.name}: {values}{beside}, at {listed(axis.paths)}")
    lines += [f"constraint: {condition.text}" for condition in plan.constraints]
    lines.append(f"metrics: {listed(list(plan.metrics))}")
    lines.append(f"question: {question.kind}, {counted(plan.replications, 'replication')} of each point")
    expected = question.expected(plan)
    most = "at most " if expected.at_most else ""
    planned = f"{most}{counted(expected.points, 'point')}, {counted(expected.runs, 'run')}"
    if plan.code:
        return "\n".join(
            [*lines, planned, f"not checked, because a check would run {plan.code / 'scenario.py'}: {_UNCHECKED}"]
        )
    experiment = Experiment.from_plan(plan, question)
    experiment.check_memory(memory)
    cost = experiment.cost()
    runs, cores = expected.runs, core_count()
    threads = min(cores, max(runs, 1))
    lines.append(
        f"{planned}: about {rough_time(cost.cpu_seconds)} of CPU time in the engine, "
        f"{rough_time(cost.cpu_seconds / threads)} on {counted(threads, 'core')}; "
        f"{memory_in_words(cost.memory_bytes * threads, cost.process_bytes)}"
    )
    lines += [f"note: {note}" for note in experiment.notes]
    return "\n".join(lines)
