"""A row of a table over ABR -> its scenario: n TCPs and a VBR source through two switches, the bottleneck between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import cellyard as cy
from cellyard.study import Row


def scenario(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """The network of ``row``; what the row does not name is as ``shared`` says."""
    place = shared["abr"]
    queue = cy.Queue(feedback=feedback(place))
    if "buffer_cells" in row.parameters:
        queue = replace(queue, buffer=f"{row['buffer_cells']} cells", rest_of_frame=shared["ubr"]["rest_of_frame"])
    sources, vbr = row["sources"], row.get("vbr", "yes") == "yes"
    access, trunk, exit_ = (
        {"rate": place["rate"], "delay": f"{row.get(name, shared['delay'].split()[0])} ms"}
        for name in ("access_ms", "trunk_ms", "exit_ms")
    )
    return cy.Scenario(
        name=f"abr-or-ubr, table {row.table}: " + ", ".join(str(value) for value in row.parameters.values()),
        duration=place["duration" if row.table == "abr" else "own_duration"],
        measure=cy.Measure(max_goodput=place["max_goodput_with_vbr" if vbr else "max_goodput"]),
        hosts=[
            cy.Host(name="source", count=sources),
            cy.Host(name="sink", count=sources),
            *background_hosts(vbr),
        ],
        switches=[cy.Switch(name="west", abr=queue), cy.Switch(name="east", abr=queue)],
        links=[
            cy.Link(from_="source", to="west", **access),
            cy.Link(from_="west", to="east", **trunk),
            cy.Link(from_="east", to="sink", **exit_),
            *background_links(vbr, place["rate"], shared["delay"]),
        ],
        vcs=[
            cy.Vc(
                name="tcp",
                from_="source",
                to="sink",
                class_="abr",
                abr=end_system(row, place),
                traffic=tcp(shared, place),
            ),
            *background(vbr, place),
        ],
        probes=list(row.get("probes", ())),
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


def background_hosts(vbr: bool) -> list[cy.Host]:
    """The ends of the VBR source."""
    return [cy.Host(name="video"), cy.Host(name="screen")] if vbr else []


def background_links(vbr: bool, rate: str, delay: str) -> list[cy.Link]:
    """Its links."""
    ends = (("video", "west"), ("east", "screen")) if vbr else ()
    return [cy.Link(from_=a, to=b, rate=rate, delay=delay) for a, b in ends]


def background(vbr: bool, place: Mapping[str, Any]) -> list[cy.Vc]:
    """The VBR source of the slides: on at 80 % of the link, then off, from 2 ms on."""
    if not vbr:
        return []
    period = f"{place['vbr_period_ms']} ms"
    traffic = cy.Vbr(amplitude=place["vbr_amplitude"], on=period, off=period)
    return [cy.Vc(name="vbr", from_="video", to="screen", start=place["vbr_start"], traffic=traffic)]
