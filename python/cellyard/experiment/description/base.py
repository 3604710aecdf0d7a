"""The scenario that an experiment varies: a file, an example, or a row of a study."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellyard.experiment.description.fields import Fields
from cellyard.experiment.description.measure import Metric, row_metrics
from cellyard.experiment.description.problems import Problems
from cellyard.scenario import Scenario, examples
from cellyard.system.errors import ScenarioError, UsageError
from cellyard.system.values import shown

ALLOWED = '{ example = "lan-5" }, { file = "lan.toml" } or { study = "ubr-plus", table = "2-3", row = { ... } }'

#: Lists of a scenario. Their entries are set by paths, not as a table.
LISTS = ("host", "switch", "link", "vc", "probe")


@dataclass(frozen=True)
class Base:
    """The base scenario of a description, if known, with its description in words."""

    scenario: Scenario | None = None
    summary: str = ""
    #: The folder of the user's study whose code makes the scenario, if running code was not
    #: allowed.
    code: Path | None = None
    #: The metrics of the study whose row is the base, by name.
    metrics: Mapping[str, Metric] = field(default_factory=dict)


def read(data: Any, folder: Path, problems: Problems, *, run_code: bool) -> Base:
    """Read the table ``base``. Files are relative to ``folder``; code of a user's study runs only with ``run_code``."""
    if not isinstance(data, Mapping):
        message = "is missing" if data is None else "is not a table"
        problems.add(("base",), "" if data is None else data, message, allowed=ALLOWED)
        return Base()
    kinds = [kind for kind in ("file", "example", "study") if kind in data]
    known = ("study", "table", "row") if kinds == ["study"] else ("file", "example", "study")
    fields = Fields(data, ("base",), problems, known)
    if len(kinds) != 1:
        if not kinds or set(data) <= set(known):
            problems.add(
                ("base",),
                data,
                f"has {' and '.join(kinds) or 'none of file, example and study'}, and exactly one is needed",
                allowed=ALLOWED,
            )
        return Base()
    kind = kinds[0]
    name = fields.text(kind, needed=f"the name of the {kind}")
    if name is None:
        return Base()
    try:
        if kind == "file":
            return Base(Scenario.read(folder / name), f"the file {name}")
        if kind == "example":
            return Base(examples.scenario(name), f"the example {name}")
        return _row(name, fields, folder, run_code=run_code)
    except ScenarioError as error:
        for problem in error.problems:
            problems.add(fields.at(kind), name, f"the scenario is invalid: {problem.summary}", excerpt=problem.excerpt)
    except UsageError as error:
        problems.add(fields.at(kind), name, str(error))
    return Base()


def _row(name: str, fields: Fields, folder: Path, *, run_code: bool) -> Base:
    """The named row of a study, or of a study in ``folder``; raises `UsageError` unless exactly one row matches."""
    from cellyard.study.study import load, only_row, select

    study = load(name, beside=folder)
    table = fields.raw("table")
    row = fields.raw("row", {})
    if table is not None and not isinstance(table, str):
        raise UsageError(f"table = {shown(table)}: must be the name of a table of the study, in quotes")
    if not isinstance(row, Mapping):
        raise UsageError(f"row = {shown(row)}: must be a table of parameters and values, such as {{ sources = 5 }}")
    rows = select(study, [table] if table is not None else [], {key: str(value) for key, value in row.items()})
    chosen = only_row(rows, table="table", parameter="row.{}")
    summary = f"a row of the study {name}"
    if study.is_own and not run_code:
        return Base(None, summary, folder / name, row_metrics(study, chosen))
    return Base(study.scenario(chosen), summary, metrics=row_metrics(study, chosen))


#: A value of an axis that leaves the base as it is.
UNCHANGED = "base"
_DROP, _REST = re.compile(r"\.drop(\.policy)?$"), "rest_of_frame"


def at_levels(base: Scenario, pairs: Sequence[tuple[str, Any]], *, is_kept: bool = False) -> Scenario:
    """``base`` with these values at paths, where `UNCHANGED` changes nothing.

    A drop policy brings its own ``rest_of_frame``, regardless of what the base states for the policy that it had,
    unless ``is_kept``: the description then states the field itself.
    """
    changed = [(path, value) for path, value in pairs if value != UNCHANGED]
    queues = [] if is_kept else [_DROP.sub("", path) for path, _ in changed if _DROP.search(path)]
    own = [(f"{queue}.{_REST}", None) for queue in queues]
    return base.with_values([*own, *changed]) if changed else base


def states_rest(description: Mapping[str, Any]) -> bool:
    """Whether ``set`` or an axis of a description, which may be faulty, has the path of a ``rest_of_frame``."""
    stated, axes = description.get("set"), description.get("axis")
    paths = list(stated) if isinstance(stated, Mapping) else []
    for axis in axes if isinstance(axes, (list, tuple)) else ():
        path = axis.get("path") if isinstance(axis, Mapping) else None
        paths += path if isinstance(path, (list, tuple)) else [path]
    return any(str(path).endswith(f".{_REST}") for path in paths)


def with_values(base: Scenario, data: Any, problems: Problems, *, is_kept: bool = False) -> Scenario:
    """A copy of ``base`` with the values of the table ``set``; ``is_kept`` is as for `at_levels`."""
    if not isinstance(data, Mapping):
        problems.add(
            ("set",), data, "is not a table", allowed='paths with values, such as "switch.west.ubr.drop" = "epd"'
        )
        return base
    changed = base
    for path, value in data.items():
        if path in LISTS:
            problems.add(
                ("set", path),
                value,
                "a list cannot be replaced as a whole",
                allowed=f'the path of a field in quotes, such as "{path}.NAME.FIELD" = ...',
            )
    try:
        pairs = [(path, value) for path, value in data.items() if path not in LISTS]
        changed = at_levels(base, pairs, is_kept=is_kept)
    except ScenarioError:  # report each problem at its value
        for path, value in data.items():
            if path in LISTS:
                continue
            try:
                base.with_values({path: value})
            except ScenarioError as error:
                for problem in error.problems:
                    problems.of_scenario(("set", path), problem, value)
        if not problems.count:
            problems.add(("set",), "", "the values are valid separately, but not together")
    except UsageError as error:
        problems.add(("set",), "", str(error))
    return changed
