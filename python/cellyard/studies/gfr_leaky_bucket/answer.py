"""The study's question, how fairly one FIFO with leaky buckets can guarantee rates, answered scheme by scheme."""

from collections.abc import Sequence
from statistics import mean
from typing import Any

from cellyard.plot.rows import named
from cellyard.statistics.difference import Difference
from cellyard.studies.gfr_leaky_bucket.claims import SLACK
from cellyard.study import Row, Rows
from cellyard.study.answer import sentence
from cellyard.study.separation import Candidates, Evidence, Number, Statement, contrast, replicated, within

NETWORKS = {"peer-to-peer": "among TCPs", "tcp-udp": "with UDP", "chain": "in the chain"}


#: Metrics behind a sentence.
METRICS = {"throughput_mbps": "Mb/s over the whole run", "late_mbps": "Mb/s in the second half of the run"}


def _throughput(row: Row) -> float:
    return float(row.simulated["throughput_mbps"])


def _off(rows: Rows) -> float:
    """Mean distance from the ideal, Mb/s."""
    return mean(abs(_throughput(row) - float(row.simulated["ideal_mbps"])) for row in rows)


def _distances(rows: Rows, schemes: Sequence[Any], where: str = "") -> Candidates:
    """The schemes by their mean distance from the ideal."""
    chosen = {scheme: rows.where(scheme=scheme) for scheme in schemes}
    centres = {scheme: _off(of) for scheme, of in chosen.items()}
    runs = {
        scheme: replicated(of, "throughput_mbps", "ideal_mbps", value=lambda got, ideal: abs(got - ideal))
        for scheme, of in chosen.items()
    }
    what = f"distance from the ideal in Mb/s{where and f', {where}'}"
    return Candidates(centres, runs, what, lambda scheme: named("scheme", scheme), lowest=True)


def _margins(rows: Rows, metric: str = "throughput_mbps") -> list[Evidence]:
    """What each VC gets above what claims allow; the intervals are for all of ``rows``."""
    found = []
    for row in rows:
        least = (1 - SLACK) * row["mcr_mbps"]
        runs = [None if one is None else one - least for one in replicated([row], metric)]
        by = contrast([runs], [], row.simulated[metric] - least, len(rows))
        where = f"{row['network']}, {named('scheme', row['scheme'])}, {row['vc']}"
        found.append(Evidence(f"{METRICS[metric]}, {where}: above {100 * (1 - SLACK):.0f} % of its minimum", by))
    return found


def _kept(margins: Sequence[Evidence]) -> str:
    """How many VCs get their minimum rate, and whether the replications leave others open."""
    if all(one.value.verdict == "not decided" for one in margins):
        return f"{sum(one.value.mean >= 0 for one in margins)} (not decided)"
    clear = all(one.value.sign for one in margins)
    return f"{sum(one.value.sign > 0 for one in margins)}{'' if clear else ' (others not significant)'}"


@sentence(*NETWORKS)
def guarantee(rows: Rows) -> Statement:
    """Sections 4.3 and 5.2."""
    late, numbers, evidence = {}, [], []
    for scheme in (1, 2):
        chosen = rows.where(scheme=scheme, table=tuple(NETWORKS))
        margins, later = _margins(chosen), _margins(chosen, "late_mbps")
        late[scheme] = _kept(later)
        for found, when in ((margins, "the whole run"), (later, "the second half of the run")):
            kept = sum(one.value.mean >= 0 for one in found)
            what = f"VCs of {len(found)} that get {100 * (1 - SLACK):.0f} % of their minimum rate, {named('scheme', scheme)}, {when}"
            numbers.append(Number(what, Difference(kept)))
        evidence += [one for one in (*margins, *later) if one.value.sign < 1]
    end = " (significant)" if not any("(" in one for one in late.values()) else ""
    return Statement(
        f"Once the initial burst is over, {late[1]} of {len(chosen)} VCs get {100 * (1 - SLACK):.0f} % of their minimum rate with "
        f"{named('scheme', 1)}, {late[2]} with {named('scheme', 2)}{end}.",
        tuple(evidence),
        tuple(numbers),
    )


