"""Draw docs/figures/first.png: what Cellyard is about, in one picture.

A network, the queue of its bottleneck by VC for two TCPs under two drop policies, and what the users
get, next to the published values. Needs the extra ``plot``, and makes 164 runs.
`tests/test_front_page.py` compares the captions of the picture with the same runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import cellyard as cy
from cellyard import plot
from cellyard.study import load

if TYPE_CHECKING:
    from cellyard.results.ensemble import Results
    from cellyard.scenario.scenario import Scenario
    from matplotlib.axes import Axes

FIGURE = Path(__file__).resolve().parent.parent / "docs" / "figures" / "first.png"

REPLICATIONS = 20

#: What TCP can get of the link: 512 of the 636 bytes that carry a segment, of 155.52 Mb/s.
MAX_GOODPUT_MBPS = 125.198491

#: Drop policies as the study names them, and as the figure does.
POLICIES = {"tail-drop": "tail drop", "epd": "EPD", "selective-drop": "Selective\nDrop", "fba": "FBA"}

#: TCPs by their `recovery`, as the figure names them, and the colours of their bars. The study has the first.
RECOVERIES = {"vanilla": ("vanilla (no fast retransmit)", "#9ecae1"), "sack": ("SACK", "#fdae6b")}

#: Seconds of a run that are shown, and the length of the scale of queues, in cells.
SHOWN_S, MOST_CELLS = 2.5, 1100


class Case(NamedTuple):
    """A drop policy with a TCP: its scenario, what it published about vanilla TCP, and its random draws."""

    scenario: Scenario
    published: dict[str, float]
    runs: Results

    def spread(self, metric: str) -> tuple[float, float, float]:
        """Return the median of a metric, and both ends of its range."""
        middle, ends = self.runs.median(metric), self.runs.interval(metric)
        if middle is None or ends is None:
            raise SystemExit(f"{metric} is not known in some run")
        return middle, *ends


def cases() -> dict[tuple[str, str], Case]:
    """Simulate each drop policy with each TCP."""
    study = load("ubr-plus")
    rows = study.tables["2-3"].rows.where(configuration="lan", sources=5, buffer_cells=1000)
    found = {}
    for row in rows:
        for recovery in RECOVERIES:
            scenario = study.scenario(row).with_values({"vc.traffic.recovery": recovery})
            known = row.published.items() if recovery == "vanilla" else ()
            published = {metric: value for metric, value in known if value is not None}
            runs = scenario.run(replications=REPLICATIONS)
            found[recovery, str(row.parameters["drop_policy"])] = Case(scenario, published, runs)
    return found


def draw_network(axes: Axes) -> None:
    """Draw five senders, two switches and five receivers."""
    axes.set(xlim=(0, 10), ylim=(-0.2, 5), aspect="auto")
    axes.axis("off")
    for number in range(5):
        height = 4.4 - number
        axes.plot([0.9, 3.3], [height, 2.4], color=plot.COLOURS[number], linewidth=1.5, zorder=1)
        axes.plot([6.7, 9.1], [2.4, height], color=plot.COLOURS[number], linewidth=1.5, zorder=1)
        for place in (0.9, 9.1):
            axes.plot(place, height, "o", color=plot.COLOURS[number], markersize=9)
    axes.plot([3.3, 6.7], [2.4, 2.4], color="0.3", linewidth=3, zorder=1)
    for place in (3.3, 6.7):
        axes.plot(place, 2.4, "s", color="0.3", markersize=24, zorder=2)
    axes.text(0.9, -0.15, "5 TCP senders", ha="center", fontsize=9)
    axes.text(9.1, -0.15, "5 receivers", ha="center", fontsize=9)
    axes.text(3.3, 3.25, "switch with a\nbuffer of 1000 cells", ha="center", fontsize=9)
    axes.text(5.0, 1.65, "155.52 Mb/s, shared by all", ha="center", fontsize=9)


def draw_queue(axes: Axes, scenario: Scenario) -> None:
    """Draw the queue of the bottleneck by VC, in one run."""
    probes = [cy.QueueProbe(of="west->east", vc=f"vc{number}", interval="0.5 ms") for number in range(1, 6)]
    series = scenario.with_values({"probe": probes}).run().only.series
    axes.stackplot(series[0].time_s, *(one.value for one in series), colors=plot.COLOURS[:5], step="post")
    axes.set(xlim=(0, SHOWN_S), ylim=(0, MOST_CELLS))


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


def main() -> None:
    """Simulate and draw."""
    found = cases()
    with plot.style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10.5, 6.2), layout="constrained")
        parts = figure.add_gridspec(3, 3, height_ratios=[0.75, 1, 1], width_ratios=[1, 1, 1.2])
        draw_network(figure.add_subplot(parts[0, :2]))
        for line, recovery in enumerate(RECOVERIES):
            for place, policy in enumerate(("tail-drop", "selective-drop")):
                axes = figure.add_subplot(parts[1 + line, place])
                draw_queue(axes, found[recovery, policy].scenario)
                tcp = RECOVERIES[recovery][0].partition(" (")[0]
                axes.set_title(f"{tcp}, {POLICIES[policy]}".replace("\n", " "))
                if line:
                    axes.set_xlabel("time [s]")
                if not place:
                    axes.set_ylabel("cells waiting")
        right = parts[:, 2].subgridspec(2, 1, height_ratios=[1.25, 1])
        goodput, fairness = figure.add_subplot(right[0]), figure.add_subplot(right[1])
        draw_bars(goodput, found, "efficiency", MAX_GOODPUT_MBPS)
        goodput.set(title="goodput of all five [Mb/s]", ylim=(0, 1.5 * MAX_GOODPUT_MBPS))
        goodput.legend(loc="upper left")
        draw_bars(fairness, found, "fairness", 1)
        fairness.set(title="fairness (Jain's index)", ylim=(0, 1.05))
        figure.savefig(FIGURE, dpi=110)


if __name__ == "__main__":
    main()
