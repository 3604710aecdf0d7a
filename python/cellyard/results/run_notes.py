"""Notes about finished runs: facts of each run, which can be kept instead of it, and sentences on the facts of several runs."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from cellyard.results.document import queueing_ports
from cellyard.show.hints import NO_MAX_GOODPUT, SYNCHRONISED_TCPS

#: Fewest refusals from which a share of them at contested ties is a note.
LEAST_REFUSALS = 20
#: Efficiency above this cannot be explained by rounding of ``measure.max_goodput``.
MOST_EFFICIENCY = 1.0005
#: What `run` prints that notes on finished runs may concern.
PRINTED = "efficiency vc.*.completed_s vc.*.p95_transfer_s"
#: Why a TCP that lost its first segments sends nothing again.
_NO_TIMEOUT = "the run ends before the first timeout (initial_rto)"

#: The part of a metric's name or path that covers only finished files.
_OF_FILES = re.compile(r"(transfer|completed)_s\b")

#: The part of a metric's name or path that the slowest files decide.
_OF_SLOW_FILES = re.compile(r"((p95|p99|max)_transfer|completed)_s\b")
#: Quantiles by the end of their names, and the fewest values of which each is not the maximum.
_QUANTILES = {
    "transfer_s": {"p95": 20, "p99": 100},
    "cell_transfer_delay_s": {"p95": 20, "p99": 100},
}

#: What the sentences need of one run, by kind. It is plain data for JSON, and empty for most runs.
Facts = Mapping[str, Any]


class Note(NamedTuple):
    """A sentence on several runs, its kind, and the positions of the runs that it is about."""

    text: str
    kind: str
    runs: Sequence[int]


def facts(run: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a run's document."""
    return {kind: found for kind, (find, _) in KINDS.items() if (found := find(run)) is not None}


def notes(known: Sequence[Facts]) -> list[Note]:
    """Sentences on the runs with these facts."""
    found = []
    for kind, (_, tell) in KINDS.items():
        of_kind = {place: one[kind] for place, one in enumerate(known) if kind in one}
        if of_kind:
            found += [Note(text, kind, places) for text, places in tell(of_kind, len(known))]
    return found


def concerning(found: Sequence[Note], metrics: str) -> list[Note]:
    """The notes that concern what is measured, by the names or paths of ``metrics``, listed in one text."""
    concerns = {
        "unfinished_files": bool(_OF_FILES.search(metrics)),
        "initial_timeouts": bool(_OF_SLOW_FILES.search(metrics)),
    }
    concerns |= dict.fromkeys(("no_efficiency", "efficiency_above_one"), "efficiency" in metrics)

    def is_about(note: Note) -> bool:
        if note.kind == "maximum_quantiles":
            field, _, rest = note.text.partition(" ")
            of_vcs = r"vc\.[^.\s]+\." if rest.startswith("of ") else r"(?<![.\w])(totals\.)?"
            return bool(re.search(rf"{of_vcs}{field}\b", metrics))
        return concerns.get(note.kind, True)

    return list(filter(is_about, found))


def printed(runs: Sequence[Mapping[str, Any]], *, states_tie_order: bool) -> list[Note]:
    """The notes that accompany finished runs. Refusals at ties are one only if the scenario does not state ``tie_order``."""
    found = concerning(notes([facts(run) for run in runs]), PRINTED)
    return [note for note in found if note.kind != "tied_refusals" or not states_tie_order]


def carries_frames(vc: Mapping[str, Any]) -> bool:
    """Whether a VC carries frames, not single cells."""
    return bool(vc["carries"] == "frames")


def is_overloaded(vc: Mapping[str, Any]) -> bool:
    """Whether the cell sources at a VC's host exceed its link, at least for some time."""
    return bool(vc.get("host_overloaded"))


#: Sentences, each with the positions of its runs.
_Told = list[tuple[str, Sequence[int]]]


def _share(count: int, runs: int) -> str:
    """The share of the runs that a sentence is about; empty for all of them."""
    return f" in {count} of {runs} runs" if count < runs else ""


def _unsent_cells(run: Mapping[str, Any]) -> dict[str, tuple[int, int, float]] | None:
    """For each host whose cell sources exceed its link: cells left there, cells offered, and the load."""
    hosts: dict[str, tuple[int, int, float]] = {}
    for vc in filter(is_overloaded, run["vcs"]):
        left, offered, load = hosts.get(vc["from"], (0, 0, 0.0))
        new = vc["cells_not_sent"]
        hosts[vc["from"]] = (left + new, offered + new + vc["cells_sent"], max(load, vc["host_load"]))
    return hosts or None


