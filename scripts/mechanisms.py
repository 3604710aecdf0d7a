"""Write docs/mechanisms.md and its figure, which compare all discard and rate mechanisms.

Each mechanism runs on one network of each kind that occurs in the studies:

    python scripts/mechanisms.py --replications 10

The networks are rows of studies, with the buffers stated there. Only the mechanism changes, and no
parameter is tuned to a network.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import cellyard as cy
from cellyard import plot
from cellyard.study import load, select

ROOT = Path(__file__).resolve().parent.parent
PAGE, FIGURE = ROOT / "docs" / "mechanisms.md", ROOT / "docs" / "figures" / "mechanisms.png"
PORT = "west->east"


@dataclass(frozen=True)
class Network:
    """A network: a row of a study, with a description."""

    name: str
    text: str
    study: str
    table: str
    where: Mapping[str, Any]

    def scenario(self) -> cy.Scenario:
        """Return the scenario of the row, as in the study."""
        study = load(self.study)
        (row,) = select(study, [self.table]).where(**self.where)
        return study.scenario(row)


@dataclass(frozen=True)
class Mechanism:
    """A configuration of the bottleneck: service class, queue, and what else the mechanism needs."""

    name: str
    #: State that the switch keeps for each VC.
    state: str
    drop: Any = "tail-drop"
    class_: str = "ubr"
    scheduler: Any = None
    feedback: Any = None
    contract: bool = False


NETWORKS = (
    Network("LAN", "15 endless TCPs (Vanilla), K = 1000, round trip 30 us", "ubr-plus", "2-3",
            {"configuration": "lan", "sources": 15, "buffer_cells": 1000, "drop_policy": "tail-drop"}),
    Network("WAN", "15 endless TCPs (Vanilla), K = 12000, round trip 30 ms", "ubr-plus", "2-3",
            {"configuration": "wan", "sources": 15, "buffer_cells": 12000, "drop_policy": "tail-drop"}),
    Network("WAN, VBR", "15 endless TCPs (Vanilla) under VBR that takes 80 % of the link half of the time, K = 12000",
            "abr-or-ubr", "services",
            {"configuration": "wan", "sources": 15, "vbr": "yes", "service": "ubr"}),
    Network("satellite", "5 endless TCPs (Vanilla), K = 200000, round trip 550 ms", "abr-or-ubr", "services",
            {"configuration": "satellite", "sources": 5, "vbr": "no", "service": "ubr"}),
    Network("LAN, files", "10 TCPs (Reno) with files of 5 MB, K = 8192, MSS 1460", "cell-discard", "1-2",
            {"environment": "lan", "mss_bytes": 1460, "drop_policy": "tail-drop"}),
    Network("access, files", "50 TCPs (Reno) with files of 512 kB through 34 Mb/s to lines of 2 Mb/s, K = 8192, MSS 1460",
            "cell-discard", "1-2",
            {"environment": "access", "mss_bytes": 1460, "drop_policy": "tail-drop"}),
)  # fmt: skip

#: Burst size of the GFR contracts: 10 MB, as in `gfr-leaky-bucket`.
BURST_CELLS = 188_679

RED = {"w_q": 0.002, "max_p": 0.1, "min_th": 0.25, "max_th": 0.75}

#: Name of the ideal mechanism. It is shown for comparison and never counts as the best, as no
#: switch can know all rates of a network.
IDEAL = "ABR, rates known"

MECHANISMS = (
    Mechanism("tail drop", "-"),
    Mechanism("PPD", "1 bit", cy.Ppd()),
    Mechanism("drop from front", "1 bit", cy.DropFromFront()),
    Mechanism("drop from front, frames", "1 bit", cy.FrameDropFromFront()),
    Mechanism("EPD", "1 bit", cy.Epd(threshold=0.9)),
    Mechanism("Selective Drop", "count", cy.SelectiveDrop(r=0.9, z=0.8)),
    Mechanism("FBA", "count", cy.Fba(r=0.9, z=0.8)),
    Mechanism("cell-RED", "-", "cell-red"),
    Mechanism("packet-RED", "count", "packet-red"),
    Mechanism("ATM-RED", "2 bits", "atm-red"),
    Mechanism("GFR, scheme one", "bucket", cy.GcraEpd(threshold=0.5), "gfr", contract=True),
    Mechanism("GFR, scheme two", "bucket", cy.GcraRoundRobin(threshold=0.5), "gfr", contract=True),
    Mechanism("GFR, two thresholds", "buckets", cy.GcraTwoThresholds(low=0.25, threshold=0.5), "gfr", contract=True),
    Mechanism("GFR, DFBA", "rate, count", cy.Dfba(low=0.5, high=0.9), "gfr", contract=True),
    Mechanism("per-VC scheduling", "queue", cy.SelectiveDrop(r=0.5, z=1), scheduler=cy.PerVc(class_="ubr")),
    Mechanism("guaranteed rate 0.5", "-", scheduler=cy.GuaranteedRate(class_="ubr", gr=0.5)),
    Mechanism("ABR, EFCI", "-", class_="abr", feedback="efci"),
    Mechanism("ABR, relative rate", "-", class_="abr", feedback="relative-rate"),
    Mechanism("ABR, ERICA", "rate", class_="abr", feedback=cy.Erica()),
    Mechanism("ABR, ERICA+", "rate", class_="abr", feedback=cy.EricaPlus()),
    Mechanism(IDEAL, "rate", class_="abr", feedback=cy.OracleRate()),
)


def scenario_with(network: Network, mechanism: Mechanism) -> cy.Scenario:
    """Return the scenario of the network with the mechanism at all ports of its switches."""
    base = network.scenario()
    data = base.to_dict()
    (queue,) = (queue for queue in data["switches"][0]["queues"] if queue["class"] == "ubr")
    buffer = f"{queue['buffer']} cells"
    tcps = [vc for vc in data["vcs"] if vc["traffic"]["kind"] == "tcp"]
    values: dict[str, Any] = {}
    for switch in ("west", "east"):
        values[f"switch.{switch}.{mechanism.class_}"] = cy.Queue(
            buffer=buffer,
            drop=drop_policy(mechanism, tcps[0]["traffic"]["mss"]),
            feedback=feedback(mechanism, queue["buffer"]),
        )
        if mechanism.scheduler is not None:
            values[f"switch.{switch}.scheduler"] = mechanism.scheduler
    if mechanism.class_ != "ubr":
        # In every network, the VCs with TCP are the first group.
        values["vc.0.class"] = mechanism.class_
        if mechanism.contract:
            (rate,) = (link["rate"] for link in data["links"] if link["name"] == PORT)
            half = f"{rate // len(tcps) // 2000} kbps"
            values["vc.0.contract"] = cy.Contract(pcr=f"{rate} bps", mcr=half, mbs=f"{BURST_CELLS} cells")
        if mechanism.feedback is not None:
            # With marks, a rate grows in steps; explicit rates are adopted at once.
            values["vc.0.abr"] = cy.Abr() if isinstance(mechanism.feedback, str) else cy.Abr(rif=1)
    return base.with_values(values)


def drop_policy(mechanism: Mechanism, mss_bytes: int) -> Any:
    """Return the drop policy of a mechanism.

    Policies of the RED family have the same parameters in all networks.
    """
    segment = f"{-(-(mss_bytes + 56) // 48)} cells"
    match mechanism.drop:
        case "cell-red":
            return cy.CellRed(**RED, segment_cells=segment)
        case "packet-red":
            return cy.PacketRed(**RED)
        case "atm-red":
            return cy.AtmRed(**RED, segment_cells=segment)
        case other:
            return other


def feedback(mechanism: Mechanism, buffer_cells: int) -> Any:
    """Return the feedback of a mechanism.

    The thresholds of marks are the same fractions of the buffer in all networks.
    """
    high, low = f"{buffer_cells // 4} cells", f"{buffer_cells // 8} cells"
    match mechanism.feedback:
        case "efci":
            return cy.Efci(threshold=high)
        case "relative-rate":
            return cy.RelativeRate(high=high, low=low)
        case other:
            return other


def measured(scenario: cy.Scenario, replications: int) -> dict[str, float]:
    """Return the means of the metrics over the replications."""
    runs = list(scenario.run(replications=replications))
    return {
        "efficiency": fmean(run.totals.efficiency or 0.0 for run in runs),
        "fairness": fmean(run.totals.fairness for run in runs),
        "loss": fmean(100 * run.totals.cell_loss_ratio for run in runs),
        "queue": fmean(run.ports[PORT].mean_queue_cells for run in runs),
    }


Measured: TypeAlias = "dict[tuple[str, str], dict[str, float]]"

BEGINNING = """# Every mechanism on every network

