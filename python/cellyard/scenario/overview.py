"""Summary of a scenario: its topology as a drawing, and the cost of a run."""

import textwrap
from collections.abc import Mapping
from typing import Any

from cellyard.runs.expected import memory, process_bytes, process_words, seconds
from cellyard.show.text import cell_count, rough_time


def size(facts: Mapping[str, Any]) -> str:
    """The size of the scenario, the cost of a run, and the largest possible goodput."""
    noun = facts["noun"]
    vcs = "1 VC" if facts["vcs"] == 1 else f"{facts['vcs']} VCs"
    summary = (
        f"{vcs} over {facts['links']} links, {facts['queueing_ports']} of {facts['ports']} ports can queue; "
        f"{facts['duration_s']:g} s simulated, at most {cell_count(facts['max_bottleneck_cells'], f'bottleneck {noun}s')}: "
        f"about {rough_time(seconds(facts))} in the engine per run and {process_words([facts])}; "
        f"{memory(facts['memory_bytes'], process_bytes(facts))}{_unlimited(facts)}"
    )
    attainable = _attainable(facts["fair_goodput_bps"], facts["max_goodput_bps"])
    return "\n".join([summary, *attainable, *(_rounded(rate, noun) for rate in facts.get("rounded_rates", ()))])


def _unlimited(facts: Mapping[str, Any]) -> str:
    """The probes whose memory is not predicted."""
    probes = facts["probes"]["unlimited"]
    return f", and what {probes} probe{'s' * (probes > 1)} without an interval will record" if probes else ""


def _rounded(rate: Mapping[str, Any], noun: str) -> str:
    """How much longer a cell takes at a rate, since its time is a whole number of ticks."""
    return (
        f"at {mbps(rate['rate_bps'])}, a {noun} takes {rate['error']:.1e} of its time too long: times are whole ticks"
    )


def _attainable(fair: int | None, max_goodput: int | None) -> list[str]:
    """The sum of the fair shares, and the goodput to which efficiency is relative if that differs."""
    if fair is None:
        return []
    text = f"fair shares of the links add up to {mbps(fair)} of goodput"
    if max_goodput is None:
        return [f"{text}; without measure.max_goodput, efficiency is undefined"]
    return [text if max_goodput == fair else f"{text}; efficiency is relative to {mbps(max_goodput)}"]


def mbps(bits_per_second: int) -> str:
    """A rate in the notation of scenarios."""
    return f"{bits_per_second / 1e6:.6f}".rstrip("0").rstrip(".") + " Mbps"


def topology(facts: Mapping[str, Any]) -> str:
    """Every route from sources down to sinks. ``#`` marks ports where cells can queue."""
    pictures = []
    for route in facts["ways"]:
        lines = [_names(route["from"])]
        for hop, station in zip(route["hops"], [*route["route"], _names(route["to"])], strict=True):
            port = hop["port"]
            line = f"  {'#' if port else '|'}  {_rates(hop)}, {_time(hop['delay_s'])}{_losses(hop)}"
            lines += [f"{line}   {_port(port, facts['noun'])}" if port else line, station]
        lines.append(f"  {_names(route['vcs'])}: {route['traffic']}, class {route['class']}{_shaper(route)}")
        pictures.append("\n".join(lines))
    return "\n\n".join(pictures)


def pools(facts: Mapping[str, Any]) -> str:
    """The pool of each switch: its places, and what queues reserve and share."""
    return "\n".join(map(_pool, facts.get("pools", ())))


def _pool(pool: Mapping[str, Any]) -> str:
    """What is in a pool, and who shares it.

    >>> ends = {"count": 1, "ends": ["tor", "tor"]}
    >>> pool = {"switches": ends, "place": "byte", "memory_cell": None, "places": 9000, "reserved": 0, "shared": 9000, "ports": 1}
    >>> _pool(pool)
    'The pool of tor has 9000 bytes: 0 reserved, and 9000 shared by the queues of 1 port.'
    >>> _pool({**pool, "place": "memory cell", "memory_cell": 250, "places": 36, "reserved": 6, "shared": 30, "ports": 3})
    'The pool of tor has 36 memory cells of 250 bytes (9000 bytes): 6 reserved, and 30 shared by the queues of 3 ports.'
    """
    size, cell, ports = pool["places"], pool["memory_cell"], pool["ports"]
    bytes_of = f" of {cell} bytes ({size * cell} bytes)" if cell else ""
    each = "each " * (pool["switches"]["count"] > 1)
    return (
        f"The pool of {each}{_names(pool['switches'])} has {size} {pool['place']}s{bytes_of}: {pool['reserved']} reserved, "
        f"and {pool['shared']} shared by the queues of {ports} port{'s' * (ports != 1)}."
    )


def programs(facts: Mapping[str, Any]) -> str:
    """Each program: its texts, types and size; of drop policies also the needs, and from which X on it can act."""
    return "\n\n".join(
        [*(_program(program, facts["noun"]) for program in facts["programs"]), *map(_scheduler, facts["schedulers"])]
    )