def _tell_unsent_cells(found: Mapping[int, Mapping[str, Sequence[Any]]], runs: int) -> _Told:
    told: _Told = []
    for host in dict.fromkeys(host for hosts in found.values() for host in hosts):
        of_host = {place: hosts[host] for place, hosts in found.items() if host in hosts}
        left, offered = (sum(one[k] for one in of_host.values()) for k in (0, 1))
        load = max(one[2] for one in of_host.values())
        text = (
            f"the host {host} never sent {left} of its {offered} data cells, which count neither as lost nor as delayed: "
            "its cell sources offer "
        )
        if load > 1:
            text += f"{'up to ' if runs > 1 else ''}{load:.2f} times the capacity of its link"
        else:
            text += "more than its link carries for some time, as its rate changes"
        told += [(text, list(of_host))] if left else []
    return told


def _goodput_beyond_line(run: Mapping[str, Any]) -> tuple[str, float] | None:
    """The port whose goodput most exceeds its link's capacity in a measuring time shorter than the run."""
    if run["measured_s"] >= run["duration_s"]:
        return None
    port = max(run["ports"], key=lambda port: port["efficiency"] or 0, default=None)
    if port is None or (port["efficiency"] or 0) <= MOST_EFFICIENCY:
        return None
    return port["name"], port["efficiency"]


def _tell_goodput_beyond_line(found: Mapping[int, Sequence[Any]], _: int) -> _Told:
    name, efficiency = max(found.values(), key=lambda one: one[1])
    text = (
        f"the goodput through {name} is up to {efficiency:.4f} of what its link can carry in the measuring time: "
        "data that arrived earlier, behind a gap, counts when the gap is filled; another warm-up, or none, reduces or avoids this"
    )
    return [(text, list(found))]


def _no_delivery(run: Mapping[str, Any]) -> tuple[bool, int] | None:
    """For TCPs that began nearly together and delivered nothing, since all lost cells at one port: whether drawn; timeouts."""
    tcps = [vc for vc in run["vcs"] if vc["traffic"] == "tcp" and vc["began_s"] is not None]
    if len(tcps) < 2 or any(vc["delivered_bytes"] for vc in tcps) or not _lose_at_one_port(tcps):
        return None
    is_drawn = run["replication"] is not None
    if not is_drawn and len({vc["began_s"] for vc in tcps}) > 1:
        return None
    return is_drawn, sum(vc["timeouts"] for vc in tcps)


def _tell_no_delivery(found: Mapping[int, Sequence[Any]], runs: int) -> _Told:
    told: _Told = []
    for drawn in (False, True):
        timeouts = {place: count for place, (is_drawn, count) in found.items() if is_drawn == drawn}
        if not timeouts:
            continue
        begin = f"no TCP delivered anything{_share(len(timeouts), runs)}"
        had_timeout = any(timeouts.values())
        if drawn:
            why = SYNCHRONISED_TCPS if had_timeout else f"they lost their first segments, and {_NO_TIMEOUT}"
        else:
            meet = (
                "meet again in one buffer after each timeout"
                if had_timeout
                else f"meet in one buffer, and {_NO_TIMEOUT}"
            )
            hint = "--replications draws random start times, within ensemble.start_jitter of each other"
            why = f"they start at the same time, and {meet}; {hint}"
        told.append((f"{begin}: {why}", list(timeouts)))
    return told


