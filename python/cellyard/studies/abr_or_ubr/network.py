"""The network of every row: n TCPs through two switches, the bottleneck between them, and a VBR source if there is one."""

from collections.abc import Mapping
from typing import Any

import cellyard as cy
from cellyard.study import Row


def dumbbell(
    row: Row,
    *,
    duration: str,
    max_goodput: str,
    rate: str,
    delays: tuple[str, str, str],
    sources: int,
    ports: Mapping[str, Any],
    member: Mapping[str, Any],
    vbr: Mapping[str, Any] | None = None,
    vbr_delay: str = "0 s",
    warm_up: str = "0 s",
) -> cy.Scenario:
    """``sources`` VCs with the fields ``member`` through two switches with the fields ``ports``.

    ``delays`` are those of the links to the first switch, to the second one, and behind it. ``vbr`` are the fields of the VC of
    a VBR source with its own links, of ``vbr_delay`` each. ``warm_up`` is not measured.
    """
    ends = [("source", "west", delays[0]), ("west", "east", delays[1]), ("east", "sink", delays[2])]
    hosts = [cy.Host(name="source", count=sources), cy.Host(name="sink", count=sources)]
    vcs = [cy.Vc(from_="source", to="sink", **member)]
    if vbr is not None:
        ends += [("video", "west", vbr_delay), ("east", "screen", vbr_delay)]
        hosts += [cy.Host(name="video"), cy.Host(name="screen")]
        vcs.append(cy.Vc(name="vbr", from_="video", to="screen", **vbr))
    return cy.Scenario(
        name=f"abr-or-ubr, table {row.table}: " + ", ".join(str(value) for value in row.parameters.values()),
        duration=duration,
        measure=cy.Measure(max_goodput=max_goodput, warm_up=warm_up),
        hosts=hosts,
        switches=[cy.Switch(name=name, **ports) for name in ("west", "east")],
        links=[cy.Link(from_=a, to=b, rate=rate, delay=delay) for a, b, delay in ends],
        vcs=vcs,
        probes=list(row.get("probes", ())),
    )


def vbr(place: Mapping[str, Any]) -> dict[str, Any]:
    """The VBR source of the slides: on at 80 % of the link, then off, from 2 ms on."""
    period = f"{place['vbr_period_ms']} ms"
    return {
        "start": place["vbr_start"],
        "traffic": cy.Vbr(amplitude=place["vbr_amplitude"], on=period, off=period),
    }
