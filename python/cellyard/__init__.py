"""A laboratory for TCP over cell-switched (ATM) networks: a cell-by-cell engine with typed scenarios and results.

Everything here is imported when first used, so that ``import cellyard`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellyard._engine import version as engine_version
    from cellyard.components import *  # noqa: F403
    from cellyard.errors import CellyardError, Problem, RunError, ScenarioError, UsageError
    from cellyard.results import Results, RunResult, Series
    from cellyard.scenario import Scenario

_HOME = {
    "CellyardError": "errors",
    "Problem": "errors",
    "Results": "results",
    "RunError": "errors",
    "RunResult": "results",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Series": "results",
    "UsageError": "errors",
}


def __getattr__(name: str) -> Any:
    if name == "engine_version":
        return importlib.import_module("cellyard._engine").version
    if name in _HOME:
        return getattr(importlib.import_module(f"cellyard.{_HOME[name]}"), name)
    if name[0].isupper():  # `from cellyard import cli` asks here first, and must not import the components
        components = importlib.import_module("cellyard.components")
        if name in components.__all__:
            return getattr(components, name)
    raise AttributeError(f"module 'cellyard' has no attribute {name!r}")


def __dir__() -> list[str]:
    components = importlib.import_module("cellyard.components")
    return sorted([*_HOME, *components.__all__, "engine_version"])
