"""The scenario that an experiment varies: a file, an example, or a row of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellyard.experiment.description.fields import Fields
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
    from cellyard.study import load, select

    study = load(name, beside=folder)
    table = fields.raw("table")
    row = fields.raw("row", {})
    if table is not None and not isinstance(table, str):
        raise UsageError(f"table = {shown(table)}: must be the name of a table of the study, in quotes")
    if not isinstance(row, Mapping):
        raise UsageError(f"row = {shown(row)}: must be a table of parameters and values, such as {{ sources = 5 }}")
    rows = select(study, [table] if table is not None else [], {key: str(value) for key, value in row.items()})
    if len(rows) != 1:
        differing = ["table"] if len({match.table for match in rows}) > 1 else []
        differing += [
            f"row.{key}"
            for key in rows[0].parameters
            if key not in row and len({str(match.parameters.get(key)) for match in rows}) > 1
        ]
        hint = f"; select one by setting {', '.join(differing)}" if differing else ""
        raise UsageError(f"{len(rows)} rows of the study match, and exactly one is needed{hint}")
    summary = f"a row of the study {name}"
    if study.is_own and not run_code:
        return Base(None, summary, folder / name)
    return Base(study.scenario(rows[0]), summary)


def with_values(base: Scenario, data: Any, problems: Problems) -> Scenario:
    """A copy of ``base`` with the values of the table ``set``."""
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
                "is a list, which cannot be replaced as a whole",
                allowed=f'the path of a field in quotes, such as "{path}.NAME.FIELD" = ...',
            )
    try:
        changed = base.with_values({path: value for path, value in data.items() if path not in LISTS})
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
