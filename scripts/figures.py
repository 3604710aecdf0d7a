"""Draw the figures of the documentation that take runs: python scripts/figures.py [NAME ...], by default all.

Each is drawn for light and for dark pages. `first` is the picture of the front page (164 runs),
`tcp-family` five TCP recoveries after the same four losses, and `mechanisms` a figure with its page.
`explorer` is taken in Chromium. The commands of a page draw the others. They need the extra ``plot``.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import cellyard as cy
from cellyard import _engine, plot
from cellyard.plot.notes import tcps
from cellyard.show.figure import empty
from cellyard.study import load, select
from mechanisms_figure import Runs, draw as gains_figure
from pictures import DOCS, OF_PAGES, keep, of_explorer, of_page
from tcp_family import tcp_family

if TYPE_CHECKING:
    from cellyard.results.ensemble import Results
    from matplotlib.axes import Axes

# first.png: a network, the queue of its bottleneck by VC for two TCPs under two drop policies, and what
# the users get, next to the published values. tests/test_front_page.py compares its captions with these runs.

REPLICATIONS = 20

#: The bottleneck of all networks.
PORT = "west->east"

#: What TCP can get of the link: 512 of the 636 bytes that carry a segment, of 155.52 Mb/s.
MAX_GOODPUT_MBPS = 125.198491

#: Drop policies as the study names them, and as the figure does.
POLICIES = {"tail-drop": "tail drop", "epd": "EPD", "selective-drop": "Selective\nDrop", "fba": "FBA"}

#: TCPs by their `recovery`, as the figure names them, and the colours of their bars. The study has the first.
RECOVERIES = {"vanilla": ("vanilla (no fast retransmit)", "#c8c8c8"), "sack": ("SACK", "#777777")}

#: Second from which a run is shown, for how long, and the length of the scale of queues, in cells.
FROM_S, SHOWN_S, MOST_CELLS = 1.0, 1.0, 1100
#: Colours of a link that is busy, and idle.
BUSY, IDLE = "#444444", "#eeeeee"


class Case(NamedTuple):
    """A drop policy with a TCP: its scenario, what it published about vanilla TCP, and its random draws."""

    scenario: cy.Scenario
    published: dict[str, float]
    runs: Results

    def is_outside(self, metric: str) -> bool:
        """Whether a published value, printed with two digits, is outside the range of the runs."""
        _, low, high = self.spread(metric)
        return not low - 0.005 <= self.published[metric] <= high + 0.005

    def spread(self, metric: str) -> tuple[float, float, float]:
        """Return the median of a metric, and both ends of its range."""
        middle, ends = self.runs.median(metric), self.runs.interval(metric)
        if middle is None or ends is None:
            raise SystemExit(f"{metric} is not known in some run")
        return middle, *ends


def cases() -> dict[tuple[str, str], Case]:
    """Simulate each drop policy with each TCP."""
    study = load("ubr-plus")
    found = {}
    for row in study.tables["2-3"].rows.where(configuration="lan", sources=5, buffer_cells=1000):
        for recovery in RECOVERIES:
            scenario = study.scenario(row).with_values({"vc.traffic.recovery": recovery})
            known = row.published.items() if recovery == "vanilla" else ()
            published = {metric: value for metric, value in known if value is not None}
            runs = scenario.run(replications=REPLICATIONS)
            found[recovery, str(row.parameters["drop_policy"])] = Case(scenario, published, runs)
    return found


def draw_network(axes: Axes) -> None:
    """Draw five senders, two switches and five receivers."""
    axes.set(xlim=(0, 10), ylim=(-0.6, 5), aspect="auto")
    axes.axis("off")
    for number in range(5):
        height, colour = 4.4 - number, plot.COLOURS[number]
        axes.plot([0.9, 3.3], [height, 2.4], color=colour, linewidth=1.5, zorder=1)
        axes.plot([6.7, 9.1], [2.4, height], color=colour, linewidth=1.5, zorder=1)
        for place in (0.9, 9.1):
            axes.plot(place, height, "o", color=colour, markersize=9)
    axes.plot([3.3, 6.7], [2.4, 2.4], color="0.3", linewidth=3, zorder=1)
    for place in (3.3, 6.7):
        axes.plot(place, 2.4, "s", color="0.3", markersize=24, zorder=2)
    for x, y, text in (
        (0.9, -0.45, "5 TCP senders"),
        (9.1, -0.45, "5 receivers"),
        (3.3, 3.25, "switch with a\nbuffer of 1000 cells"),
        (5.0, 1.65, "155.52 Mb/s, shared by all"),
    ):
        axes.text(x, y, text, ha="center", fontsize=9)


def draw_queue(axes: Axes, strip: Axes, scenario: cy.Scenario) -> None:
    """Draw the queue of the bottleneck by VC in one run, and below it when the link is busy."""
    probes: list[Any] = [cy.QueueProbe(of=PORT, vc=f"vc{number}", interval="0.5 ms") for number in range(1, 6)]
    run = scenario.with_values({"probe": [*probes, cy.LinkShareProbe(of=PORT, interval="1 ms")]}).run().only
    queues = [one for one in run.series if one.what == "queue"]
    (share,) = (one for one in run.series if one.what == "link-share")
    axes.stackplot(queues[0].time_s, *(one.value for one in queues), colors=plot.COLOURS[:5], step="post")
    axes.set(xlim=(FROM_S, FROM_S + SHOWN_S), ylim=(0, MOST_CELLS))
    axes.tick_params(labelbottom=False)
    strip.set_facecolor(IDLE)
    strip.fill_between(share.time_s, share.value, step="pre", color=BUSY, linewidth=0)
    strip.set(xlim=axes.get_xlim(), ylim=(0, 1), yticks=[])
    strip.grid(visible=False)


def draw_bars(axes: Axes, found: dict[tuple[str, str], Case], metric: str, scale: float) -> None:
    """Draw medians and ranges of a metric, by policy and TCP, and the published values."""
    for place, policy in enumerate(POLICIES):
        for side, (recovery, (label, colour)) in enumerate(RECOVERIES.items()):
            case, at = found[recovery, policy], place + 0.4 * (side - 0.5)
            middle, low, high = case.spread(metric)
            axes.bar(at, scale * middle, 0.38, color=colour, label=None if place else label)
            axes.plot([at, at], [scale * low, scale * high], color="0.3")
            if metric in case.published:
                told = None if place else "published 1996"
                axes.plot(at, scale * case.published[metric], "o", mfc="white", mec="black", ms=7, label=told)
    axes.set_xticks(range(len(POLICIES)), list(POLICIES.values()))


def first() -> None:
    """Simulate and draw what Cellyard is about, in one picture."""
    found = cases()
    figure = empty(10.5, 6.6)
    parts = figure.add_gridspec(3, 3, height_ratios=[0.7, 1, 1], width_ratios=[1, 1, 1.2])
    draw_network(figure.add_subplot(parts[0, :2]))
    for line, recovery in enumerate(RECOVERIES):
        for place, policy in enumerate(("tail-drop", "selective-drop")):
            both = parts[1 + line, place].subgridspec(2, 1, height_ratios=[7, 1], hspace=0.02)
            axes, strip = figure.add_subplot(both[0]), figure.add_subplot(both[1])
            draw_queue(axes, strip, found[recovery, policy].scenario)
            tcp = RECOVERIES[recovery][0].partition(" (")[0]
            axes.set_title(f"{tcp}, {POLICIES[policy]}".replace("\n", " "))
            strip.tick_params(labelbottom=bool(line))
            if line:
                strip.set_xlabel("time [s]")
            if not place:
                axes.set_ylabel("cells waiting")
                strip.set_ylabel("busy", rotation=0, ha="right", va="center", fontsize=7.5)
    right = parts[:, 2].subgridspec(2, 1, height_ratios=[1.25, 1])
    goodput, fairness = figure.add_subplot(right[0]), figure.add_subplot(right[1])
    draw_bars(goodput, found, "efficiency", MAX_GOODPUT_MBPS)
    goodput.set(title="goodput of all five [Mb/s]", ylim=(0, 1.5 * MAX_GOODPUT_MBPS))
    goodput.legend(loc="upper left")
    draw_bars(fairness, found, "fairness", 1)
    fairness.set(title="fairness (Jain's index)", ylim=(0, 1.05))
    published = [case.is_outside(metric) for case in found.values() for metric in case.published]
    drawn = plot.Drawn(
        "first",
        "With vanilla TCP the drop policy decides how much five senders get; with SACK, who gets it",
        "",
        figure,
        f"bars: medians of {REPLICATIONS} runs of 10 s, lines: range of 90 % of them; circles: published for vanilla, "
        f"{sum(published)} of {len(published)} outside the range; queues: {SHOWN_S:g} s of one run by VC, filled: link busy; LAN, 5 TCPs",
    )
    keep("first", plot.saved(drawn, "png", dpi=110))


# mechanisms.md, mechanisms.csv and mechanisms.png: every drop policy and feedback on one network of each kind that occurs
# in the studies, with the buffers stated there. No parameter is tuned to a network.

PAGE, TABLE = DOCS / "mechanisms.md", DOCS / "figures/mechanisms.csv"
#: Runs of each mechanism on each network.
MECHANISM_RUNS = 5


class Network(NamedTuple):
    """A network: a row of a study, with a description."""

    name: str
    text: str
    study: str
    table: str
    where: Mapping[str, Any]

    def scenario(self) -> cy.Scenario:
        """Return the scenario of the row, as in the study."""
        study = load(self.study)
        (row,) = select(study, [self.table]).where(**self.where)
        return study.scenario(row)


class Mechanism(NamedTuple):
    """A configuration of the bottleneck: service class, queue, and what else the mechanism needs."""

    name: str
    #: State that the switch keeps for each VC.
    state: str
    drop: Any = "tail-drop"
    class_: str = "ubr"
    scheduler: Any = None
    feedback: Any = None


NETWORKS = (
    Network("LAN", "15 endless TCPs (Vanilla), K = 1000, round trip 30 us", "ubr-plus", "2-3",
            {"configuration": "lan", "sources": 15, "buffer_cells": 1000, "drop_policy": "tail-drop"}),
    Network("WAN", "15 endless TCPs (Vanilla), K = 12000, round trip 30 ms", "ubr-plus", "2-3",
            {"configuration": "wan", "sources": 15, "buffer_cells": 12000, "drop_policy": "tail-drop"}),
    Network("WAN, VBR", "15 endless TCPs (Vanilla) under VBR that takes 80 % of the link half of the time, K = 12000",
            "abr-or-ubr", "services",
            {"configuration": "wan", "sources": 15, "vbr": "yes", "service": "ubr"}),
    Network("satellite", "5 endless TCPs (Vanilla), K = 200000, round trip 550 ms", "abr-or-ubr", "services",
            {"configuration": "satellite", "sources": 5, "vbr": "no", "service": "ubr"}),
    Network("LAN, files", "10 TCPs (Reno) with files of 5 MB, K = 8192, MSS 1460", "cell-discard", "1-2",
            {"environment": "lan", "mss_bytes": 1460, "drop_policy": "tail-drop"}),
    Network("access, files", "50 TCPs (Reno) with files of 512 kB through 34 Mb/s to lines of 2 Mb/s, K = 8192, MSS 1460",
            "cell-discard", "1-2",
            {"environment": "access", "mss_bytes": 1460, "drop_policy": "tail-drop"}),
)  # fmt: skip

#: Burst size of the GFR contracts: 10 MB, as in `gfr-leaky-bucket`.
BURST_CELLS = 188_679

RED: Any = {"w_q": 0.002, "max_p": 0.1, "min_th": 0.25, "max_th": 0.75}

#: Name of the ideal mechanism. It is shown for comparison and never counts as the best, as no
#: switch can know all rates of a network.
IDEAL = "ABR, rates known"

#: What has no row. Without minimum rates `erica-mcr` equals `erica` to the bit, and a program can
#: be any policy.
LEFT_OUT = {"erica-mcr", "program"}

DROPS = (
    Mechanism("tail drop", "-"),
    Mechanism("PPD", "1 bit", cy.Ppd()),
    Mechanism("drop from front", "1 bit", cy.DropFromFront()),
    Mechanism("drop from front, frames", "1 bit", cy.FrameDropFromFront()),
    Mechanism("EPD", "1 bit", cy.Epd(threshold=0.9)),
    Mechanism("Selective Drop", "count", cy.SelectiveDrop(r=0.9, z=0.8)),
    Mechanism("FBA", "count", cy.Fba(r=0.9, z=0.8)),
    Mechanism("cell-RED", "-", cy.CellRed(**RED)),
    Mechanism("packet-RED", "count", cy.PacketRed(**RED)),
    Mechanism("ATM-RED", "2 bits", cy.AtmRed(**RED)),
    Mechanism("GFR, scheme one", "bucket", cy.GcraEpd(threshold=0.5), "gfr"),
    Mechanism("GFR, scheme two", "bucket", cy.GcraRoundRobin(threshold=0.5), "gfr"),
    Mechanism("GFR, two thresholds", "buckets", cy.GcraTwoThresholds(low=0.25, threshold=0.5), "gfr"),
    Mechanism("GFR, DFBA", "rate, count", cy.Dfba(low=0.5, high=0.9), "gfr"),
)
SCHEDULERS = (
    Mechanism("per-VC scheduling", "queue", cy.SelectiveDrop(r=0.5, z=1), scheduler=cy.PerVc(class_="ubr")),
    Mechanism("guaranteed rate 0.5", "-", scheduler=cy.GuaranteedRate(class_="ubr", gr=0.5)),
)
FEEDBACKS = (
    Mechanism("ABR, EFCI", "-", class_="abr", feedback="efci"),
    Mechanism("ABR, relative rate", "-", class_="abr", feedback="relative-rate"),
    Mechanism("ABR, ERICA", "rate", class_="abr", feedback=cy.Erica()),
    Mechanism("ABR, ERICA+", "rate", class_="abr", feedback=cy.EricaPlus()),
    Mechanism(IDEAL, "rate", class_="abr", feedback=cy.OracleRate()),
)


def component(value: Any) -> str:
    """Return the name of a component."""
    return value if isinstance(value, str) else str(next(iter(value.TAG.values())))


def unlisted(family: str, listed: set[str]) -> list[str]:
    """Return the components of a family that have no row by hand. They get one with their defaults."""
    (known,) = (found for found in json.loads(_engine.registry())["families"] if found["name"] == family)
    return [one["name"] for one in known["components"] if one["name"] not in listed | LEFT_OUT]


MECHANISMS = (
    *DROPS,
    *(Mechanism(name, "", name) for name in unlisted("drop", {component(one.drop) for one in DROPS})),
    *SCHEDULERS,
    *FEEDBACKS,
    *(
        Mechanism(f"ABR, {name}", "", class_="abr", feedback=name)
        for name in unlisted("feedback", {component(one.feedback) for one in FEEDBACKS})
    ),
)


def scenario_with(network: Network, mechanism: Mechanism) -> cy.Scenario:
    """Return the scenario of the network with the mechanism at all ports of its switches."""
    base = network.scenario()
    data = base.to_dict()
    (buffer,) = (queue["buffer"] for queue in data["switches"][0]["queues"] if queue["class"] == "ubr")
    tcps = [vc for vc in data["vcs"] if vc["traffic"]["kind"] == "tcp"]
    drop, feedback = mechanism.drop, mechanism.feedback
    if isinstance(drop, cy.CellRed | cy.AtmRed):
        drop = type(drop)(**RED, segment_cells=f"{-(-(tcps[0]['traffic']['mss'] + 56) // 48)} cells")
    # The thresholds of marks are the same fractions of the buffer in all networks.
    if feedback == "efci":
        feedback = cy.Efci(threshold=f"{buffer // 4} cells")
    elif feedback == "relative-rate":
        feedback = cy.RelativeRate(high=f"{buffer // 4} cells", low=f"{buffer // 8} cells")
    values: dict[str, Any] = {}
    for switch in ("west", "east"):
        queue = cy.Queue(buffer=f"{buffer} cells", drop=drop, feedback=feedback)
        values[f"switch.{switch}.{mechanism.class_}"] = queue
        if mechanism.scheduler is not None:
            values[f"switch.{switch}.scheduler"] = mechanism.scheduler
    if mechanism.class_ != "ubr":
        # In every network, the VCs with TCP are the first group.
        values["vc.0.class"] = mechanism.class_
    if mechanism.class_ == "gfr":
        (rate,) = (link["rate"] for link in data["links"] if link["name"] == PORT)
        half = f"{rate // len(tcps) // 2000} kbps"
        values["vc.0.contract"] = cy.Contract(pcr=f"{rate} bps", mcr=half, mbs=f"{BURST_CELLS} cells")
    if feedback is not None:
        # With marks, a rate grows in steps; explicit rates are adopted at once.
        values["vc.0.abr"] = cy.Abr() if isinstance(mechanism.feedback, str) else cy.Abr(rif=1)
    return base.with_values(values)


def measured_runs(scenario: cy.Scenario) -> dict[str, list[float]]:
    """Return the metrics of each replication."""
    runs = list(scenario.run(replications=MECHANISM_RUNS))
    return {
        "efficiency": [run.totals.efficiency or 0.0 for run in runs],
        "fairness": [run.totals.fairness or 0.0 for run in runs],
        "loss": [100 * run.totals.cell_loss_ratio for run in runs],
        "queue": [run.ports[PORT].mean_queue_cells for run in runs],
    }


def measured(scenario: cy.Scenario) -> dict[str, float]:
    """Return the means of the metrics over the replications."""
    return {metric: fmean(values) for metric, values in measured_runs(scenario).items()}


Measured: TypeAlias = "dict[tuple[str, str], dict[str, float]]"
BEGINNING = """# Every mechanism on every network

