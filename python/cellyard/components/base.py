"""What all components of a scenario have in common."""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, dataclass_transform

from cellyard.system.values import as_python


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Component:
    """Base of all components, which are frozen data classes with keyword arguments.

    Numbers and arrays of numpy are kept as Python's own numbers and tuples.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    #: The field that names the component in a scenario file, and that name.
    TAG: ClassVar[Mapping[str, str]] = {}
    #: The attribute with parameters that the user names, if the component takes any. In a scenario
    #: file, they stand next to the other fields.
    OWN: ClassVar[str] = ""

    def __init_subclass__(cls, **tag: str) -> None:
        """Make a class of components of a class; ``tag`` is its `TAG`."""
        super().__init_subclass__()
        cls.TAG = tag
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, as_python(value))