What a switch can do about a full buffer, on one network of each kind that the studies have. The networks are rows of studies with their
own buffers and TCPs; only the mechanism changes, and no parameter is tuned to a network (a study may well have a better one: its own
pages say so). Written by `python scripts/mechanisms.py --replications {replications}`; means over the replications.

![Efficiency and fairness of every mechanism on every network](figures/mechanisms.png)

*Dark is 0, bright is 1. Frames mark the highest value of a column and those that round to it. The mechanism
that knows all rates has none.*

{sentences}

Parameters: EPD at 0.9 K; Selective Drop and FBA with R = 0.9 K, Z = 0.8; the RED family with w_q = 0.002, max_p = 0.1 per frame,
thresholds of K / 4 and 3 K / 4; GFR contracts of half of an equal share each, with 10 MB of burst, thresholds of K / 2 (two of them K / 4
and K / 2, DFBA K / 2 and 0.9 K); per-VC scheduling with equal weights over one buffer, with Selective Drop (R = 0.5 K, Z = 1); EFCI at
K / 4 and relative-rate marking at K / 4 and K / 8 with RIF = 1/16; ERICA and the rates known beforehand with a target of 0.9, ERICA+ with
its defaults, all of these with RIF = 1 (without minimum rates `erica-mcr` is ERICA to the bit). What is left of a damaged frame is sent
on (`rest_of_frame = accept`), but where the policy itself drops it. Schemes one and two differ where buckets run empty: with so large a
burst they do not on three of these networks. A guaranteed rate matters beside VBR only. No switch knows rates beforehand: they are there to
compare with. *State* is what the switch keeps for each VC.
"""


def line(mechanism: Mechanism, values: Mapping[str, float]) -> str:
    """Return a line of a network's table."""
    return (
        f"| {mechanism.name} | {mechanism.state} | {values['efficiency']:.3f} | {values['fairness']:.3f} | {values['loss']:.2f} | "
        f"{values['queue']:.0f} |"
    )


