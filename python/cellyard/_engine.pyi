"""Types of the compiled module; see crates/python/src/."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Batch",
    "build",
    "decide",
    "describe",
    "format_constants",
    "heading",
    "json_schema",
    "least_capture_limit",
    "memory_refusal",
    "near",
    "notes",
    "outline",
    "prepare_arrays",
    "read_json",
    "read_toml",
    "read_tree",
    "registry",
    "replication_notes",
    "results_schema",
    "version",
    "write_toml",
]

def version() -> str: ...
def format_constants(scenario_json: str | None = None) -> str: ...
def build() -> str: ...
def prepare_arrays() -> None: ...
def read_toml(text: str, file: str, overrides: Sequence[tuple[str, str]]) -> str: ...
def read_json(text: str, overrides: list[tuple[str, str]]) -> str: ...
def read_tree(text: str, file: str) -> tuple[dict[str, Any], dict[tuple[str | int, ...], tuple[int, int]]]: ...
def write_toml(scenario_json: str) -> list[str]: ...
def describe(scenario_json: str) -> str: ...
def least_capture_limit(scenario_json: str) -> int: ...
def heading(scenario_json: str) -> tuple[str, int]: ...
def outline(scenario_json: str) -> str: ...
def notes(scenario_json: str) -> list[str]: ...
def replication_notes(scenario_json: str, is_jitter_stated: bool) -> list[str]: ...
def registry() -> str: ...
def json_schema() -> str: ...
def results_schema() -> str: ...
def memory_refusal(scenario_json: str, jobs: int, threads: int, memory: int) -> str | None: ...
def near(word: str, known: Sequence[str]) -> list[str]: ...
def decide(
    scenario_json: str,
    known: Mapping[str, int],
    sums: Sequence[int],
    states: Mapping[str, float],
    draw: Callable[[], float],
) -> tuple[str, dict[str, float]]: ...

# Index of the probe, bytes, and the time in seconds at which a limit ended the file, if one has.
_Captured: TypeAlias = tuple[int, NDArray[np.uint8], float | None]
# `time_s` and `value` of each series, the bytes of traced drops if there are any, and the parts of captures.
_Recorded: TypeAlias = tuple[
    list[tuple[NDArray[np.float64], NDArray[np.float64]]], NDArray[np.uint8] | None, list[_Captured]
]
# JSON of a result without what was recorded, that as far as no part had it, and the words of traced drops.
_Document: TypeAlias = tuple[str, _Recorded, list[str]]
_Finished: TypeAlias = tuple[int, _Document | None, tuple[str, str] | None, float]

@final
class Batch:
    def __new__(
        cls,
        jobs: Sequence[tuple[str, int | None]],
        threads: int,
        *,
        digest: bool = False,
        kernel: str = "auto",
        memory: int | None = None,
        kept: bool = True,
        hold: int | None = None,
        captures: tuple[int, Sequence[str]] | None = None,
    ) -> Batch: ...
    def wait(self, timeout_seconds: float) -> None: ...
    def take(self) -> tuple[list[tuple[int, _Recorded]], list[_Finished]]: ...
    def cancel(self) -> None: ...
    @property
    def remaining(self) -> int: ...
    @property
    def progress(self) -> float: ...
