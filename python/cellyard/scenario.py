"""Scenarios in Python: the data of a TOML file built with typed, keyword-only components.

>>> import cellyard as cy
>>> lan = cy.Scenario(
...     name="two TCPs",
...     duration="1 s",
...     hosts=[cy.Host(name="source", count=2), cy.Host(name="sink", count=2)],
...     switches=[cy.Switch(name="west", ubr=cy.Queue(buffer="1000 cells", drop="epd")), cy.Switch(name="east")],
...     links=[
...         cy.Link(from_="source", to="west", rate="155.52 Mbps", delay="5 us"),
...         cy.Link(from_="west", to="east", rate="155.52 Mbps", delay="5 us"),
...         cy.Link(from_="east", to="sink", rate="155.52 Mbps", delay="5 us"),
...     ],
...     vcs=[cy.Vc(from_="source", to="sink", traffic=cy.Tcp(recovery="vanilla"))],
... )
>>> result = lan.run()
>>> list(result.vcs)
['vc1', 'vc2']
>>> result.vcs["vc1"].goodput_mbps > 1
True
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from cellyard.errors import UsageError

if TYPE_CHECKING:
    from cellyard.components import Component, ScenarioFields
    from cellyard.results import Results

#: Largest scenario file, in bytes.
MAX_FILE_BYTES = 16 * 1024 * 1024


class Scenario:
    """A network with its traffic, checked and complete: every default is filled in.

    The keyword arguments are the fields of a scenario file; see ``cellyard components scenario``. Quantities are
    text with their unit. Raises `cellyard.ScenarioError` with everything that is wrong.
    """

    __slots__ = ("_canonical",)

    def __init__(self, **fields: Unpack[ScenarioFields]) -> None:
        from cellyard import _engine
        from cellyard.components import SCENARIO_KEYS

        unknown = sorted(set(fields) - set(SCENARIO_KEYS))
        if unknown:
            raise TypeError(f"Scenario() has no field {unknown[0]!r}; there are: {', '.join(SCENARIO_KEYS)}")
        data = {SCENARIO_KEYS[name]: plain(value) for name, value in fields.items() if value is not None}
        self._canonical = _engine.read_json(json.dumps(data))

    @classmethod
    def _of(cls, canonical: str) -> Self:
        scenario = cls.__new__(cls)
        scenario._canonical = canonical
        return scenario

    @classmethod
    def from_toml(cls, text: str, *, file: str = "scenario", overrides: Sequence[tuple[str, str]] = ()) -> Self:
        """The scenario in a TOML text.

        ``file`` names it in error messages; ``overrides`` are pairs of a dotted path and the value to put
        there, such as ``("west.ubr.buffer", "2000 cells")``.
        """
        from cellyard import _engine

        return cls._of(_engine.read_toml(text, file, list(overrides)))

    @classmethod
    def read(cls, path: str | Path, *, overrides: Sequence[tuple[str, str]] = ()) -> Self:
        """The scenario in a TOML file; raises `cellyard.UsageError` when it cannot be read."""
        return cls.from_toml(read_text(Path(path)), file=str(path), overrides=overrides)

    @property
    def canonical(self) -> str:
        """The engine's own JSON: times in ticks, rates in bit/s, everything expanded."""
        return self._canonical

    @property
    def name(self) -> str:
        """Name for reports."""
        return str(self.to_dict()["name"])

    @property
    def seed(self) -> int:
        """Seed of every random stream."""
        return int(self.to_dict()["seed"])

    def with_seed(self, seed: int) -> Self:
        """The same scenario with another seed; raises `ValueError` unless it is a whole number from 0 to 2^63 - 1."""
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
            raise ValueError(f"seed = {seed!r}: must be a whole number from 0 to {2**63 - 1}")
        data = self.to_dict()
        data["seed"] = seed
        return self._of(json.dumps(data, separators=(",", ":"), ensure_ascii=False))

    def to_dict(self) -> dict[str, Any]:
        """`canonical` as plain data."""
        data: dict[str, Any] = json.loads(self._canonical)
        return data

    def to_toml(self) -> str:
        """The resolved scenario as TOML that reads back as the same scenario."""
        from cellyard import _engine

        return _engine.write_toml(self._canonical)

    def describe(self) -> dict[str, Any]:
        """Topology, ports that can queue and expected cost."""
        from cellyard import _engine

        data: dict[str, Any] = json.loads(_engine.describe(self._canonical))
        return data

    def run(
        self,
        *,
        seed: int | None = None,
        replications: int | None = None,
        jobs: int | None = None,
        digest: bool = False,
        kernel: str = "auto",
    ) -> Results:
        """Simulate: once as stated, or ``replications`` times with each replication's own draws.

        ``jobs`` is the number of threads, all cores by default; it changes nothing but the time. ``digest``
        asks for the digest over every cell transmission, ``kernel`` forces the kernel of all ports (``auto``, ``a``,
        ``b``, or ``plain`` for the reference engine, which records no series). Raises `cellyard.RunError` when a
        run fails, and `cellyard.UsageError` when the forced kernel cannot serve a port.
        """
        from cellyard.results import Results, RunResult
        from cellyard.run import Job, run_jobs

        for name, number in (("replications", replications), ("jobs", jobs)):
            if number is not None and not (isinstance(number, int) and number >= 1):
                raise ValueError(f"{name} = {number!r}: must be a whole number of at least 1")
        text = self._canonical if seed is None else self.with_seed(seed)._canonical
        draws: Sequence[int | None] = [None] if replications is None else range(replications)
        finished = run_jobs([Job(text, draw) for draw in draws], threads=jobs, digest=digest, kernel=kernel)
        return Results([RunResult(f.result) for f in sorted(finished, key=lambda f: f.index)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._canonical == other._canonical

    def __hash__(self) -> int:
        return hash(self._canonical)

    def __repr__(self) -> str:
        return f"Scenario({self.name!r})"


def plain(value: object) -> Any:
    """Components as the tables of a scenario file, without what is left at its default."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        component: Component = value  # type: ignore[assignment]
        table: dict[str, Any] = dict(component.TAG)
        for field in dataclasses.fields(component):
            own = getattr(component, field.name)
            if own is not None and own != field.default:
                table[field.name.rstrip("_")] = plain(own)
        return table
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(item) for item in value]
    return value


def read_text(path: Path) -> str:
    """Text of a file of reasonable size; raises `UsageError` saying why it cannot be read."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise UsageError(f"{path}: larger than {MAX_FILE_BYTES} bytes; is this a scenario?")
        return raw.decode()
    except OSError as error:
        raise UsageError(f"{path}: cannot read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}:{line}: not a text in UTF-8") from None
