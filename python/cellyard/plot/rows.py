"""Figures of a study's rows, simulated next to published: a metric over a parameter, by the values of another.

Nothing is simulated here. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING, Any

from cellyard.plot.axes import (
    few_ticks,
    in_a_row,
    is_word,
    number_axis,
    scale as scale_of,
    shifted,
    shifts,
    value_axis,
    word_axis,
)
from cellyard.plot.drawing import (
    COLOURS,
    MARKERS,
    PUBLISHED,
    Drawing,
    Drawn,
    as_written,
    groups_of,
    legend,
    panels_grid,
    style as drawing_style,
)
from cellyard.plot.notes import runs
from cellyard.study import Study
from cellyard.study.answer import Sentence
from cellyard.study.rows import Row, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: Parameters as axis labels: quantity and unit.
QUANTITIES: Mapping[str, str] = {
    "buffer_cells": "buffer K [cells]",
    "buffer_thousands": "K [1000 cells]",
    "cell_loss_percent": "cells lost [%]",
    "configuration": "configuration",
    "delay_ms": "mean cell transfer delay [ms]",
    "drop_policy": "drop policy",
    "efficiency": "efficiency",
    "excess_mbps": "excess over MCR [Mb/s]",
    "epd": "EPD",
    "fairness": "Jain's fairness",
    "goodput": "goodput [of the ideal]",
    "mean_queue_cells": "mean queue [cells]",
    "p50_transfer_s": "median transfer time [s]",
    "p95_transfer_s": "95 % transfer time [s]",
    "p99_transfer_s": "99 % transfer time [s]",
    "wasted_percent": "useless cells [%]",
    "gr": "guaranteed rate [of the link]",
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
    "window_share": "sum of windows [round trips]",
    "tbe_cells": "TBE [cells]",
    "z": "cutoff Z",
}

#: Short axis labels for narrow panels.
_SHORT: Mapping[str, str] = {
    "cell_loss_percent": "loss [%]",
    "delay_ms": "mean delay [ms]",
    "host_queue_cells": "host queue [cells]",
    "max_queue_cells": "switch queue [cells]",
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
#: Values that are not a number of their unit.
_UNLIMITED: Mapping[tuple[str, Any], str] = {("tbe_cells", 16777215): "TBE unlimited"}

#: How to read figures of rows.
READING = "Filled marks are simulated, with the range of the replications; hollow marks are published."
#: The note of a figure of one run, or of one for each panel or line.
ONE_RUN = "one run each"

#: Limits on the characters of a label in one line, and of a line of a word on an axis.
LONGEST_LABEL, LONGEST_WORD = 20, 12


def quantity(name: str, *, short: bool = False) -> str:
    """A parameter or metric as an axis label; ``short`` for narrow panels.

    >>> quantity("delay_ms"), quantity("delay_ms", short=True), quantity("cells_lost")
    ('mean cell transfer delay [ms]', 'mean delay [ms]', 'cells lost')
    """
    return (_SHORT if short else {}).get(name) or QUANTITIES.get(name, name.replace("_", " "))


def named(parameter: str, value: Any) -> str:
    """A value of a parameter in titles and legends.

    >>> named("r_fraction", 0.9), named("configuration", "lan"), named("tcp", "sack")
    ('R = 0.9 K', 'LAN', 'SACK')
    >>> named("sources", 1), named("scheme", 1)
    ('N = 1', 'scheme one')
    """
    if text := _UNLIMITED.get((parameter, value)):
        return text
    names = {**_NAMES, **_NUMBERED.get(parameter, {})}
    text = f"{value:g}" if isinstance(value, float) else names.get(str(value), str(value))
    return _VALUES.get(parameter, "{}").format(text)


def note(rows: Sequence[Row], tcp: str, centre: str, *more: str, published: bool = True) -> str:
    """The note of a figure of rows: how many runs, the ``tcp``, and what marks are; ``centre`` is that of the study."""
    several = any(row.runs > 1 for row in rows)
    simulated = f"{centre}s of the runs, bars: their range" if several else ""
    both = "filled: simulated, hollow: published" if published else "all simulated"
    return "; ".join(part for part in [runs((row.runs for row in rows), "row"), tcp, simulated, both, *more] if part)


def said(sentence: Sentence, study: Study, rows: Rows) -> str:
    """What an answer's sentence says of rows; empty without all its rows and their replications."""
    whole = sentence.whole(study, rows)
    if not whole or not all(row.samples for row in whole):
        return ""
    told = sentence.tell(whole)
    return told if isinstance(told, str) else told.text


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
    ratio: bool | None = None,
    published: bool = True,
) -> None:
    """Draw a metric over the values ``places`` of parameter ``x``, with a colour and marker per value of ``group``.

    Numbers are on the x axis, which is logarithmic as `number_axis` says, and lines join them. Words
    are on the y axis from the top, without lines. Groups are slightly apart, so that none hides
    another. Filled marks are simulated, with ranges; hollow ones are published. With ``among``, all
    possible groups, each keeps its colour and marker. ``scale`` multiplies the drawn values.
    """
    words = any(map(is_word, places))
    if words:
        word_axis(axes, [word(place, LONGEST_LABEL) for place in places], down=True)
    else:
        number_axis(axes, places, ratio=ratio)
    for shift, value in zip((in_a_row if words else shifts)(len(groups)), groups, strict=True):
        colour, marker = style((among or groups).index(value))
        own = sorted(rows.where(**{group: value}), key=lambda row: places.index(row[x]))
        own = [row for row in own if row.simulated[metric] is not None]
        at = [places.index(row[x]) + shift for row in own]
        if not words:
            at = shifted(axes, [row[x] for row in own], shift)
        centre = [float(row.simulated[metric]) * scale for row in own]
        printed = [(place, row) for place, row in zip(at, own, strict=True) if published and is_printed(row, metric)]
        across = [place for place, _ in printed]
        values = [float(row.published[metric] or 0) * scale for _, row in printed]
        bars = _ranges(own, metric, scale)
        points: Any = {"x": centre, "y": at, "xerr": bars} if words else {"x": at, "y": centre, "yerr": bars}
        axes.errorbar(
            **points, color=colour, marker=marker, markersize=3.4, linewidth=1.0, linestyle="" if words else "-",
            elinewidth=0.9, label=named(group, value), zorder=3,
        )  # fmt: skip
        axes.plot(
            *((values, across) if words else (across, values)), linestyle="", marker=marker, markersize=6.8,
            markerfacecolor="none", markeredgecolor=colour, markeredgewidth=0.9,
            label=f"{named(group, value)}, {PUBLISHED}", zorder=4,
        )  # fmt: skip


