"""A row of the table services -> its scenario: one workload over UBR with each drop policy, GFR and ABR."""

from collections.abc import Mapping
from typing import Any

import cellyard as cy
from cellyard.studies.abr_or_ubr import abr, network
from cellyard.study import Row


def scenario(row: Row, shared: Mapping[str, Any]) -> cy.Scenario:
    """The network of ``row``; what the row does not name is as ``shared`` says."""
    place, common = shared["services"][row["configuration"]], shared["services"]
    vbr, sources = row["vbr"] == "yes", row["sources"]
    scheduler: cy.Scheduler = (
        cy.GuaranteedRate(class_="ubr", gr=common["gr"]) if row["service"] == "guaranteed-rate" else "strict-priority"
    )
    return network.dumbbell(
        row,
        duration=place["duration"],
        max_goodput=place["max_goodput_with_vbr" if vbr else "max_goodput"],
        rate=shared["abr"]["rate"],
        delays=(place["delay"], place["trunk_delay"], place["delay"]),
        sources=sources,
        ports={"scheduler": scheduler, kind(row): queue(row, shared)},
        member={"name": "tcp", **member(row, shared, sources), "traffic": abr.tcp({**shared, **place}, place)},
        vbr=network.vbr(shared["abr"]) if vbr else None,
        vbr_delay=place["delay"],
    )


def kind(row: Row) -> str:
    """The class of the TCPs."""
    return str(row["service"]) if row["service"] in ("abr", "gfr") else "ubr"


def queue(row: Row, shared: Mapping[str, Any]) -> cy.Queue:
    """The queue at every port: of one size in all services."""
    common = shared["services"]
    buffer = f"{common[row['configuration']]['buffer_cells']} cells"
    rest = shared["ubr"]["rest_of_frame"]
    if row["service"] == "abr":
        return cy.Queue(buffer=buffer, feedback=abr.feedback(shared["abr"]), rest_of_frame=rest)
    if row["service"] == "gfr":
        return cy.Queue(buffer=buffer, drop=cy.GcraRoundRobin(threshold=common["gfr_threshold"]))
    policies: dict[str, cy.Drop] = {
        "ubr": cy.TailDrop(),
        "guaranteed-rate": cy.TailDrop(),
        "epd": cy.Epd(reserve=f"{shared['ubr']['epd_reserve_cells']} cells"),
        "selective-drop": cy.SelectiveDrop(r=common["r_fraction"], z=common["z"]),
        "fba": cy.Fba(r=common["r_fraction"], z=common["z"]),
    }
    return cy.Queue(buffer=buffer, drop=policies[row["service"]], rest_of_frame=rest)


def member(row: Row, shared: Mapping[str, Any], sources: int) -> dict[str, Any]:
    """What a VC has besides its ends and its TCP."""
    if row["service"] == "abr":
        return {"class_": "abr", "abr": abr.end_system(row, shared["abr"])}
    if row["service"] == "gfr":
        number, unit = shared["abr"]["rate"].split()
        mcr = f"{round(shared['services']['mcr_fraction'] * float(number) / sources, 6)} {unit}"
        burst = f"{shared['services']['mbs_cells']} cells"
        return {"class_": "gfr", "contract": cy.Contract(pcr=shared["abr"]["rate"], mcr=mcr, mbs=burst)}
    return {"class_": "ubr"}
