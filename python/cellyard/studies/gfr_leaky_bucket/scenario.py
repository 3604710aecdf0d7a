"""A row of a table -> its scenario: ten VCs through one congested link, or a chain of four switches (figures 4-2 to 4-4).

The rows of the VCs of one scheme and network are one scenario: nothing in it depends on the row's VC.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import cellyard as cy
from cellyard.scenario import networks
from cellyard.study import Row

#: The congested link of ten VCs, and of the chain those between its switches.
PORT = "west->east"

#: Whose window, queue and rates are watched in rows of the table short-term.
WATCHED = ("VC5", "VC10")


def scenario(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """The network of ``row``; what the row does not name is as ``shared`` says."""
    return chain(row, shared) if row["network"] == "chain" else ten_vcs(row, shared)


def ten_vcs(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """Networks 1 and 2: VC1 to VC5 and VC6 to VC10 between two switches, with five minimum rates twice."""
    bottleneck = port(row, shared)
    size = row.get("packet_bytes", shared["packet_bytes"])
    rates = [*shared["mcr_mbps"], *shared["mcr_mbps"]]
    hosts, access, vcs = [], [], []
    for number, mcr in enumerate(rates, start=1):
        far = number > len(rates) // 2
        is_udp = row["network"] == "tcp-udp" and far
        round_trip_ms = (
            shared["far_round_trip_ms"] if far and row["network"] == "peer-to-peer" else shared["round_trip_ms"]
        )
        delay = {"rate": shared["rate"], "delay": access_delay(round_trip_ms, shared)}
        hosts += [host(f"{end}{number}", shared) for end in ("source", "sink")]
        access += [
            cy.Link(from_=f"source{number}", to="west", **delay),
            cy.Link(from_="east", to=f"sink{number}", **delay),
        ]
        traffic = cy.Udp(datagram_size=f"{size} bytes") if is_udp else tcp(size, shared)
        vcs.append(
            cy.Vc(name=f"VC{number}", from_=f"source{number}", to=f"sink{number}", **member(traffic, mcr, row, shared))
        )
    return cy.Scenario(
        name=name(row),
        **times(row, shared),
        hosts=hosts,
        switches=[cy.Switch(name=switch, processing=switching(shared)) for switch in ("west", "east")],
        links=[
            *access,
            cy.Link(from_="west", to="east", rate=shared["rate"], delay=shared["host_delay"], **bottleneck),
        ],
        vcs=vcs,
        probes=probes(row, shared, [f"VC{number}" for number in range(1, len(rates) + 1)]),
    )


def chain(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """Network 3: group A over three congested links, B, C and D over one each."""
    traffic = tcp(shared["chain_packet_bytes"], shared)
    groups = "ABCD"
    vcs = [f"{group}{number}" for group in groups for number in range(1, len(shared["chain_mcr_mbps"]) + 1)]
    return networks.parking_lot(
        3,
        [member(traffic, mcr, row, shared) for mcr in shared["chain_mcr_mbps"]],
        groups=groups,
        rate=shared["rate"],
        delay=shared["trunk_delay"],
        access_delay=shared["host_delay"],
        port=port(row, shared),
        host_processing=host_processing(shared),
        switch_processing=switching(shared),
        name=name(row),
        **times(row, shared),
        probes=probes(row, shared, vcs),
    )


def name(row: Row) -> str:
    """What all rows of one run have in common."""
    own = f", packets of {row['packet_bytes']} bytes" if "packet_bytes" in row.parameters else ""
    return f"gfr-leaky-bucket, scheme {row['scheme']}, {row['network']}{own}"


def times(row: Row, shared: Mapping[str, Any]) -> dict[str, Any]:
    """How long a run is and what of it counts: the short term is watched once the bursts that the buckets allow are over."""
    which = "short_term_" if "packet_bytes" in row.parameters else ""
    return {
        "duration": shared[f"{which}duration"],
        "measure": cy.Measure(warm_up=shared[f"{which}warm_up"]),
        "ensemble": cy.Ensemble(start_jitter=shared["start_jitter"]),
    }


def member(traffic: cy.Traffic, mcr: float, row: Row, shared: Mapping[str, Any]) -> dict[str, Any]:
    """What a VC has besides its ends."""
    rate = f"{mcr} Mbps"
    contract = cy.Contract(pcr=shared["pcr"], cdvt=shared["cdvt"], mcr=rate, mbs=f"{shared['mbs_cells']} cells")
    weighted = {"guarantee": rate} if row["scheme"] == "weighted" else {}
    return {"class_": "gfr", "traffic": traffic, "contract": contract, **weighted}


def port(row: Row, shared: Mapping[str, Any]) -> dict[str, Any]:
    """Queue and scheduler of a congested link."""
    threshold = f"{shared['threshold_cells']} cells"
    low = f"{shared['low_threshold_cells']} cells"
    if row["scheme"] == "weighted":
        # Once half of the buffer that the queues share is full, no VC gets in that holds more than an equal part.
        drop = cy.SelectiveDrop(r=0.5, z=1)
        queue = cy.Queue(buffer=f"{shared['weighted_buffer_cells']} cells", drop=drop)
        return {"gfr": queue, "scheduler": cy.PerVc(class_="gfr")}
    policies: dict[Any, cy.Drop] = {
        1: cy.GcraEpd(threshold=threshold),
        2: cy.GcraRoundRobin(threshold=threshold),
        "chapter-8": cy.GcraTwoThresholds(low=low, threshold=threshold),
        "dfba": cy.Dfba(low=low, high=threshold),
    }
    return {"gfr": cy.Queue(drop=policies[row["scheme"]])}


def tcp(packet_bytes: int, shared: Mapping[str, Any]) -> cy.Tcp:
    """A TCP whose segments carry ``packet_bytes`` of data."""
    return cy.Tcp(
        recovery="reno",
        mss=f"{packet_bytes} bytes",
        rwnd=f"{shared['rwnd_bytes']} bytes",
        granularity=shared["granularity"],
        initial_rto=shared["initial_rto"],
        processing=cy.ServerProcessing(per="frame", mean=shared["packet_time"], spread=shared["packet_time_spread"]),
    )


def host(name: str, shared: Mapping[str, Any]) -> cy.Host:
    """An end system."""
    return cy.Host(name=name, processing=host_processing(shared))


def host_processing(shared: Mapping[str, Any]) -> cy.Processing:
    """The delay of a host."""
    return cy.LatencyProcessing(per="frame", mean=shared["host_time"])


def switching(shared: Mapping[str, Any]) -> cy.Processing:
    """The delay of a switch."""
    return cy.LatencyProcessing(per="cell", mean=shared["switch_time"])


def access_delay(round_trip_ms: float, shared: Mapping[str, Any]) -> str:
    """One of the two links of hosts on a way with so long a round trip of propagation, that between the switches being short."""
    host_ns = float(shared["host_delay"].split()[0])
    return f"{(round_trip_ms * 1e6 / 2 - host_ns) / 2:.0f} ns"


def probes(row: Row, shared: Mapping[str, Any], vcs: Iterable[str]) -> list[Any]:
    """What is recorded: in rows that ask for it the short term, else what the row brings, else the goodput of each half of the run."""
    own = row.get("probes", ())
    if "packet_bytes" in row.parameters:
        return [
            cy.CwndProbe(of="VC10", interval="10 ms"),
            cy.QueueProbe(of=PORT, interval="10 ms"),
            *(cy.GoodputProbe(of=vc, interval="500 ms") for vc in WATCHED),
            *own,
        ]
    return list(own) or [cy.GoodputProbe(of=vc, interval=shared["half"]) for vc in vcs]
