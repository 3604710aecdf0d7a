"""The study's figures: UBR's tables next to the published values, and one run watched closely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import cellyard as cy
from cellyard import plot
from cellyard.plot import rows as plot_rows
from cellyard.plot.notes import runs as counted_runs
from cellyard.studies.abr_or_ubr import answer
from cellyard.studies.abr_or_ubr.answer import PATHS
from cellyard.study import Row, Rows, Study
from cellyard.study.answer import of_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The queue of the bottleneck.
PORT = "west->east"

#: The metrics of tables.
METRICS = ("efficiency", "fairness")

#: For notes of figures: the TCP of all rows, and the study's centre.
TCP, CENTRE = "TCP: vanilla", "mean"

#: Metrics of which less is better.
COSTS = ("cell_loss_percent", "max_queue_cells", "host_queue_cells", "delay_ms")

#: A network without VBR and with it.
VBR = {"no": "", "yes": ", VBR"}


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
        yield partial(costs, chosen)
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
        f"{plot_rows.READING} With 12000 and 36000 cells, windows of 120000 and 360000 bytes lose "
        "nothing. EPD does nothing there, so these points are in the panel without it.",
        plot_rows.grid(
            Rows(plain(row) for row in rows),
            METRICS,
            x="buffer_cells",
            group="receiver_window_bytes",
            columns=["epd"],
            ratio=True,
        ),
        plot_rows.note(rows, TCP, CENTRE),
    )


def by_window(rows: Rows) -> plot.Drawn:
    """Throughput against the windows."""
    return plot.Drawn(
        "windows",
        "Efficiency against the sum of the receiver windows, in round trips of the link",
        "Simulated, with unlimited buffers. Below one round trip the windows limit the rate; "
        "above it, only slow start costs throughput.",
        plot_rows.grid(rows, ["efficiency"], x="window_share", group="sources", columns=()),
        plot_rows.note(rows, TCP, CENTRE, published=False),
    )


def by_timer(rows: Rows) -> plot.Drawn:
    """Throughput against the clock of TCP."""
    return plot.Drawn(
        "granularity",
        "Efficiency and fairness against the timer granularity, by buffer",
        "Simulated, with the range of the replications; windows of 600000 bytes.",
        plot_rows.grid(rows, METRICS, x="granularity_ms", group="buffer_cells", columns=["epd"], ratio=True),
        plot_rows.note(rows, TCP, CENTRE, published=False),
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
    """The queue of the bottleneck without and with EPD."""
    rows = study.tables["ubr"].rows.where(buffer_cells=12000, receiver_window_bytes=600000)
    chosen = {title: rows.where(epd=epd) for title, epd in (("UBR", "no"), ("UBR with EPD", "yes"))}
    figure, _ = queues_over_time(study, chosen)
    return plot.Drawn(
        "queue",
        "The bottleneck's queue without and with EPD",
        "Five sources, K = 12000 cells, windows of 600000 bytes; one run as published. The queue "
        "overflows at the end of slow start, and empties while the sources wait for their "
        "timers.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; WAN, 5 sources, K = 12000 cells",
    )


def by_abr_buffer(rows: Rows) -> plot.Drawn:
    """What the buffer and TBE do over ABR."""
    return plot.Drawn(
        "abr",
        "ABR: throughput and loss against the buffer, by number of sources and TBE",
        f"{plot_rows.READING} TCPs with VBR. Of the three parameters only the buffer decides "
        "the throughput, and little loss costs much of it.",
        plot_rows.grid(
            rows,
            ("throughput_mbps", "cell_loss_percent"),
            x="buffer_cells",
            group="tbe_cells",
            columns=["sources"],
        ),
        plot_rows.note(rows, TCP, CENTRE),
    )


def by_sources(rows: Rows) -> plot.Drawn:
    """The buffer that no loss needs, by the number of sources."""
    return plot.Drawn(
        "abr-sources",
        "ABR: the longest queue against the number of sources, by TBE, without and with VBR",
        "Simulated, with unlimited buffers, in round trips of 30 ms at the rate of the link. All "
        "sources start together.",
        plot_rows.grid(rows, ["queue_round_trips"], x="sources", group="tbe_cells", columns=["vbr"], ratio=False),
        plot_rows.note(rows, TCP, CENTRE, published=False),
    )


def services(study: Study, rows: Rows) -> plot.Drawn:
    """Which service is best on which network."""
    figure, axes = plot.panels_grid(1, 2, width=7.2, height=1.5 + 0.42 * len(_networks(rows)), dense=True)
    for one, metric in zip(axes[0], METRICS, strict=True):
        best = [
            (place, _services(rows).index(service))
            for place, network in enumerate(_networks(rows))
            for service in _best(rows.where(**network), metric)
        ]
        _map(one, rows, metric, best=best, ends=(0.0, 1.0))
        one.tick_params(axis="x", rotation=90)
        one.tick_params(labelleft=one is axes[0][0])
    return plot.Drawn(
        "services",
        f"Efficiency and fairness of one workload over each service: {_where(rows)}",
        f"Simulated means over {_listed(plot_rows.levels(rows, 'sources'))} TCPs; buffers of one size for all services of a "
        "network. A frame marks the highest value of a network and those without a significant difference from it. "
        "Efficiency is relative to what VBR leaves.",
        figure,
        f"{_note(rows)}; frame: the highest of a row, and those without a significant difference",
        plot_rows.said(answer.which, study, rows),
    )


def costs(rows: Rows) -> plot.Drawn:
    """What each service costs on each network."""
    figure, axes = plot.panels_grid(2, 2, width=7.2, height=1.6 + 0.66 * len(_networks(rows)), dense=True)
    for number, (one, metric) in enumerate(zip((one for line in axes for one in line), COSTS, strict=True)):
        _map(one, rows, metric, low_is_good=True, ratio=True)
        one.tick_params(labelleft=number % 2 == 0, labelbottom=number >= 2)
        one.tick_params(axis="x", rotation=90)
    return plot.Drawn(
        "services-costs",
        f"Loss, queues and delay of one workload over each service: {_where(rows)}",
        "Simulated means of the rows of the figure services. Bright is low, on logarithmic "
        "colours; k is a thousand. Queues are the longest of a switch and of a host.",
        figure,
        f"{_note(rows)}; bright: low",
    )


def _note(rows: Rows) -> str:
    """The note of a map: a cell holds a mean over rows."""
    sources = _listed(plot_rows.levels(rows, "sources"))
    return f"{counted_runs((row.runs for row in rows), 'row')}; {TCP}; means over {sources} TCPs"


def _networks(rows: Rows) -> list[dict[str, Any]]:
    """The networks of the answer, each as the values that choose its rows."""
    names = ("configuration", "vbr")
    return [
        dict(zip(names, values, strict=True)) for values in dict.fromkeys(tuple(row[n] for n in names) for row in rows)
    ]


def _services(rows: Rows) -> list[Any]:
    """The services of the table; ABR stands last, apart from those without feedback."""
    return sorted(plot_rows.levels(rows, "service"), key=lambda service: bool(service == "abr"))


def _best(rows: Rows, metric: str) -> list[Any]:
    """The services with the highest value or without a significant difference from it; only the highest if nothing is known."""
    of = of_values(rows, "service", metric, str)
    return of.first if of.known else of.order[:1]


def _map(axes: Axes, rows: Rows, metric: str, **options: Any) -> None:
    """A heat map of a metric: networks from the top, services side by side."""
    networks, across = _networks(rows), _services(rows)
    values = [[_mean(rows.where(**network, service=service), metric) for service in across] for network in networks]
    texts = [["" if value is None else _short(value) for value in line] for line in values]
    names = [f"{plot_rows.named('configuration', n['configuration'])}{VBR[n['vbr']]}" for n in networks]
    plot.heat(axes, values, texts, columns=[plot_rows.word(name) for name in across], rows=names, **options)
    ends = [k for k in range(len(networks) - 1) if networks[k]["configuration"] != networks[k + 1]["configuration"]]
    plot.divide(axes, after_rows=ends, after_columns=[len(across) - 2] if across[-1] == "abr" else [])
    axes.set_title(plot_rows.quantity(metric))


def _mean(rows: Rows, metric: str) -> float | None:
    """The mean over rows; none if one of them has no value."""
    values = [row.simulated[metric] for row in rows]
    return None if None in values or not values else fmean(values)


def _short(value: float) -> str:
    """A number for a small cell.

    >>> _short(0.876), _short(12.34), _short(368.0), _short(3000.0), _short(210596.0)
    ('0.88', '12', '368', '3.0k', '211k')
    """
    if value < 1000:
        return f"{value:.2f}" if 0 < value < 10 else f"{value:.0f}"
    return f"{value / 1000:.1f}k" if value < 10_000 else f"{value / 1000:.0f}k"


def _where(rows: Rows) -> str:
    """The networks of a figure, for its title."""
    paths = _listed(PATHS[name] for name in plot_rows.levels(rows, "configuration"))
    beside = _listed({"no": "without", "yes": "with"}[vbr] for vbr in plot_rows.levels(rows, "vbr"))
    return f"{paths}, {_listed(plot_rows.levels(rows, 'sources'))} TCPs, {beside} VBR"


def _listed(parts: Iterable[object]) -> str:
    """Parts joined to a list.

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
        "WAN of the table services, five TCPs; one run of each as published. VBR is on in the grey intervals.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; WAN, 5 sources; grey: VBR is on",
    )
