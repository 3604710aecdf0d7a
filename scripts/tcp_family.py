"""The picture of five TCP recoveries after the same four losses.

The pattern of losses is from Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK
TCP", CCR 26(3), 1996, section 6. In both, a segment takes 10 ms and the path 100 ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import cellyard as cy
import numpy as np
from cellyard import plot
from pictures import keep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Curve: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]

#: Segments that are lost on the link.
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


def delivered(recovery: str) -> Curve:
    """Return times in seconds, and the number of segments delivered in order by then.

    One TCP over 100 ms and 800 kb/s of data: 22 cells of 53 bytes in 10 ms.
    """
    tcp = cy.Tcp(
        recovery=recovery,  # type: ignore[arg-type]
        mss=f"{MSS} bytes",
        rwnd=f"{28 * MSS} bytes",
        initial_window=2,
        granularity="10 ms",
        min_rto="1 s",
    )
    scenario = cy.Scenario(
        name=f"tcp-family-{recovery}",
        duration=f"{SECONDS} s",
        hosts=[cy.Host(name="source"), cy.Host(name="sink")],
        links=[cy.Link(from_="source", to="sink", rate="932.8 kbps", delay="100 ms", lose_frames=LOST)],
        vcs=[cy.Vc(name="tcp", from_="source", to="sink", traffic=tcp)],
        probes=[cy.GoodputProbe(of="tcp", interval="1 ms")],
    )
    (goodput,) = scenario.run().series
    return goodput.time_s, np.cumsum(goodput.value * 1e3 / 8) / MSS  # Mb/s over 1 ms


def tcp_family() -> None:
    """Draw all curves, each labelled at its end, with the time of the repairs enlarged."""
    curves = {recovery: delivered(recovery) for recovery in FAMILY}
    figure, (axes,) = plot.panels(1, width=7.2, height=4.2)
    line: Any = {"linewidth": 1.8, "drawstyle": "steps-post"}
    for (recovery, (time, segments)), colour in zip(curves.items(), plot.COLOURS, strict=False):
        name, reaction = FAMILY[recovery]
        axes.plot(time, segments, color=colour, **line)
        looks: Any = {"color": colour, "weight": "bold"}, {"color": "#555555", "fontsize": 8}
        for text, below, look in zip((name, reaction), (-1, 10), looks, strict=True):
            axes.annotate(text, (time[-1], segments[-1]), xytext=(8, -below), textcoords="offset points", **look)
    # The beginning, which all curves share.
    together = np.array([segments for _, segments in curves.values()])
    end = int(np.argmax(np.ptp(together, axis=0) > 0))
    axes.plot(next(iter(curves.values()))[0][:end], together[0, :end], color="#333333", **line)
    axes.set(xlabel="time [s]", ylabel="segments delivered in order")
    axes.set(xlim=(0, SECONDS), ylim=(0, None), xticks=np.arange(0, SECONDS, 0.5))
    enlarge(axes, curves)
    drawn = plot.Drawn(
        "tcp-family",
        "After four losses in one window, SACK continues first and Reno last",
        "",
        figure,
        "one run of each TCP, named at its curve; segments of 1000 bytes, 800 kb/s, 100 ms each way",
    )
    keep("tcp-family", plot.saved(drawn, "png"))


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
