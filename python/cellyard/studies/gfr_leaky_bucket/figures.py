"""The study's figures: who gets what under each scheme, throughput over time, one window watched closely."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import cellyard as cy
from cellyard import plot
from cellyard.plot import rows as plot_rows
from cellyard.studies.gfr_leaky_bucket import answer
from cellyard.study import Row, Rows, Study

NETWORKS = {
    "peer-to-peer": "ten TCPs",
    "tcp-udp": "five TCPs, five UDPs",
    "chain": "chain of four switches",
}

#: For notes of figures: the TCP of all rows, and the study's centre.
TCP, CENTRE = "TCP: Reno", "median"

#: Limit on schemes side by side in a figure.
SIDE_BY_SIDE = 3

#: Top of the axes of throughput over time, above all seconds.
HIGHEST_MBPS = 55

#: Seconds between the points of throughput over time.
EVERY_S = 1


def figures(study: Study, rows: Rows) -> Iterator[plot.Drawing]:
    """All figures whose tables were run."""
    if chosen := rows.where(table=tuple(NETWORKS)):
        every = plot_rows.levels(chosen, "scheme")
        for part in range(0, len(every), SIDE_BY_SIDE):
            yield partial(schemes, study, chosen, every[part : part + SIDE_BY_SIDE], "-others" if part else "")
        for scheme, figure in ((1, "4-5"), (2, "5-2")):
            if mine := chosen.where(scheme=scheme):
                yield partial(over_time, study, mine, figure)
    if rows.where(table="short-term"):
        runs = cache(partial(short_term, study))
        yield lambda: window(runs())
        yield lambda: ramps(runs())


def schemes(study: Study, rows: Rows, known: Sequence[Any], end: str = "") -> plot.Drawn:
    """The study's question: what each VC gets beyond its minimum rate, a panel for each of some schemes and each network."""
    message = "" if end else plot_rows.said(answer.excess, study, rows)
    rows = Rows(map(beyond, rows))
    networks = [name for name in NETWORKS if rows.where(network=name)]
    figure, axes = plot.panels_grid(len(networks), len(known), width=7.2, height=0.9 + 1.75 * len(networks))
    for line, network in zip(axes, networks, strict=True):
        here = rows.where(network=network)
        rates, groups = plot_rows.levels(here, "mcr_mbps"), plot_rows.levels(here, "whose")
        for one, scheme in zip(line, known, strict=True):
            chosen = here.where(scheme=scheme)
            ideal = [chosen.where(mcr_mbps=rate).values("ideal_mbps")[0] - rate for rate in rates]
            one.plot(rates, ideal, color="#999999", linewidth=0.9, linestyle=(0, (4, 2)), zorder=1, label="ideal")
            plot_rows.against(one, chosen, "excess_mbps", x="mcr_mbps", group="whose", places=rates, groups=groups)
            if line is axes[0]:
                one.set_title(plot_rows.named("scheme", scheme))
            if line is axes[-1]:
                one.set_xlabel("MCR [Mb/s]")
        line[0].set_ylabel(f"{NETWORKS[network]}\nexcess over MCR [Mb/s]")
        plot.value_axis(line)
        plot_rows.legend_beside(line[-1])
    return plot.Drawn(
        f"schemes{end}",
        f"Throughput beyond the minimum rate: {', '.join(plot_rows.named('scheme', scheme) for scheme in known)}",
        f"{plot_rows.READING} The dashed line is the ideal, an equal share of what is beyond all minimum rates. "
        "Legends give round trips (RTT) of propagation. In the chain, group A crosses three congested "
        "links, the other groups one.",
        figure,
        plot_rows.note(rows, TCP, CENTRE, "dashed: an equal share of what is beyond all minimum rates (MCR)"),
        message,
    )


def beyond(row: Row) -> Row:
    """A row with its group, and with what it gets beyond its minimum rate."""
    mcr, printed = row["mcr_mbps"], row.published.get("throughput_mbps")
    ends = row.ranges.get("throughput_mbps")
    simulated = {metric: row.simulated[metric] for metric in ("throughput_mbps", "ideal_mbps")}
    return replace(
        row,
        parameters={**row.parameters, "whose": whose(row)},
        simulated={**simulated, "excess_mbps": simulated["throughput_mbps"] - mcr},
        published={"excess_mbps": None if printed is None else printed - mcr},
        ranges={"excess_mbps": (ends[0] - mcr, ends[1] - mcr)} if ends else {},
    )


def whose(row: Row) -> str:
    """The group of a VC: VCs of one minimum rate differ in it."""
    if row["network"] == "chain":
        return f"group {row['vc'][0]}"
    if row["network"] == "tcp-udp":
        return str(row["kind"]).upper()
    return f"RTT {row['round_trip_ms']} ms"


def on_the_line(run: cy.RunResult, vc: str) -> float:
    """Throughput of a VC relative to its goodput: 53 bytes for each cell relative to the data of the frames."""
    of = run.vcs[vc]
    return of.throughput_mbps / of.goodput_mbps if of.goodput_mbps else 1.0


