"""Drawings of the documentation as SVG: cells and frames, and the network of each example.

scripts/generate.py writes them into docs/figures. Text has the colour of the page's text: the style
below serves when a drawing is shown as a picture, and docs/static/site.css when the site inlines it.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from xml.sax.saxutils import escape

import cellyard as cy
from cellyard.experiment import examples as experiments
from cellyard.runs.expected import outline
from cellyard.scenario.overview import buffer_text

STYLE = (
    ".drawing{color:#24292f;font:14px system-ui,sans-serif}.drawing text{fill:currentColor}"
    "@media(prefers-color-scheme:dark){.drawing{color:#d0d7de}}"
)
BLUE, RED, GREY = "#4c8dd6", "#d9603b", "#8b949e"


def drawing(title: str, width: int, height: int, parts: list[str]) -> str:
    """Return an SVG file."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" viewBox="0 0 {width} {height}" width="{width}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


def text(x: float, y: float, words: str, anchor: str = "middle", size: int = 14, weight: str = "normal") -> str:
    """Return words at a place."""
    look = f'font-size="{size}"' + (f' font-weight="{weight}"' if weight != "normal" else "")
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" {look}>{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str = "none", stroke: str = "currentColor") -> str:
    """Return a rectangle."""
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {place} rx="2" fill="{fill}" stroke="{stroke}"/>'


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = "currentColor", width: float = 1.5) -> str:
    """Return a line."""
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" stroke-width="{width:g}"/>'


#: Cells of a frame with 512 bytes of TCP data: 512 + 40 of TCP and IP + 8 of LLC/SNAP + 8 of trailer, in units of 48.
CELLS = 12


def cells(x: float, y: float, *, lost: tuple[int, ...] = (), step: float = 36) -> Iterator[str]:
    """Yield the cells of a frame: header, payload, the mark of the last, and a cross over each lost one."""
    for number in range(CELLS):
        left, colour = x + number * step, RED if number in lost else BLUE
        yield box(left, y, step - 6, 26, "none" if number in lost else colour, colour)
        yield box(left, y, 6, 26, "currentColor")
        if number in lost:
            yield line(left + 8, y + 3, left + step - 8, y + 23, RED, 2)
            yield line(left + 8, y + 23, left + step - 8, y + 3, RED, 2)
    yield text(x + (CELLS - 0.5) * step - 3, y + 44, "EOM", size=13, weight="bold")


def frame() -> str:
    """Draw how a packet becomes a frame of cells."""
    title = "A packet of 552 bytes gets a header, padding and a trailer, and becomes 12 cells; the last is marked EOM"
    parts = [
        box(20, 30, 405, 30, BLUE), box(425, 30, 35, 30, GREY),
        text(222, 50, "IP packet: 552 bytes"), text(460, 22, "+ 24 bytes", "end"),
        *(line(20 + (442 - 20) * part, 62, 24 + 430 * part, 98, GREY, 1) for part in (0, 1)),
        *cells(24, 100),
        text(24, 144, "12 cells of 5 + 48 bytes", "start"),
    ]  # fmt: skip
    return drawing(title, 480, 160, parts)


#: Of 12 cells, what tail drop loses of a lost frame: docs/cells.md has the number.
TAIL_DROP = (4, 5, 7, 8, 10)


def loss() -> str:
    """Draw what two policies lose."""
    title = "Tail drop loses five of twelve cells, and the other seven are useless; EPD loses twelve of twelve"
    parts = [
        text(24, 22, "Tail drop: 5 cells lost, 7 carried for nothing", "start"), *cells(24, 34, lost=TAIL_DROP),
        text(24, 112, "EPD: the whole frame refused, nothing carried", "start"), *cells(24, 124, lost=tuple(range(CELLS))),
    ]  # fmt: skip
    return drawing(title, 480, 176, parts)


def port() -> str:
    """Draw the queues of a port."""
    title = "Three virtual circuits enter a switch; its port has a queue for each class, and a scheduler serves them"
    parts = [box(110, 16, 250, 178, "none"), text(235, 212, "switch"), text(430, 88, "link")]
    for number, (vc, name, waiting) in enumerate((("VC 1", "VBR", 1), ("VC 2", "ABR", 2), ("VC 3", "UBR", 5))):
        y = 46 + 56 * number
        parts += [text(8, y + 5, vc, "start"), line(48, y, 104, y, BLUE, 2), text(140, y + 5, name, "end")]
        parts += [line(150, y - 12, 262, y - 12), line(150, y + 12, 262, y + 12), line(262, y - 12, 262, y + 12)]
        parts += [box(244 - 18 * place, y - 9, 14, 18, BLUE, BLUE) for place in range(waiting)]
        parts += [line(262, y, 310, 102, GREY)]
    parts += [f'<circle cx="316" cy="102" r="7" fill="{GREY}"/>', line(323, 102, 476, 102, BLUE, 3)]
    parts += [text(300, 184, "scheduler"), line(316, 111, 312, 168, GREY, 1)]
    return drawing(title, 480, 220, parts)


