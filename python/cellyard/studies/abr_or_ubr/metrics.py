"""What no path of study.toml can say: rates of sources that not every network has, and queues of TCPs by place."""

import cellyard as cy
from cellyard.study import Row
from cellyard.system.format import aal5

#: Sources whose rates the tables print.
SOURCES = 5


def metrics(run: cy.RunResult, row: Row) -> dict[str, float | None]:
    """Goodputs of the first five TCPs in Mb/s (none of one that the network lacks), and what became of all their cells."""
    tcps = [vc for vc in run.vcs.values() if vc.carries == "frames"]
    sent = sum(vc.cells_sent for vc in tcps)
    efficiency, delay_s = run.totals.efficiency, run.totals.mean_cell_transfer_delay_s
    return {
        **{f"d{n + 1}_mbps": tcps[n].goodput_mbps if n < len(tcps) else None for n in range(SOURCES)},
        "percent_of_max": None if efficiency is None else 100 * efficiency,
        "cell_loss_percent": 100 * sum(vc.cells_dropped for vc in tcps) / sent if sent else 0.0,
        "queue_round_trips": round_trips(run, row),
        "host_queue_cells": max(float(host_queue(vc)) for vc in tcps),
        "delay_ms": None if delay_s is None else 1e3 * delay_s,
        "vbr_delay_variation_ms": variation_ms(run),
    }


def host_queue(vc: cy.results.VcResult) -> int:
    """Longest queue at a TCP's host: before its end system over ABR, before its link otherwise."""
    return vc.max_host_queue_cells if vc.max_paced_queue_cells is None else vc.max_paced_queue_cells


def round_trips(run: cy.RunResult, row: Row) -> float | None:
    """The longest queue of the bottleneck, in cells that its link sends in a round trip of propagation; none of rows that name no VBR."""
    if "vbr" not in row.parameters or "service" in row.parameters:
        return None
    way_ms: float = row.get("access_ms", 5) + 5 + row.get("exit_ms", 5)
    port = run.ports["west->east"]
    return port.max_queue_cells / (port.rate_mbps * 1e3 * 2 * way_ms / aal5().cell_bits)


def variation_ms(run: cy.RunResult) -> float | None:
    """How much the delay of VBR's cells varies."""
    vbr = run.classes.get("vbr")
    found = vbr.cell_delay_variation_s if vbr else None
    return None if found is None else 1e3 * found
