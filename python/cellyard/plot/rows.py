"""Figures of a study's rows, simulated beside published: a metric over a parameter, with a line per value of another.

Nothing is simulated here. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any

from cellyard.plot.drawing import COLOURS, MARKERS, PUBLISHED, as_written, legend, panels_grid, zero_at_the_bottom
from cellyard.study.rows import Row, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: Parameters as axis labels: quantity and unit.
QUANTITIES: Mapping[str, str] = {
    "buffer_cells": "buffer K [cells]",
    "cell_loss_percent": "cells lost [%]",
    "configuration": "configuration",
    "delay_ms": "mean cell transfer delay [ms]",
    "drop_policy": "drop policy",
    "efficiency": "efficiency [-]",
    "excess_mbps": "excess over MCR [Mb/s]",
    "epd": "EPD",
    "fairness": "fairness [-]",
    "goodput": "goodput [of the ideal]",
    "mean_queue_cells": "mean queue [cells]",
    "p50_transfer_s": "median transfer time [s]",
    "p95_transfer_s": "95 % of transfers within [s]",
    "p99_transfer_s": "99 % of transfers within [s]",
    "wasted_percent": "cells sent in vain [%]",
    "gr": "guaranteed rate of UBR [fraction of the link]",
    "granularity_ms": "timer granularity [ms]",
    "r_fraction": "threshold R [K]",
    "host_queue_cells": "longest queue of a host [cells]",
    "max_queue_cells": "longest queue of a switch [cells]",
    "queue_round_trips": "longest queue [round trips]",
    "receiver_window_bytes": "receiver window [bytes]",
    "mcr_mbps": "minimum cell rate MCR [Mb/s]",
    "scheme": "scheme",
    "sources": "number of sources N",
    "tcp": "TCP",
    "throughput_mbps": "throughput [Mb/s]",
    "vbr_period_ms": "VBR on and off time [ms]",
    "window_share": "sum of the receiver windows [round trips of the link]",
    "tbe_cells": "TBE [cells]",
    "z": "cutoff Z [-]",
}

#: Short axis labels for narrow panels.
_SHORT: Mapping[str, str] = {
    "cell_loss_percent": "loss [%]",
    "delay_ms": "mean delay [ms]",
    "host_queue_cells": "host queue [cells]",
    "max_queue_cells": "switch queue [cells]",
    "gr": "GR [fraction of link]",
    "vbr_period_ms": "VBR on time [ms]",
}

#: Format of a parameter's value in titles and legends.
_VALUES: Mapping[str, str] = {
    "buffer_cells": "K = {} cells",
    "epd": "EPD: {}",
    "gr": "GR = {}",
    "r_fraction": "R = {} K",
    "mss_bytes": "MSS {} bytes",
    "receiver_window_bytes": "receiver window {} bytes",
    "round_trip_ms": "round trip {} ms",
    "scheme": "{}",
    "sources": "N = {}",
    "vbr_buffer": "{} cells",
    "tbe_cells": "TBE = {} cells",
    "vbr": "VBR: {}",
    "vbr_period_ms": "{} ms",
    "z": "Z = {}",
}

#: Full names.
_NAMES: Mapping[str, str] = {
    "abr": "ABR (ERICA)",
    "access": "access network",
    "cell-red": "cell-RED",
    "chapter-8": "scheme of chapter 8",
    "dfba": "DFBA",
    "drop-from-front": "drop from front",
    "drop-from-front-frames": "drop from front, frames",
    "epd": "EPD",
    "fba": "FBA",
    "gfr": "GFR",
    "guaranteed-rate": "UBR with a guaranteed rate",
    "lan": "LAN",
    "packet-red": "packet-RED",
    "ppd": "PPD",
    "red": "RED",
    "reno": "Reno",
    "sack": "SACK",
    "satellite": "satellite",
    "selective-drop": "Selective Drop",
    "tail-drop": "UBR (tail drop)",
    "ubr": "UBR",
    "vanilla": "Vanilla",
    "wan": "WAN",
    "weighted": "per-VC scheduling",
}

#: Numbers that stand for names.
_NUMBERED: Mapping[str, Mapping[str, str]] = {"scheme": {"1": "scheme one", "2": "scheme two"}}

#: How to read figures of rows.
READING = (
    "Filled: simulated, with the ensemble's ranges; hollow: published. Points of one value of x stand side by side."
)

#: Horizontal distance of groups at one value, and limit on their total width, relative to the
#: distance of values. The distance keeps equal values visible. Where there is room, groups are at
#: most ``CLEAR`` points apart, the space that their marks need. Otherwise one might seem to belong
#: to a value between.
APART, TOGETHER = 0.22, 0.7
CLEAR = 9.0


#: Limit on the characters of a label in one line.
LONGEST_LABEL = 20


def quantity(name: str, *, short: bool = False) -> str:
    """A parameter or metric as an axis label; ``short`` for narrow panels.

    >>> quantity("gr"), quantity("gr", short=True), quantity("cells_lost")
    ('guaranteed rate of UBR [fraction of the link]', 'GR [fraction of link]', 'cells lost')
    """
    return (_SHORT if short else {}).get(name) or QUANTITIES.get(name, name.replace("_", " "))


def named(parameter: str, value: Any) -> str:
    """A value of a parameter in titles and legends.

    >>> named("r_fraction", 0.9), named("configuration", "lan"), named("tcp", "sack")
    ('R = 0.9 K', 'LAN', 'SACK')
    >>> named("sources", 1), named("scheme", 1)
    ('N = 1', 'scheme one')
    """
    names = {**_NAMES, **_NUMBERED.get(parameter, {})}
    text = f"{value:g}" if isinstance(value, float) else names.get(str(value), str(value))
    return _VALUES.get(parameter, "{}").format(text)


def levels(rows: Sequence[Row], parameter: str) -> list[Any]:
    """The values of a parameter: numbers in ascending order, names in order of appearance."""
    found = list(dict.fromkeys(row.parameters[parameter] for row in rows))
    return sorted(found) if all(isinstance(value, (int, float)) for value in found) else found


def against(
    axes: Axes,
    rows: Rows,
    metric: str,
    *,
    x: str,
    group: str,
    places: Sequence[Any],
    groups: Sequence[Any],
    among: Sequence[Any] = (),
    scale: float = 1,
) -> None:
    """Draw a metric over the values ``places`` of parameter ``x``, with a colour and marker per value of ``group``.

    Filled marks are simulated, with ranges; hollow ones are published. The values of ``x`` are
    equidistant, and groups slightly apart, so that none hides another. With ``among``, all possible
    groups, each keeps its colour and marker. ``scale`` multiplies the drawn values.
    """
    figure: Any = axes.get_figure(root=True)
    room = 72 * axes.bbox.width / figure.dpi / max(len(places), 1)
    apart = min(APART, TOGETHER / max(len(groups), 1), CLEAR / room)
    for number, value in enumerate(groups):
        colour, marker = style((among or groups).index(value))
        shift = apart * (number - (len(groups) - 1) / 2)
        own = sorted(rows.where(**{group: value}), key=lambda row: places.index(row[x]))
        own = [row for row in own if row.simulated[metric] is not None]
        at = [places.index(row[x]) + shift for row in own]
        centre = [float(row.simulated[metric]) * scale for row in own]
        axes.errorbar(
            at, centre, yerr=_ranges(own, metric, scale), color=colour, marker=marker, markersize=3.4, linewidth=1.0,
            elinewidth=0.9, label=named(group, value), zorder=3,
        )  # fmt: skip
        printed = [(place, row) for place, row in zip(at, own, strict=True) if is_printed(row, metric)]
        axes.plot(
            [place for place, _ in printed], [float(row.published[metric] or 0) * scale for _, row in printed], linestyle="",
            marker=marker, markersize=6.8, markerfacecolor="none", markeredgecolor=colour, markeredgewidth=0.9,
            label=PUBLISHED, zorder=4,
        )  # fmt: skip
    axes.set_xticks(range(len(places)), [_tick(place) for place in places])
    as_written(axes.get_xticklabels())
    axes.set_xlim(-0.5, len(places) - 0.5)


def style(number: int) -> tuple[str, str]:
    """Colour and marker of the group with that number."""
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def _tick(place: Any) -> str:
    r"""A value below an axis: full names, one word per line.

    >>> _tick(0.9), _tick(1000), _tick("selective-drop"), _tick("N = 5")
    ('0.9', '1000', 'Selective\nDrop', 'N = 5')
    """
    if isinstance(place, str) and place in _NAMES:
        return _NAMES[place].replace(" ", "\n").replace("-", "-\n")
    return f"{place:g}" if isinstance(place, float) else str(place)


def _beside(text: str) -> str:
    r"""A label beside a panel of `grid`; long ones take two lines.

    >>> _beside("efficiency [-]"), _beside("95 % of transfers within [s]")
    ('efficiency [-]', '95 % of transfers\nwithin [s]')
    >>> _beside("longest queue [round trips]")
    'longest queue\n[round trips]'
    """
    if len(text) <= LONGEST_LABEL:
        return text
    name, _, unit = text.partition(" [")
    words = [*name.split(" "), *([f"[{unit}"] if unit else [])]
    splits = [(" ".join(words[:number]), " ".join(words[number:])) for number in range(1, len(words))]
    return "\n".join(min(splits, key=lambda lines: max(map(len, lines)))) if splits else text


def is_printed(row: Row, metric: str) -> bool:
    """Whether the row has a published value of the metric that is not in doubt."""
    return row.published.get(metric) is not None and metric not in row.doubtful


def _ranges(rows: Sequence[Row], metric: str, scale: float = 1) -> list[list[float]]:
    """Lengths of the ranges below and above the simulated values. A mean may lie outside its range."""
    below, above = [], []
    for row in rows:
        value = float(row.simulated[metric])
        low, high = row.ranges.get(metric, (value, value))
        below.append(max(value - low, 0) * scale)
        above.append(max(high - value, 0) * scale)
    return [below, above]


def grid(
    rows: Rows,
    metrics: Sequence[str],
    *,
    x: str,
    group: str,
    columns: Sequence[str],
    lines: Sequence[str] = (),
    apart: Sequence[str] = (),
    among: Sequence[Row] = (),
    width: float = 7.2,
) -> Figure:
    """Panels of `against`: the values of ``columns`` side by side, metrics and the values of ``lines`` below each other.

    Panels of one line share a scale that holds everything drawn, unless they differ in a parameter
    named in ``apart``. ``among`` holds all rows that could have been selected, so that each group
    keeps its colour.
    """
    across = _combinations(rows, columns)
    down = [(metric, chosen) for metric in metrics for chosen in _combinations(rows, lines)]
    narrow = len(across) > 3
    figure, axes = panels_grid(len(down), len(across), width=width, height=0.75 + 0.15 * narrow + 1.55 * len(down))
    groups, known = levels(rows, group), levels(among, group)
    for own, (metric, line) in zip(axes, down, strict=True):
        alike: dict[tuple[Any, ...], list[Axes]] = {}
        for one, column in zip(own, across, strict=True):
            chosen = rows.where(**column, **line)
            against(one, chosen, metric, x=x, group=group, places=levels(chosen, x), groups=groups, among=known)
            alike.setdefault(tuple(column[key] for key in apart), []).append(one)
            if own is axes[0]:
                one.set_title(("\n" if narrow else ", ").join(named(key, value) for key, value in column.items()))
            if own is axes[-1]:
                one.set_xlabel(quantity(x, short=narrow))
        for panels in alike.values():
            share_scale(panels)
        names = ", ".join(named(key, value) for key, value in line.items())
        label = _beside(quantity(metric))
        own[0].set_ylabel(f"{names}\n{label}" if names else label)
    for line_of_panels in axes:
        for one in line_of_panels:
            one.tick_params(labelbottom=line_of_panels is axes[-1])
            as_written([one.title, one.xaxis.label, one.yaxis.label])
    legend_above(figure, axes[0][0], published=any(is_printed(row, metric) for row in rows for metric in metrics))
    return figure


def _combinations(rows: Rows, parameters: Sequence[str]) -> list[dict[str, Any]]:
    """Combinations of values of some parameters that occur in rows, in order."""
    wanted = product(*(levels(rows, parameter) for parameter in parameters))
    found = (dict(zip(parameters, values, strict=True)) for values in wanted)
    return [chosen for chosen in found if rows.where(**chosen)]


def share_scale(axes: Sequence[Axes]) -> None:
    """Give panels side by side one vertical scale with a margin, and labels only on the first."""
    ends = [end for one in axes for end in one.dataLim.intervaly]
    low, high = min(ends), max(ends)  # infinite without any point
    margin = 0.08 * (high - low) or 0.05 * abs(high)
    for number, one in enumerate(axes):
        if 0 < margin < inf:
            one.set_ylim(low - margin, high + margin)
        else:
            zero_at_the_bottom(one)
        one.tick_params(labelleft=number == 0)


def _groups(axes: Axes) -> list[Any]:
    """Entries of a legend for the groups of a panel."""
    from matplotlib.lines import Line2D

    groups: list[Any] = axes.containers
    return [
        Line2D(
            [],
            [],
            color=one.lines[0].get_color(),
            marker=one.lines[0].get_marker(),
            markersize=4,
            label=one.get_label(),
        )
        for one in groups
    ]


def legend_within(axes: Axes, **options: Any) -> None:
    """A legend of the groups of one panel; ``options`` are matplotlib's."""
    legend(axes, _groups(axes), handlelength=1.2, labelspacing=0.2, **options)


