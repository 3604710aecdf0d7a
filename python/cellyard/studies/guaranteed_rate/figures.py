"""The study's figures: link shares under a guarantee, efficiency against fairness, one TCP under VBR bursts."""

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
    if rows.where(table="3-5"):
        yield shares(study)
        yield window(study)
    if chosen := rows.where(table="1-2"):
        yield periods(chosen)
    if chosen := rows.where(table=("3-5", "4-6", "7-8-9")):
        yield trade_off(chosen)
    if chosen := rows.where(table="vbr-cost"):
        yield vbr_cost(chosen)
    for table in ("1-2", "3-5", "reno-lan", "4-6"):
        if chosen := rows.where(table=table):
            yield plot.Drawn(
                f"table-{table}",
                f"Table {table}: simulated against published",
                "A point per row; on the diagonal both agree. Bars are the ensemble's 5 to 95 % ranges.",
                plot.table_figure(
                    chosen, ("efficiency", "fairness"), group="configuration" if table == "1-2" else "tcp"
                ),
            )


def watched(study: Study, tcp: str, gr: float, *probes: Any) -> cy.RunResult:
    """The row with 5 sources, K = 3000 and Selective Drop of table 3-5, run once as published with ``probes``."""
    (row,) = study.tables["3-5"].rows.where(sources=5, buffer_cells=3000, drop_policy="selective-drop", tcp=tcp, gr=gr)
    row = replace(row, parameters={**row.parameters, "probes": probes})
    return study.scenario(row).run().only


def shares(study: Study) -> plot.Drawn:
    """Figure 2 of the text: who uses the link over time."""
    figure, axes = plot.panels(3, height=2.6)
    for one, gr in zip(axes, (0.0, 0.1, 0.5), strict=True):
        run = watched(study, "sack", gr, cy.LinkShareProbe(of=PORT, interval="20 ms"))
        by_class = {s.service_class or "": s for s in run.series}
        plot.lines(one, {name.upper(): by_class[name] for name in ("vbr", "ubr")})
        one.lines[1].set_linestyle((0, (3, 1.5)))  # where both have the same share, both are seen
        one.set(title=f"GR = {gr:g}", xlim=(0.6, 2.4), ylim=(0, 1.05), ylabel="share of the link" if gr == 0 else None)
    axes[2].legend(fontsize=8, loc="upper right")
    return plot.Drawn(
        "figure-2",
        "Figure 2: link shares of VBR and UBR for three guaranteed rates",
        "LAN, 5 SACK sources, K = 3000 cells, Selective Drop, VBR of 300 ms on and 300 ms off at the line rate. With a "
        "guarantee VBR bursts queue and are smoothed; without, UBR has the pauses only.",
        figure,
    )


def window(study: Study) -> plot.Drawn:
    """One TCP's congestion window under VBR bursts."""
    figure, axes = plot.panels(2, height=2.7)
    for one, gr in zip(axes, (0.0, 0.5), strict=True):
        series = {}
        for tcp in ("sack", "reno", "vanilla"):
            series[tcp] = watched(study, tcp, gr, cy.CwndProbe(of="tcp1")).series[0]
        plot.lines(one, series, scale=1 / 1000)
        for burst in range(6):
            one.axvspan(0.6 * burst, 0.6 * burst + 0.3, color="#f0f0f0", zorder=0, linewidth=0)
        one.set(title=f"GR = {gr:g}", xlim=(0, 3), ylim=(0, 110), ylabel="cwnd [kilobytes]" if gr == 0 else None)
    axes[1].legend(fontsize=8, loc="upper right", ncols=3)
    return plot.Drawn(
        "cwnd",
        "Congestion window of one source under VBR bursts",
        "The rows of figure 2 with GR = 0 and 0.5; grey: VBR on. One run of each TCP as published.",
        figure,
    )


def periods(rows: Rows) -> plot.Drawn:
    """Figure 4 of the text."""
    figure, axes = plot.panels(2, height=3.6)
    for one, place in zip(axes, ("lan", "wan"), strict=True):
        if chosen := rows.where(configuration=place):
            plot.efficiency_fairness(one, chosen, group="vbr_period_ms", symbol="drop_policy", legend=place == "wan")
        one.set_title(place.upper())
    return plot.Drawn(
        "figure-4",
        "Figure 4: efficiency against fairness for three VBR periods",
        "SACK, strict priority of VBR, tables 1 and 2.",
        figure,
    )


def vbr_cost(rows: Rows) -> plot.Drawn:
    """What VBR pays: delay with an unlimited buffer, loss with a finite one."""
    figure, axes = plot.panels(2, height=3.0)
    places = ("lan", "wan", "satellite")
    for place, colour, marker in zip(places, plot.COLOURS, plot.MARKERS, strict=False):
        here = rows.where(configuration=place)
        unlimited = sorted(here.where(vbr_buffer="unlimited"), key=lambda row: float(row["gr"]))
        grs = [row["gr"] for row in unlimited]
        variation = [1e3 * float(row.simulated["vbr_cell_delay_variation_s"] or 0) for row in unlimited]
        axes[0].plot(grs, variation, marker=marker, color=colour, label=place)
        for buffer, dashes in ((1000, "-"), (10000, "--")):
            finite = sorted(here.where(vbr_buffer=buffer), key=lambda row: float(row["gr"]))
            losses = [float(row.simulated["vbr_cell_loss_ratio"] or 0) for row in finite]
            label = f"{place}, {buffer} cells"
            axes[1].plot([row["gr"] for row in finite], losses, dashes, marker=marker, color=colour, label=label)
    axes[0].set(
        xlabel="guaranteed rate of UBR", ylabel="VBR delay variation [ms]", title="VBR buffer unlimited", ylim=(0, None)
    )
    axes[1].set(
        xlabel="guaranteed rate of UBR", ylabel="VBR cell loss ratio", title="finite VBR buffer", ylim=(0, None)
    )
    for one in axes:
        one.legend(fontsize=7)
    return plot.Drawn(
        "vbr-cost",
        "What VBR pays for the guarantee of UBR",
        "5 SACK sources, Selective Drop, VBR of 300 ms on and 300 ms off at the line rate. Left: peak-to-peak variation of the "
        "VBR cells' transfer delay, the same at all distances. Right: their loss when the VBR class has a buffer of 1000 (solid) "
        "or 10000 cells (dashed).",
        figure,
    )


def trade_off(rows: Rows) -> plot.Drawn:
    """Figure 5 of the text: each panel coloured by the factor that the text finds decisive there."""
    figure, axes = plot.panels(3, width=9.6, height=3.6)
    decisive = {"lan": "drop_policy", "wan": "gr", "satellite": "tcp"}
    for one, (place, factor) in zip(axes, decisive.items(), strict=True):
        if chosen := rows.where(configuration=place):
            plot.efficiency_fairness(one, chosen, group=factor)
        one.set_title(place if place == "satellite" else place.upper())
    return plot.Drawn(
        "figure-5",
        "Figure 5: efficiency against fairness of tables 3 to 9",
        "Coloured by the factor that the text calls decisive: drop policy on the LAN, guaranteed rate on the WAN, TCP on the "
        "satellite path.",
        figure,
    )
