"""A row of a table -> its scenario: N sources, two switches, N sinks, one bottleneck (figure 2 of the text)."""

from collections.abc import Mapping
from typing import Any

import cellyard as cy
from cellyard.study import Row
from cellyard.system.format import aal5


def scenario(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """The network of ``row``; what the row does not name is as ``shared`` says."""
    place = shared[row["configuration"]]
    mss = row.get("mss_bytes", shared["mss_bytes"])
    two_way = row.get("traffic") == "two-way"
    queue = cy.Queue(buffer=buffer(row), drop=drop(row, shared))
    link = {"rate": shared["rate"], "delay": place["delay"]}
    return cy.Scenario(
        name=f"ubr-plus, table {row.table}: " + ", ".join(str(value) for value in row.parameters.values()),
        duration=place["duration"],
        measure=cy.Measure(max_goodput=f"{(1 + two_way) * max_goodput_bps(mss)} bps"),
        hosts=[cy.Host(name="source", count=row["sources"]), cy.Host(name="sink", count=row["sources"])],
        switches=[cy.Switch(name="west", ubr=queue), cy.Switch(name="east", ubr=queue)],
        links=[
            cy.Link(from_="source", to="west", **link),
            cy.Link(from_="west", to="east", **link),
            cy.Link(from_="east", to="sink", **link),
        ],
        vcs=[
            cy.Vc(from_="source", to="sink", traffic=tcp(row, shared, place, mss)),
            *([cy.Vc(name="back", from_="sink", to="source", traffic=tcp(row, shared, place, mss))] if two_way else []),
        ],
        probes=list(row.get("probes", ())),
    )


def tcp(row: Row, shared: Mapping[str, Any], place: Mapping[str, Any], mss: int) -> cy.Tcp:
    """The TCP of every source."""
    rwnd = row.get("rwnd_bytes", place["rwnd_bytes"])
    return cy.Tcp(
        recovery=shared["recovery"],
        mss=f"{mss} bytes",
        rwnd=f"{rwnd} bytes",
        initial_ssthresh=f"{shared['initial_ssthresh_bytes']} bytes",
        granularity=f"{row.get('granularity_ms', shared['granularity_ms'])} ms",
        both_ways=row.get("traffic") == "both-ways",
    )


def buffer(row: Row) -> str:
    """K of every port."""
    cells = row.get("buffer_cells")
    return "unlimited" if cells is None else f"{cells} cells"


def drop(row: Row, shared: Mapping[str, Any]) -> cy.Drop:
    """The drop policy: named by the row, or implied by its table."""
    r, z = row.get("r_fraction", shared["r_fraction"]), row.get("z", shared["z"])
    implied = "fba" if "r_fraction" in row.parameters else "selective-drop" if "z" in row.parameters else "tail-drop"
    policies: dict[str, cy.Drop] = {
        "tail-drop": cy.TailDrop(),
        "epd": cy.Epd(reserve=f"{shared['epd_reserve_cells']} cells"),
        "selective-drop": cy.SelectiveDrop(r=r, z=z),
        "fba": cy.Fba(r=r, z=z),
    }
    return policies[row.get("drop_policy", implied)]


def max_goodput_bps(mss: int, rate_bps: int = 155_520_000) -> int:
    """Largest possible sum of goodputs: the payload share of the line rate (section 3.2).

    >>> max_goodput_bps(512)
    125198491
    """
    return round(rate_bps * mss / (aal5().segment_cells(mss) * aal5().cell_bytes))
