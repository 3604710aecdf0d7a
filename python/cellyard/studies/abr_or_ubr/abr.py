"""A row of a table over ABR -> its scenario: n TCPs and a VBR source through two switches, the bottleneck between them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import cellyard as cy
from cellyard.studies.abr_or_ubr import network
from cellyard.study import Row


def scenario(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """The network of ``row``; what the row does not name is as ``shared`` says."""
    place = shared["abr"]
    queue = cy.Queue(feedback=feedback(place))
    if "buffer_cells" in row.parameters:
        queue = replace(queue, buffer=f"{row['buffer_cells']} cells", rest_of_frame=shared["ubr"]["rest_of_frame"])
    slides = row.table == "abr"
    vbr = row.get("vbr", "yes") == "yes"
    own = [f"{row[name]} ms" if name in row.parameters else shared["delay"] for name in ("access_ms", "exit_ms")]
    return network.dumbbell(
        row,
        duration=place["duration" if slides else "own_duration"],
        warm_up=place["warm_up"] if slides else "0 s",
        max_goodput=place["max_goodput_with_vbr" if vbr else "max_goodput"],
        rate=place["rate"],
        delays=(own[0], shared["delay"], own[1]),
        sources=row["sources"],
        ports={"abr": queue},
        member={"name": "tcp", "class_": "abr", "abr": end_system(row, place), "traffic": tcp(shared, place)},
        vbr=network.vbr(place) if vbr else None,
        vbr_delay=shared["delay"],
    )


def feedback(place: Mapping[str, Any]) -> cy.Erica:
    """ERICA as all switches run it."""
    return cy.Erica(target=place["target"], interval=place["interval"], max_alloc_previous=place["max_alloc_previous"])


def end_system(row: Row, place: Mapping[str, Any]) -> cy.Abr:
    """The end systems of a TCP."""
    return cy.Abr(rif=place["rif"], cdf=place["cdf"], tbe=f"{row.get('tbe_cells', place['tbe_cells'])} cells")


def tcp(shared: Mapping[str, Any], place: Mapping[str, Any]) -> cy.Tcp:
    """The TCP of every source."""
    return cy.Tcp(
        recovery=shared["recovery"],
        mss=f"{shared['mss_bytes']} bytes",
        rwnd=f"{place['rwnd_bytes']} bytes",
        granularity=f"{shared['granularity_ms']} ms",
    )
