"""The study's question, ABR or UBR and with which buffer, answered network by network from the rows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from cellyard.plot.rows import levels, named
from cellyard.study import Rows
from cellyard.study.answer import changes, of_values, sentence
from cellyard.study.separation import Candidates, Evidence, Runs, Statement, gain, replicated

#: With no VBR and with it.
BESIDE = {"no": "without VBR", "yes": "beside VBR"}

#: Networks in a sentence.
PATHS = {"lan": "LAN", "wan": "WAN", "satellite": "satellite path"}

#: What ABR and UBR are compared by beside efficiency.
DIFFERENT = {"fairness": "fairness", "cell_loss_percent": "loss"}


def _service(value: object) -> str:
    return named("service", value)


@sentence("services", parts=("configuration", "vbr"))
def which(rows: Rows) -> Statement:
    """Which service, network by network; all that the replications do not separate from the best."""
    chosen: dict[tuple[str, str], list[tuple[str, float]]] = {}
    evidence = []
    for network in levels(rows.where(table="services"), "configuration"):
        for vbr, beside in BESIDE.items():
            if not (here := rows.where(table="services", configuration=network, vbr=vbr)):
                continue
            of = of_values(here, "service", "efficiency", lambda one: "ABR" if one == "abr" else _service(one))
            abr = of.centres["abr"] - max(value for service, value in of.centres.items() if service != "abr")
            chosen.setdefault((network, of.best), []).append((beside, abr))
            evidence += of.evidence(best_only=True, where=f"{PATHS[network]} {beside}")
    told = []
    for (network, best), found in chosen.items():
        where = f"{PATHS[network]} {found[0][0]}" if len(found) < len(BESIDE) else PATHS[network]
        told.append(f"{best} on the {where} ({', '.join(f'{by:+.2f}' for _, by in found)})")
    return Statement(
        f"Most efficient is {'; '.join(told)} (in brackets: ABR's efficiency minus that of the best alternative).",
        tuple(evidence),
    )


@sentence("abr-sources", "zero-loss")
def buffers(rows: Rows) -> Statement:
    """With which buffer."""
    told, evidence = [], []
    for vbr, beside in BESIDE.items():
        chosen = rows.where(table="abr-sources", vbr=vbr)
        of = _needs(chosen, beside)
        need = {row["sources"]: row.simulated["queue_round_trips"] for row in chosen.where(tbe_cells=of.order[0])}
        told.append(", ".join(f"{n}: {trips:.1f}" for n, trips in need.items()) + f" {beside} (TBE {of.best})")
        evidence += of.evidence(best_only=True)
    ubr = {
        row["sources"]: row.simulated["max_queue_cells"]
        for row in rows.where(table="zero-loss", receiver_window_bytes=600000)
    }
    cells = ", ".join(f"{n}: {queue:.0f}" for n, queue in ubr.items())
    return Statement(
        f"For no loss the switch needs, by number of sources, in round trips of the link over ABR {' and '.join(told)}; over UBR with "
        f"windows of 600000 bytes, in cells, {cells}.",
        tuple(evidence),
    )


def _needs(rows: Rows, beside: str) -> Candidates:
    """The TBEs by the longest queue that any number of sources makes, in round trips."""
    metric = "queue_round_trips"
    of = {tbe: rows.where(tbe_cells=tbe) for tbe in levels(rows, "tbe_cells")}
    centres = {tbe: max(chosen.values(metric)) for tbe, chosen in of.items()}
    runs = {tbe: _longest([replicated([row], metric) for row in chosen]) for tbe, chosen in of.items()}
    return Candidates(centres, runs, f"longest queue in round trips, {beside}", lambda tbe: f"{tbe}", lowest=True)


def _longest(runs: Sequence[Runs]) -> list[float | None]:
    """The largest value of each replication."""
    return [
        None if None in drawn else max(one for one in drawn if one is not None) for drawn in zip(*runs, strict=True)
    ]


@sentence("services")
def what_it_gives(rows: Rows) -> Statement:
    """Fairness, loss and where the queue is."""
    told = []
    chosen = rows.where(table="services")
    for service in ("abr", "ubr"):
        here = chosen.where(service=service)
        fairness, lost = (mean(here.values(metric)) for metric in ("fairness", "cell_loss_percent"))
        switch, host = (max(here.values(metric)) for metric in ("max_queue_cells", "host_queue_cells"))
        told.append(
            f"{_service(service)} has a fairness of {fairness:.2f}, loses {lost:.1f} % of its cells and queues up to {switch:.0f} "
            f"cells in a switch and {host:.0f} in a host"
        )
    pairs = chosen.pairs("service", "ubr", "abr")
    by = [Evidence(f"{metric}: {_service('abr')} - {_service('ubr')}", gain(pairs, metric, 2)) for metric in DIFFERENT]
    doubts = [
        f"{text}: {one.value.verdict}" for text, one in zip(DIFFERENT.values(), by, strict=True) if not one.value.sign
    ]
    doubt = f" ({', '.join(doubts)})" if doubts else ""
    return Statement(
        f"With buffers of one size, on average over all networks, {'; '.join(told)}{doubt}.",
        tuple(by),
    )


def _mean(rows: Rows, metric: str, **where: str) -> float:
    return mean(rows.where(table="services", **where).values(metric))


@sentence("services")
def guarantee(rows: Rows) -> Statement:
    """What a guaranteed rate for UBR costs VBR, and what any service gives up for it."""
    by = gain(rows.where(table="services", vbr="yes").pairs("service", "ubr", "guaranteed-rate"), "efficiency")
    delay = gain(rows.where(table="services").pairs("service", "ubr", "abr"), "delay_ms")
    vbr_ms = {s: _mean(rows, "vbr_delay_variation_ms", vbr="yes", service=s) for s in ("guaranteed-rate", "abr")}
    delay_ms = {s: _mean(rows, "delay_ms", service=s) for s in ("abr", "ubr")}
    return Statement(
        f"With a guaranteed rate the efficiency of UBR beside VBR {changes(by)} and VBR's delay varies by "
        f"{vbr_ms['guaranteed-rate']:.1f} ms (beside ABR: {vbr_ms['abr']:.3f} ms); a cell of a TCP takes {delay_ms['abr']:.0f} ms over "
        f"ABR and {delay_ms['ubr']:.0f} ms over UBR, on average over the networks.",
        (
            Evidence("efficiency beside VBR: guaranteed rate - UBR", by),
            Evidence("delay of a cell in ms: ABR - UBR", delay),
        ),
    )


ANSWER = (which, buffers, what_it_gives, guarantee)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = which
