"""The study's figures: UBR's tables beside the published values, and one run watched closely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import cellyard as cy
from cellyard import plot
from cellyard.plot import rows as plot_rows
from cellyard.studies.abr_or_ubr.answer import PATHS
from cellyard.study import Row, Rows, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The queue of the bottleneck.
PORT = "west->east"

#: What is told of efficiency and fairness.
METRICS = ("efficiency", "fairness")

#: With no VBR and with it.
VBR = {"no": "without", "yes": "with"}


def figures(study: Study, rows: Rows) -> Iterator[plot.Drawing]:
    """All figures whose tables were run."""
    if rows.where(table="ubr"):
        yield partial(by_buffer, rows.where(table=("ubr", "buffers")))
        yield partial(queue, study)
    if chosen := rows.where(table="abr"):
        yield partial(by_abr_buffer, chosen)
        yield partial(abr_against_ubr, study)
    if chosen := rows.where(table="abr-sources"):
        yield partial(by_sources, chosen)
    if chosen := rows.where(table="services"):
        yield partial(services, study, chosen)
    if chosen := rows.where(table="windows"):
        yield partial(by_window, chosen)
    if chosen := rows.where(table="granularity"):
        yield partial(by_timer, chosen)


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


def queues_over_time(study: Study, chosen: Mapping[str, Rows]) -> tuple[Figure, list[Axes]]:
    """A panel for each title: the queue of the bottleneck, of 12000 cells, in one run of its row as published."""
    probe = cy.QueueProbe(of=PORT, interval="1 ms")
    runs = study.runs(row.watched(probe) for rows in chosen.values() for row in rows)
    figure, axes = plot.panels(len(chosen), height=2.7)
    for one, title, run in zip(axes, chosen, runs, strict=True):
        plot.lines(one, {title: run.series[0]})
        plot.level(one, 12000, "K")
        one.set(title=title, xlim=(0, run.duration_s), ylim=(0, 13500))
    axes[0].set_ylabel("queue [cells]")
    return figure, axes


def queue(study: Study) -> plot.Drawn:
    """Where the time goes: the queue of the bottleneck without and with EPD."""
    rows = study.tables["ubr"].rows.where(buffer_cells=12000, receiver_window_bytes=600000)
    chosen = {title: rows.where(epd=epd) for title, epd in (("UBR", "no"), ("UBR with EPD", "yes"))}
    figure, _ = queues_over_time(study, chosen)
    return plot.Drawn(
        "queue",
        "The bottleneck's queue without and with EPD",
        "Five sources, K = 12000 cells, windows of 600000 bytes, one run as published. The queue overflows at the end of slow start and "
        "empties while the sources wait for their timers.",
        figure,
    )


def by_abr_buffer(rows: Rows) -> plot.Drawn:
    """What the buffer and TBE do over ABR."""
    return plot.Drawn(
        "abr",
        "ABR: throughput and loss against the buffer, by number of sources and TBE",
        f"{plot_rows.READING} TCPs beside VBR; the buffer alone of the three decides the throughput, and little loss costs much of it.",
        plot_rows.grid(
            rows,
            ("throughput_mbps", "cell_loss_percent"),
            x="buffer_cells",
            group="tbe_cells",
            columns=["sources"],
        ),
    )


def by_sources(rows: Rows) -> plot.Drawn:
    """The buffer that no loss needs, by the number of sources."""
    return plot.Drawn(
        "abr-sources",
        "ABR: the longest queue against the number of sources, by TBE, without and with VBR",
        "Simulated, with unlimited buffers; in round trips of 30 ms of the link. All sources start together.",
        plot_rows.grid(rows, ["queue_round_trips"], x="sources", group="tbe_cells", columns=["vbr"]),
    )


def services(study: Study, rows: Rows) -> plot.Drawn:
    """One workload over all services."""
    chosen = Rows(replace(row, parameters={**row.parameters, "network": _network(row)}) for row in rows)
    metrics = ("efficiency", "fairness", "cell_loss_percent", "max_queue_cells", "host_queue_cells", "delay_ms")
    groups = plot_rows.levels(chosen, "service")
    known = plot_rows.levels(study.tables["services"].rows, "service")
    configurations = plot_rows.levels(chosen, "configuration")
    figure, axes = plot.panels_grid(
        len(metrics), len(configurations), width=1.5 + 2.7 * len(configurations), height=10.5
    )
    for line, metric in zip(axes, metrics, strict=True):
        for one, configuration in zip(line, configurations, strict=True):
            own = chosen.where(configuration=configuration)
            places = plot_rows.levels(own, "network")
            plot_rows.against(one, own, metric, x="network", group="service", places=places, groups=groups, among=known)
            lines: list[Any] = [drawn[0] for drawn in one.containers]
            for drawn in lines:
                drawn.set_linestyle("")
            one.tick_params(labelbottom=line is axes[-1])
            if line is axes[-1]:
                one.set_xlabel("N sources, alone or beside VBR")
            if line is axes[0]:
                one.set_title(plot_rows.named("configuration", configuration))
        line[0].set_ylabel(plot_rows.quantity(metric, short=True).replace(" [", "\n["))
    plot_rows.legend_above(figure, axes[0][0], published=False)
    return plot.Drawn(
        "services",
        f"One workload over each service: {_listed(PATHS[name] for name in configurations)}, "
        f"{_listed(plot_rows.levels(rows, 'sources'))} TCPs, {_listed(VBR[vbr] for vbr in plot_rows.levels(rows, 'vbr'))} VBR",
        "Simulated, with the ensemble's ranges; buffers of one size for all services of a network. Efficiency is of what VBR leaves, "
        "ERICA's target and RM cells included. Queues: the longest of a switch, and of a host.",
        figure,
    )


def _network(row: Row) -> str:
    return f"N = {row['sources']}\n{'VBR' if row['vbr'] == 'yes' else 'alone'}"


def _listed(parts: Iterable[object]) -> str:
    """What is there, as a title lists it.

    >>> _listed(["LAN", "WAN", "satellite path"]), _listed([5])
    ('LAN, WAN and satellite path', '5')
    """
    *first, last = map(str, parts)
    return f"{', '.join(first)} and {last}" if first else last


def abr_against_ubr(study: Study) -> plot.Drawn:
    """The queue under VBR over ABR and over UBR, one run of each."""
    rows = study.tables["services"].rows.where(configuration="wan", vbr="yes", sources=5)
    chosen = {plot_rows.named("service", service): rows.where(service=service) for service in ("abr", "ubr")}
    figure, axes = queues_over_time(study, chosen)
    for one in axes:
        one.set_xlim(0, 3)
        for burst in range(15):
            one.axvspan(0.002 + 0.2 * burst, 0.102 + 0.2 * burst, color="#f0f0f0", zorder=0, linewidth=0)
    return plot.Drawn(
        "abr-ubr-queue",
        "The bottleneck's queue under VBR, over ABR and over UBR",
        "WAN of the table services, five TCPs, one run as published of each; grey: VBR on.",
        figure,
    )
