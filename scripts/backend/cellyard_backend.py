"""The build backend of pyproject.toml: maturin, before it the explorer's engine, and after it links for an index.

pip and other front ends call these functions (PEP 517, PEP 660). Wheels and source distributions
contain `cellyard/explorer/engine.wasm` if it can be compiled here (explorer_engine.py).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import explorer_engine
import front_page
import maturin
import paths
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, Any] | None


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Build the explorer's engine and a source distribution with it; return the distribution's name."""
    explorer_engine.build_if_possible()
    name = maturin.build_sdist(sdist_directory, config_settings)
    paths.clean_sdist(Path(sdist_directory, name))
    return name


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build both engines and a wheel of them; return the wheel's name."""
    explorer_engine.build_if_possible()
    with paths.hidden():
        name = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    paths.clean(Path(wheel_directory, name))
    return name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build both engines in the sources, and a wheel that refers to them; return the wheel's name.

    With arguments for maturin, which choose another profile, the explorer's engine stays as it is.
    """
    if not (config_settings or {}).get("build-args"):
        explorer_engine.build_if_possible()
    with paths.hidden():
        name = maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    paths.clean(Path(wheel_directory, name))
    return name


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Write the metadata of a wheel as `build_wheel` packs it; return its folder's name."""
    name = maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)
    metadata = Path(metadata_directory, name, "METADATA")
    metadata.write_text(front_page.for_index(metadata.read_text(encoding="utf-8")), encoding="utf-8")
    return name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
