"""Values of scenarios by path, which distinguish stored runs and serve as axes of figures.

Paths are as for ``--set``, of the resolved scenario, in which each member of a group has its own
name. ``vc.*.start`` stands for the starts of all VCs, if these are equal. The last words of a
path suffice if they are unambiguous. ``vc.count``, ``host.count`` and so on are the numbers of
VCs, hosts and so on.
"""

from __future__ import annotations

import tomllib
from collections.abc import Container, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, TypeAlias

from cellyard.system.errors import UsageError, either
from cellyard.system.terminal import printable
from cellyard.system.values import toml

#: The words of a path. The name of a thing is one word, even if it contains dots.
Key: TypeAlias = tuple[str, ...]
#: A value as in a scenario file, or a component with its parameters.
Value: TypeAlias = str | Mapping[str, Any]

#: Lists whose entries have names.
LISTS = ("host", "switch", "link", "vc", "probe")
#: Parameters that name the component.
KIND_FIELDS = ("kind", "policy")
#: Fields that change no mean: names, seeds, probes.
IGNORED = ("name", "seed", "probe")
#: Stands for the value at a path where a scenario sets nothing.
UNSET = "none"
#: Limits on the paths that a message names: usually, and when the user has to choose one.
MOST_NAMED, MOST_TO_CHOOSE = 8, 32


def parameters(text: str) -> dict[Key, Value]:
    """All values of a resolved scenario (`cellyard.Scenario.to_toml`). Components are also included as a whole."""
    values = {key: value for block in text.split("\n\n") for key, value in _block(block)}
    for word in LISTS:
        count = len({key[1] for key in values if key[0] == word})
        if count:
            values[word, "count"] = str(count)
    return values


@lru_cache(maxsize=100_000)
def _block(text: str) -> tuple[tuple[Key, Value], ...]:
    """The values of a table of the file. Cached, since scenarios share most tables."""
    return tuple(_flat((), tomllib.loads(text)))


def _flat(path: Key, value: Any) -> Iterable[tuple[Key, Value]]:
    if isinstance(value, Mapping):
        if any(kind in value for kind in KIND_FIELDS):
            yield path, value
        for key, inner in value.items():
            yield from _flat((*path, key), inner)
    elif path in [(word,) for word in LISTS]:
        for number, entry in enumerate(value):
            yield from _flat((*path, str(entry.get("name", number))), entry)
    else:
        yield path, value if isinstance(value, str) else toml(value)


class Scenarios:
    """Several scenarios, each with a unique key."""

    def __init__(self, texts: Mapping[bytes, str]) -> None:
        self._parameters = {key: parameters(text) for key, text in texts.items()}
        #: All scenarios from which these were selected. Any path that varies among them can be named.
        self._all = self._parameters

    def only(self, keys: Container[bytes]) -> Scenarios:
        """A selection of the scenarios."""
        selection = Scenarios({})
        selection._parameters = {key: values for key, values in self._parameters.items() if key in keys}
        selection._all = self._all
        return selection

    def values(self, path: str, option: str) -> dict[bytes, str | None]:
        """The value at a path by scenario, ``None`` if nothing is set; raises `UsageError`, which names the ``option``.

        A component is shown by its kind and by those of its parameters that vary.
        """
        return _labels(self._values_at(path, option))

    def varying(self) -> dict[str, int]:
        """The paths whose values vary, with the number of values."""
        return self.differing([list(self._parameters)], without=())

    def variation(self) -> str:
        """What varies, in a sentence."""
        varying = self.varying()
        return (
            f"These runs differ in {listed_paths(varying, MOST_TO_CHOOSE)}"
            if varying
            else "These runs do not differ in any parameter"
        )

    def differing(self, groups: Iterable[Sequence[bytes]], *, without: Sequence[str]) -> dict[str, int]:
        """Paths that vary within a group of scenarios, except ``without`` and paths below these, with the number of values."""
        values_by_path: dict[str, set[str]] = {}
        excluded = [tuple(path.split(".")) for path in without]
        for group in groups:
            if len(group) < 2:
                continue
            scenarios = [self._parameters[key] for key in group]
            things_by_scenario = [{key[:2] for key in scenario} for scenario in scenarios]
            for key in dict.fromkeys(key for scenario in scenarios for key in scenario):
                # Ignore things that a scenario lacks: their count already shows the difference.
                comparable = [
                    scenario
                    for scenario, things in zip(scenarios, things_by_scenario, strict=True)
                    if key[0] not in LISTS or key[:2] in things
                ]
                values = {repr(_whole(scenario.get(key))) for scenario in comparable}
                is_excluded = key[0] in IGNORED or any(
                    _matches(key[: len(key_path)], key_path) for key_path in excluded
                )
                if len(values) > 1 and not is_excluded:
                    values_by_path.setdefault(".".join(key), set()).update(values)
        return _shortest({path: len(values) for path, values in values_by_path.items()})

    def _names(self) -> str:
        """A hint to select one scenario if there are several names, since paths that are short for one may be ambiguous among all."""
        names = sorted({str(scenario.get(("name",), "")) for scenario in self._parameters.values()})
        listed_names = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        return printable(f"; select one scenario with --scenario NAME: {listed_names}") if len(names) > 1 else ""

    def _values_at(self, path: str, option: str) -> dict[bytes, Value | None]:
        steps = tuple(path.split("."))
        all_keys = list(dict.fromkeys(key for scenario in self._parameters.values() for key in scenario))
        keys = [key for key in all_keys if _matches(key, steps)]
        keys = keys or [key for key in all_keys if _matches(key[-len(steps) :], steps) and key[0] != "probe"]
        if not keys:
            from cellyard._engine import near

            meant = near(path, sorted({key[-1] for key in all_keys} | {".".join(key) for key in all_keys}))
            hint = f"; did you mean {either(meant)}?" if meant else ""
            raise UsageError(
                f"{option} {printable(path[:60])}: is not a path in these scenarios{hint or '.'} {self.variation()}{self._names()}"
            )
        if any(
            len({repr(scenario[key]) for key in keys if key in scenario}) > 1 for scenario in self._parameters.values()
        ):
            keys = _varying(keys, self._parameters) or _varying(keys, self._all) or keys
        values: dict[bytes, Value | None] = {}
        for key_of_scenario, scenario in self._parameters.items():
            different = {repr(scenario[key]): scenario[key] for key in keys if key in scenario}
            if len(different) > 1:
                names = [".".join(key) for key in keys if key in scenario]
                more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
                raise UsageError(
                    f"{option} {path}: is ambiguous, with different values at {', '.join(names[:MOST_NAMED])}{more}; give a longer path"
                    f"{self._names()}"
                )
            values[key_of_scenario] = next(iter(different.values()), None)
        return values


