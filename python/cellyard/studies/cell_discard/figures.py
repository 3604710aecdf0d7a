"""The study's figures: what the policies decide, the tables beside the published values, the collapse, the queue, and the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import cellyard as cy
from cellyard import plot
from cellyard.plot import rows as plot_rows
from cellyard.studies.cell_discard.scenario import PORT, parameters
from cellyard.study import Rows, Study

ENVIRONMENTS = {"lan": "LAN", "access": "access network"}

#: The policies of tables 1 and 2, each with a colour and a marker of its own.
POLICIES = ("tail-drop", "epd", "fba", "red")

#: What figures 1 and 2 of the text show of each environment: its parameters in tables 1 and 2.
SHOWN = (("lan", "solid"), ("access", "dashed"))


def figures(study: Study, rows: Rows) -> Iterator[plot.Drawing]:
    """All figures whose tables were run."""
    yield partial(functions, study)
    if chosen := rows.where(table="1-2"):
        yield partial(tables, chosen)
        yield partial(transfers, chosen)
        if collapsed := chosen.where(environment="access", drop_policy="tail-drop"):
            yield partial(collapse, study, collapsed)
        if watchable := chosen.where(mss_bytes=1460):
            yield partial(queues, study, watchable)
    if chosen := rows.where(table="sources"):
        yield partial(sources, chosen)
    # Where no source gets through there is no fairness to show.
    tried = rows.where(table=("1-2", "red", "fba", "epd"))
    if chosen := Rows(row for row in tried if row.simulated["fairness"] is not None):
        yield partial(trade, chosen)
    if chosen := rows.where(table="others"):
        yield partial(others, chosen, rows.where(table="1-2"))


def functions(study: Study) -> plot.Drawn:
    """Figures 1 and 2 of the text."""
    figure, (of_fba, of_red) = plot.panels(2, height=2.8)
    for environment, style in SHOWN:
        rows = study.tables["1-2"].rows.where(environment=environment, mss_bytes=1460)
        fba, red = (parameters(rows.where(drop_policy=policy)[0]["parameters"]) for policy in ("fba", "red"))
        look: dict[str, Any] = {"linestyle": style, "color": plot.COLOURS[0], "label": ENVIRONMENTS[environment]}
        queue = range(int(_number(fba, "R")) + 1, int(_number(fba, "K")) + 1, 10)
        of_fba.plot(queue, [rejection(x, fba) for x in queue], **look)
        average = range(0, 8193, 16)
        of_red.plot(average, [marking(x, red) for x in average], **look)
    of_fba.set(
        xlim=(0, 8192),
        ylim=(0, 4),
        xlabel="waiting cells X",
        ylabel="most cells of a VC, in equal parts of X",
        title="FBA",
    )
    of_red.set(
        xlim=(0, 8192),
        ylim=(0, 0.12),
        xlabel="average queue [cells]",
        ylabel="probability of a mark, per frame",
        title="RED",
    )
    for axes in (of_fba, of_red):
        plot.legend(axes, fontsize=7.5)
    return plot.Drawn(
        "functions",
        "Figures 1 and 2: rejection function of FBA and marking probability of RED",
        "With the parameters of tables 1 and 2. Left: frames of a VC with more cells than that are refused. Right: beyond the "
        "upper threshold every frame is marked; per cell the probability is the fraction of a frame's cells.",
        figure,
    )


def _number(given: Mapping[str, float | str], name: str) -> float:
    return float(given[name])


def rejection(waiting: float, given: Mapping[str, float | str]) -> float:
    """Z (1 + (K - X) / (X - R)): how much of its equal part of X a VC may hold."""
    k, r, z = (_number(given, name) for name in "KRZ")
    return z * (1 + (k - waiting) / (waiting - r))


def marking(average: float, given: Mapping[str, float | str]) -> float:
    """Probability that a frame is marked: linear between the thresholds, 1 above."""
    low, high = _number(given, "min_th"), _number(given, "max_th")
    if average < low:
        return 0.0
    return 1.0 if average >= high else _number(given, "max_p") * (average - low) / (high - low)


def tables(rows: Rows) -> plot.Drawn:
    """The study's question: goodput, fairness and queue by policy."""
    return plot.Drawn(
        "tables",
        "Goodput, fairness and queue by discard policy",
        f"{plot_rows.READING} Goodput is relative to the ideal of the framing.",
        plot_rows.grid(
            rows,
            ("goodput", "fairness", "mean_queue_cells"),
            x="drop_policy",
            group="mss_bytes",
            columns=["environment"],
        ),
    )


def transfers(rows: Rows) -> plot.Drawn:
    """What a user of files sees."""
    return plot.Drawn(
        "transfers",
        "How long a file takes, and what the bottleneck sends in vain",
        "Simulated, with the ensemble's ranges: median and 95 % quantile over the files that were finished in a run, and the part of the "
        "bottleneck's cells that belong to frames not delivered or delivered before.",
        plot_rows.grid(
            rows,
            ("p50_transfer_s", "p95_transfer_s", "wasted_percent"),
            x="drop_policy",
            group="mss_bytes",
            columns=["environment"],
            apart=["environment"],
        ),
    )


def sources(rows: Rows) -> plot.Drawn:
    """Ten and fifty sources on the LAN."""
    return plot.Drawn(
        "sources",
        "The LAN with ten and with fifty sources",
        "Simulated, with the ensemble's ranges.",
        plot_rows.grid(rows, ("goodput", "fairness"), x="drop_policy", group="mss_bytes", columns=["sources"]),
    )