def _extra(rows: Rows) -> dict[str, tuple[float, list[float | None]]]:
    """What TCPs and UDPs get beyond their minimum rates, Mb/s a VC: at the centre, and in each replication."""
    found = {}
    for kind in ("tcp", "udp"):
        of = rows.where(kind=kind)
        least = mean(row["mcr_mbps"] for row in of)
        drawn = replicated(of, "throughput_mbps")
        found[kind] = (mean(map(_throughput, of)) - least, [None if one is None else one - least for one in drawn])
    return found


@sentence("peer-to-peer", "tcp-udp")
def excess(rows: Rows) -> Statement:
    """Who gets what is left."""
    parts, numbers = [], []
    for scheme in (1, 2):
        of = _extra(rows.where(table="tcp-udp", scheme=scheme))
        (tcp, tcp_runs), (udp, udp_runs) = of["tcp"], of["udp"]
        shares = [
            None if a is None or b is None else 100 * b / (a + b) for a, b in zip(tcp_runs, udp_runs, strict=True)
        ]
        by = contrast([shares], [], 100 * udp / (tcp + udp), 2)
        parts.append(
            f"{within(by, 1).replace(' (', ' % (') + ' %' * (by.low is not None)} with {named('scheme', scheme)}"
        )
        numbers.append(Number(f"share of the UDPs in %, {named('scheme', scheme)}", by))
    return Statement(
        f"Of the rate beyond the guarantees, five UDPs next to five TCPs take {parts[0]} and {parts[1]}; half would be fair.",
        (),
        tuple(numbers),
    )


@sentence(*NETWORKS)
def ideal(rows: Rows) -> Statement:
    """How near each scheme comes to MCR plus an equal share."""
    found, evidence, numbers = [], [], []
    nearest: dict[str, list[str]] = {}
    for network, where in NETWORKS.items():
        chosen = rows.where(table=network)
        of = _distances(chosen, list(dict.fromkeys(row["scheme"] for row in chosen)), where)
        found.append(of)
        others = of.known and len(of.first) > 1
        nearest.setdefault(f"{of.name(of.order[0])}{' or others' * others}", []).append(where)
        evidence += of.evidence(best_only=True)
        numbers += of.numbers()
    if not all(of.known for of in found):
        end = "not decided"
    else:
        end = "significant" if all(len(of.first) == 1 for of in found) else "not significant"
    parts = [f"{scheme} {' and '.join(where)}" for scheme, where in nearest.items()]
    return Statement(
        f"Nearest to equal shares beyond the minimum rates: {'; '.join(parts)} ({end}).",
        tuple(evidence),
        tuple(numbers),
    )


@sentence(*NETWORKS)
def choice(rows: Rows) -> Statement:
    """What a user would choose: no VC short, and nearest to the ideal over all networks."""
    chosen = rows.where(table=tuple(NETWORKS))
    schemes = list(dict.fromkeys(row["scheme"] for row in chosen))
    margins = {scheme: _margins(chosen.where(scheme=scheme)) for scheme in schemes}
    short = [scheme for scheme in schemes if any(one.value.mean < 0 for one in margins[scheme])]
    kept = [scheme for scheme in schemes if scheme not in short]
    of = _distances(chosen, kept)
    numbers = [
        Number(f"VCs short of their minimum rate: {_missed(s, margins[s])}", _short(margins[s])) for s in schemes
    ]
    but = f" (all but {named('scheme', short[0])})" if len(short) == 1 else ""
    if not kept:
        return Statement("No scheme keeps every guarantee.", (), tuple(numbers))
    return Statement(
        f"Among schemes that keep every guarantee over the whole run{but}, the mean distance from equal shares is "
        f"{of.lead(unit=' Mb/s')}.",
        tuple(of.evidence()),
        (*numbers, *of.numbers()),
    )


def _short(margins: Sequence[Evidence]) -> Difference:
    return Difference(sum(one.value.mean < 0 for one in margins))


def _missed(scheme: Any, margins: Sequence[Evidence]) -> str:
    """A scheme, and whether the replications do not show that a VC is short under it."""
    is_open = any(one.value.mean < 0 for one in margins) and not any(one.value.sign < 0 for one in margins)
    return named("scheme", scheme) + (" (no significant difference)" if is_open else "")


ANSWER = (excess, guarantee, ideal, choice)