def legend_above(figure: Figure, axes: Axes, *, published: bool) -> None:
    """A legend above all panels: the groups of a panel, and the marks of simulated and published values."""
    entries = _groups(axes)
    if published:
        entries += list(marks())
    legend(
        figure,
        entries,
        loc="outside upper center",
        ncols=len(entries),
        fontsize=7.5,
        columnspacing=1.2,
        handlelength=1.6,
    )


def marks() -> Iterator[Line2D]:
    """Legend entries: filled is simulated, hollow is published."""
    from matplotlib.lines import Line2D

    grey = "#444444"
    yield Line2D([], [], color=grey, marker="o", markersize=3.4, linestyle="", label="simulated")
    yield Line2D([], [], color=grey, marker="o", markersize=6.8, fillstyle="none", linestyle="", label=PUBLISHED)


def compared(rows: Rows, metrics: Sequence[str], *, lines: str, group: str, among: Sequence[Row] = ()) -> Figure:
    """Simulated over published values: metrics side by side, the values of ``lines`` below each other, each with its own scale.

    ``among`` as for `grid`.
    """
    down = levels(rows, lines)
    groups, known = levels(rows, group), levels(among, group)
    figure, axes = panels_grid(len(down), len(metrics), width=3.3 * len(metrics), height=0.5 + 3.1 * len(down))
    for own, value in zip(axes, down, strict=True):
        for one, metric in zip(own, metrics, strict=True):
            chosen = rows.where(**{lines: value})
            against_diagonal(one, chosen, metric, group=group, groups=groups, among=known)
            as_written([one.set_title(named(lines, value))])
    legend_above(figure, axes[0][0], published=False)
    return figure


