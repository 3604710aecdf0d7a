"""A laboratory for TCP over cell-switched (ATM) networks: a cell-by-cell engine with typed scenarios and results.

Everything here is imported when first used, so that ``import cellyard`` costs nothing. Beside the classes there are the modules
``cluster`` (runs on many machines, which need the extra ``dask``), ``experiment`` (many runs and one question), ``networks`` (networks
made by functions), ``plot`` (figures, which need the extra ``plot``), ``ready`` (ready scenarios), ``study`` and ``reproduce``
(published studies).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellyard import cluster as cluster
    from cellyard import components as components
    from cellyard import errors as errors
    from cellyard import experiment as experiment
    from cellyard import networks as networks
    from cellyard import plot as plot
    from cellyard import ready as ready
    from cellyard import reproduce as reproduce
    from cellyard import results as results
    from cellyard import study as study
    from cellyard._engine import version as version
    from cellyard.components import *  # noqa: F403
    from cellyard.errors import CellyardError as CellyardError
    from cellyard.errors import ExperimentError as ExperimentError
    from cellyard.errors import OtherVersionError as OtherVersionError
    from cellyard.errors import Problem as Problem
    from cellyard.errors import RunError as RunError
    from cellyard.errors import ScenarioError as ScenarioError
    from cellyard.errors import SeveralRunsError as SeveralRunsError
    from cellyard.errors import UnknownNameError as UnknownNameError
    from cellyard.errors import UsageError as UsageError
    from cellyard.results import Results as Results
    from cellyard.results import RunResult as RunResult
    from cellyard.results import Series as Series
    from cellyard.scenario import Scenario as Scenario
    from cellyard.store import open_store as open_store

    __version__: str

_HOME = {
    "CellyardError": "errors",
    "ExperimentError": "errors",
    "OtherVersionError": "errors",
    "Problem": "errors",
    "Results": "results",
    "RunError": "errors",
    "RunResult": "results",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Series": "results",
    "SeveralRunsError": "errors",
    "UnknownNameError": "errors",
    "UsageError": "errors",
    "open_store": "store",
    "version": "_engine",
}
_MODULES = (
    "cluster",
    "components",
    "errors",
    "experiment",
    "networks",
    "plot",
    "ready",
    "reproduce",
    "results",
    "study",
)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"cellyard.{_HOME[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"cellyard.{name}")
    if name == "__version__":
        return importlib.import_module("cellyard._engine").version()
    if name[0].isupper():  # `from cellyard import cli` asks here first, and must not import the components
        components = importlib.import_module("cellyard.components")
        if name in components.__all__:
            return getattr(components, name)
    raise AttributeError(f"module 'cellyard' has no attribute {name!r}")


def __dir__() -> list[str]:
    components = importlib.import_module("cellyard.components")
    return sorted({*_HOME, *_MODULES, *components.__all__, "__version__", "__doc__", "__name__", "__file__"})
