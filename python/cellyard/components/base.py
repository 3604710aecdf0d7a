"""What all components of a scenario have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cellyard.system.values import as_python


@dataclass(frozen=True, kw_only=True)
class Component:
    """Base of all components. Numbers and arrays of numpy are kept as Python's own numbers and tuples."""

    #: The field that names the component in a scenario file, and that name.
    TAG: ClassVar[Mapping[str, str]] = {}
    #: The attribute with parameters that the user names, if the component takes any. In a scenario
    #: file, they stand beside the other fields.
    OWN: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, as_python(value))