def against_diagonal(
    axes: Axes, rows: Rows, metric: str, *, group: str, groups: Sequence[Any], among: Sequence[Any] = ()
) -> None:
    """Draw simulated over published values with ranges, a colour and marker per value of ``group``. They agree on the diagonal.

    ``among`` as for `against`.
    """
    ends = []
    for value in groups:
        colour, marker = style((among or groups).index(value))
        own = [
            row for row in rows.where(**{group: value}) if is_printed(row, metric) and row.simulated[metric] is not None
        ]
        printed = [float(row.published[metric] or 0) for row in own]
        simulated = [float(row.simulated[metric]) for row in own]
        below, above = _ranges(own, metric)
        axes.errorbar(
            printed, simulated, yerr=[below, above], fmt=marker, color=colour, markersize=4,
            markeredgecolor="white", markeredgewidth=0.4, elinewidth=0.7, label=named(group, value),
        )  # fmt: skip
        ends += printed + [s - b for s, b in zip(simulated, below, strict=True)]
        ends += [s + a for s, a in zip(simulated, above, strict=True)]
    low, high = min(ends), max(ends)
    margin = 0.06 * (high - low) or 0.05
    scale = (low - margin, high + margin)
    axes.plot(scale, scale, color="#bbbbbb", linewidth=0.8, zorder=0)
    axes.set(xlabel=f"published {quantity(metric)}", ylabel=f"simulated {quantity(metric)}", xlim=scale, ylim=scale)
    axes.set_aspect("equal")


