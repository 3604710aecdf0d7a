"""Draw docs/figures/first.png: what Cellyard is about, in one picture.

A network, the queue of its bottleneck by VC under two drop policies, and what the users get, beside
the published values. Needs the extra ``plot``, and makes 82 runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import cellyard as cy
from cellyard import plot
from cellyard.study import load
from cellyard.study.reproduce import Reproduction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE = Path(__file__).resolve().parent.parent / "docs" / "figures" / "first.png"

REPLICATIONS = 20

#: What TCP can get of the link: 512 of the 636 bytes that carry a segment, of 155.52 Mb/s.
MAX_GOODPUT_MBPS = 125.198491

#: Drop policies as the study names them, and as the figure does.
POLICIES = {"tail-drop": "tail drop", "epd": "EPD", "selective-drop": "Selective\nDrop", "fba": "FBA"}

#: Seconds of a run that are shown, and the length of the scale of queues, in cells.
SHOWN_S, MOST_CELLS = 2.5, 1100


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
    for cell in range(8):
        colour = plot.COLOURS[(3 * cell) % 5]
        axes.plot(3.9 + 0.26 * cell, 2.85, "s", color=colour, markersize=6)
    axes.text(0.9, -0.15, "5 TCP senders", ha="center", fontsize=9)
    axes.text(9.1, -0.15, "5 receivers", ha="center", fontsize=9)
    axes.text(4.8, 3.25, "buffer of 1000 cells", ha="center", fontsize=9)
    axes.text(5.0, 1.75, "155.52 Mb/s", ha="center", fontsize=9)


def main() -> None:
    """Simulate and draw."""
    study = load("ubr-plus")
    rows = study.tables["2-3"].rows.where(configuration="lan", sources=5, buffer_cells=1000)
    reproduction = Reproduction(study, rows, replications=REPLICATIONS)
    for _ in reproduction.advance():
        pass
    with plot.style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10.5, 4.6), layout="constrained")
        parts = figure.add_gridspec(2, 3, height_ratios=[0.8, 1], width_ratios=[1, 1, 0.85])
        draw_network(figure.add_subplot(parts[0, :2]))
        for place, policy in enumerate(("tail-drop", "selective-drop")):
            axes = figure.add_subplot(parts[1, place])
            (row,) = [row for row in rows if row.parameters["drop_policy"] == policy]
            probes = [cy.QueueProbe(of="west->east", vc=f"vc{number}", interval="0.5 ms") for number in range(1, 6)]
            series = study.scenario(row).with_values({"probe": probes}).run().series
            axes.stackplot(series[0].time_s, *(one.value for one in series), colors=plot.COLOURS[:5], step="post")
            axes.set(title=f"queue with {POLICIES[policy]}".replace("\n", " "), xlabel="time [s]")
            axes.set(xlim=(0, SHOWN_S), ylim=(0, MOST_CELLS))
            if not place:
                axes.set_ylabel("cells, by sender")
        bars = figure.add_subplot(parts[:, 2])
        for place, row in enumerate(reproduction.rows):
            middle = row.simulated["efficiency"] * MAX_GOODPUT_MBPS
            low, high = (end * MAX_GOODPUT_MBPS for end in row.ranges["efficiency"])
            published = row.published["efficiency"] * MAX_GOODPUT_MBPS
            bars.bar(place, middle, color="#9ecae1", label=None if place else "simulated, 5-95 %")
            bars.plot([place, place], [low, high], color="0.3")
            bars.plot(
                place,
                published,
                "o",
                color="white",
                markeredgecolor="black",
                markersize=8,
                label=None if place else "published 1996",
            )
        bars.set_xticks(range(len(POLICIES)), [POLICIES[row["drop_policy"]] for row in reproduction.rows])
        bars.set(title="goodput of all five [Mb/s]", ylim=(0, MAX_GOODPUT_MBPS))
        bars.legend(loc="upper left")
        figure.savefig(FIGURE, dpi=110)


if __name__ == "__main__":
    main()
