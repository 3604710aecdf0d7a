"""The public names of `cellyard`, with the module that each is imported from on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cellyard.system.lazy import lazily

if TYPE_CHECKING:
    from cellyard import (
        cluster as cluster,
        components as components,
        errors as errors,
        examples as examples,
        experiment as experiment,
        networks as networks,
        plot as plot,
        reproduce as reproduce,
        results as results,
        study as study,
    )
    from cellyard._engine import version as version
    from cellyard.components import *  # noqa: F403
    from cellyard.errors import *  # noqa: F403
    from cellyard.programs import (
        accept as accept,
        policy as policy,
        push_out_cell as push_out_cell,
        push_out_frame as push_out_frame,
        refuse as refuse,
        refuse_cell as refuse_cell,
        tag as tag,
    )
    from cellyard.results import Results as Results, RunResult as RunResult, Series as Series
    from cellyard.scenario import Scenario as Scenario
    from cellyard.store import open_store as open_store

    __version__: str

#: Public modules.
_MODULES = "cluster components errors examples experiment networks plot plot_rows reproduce results study"

#: Names in `dir(cellyard)` and `help(cellyard)` besides the modules and the groups of components.
_SHOWN = (
    "Abr CellyardError Change Contract Ensemble Host Link Measure Pool Queue Results RunResult Scenario Series Switch Vc "
    "__version__ open_store policy version"
)
_ERRORS = (
    "CancelledError CellyardError ExperimentError OtherVersionError PolicyError Problem RunError ScenarioError SeveralRunsError "
    "UnknownNameError UsageError"
)
_VERDICTS = "accept push_out_cell push_out_frame refuse refuse_cell tag"
_GROUPS = "drop feedback police probe processing sched traffic"

_get, _ = lazily(
    "cellyard",
    {
        "_engine": "version",
        "components": _GROUPS,
        "errors": _ERRORS,
        "programs": f"policy {_VERDICTS}",
        "results": "Results RunResult Series",
        "scenario": "Scenario",
        "store": "open_store",
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _get("version")()
    if name in _MODULES.split():
        return importlib.import_module(f"cellyard.{name}")
    try:
        return _get(name)
    except AttributeError:
        if not name[0].isupper():  # `from cellyard import cli` asks here first, and must not import the components
            raise
    try:
        return getattr(importlib.import_module("cellyard.components"), name)
    except AttributeError:
        raise AttributeError(f"module 'cellyard' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(f"{_MODULES} {_GROUPS} {_SHOWN} {_VERDICTS} __doc__ __file__ __name__".split())
