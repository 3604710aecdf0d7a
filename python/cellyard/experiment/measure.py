"""The metrics of an experiment: names with their places in the results of a run."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from cellyard.errors import UsageError
from cellyard.experiment.problems import Problems
from cellyard.experiment.toml_lines import Path
from cellyard.metric_path import MetricPath, metric_path
from cellyard.results import Totals
from cellyard.scenario import Scenario

#: Names that tables and conditions have for something else.
RESERVED = ("runs", "metric", "value", "replication", "point", "share", "and", "or", "not", "min", "max", "abs")

ALLOWED = (
    'names of totals or paths, as ["efficiency", "max(port.*.max_queue_cells)"], or a table of names with their paths'
)


def read(stated: Any, problems: Problems) -> dict[str, MetricPath]:
    """Metrics by name: a list of names of totals and of paths, or a table that names paths; ``None`` stands in for those that are wrong."""
    entries: list[tuple[str, Any, Path]] = []
    if isinstance(stated, Mapping):
        entries = [(str(name), text, ("metrics", str(name))) for name, text in stated.items()]
    elif isinstance(stated, (list, tuple)):
        entries = [
            (text if isinstance(text, str) else "", text, ("metrics", place)) for place, text in enumerate(stated)
        ]
    else:
        message = "is missing" if stated is None else "is no list and no table"
        problems.add(("metrics",), "" if stated is None else stated, message, allowed=ALLOWED)
        return {}
    if not entries:
        problems.add(("metrics",), stated, "is empty", allowed=ALLOWED)
    found: dict[str, MetricPath] = {}
    for name, text, path in entries:
        if not isinstance(text, str):
            problems.add(path, text, "is no text", allowed="a name of totals, or a path as class.vbr.cell_loss_ratio")
            continue
        plain = text.strip()
        if name in RESERVED:
            problems.add(path, name, "is a name of something else", allowed=f"another name; not {', '.join(RESERVED)}")
            continue
        try:
            if plain in Totals.numbers() or ("." not in plain and "(" not in plain):
                if plain not in Totals.numbers():
                    problems.add(path, text, "is no metric of totals", near=Totals.numbers())
                    continue
                found[name or plain] = metric_path(f"totals.{plain}")
            else:
                found[name] = metric_path(plain)
        except UsageError as error:
            problems.add(path, text, f"leads nowhere: {error}")
    return found


def check_names(metrics: Mapping[str, MetricPath], stated: Any, scenario: Scenario, problems: Problems) -> None:
    """Note the VCs and ports that metrics ask for and ``scenario`` does not have."""
    if not any(step.word in ("vc", "port") for path in metrics.values() for step in path.steps):
        return
    there = {
        "vc": [vc["name"] for vc in scenario.to_dict()["vcs"]],
        "port": [port["name"] for port in scenario.describe()["ports"]],
    }
    for number, (name, path) in enumerate(metrics.items()):
        step = path.steps[0]
        if step.word in there and not any(fnmatchcase(one, step.name) for one in there[step.word]):
            place = ("metrics", name) if isinstance(stated, Mapping) else ("metrics", number)
            problems.add(place, step.name, f"is no {step.word} of the scenario", near=there[step.word])