def by_factor(axes: Axes, rows: Rows, metric: str, factor: str) -> float:
    """Draw every row over the values of a factor, simulated left and published right, with means.

    Returns the highest minus the lowest of the simulated means.
    """
    places = levels(rows, factor)
    means = []
    for number, value in enumerate(places):
        own = rows.where(**{factor: value})
        simulated = own.values(metric)
        printed = [float(row.published[metric] or 0) for row in own if is_printed(row, metric)]
        means.append(sum(simulated) / len(simulated))
        for values, colour, shift, fill in ((simulated, COLOURS[0], -0.16, True), (printed, COLOURS[1], 0.16, False)):
            spread = [number + shift + 0.018 * ((n * 7) % 11 - 5) for n in range(len(values))]
            face = colour if fill else "none"
            axes.scatter(
                spread,
                values,
                s=8,
                facecolors=face,
                edgecolors=colour,
                linewidths=0.6 if not fill else 0,
                alpha=0.6,
                zorder=3,
            )
            if values:
                mean = sum(values) / len(values)
                axes.plot(
                    [number + shift - 0.13, number + shift + 0.13],
                    [mean, mean],
                    color="#111111",
                    linewidth=1.6,
                    zorder=5,
                )
    axes.set_xticks(range(len(places)), [named(factor, value) for value in places], fontsize=7.5)
    as_written(axes.get_xticklabels())
    axes.set_xlim(-0.5, len(places) - 0.5)
    return max(means) - min(means)


def legend_of_factors(figure: Figure) -> None:
    """The legend of `by_factor`."""
    from matplotlib.lines import Line2D

    simulated = Line2D([], [], color=COLOURS[0], marker="o", markersize=4, linestyle="", label="simulated")
    published = Line2D(
        [], [], color=COLOURS[1], marker="o", markersize=4, fillstyle="none", linestyle="", label=PUBLISHED
    )
    mean = Line2D([], [], color="#111111", linewidth=1.6, label="mean")
    legend(figure, [simulated, published, mean], loc="outside upper center", ncols=3, fontsize=7.5)
