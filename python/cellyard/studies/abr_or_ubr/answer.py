"""The study's question, ABR or UBR and with which buffer, answered network by network from the rows."""

from collections.abc import Sequence
from statistics import mean

from cellyard.plot.rows import levels, named
from cellyard.statistics.difference import Difference
from cellyard.studies.abr_or_ubr.claims import ROUND_TRIP_CELLS
from cellyard.study import Row, Rows
from cellyard.study.answer import changes, of_values, sentence
from cellyard.study.separation import (
    Candidates,
    Evidence,
    Number,
    Runs,
    Statement,
    average,
    contrast,
    gain,
    replicated,
    within,
)

#: With no VBR and with it.
BESIDE = {"no": "without VBR", "yes": "with VBR"}

#: Networks in a sentence.
PATHS = {"lan": "LAN", "wan": "WAN", "satellite": "satellite path"}


def _service(value: object) -> str:
    return "ABR" if value == "abr" else named("service", value)


def _networks(rows: Rows) -> dict[str, Candidates]:
    """The services by efficiency, for each network that was run."""
    chosen = rows.where(table="services")
    every = {
        f"{PATHS[network]} {beside}": chosen.where(configuration=network, vbr=vbr)
        for network in levels(chosen, "configuration")
        for vbr, beside in BESIDE.items()
    }
    return {where: of_values(here, "service", "efficiency", _service) for where, here in every.items() if here}


@sentence("services", parts=("configuration", "vbr"))
def which(rows: Rows) -> Statement:
    """In how many networks ABR is the most efficient service, alone or with others."""
    of = _networks(rows)
    known = all(one.known for one in of.values())
    first = [where for where, one in of.items() if one.order[0] == "abr"]
    alone = [where for where, one in of.items() if one.first == ["abr"]] if known else first
    shared = [where for where, one in of.items() if "abr" in one.first and where not in alone] if known else []
    also = (
        f", and shares the first place in {len(shared)} more (no significant difference)"
        if shared
        else " (significant)"
    )
    end = also if known else " (not decided)"
    of_all = (
        "; networks: LAN, WAN and satellite path, with and without VBR" if len(of) == len(PATHS) * len(BESIDE) else ""
    )
    return Statement(
        f"ABR is the most efficient service in {len(alone)} of {len(of)} networks{end}{of_all}.",
        tuple(found for where, one in of.items() for found in one.evidence(best_only=True, where=where)),
        tuple(number for where, one in of.items() for number in one.numbers(where)),
    )


@sentence("services", parts=("configuration", "vbr"))
def lead(rows: Rows) -> Statement:
    """Where ABR is most ahead of the best alternative, and where least."""
    ahead = {}
    for where, of in _networks(rows).items():
        best = next(service for service in of.order if service != "abr")
        ahead[where] = (of.difference("abr", best), _service(best))
    order = sorted(ahead, key=lambda where: -ahead[where][0].mean)
    ends = [f"{_signed(ahead[where][0])} on the {where}" for where in dict.fromkeys((order[0], order[-1]))]
    return Statement(
        f"Compared with the best alternative, ABR's efficiency is {' and '.join(ends)}.",
        tuple(
            Evidence(f"efficiency, {where}: ABR - {best} (best alternative)", by) for where, (by, best) in ahead.items()
        ),
    )


def _signed(by: Difference) -> str:
    """A difference, in words."""
    doubt = " (no significant difference)" if by.low is not None and not by.sign else ""
    return f"{within(by)} {'higher' if by.mean >= 0 else 'lower'}{doubt}"


@sentence("abr-sources", "zero-loss")
def buffers(rows: Rows) -> Statement:
    """With which buffer."""
    longest, evidence, numbers = {}, [], []
    for vbr, beside in BESIDE.items():
        chosen = rows.where(table="abr-sources", vbr=vbr)
        of = _needs(chosen, beside)
        longest[beside] = (of.values[of.order[0]], of)
        evidence += of.evidence(best_only=True)
        numbers += of.numbers()
        numbers += [
            Number(
                f"queue in round trips, ABR {beside}: N = {row['sources']}, TBE {of.order[0]}",
                _of_row(row, "queue_round_trips"),
            )
            for row in chosen.where(tbe_cells=of.order[0])
        ]
    ubr = rows.where(table="zero-loss", receiver_window_bytes=600000)
    numbers += [
        Number(f"queue in cells, UBR, windows of 600000 bytes: N = {row['sources']}", _of_row(row, "max_queue_cells"))
        for row in ubr
    ]
    most = {
        name: max(row["sources"] for row in of) for name, of in (("abr", rows.where(table="abr-sources")), ("ubr", ubr))
    }
    (last,) = ubr.where(sources=most["ubr"])
    need = _of_row(last, "max_queue_cells", ROUND_TRIP_CELLS)
    beside = max(longest, key=lambda one: longest[one][0].mean)
    by = _than(longest[beside][1], last)
    return Statement(
        f"For no loss over ABR, {most['abr']} sources need a buffer of {within(longest[beside][0], 1)} round trips; over UBR "
        f"{most['ubr']} sources need {_more(by)}.",
        (Evidence(f"buffer in round trips: UBR, N = {most['ubr']} - ABR, N = {most['abr']}, {beside}", by), *evidence),
        (*numbers, Number(f"queue in round trips, UBR: N = {most['ubr']}", need)),
    )


