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

ALLOWED = '{ example = "lan-5" }, { file = "lan.toml" } or { study = "ubr-plus", table = "2-3", row = { ... } }'

#: Lists of a scenario. Their entries are set by paths, not as a table.
LISTS = ("host", "switch", "link", "vc", "probe")


@dataclass(frozen=True)
class Base:
    """The base scenario of a description, if known, with its description in words."""

    scenario: Scenario | None = None
    told: str = ""
    #: The folder of the user's study whose code makes the scenario, if running code was not
    #: allowed.
    code: Path | None = None


def read(stated: Any, folder: Path, problems: Problems, *, run_code: bool) -> Base:
    """Read the table ``base``. Files are relative to ``folder``; code of a user's study runs only with ``run_code``."""
    if not isinstance(stated, Mapping):
        message = "is missing" if stated is None else "is not a table"
        problems.add(("base",), "" if stated is None else stated, message, allowed=ALLOWED)
        return Base()
    kinds = [kind for kind in ("file", "example", "study") if kind in stated]
    known = ("study", "table", "row") if kinds == ["study"] else ("file", "example", "study")
    fields = Fields(stated, ("base",), problems, known)
    if len(kinds) != 1:
        if not kinds or set(stated) <= set(known):
            problems.add(
                ("base",), stated, "names no scenario" if not kinds else "names more than one scenario", allowed=ALLOWED
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
            problems.add(fields.at(kind), name, f"is not a scenario that can be simulated: {problem.text}")
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
        raise UsageError("table must be the name of a table, in quotes")
    if not isinstance(row, Mapping):
        raise UsageError("row must be a table of parameters with their values")
    rows = select(study, [table] if table is not None else [], {key: str(value) for key, value in row.items()})
    if len(rows) != 1:
        open_keys = [
            key for key in rows[0].parameters if key not in row and len({str(r.parameters.get(key)) for r in rows}) > 1
        ]
        say = [*(["table"] if len({one.table for one in rows}) > 1 else []), *open_keys]
        raise UsageError(f"{len(rows)} rows of the study are like that; say also: {', '.join(say) or 'more of it'}")
    told = f"a row of the study {name}"
    if study.is_own and not run_code:
        return Base(None, told, folder / name)
    return Base(study.scenario(rows[0]), told)


def with_values(base: Scenario, stated: Any, problems: Problems) -> Scenario:
    """A copy of ``base`` with the values of the table ``set``."""
    if not isinstance(stated, Mapping):
        problems.add(
            ("set",), stated, "is not a table", allowed='paths with their values, as "switch.west.ubr.drop" = "epd"'
        )
        return base
    made = base
    for path, value in stated.items():
        if path in LISTS:
            problems.add(
                ("set", path),
                value,
                "is a list of the scenario",
                allowed=f'the whole path in quotes, as "{path}.NAME.FIELD" = ...',
            )
    try:
        made = base.with_values({path: value for path, value in stated.items() if path not in LISTS})
    except ScenarioError:  # say it where each stands
        for path, value in stated.items():
            if path in LISTS:
                continue
            try:
                base.with_values({path: value})
            except ScenarioError as error:
                for problem in error.problems:
                    problems.of_scenario(("set", path), problem, value)
        if not problems.count:
            problems.add(("set",), "", "makes no scenario: the values do not go together")
    except UsageError as error:
        problems.add(("set",), "", str(error))
    return made
