"""The study's figures: who gets what under each scheme, throughput over time, one window watched closely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

import cellyard as cy
from cellyard import plot
from cellyard.plot import rows as plot_rows
from cellyard.study import Row, Rows, Study

NETWORKS = {
    "peer-to-peer": "ten TCPs",
    "tcp-udp": "five TCPs, five UDPs",
    "chain": "chain of four switches",
}

#: Seconds between the points of throughput over time.
EVERY_S = 1


def figures(study: Study, rows: Rows) -> Iterator[plot.Drawing]:
    """All figures whose tables were run."""
    if chosen := rows.where(table=tuple(NETWORKS)):
        yield partial(schemes, chosen)
        for scheme, figure in ((1, "4-5"), (2, "5-2")):
            if mine := chosen.where(scheme=scheme):
                yield partial(over_time, study, mine, figure)
    if rows.where(table="short-term"):
        runs = cache(partial(short_term, study))
        yield lambda: window(runs())
        yield lambda: ramps(runs())


def schemes(rows: Rows) -> plot.Drawn:
    """The study's question: throughput against the minimum rate, a panel for each scheme and network."""
    rows = Rows(replace(row, parameters={**row.parameters, "whose": whose(row)}) for row in rows)
    networks = [name for name in NETWORKS if rows.where(network=name)]
    known = plot_rows.levels(rows, "scheme")
    figure, axes = plot.panels_grid(len(networks), len(known), width=7.2, height=0.9 + 1.75 * len(networks))
    for line, network in zip(axes, networks, strict=True):
        here = rows.where(network=network)
        rates, groups = plot_rows.levels(here, "mcr_mbps"), plot_rows.levels(here, "whose")
        for one, scheme in zip(line, known, strict=True):
            chosen = here.where(scheme=scheme)
            ideal = [chosen.where(mcr_mbps=rate).values("ideal_mbps")[0] for rate in rates]
            one.plot(
                range(len(rates)), ideal, color="#999999", linewidth=0.9, linestyle=(0, (4, 2)), zorder=1, label="ideal"
            )
            plot_rows.against(one, chosen, "throughput_mbps", x="mcr_mbps", group="whose", places=rates, groups=groups)
            one.tick_params(labelsize=7, labelleft=one is line[0])
            if line is axes[0]:
                one.set_title(plot_rows.named("scheme", scheme), fontsize=8)
            if line is axes[-1]:
                one.set_xlabel("MCR [Mb/s]", fontsize=8)
        plot_rows.share_scale(line)
        plot_rows.legend_within(line[0], fontsize=6.5, loc="upper left")
        line[0].set_ylabel(f"{NETWORKS[network]}\nthroughput [Mb/s]", fontsize=7.5)
    return plot.Drawn(
        "schemes",
        "Throughput against the minimum rate, by scheme",
        f"{plot_rows.READING} Dashed: the ideal, MCR and an equal share of the rest. Round trips are those of propagation; in the chain "
        "group A takes three congested links, the others one.",
        figure,
    )


def whose(row: Row) -> str:
    """What tells VCs of one minimum rate apart."""
    if row["network"] == "chain":
        return f"group {row['vc'][0]}"
    if row["network"] == "tcp-udp":
        return str(row["kind"]).upper()
    return f"{row['round_trip_ms']} ms"


def on_the_line(run: cy.RunResult, vc: str) -> float:
    """What a VC's throughput is to its goodput: 53 bytes a cell to the data of the frames."""
    told = run.vcs[vc]
    return told.throughput_mbps / told.goodput_mbps if told.goodput_mbps else 1.0


def over_time(study: Study, rows: Rows, number: str) -> plot.Drawn:
    """Figures 4-5 and 5-2 of the text: throughput of every VC over time."""
    scheme = rows[0]["scheme"]
    networks = [name for name in NETWORKS if rows.where(network=name)]
    figure, axes = plot.panels_grid(len(networks), 1, width=7.2, height=0.8 + 2.0 * len(networks))
    probes = {
        name: [cy.GoodputProbe(of=row["vc"], interval=f"{EVERY_S} s") for row in rows.where(network=name)]
        for name in networks
    }
    runs = study.runs(rows.where(network=name)[0].watched(*probes[name]) for name in networks)
    for (one,), network, run in zip(axes, networks, runs, strict=True):
        chosen = rows.where(network=network)
        series = {each.of: each for each in run.series}
        rates = plot_rows.levels(chosen, "mcr_mbps")
        groups = list(dict.fromkeys(whose(row) for row in chosen))
        for row in chosen:
            of = series[row["vc"]]
            style = ["-", (0, (3, 1.2)), (0, (1, 1)), (0, (5, 1, 1, 1))][groups.index(whose(row)) % 4]
            one.plot(
                of.time_s, of.value * on_the_line(run, row["vc"]), linestyle=style, linewidth=0.9,
                color=plot.COLOURS[rates.index(row["mcr_mbps"]) % len(plot.COLOURS)],
                label=f"{row['mcr_mbps']} Mb/s" if whose(row) == groups[0] else None,
            )  # fmt: skip
        one.set(ylabel="throughput [Mb/s]", xlim=(0, run.duration_s), ylim=(0, 40), title=NETWORKS[network])
        styles = ["solid", "dashed", "dotted", "dash-dotted"]
        told = ", ".join(f"{style}: {group}" for style, group in zip(styles, groups, strict=False))
        one.text(0.995, 0.97, told, transform=one.transAxes, ha="right", va="top", fontsize=7)
    axes[-1][0].set_xlabel("time [s]")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(
        handles, labels, title="minimum rate", loc="outside upper center", ncols=5, fontsize=8, title_fontsize=8
    )
    return plot.Drawn(
        f"figure-{number}",
        f"Figure {number}: throughput over time under scheme {plot_rows.named('scheme', scheme).split()[-1]}",
        "Seconds of one run as published, 53 bytes for every cell delivered; until its bucket is full a VC may have more than its minimum "
        "rate. The tables count all of it.",
        figure,
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
    plot.legend(one, fontsize=8, loc="upper right")
    return plot.Drawn(
        "figure-7-1",
        "Figure 7-1: congestion window and slow start threshold of a TCP with a round trip of 20 ms",
        "VC10, packets of 1024 bytes, scheme two; one run as published. Almost all of the time the window grows by a packet a round trip.",
        figure,
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
        "VC10 under scheme two, one run each. Larger packets make up for a loss in fewer round trips.",
        figure,
    )
