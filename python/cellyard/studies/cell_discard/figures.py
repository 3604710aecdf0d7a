"""The study's figures: what the policies decide, the tables next to the published values, the collapse, the queue, and the parameters."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import cellyard as cy
from cellyard import plot
from cellyard.plot import rows as plot_rows
from cellyard.plot.notes import runs as counted_runs
from cellyard.studies.cell_discard import answer
from cellyard.studies.cell_discard.scenario import PORT, parameters
from cellyard.study import Rows, Study

ENVIRONMENTS = {"lan": "LAN", "access": "access network"}

#: The policies of tables 1 and 2, each with its own colour and marker.
POLICIES = ("tail-drop", "epd", "fba", "red")

#: The parameters that were varied, by policy, as labels of axes.
PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "red": {"w_q": "weight w_q", "max_p": "probability max_p", "max_th": "upper threshold [cells]"},
    "fba": {"R": "threshold R [cells]", "Z": "cutoff Z"},
    "epd": {"threshold": "threshold [K]"},
}

#: The indices of the text as labels of axes. Its fairness is not Jain's.
INDICES = {"goodput": "goodput [of the ideal]", "fairness": "fairness index of the text"}
OWN_INDEX = (
    "Fairness is the index of the text, not Jain's: 1 minus the mean relative distance of the goodputs from their mean."
)

#: For notes of figures: the TCP of all rows, and the study's centre.
TCP, CENTRE = "TCP: Reno", "mean"

#: What figures 1 and 2 of the text show of each environment: its parameters in tables 1 and 2.
SHOWN = (("lan", "solid"), ("access", "dashed"))


def figures(study: Study, rows: Rows) -> Iterator[plot.Drawing]:
    """All figures whose tables were run."""
    yield partial(functions, study)
    if chosen := rows.where(table="1-2"):
        yield partial(tables, study, chosen)
        yield partial(transfers, chosen)
        if collapsed := chosen.where(environment="access", drop_policy="tail-drop"):
            yield partial(collapse, study, collapsed)
        if watchable := chosen.where(mss_bytes=1460):
            yield partial(queues, study, watchable)
    if chosen := rows.where(table="sources"):
        yield partial(sources, chosen)
    for policies in (("red",), ("fba", "epd")):
        if chosen := rows.where(table=policies):
            yield partial(tried, chosen)
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
        ylabel="limit of a VC [X / number of VCs]",
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
        plot.legend(axes)
    return plot.Drawn(
        "functions",
        "Figures 1 and 2: rejection function of FBA and marking probability of RED",
        "With the parameters of tables 1 and 2. Left: FBA discards the frames of a VC with more "
        "cells than that. Right: above the upper threshold RED marks every frame; the "
        "probability per cell is that per frame divided by the cells of a frame.",
        figure,
        "formulas, with the parameters of tables 1 and 2",
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


def tables(study: Study, rows: Rows) -> plot.Drawn:
    """The study's question: goodput and fairness by policy."""
    return plot.Drawn(
        "tables",
        "Goodput and fairness by drop policy",
        f"{plot_rows.READING} Goodput is relative to what the framing allows. {OWN_INDEX}",
        plot_rows.grid(
            rows,
            ("goodput", "fairness"),
            x="drop_policy",
            group="mss_bytes",
            columns=["environment"],
            apart=["environment"],
            labels=INDICES,
        ),
        plot_rows.note(rows, TCP, CENTRE, "the scales of both networks differ"),
        plot_rows.said(answer.on_the_access_network, study, rows),
    )


def transfers(rows: Rows) -> plot.Drawn:
    """What a user of files sees."""
    return plot.Drawn(
        "transfers",
        "Transfer times of files, useless cells on the bottleneck, and its queue",
        "Simulated, with the range of the replications. Transfer times are the median and the 95 "
        "% quantile of the files finished in a run. Useless cells belong to frames that are not "
        "delivered, or were delivered before.",
        plot_rows.grid(
            rows,
            ("p50_transfer_s", "p95_transfer_s", "wasted_percent", "mean_queue_cells"),
            x="drop_policy",
            group="mss_bytes",
            columns=["environment"],
            apart=["environment"],
        ),
        plot_rows.note(rows, TCP, CENTRE, published=False),
    )


