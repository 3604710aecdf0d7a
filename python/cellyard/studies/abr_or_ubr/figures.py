"""The study's figures: UBR's tables beside the published values, and one run watched closely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cellyard as cy
from cellyard import plot, plot_rows
from cellyard.study import Row, Rows, Study

#: The queue of the bottleneck.
PORT = "west->east"

#: What is told of efficiency and fairness.
METRICS = ("efficiency", "fairness")


def figures(study: Study, rows: Rows) -> Iterator[plot.Drawn]:
    """All figures whose tables were run."""
    if rows.where(table="ubr"):
        yield by_buffer(rows.where(table=("ubr", "buffers")))
        yield queue(study)
    if chosen := rows.where(table="windows"):
        yield by_window(chosen)
    if chosen := rows.where(table="granularity"):
        yield by_timer(chosen)


def plain(row: Row) -> Row:
    """Rows without loss, of which the slides name no EPD, as rows of plain UBR."""
    return replace(row, parameters={**row.parameters, "epd": "no"}) if row["epd"] == "n/a" else row


def by_buffer(rows: Rows) -> plot.Drawn:
    """What buffers, windows and EPD do to efficiency and fairness."""
    return plot.Drawn(
        "buffers",
        "Efficiency and fairness against the buffer, by receiver window and EPD",
        f"{plot_rows.READING} The windows of 120000 and 360000 bytes lose nothing with 12000 and 36000 cells; there is no EPD to tell "
        "of, and they are drawn without.",
        plot_rows.grid(
            Rows(plain(row) for row in rows),
            METRICS,
            x="buffer_cells",
            group="receiver_window_bytes",
            columns=(),
            lines=["epd"],
        ),
    )


def by_window(rows: Rows) -> plot.Drawn:
    """Throughput against the windows."""
    return plot.Drawn(
        "windows",
        "Efficiency against the sum of the receiver windows, in round trips of the link",
        "Simulated, with unlimited buffers. Below one round trip the windows set the rate; above it slow start alone is missing.",
        plot_rows.grid(rows, ["efficiency"], x="window_share", group="sources", columns=()),
    )


def by_timer(rows: Rows) -> plot.Drawn:
    """Throughput against the clock of TCP."""
    return plot.Drawn(
        "granularity",
        "Efficiency and fairness against the timer granularity, by buffer",
        "Simulated, with the ensemble's ranges; windows of 600000 bytes.",
        plot_rows.grid(rows, METRICS, x="granularity_ms", group="buffer_cells", columns=["epd"]),
    )


def watched(study: Study, epd: str, *probes: Any) -> cy.RunResult:
    """The row of 12000 cells and windows of 600000 bytes, run once as published with ``probes``."""
    (row,) = study.tables["ubr"].rows.where(buffer_cells=12000, receiver_window_bytes=600000, epd=epd)
    return study.scenario(replace(row, parameters={**row.parameters, "probes": probes})).run().only


def queue(study: Study) -> plot.Drawn:
    """Where the time goes: the queue of the bottleneck without and with EPD."""
    figure, axes = plot.panels(2, height=2.7)
    for one, (epd, title) in zip(axes, (("no", "UBR"), ("yes", "UBR with EPD")), strict=True):
        run = watched(study, epd, cy.QueueProbe(of=PORT, interval="1 ms"))
        plot.lines(one, {title: run.series[0]})
        plot.level(one, 12000, "K")
        one.set(title=title, xlim=(0, run.duration_s), ylim=(0, 13500), ylabel="queue [cells]" if epd == "no" else None)
    return plot.Drawn(
        "queue",
        "The bottleneck's queue without and with EPD",
        "Five sources, K = 12000 cells, windows of 600000 bytes, one run as published. The queue overflows at the end of slow start and "
        "empties while the sources wait for their timers.",
        figure,
    )
