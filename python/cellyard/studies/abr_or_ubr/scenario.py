"""A row of a table -> its scenario: n TCPs through two switches, one bottleneck."""

from collections.abc import Mapping
from typing import Any

import cellyard as cy
from cellyard.studies.abr_or_ubr import abr, network, services
from cellyard.study import Row

#: Tables over ABR.
ABR = ("abr", "abr-sources", "abr-delays")


def scenario(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """The network of ``row``; what the row does not name is as ``shared`` says."""
    if row.table == "services":
        return services.scenario(row, shared)
    return abr.scenario(row, shared) if row.table in ABR else ubr(row, shared)


def ubr(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """The network of a row over UBR."""
    place = shared["ubr"]
    sources = row.get("sources", shared["sources"])
    return network.dumbbell(
        row,
        duration=place["duration"],
        max_goodput=place["max_goodput"],
        rate=place["rate"],
        delays=(shared["delay"],) * 3,
        sources=sources,
        ports={"ubr": cy.Queue(buffer=buffer(row), drop=drop(row, place), rest_of_frame=place["rest_of_frame"])},
        member={"traffic": tcp(row, shared, sources)},
    )


def tcp(row: Row, shared: Mapping[str, Any], sources: int) -> cy.Tcp:
    """The TCP of every source; its initial ssthresh is the receiver window, the default."""
    return cy.Tcp(
        recovery=shared["recovery"],
        mss=f"{shared['mss_bytes']} bytes",
        rwnd=f"{window(row, shared, sources)} bytes",
        granularity=f"{row.get('granularity_ms', shared['granularity_ms'])} ms",
    )


def window(row: Row, shared: Mapping[str, Any], sources: int) -> int:
    """The receiver window in bytes: the row's own, or its share of a round trip of the link's payload over the sources."""
    if "receiver_window_bytes" in row.parameters:
        return int(row["receiver_window_bytes"])
    return round(float(row["window_share"]) * int(shared["ubr"]["round_trip_bytes"]) / sources)


def buffer(row: Row) -> str:
    """K of every port."""
    cells = row.get("buffer_cells")
    return "unlimited" if cells is None else f"{cells} cells"


def drop(row: Row, place: Mapping[str, Any]) -> cy.Drop:
    """EPD where the row says so; rows without loss are of plain UBR."""
    return cy.Epd(reserve=f"{place['epd_reserve_cells']} cells") if row.get("epd") == "yes" else cy.TailDrop()
