"""A scenario at a glance, from its plain data and what `describe` says of it: its topology as a drawing, and what a run takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

TICKS_PER_SECOND = 25_272_000_000_000


def seconds(facts: Mapping[str, Any]) -> float:
    """Expected CPU time of a run."""
    return float(facts["expected"]["cpu_s"])


def size(facts: Mapping[str, Any]) -> str:
    """How large the scenario is, and what a run takes."""
    queueing = sum(port["can_queue"] for port in facts["ports"])
    return (
        f"{facts['vcs']} VCs over {facts['links']} links, {queueing} of {len(facts['ports'])} ports can queue; "
        f"{facts['duration_s']:g} s simulated, at most {facts['max_bottleneck_cells'] / 1e6:.1f} million bottleneck cells: "
        f"some {seconds(facts):.2g} s a run, at most some {max(facts['memory_bytes'] / 1e6, 1):.0f} MB of memory"
    )


def topology(data: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Every route from its sources down to its sinks; ``#`` marks ports where cells can queue."""
    links = {(link["from"], link["to"]): link for link in data["links"]}
    queueing = {port["name"]: port for port in facts["ports"] if port["can_queue"]}
    switches = {switch["name"] for switch in data["switches"]}
    routes: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for vc in data["vcs"]:
        nodes = [vc["from"], *vc["route"], vc["to"]]
        path = [links[hop] for hop in pairwise(nodes)]
        hops = tuple((link["rate"], link["delay"], link["name"] in queueing) for link in path)
        routes.setdefault((tuple(vc["route"]), vc["class"], vc["traffic"]["kind"], hops), []).append(vc)
    pictures = []
    for (route, kind, traffic, _), vcs in routes.items():
        lines = [_some([vc["from"] for vc in vcs])]
        nodes = [vcs[0]["from"], *route, vcs[0]["to"]]
        for here, there in pairwise(nodes):
            link = links[here, there]
            mark = "#" if link["name"] in queueing else "|"
            hop = f"  {mark}  {link['rate'] / 1e6:g} Mb/s, {_time(link['delay'])}{_losses(link)}"
            if link["name"] in queueing:
                hop += f"   {_port(queueing[link['name']], kind)}"
            lines += [hop, there if there in switches else _some([vc["to"] for vc in vcs])]
        lines.append(f"  {_some([vc['name'] for vc in vcs])}: {traffic}, class {kind}")
        pictures.append("\n".join(lines))
    return "\n\n".join(pictures)


def _losses(link: Mapping[str, Any]) -> str:
    """What a link loses on purpose."""
    parts = []
    if link["lose_frames"]:
        parts.append(
            f"loses frames {', '.join(map(str, link['lose_frames'][:8]))}{', ...' * (len(link['lose_frames']) > 8)}"
        )
    if link["lose_probability"]["num"]:
        parts.append(f"loses {link['lose_probability']['num'] / link['lose_probability']['den']:.3g} of the frames")
    return "".join(f", {part}" for part in parts)


def _port(port: Mapping[str, Any], kind: str) -> str:
    """What holds there for the class ``kind``."""
    chosen = port["scheduler"]
    scheduler = chosen["kind"]
    if "gr" in chosen:
        scheduler += f" {chosen['gr']['num'] / chosen['gr']['den']:g} for {chosen['class']}"
    queue = next(queue for queue in port["queues"] if queue["class"] == kind)
    size = "unlimited" if queue["buffer"] is None else f"{queue['buffer']} cells"
    return f"{kind} queue: {size}, {queue['drop']['policy']}; {scheduler}"


def _some(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    if len(distinct) < 3:
        return ", ".join(distinct)
    return f"{distinct[0]} .. {distinct[-1]} ({len(distinct)})"


def _time(ticks: int) -> str:
    seconds = ticks / TICKS_PER_SECOND
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:g} {unit}"
    return f"{seconds * 1e9:g} ns"
