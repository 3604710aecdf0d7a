"""A laboratory for TCP over cell-switched (ATM) networks: a cell-by-cell engine with typed scenarios and results.

Everything here is imported when first used, so that ``import cellyard`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellyard._engine import version as version
    from cellyard.components import *  # noqa: F403
    from cellyard.errors import CellyardError as CellyardError
    from cellyard.errors import Problem as Problem
    from cellyard.errors import RunError as RunError
    from cellyard.errors import ScenarioError as ScenarioError
    from cellyard.errors import UsageError as UsageError
    from cellyard.results import Results as Results
    from cellyard.results import RunResult as RunResult
    from cellyard.results import Series as Series
    from cellyard.scenario import Scenario as Scenario

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
    "version": "_engine",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"cellyard.{_HOME[name]}"), name)
    if name[0].isupper():  # `from cellyard import cli` asks here first, and must not import the components
        components = importlib.import_module("cellyard.components")
        if name in components.__all__:
            return getattr(components, name)
    raise AttributeError(f"module 'cellyard' has no attribute {name!r}")


def __dir__() -> list[str]:
    components = importlib.import_module("cellyard.components")
    return sorted([*_HOME, *components.__all__])