def sources(rows: Rows) -> plot.Drawn:
    """Ten and fifty sources on the LAN."""
    return plot.Drawn(
        "sources",
        "The LAN with ten and with fifty sources",
        "Simulated, with the range of the replications. The first segments of 50 sources, of "
        "9140 bytes each, exceed the buffer; all of them time out together, again and again. "
        f"{OWN_INDEX}",
        plot_rows.grid(
            rows, ("goodput", "fairness"), x="drop_policy", group="mss_bytes", columns=["sources"], labels=INDICES
        ),
        plot_rows.note(rows, TCP, CENTRE, published=False),
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
            title=plot_rows.named("mss_bytes", row["mss_bytes"]), xlabel="source, by rank", xlim=(0, len(rates) + 1)
        )
    axes[0].set_ylabel("goodput [kb/s]")
    plot.value_axis(axes)
    return plot.Drawn(
        "figure-6",
        "Figure 6: goodput of each source of the access network over UBR",
        "Replication 0 of each row. With 9140 bytes the text has 27 sources at about 680 kb/s "
        "and 23 at about 2 kb/s. How many sources starve here differs between replications; the "
        "claim on the collapse gives the centre of all.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; tail drop",
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
        line[0].set_ylabel(f"{plot_rows.named('drop_policy', policy)}\nqueue [cells]")
    return plot.Drawn(
        "queues",
        "The bottleneck's queue over time, by policy",
        "MSS 1460 bytes, parameters of tables 1 and 2; the first 20 s of replication 0 of each "
        "row, a point every 20 ms.",
        figure,
        f"{plot_rows.ONE_RUN}; {TCP}; segments of 1460 bytes",
    )


def tried(rows: Rows) -> plot.Drawn:
    """What each parameter of the policies does, on average over the others."""
    policies = plot_rows.levels(rows, "drop_policy")
    across = [(policy, name) for policy in policies for name in PARAMETERS[policy]]
    figure, axes = plot.panels_grid(len(INDICES), len(across), width=7.2, height=4.4)
    for line, (metric, label) in zip(axes, INDICES.items(), strict=True):
        for one, (policy, name) in zip(line, across, strict=True):
            plot_rows.means(one, _by_value(rows.where(drop_policy=policy), metric, name), name)
            if line is axes[0]:
                one.set_title(plot_rows.named("drop_policy", policy))
            else:
                one.set_xlabel(PARAMETERS[policy][name])
            one.tick_params(labelbottom=line is axes[-1])
        line[0].set_ylabel(label)
        plot.value_axis(line)
    plot_rows.legend_above(figure, axes[0][0], published=False)
    names = " and ".join(plot_rows.named("drop_policy", policy) for policy in policies)
    thresholds = (
        " Each upper threshold of RED has one lower threshold: 500, 1000, 2000 and 1000 cells."
        if "red" in policies
        else ""
    )
    return plot.Drawn(
        f"parameters-{'-'.join(policies)}",
        f"Goodput and fairness by each parameter of {names}",
        f"Simulated means over all values of the other parameters; dashes are rows.{thresholds} {OWN_INDEX}",
        figure,
        f"{counted_runs((row.runs for row in rows), 'row')}; {TCP}; marks: means over all rows with a value; dashes: rows",
    )


def _by_value(rows: Rows, metric: str, name: str) -> dict[str, dict[float, list[float]]]:
    """The values of a metric by network and segment size, and by the value of a parameter; without a value that few rows have."""
    found: dict[str, dict[float, list[float]]] = {}
    for row in rows:
        if (value := row.simulated[metric]) is not None:
            group = f"{ENVIRONMENTS[str(row['environment'])]}, {plot_rows.named('mss_bytes', row['mss_bytes'])}"
            at = _number(parameters(str(row["parameters"])), name)
            found.setdefault(group, {}).setdefault(at, []).append(value)
    return {
        group: {at: of for at, of in values.items() if 2 * len(of) >= max(map(len, values.values()))}
        for group, values in found.items()
    }


def others(rows: Rows, printed: Rows) -> plot.Drawn:
    """Every policy on both networks."""
    return plot.Drawn(
        "others",
        "Every drop policy on both networks",
        f"{plot_rows.READING} {OWN_INDEX}",
        plot_rows.grid(
            Rows([*printed, *rows]),
            ("goodput", "fairness", "mean_queue_cells"),
            x="drop_policy",
            group="mss_bytes",
            columns=["environment"],
            labels=INDICES,
        ),
        plot_rows.note([*printed, *rows], TCP, CENTRE),
    )