def _lose_at_one_port(vcs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a port dropped cells of each VC; losses on links do not count."""

    def ports(vc: Mapping[str, Any]) -> set[str]:
        return {
            port["port"]
            for port in vc["ports"]
            if any(count for reason, count in port["dropped_cells"].items() if reason != "link")
        }

    return bool(set.intersection(*map(ports, vcs)))


def _unfinished_files(run: Mapping[str, Any]) -> tuple[int, int, int] | None:
    """In a run in which TCPs finished files: those that send files, those that did not finish, and those without a timeout.

    Of an endless sequence one file must have finished.
    """
    if not run["totals"]["finished_transfers"]:
        return None
    files = [vc for vc in run["vcs"] if vc["file_size_bytes"] is not None]
    left = [
        vc for vc in files if vc["unfinished_transfers"] and (vc["completed_s_above"] or not vc["finished_transfers"])
    ]
    waiting = sum(bool(vc["frames_lost"] and not vc["timeouts"] and not vc["delivered_bytes"]) for vc in left)
    return len(files), len(left), waiting


def _tell_unfinished_files(found: Mapping[int, Sequence[int]], runs: int) -> _Told:
    files, left, waiting = (sum(counts) for counts in zip(*found.values(), strict=True))
    if not left:
        return []
    why = f"; {waiting} of these delivered nothing, and {_NO_TIMEOUT}" if waiting else ""
    text = (
        f"{left} of {files} TCPs that send files{', over all runs,' if runs > 1 else ''} did not finish: "
        f"times that depend on them are bounds; run longer (duration) to know them{why}"
    )
    return [(text, [place for place, counts in found.items() if counts[1]])]


def _transfers(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The finished transfers of both directions of all VCs."""
    directions = [direction for vc in run["vcs"] for direction in (vc, *vc.get("back", ()))]
    return [transfer for direction in directions for transfer in direction.get("transfers", ())]


def _initial_timeouts(run: Mapping[str, Any]) -> tuple[float, float] | None:
    """If each file from p99 on waited at least half of its time for a first sample: the longest duration, and its wait."""
    least = run["totals"].get("p99_transfer_s")
    if least is None:
        return None
    slow = [transfer for transfer in _transfers(run) if transfer["duration_s"] >= least]
    if not slow or any(2 * one.get("initial_timeouts_s", 0) < one["duration_s"] for one in slow):
        return None
    longest = max(slow, key=lambda one: one["duration_s"])
    return longest["duration_s"], longest["initial_timeouts_s"]


def _tell_initial_timeouts(found: Mapping[int, Sequence[float]], runs: int) -> _Told:
    duration, waited = max(found.values(), key=lambda one: one[0])
    text = (
        f"`initial_rto` decides p99_transfer_s{_share(len(found), runs)}: of the slowest file's {duration:.3g} s, {waited:.3g} s "
        "passed in timeouts before a first round-trip sample, and at least half of the time of each file from p99 on"
    )
    return [(text, list(found))]


def _maximum_quantiles(run: Mapping[str, Any]) -> dict[str, tuple[int, int]] | None:
    """Quantiles that are the maximum of several values: for each, of how many VCs, or 0 for totals, and of how many values."""
    found: dict[str, tuple[int, int]] = {}
    totals = {**run["totals"], "cells_delivered": sum(vc["cells_delivered"] for vc in run["vcs"])}
    for ending, quantiles in _QUANTILES.items():
        for quantile, fewest in quantiles.items():
            field = f"{quantile}_{ending}"
            number = _values(totals, ending) if totals.get(field) is not None else 0
            of_vcs = [_values(vc, ending) for vc in run["vcs"] if vc[field] is not None]
            if 1 < number < fewest:
                found[field] = (0, number)
            if several := [number for number in of_vcs if 1 < number < fewest]:
                found[f"vc.{field}"] = (len(several), max(several))
    return found or None


def _values(part: Mapping[str, Any], ending: str) -> int:
    """Of how many values the quantiles are; at most so many for delays, which only count within the measuring time."""
    if ending == "transfer_s":
        return int(part["finished_transfers"]) + int(part.get("unfinished_transfers") or 0)
    return int(part["cells_delivered"])


def _tell_maximum_quantiles(found: Mapping[int, Mapping[str, Sequence[int]]], runs: int) -> _Told:
    told: _Told = []
    for path in dict.fromkeys(path for paths in found.values() for path in paths):
        of_path = {place: paths[path] for place, paths in found.items() if path in paths}
        field = path.removeprefix("vc.")
        vcs, values = (max(one[k] for one in of_path.values()) for k in (0, 1))
        quantile, _, ending = field.partition("_")
        whose = f" of {vcs} {'VC' if vcs == 1 else 'VCs'}" if vcs else ""
        text = (
            f"{field}{whose} is the maximum of at most {values} values{_share(len(of_path), runs)}: "
            f"a {quantile[1:]} % quantile is smaller only with {_QUANTILES[ending][quantile]} values or more"
        )
        told.append((text, list(of_path)))
    return told


def _never_asked(run: Mapping[str, Any]) -> tuple[str, int] | None:
    """If no drop program where cells arrived was asked about any: the first port with one, and the number of others."""
    programs = [
        (port["name"], queue["program_asked"] == "cells" or queue["max_queue_cells"] or queue["cell_loss_ratio"])
        for port in queueing_ports(run)
        for queue in port.get("classes", ())
        if queue.get("program_asked") and port["arrived_cells"]
    ]
    if not programs or any(was_asked for _, was_asked in programs):
        return None
    ports = list(dict.fromkeys(name for name, _ in programs))
    return ports[0], len(ports) - 1


def _tell_never_asked(found: Mapping[int, Sequence[Any]], runs: int) -> _Told:
    port, others = next(iter(found.values()))
    text = (
        f"the program at {port}{f' and {others} more' if others else ''} was never asked{_share(len(found), runs)}: it is asked "
        'about first cells of frames that find the port busy, and no cell waited; asked = "cells" asks about every cell'
    )
    return [(text, list(found))]


def _no_efficiency(run: Mapping[str, Any]) -> bool | None:
    """For a run with frames and no efficiency: whether the fair shares add up to zero."""
    totals = run["totals"]
    is_missing = totals["efficiency"] is None and any(map(carries_frames, run["vcs"]))
    return bool(totals["max_goodput_mbps"] == 0) if is_missing else None


def _tell_no_efficiency(found: Mapping[int, bool], runs: int) -> _Told:
    no_share = "the fair shares of the links add up to zero, because sources of cells take the whole capacity"
    why = no_share if any(found.values()) else NO_MAX_GOODPUT
    return [(f"no efficiency{_share(len(found), runs)}: {why}", list(found))]


def _efficiency_above_one(run: Mapping[str, Any]) -> float | None:
    """An efficiency above 1."""
    efficiency = run["totals"]["efficiency"]
    return float(efficiency) if (efficiency or 0) > MOST_EFFICIENCY else None


def _tell_efficiency_above_one(found: Mapping[int, float], _: int) -> _Told:
    most = max(found.values())
    text = f"efficiency is up to {most:.3f}: more was delivered than measure.max_goodput gives as the maximum"
    return [(text, list(found))]


def _tied_refusals(run: Mapping[str, Any]) -> tuple[int, int, str] | None:
    """Refusals at contested ties, if they are at least half of all, and these; which inputs the port with most refused."""
    ports = [port for port in queueing_ports(run) if port.get("refusals") is not None]
    tied, refused = (sum(port[name] for port in ports) for name in ("tied_refusals", "refusals"))
    if refused < LEAST_REFUSALS or 2 * tied < refused:
        return None
    port = max(ports, key=lambda port: port["tied_refusals"])
    return tied, refused, f"{port['name']} refused {_refused_most_and_least(port['inputs'])}"


def _refused_most_and_least(inputs: Sequence[Mapping[str, Any]]) -> str:
    """The inputs refused most and least at contested ties. Those never refused are counted: they may have brought nothing."""
    refused = sorted((one for one in inputs if one["tied_refusals"]), key=lambda one: -one["tied_refusals"])
    most, least, never = refused[0], refused[-1], len(inputs) - len(refused)
    if len(refused) == 1:
        return f"only {most['link']} ({most['tied_refusals']} cells) of {len(inputs)} inputs"
    if most["tied_refusals"] == least["tied_refusals"]:
        alike = f"{most['tied_refusals']} cells of each of {len(refused)} inputs"
        return alike + (f", and none of {never} others" if never else "")
    text = f"{most['link']} most ({most['tied_refusals']} cells) and {least['link']} least ({least['tied_refusals']})"
    return text + (f", and never {never} of {len(inputs)} inputs" if never else "")


def _tell_tied_refusals(found: Mapping[int, Sequence[Any]], runs: int) -> _Told:
    (tied, refused, who), *_ = found.values()
    one = runs == 1
    begin, share = (
        ("", f"{tied} of {refused}") if one else (f"in {len(found)} of {runs} runs, ", "at least half of the")
    )
    order = "the order of cells that arrived at the same instant (`tie_order`)"
    whom = f"{who}; " if one else ""
    return [(f"{begin}{order} decided {share} refusals; {whom}the results may depend on it", list(found))]


#: For each kind, a function that finds the fact in a run, and one that makes sentences of the facts by position of the
#: run, given the number of all runs.
KINDS: Mapping[str, tuple[Callable[[Mapping[str, Any]], Any], Callable[[Any, int], _Told]]] = {
    "unsent_cells": (_unsent_cells, _tell_unsent_cells),
    "goodput_beyond_line": (_goodput_beyond_line, _tell_goodput_beyond_line),
    "no_delivery": (_no_delivery, _tell_no_delivery),
    "unfinished_files": (_unfinished_files, _tell_unfinished_files),
    "initial_timeouts": (_initial_timeouts, _tell_initial_timeouts),
    "maximum_quantiles": (_maximum_quantiles, _tell_maximum_quantiles),
    "never_asked": (_never_asked, _tell_never_asked),
    "no_efficiency": (_no_efficiency, _tell_no_efficiency),
    "efficiency_above_one": (_efficiency_above_one, _tell_efficiency_above_one),
    "tied_refusals": (_tied_refusals, _tell_tied_refusals),
}