def page(found: Measured, replications: int) -> str:
    """Return the text of the page."""
    parts = [BEGINNING.format(replications=replications, sentences="\n".join(sentences(found)))]
    for network in NETWORKS:
        parts.append(f"\n## {network.name}\n\n{network.text} (`{network.study}`, table {network.table}).\n")
        parts.append(
            "| mechanism | state | efficiency | fairness | cell loss, % | mean queue, cells |\n|---|---|---|---|---|---|"
        )
        parts += [line(mechanism, found[network.name, mechanism.name]) for mechanism in MECHANISMS]
    return "\n".join(parts) + "\n"


def sentences(found: Measured) -> list[str]:
    """Return sentences about which mechanism is best where, derived from the numbers."""
    lines = []
    for network in NETWORKS:
        best = {}
        for metric in ("efficiency", "fairness"):
            values = {
                candidate.name: found[network.name, candidate.name][metric]
                for candidate in MECHANISMS
                if candidate.name != IDEAL
            }
            best[metric] = max(values.items(), key=lambda each: each[1])
        plain = found[network.name, MECHANISMS[0].name]
        lines.append(
            f"* {network.name}: most efficient {best['efficiency'][0]} ({best['efficiency'][1]:.2f}; tail drop "
            f"{plain['efficiency']:.2f}), fairest {best['fairness'][0]} ({best['fairness'][1]:.2f}; tail drop {plain['fairness']:.2f})."
        )
    return lines


def draw(found: Measured) -> None:
    """Draw efficiency and fairness side by side, with a cell for each mechanism and network."""
    ideal = [mechanism.name for mechanism in MECHANISMS].index(IDEAL)
    with plot.style():
        figure, axes = plot.panels(2, width=9.0, height=6.4)
        for one, metric in zip(axes, ("efficiency", "fairness"), strict=True):
            values = [[found[network.name, mechanism.name][metric] for network in NETWORKS] for mechanism in MECHANISMS]
            texts = [[f"{value:.2f}" for value in line] for line in values]
            best = {
                (row, column)
                for column in range(len(NETWORKS))
                for row in range(len(MECHANISMS))
                if row != ideal
                and round(values[row][column], 2)
                == max(round(line[column], 2) for place, line in enumerate(values) if place != ideal)
            }
            plot.heat(
                one,
                values,
                texts,
                columns=[network.name.replace(", ", "\n") for network in NETWORKS],
                rows=[mechanism.name for mechanism in MECHANISMS],
                ends=(0.0, 1.0),
                best=best,
            )
            one.tick_params(labelleft=one is axes[0])
            one.set_title(metric if metric == "efficiency" else "Jain's fairness")
        drawn = plot.Drawn("mechanisms", "Efficiency and fairness of every mechanism on every network", "", figure)
        FIGURE.write_bytes(plot.saved(drawn, "png"))


def main() -> None:
    """Run all combinations, print progress, and write the page and the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=10)
    replications = parser.parse_args().replications
    found: Measured = {}
    for network in NETWORKS:
        for mechanism in MECHANISMS:
            values = found[network.name, mechanism.name] = measured(scenario_with(network, mechanism), replications)
            print(
                network.name, mechanism.name, *(f"{metric} {value:.3f}" for metric, value in values.items()), flush=True
            )
    PAGE.write_text(page(found, replications), encoding="utf-8")
    draw(found)


if __name__ == "__main__":
    main()
