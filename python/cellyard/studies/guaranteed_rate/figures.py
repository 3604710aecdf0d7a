"""The study's figures: link shares under a guarantee, efficiency against fairness, one TCP under VBR bursts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import cellyard as cy
from cellyard import plot
from cellyard.plot import rows as plot_rows
from cellyard.plot.notes import runs as counted_runs
from cellyard.plot.table_map import table_map
from cellyard.study import Rows, Study

#: The queue of the bottleneck.
PORT = "west->east"


#: Efficiencies on the satellite path.
BEYOND = (
    " Efficiency is relative to half of 125.2 Mb/s on all paths. The larger segments of the "
    "satellite path can carry more, so it can exceed 1."
)

#: The metrics of tables.
METRICS = ("efficiency", "fairness")
#: For notes of figures: the TCPs of whole tables, and the study's centre.
TCP, CENTRE = "TCP: vanilla, Reno, SACK", "mean"
FACTORS = ("tcp", "gr", "drop_policy")
#: Tables over the guaranteed rate, and what each is about.
WHERE = {
    "3-5": "LAN (tables 3 and 5)",
    "reno-lan": "LAN, Reno with a fast retransmit that resends nothing (tables 3 and 5)",
    "4-6": "WAN (tables 4 and 6)",
    "7-8-9": "satellite path (tables 7 to 9)",
}


def figures(study: Study, rows: Rows) -> Iterator[plot.Drawing]:
    """All figures whose tables were run."""
    if rows.where(table="3-5"):
        yield partial(shares, study)
        yield partial(window, study)
    if chosen := rows.where(table="1-2"):
        yield partial(periods, study, chosen)
    if chosen := rows.where(table=("3-5", "4-6", "7-8-9")):
        for metric in METRICS:
            yield partial(factors, chosen, metric)
    for table, where in WHERE.items():
        if chosen := rows.where(table=table):
            for metric in METRICS:
                yield partial(guarantees, chosen, metric, where)
    if chosen := rows.where(table="vbr-cost"):
        yield partial(vbr_cost, chosen)


def watched(study: Study, chosen: Iterable[tuple[str, float]], *probes: Any) -> list[cy.RunResult]:
    """Rows with 5 sources, K = 3000 and Selective Drop of table 3-5, by TCP and GR, run once each as published with ``probes``."""
    rows = study.tables["3-5"].rows.where(sources=5, buffer_cells=3000, drop_policy="selective-drop")
    return study.runs(row.watched(*probes) for tcp, gr in chosen for row in rows.where(tcp=tcp, gr=gr))


def shares(study: Study) -> plot.Drawn:
    """Figure 2 of the text: who uses the link over time."""
    rates = (0.0, 0.1, 0.5)
    runs = watched(study, [("sack", gr) for gr in rates], cy.LinkShareProbe(of=PORT, interval="20 ms"))
    figure, axes = plot.panels(3, height=2.6)
    for one, gr, run in zip(axes, rates, runs, strict=True):
        by_class = {s.service_class or "": s for s in run.series}
        plot.lines(one, {name.upper(): by_class[name] for name in ("vbr", "ubr")})
        one.lines[1].set_linestyle((0, (3, 1.5)))  # where both have the same share, both are seen
        one.set(
            title=f"GR = {gr:g}", xlim=(0.6, 2.4), ylim=(0, 1.05), ylabel="share of the link" if gr == 0 else None,
            xticks=[0.6, 1.2, 1.8, 2.4],
        )  # fmt: skip
    plot.legend(axes[2], loc="upper right")
    return plot.Drawn(
        "figure-2",
        "Figure 2: link shares of VBR and UBR for three guaranteed rates",
        "LAN, 5 SACK sources, K = 3000 cells, Selective Drop; VBR is on for 300 ms and off for "
        "300 ms, at the rate of the link. With a guarantee for UBR, VBR bursts queue and become "
        "smoother; without one, UBR can send only while VBR is off.",
        figure,
        f"{plot_rows.ONE_RUN}; TCP: SACK; LAN, 5 sources, K = 3000 cells, Selective Drop",
    )


def window(study: Study) -> plot.Drawn:
    """One TCP's congestion window under VBR bursts."""
    rates, tcps = (0.0, 0.5), ("sack", "reno", "vanilla")
    runs = iter(watched(study, [(tcp, gr) for gr in rates for tcp in tcps], cy.CwndProbe(of="tcp1")))
    figure, axes = plot.panels(2, height=2.9)
    shown, highest = 3.0, 0.0
    for one, gr in zip(axes, rates, strict=True):
        series = {plot_rows.named("tcp", tcp): next(runs).series[0] for tcp in tcps}
        plot.lines(one, series, scale=1 / 1000)
        highest = max(highest, *(float(s.value[s.time_s <= shown].max()) / 1000 for s in series.values()))
        for burst in range(6):
            one.axvspan(0.6 * burst, 0.6 * burst + 0.3, color="#f0f0f0", zorder=0, linewidth=0)
        one.set(title=f"GR = {gr:g}", xlim=(0, shown), ylabel="window [kilobytes]" if gr == 0 else None)
    for one in axes:
        one.set_ylim(0, 1.2 * highest)  # the legend stands above all lines
    plot.legend(axes[1], loc="upper right", ncols=3)
    return plot.Drawn(
        "cwnd",
        "Congestion window of one source under VBR bursts",
        "The rows of figure 2 with GR = 0 and 0.5; one run of each TCP as published. VBR is on in the grey intervals.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; LAN, 5 sources; grey: VBR is on",
    )