def watched(study: Study, rows: Rows, *probes: Any) -> list[cy.RunResult]:
    """Replication 0 of each row, with ``probes``: in a run as stated all sources start at once, which is not what was published."""
    return study.runs((row.watched(*probes) for row in rows), replication=0)


def collapse(study: Study, rows: Rows) -> plot.Drawn:
    """Figure 6 of the text: who gets what over UBR, with small and with large segments."""
    figure, axes = plot.panels(len(rows), width=3.6 * len(rows), height=2.7)
    for one, row, run in zip(axes, rows, watched(study, rows), strict=True):
        rates = sorted((1000 * vc.goodput_mbps for vc in run.vcs.values()), reverse=True)
        one.plot(range(1, len(rates) + 1), rates, linestyle="", marker="o", markersize=3, color=plot.COLOURS[0])
        one.set(
            title=plot_rows.named("mss_bytes", row["mss_bytes"]), xlabel="source, by rank", xlim=(0.4, len(rates) + 0.6)
        )
    axes[0].set_ylabel("goodput [kb/s]")
    plot_rows.share_scale(axes)
    return plot.Drawn(
        "figure-6",
        "Figure 6: goodput of each source of the access network over UBR",
        "Replication 0 of each. The text has 27 sources at about 680 kb/s and 23 at about 2 kb/s with 9140 bytes; how many are held off "
        "here varies from one replication to the next, and the claim on the collapse tells the centre of all.",
        figure,
    )


def queues(study: Study, rows: Rows) -> plot.Drawn:
    """The queue of the bottleneck over time, by policy."""
    policies = [policy for policy in POLICIES if rows.where(drop_policy=policy)]
    environments = [name for name in ENVIRONMENTS if rows.where(environment=name)]
    figure, axes = plot.panels_grid(
        len(policies), len(environments), width=3.6 * len(environments), height=0.8 + 1.4 * len(policies)
    )
    runs = watched(study, rows, cy.QueueProbe(of=PORT, interval="20 ms"))
    of_row = {(row["environment"], row["drop_policy"]): run for row, run in zip(rows, runs, strict=True)}
    for line, policy in zip(axes, policies, strict=True):
        for one, environment in zip(line, environments, strict=True):
            run = of_row.get((environment, policy))
            one.set_visible(run is not None)
            if run is None:
                continue
            one.plot(run.series[0].time_s, run.series[0].value, linewidth=0.5, color=plot.COLOURS[0])
            one.set(xlim=(0, 20), ylim=(0, 8600))
            one.tick_params(labelbottom=line is axes[-1], labelleft=one is line[0])
            if line is axes[0]:
                one.set_title(ENVIRONMENTS[environment])
            if line is axes[-1]:
                one.set_xlabel("time [s]")
        line[0].set_ylabel(f"{plot_rows.named('drop_policy', policy)}\nqueue [cells]", fontsize=8)
    return plot.Drawn(
        "queues",
        "The bottleneck's queue over time, by policy",
        "MSS 1460 bytes, parameters of tables 1 and 2, the first 20 s of replication 0 of each; a point every 20 ms.",
        figure,
    )


def trade(rows: Rows) -> plot.Drawn:
    """Where the published parameters lie among those tried."""
    policies = [policy for policy in POLICIES if rows.where(drop_policy=policy)]
    environments = [name for name in ENVIRONMENTS if rows.where(environment=name)]
    sizes = plot_rows.levels(rows, "mss_bytes")
    figure, axes = plot.panels_grid(
        len(sizes), len(environments), width=3.6 * len(environments), height=0.2 + 2.7 * len(sizes)
    )
    for line, size in zip(axes, sizes, strict=True):
        for one, environment in zip(line, environments, strict=True):
            here = rows.where(environment=environment, mss_bytes=size)
            for policy in policies:
                number = POLICIES.index(policy)
                colour, marker = plot.COLOURS[number], plot.MARKERS[number]
                for table, markersize in ((policy, 3.5), ("1-2", 8.0)):
                    chosen = here.where(table=table, drop_policy=policy)
                    printed = table == "1-2"
                    one.plot(
                        chosen.values("goodput"), chosen.values("fairness"), linestyle="", marker=marker, markersize=markersize,
                        color=colour, markerfacecolor="none" if printed else colour, zorder=4 if printed else 3,
                        label=plot_rows.named("drop_policy", policy) if printed else "_",
                    )  # fmt: skip
            one.set_title(f"{ENVIRONMENTS[environment]}, {plot_rows.named('mss_bytes', size)}", fontsize=9)
            if line is axes[-1]:
                one.set_xlabel("goodput")
        line[0].set_ylabel("fairness")
    plot.legend(
        axes[0][0], [line for line in axes[0][0].lines if not str(line.get_label()).startswith("_")], fontsize=7
    )
    return plot.Drawn(
        "parameters",
        "Goodput and fairness over all parameters tried",
        "Simulated centres. Large and hollow: the parameters of tables 1 and 2; small: the others of the tables red, fba and epd.",
        figure,
    )


def others(rows: Rows, printed: Rows) -> plot.Drawn:
    """Every policy on both networks."""
    return plot.Drawn(
        "others",
        "Every discard policy on both networks",
        plot_rows.READING,
        plot_rows.grid(
            Rows([*printed, *rows]),
            ("goodput", "fairness", "mean_queue_cells"),
            x="drop_policy",
            group="mss_bytes",
            columns=["environment"],
            width=11.0,
        ),
    )
