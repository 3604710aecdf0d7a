"""Which field of a scenario a path sets, however it is spelled."""

from collections.abc import Hashable, Iterable

from cellyard.scenario.scenario import Scenario
from cellyard.system.errors import ScenarioError

#: A value that no field takes.
_INVALID = {"?": 1}


def fields_of(scenario: Scenario | None, paths: Iterable[str]) -> dict[str, Hashable]:
    """A value for each path, equal for paths that set the same field, such as `switch.0.ubr` and `switch.west.ubr`.

    The engine resolves paths: for two spellings, its message about an invalid value is the same.
    Without a scenario, only equal spellings are one field.
    """
    distinct = list(dict.fromkeys(paths))
    known = scenario if len(distinct) > 1 else None
    return {path: path if known is None else _field(known, path) for path in distinct}


def _field(scenario: Scenario, path: str) -> Hashable:
    try:
        scenario.with_values({path: _INVALID})
    except ScenarioError as error:
        return tuple((problem.path, problem.message) for problem in error.problems)
    return path


def also(fields: dict[str, Hashable], path: str, others: Iterable[str]) -> str | None:
    """How the first of ``others`` that sets the field of ``path`` is spelled, for a message; empty if as ``path``."""
    same = next((other for other in others if fields[other] == fields[path]), None)
    return None if same is None else "" if same == path else f", spelled `{same}`"
