"""Draw docs/figures/ubr-plus.png: the queue of one row, and Tables 2-3 simulated and published.

Needs the extra ``plot``, and makes 961 runs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cellyard as cy
from cellyard import plot
from cellyard.plot import rows as plot_rows
from cellyard.study import load, select
from cellyard.study.reproduce import Reproduction

FIGURE = Path(__file__).resolve().parent.parent / "docs" / "figures" / "ubr-plus.png"

REPLICATIONS = 20


def main() -> None:
    """Simulate and draw."""
    study = load("ubr-plus")
    reproduction = Reproduction(study, select(study, ["2-3"]), replications=REPLICATIONS)
    for _ in reproduction.advance():
        pass
    with plot.style():
        figure, (queue, *compared) = plot.panels(3, width=10.5, height=3.4)
        (row,) = study.tables["2-3"].rows.where(
            configuration="lan", sources=5, buffer_cells=1000, drop_policy="selective-drop"
        )
        probes = (cy.QueueProbe(of="west->east", interval="1 ms"),)
        watched = study.scenario(replace(row, parameters={**row.parameters, "probes": probes})).run()
        plot.lines(queue, {"queue": watched.series[0]})
        plot.level(queue, 900, "R = 0.9 K")
        queue.set(title="one run: LAN, 5 TCPs, Selective Drop", xlim=(0, 2), ylim=(0, 1100), ylabel="queue [cells]")
        for axes, metric in zip(compared, ("efficiency", "fairness"), strict=True):
            plot_rows.against_diagonal(axes, reproduction.rows, metric, group="configuration", groups=["lan", "wan"])
            axes.legend(fontsize=7.5, loc="lower right", handletextpad=0.2)
            axes.set_title(f"Tables 2-3, medians of {REPLICATIONS} runs")
        figure.savefig(FIGURE, dpi=110)


if __name__ == "__main__":
    main()
