"""Common base of the classes of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from cellyard.system.errors import OtherVersionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ResultPart:
    """Base of the classes of results."""

    #: Fields renamed in Python, by their names in the engine's document. The original names are
    #: Python keywords or unclear.
    NAMES: ClassVar[Mapping[str, str]] = {}
    #: Functions that convert the value of a field from the document, where conversion is needed.
    PARTS: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    @classmethod
    def from_document(cls, data: Mapping[str, Any]) -> Self:
        """Create the part from the engine's document.

        Raises `OtherVersionError` unless the document has exactly these fields.
        """
        names = cls.NAMES
        values = {names.get(key, key): value for key, value in data.items()} if names else dict(data)
        for name, make in cls.PARTS.items():
            if name in values:
                values[name] = make(values[name])
        try:
            return cls(**values)
        except TypeError:
            known = {field.name for field in fields(cls)}
            wrong = [f"has no {name}" for name in sorted(known - set(values))]
            wrong += [f"has the unknown field {name}" for name in sorted(set(values) - known)]
            raise OtherVersionError(
                f"the result was made by another version of Cellyard: {cls.__name__} {', '.join(wrong)}"
            ) from None

    def __repr__(self) -> str:
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)
        fields_shown = (f"{name}={value!r}" for name, value in pairs if value is not None)
        return f"{type(self).__name__}({', '.join(fields_shown)})"

    def _repr_html_(self) -> str:
        from cellyard.show.notebook import part_html

        return part_html(self)

    @classmethod
    def numbers(cls) -> dict[str, bool]:
        """Return the fields that are numbers, in order, and whether each is a count."""
        kinds = {field.name: str(field.type).removesuffix(" | None") for field in fields(cls)}
        return {name: kind == "int" for name, kind in kinds.items() if kind in ("int", "float")}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CountPart(ResultPart):
    """Base of the classes that contain a count for each of several parts."""

    @property
    def total(self) -> int:
        """Return the sum of all parts."""
        return sum(getattr(self, name) for name in self.numbers())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ArrayPart(ResultPart):
    """Base of the classes with numpy arrays.

    Objects are equal when all values are equal. Their representation shows the number of values.
    """

    def __eq__(self, other: object) -> bool:
        import numpy as np

        if type(other) is not type(self):
            return NotImplemented
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return all(np.array_equal(a, b) if hasattr(a, "shape") else a == b for a, b in pairs)

    def __hash__(self) -> int:
        values = (getattr(self, field.name) for field in fields(self))
        return hash(tuple(len(value) if hasattr(value, "shape") else value for value in values))

    def __repr__(self) -> str:
        fields_shown = []
        for field in fields(self):
            value = getattr(self, field.name)
            if hasattr(value, "shape"):
                ends = f", {value.min():g} to {value.max():g}" if len(value) else ""
                fields_shown.append(f"{field.name}=<{len(value)} values{ends}>")
            elif value is not None:
                fields_shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(fields_shown)})"


def each(make: Callable[[Any], T]) -> Callable[[list[Any]], tuple[T, ...]]:
    """Return a function that converts every element of a list."""
    return lambda values: tuple(map(make, values))


def array(values: list[float]) -> NDArray[np.float64]:
    """Return numbers as a numpy array. The first call imports numpy."""
    import numpy as np

    return np.asarray(values, float)
