"""A row of a table -> its scenario: N TCPs and one VBR source through two switches (figure 3 and section 4.1)."""

from collections.abc import Mapping
from typing import Any

import cellyard as cy
from cellyard.study import Row
from cellyard.system.format import aal5


def scenario(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """The network of ``row``; what the row does not name is as ``shared`` says."""
    place = shared[row["configuration"]]
    two_way = row.get("traffic") == "two-way"
    scheduler = scheduling(row, shared)
    queue = cy.Queue(buffer=f"{row['buffer_cells']} cells", drop=drop(row, shared))
    access = {"rate": shared["rate"], "delay": place["delay"]}
    return cy.Scenario(
        name=f"guaranteed-rate, table {row.table}: " + ", ".join(str(value) for value in row.parameters.values()),
        duration=place["duration"],
        ensemble=cy.Ensemble(vbr_phase=place["vbr_phase_drawn"]),
        measure=cy.Measure(max_goodput=max_goodput(shared, two_way)),
        hosts=[
            cy.Host(name="source", count=row["sources"]),
            cy.Host(name="video"),
            cy.Host(name="sink", count=row["sources"]),
            cy.Host(name="screen"),
        ],
        switches=[
            cy.Switch(name=name, ubr=queue, vbr=vbr_queue(row), scheduler=scheduler) for name in ("west", "east")
        ],
        links=[
            cy.Link(from_="source", to="west", **access),
            cy.Link(from_="video", to="west", **access),
            cy.Link(from_="west", to="east", rate=shared["rate"], delay=place["trunk_delay"]),
            cy.Link(from_="east", to="sink", **access),
            cy.Link(from_="east", to="screen", **access),
        ],
        vcs=vcs(row, shared, place, two_way),
        probes=list(row.get("probes", ())),
    )


def scheduling(row: Row, shared: Mapping[str, Any]) -> cy.Scheduler:
    """The scheduler of every port."""
    guarantee = row.get("guarantee", "class")
    if guarantee == "per-vc":
        return cy.PerVc(class_="ubr")
    gr = row.get("gr", shared["class_gr"] if "guarantee" in row.parameters else shared["gr"])
    return cy.GuaranteedRate(class_="ubr", gr=gr) if gr and guarantee != "none" else "strict-priority"


def vbr_queue(row: Row) -> cy.Queue | None:
    """The queue of the VBR class: unlimited unless the row says otherwise."""
    buffer = row.get("vbr_buffer", "unlimited")
    return None if buffer == "unlimited" else cy.Queue(buffer=f"{buffer} cells")


def vcs(row: Row, shared: Mapping[str, Any], place: Mapping[str, Any], two_way: bool) -> list[cy.Vc]:
    """The TCPs, then the VBR source; the same back if the traffic is two-way."""
    recovery = row.get("tcp", shared["tcp"])
    own = {"reno_fast_retransmit": row["reno_fast_retransmit"]} if "reno_fast_retransmit" in row.parameters else {}
    tcp = cy.Tcp(
        recovery=recovery,
        mss=f"{place['mss_bytes']} bytes",
        rwnd=f"{place['rwnd_bytes']} bytes",
        granularity=f"{shared['granularity_ms']} ms",
        **own,
    )
    period = f"{row.get('vbr_period_ms', shared['vbr_period_ms'])} ms"
    vbr = cy.Vbr(amplitude=shared["vbr_amplitude"], on=period, off=period)
    there = [
        *tcps(row, shared, tcp),
        cy.Vc(name="vbr", from_="video", to="screen", traffic=vbr),
    ]
    back = [
        cy.Vc(name="tcp-back", from_="sink", to="source", traffic=tcp),
        cy.Vc(name="vbr-back", from_="screen", to="video", traffic=vbr),
    ]
    return [*there, *back] if two_way else there


def tcps(row: Row, shared: Mapping[str, Any], tcp: cy.Tcp) -> list[cy.Vc]:
    """The VCs of the TCPs, with what is guaranteed to each by the scheduler, or to the buckets of the drop policy."""
    if row.get("guarantee", "class") in ("none", "class"):
        return [cy.Vc(name="tcp", from_="source", to="sink", traffic=tcp)]
    by_scheduler, burst = row["guarantee"] == "per-vc", f"{row['buffer_cells']} cells"
    return [
        cy.Vc(
            name=f"tcp{number}",
            from_=f"source{number}",
            to=f"sink{number}",
            traffic=tcp,
            guarantee=f"{rate} Mbps" if by_scheduler else None,
            contract=None if by_scheduler else cy.Contract(pcr=shared["rate"], mcr=f"{rate} Mbps", mbs=burst),
        )
        for number, rate in enumerate(shared["guarantees_mbps"], 1)
    ]


def goodput_of(rate_mbps: float, mss_bytes: int) -> float:
    """The goodput that a rate of cells is, in Mb/s.

    >>> round(goodput_of(155.52, 512), 3)
    125.198
    """
    return rate_mbps * mss_bytes / (aal5().cell_bytes * aal5().segment_cells(mss_bytes))


def drop(row: Row, shared: Mapping[str, Any]) -> cy.Drop:
    """The drop policy of the UBR class."""
    policies: dict[str, cy.Drop] = {
        "tail-drop": cy.TailDrop(),
        "epd": cy.Epd(reserve=f"{shared['epd_reserve_cells']} cells"),
        "selective-drop": cy.SelectiveDrop(r=shared["r_fraction"], z=shared["z"]),
        "gcra-round-robin": cy.GcraRoundRobin(threshold=shared["threshold"]),
    }
    return policies[row["drop_policy"]]


def max_goodput(shared: Mapping[str, Any], two_way: bool) -> str:
    """What the TCPs could get alongside VBR at most: once per direction with data."""
    if not two_way:
        return str(shared["max_goodput"])
    number, unit = shared["max_goodput"].split()
    return f"{2 * float(number)} {unit}"
