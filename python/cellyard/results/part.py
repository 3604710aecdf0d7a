"""What the classes of results have in common."""

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

    #: Fields by their name in the engine's document, where that is a keyword of Python or says less than it could.
    NAMES: ClassVar[Mapping[str, str]] = {}
    #: What makes the value of a field from the document's, where it is not that value itself.
    PARTS: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    @classmethod
    def from_document(cls, data: Mapping[str, Any]) -> Self:
        """The part from the engine's document of it; raises `OtherVersionError` unless that has exactly these fields."""
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
            wrong += [f"has {name}, which is not known" for name in sorted(set(values) - known)]
            raise OtherVersionError(
                f"the result is of another version of Cellyard: {cls.__name__} {', '.join(wrong)}"
            ) from None

    def __repr__(self) -> str:
        told = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)
        shown = (f"{name}={value!r}" for name, value in told if value is not None)
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        from cellyard.show.notebook import part_html

        return part_html(self)

    @classmethod
    def numbers(cls) -> dict[str, bool]:
        """The fields that are numbers, in order, and of each whether it is a count."""
        kinds = {field.name: str(field.type).removesuffix(" | None") for field in fields(cls)}
        return {name: kind == "int" for name, kind in kinds.items() if kind in ("int", "float")}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CountPart(ResultPart):
    """Base of the classes that tell a count part by part."""

    @property
    def total(self) -> int:
        """All of them."""
        return sum(getattr(self, name) for name in self.numbers())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ArrayPart(ResultPart):
    """Base of the classes with numpy arrays, which are equal where all their values are, and are shown by their length."""

    def __eq__(self, other: object) -> bool:
        import numpy as np

        if type(other) is not type(self):
            return NotImplemented
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return all(np.array_equal(one, its) if hasattr(one, "shape") else one == its for one, its in pairs)

    def __hash__(self) -> int:
        values = (getattr(self, field.name) for field in fields(self))
        return hash(tuple(len(value) if hasattr(value, "shape") else value for value in values))

    def __repr__(self) -> str:
        shown = []
        for field in fields(self):
            value = getattr(self, field.name)
            if hasattr(value, "shape"):
                ends = f", {value.min():g} to {value.max():g}" if len(value) else ""
                shown.append(f"{field.name}=<{len(value)} values{ends}>")
            elif value is not None:
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def each(make: Callable[[Any], T]) -> Callable[[list[Any]], tuple[T, ...]]:
    """Makes every element of a list."""
    return lambda values: tuple(map(make, values))


def array(values: list[float]) -> NDArray[np.float64]:
    """Numbers as a numpy array, which is imported by the first of them."""
    import numpy as np

    return np.asarray(values, float)
