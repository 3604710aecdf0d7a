"""The figure of mechanisms.md: how much each mechanism gains over tail drop on each network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from cellyard import plot
from cellyard.statistics.inference import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The values of each run, by network, mechanism and metric.
Runs: TypeAlias = Mapping[tuple[str, str], Mapping[str, Sequence[float]]]
#: The mechanism that the others are compared with, and the metrics that are drawn.
REFERENCE, METRICS = "tail drop", {"efficiency": "efficiency", "fairness": "Jain's fairness"}
#: Columns in which no mechanism differs by so much from tail drop are left out.
LEAST = 0.05
CONFIDENCE = 0.95


def gains(found: Runs, names: Sequence[str], network: str, metric: str) -> list[float]:
    """Return the mean of each mechanism minus that of tail drop."""
    return [fmean(found[network, name][metric]) - fmean(found[network, REFERENCE][metric]) for name in names]


def best(found: Runs, names: Sequence[str], network: str, metric: str, apart: str) -> set[str]:
    """Return the mechanism with the highest mean and those without a significant difference from it (paired runs); none is ``apart``."""
    rated = [name for name in names if name != apart]
    values = {name: found[network, name][metric] for name in rated}
    first = max(rated, key=lambda name: fmean(values[name]))

    def is_equal(name: str) -> bool:
        differences = [a - b for a, b in zip(values[first], values[name], strict=True)]
        made = estimate(differences, CONFIDENCE)
        return made is None or (made.mean == 0 if made.low is None else made.low <= 0)

    return {name for name in rated if is_equal(name)}


def merged(found: Runs, names: Sequence[str], networks: Sequence[str]) -> dict[str, str]:
    """Return the mechanisms with their labels; those that look alike in every cell share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        cells = tuple(f"{gain:.2f}" for n in networks for metric in METRICS for gain in gains(found, [name], n, metric))
        rows.setdefault(cells if name != REFERENCE else (), []).append(name)
    return {
        alike[0]: ", ".join([alike[0], *(name.partition(", ")[2] or name for name in alike[1:])])
        for alike in rows.values()
    }


def draw(found: Runs, names: Sequence[str], networks: Sequence[str], *, apart: str, runs: int, tcps: str) -> plot.Drawn:
    """Draw gains over tail drop: mechanisms from the top by their mean gain in efficiency, networks side by side."""
    labels = merged(found, names, networks)
    mean_gain = {
        metric: {name: fmean(gains(found, [name], n, metric)[0] for n in networks) for name in labels}
        for metric in METRICS
    }
    rows = sorted(labels, key=lambda name: (name != REFERENCE, name == apart, -mean_gain["efficiency"][name]))
    shown = {
        metric: [n for n in networks if max(map(abs, gains(found, rows, n, metric))) >= LEAST] for metric in METRICS
    }
    widest = max(abs(gain) for metric in METRICS for n in shown[metric] for gain in gains(found, rows, n, metric))
    figure, axes = plot.panels(sum(map(bool, shown.values())), width=9.5, height=1.0 + 0.26 * len(rows))
    for one, metric in zip(axes, filter(shown.get, METRICS), strict=True):
        _panel(one, found, rows, labels, shown[metric], metric, apart=apart, widest=widest)
        one.tick_params(labelleft=one is axes[0])
        one.set_title(METRICS[metric])
    gone = {title: [n for n in networks if n not in shown[metric]] for metric, title in METRICS.items()}
    left_out = [
        f"{title} on {' and '.join(names_of).replace(', ', ' ')}" for title, names_of in gone.items() if names_of
    ]
    rated = [name for name in rows if name != apart]
    leaders = {metric: max((of[name], name) for name in rated)[1] for metric, of in mean_gain.items()}
    message = "Largest mean gain over tail drop: " + ", ".join(
        f"{metric} +{mean_gain[metric][name]:.2f} with {name}" for metric, name in leaders.items()
    )
    note = (
        f"{runs} runs per cell; {tcps}; differences of means from tail drop, whose row has its means; frame: highest of a "
        f"column, and those without a significant difference (paired, {100 * CONFIDENCE:g} %)"
    )
    note += f"; left out, as all are within {LEAST} of tail drop: {'; '.join(left_out)}" if left_out else ""
    return plot.Drawn(
        "mechanisms", "Efficiency and fairness of every mechanism on every network", "", figure, note, message
    )


def _panel(
    axes: Axes,
    found: Runs,
    rows: Sequence[str],
    labels: Mapping[str, str],
    networks: Sequence[str],
    metric: str,
    *,
    apart: str,
    widest: float,
) -> None:
    values = [[gains(found, [name], n, metric)[0] for n in networks] for name in rows]
    texts: list[list[str]] = [[f"{gain:+.2f}" for gain in line] for line in values]
    texts[0] = [f"{fmean(found[n, REFERENCE][metric]):.2f}" for n in networks]
    framed: set[Any] = set()
    for column, network in enumerate(networks):
        framed |= {(rows.index(name), column) for name in best(found, rows, network, metric, apart)}
    plot.heat(
        axes, values, texts, columns=[n.replace(", ", "\n") for n in networks], rows=[labels[name] for name in rows],
        ends=(-widest, widest), best=framed, colours="BrBG",
    )  # fmt: skip
    plot.divide(axes, after_rows=[0])