def _varying(keys: Iterable[Key], scenarios: Mapping[bytes, Mapping[Key, Value]]) -> list[Key]:
    """Paths where the scenarios differ."""
    return [key for key in keys if len({repr(scenario.get(key)) for scenario in scenarios.values()}) > 1]


def listed_paths(paths: Mapping[str, int], most: int = MOST_NAMED) -> str:
    """The first of some paths, with the number of values of each."""
    shown = [f"{path} ({count} values)" for path, count in list(paths.items())[:most]]
    return ", ".join([*shown, *([f"and {len(paths) - most} more"] if len(paths) > most else [])])


def _whole(value: Value | None) -> str | None:
    """A value, or the kind of a component. Its parameters have their own paths."""
    return _kind(value) if isinstance(value, Mapping) else value


def _matches(key: Key, steps: Sequence[str]) -> bool:
    return len(key) == len(steps) and all(map(fnmatchcase, key, steps))


def _labels(values: Mapping[bytes, Value | None]) -> dict[bytes, str | None]:
    """Labels of components: the kind, with the parameters in which components of a kind differ."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for value in values.values():
        if isinstance(value, Mapping):
            kinds.setdefault(_kind(value), []).append(value)
    variation = {
        kind: [
            name
            for name in dict.fromkeys(name for component in used for name in component if name not in KIND_FIELDS)
            if len({repr(component.get(name)) for component in used}) > 1
        ]
        for kind, used in kinds.items()
    }

    def label(value: Value | None) -> str | None:
        if not isinstance(value, Mapping):
            return value
        shown = [f"{name}={_text(value[name])}" for name in variation[_kind(value)] if name in value]
        return " ".join([_kind(value), *shown])

    return {key: label(value) for key, value in values.items()}


def _kind(component: Mapping[str, Any]) -> str:
    return str(next(component[kind] for kind in KIND_FIELDS if kind in component))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else toml(value)


def _shortest(paths: Mapping[str, int]) -> dict[str, int]:
    """Remove paths below other paths, and merge paths of things into ``*`` where the rest is equal."""
    upper = {path: count for path, count in paths.items() if not any(path.startswith(f"{other}.") for other in paths)}
    paths_by_pattern: dict[str, list[str]] = {}
    for path in upper:
        words = path.split(".")
        pattern = ".".join([words[0], "*", *words[2:]]) if words[0] in LISTS and len(words) > 2 else path
        paths_by_pattern.setdefault(pattern, []).append(path)
    shortest = {}
    for pattern, group in paths_by_pattern.items():
        shortest[group[0] if len(group) == 1 else pattern] = max(upper[path] for path in group)
    return shortest
