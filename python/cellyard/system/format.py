"""What the cells and frames of a scenario look like, and the ticks of its times, as the engine defines them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Format:
    """Constants of a scenario's cells and frames."""

    #: Bits of a cell on the line; of the longest if they differ.
    cell_bits: int
    #: Bytes of a frame that a cell carries.
    cell_payload_bytes: int
    #: Bytes of a frame with a TCP segment besides its data: headers and trailer.
    segment_overhead_bytes: int
    #: Ticks in one second.
    ticks_per_second: int
    #: What a reader calls a cell: "cell" or "packet". Names of fields and units of scenarios say
    #: "cells" in every format.
    noun: str

    @property
    def cell_bytes(self) -> int:
        """Bytes of a cell on the line; of the longest if they differ.

        >>> aal5().cell_bytes
        53
        """
        return self.cell_bits // 8

    def segment_cells(self, data_bytes: int) -> int:
        """Cells of a frame with this much TCP data.

        >>> aal5().segment_cells(1460), aal5().segment_cells(9140)
        (32, 192)
        """
        return -(-(data_bytes + self.segment_overhead_bytes) // self.cell_payload_bytes)


@cache
def aal5() -> Format:
    """ATM cells of 53 bytes with AAL5 frames."""
    from cellyard import _engine

    return Format(**json.loads(_engine.format_constants()))


def of_scenario(canonical: str) -> Format:
    """The format of a scenario in canonical JSON, of which nothing but the first fields is decoded."""
    from cellyard import _engine

    return Format(**json.loads(_engine.format_constants(canonical)))


def common_noun(nouns: Iterable[str]) -> str:
    """The noun of several formats: "packet" if it is that of all.

    >>> common_noun(["packet", "packet"]), common_noun(["packet", "cell"])
    ('packet', 'cell')
    """
    return "cell" if "cell" in nouns else "packet"