def _program(program: Mapping[str, Any], noun: str) -> str:
    text = textwrap.indent(program["text"].strip("\n"), "  ")
    begins = "refuse if:" if program["is_condition"] else ""
    lines = [f"The program of {program['class']} at {_names(program['ports'])}: {begins}".rstrip(), text]
    names = (
        ("parameters", program["parameters"]),
        ("state of the queue", program["of_queue"]),
        ("state of each VC", program["of_vc"]),
        ("local names", program["locals"]),
    )
    lines += [f"{what}: {', '.join(map(_typed, found))}" for what, found in names if found]
    first_cells = "packets" if noun == "packet" else "first cells of frames"
    asked = f"every {noun}" if program["asked"] == "cells" else f"{first_cells} that find the port busy"
    needs = ", ".join(program["needs"]).replace("cell", noun) or "only X"
    first = program["acts_from"]
    acts = (
        "never acts"
        if first is None
        else "may act at any X"
        if first == 0
        else f"never acts while X is below {first} {noun}s"
    )
    lines.append(f"is asked about {asked}; needs {needs}; {_steps(program)}; {acts}")
    return "\n".join(lines)


def _scheduler(program: Mapping[str, Any]) -> str:
    served = f"class {program['class']}" if program["class"] else "all classes"
    lines = [f"The program that schedules {served} at {_names(program['ports'])}:"]
    for field, text in program["texts"]:
        lines += [f"  {field}:", textwrap.indent(text.strip("\n"), "    ")]
    names = (
        ("parameters", program["parameters"]),
        ("state of the port", program["of_port"]),
        ("state of each VC", program["of_vc"]),
    )
    lines += [f"{what}: {', '.join(map(_typed, found))}" for what, found in names if found]
    lines.append(f"the smallest rank ({program['rank']}) goes; {_steps(program)}")
    return "\n".join(lines)


def _steps(program: Mapping[str, Any]) -> str:
    return "1 step" if program["steps"] == 1 else f"{program['steps']} steps"


def _typed(name: Mapping[str, Any]) -> str:
    value = "" if name["value"] is None else f" = {name['value']}"
    return f"{name['name']}{value} ({name['type']})"


def _rates(hop: Mapping[str, Any]) -> str:
    """Rate of a link, with its first changes."""
    changes = [f"{bps / 1e6:.10g} from {_time(at)}" for at, bps in hop.get("changes", ())]
    later = ", ".join([*changes, *["..."] * hop["changes_more"]])
    return f"{hop['rate_bps'] / 1e6:.10g} Mb/s{f' ({later})' * bool(later)}"


def _losses(hop: Mapping[str, Any]) -> str:
    """Intentional losses of a link."""
    parts = []
    if hop["lose_frames"]:
        parts.append(f"loses frames {', '.join(map(str, hop['lose_frames']))}{', ...' * hop['loses_more']}")
    if hop["lose_probability"]["num"]:
        parts.append(f"loses {hop['lose_probability']['num'] / hop['lose_probability']['den']:.3g} of the frames")
    return "".join(f", {part}" for part in parts)


def _port(port: Mapping[str, Any], noun: str) -> str:
    """Settings of a port for the class of the route."""
    chosen, queue = port["scheduler"], port["queue"]
    scheduler = chosen["kind"]
    if "gr" in chosen:
        scheduler += f" {chosen['gr']['num'] / chosen['gr']['den']:g} for {chosen['class']}"
    size = buffer_text(queue, noun) + _in_pool(queue)
    feedback = f", feedback {queue['feedback']['kind']}" if queue["feedback"] else ""
    kernel = ": ".join(part for part in (f"{port['kernel']['name']} kernel", port["kernel"]["because"]) if part)
    return f"{queue['class']} queue: {size}, {queue['drop']['policy']}{feedback}; {scheduler}; {kernel}"


def buffer_text(queue: Mapping[str, Any], noun: str = "cell") -> str:
    """The buffer of a queue as `Scenario.describe` gives it.

    >>> buffer_text({"buffer": 1000, "places": 1000}), buffer_text({"buffer": None, "places": None})
    ('1000 cells', 'unlimited')
    >>> buffer_text({"buffer": {"bytes": 9}, "places": 9}), buffer_text({"buffer": {"time": 10**12}, "places": 125})
    ('9 bytes', '125 bytes')
    """
    if queue["places"] is None:
        return "unlimited"
    in_memory = "memory cells" if queue.get("memory_cell") else None
    return f"{queue['places']} {in_memory or ('bytes' if isinstance(queue['buffer'], dict) else f'{noun}s')}"


def _in_pool(queue: Mapping[str, Any]) -> str:
    """The threshold and the reserve of a queue in a pool.

    >>> _in_pool({"alpha": {"num": 1, "den": 2}, "reserve": {"bytes": 9}}), _in_pool({"reserve": 3}), _in_pool({})
    (' (alpha 1/2, reserve 9)', ' (reserve 3)', '')
    """
    alpha, reserve = queue.get("alpha"), queue.get("reserve")
    parts = []
    if alpha:
        parts.append(f"alpha {alpha['num']}" + f"/{alpha['den']}" * (alpha["den"] != 1))
    if reserve is not None:
        parts.append(f"reserve {reserve['bytes'] if isinstance(reserve, dict) else reserve}")
    return f" ({', '.join(parts)})" if parts else ""


def _shaper(route: Mapping[str, Any]) -> str:
    """Rate and bucket of the shaper of the VCs."""
    shape = route.get("shape")
    if shape is None:
        return ""
    both_ways = " both ways" if shape["both_ways"] else ""
    return f", shaped to {mbps(shape['rate'])}{both_ways} with a burst of {shape['burst']} bytes"


def _names(names: Mapping[str, Any]) -> str:
    (first, last), count = names["ends"], names["count"]
    return first if count == 1 else f"{first}, {last}" if count == 2 else f"{first} .. {last} ({count})"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:g} {unit}"
    return f"{seconds * 1e9:g} ns"