#: Width of a network, and the distance of its rows.
WIDTH, ROW = 340, 62


def network(scenario: cy.Scenario) -> str:
    """Draw a network: hosts as circles, switches as squares, and ports that can queue as thick ends of links."""
    facts = outline(scenario.canonical)
    routes = facts["ways"]
    layers: dict[str, int] = {}
    edges: dict[tuple[str, str], bool] = {}
    hosts: dict[str, int] = {}
    for route in routes:
        ends = [_label(route[end]) for end in ("from", "to")]
        hosts |= {label: route[end]["count"] for label, end in zip(ends, ("from", "to"), strict=True)}
        stations = [ends[0], *route["route"], ends[1]]
        _place(stations, layers)
        for a, b, hop in zip(stations, stations[1:], route["hops"], strict=False):
            edges[a, b] = edges.get((a, b), False) or bool(hop["port"])
    height = ROW * max(list(layers.values()).count(layer) for layer in set(layers.values())) + 34
    places = _places(layers, height)
    ports = [hop for route in routes for hop in route["hops"] if hop["port"]]
    parts = [text(12, 16, f"bottleneck: {_port(ports[0], facts['noun'])}", "start", 13)] if ports else []
    for (a, b), queues in edges.items():
        (x1, y1), (x2, y2) = places[a], places[b]
        parts.append(line(x1, y1, x2, y2, GREY))
        if queues:
            parts.append(line(x1, y1, x1 + 0.4 * (x2 - x1), y1 + 0.4 * (y2 - y1), RED, 5))
    for name, (x, y) in places.items():
        round_, count = name in hosts, hosts.get(name, 1)
        parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="8" fill="{BLUE}"/>' if round_ else box(x - 9, y - 9, 18, 18, GREY, GREY)
        )
        anchor = "start" if x < 30 else "end" if x > WIDTH - 30 else "middle"
        at = x - 8 if anchor == "start" else x + 8 if anchor == "end" else x
        parts.append(text(at, y + 26, f"{count} hosts" if count > 1 else name, anchor, 13))
    return drawing("A network of hosts and switches", WIDTH, height, parts)


def _time(seconds: float) -> str:
    return f"{1000 * seconds:g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:g} us"


def _label(group: Mapping[str, Any]) -> str:
    return " .. ".join(dict.fromkeys(group["ends"]))


def _place(stations: list[str], layers: dict[str, int]) -> None:
    """Give each new station of a route the layer after the station before it, or before the next known one."""
    known = next((place for place, station in enumerate(stations) if station in layers), None)
    start = 0 if known is None else layers[stations[known]] - known
    for place, station in enumerate(stations):
        if station not in layers:
            before = known is None or place < known
            layers[station] = start + place if before else layers[stations[place - 1]] + 1


def _port(hop: Mapping[str, Any], noun: str) -> str:
    rate, queue = hop["rate_bps"] / 1e6, hop["port"]["queue"]
    shown = f"{rate:g} Mb/s" if rate < 1000 else f"{rate / 1000:g} Gb/s"
    return f"{shown}, {_time(hop['delay_s'])}" + ("" if queue["places"] is None else f", {buffer_text(queue, noun)}")


def _places(layers: Mapping[str, int], height: float) -> dict[str, tuple[float, float]]:
    """Return the place of each station."""
    least, most = min(layers.values()), max(layers.values())
    places = {}
    for layer in range(least, most + 1):
        members = [name for name, of in layers.items() if of == layer]
        for number, name in enumerate(members):
            x = 20 + (WIDTH - 40) * (layer - least) / max(1, most - least)
            places[name] = (x, 22 + (number + 0.35) / len(members) * (height - 22))
    return places


@cache
def networks() -> dict[str, str]:
    """Return the drawing of each example and of the base of each ready experiment, by its name."""
    scenarios = {name: cy.examples.scenario(name) for name in cy.examples.names()}
    scenarios |= {name: experiments.experiment(name).plan.base for name in experiments.names()}
    return {name: network(scenario) for name, scenario in scenarios.items()}


def file_of(name: str) -> str:
    """Return the file with the drawing of an example or experiment. Networks that look the same share one."""
    found = networks()
    return f"network-{next(other for other in found if found[other] == found[name])}.svg"


def drawings() -> dict[str, str]:
    """Return all drawings by their file names."""
    found = {"cells-frame.svg": frame(), "cells-loss.svg": loss(), "cells-port.svg": port()}
    return found | {file_of(name): made for name, made in networks().items()}
