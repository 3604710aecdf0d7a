"""The study's figures: one run watched closely, the factorial's trade-off, tables against the published values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cellyard as cy
from cellyard import plot
from cellyard.study import Rows, Study

#: The queue of the bottleneck.
PORT = "west->east"


def figures(study: Study, rows: Rows) -> Iterator[plot.Drawn]:
    """All figures whose tables were run."""
    if rows.where(table="2-3"):
        yield window(study)
        yield queue(study)
    for table in ("2-3", "4"):
        if chosen := rows.where(table=table):
            yield plot.Drawn(
                f"table-{table}",
                f"Table {table}: simulated against published",
                "A point per row; on the diagonal both agree. Bars are the ensemble's 5 to 95 % ranges.",
                plot.table_figure(chosen, ("efficiency", "fairness"), group="configuration"),
            )
    if chosen := rows.where(table=("5", "6")):
        yield factorial(chosen)


def watched(study: Study, policy: str, *probes: Any) -> cy.RunResult:
    """The LAN row of table 2-3 with 5 sources and K = 1000, run once as published with ``probes``."""
    (row,) = study.tables["2-3"].rows.where(configuration="lan", sources=5, buffer_cells=1000, drop_policy=policy)
    row = replace(row, parameters={**row.parameters, "probes": probes})
    return study.scenario(row).run().only


def window(study: Study) -> plot.Drawn:
    """Figure 1 of the text: cwnd and ssthresh over time."""
    run = watched(study, "epd", cy.CwndProbe(of="vc1"), cy.SsthreshProbe(of="vc1"))
    series = {one.what: one for one in run.series}
    figure, (axes,) = plot.panels(1, height=2.6)
    plot.lines(axes, series, scale=1 / 1000)
    axes.set(ylabel="kilobytes", ylim=(0, 80))
    axes.legend(loc="upper right", ncols=2, fontsize=8)
    return plot.Drawn(
        "figure-1",
        "Figure 1: congestion window and slow-start threshold of one TCP",
        "LAN, 5 sources, K = 1000 cells, EPD, one run as published. Each timeout drops cwnd to one segment and halves "
        "ssthresh; flat stretches at the bottom are waits for the coarse timer.",
        figure,
    )


def queue(study: Study) -> plot.Drawn:
    """Figure 3 of the text: the queue and the thresholds of Selective Drop."""
    panels = {}
    for policy in ("tail-drop", "epd", "selective-drop"):
        probe = cy.QueueProbe(of=PORT, interval="1 ms")
        panels[policy] = watched(study, policy, probe).series[0]
    figure, axes = plot.panels(3, height=2.7)
    levels = {"tail-drop": (1000, "K"), "epd": (800, "K - 200"), "selective-drop": (900, "R = 0.9 K")}
    for one, (policy, series) in zip(axes, panels.items(), strict=True):
        plot.lines(one, {policy: series})
        plot.level(one, *levels[policy])
        one.set(title=policy, xlim=(0, 3), ylim=(0, 1150), ylabel="queue [cells]" if policy == "tail-drop" else None)
    return plot.Drawn(
        "figure-3",
        "Figure 3: the bottleneck's queue under three policies, with their thresholds",
        "LAN, 5 sources, K = 1000 cells, first 3 s of one run as published. The queue empties while all sources wait for "
        "their timers; policies that spare some sources keep it busy.",
        figure,
    )


def factorial(rows: Rows) -> plot.Drawn:
    """Efficiency and fairness of the full factorial of section 7.3."""
    figure, axes = plot.panels(2, height=3.6)
    for one, table, title in zip(axes, ("5", "6"), ("LAN", "WAN"), strict=True):
        if chosen := rows.where(table=table):
            wide = table == "5"
            low = 0.0 if wide else 0.8
            plot.efficiency_fairness(one, chosen, group="r_fraction", symbol="z", legend=not wide, low=low)
        one.set_title(title)
    return plot.Drawn(
        "factorial",
        "Tables 5 and 6: efficiency against fairness of FBA",
        "Small R with small Z refuses frames at a nearly empty buffer, which wastes the link on the LAN. Mind the scales.",
        figure,
    )
