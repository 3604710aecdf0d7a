"""Draw docs/figures/tcp-family.png: five TCP recoveries after the same four losses.

Segments 14, 24, 26 and 28 are lost on one link. The pattern is from Fall and Floyd,
"Simulation-based comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3), 1996, section 6. In both, a
segment takes 10 ms and the path 100 ms.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import cellyard as cy
import numpy as np
from cellyard import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Curve: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]

FIGURE = Path(__file__).resolve().parent.parent / "docs" / "figures" / "tcp-family.png"

LOST = (14, 24, 26, 28)
MSS = 1000
SECONDS = 3.2
#: Name of each recovery and how it reacts to four losses, from the fastest to the slowest.
FAMILY: Mapping[str, tuple[str, str]] = {
    "sack": ("SACK", "four holes in a round trip"),
    "new-reno": ("NewReno", "one hole per round trip"),
    "tahoe": ("Tahoe", "slow start from the first hole"),
    "vanilla": ("Vanilla", "the timer, then slow start"),
    "reno": ("Reno", "two holes, then the timer"),
}


def scenario(recovery: str) -> cy.Scenario:
    """Return a scenario of one TCP over 100 ms and 800 kb/s of data: 22 cells of 53 bytes in 10 ms."""
    return cy.Scenario(
        name=f"tcp-family-{recovery}",
        duration=f"{SECONDS} s",
        hosts=[cy.Host(name="source"), cy.Host(name="sink")],
        links=[cy.Link(from_="source", to="sink", rate="932.8 kbps", delay="100 ms", lose_frames=LOST)],
        vcs=[
            cy.Vc(
                name="tcp",
                from_="source",
                to="sink",
                traffic=cy.Tcp(
                    recovery=recovery,
                    mss=f"{MSS} bytes",
                    rwnd=f"{28 * MSS} bytes",
                    initial_window=2,
                    granularity="10 ms",
                    min_rto="1 s",
                ),
            )
        ],
        probes=[cy.GoodputProbe(of="tcp", interval="1 ms")],
    )


def delivered(recovery: str) -> Curve:
    """Return times in seconds, and the number of segments delivered in order by then."""
    (goodput,) = scenario(recovery).run().series
    segments = np.cumsum(goodput.value * 1e3 / 8) / MSS  # Mb/s over 1 ms
    return goodput.time_s, segments


def draw(axes: Axes, curves: Mapping[str, Curve]) -> None:
    """Draw all curves, each labelled at its end, with the time of the repairs enlarged."""
    for (recovery, (time, segments)), colour in zip(curves.items(), plot.COLOURS, strict=False):
        name, reaction = FAMILY[recovery]
        axes.plot(time, segments, color=colour, linewidth=1.8, drawstyle="steps-post")
        for text, below, look in (
            (name, -1, {"color": colour, "weight": "bold"}),
            (reaction, 10, {"color": "#555555", "fontsize": 8}),
        ):
            axes.annotate(text, (time[-1], segments[-1]), xytext=(8, -below), textcoords="offset points", **look)
    shared(axes, curves)
    axes.set(
        xlabel="time [s]",
        ylabel="segments delivered in order",
        xlim=(0, SECONDS),
        ylim=(0, None),
        xticks=np.arange(0, SECONDS, 0.5),
    )
    axes.set_title("Four losses in a window: 1000-byte segments, 800 kb/s, 100 ms each way", loc="left", pad=10)
    enlarge(axes, curves)


def shared(axes: Axes, curves: Mapping[str, Curve]) -> None:
    """Draw the beginning, which all curves share."""
    time = next(iter(curves.values()))[0]
    segments = np.array([delivered for _, delivered in curves.values()])
    end = int(np.argmax(np.ptp(segments, axis=0) > 0))
    axes.plot(time[:end], segments[0, :end], color="#333333", linewidth=1.8, drawstyle="steps-post")


def enlarge(axes: Axes, curves: Mapping[str, Curve]) -> None:
    """Draw an inset of the repairs.

    Overlapping curves are shifted slightly, in the order of the names.
    """
    inset = axes.inset_axes((0.075, 0.485, 0.46, 0.44))
    for place, ((time, segments), colour) in enumerate(zip(curves.values(), plot.COLOURS, strict=False)):
        inset.plot(time, segments - 0.22 * (place - 2), color=colour, linewidth=1.5, drawstyle="steps-post")
    inset.set(xlim=(0.92, 1.72), ylim=(12.6, 31.4), yticks=LOST, xticks=(1.0, 1.2, 1.4, 1.6))
    inset.grid(axis="x", visible=False)
    inset.grid(axis="y", color="#999999", linewidth=0.6, linestyle=(0, (2, 2)))
    inset.tick_params(labelsize=7.5, length=2)
    inset.spines[:].set(visible=True, color="#cccccc")
    inset.set_title("segments 14, 24, 26 and 28 are lost", fontsize=8, color="#333333", pad=4)


def main() -> None:
    """Draw the figure; ``--out`` puts it elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FIGURE)
    out: Path = parser.parse_args().out
    with plot.style():
        figure, (axes,) = plot.panels(1, width=7.2, height=4.2)
        draw(axes, {recovery: delivered(recovery) for recovery in FAMILY})
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, metadata={"Software": None})


if __name__ == "__main__":
    main()
