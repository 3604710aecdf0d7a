"""A row of a table -> its scenario: servers, two switches, clients, one bottleneck (figures 4 and 5 of the text)."""

from collections.abc import Mapping
from typing import Any, Literal

import cellyard as cy
from cellyard.study import Row
from cellyard.system.format import aal5

#: The congested port.
PORT = "west->east"

#: Policies that send what is left of a damaged frame, as they know nothing of frames.
PLAIN = ("tail-drop", "cell-red", "drop-from-front")

#: TCP and IP headers, in bytes.
HEADER_BYTES = 40

#: Header, check sequence, preamble and gap of an Ethernet frame, in bytes.
ETHERNET_BYTES = 14 + 4 + 8 + 12


def scenario(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """The network of ``row``; what the row does not name is as ``shared`` says."""
    place = shared[row["environment"]]
    sources = row.get("sources", place["sources"])
    plain = row["drop_policy"] in PLAIN
    rest: Literal["accept", "drop-but-eom"] = "accept" if plain else "drop-but-eom"
    queue = cy.Queue(buffer=f"{shared['buffer_cells']} cells", drop=drop(row), rest_of_frame=rest)
    feed = None if place["feed"] == "cells" else ethernet(row["mss_bytes"])
    delay = place["delay"]
    return cy.Scenario(
        name=f"cell-discard, table {row.table}: " + ", ".join(str(value) for value in row.parameters.values() if value),
        duration=place["duration"],
        ensemble=cy.Ensemble(start_jitter=place["start_jitter"]),
        measure=cy.Measure(max_goodput=f"{sources * ideal_bps(place['rate'], sources, row['mss_bytes'])} bps"),
        hosts=[cy.Host(name="server", count=sources, processing=feed), cy.Host(name="client", count=sources)],
        switches=[cy.Switch(name="west", ubr=queue), cy.Switch(name="east", ubr=queue)],
        links=[
            cy.Link(from_="server", to="west", rate=place["server_rate"], delay=delay),
            cy.Link(from_="west", to="east", rate=place["rate"], delay=delay),
            cy.Link(from_="east", to="client", rate=place["down_rate"], delay=delay, duplex=False),
            cy.Link(from_="client", to="east", rate=place["up_rate"], delay=delay, duplex=False),
        ],
        vcs=[cy.Vc(from_="server", to="client", traffic=tcp(row, shared, place))],
        probes=list(row.get("probes", ())),
    )


def tcp(row: Row, shared: Mapping[str, Any], place: Mapping[str, Any]) -> cy.Tcp:
    """The TCP of every server: files one after the other."""
    return cy.Tcp(
        recovery=shared["recovery"],
        mss=f"{row['mss_bytes']} bytes",
        rwnd=f"{place['rwnd_bytes']} bytes",
        granularity=shared["granularity"],
        delayed_ack=shared["delayed_ack"],
        initial_rto=shared["initial_rto"],
        file_size=f"{place['file_bytes']} bytes",
        files="unlimited",
        next_file=shared["next_file"],
        both_ways=row.get("two_way") == "yes",
    )


def drop(row: Row) -> cy.Drop:
    """The drop policy of a row with its parameters."""
    given = parameters(row["parameters"])
    cells = {key: f"{value:g} cells" for key, value in given.items() if isinstance(value, float) and value > 1}
    match row["drop_policy"]:
        case "tail-drop":
            return cy.TailDrop()
        case "ppd":
            return cy.Ppd()
        case "epd":
            return cy.Epd(threshold=cells.get("threshold", given.get("threshold")))
        case "fba":
            return cy.Fba(k_fba=cells["K"], r=cells["R"], z=given["Z"])
        case "selective-drop":
            return cy.SelectiveDrop(r=given["R"], z=given["Z"])
        case "drop-from-front":
            return cy.DropFromFront()
        case "drop-from-front-frames":
            return cy.FrameDropFromFront()
        case name:
            return red(name, row["mss_bytes"], given, cells, spares=row.get("spare_short_frames") == "yes")


def red(
    name: str, mss_bytes: int, given: Mapping[str, Any], cells: Mapping[str, str], *, spares: bool = False
) -> cy.Drop:
    """ATM-RED, or one of the proposals before it."""
    curve = {"w_q": given["w_q"], "max_p": given["max_p"], "min_th": cells["min_th"], "max_th": cells["max_th"]}
    segment = f"{aal5().segment_cells(mss_bytes)} cells"
    if name == "cell-red":
        return cy.CellRed(**curve, segment_cells=segment)
    if name == "packet-red":
        return cy.PacketRed(**curve)
    average, spacing = given.get("average", "cell"), given.get("spacing", "no") == "yes"
    return cy.AtmRed(**curve, segment_cells=segment, average=average, spacing=spacing, spare_short_frames=spares)


def parameters(text: str) -> dict[str, float | str]:
    """Parameters as the tables print them; a remark in parentheses is left out.

    >>> parameters("threshold=7373 (90%)"), parameters("threshold=90%"), parameters("average=cell")
    ({'threshold': 7373.0}, {'threshold': 0.9}, {'average': 'cell'})
    """
    found: dict[str, float | str] = {}
    for part in text.split():
        if "=" not in part:
            continue
        name, _, value = part.partition("=")
        if value.endswith("%"):
            found[name] = float(value[:-1]) / 100
        else:
            found[name] = float(value) if value[:1].isdigit() else value
    return found


def ideal_bps(rate: str, sources: int, mss_bytes: int) -> int:
    """A source's equal part of the data that the bottleneck can carry, bits per second: sections 4.1 and 4.2 round these.

    >>> [ideal_bps("149.76 Mbps", 10, mss) for mss in (1460, 9140)]
    [12892075, 13451320]
    >>> [ideal_bps("33.92 Mbps", 50, mss) for mss in (1460, 9140)]
    [584000, 609333]
    """
    number, unit = rate.split()
    assert unit == "Mbps"
    return int(float(number) * 1e6 / sources * mss_bytes / (aal5().segment_cells(mss_bytes) * aal5().cell_bytes))


def ethernet(mss_bytes: int) -> cy.Processing:
    """What a segment takes on 10 Mb/s Ethernet before its cells leave; one frame, regardless of its size."""
    frame_bytes = mss_bytes + HEADER_BYTES + ETHERNET_BYTES
    return cy.ServerProcessing(per="frame", mean=f"{frame_bytes * 800} ns")