What a switch can do about a full buffer, on one network of each kind that the studies have. Each
network is a row of a study, with its buffer and TCPs; only the mechanism changes. No parameter is tuned
to a network, so a mechanism may do better than here. Four networks have vanilla TCP, which has no fast
retransmit: each loss costs it a timeout.

![Efficiency and fairness of every mechanism on every network](figures/mechanisms.png)

*Means of {replications} runs, as differences from tail drop, whose row has its own values. Frames mark the highest value of a
column and those without a significant difference from it. The mechanism that knows all rates has none.*

{sentences}

[mechanisms.csv](figures/mechanisms.csv) has all numbers, with cell loss, mean queue, and the *state*
that the switch keeps for each VC.

| network | what it is | row of |
|---|---|---|
{networks}

Parameters:

| mechanism | parameters |
|---|---|
| EPD, Selective Drop, FBA | threshold 0.9 K; R = 0.9 K, Z = 0.8 |
| RED family | w_q = 0.002, max_p = 0.1 per frame, thresholds K / 4 and 3 K / 4 |
| GFR | contracts of half of an equal share, 10 MB of burst; thresholds K / 2 (two: K / 4 and K / 2; DFBA: K / 2 and 0.9 K) |
| per-VC scheduling | equal weights, one buffer, Selective Drop with R = 0.5 K, Z = 1 |
| EFCI, relative rate | marks at K / 4 (and K / 8), RIF = 1/16 |
| ERICA, ERICA+, rates known | target 0.9 (ERICA+: its defaults), RIF = 1 |

