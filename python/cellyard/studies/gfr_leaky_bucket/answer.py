"""The study's question, how fairly one FIFO with leaky buckets can guarantee rates, answered scheme by scheme."""

from __future__ import annotations

from statistics import mean

from cellyard.answer import sentence
from cellyard.plot_rows import named
from cellyard.studies.gfr_leaky_bucket.claims import SLACK
from cellyard.study import Row, Rows

NETWORKS = {"peer-to-peer": "among TCPs", "tcp-udp": "beside UDP", "chain": "in the chain"}


def _throughput(row: Row) -> float:
    return float(row.simulated["throughput_mbps"])


def _off(rows: Rows) -> float:
    """Mean distance from the ideal, Mb/s."""
    return mean(abs(_throughput(row) - float(row.simulated["ideal_mbps"])) for row in rows)


def _short(rows: Rows, metric: str = "throughput_mbps") -> int:
    """VCs that miss more of their minimum rate than claims allow."""
    return sum(row.simulated[metric] < (1 - SLACK) * row["mcr_mbps"] for row in rows)


@sentence(*NETWORKS)
def guarantee(rows: Rows) -> str:
    """Sections 4.3 and 5.2."""
    told, late = [], []
    for scheme in (1, 2):
        chosen = rows.where(scheme=scheme, table=tuple(NETWORKS))
        told.append(f"{len(chosen) - _short(chosen)} of {len(chosen)} VCs with {named('scheme', scheme)}")
        late.append(f"{len(chosen) - _short(chosen, 'late_mbps')}")
    return (
        f"Over the three networks {' and '.join(told)} get their minimum rate, within {SLACK:.0%}; "
        f"without the burst at the start {' and '.join(late)}."
    )


@sentence("peer-to-peer", "tcp-udp")
def excess(rows: Rows) -> str:
    """Who gets what is left."""
    parts = []
    for scheme in (1, 2):
        chosen = rows.where(table="tcp-udp", scheme=scheme)
        of = {
            kind: sum(_throughput(row) - row["mcr_mbps"] for row in chosen.where(kind=kind)) for kind in ("tcp", "udp")
        }
        parts.append(f"{of['udp'] / (of['tcp'] + of['udp']):.0%} with {named('scheme', scheme)}")
    return f"Of the rate beyond the guarantees five greedy UDPs beside five TCPs take {parts[0]} and {parts[1]}, where half would be fair."


@sentence(*NETWORKS)
def ideal(rows: Rows) -> str:
    """How near each scheme comes to MCR plus an equal share."""
    parts = []
    for network, where in NETWORKS.items():
        chosen = rows.where(table=network)
        off = {scheme: _off(chosen.where(scheme=scheme)) for scheme in dict.fromkeys(row["scheme"] for row in chosen)}
        best = min(off, key=lambda scheme: off[scheme])
        parts.append(f"{where} {named('scheme', best)} ({off[best]:.2f} Mb/s off; scheme two {off[2]:.2f})")
    return f"Nearest to the minimum rate plus an equal share of the rest comes {', '.join(parts)}."


@sentence(*NETWORKS)
def choice(rows: Rows) -> str:
    """What a user would choose: no VC short, and nearest to the ideal over all networks."""
    chosen = rows.where(table=tuple(NETWORKS))
    schemes = list(dict.fromkeys(row["scheme"] for row in chosen))
    kept = [scheme for scheme in schemes if _short(chosen.where(scheme=scheme)) == 0]
    failed = [named("scheme", scheme) for scheme in schemes if scheme not in kept]
    off = {scheme: _off(chosen.where(scheme=scheme)) for scheme in kept}
    ranked = ", ".join(f"{named('scheme', scheme)} ({off[scheme]:.2f})" for scheme in sorted(off, key=lambda s: off[s]))
    told = (
        f"Of all schemes these keep every guarantee, by their mean distance from the ideal in Mb/s: {ranked or 'none'}"
    )
    return told + (f"; {' and '.join(failed)} do not." if failed else ".")


ANSWER = (guarantee, excess, ideal, choice)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = excess
