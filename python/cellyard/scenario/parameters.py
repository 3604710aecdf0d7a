"""Values of scenarios by path, which distinguish stored runs and serve as axes of figures.

Paths are as for ``--set``, of the resolved scenario, in which each member of a group has its own
name. ``vc.*.start`` stands for the starts of all VCs, where these are equal. The last words of a
path suffice where they are unambiguous. ``vc.count``, ``host.count`` and so on are the numbers of
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

#: The words of a path. The name of a thing is one word, whatever it contains.
Key: TypeAlias = tuple[str, ...]
#: A value as in a scenario file, or a component with its parameters.
Value: TypeAlias = str | Mapping[str, Any]

#: Lists whose entries have names.
LISTS = ("host", "switch", "link", "vc", "probe")
#: Parameters that name the component.
KINDS = ("kind", "policy")
#: Fields that change no mean: names, seeds, probes.
ASIDE = ("name", "seed", "probe")
#: Stands for the value at a path where a scenario sets nothing.
UNSET = "none"
#: Limits on the paths that a message names: usually, and when the user has to choose one.
MOST_NAMED, MOST_TO_CHOOSE = 8, 32


def parameters(text: str) -> dict[Key, Value]:
    """All values of a resolved scenario (`cellyard.Scenario.to_toml`). Components are also included as a whole."""
    found = {key: value for block in text.split("\n\n") for key, value in _block(block)}
    for word in LISTS:
        many = len({key[1] for key in found if key[0] == word})
        if many:
            found[word, "count"] = str(many)
    return found


@lru_cache(maxsize=100_000)
def _block(text: str) -> tuple[tuple[Key, Value], ...]:
    """The values of a table of the file. Cached, since scenarios share most tables."""
    return tuple(_flat((), tomllib.loads(text)))


def _flat(path: Key, value: Any) -> Iterable[tuple[Key, Value]]:
    if isinstance(value, Mapping):
        if any(kind in value for kind in KINDS):
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
        self._said = {key: parameters(text) for key, text in texts.items()}
        #: All scenarios from which these were selected. Any path that varies among them can be named.
        self._all = self._said

    def only(self, keys: Container[bytes]) -> Scenarios:
        """A selection of the scenarios."""
        found = Scenarios({})
        found._said = {key: said for key, said in self._said.items() if key in keys}
        found._all = self._all
        return found

    def values(self, path: str, option: str) -> dict[bytes, str | None]:
        """The value at a path by scenario, ``None`` where nothing is set; raises `UsageError`, which names the ``option``.

        A component is shown by its kind and by those of its parameters that vary.
        """
        return _labels(self._found(path, option))

    def varying(self) -> dict[str, int]:
        """The paths whose values vary, with the number of values."""
        return self.differing([list(self._said)], without=())

    def told(self) -> str:
        """What varies, in a sentence."""
        varying = self.varying()
        return (
            f"Among these runs vary: {listed(varying, MOST_TO_CHOOSE)}"
            if varying
            else "Nothing varies among these runs"
        )

    def differing(self, groups: Iterable[Sequence[bytes]], *, without: Sequence[str]) -> dict[str, int]:
        """Paths that vary within a group of scenarios, except ``without`` and paths below these, with the number of values."""
        found: dict[str, set[str]] = {}
        aside = [tuple(path.split(".")) for path in without]
        for group in groups:
            if len(group) < 2:
                continue
            said = [self._said[key] for key in group]
            there = [{key[:2] for key in one} for one in said]
            for key in dict.fromkeys(key for one in said for key in one):
                # Ignore things that a scenario lacks: their count already shows the difference.
                own = [one for one, things in zip(said, there, strict=True) if key[0] not in LISTS or key[:2] in things]
                values = {repr(_whole(one.get(key))) for one in own}
                if len(values) > 1 and key[0] not in ASIDE and not any(_fits(key[: len(a)], a) for a in aside):
                    found.setdefault(".".join(key), set()).update(values)
        return _shortest({path: len(values) for path, values in found.items()})

    def _names(self) -> str:
        """A hint to select one scenario if there are several names, since paths that are short for one may be ambiguous among all."""
        names = sorted({str(said.get(("name",), "")) for said in self._said.values()})
        shown = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        return printable(f"; --scenario NAME chooses one of {shown}") if len(names) > 1 else ""

    def _found(self, path: str, option: str) -> dict[bytes, Value | None]:
        steps = tuple(path.split("."))
        every = list(dict.fromkeys(key for said in self._said.values() for key in said))
        keys = [key for key in every if _fits(key, steps)]
        keys = keys or [key for key in every if _fits(key[-len(steps) :], steps) and key[0] != "probe"]
        if not keys:
            from cellyard._engine import near

            meant = near(path, sorted({key[-1] for key in every} | {".".join(key) for key in every}))
            hint = f"; did you mean {either(meant, '`')}?" if meant else ""
            raise UsageError(
                f"{option} {printable(path[:60])}: is not a path of these scenarios{hint or '.'} {self.told()}{self._names()}"
            )
        if any(len({repr(said[key]) for key in keys if key in said}) > 1 for said in self._said.values()):
            keys = _varying(keys, self._said) or _varying(keys, self._all) or keys
        found: dict[bytes, Value | None] = {}
        for scenario, said in self._said.items():
            own = {repr(said[key]): said[key] for key in keys if key in said}
            if len(own) > 1:
                names = [".".join(key) for key in keys if key in said]
                more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
                raise UsageError(
                    f"{option} {path}: is not the same wherever it stands; say which: {', '.join(names[:MOST_NAMED])}{more}"
                    f"{self._names()}"
                )
            found[scenario] = next(iter(own.values()), None)
        return found


def _varying(keys: Iterable[Key], scenarios: Mapping[bytes, Mapping[Key, Value]]) -> list[Key]:
    """Paths where the scenarios differ."""
    return [key for key in keys if len({repr(said.get(key)) for said in scenarios.values()}) > 1]


def listed(paths: Mapping[str, int], most: int = MOST_NAMED) -> str:
    """The first of some paths, with the number of values of each."""
    shown = [f"{path} ({many} values)" for path, many in list(paths.items())[:most]]
    return ", ".join([*shown, *([f"and {len(paths) - most} more"] if len(paths) > most else [])])


def _whole(value: Value | None) -> str | None:
    """A value, or the kind of a component. Its parameters have their own paths."""
    return _kind(value) if isinstance(value, Mapping) else value


def _fits(key: Key, steps: Sequence[str]) -> bool:
    return len(key) == len(steps) and all(map(fnmatchcase, key, steps))


def _labels(values: Mapping[bytes, Value | None]) -> dict[bytes, str | None]:
    """Labels of components: the kind, with the parameters in which components of a kind differ."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for value in values.values():
        if isinstance(value, Mapping):
            kinds.setdefault(_kind(value), []).append(value)
    told = {
        kind: [
            name
            for name in dict.fromkeys(name for one in used for name in one if name not in KINDS)
            if len({repr(one.get(name)) for one in used}) > 1
        ]
        for kind, used in kinds.items()
    }

    def label(value: Value | None) -> str | None:
        if not isinstance(value, Mapping):
            return value
        own = [f"{name}={_text(value[name])}" for name in told[_kind(value)] if name in value]
        return " ".join([_kind(value), *own])

    return {key: label(value) for key, value in values.items()}


def _kind(component: Mapping[str, Any]) -> str:
    return str(next(component[kind] for kind in KINDS if kind in component))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else toml(value)


def _shortest(paths: Mapping[str, int]) -> dict[str, int]:
    """Remove paths below other paths, and merge paths of things into ``*`` where the rest is equal."""
    tops = {path: many for path, many in paths.items() if not any(path.startswith(f"{other}.") for other in paths)}
    alike: dict[str, list[str]] = {}
    for path in tops:
        words = path.split(".")
        starred = ".".join([words[0], "*", *words[2:]]) if words[0] in LISTS and len(words) > 2 else path
        alike.setdefault(starred, []).append(path)
    found = {}
    for starred, some in alike.items():
        found[some[0] if len(some) == 1 else starred] = max(tops[path] for path in some)
    return found
