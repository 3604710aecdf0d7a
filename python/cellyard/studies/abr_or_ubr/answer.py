"""The study's question, ABR or UBR and with which buffer, answered network by network from the rows."""

from __future__ import annotations

from statistics import mean

from cellyard.answer import sentence
from cellyard.paired import Difference, paired
from cellyard.plot_rows import levels, named
from cellyard.study import Rows

#: With no VBR and with it.
BESIDE = {"no": "without VBR", "yes": "beside VBR"}

#: Networks in a sentence.
PATHS = {"lan": "LAN", "wan": "WAN", "satellite": "satellite path"}


def rivals(rows: Rows, metric: str = "efficiency") -> list[tuple[str, Difference]]:
    """ABR against each other service of these rows: how much higher the metric is over ABR, replication by replication."""
    others = [service for service in levels(rows, "service") if service != "abr"]
    found = ((service, paired(rows.pairs("service", service, "abr"), metric)) for service in others)
    return [(service, by) for service, by in found if by]


def best_rival(rows: Rows) -> tuple[str, Difference]:
    """The other service that is the most efficient here, and how much more ABR is; the interval knows nothing of this choice."""
    return min(rivals(rows), key=lambda found: found[1].mean)


@sentence("services", parts=("configuration", "vbr"))
def which(rows: Rows) -> str:
    """Which service, network by network; both where the 95 % interval of the paired difference holds 0."""
    chosen: dict[tuple[str, str], list[tuple[str, Difference]]] = {}
    for network in levels(rows.where(table="services"), "configuration"):
        for vbr, beside in BESIDE.items():
            if not (here := rows.where(table="services", configuration=network, vbr=vbr)):
                continue
            service, by = best_rival(here)
            other = named("service", service)
            best = {1: "ABR", 0: f"ABR or {other}", -1: other}[by.sign]
            chosen.setdefault((network, best), []).append((beside, by))
    told = []
    for (network, best), found in chosen.items():
        where = f"{PATHS[network]} {found[0][0]}" if len(found) < len(BESIDE) else PATHS[network]
        told.append(f"{best} on the {where} ({', '.join(f'{by.mean:+.2f}' for _, by in found)})")
    return f"Most efficient is {'; '.join(told)}; in brackets ABR's efficiency less the best other's."


@sentence("abr-sources", "zero-loss")
def buffers(rows: Rows) -> str:
    """With which buffer."""
    told = []
    for vbr, beside in BESIDE.items():
        chosen = rows.where(table="abr-sources", vbr=vbr)
        best = min(
            levels(chosen, "tbe_cells"), key=lambda tbe: max(chosen.where(tbe_cells=tbe).values("queue_round_trips"))
        )
        need = {row["sources"]: row.simulated["queue_round_trips"] for row in chosen.where(tbe_cells=best)}
        told.append(", ".join(f"{n}: {trips:.1f}" for n, trips in need.items()) + f" {beside} (TBE {best})")
    ubr = {
        row["sources"]: row.simulated["max_queue_cells"]
        for row in rows.where(table="zero-loss", receiver_window_bytes=600000)
    }
    cells = ", ".join(f"{n}: {queue:.0f}" for n, queue in ubr.items())
    return (
        f"For no loss the switch needs, by number of sources, in round trips of the link over ABR {' and '.join(told)}; over UBR with "
        f"windows of 600000 bytes, in cells, {cells}."
    )


@sentence("services")
def what_it_gives(rows: Rows) -> str:
    """Fairness, loss and where the queue is."""
    told = []
    for service in ("abr", "ubr"):
        chosen = rows.where(table="services", service=service)
        fairness, lost = (mean(chosen.values(metric)) for metric in ("fairness", "cell_loss_percent"))
        switch, host = (max(chosen.values(metric)) for metric in ("max_queue_cells", "host_queue_cells"))
        told.append(
            f"{named('service', service)} has a fairness of {fairness:.2f}, loses {lost:.1f} % of its cells and queues up to {switch:.0f} "
            f"cells in a switch and {host:.0f} in a host"
        )
    return "With buffers of one size, on average over all networks, " + "; ".join(told) + "."


def _mean(rows: Rows, metric: str, **where: str) -> float:
    return mean(rows.where(table="services", **where).values(metric))


@sentence("services")
def guarantee(rows: Rows) -> str:
    """What a guaranteed rate for UBR costs VBR, and what any service gives up for it."""
    pairs = rows.where(table="services", vbr="yes").pairs("service", "ubr", "guaranteed-rate")
    by = paired(pairs, "efficiency")
    vbr_ms = {s: _mean(rows, "vbr_delay_variation_ms", vbr="yes", service=s) for s in ("guaranteed-rate", "abr")}
    delay_ms = {s: _mean(rows, "delay_ms", service=s) for s in ("abr", "ubr")}
    return (
        f"A guaranteed rate changes the efficiency of UBR beside VBR by {by} and lets VBR's delay vary by "
        f"{vbr_ms['guaranteed-rate']:.1f} ms (beside ABR: {vbr_ms['abr']:.3f} ms); a cell of a TCP takes {delay_ms['abr']:.0f} ms over "
        f"ABR and {delay_ms['ubr']:.0f} ms over UBR, on average over the networks."
    )


ANSWER = (which, buffers, what_it_gives, guarantee)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = which
