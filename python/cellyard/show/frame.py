"""Converts records to frames of polars or pandas, which are imported only here."""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from cellyard.system.errors import UsageError, unknown

#: Supported libraries.
LIBRARIES = ("polars", "pandas")


def points_frame(heads: Sequence[Mapping[str, Any]], arrays: Mapping[str, Sequence[Any]], kind: str = "polars") -> Any:
    """A frame of the points of ``arrays``, one array for each head, with the columns of the heads first.

    There may be tens of millions of points, so no record is made of each. In pandas, the repeated
    texts are categories.
    """
    found = records_frame(heads, kind)
    if not heads:
        return found
    import numpy as np

    columns = {name: np.concatenate(list(parts)) for name, parts in arrays.items()}
    lengths = [len(part) for part in next(iter(arrays.values()))]
    lines = np.repeat(np.arange(len(heads), dtype=np.uint32), lengths)
    if kind == "polars":
        return found[lines].with_columns(**columns)
    texts = {name: "category" for name in found if any(isinstance(head.get(name), str) for head in heads)}
    return found.astype(texts).take(lines).reset_index(drop=True).assign(**columns)


def records_frame(records: Sequence[Mapping[str, Any]], kind: str = "polars") -> Any:
    """A frame of records, with empty cells for missing fields; raises `UsageError` when the library is missing."""
    if kind not in LIBRARIES:
        raise unknown("kind of frame", str(kind), LIBRARIES)
    try:
        library: Any = importlib.import_module(kind)
    except ImportError:
        raise UsageError(f"frames of {kind} need the package {kind}: pip install {kind}") from None
    names = list(dict.fromkeys(name for record in records for name in record))
    data = {name: [record.get(name) for record in records] for name in names}
    return library.DataFrame(data, strict=False) if kind == "polars" else library.DataFrame(data)
