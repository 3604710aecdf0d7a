"""Example scenarios, which ``cellyard example`` lists.

>>> scenario("lan-5").name
'lan-5'
"""

from pathlib import Path

from cellyard.scenario.scenario import Overrides, Scenario
from cellyard.system.errors import unknown

FOLDER = Path(__file__).parent.parent / "examples"


def names() -> list[str]:
    """Names of all example scenarios."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def text(name: str) -> str:
    """The scenario file of an example; raises `UsageError` when the name is unknown."""
    if name not in names():
        raise unknown("example", name, names())
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def scenario(name: str, *, overrides: Overrides = ()) -> Scenario:
    """The example as a scenario, with values set as for `cellyard.Scenario.from_toml`."""
    return Scenario.from_toml(text(name), file=f"{name}.toml", overrides=overrides)