def style(number: int) -> tuple[str, str]:
    """Colour and marker of the group with that number."""
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def word(place: Any, longest: int = LONGEST_WORD) -> str:
    r"""A value on an axis of words: its full name, in lines.

    >>> word("lan"), word("selective-drop"), word("guaranteed-rate")
    ('LAN', 'Selective\nDrop', 'UBR with a\nguaranteed\nrate')
    >>> word("tail-drop")
    'UBR\n(tail drop)'
    """
    text = _NAMES.get(place, place) if isinstance(place, str) else f"{place:g}"
    if "\n" in text or len(text) <= longest:
        return text
    name, bracket, note = text.partition(" (")  # a note in brackets has a separate line
    return fill(name, longest, break_long_words=False) + (f"\n({note}" if bracket else "")


def _beside(text: str) -> str:
    r"""A label next to a panel of `grid`; long ones take two lines.

    >>> _beside("efficiency"), _beside("mean cell transfer delay [ms]")
    ('efficiency', 'mean cell transfer\ndelay [ms]')
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
    labels: Mapping[str, str] | None = None,
    ratio: bool | None = None,
    width: float = 7.2,
    published: bool = True,
) -> Figure:
    """Panels of `against`, on few scales that hold everything drawn.

    If ``x`` has numbers, the values of ``columns`` are side by side, and metrics and the values of
    ``lines`` below each other; panels of one line share a scale. If it has words, metrics are side
    by side, and the values of ``columns`` below each other; panels of one metric share a scale.
    Panels that differ in a parameter named in ``apart`` share none. ``among`` holds all rows that
    could have been selected, so that each group keeps its colour. ``labels`` replaces labels of
    metrics. Published values are drawn if ``published`` is true.
    """
    groups, known = levels(rows, group), levels(among, group)
    labels = {metric: (labels or {}).get(metric, quantity(metric)) for metric in metrics}

    def draw(one: Axes, chosen: Rows, metric: str) -> None:
        places = levels(chosen, x)
        against(
            one,
            chosen,
            metric,
            x=x,
            group=group,
            places=places,
            groups=groups,
            among=known,
            ratio=ratio,
            published=published,
        )

    if any(map(is_word, levels(rows, x))):
        most = max(word(value, LONGEST_LABEL).count("\n") for value in levels(rows, x))
        height = max(0.12 * len(groups) + 0.11, 0.13 * most + 0.2)
        figure, axes = _of_words(draw, rows, x, [*columns, *lines], apart, labels, height, width)
    else:
        figure, axes = _of_numbers(draw, rows, x, columns, lines, apart, labels, width)
    for line_of_panels in axes:
        for one in line_of_panels:
            as_written([one.title, one.xaxis.label, one.yaxis.label])
    legend_above(
        figure, axes[0][0], published=published and any(is_printed(row, metric) for row in rows for metric in metrics)
    )
    return figure


def _of_numbers(
    draw: Callable[[Axes, Rows, str], None],
    rows: Rows,
    x: str,
    columns: Sequence[str],
    lines: Sequence[str],
    apart: Sequence[str],
    labels: Mapping[str, str],
    width: float,
) -> tuple[Figure, list[list[Axes]]]:
    across = combinations(rows, columns)
    down = [(metric, chosen) for metric in labels for chosen in combinations(rows, lines)]
    narrow = len(across) > 3
    figure, axes = panels_grid(len(down), len(across), width=width, height=0.75 + 0.15 * narrow + 1.7 * len(down))
    for own, (metric, line) in zip(axes, down, strict=True):
        alike: dict[tuple[Any, ...], list[Axes]] = {}
        for one, column in zip(own, across, strict=True):
            draw(one, rows.where(**column, **line), metric)
            alike.setdefault(tuple(column[key] for key in apart), []).append(one)
            if own is axes[0]:
                one.set_title(("\n" if narrow else ", ").join(named(key, value) for key, value in column.items()))
            if own is axes[-1]:
                one.set_xlabel(quantity(x, short=narrow))
        names = ", ".join(named(key, value) for key, value in line.items())
        label = _beside(labels[metric])
        own[0].set_ylabel(f"{names}\n{label}" if names else label)
        for same in alike.values():
            value_axis(same)
        for one in own:
            one.tick_params(labelbottom=own is axes[-1])
    return figure, axes


def _of_words(
    draw: Callable[[Axes, Rows, str], None],
    rows: Rows,
    x: str,
    columns: Sequence[str],
    apart: Sequence[str],
    labels: Mapping[str, str],
    height: float,
    width: float,
) -> tuple[Figure, list[list[Axes]]]:
    """Panels over words, each of which takes this ``height`` in inches."""
    down = combinations(rows, columns)
    words = max(len(levels(rows.where(**line), x)) for line in down)
    figure, axes = panels_grid(len(down), len(labels), width=width, height=0.8 + (words * height + 0.35) * len(down))
    for number, metric in enumerate(labels):
        alike: dict[tuple[Any, ...], list[Axes]] = {}
        for own, line in zip(axes, down, strict=True):
            one = own[number]
            draw(one, rows.where(**line), metric)
            one.tick_params(labelleft=number == 0)
            alike.setdefault(tuple(line[key] for key in apart), []).append(one)
            if number == 0:
                one.set_ylabel(", ".join(named(key, value) for key, value in line.items()))
        for same in alike.values():
            same[-1].set_xlabel(labels[metric])
            value_axis(same[::-1], down=False)
            for one in same[:-1]:
                one.tick_params(labelbottom=False)
    return figure, axes


def combinations(rows: Rows, parameters: Sequence[str]) -> list[dict[str, Any]]:
    """Combinations of values of some parameters that occur in rows, in order."""
    wanted = product(*(levels(rows, parameter) for parameter in parameters))
    found = (dict(zip(parameters, values, strict=True)) for values in wanted)
    return [chosen for chosen in found if rows.where(**chosen)]


def legend_beside(axes: Axes) -> None:
    """A legend of the groups of one panel, on its right, where no data is."""
    legend(axes, groups_of(axes), handlelength=1.2, labelspacing=0.2, loc="center left", bbox_to_anchor=(1, 0.5))


def legend_above(figure: Figure, axes: Axes, *, published: bool) -> None:
    """A legend above all panels: the groups of a panel, and the marks of simulated and published values."""
    entries = groups_of(axes)
    if published:
        entries += list(marks())
    legend(
        figure,
        entries,
        loc="outside upper center",
        ncols=len(entries),
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
    scale = scale_of(min(ends), max(ends))
    axes.plot(scale, scale, color="#bbbbbb", linewidth=0.8, zorder=0, label="_")
    axes.set(xlabel=f"published {quantity(metric)}", ylabel=f"simulated {quantity(metric)}", xlim=scale, ylim=scale)
    axes.set_aspect("equal")
    few_ticks(axes.xaxis)
    few_ticks(axes.yaxis)


def by_factor(axes: Axes, rows: Rows, metric: str, factor: str) -> float:
    """Draw the mean of a metric over all rows with each value of a factor, simulated and published, and each row as a dash.

    Returns the highest minus the lowest of the simulated means.
    """
    by_place = {value: rows.where(**{factor: value}) for value in levels(rows, factor)}
    simulated = {value: own.values(metric) for value, own in by_place.items()}
    printed = {
        value: [float(row.published[metric] or 0) for row in own if is_printed(row, metric)]
        for value, own in by_place.items()
    }
    means(axes, {"simulated": simulated, PUBLISHED: printed}, factor)
    centres = [fmean(values) for values in simulated.values() if values]
    return max(centres) - min(centres)


def means(axes: Axes, groups: Mapping[str, Mapping[Any, Sequence[float]]], factor: str) -> None:
    """Draw the mean of the values at each value of a factor, and each as a dash; every group has a name and its values."""
    places = list(dict.fromkeys(place for values in groups.values() for place in values))
    words = any(map(is_word, places))
    places = places if words else sorted(places)
    if words:
        word_axis(axes, [word(named(factor, place)) for place in places])
    else:
        number_axis(axes, places)
    for number, (label, values) in enumerate(groups.items()):
        shift = (in_a_row if words else shifts)(len(groups))[number]
        known = {place: found for place in places if (found := values.get(place))}
        at = [places.index(place) + shift for place in known] if words else shifted(axes, known, shift)
        colour, marker = style(number)
        for place, found in zip(at, known.values(), strict=True):
            axes.plot([place] * len(found), found, "_", color=colour, alpha=0.35, markersize=7, label="_")
        axes.errorbar(
            at, list(map(fmean, known.values())), color=colour, marker=marker, markersize=5.5, linewidth=1.2,
            linestyle="" if words else "-", label=label, zorder=3, markeredgecolor=colour,
            markerfacecolor="white" if label == PUBLISHED else colour,
        )  # fmt: skip


def legend_of_factors(figure: Figure, axes: Axes) -> None:
    """The legend of `by_factor`, of one of its panels."""
    legend(figure, groups_of(axes), loc="outside upper center", ncols=2)


def drawings(study: Study, rows: Rows) -> Iterable[Drawing]:
    """The drawings of a study's report for which ``rows`` suffice; empty if the study has no ``figures.py``."""
    found: Iterable[Drawing] = study.part("figures").figures(study, rows) if study.has_part("figures") else ()
    return found


def figures(study: Study, rows: Rows, *, style: str = "paper") -> list[Drawn]:
    """Draw the figures of a study's report for which ``rows`` suffice, in the style ``paper`` or ``slide``.

    ``rows`` are those of a `cellyard.study.reproduce.Reproduction` that has run. Raises `UsageError`
    without matplotlib.
    """
    with drawing_style(style):
        return [draw() for draw in drawings(study, rows)]