def _of_row(row: Row, metric: str, unit: float = 1.0) -> Difference:
    """A metric of one row, in multiples of ``unit``."""
    runs = [None if one is None else one / unit for one in replicated([row], metric)]
    return average(runs, row.simulated[metric] / unit)


def _than(abr: Candidates, ubr: Row) -> Difference:
    """How much longer the queue of a row over UBR is than the longest over ABR, in round trips."""
    runs = [None if one is None else one / ROUND_TRIP_CELLS for one in replicated([ubr], "max_queue_cells")]
    best = abr.order[0]
    return contrast([runs], [abr.runs[best]], ubr.simulated["max_queue_cells"] / ROUND_TRIP_CELLS - abr.centres[best])


def _more(by: Difference) -> str:
    if by.low is None:
        return "more (not decided)" if by.mean > 0 else "less (not decided)"
    return {1: "significantly more", -1: "significantly less", 0: "about as much (no significant difference)"}[by.sign]


def _needs(rows: Rows, beside: str) -> Candidates:
    """The TBEs by the longest queue that any number of sources makes, in round trips."""
    metric = "queue_round_trips"
    of = {tbe: rows.where(tbe_cells=tbe) for tbe in levels(rows, "tbe_cells")}
    centres = {tbe: max(chosen.values(metric)) for tbe, chosen in of.items()}
    runs = {tbe: _longest([replicated([row], metric) for row in chosen]) for tbe, chosen in of.items()}
    return Candidates(
        centres, runs, f"longest queue in round trips, ABR {beside}", lambda tbe: f"TBE {tbe}", lowest=True
    )


def _longest(runs: Sequence[Runs]) -> list[float | None]:
    """The largest value of each replication."""
    return [
        None if None in drawn else max(one for one in drawn if one is not None) for drawn in zip(*runs, strict=True)
    ]


#: What the services are measured by besides efficiency.
OTHERS = {
    "fairness": "fairness", "cell_loss_percent": "cells lost in %", "delay_ms": "delay of a TCP's cell in ms",
    "vbr_delay_variation_ms": "VBR delay variation in ms",
}  # fmt: skip
#: Queues, of which the longest of all networks counts.
QUEUES = {
    "max_queue_cells": "longest queue of a switch in cells",
    "host_queue_cells": "longest queue of a host in cells",
}


@sentence("services")
def what_it_gives(rows: Rows) -> Statement:
    """Fairness and loss; in numbers also delay, where the queue is, and what a guaranteed rate for UBR costs VBR."""
    chosen = rows.where(table="services")
    pairs = chosen.pairs("service", "ubr", "abr")
    fair, lost, delay = (gain(pairs, metric, 3) for metric in ("fairness", "cell_loss_percent", "delay_ms"))
    beside = chosen.where(vbr="yes")
    guaranteed = gain(beside.pairs("service", "ubr", "guaranteed-rate"), "efficiency")
    numbers = []
    for service in ("abr", "ubr", "guaranteed-rate"):
        for metric, what in OTHERS.items():
            here = (beside if metric.startswith("vbr") else chosen).where(service=service)
            if here.values(metric):
                numbers.append(
                    Number(f"{what}: {_service(service)}", average(replicated(here, metric), mean(here.values(metric))))
                )
        for metric, what in QUEUES.items():
            here = chosen.where(service=service)
            runs = _longest([replicated([row], metric) for row in here])
            numbers.append(Number(f"{what}: {_service(service)}", average(runs, max(here.values(metric)))))
    return Statement(
        f"From UBR to ABR with equal buffers, on average over all networks, fairness {changes(fair)} and the share of lost cells "
        f"{changes(lost, 1)} percentage points.",
        (
            Evidence("fairness: ABR - UBR", fair),
            Evidence("cells lost in %: ABR - UBR", lost),
            Evidence("delay of a TCP's cell in ms: ABR - UBR", delay),
            Evidence("efficiency with VBR: UBR with a guaranteed rate - UBR", guaranteed),
        ),
        tuple(numbers),
    )


ANSWER = (which, lead, buffers, what_it_gives)
