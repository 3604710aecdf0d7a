"""Errors that users meet: the public name of `cellyard.system.errors`."""

from cellyard.system.errors import (
    MOST_NAMES as MOST_NAMES,
    CancelledError as CancelledError,
    CellyardError as CellyardError,
    ExperimentError as ExperimentError,
    OtherVersionError as OtherVersionError,
    PolicyError as PolicyError,
    Problem as Problem,
    ProblemsError as ProblemsError,
    RunError as RunError,
    ScenarioError as ScenarioError,
    SeveralRunsError as SeveralRunsError,
    UnknownNameError as UnknownNameError,
    UsageError as UsageError,
    either as either,
    unknown as unknown,
)
