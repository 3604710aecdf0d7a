"""The study's question, how fairly one FIFO with leaky buckets can guarantee rates, answered scheme by scheme."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from cellyard.plot.rows import named
from cellyard.statistics.difference import Difference
from cellyard.studies.gfr_leaky_bucket.claims import SLACK
from cellyard.study import Row, Rows
from cellyard.study.answer import sentence
from cellyard.study.separation import Candidates, Evidence, Statement, contrast, replicated

NETWORKS = {"peer-to-peer": "among TCPs", "tcp-udp": "beside UDP", "chain": "in the chain"}


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
        by = contrast([replicated([row], metric)], [], row.simulated[metric] - least, len(rows))
        if by.low is not None:
            by = Difference(by.mean - least, by.low - least, (by.high or 0.0) - least)
        where = f"{row['network']}, {named('scheme', row['scheme'])}, {row['vc']}"
        found.append(Evidence(f"{metric}, {where}: above {1 - SLACK:.0%} of its minimum", by))
    return found


def _kept(margins: Sequence[Evidence]) -> str:
    """How many VCs get their minimum rate, and of how many more the replications do not show it."""
    kept = sum(one.value.sign > 0 for one in margins)
    verdicts = [one.value.verdict for one in margins]
    if all(verdict == "not known" for verdict in verdicts):
        return f"{sum(one.value.mean >= 0 for one in margins)} (not known)"
    unclear = sum(verdict != "separated" for verdict in verdicts)
    return f"{kept}" + (f" ({unclear} more not separated)" if unclear else "")


@sentence(*NETWORKS)
def guarantee(rows: Rows) -> Statement:
    """Sections 4.3 and 5.2."""
    told, late, evidence = [], [], []
    for scheme in (1, 2):
        chosen = rows.where(scheme=scheme, table=tuple(NETWORKS))
        margins, later = _margins(chosen), _margins(chosen, "late_mbps")
        told.append(f"{_kept(margins)} of {len(chosen)} VCs with {named('scheme', scheme)}")
        late.append(_kept(later))
        evidence += [one for one in (*margins, *later) if one.value.sign < 1]
    return Statement(
        f"Over the three networks {' and '.join(told)} get their minimum rate, within {SLACK:.0%}; "
        f"without the burst at the start {' and '.join(late)}.",
        tuple(evidence),
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
    parts, evidence = [], []
    for scheme in (1, 2):
        of = _extra(rows.where(table="tcp-udp", scheme=scheme))
        (tcp, tcp_runs), (udp, udp_runs) = of["tcp"], of["udp"]
        shares = [
            None if a is None or b is None else 100 * b / (a + b) for a, b in zip(tcp_runs, udp_runs, strict=True)
        ]
        by = contrast([shares], [], 100 * udp / (tcp + udp), 2)
        parts.append(f"{udp / (tcp + udp):.0%}{_ends(by)} with {named('scheme', scheme)}")
        evidence.append(Evidence(f"share of the UDPs in %, {named('scheme', scheme)}", by))
    return Statement(
        f"Of the rate beyond the guarantees five greedy UDPs beside five TCPs take {parts[0]} and {parts[1]}, where half would be fair.",
        tuple(evidence),
    )


def _ends(by: Difference) -> str:
    """The interval of a share in percent.

    >>> _ends(Difference(50.0, 49.0, 51.0)), _ends(Difference(50.0))
    (' [49, 51]', ' (interval not known)')
    """
    return " (interval not known)" if by.low is None else f" [{by.low:.0f}, {by.high:.0f}]"


@sentence(*NETWORKS)
def ideal(rows: Rows) -> Statement:
    """How near each scheme comes to MCR plus an equal share."""
    parts, evidence = [], []
    for network, where in NETWORKS.items():
        chosen = rows.where(table=network)
        of = _distances(chosen, list(dict.fromkeys(row["scheme"] for row in chosen)), where)
        nearest = of.centres[of.order[0]]
        parts.append(f"{where} {of.best} ({nearest:.2f} Mb/s off; scheme two {of.centres[2]:.2f})")
        evidence += of.evidence(best_only=True)
    return Statement(
        f"Nearest to the minimum rate plus an equal share of the rest comes {', '.join(parts)}.", tuple(evidence)
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
    told = (
        f"Of all schemes these keep every guarantee, by their mean distance from the ideal in Mb/s: "
        f"{of.ranked() if kept else 'none'}"
    )
    if short:
        told += f"; {' and '.join(_missed(scheme, margins[scheme]) for scheme in short)} do not"
    return Statement(told + ".", tuple(of.evidence()))


def _missed(scheme: Any, margins: Sequence[Evidence]) -> str:
    """A scheme under which a VC is short, and whether the replications show it."""
    shown = any(one.value.sign < 0 for one in margins)
    return named("scheme", scheme) + ("" if shown else " (not separated)")


ANSWER = (guarantee, excess, ideal, choice)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = excess