def over_time(study: Study, rows: Rows, number: str) -> plot.Drawn:
    """Figures 4-5 and 5-2 of the text: throughput of every VC over time."""
    scheme = rows[0]["scheme"]
    networks = [name for name in NETWORKS if rows.where(network=name)]
    shown = [
        (name, group) for name in networks for group in dict.fromkeys(whose(row) for row in rows.where(network=name))
    ]
    figure, axes = plot.panels_grid(-(-len(shown) // 2), 2, width=7.2, height=0.4 + 0.85 * len(shown))
    probes = {
        name: [cy.GoodputProbe(of=row["vc"], interval=f"{EVERY_S} s") for row in rows.where(network=name)]
        for name in networks
    }
    runs = dict(
        zip(networks, study.runs(rows.where(network=name)[0].watched(*probes[name]) for name in networks), strict=True)
    )
    places = [one for line in axes for one in line]
    for one in places[len(shown) :]:
        one.set_visible(False)
    for number_of, (one, (network, group)) in enumerate(zip(places, shown, strict=False)):
        run, chosen = runs[network], rows.where(network=network)
        rates = plot_rows.levels(chosen, "mcr_mbps")
        series = {each.of: each for each in run.series}
        for row in (row for row in chosen if whose(row) == group):
            of, rank = series[row["vc"]], rates.index(row["mcr_mbps"])
            one.plot(
                of.time_s, of.value * on_the_line(run, row["vc"]), linewidth=1.0, label=f"{row['mcr_mbps']}",
                color=plot.COLOURS[rank % len(plot.COLOURS)],
            )  # fmt: skip
        one.set(xlim=(0, run.duration_s), ylim=(0, HIGHEST_MBPS), title=f"{NETWORKS[network]}: {group}")
        one.tick_params(labelbottom=number_of >= len(shown) - 2, labelleft=number_of % 2 == 0)
        if number_of % 2 == 0:
            one.set_ylabel("throughput [Mb/s]")
        if number_of >= len(shown) - 2:
            one.set_xlabel("time [s]")
        if group == whose(chosen[0]):
            handles = sorted(one.lines, key=lambda line: float(str(line.get_label())))
            plot.legend(one, handles, loc="upper right", ncols=len(rates), title="MCR [Mb/s]", title_fontsize="small",
                        handlelength=1.0, columnspacing=0.8)  # fmt: skip
    return plot.Drawn(
        f"figure-{number}",
        f"Figure {number}: throughput over time under scheme {plot_rows.named('scheme', scheme).split()[-1]}",
        "One run as published, a point every second, 53 bytes for each delivered cell. At first "
        "a VC may exceed its minimum rate, until its bucket is full. The tables count the whole "
        "run.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; a point every second",
    )


def short_term(study: Study) -> dict[int, cy.RunResult]:
    """By packet size: VC10 under scheme two, in one run as stated."""
    sizes = (1024, 8192)
    rows = study.tables["short-term"].rows.where(vc="VC10")
    probe = cy.SsthreshProbe(of="VC10", interval="10 ms")
    runs = study.runs(row.watched(probe) for size in sizes for row in rows.where(packet_bytes=size))
    return dict(zip(sizes, runs, strict=True))


def window(runs: Mapping[int, cy.RunResult]) -> plot.Drawn:
    """Figure 7-1 of the text: cwnd and ssthresh of a connection with a round trip of 20 ms."""
    run = runs[1024]
    figure, (one,) = plot.panels(1, height=2.9)
    kilobytes = {each.what: each for each in run.series if each.of == "VC10" and each.what in ("cwnd", "ssthresh")}
    plot.lines(one, kilobytes, scale=1 / 1000)
    one.set(xlim=(30, 45), ylim=(0, 150), xlabel="time [s]", ylabel="window [kilobytes]")
    plot.legend(one, loc="upper right")
    return plot.Drawn(
        "figure-7-1",
        "Figure 7-1: congestion window and slow start threshold of a TCP with a round trip of 20 ms",
        "VC10, packets of 1024 bytes, scheme two; one run as published. The window grows by a "
        "packet per round trip almost all of the time.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; VC10, scheme two, packets of 1024 bytes",
    )


def ramps(runs: Mapping[int, cy.RunResult]) -> plot.Drawn:
    """Figure 7-2 of the text: the throughput of that connection, and of the same with larger packets."""
    figure, axes = plot.panels(2, height=2.7)
    for one, (size, run) in zip(axes, runs.items(), strict=True):
        (of,) = [each for each in run.series if each.what == "goodput" and each.of == "VC10"]
        one.plot(of.time_s, of.value * on_the_line(run, "VC10"), color=plot.COLOURS[0], linewidth=1.0)
        one.set(xlim=(30, 60), ylim=(0, 45), title=f"packets of {size} bytes", xlabel="time [s]")
    axes[0].set_ylabel("throughput [Mb/s]")
    return plot.Drawn(
        "figure-7-2",
        "Figure 7-2: throughput of that TCP in half seconds, and with larger packets",
        "VC10 under scheme two; one run each. With larger packets the rate recovers from a loss in fewer round trips.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; VC10, scheme two",
    )
