"""Lazy packages: public names are imported on first use, so that importing the package is cheap."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazily(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package; ``names`` lists the names of each module, separated by spaces."""
    home = {name: module for module, of_module in names.items() for name in of_module.split()}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    def listed() -> list[str]:
        return sorted([*home, "__doc__", "__file__", "__name__"])

    return get, listed
