"""The study's figures: tables next to the published values by drop policy and parameters, one run watched closely."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import cellyard as cy
from cellyard import plot
from cellyard.plot import rows as plot_rows
from cellyard.plot.table_map import table_map
from cellyard.studies.ubr_plus import answer
from cellyard.study import Rows, Study

#: The queue of the bottleneck.
PORT = "west->east"


#: The metrics of tables.
METRICS = ("efficiency", "fairness")

#: For notes of figures: the TCP of all rows, and the study's centre.
TCP, CENTRE = "TCP: vanilla", "median"


def figures(study: Study, rows: Rows) -> Iterator[plot.Drawing]:
    """All figures whose tables were run."""
    if chosen := rows.where(table="2-3"):
        yield partial(policies, study, chosen)
        yield partial(agreement, study, chosen)
        yield partial(window, study)
        yield partial(queue, study)
    for place in ("lan", "wan"):
        if chosen := rows.where(table="4", configuration=place):
            yield partial(cutoffs, chosen, place)
    for table, place in (("5", "LAN"), ("6", "WAN")):
        if chosen := rows.where(table=table):
            yield partial(factorial, chosen, table, place)


def policies(study: Study, rows: Rows) -> plot.Drawn:
    """The study's question: efficiency and fairness against the buffer, a line per drop policy."""
    message = plot_rows.said(answer.on_the_lan, study, rows)
    rows = Rows(
        replace(row, parameters={**row.parameters, "buffer_thousands": row["buffer_cells"] / 1000}) for row in rows
    )
    return plot.Drawn(
        "policies",
        "Efficiency and fairness against the buffer, by drop policy (tables 2 and 3)",
        "Simulated, with the range of the replications; the report also draws the published values.",
        plot_rows.grid(
            rows,
            METRICS,
            x="buffer_thousands",
            group="drop_policy",
            columns=("configuration", "sources"),
            among=study.tables["2-3"].rows,
            published=False,
        ),
        plot_rows.note(rows, TCP, CENTRE, published=False),
        message,
    )


def agreement(study: Study, rows: Rows) -> plot.Drawn:
    """All rows of tables 2 and 3 against what was published."""
    return plot.Drawn(
        "table-2-3",
        "Tables 2 and 3: simulated against published",
        "A point per row; on the diagonal both values agree. Bars are the ranges of the "
        "replications. The scales of LAN and WAN differ.",
        plot_rows.compared(rows, METRICS, lines="configuration", group="drop_policy", among=study.tables["2-3"].rows),
        plot_rows.note(rows, TCP, CENTRE, "both agree on the diagonal"),
    )


def cutoffs(rows: Rows, place: str) -> plot.Drawn:
    """Table 4: Selective Drop over Z."""
    return plot.Drawn(
        f"table-4-{place}",
        f"Selective Drop with R = 0.9 K on the {place.upper()}: efficiency and fairness against Z (table 4)",
        f"{plot_rows.READING} Doubtful published values are left out.",
        plot_rows.grid(rows, METRICS, x="z", group="buffer_cells", columns=["sources"]),
        plot_rows.note(rows, TCP, CENTRE),
    )


def factorial(rows: Rows, table: str, place: str) -> plot.Drawn:
    """A table of the full factorial of section 7.3: which R and Z suit all N and K."""
    return plot.Drawn(
        f"table-{table}",
        f"FBA on the {place}: efficiency and fairness by threshold R and cutoff Z (table {table})",
        "Simulated values, with the published ones in brackets, and the mean of each row; a "
        "frame marks the highest mean. Dark is 0, bright is 1. FBA discards frames once the "
        "queue exceeds R, so a small R wastes the buffer.",
        table_map(rows, METRICS, down=("r_fraction", "z"), across=("sources", "buffer_cells"), mean=True),
        plot_rows.note(rows, TCP, CENTRE, "in brackets: published", "frame: highest mean", published=False),
    )


def watched(study: Study, policies: Sequence[str], *probes: Any) -> list[cy.RunResult]:
    """The LAN rows of table 2-3 with 5 sources and K = 1000, run once each as published with ``probes``."""
    rows = study.tables["2-3"].rows.where(configuration="lan", sources=5, buffer_cells=1000)
    return study.runs(row.watched(*probes) for policy in policies for row in rows.where(drop_policy=policy))


def window(study: Study) -> plot.Drawn:
    """Figure 1 of the text: cwnd and ssthresh over time."""
    (run,) = watched(study, ["epd"], cy.CwndProbe(of="vc1"), cy.SsthreshProbe(of="vc1"))
    series = {one.what: one for one in run.series}
    figure, (axes,) = plot.panels(1, height=2.6)
    # Unlimited until the first loss: no line comes down from off the scale.
    threshold = series["ssthresh"]
    series["ssthresh"] = replace(threshold, value=np.where(threshold.value > 1e6, np.nan, threshold.value))
    plot.lines(axes, series, scale=1 / 1000)
    axes.set(ylabel="window [kilobytes]", ylim=(0, 80))
    plot.legend(axes, loc="upper right", ncols=2)
    return plot.Drawn(
        "figure-1",
        "Figure 1: congestion window and slow-start threshold of one TCP",
        "LAN, 5 sources, K = 1000 cells, EPD; one run as published. On flat stretches the source "
        "waits for its coarse timer. Each timeout drops cwnd to one segment and sets ssthresh to "
        "half of the window. Before the first timeout ssthresh is unlimited, off the scale.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; LAN, 5 sources, K = 1000 cells, EPD",
    )


def queue(study: Study) -> plot.Drawn:
    """Figure 3 of the text: the queue and the thresholds of Selective Drop."""
    levels = {"tail-drop": (1000, "K"), "epd": (800, "K - 200"), "selective-drop": (900, "R = 0.9 K")}
    runs = watched(study, list(levels), cy.QueueProbe(of=PORT, interval="1 ms"))
    figure, axes = plot.panels(3, height=2.7)
    for one, (policy, level), run in zip(axes, levels.items(), runs, strict=True):
        plot.lines(one, {policy: run.series[0]})
        plot.level(one, *level)
        one.set(
            title=plot_rows.named("drop_policy", policy),
            xlim=(0, 3),
            ylim=(0, 1150),
            ylabel="queue [cells]" if policy == "tail-drop" else None,
        )
    return plot.Drawn(
        "figure-3",
        "Figure 3: the bottleneck's queue under three policies, with their thresholds",
        "LAN, 5 sources, K = 1000 cells; the first 3 s of one run as published. The queue "
        "empties while all sources wait for their timers; policies that spare some sources keep "
        "it busy. If its length is constant, a single source sends at the rate of the link.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; LAN, 5 sources",
    )