def periods(study: Study, rows: Rows) -> plot.Drawn:
    """Figure 4 of the text: what the period of VBR does, by drop policy and buffer."""
    return plot.Drawn(
        "figure-4",
        "Figure 4: efficiency and fairness against the VBR period, by drop policy (tables 1 and 2)",
        f"5 SACK sources; VBR has strict priority. {plot_rows.READING} The scales of LAN and WAN differ.",
        plot_rows.grid(
            rows,
            METRICS,
            x="vbr_period_ms",
            group="drop_policy",
            columns=("configuration", "buffer_cells"),
            apart=["configuration"],
            among=study.tables["1-2"].rows,
        ),
        plot_rows.note(rows, "TCP: SACK", CENTRE),
    )


def factors(rows: Rows, metric: str) -> plot.Drawn:
    """Figure 5 of the text: which factor decides on which path."""
    places = list(dict.fromkeys(row["configuration"] for row in rows))
    figure, axes = plot.panels_grid(len(FACTORS), len(places), width=7.2, height=6.4)
    spreads: dict[str, dict[str, float]] = {place: {} for place in places}
    for line, factor in zip(axes, FACTORS, strict=True):
        for one, place in zip(line, places, strict=True):
            spreads[place][factor] = plot_rows.by_factor(one, rows.where(configuration=place), metric, factor)
        line[0].set_ylabel(plot_rows.quantity(metric))
        plot.value_axis(line)
        for one, place in zip(line, places, strict=True):
            if line is axes[0]:
                one.set_title(plot_rows.named("configuration", place))
    for line, factor in zip(axes, FACTORS, strict=True):
        for one, place in zip(line, places, strict=True):
            by = spreads[place]
            weight = "bold" if by[factor] == max(by.values()) else "normal"
            one.set_xlabel(f"{plot_rows.quantity(factor)}\nmeans differ by {by[factor]:.2f}", weight=weight)
    most = [_most(place, by) for place, by in spreads.items()]
    plot_rows.legend_of_factors(figure, axes[0][0])
    return plot.Drawn(
        f"figure-5-{metric}",
        f"Figure 5: {metric} by TCP, guaranteed rate and drop policy (tables 3 to 9)",
        "Means over all rows with a value of the factor; dashes are rows. Bold: the factor whose simulated means "
        f"differ most on that path.{BEYOND if metric == 'efficiency' else ''}",
        figure,
        f"{counted_runs((row.runs for row in rows), 'row')}; {TCP}; marks: means over all rows with a value of the factor; "
        "dashes: rows; bold: the factor whose simulated means differ most",
        f"What decides {plot_rows.quantity(metric)} most: {', '.join(most)}",
    )


def _most(place: str, spreads: Mapping[str, float]) -> str:
    """The factor whose means differ most on a path.

    >>> _most("lan", {"tcp": 0.26, "gr": 0.1})
    'TCP on the LAN (means differ by 0.26)'
    """
    factor = max(spreads, key=lambda name: spreads[name])
    where = plot_rows.named("configuration", place) + " path" * (place == "satellite")
    return f"{plot_rows.quantity(factor).partition(' [')[0]} on the {where} (means differ by {spreads[factor]:.2f})"


def guarantees(rows: Rows, metric: str, where: str) -> plot.Drawn:
    """A table as a map: TCPs and drop policies from the top; sources, buffers and guaranteed rates side by side."""
    rows = Rows(
        replace(row, parameters={**row.parameters, "network": f"N = {row['sources']}\nK = {row['buffer_cells']}"})
        for row in rows
    )
    return plot.Drawn(
        f"table-{rows[0].table}-{metric}",
        f"{metric.capitalize()} by TCP, drop policy, sources, buffer and guaranteed rate: {where}",
        "Simulated values, with the published ones in brackets; the report's tables have the "
        "ranges. Dark is 0, bright is 1. A frame marks the highest values of a column.",
        table_map(rows, [metric], down=("tcp", "drop_policy"), across=("network", "gr")),
        plot_rows.note(rows, TCP, CENTRE, "in brackets: published", "frame: highest of a column", published=False),
    )


def vbr_cost(rows: Rows) -> plot.Drawn:
    """What VBR pays: delay with an unlimited buffer, loss with finite ones."""
    figure, axes = plot.panels(3, height=2.9)
    places, grs = plot_rows.levels(rows, "configuration"), plot_rows.levels(rows, "gr")
    panels = (
        ("unlimited", "vbr_cell_delay_variation_s", 1e3, "VBR cell delay variation [ms]", "VBR buffer unlimited"),
        (10000, "vbr_cell_loss_ratio", 1.0, "VBR cell loss ratio", "VBR buffer of 10000 cells"),
        (1000, "vbr_cell_loss_ratio", 1.0, "VBR cell loss ratio", "VBR buffer of 1000 cells"),
    )
    for one, (buffer, metric, scale, label, title) in zip(axes, panels, strict=True):
        chosen = rows.where(vbr_buffer=buffer)
        plot_rows.against(one, chosen, metric, x="gr", group="configuration", places=grs, groups=places, scale=scale)
        one.set(xlabel=plot_rows.quantity("gr", short=True), ylabel=label, title=title)
    plot.value_axis(axes[:1])
    plot.value_axis(axes[1:])
    axes[2].tick_params(labelleft=True)
    plot_rows.legend_above(figure, axes[0], published=False)
    return plot.Drawn(
        "vbr-cost",
        "What VBR pays for the guarantee of UBR",
        "5 SACK sources, Selective Drop; VBR is on for 300 ms and off for 300 ms, at the rate of "
        "the link. Bars are the ranges of the replications. Left: peak-to-peak variation of the "
        "transfer delay of VBR cells. Centre and right: their loss with finite buffers.",
        figure,
        plot_rows.note(rows, "TCP: SACK", CENTRE, published=False),
    )