The rest of a damaged frame is sent on, unless the policy itself drops it. Schemes one and two differ
only when buckets run empty, and a guaranteed rate matters only with VBR. No switch can know all
rates beforehand; that row is an upper bound to compare with. `python scripts/figures.py mechanisms`
writes this page, the figure and the table.
"""
HEAD = ("network", "mechanism", "state per VC", "efficiency", "fairness", "cell loss [%]", "mean queue [cells]")


def line(network: Network, mechanism: Mechanism, values: Mapping[str, float]) -> list[str]:
    """Return the cells of a line of the table."""
    numbers = [
        f"{values[name]:.{digits}f}" for name, digits in (("efficiency", 3), ("fairness", 3), ("loss", 2), ("queue", 0))
    ]
    return [network.name, mechanism.name, mechanism.state, *numbers]


def table(found: Measured) -> str:
    """Return the table of all numbers, as CSV."""
    text = io.StringIO()
    lines = [line(network, each, found[network.name, each.name]) for network in NETWORKS for each in MECHANISMS]
    csv.writer(text, lineterminator="\n").writerows([HEAD, *lines])
    return text.getvalue()


def page(found: Measured) -> str:
    """Return the text of the page."""
    networks = [f"| {one.name} | {one.text} | `{one.study}`, table {one.table} |" for one in NETWORKS]
    return BEGINNING.format(
        replications=MECHANISM_RUNS, sentences="\n".join(sentences(found)), networks="\n".join(networks)
    )


def sentences(found: Measured) -> list[str]:
    """Return sentences about which mechanism is best where, derived from the numbers."""
    lines = []
    for network in NETWORKS:
        told = []
        for word, metric in (("most efficient", "efficiency"), ("fairest", "fairness")):
            values = {one.name: found[network.name, one.name][metric] for one in MECHANISMS if one.name != IDEAL}
            best = max(values, key=lambda name: values[name])
            told.append(f"{word} {best} ({values[best]:.2f}; tail drop {values['tail drop']:.2f})")
        lines.append(f"* {network.name}: {', '.join(told)}.")
    return lines


def mechanisms() -> None:
    """Run all combinations, print progress, and write the page and the figure."""
    runs = {}
    for network in NETWORKS:
        for mechanism in MECHANISMS:
            runs[network.name, mechanism.name] = measured_runs(scenario_with(network, mechanism))
        print(f"{network.name}: done", flush=True)
    found = {key: {metric: fmean(values) for metric, values in of.items()} for key, of in runs.items()}
    PAGE.write_text(page(found), encoding="utf-8")
    TABLE.write_text(table(found), encoding="utf-8")
    draw(runs)


def draw(runs: Runs) -> None:
    """Draw the gains of all mechanisms over tail drop."""
    tcp = tcps(network.scenario().canonical for network in NETWORKS)
    names, networks = [one.name for one in MECHANISMS], [one.name for one in NETWORKS]
    drawn = gains_figure(runs, names, networks, apart=IDEAL, runs=MECHANISM_RUNS, tcps=tcp)
    keep("mechanisms", plot.saved(drawn, "png"))


DRAWN: Mapping[str, Callable[[], None]] = {
    "first": first,
    "tcp-family": tcp_family,
    "mechanisms": mechanisms,
    "explorer": of_explorer,
    **{name: partial(of_page, name) for name in OF_PAGES},
}


def main() -> None:
    """Draw the named figures."""
    names = sys.argv[1:] or list(DRAWN)
    if unknown := set(names) - set(DRAWN):
        sys.exit(f"unknown figure {', '.join(sorted(unknown))} (allowed: {', '.join(DRAWN)})")
    with plot.style():
        for name in names:
            DRAWN[name]()


if __name__ == "__main__":
    main()
