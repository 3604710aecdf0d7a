"""What the text says, judged on simulated rows."""

from statistics import mean

from cellyard.study import Row, Rows, claim, count
from cellyard.study.verdicts import Rule, Verdict, every

NETWORKS = ("peer-to-peer", "tcp-udp", "chain")

#: A minimum rate is kept if no more than this fraction of it is missing.
SLACK = 0.02


def _throughput(row: Row, metric: str = "throughput_mbps") -> float:
    return float(row.simulated[metric])


def _excess(row: Row) -> float:
    return _throughput(row) - float(row["mcr_mbps"])


def _spread(rows: Rows) -> float:
    excess = [_excess(row) for row in rows]
    return max(excess) - min(excess)


def _kept(rows: Rows, metric: str) -> tuple[int, int, Row]:
    """How many VCs get their minimum rate, of how many, and the worst."""
    held, of = count(_throughput(row, metric) >= (1 - SLACK) * row["mcr_mbps"] for row in rows)
    return held, of, min(rows, key=lambda row: _throughput(row, metric) / row["mcr_mbps"])


def _guarantees(rows: Rows, scheme: int, metric: str = "throughput_mbps") -> tuple[str, Rule, list[Row]]:
    """Which VCs get their minimum rate, in words and as a rule, and the worst of each network."""
    parts, least = [], []
    kept = every_vc = 0
    margins: list[float] = []
    for network in NETWORKS:
        chosen = rows.where(scheme=scheme, network=network, table=network)
        held, of, worst = _kept(chosen, metric)
        margins += [_throughput(row, metric) - (1 - SLACK) * row["mcr_mbps"] for row in chosen]
        least.append(worst)
        kept, every_vc = kept + held, every_vc + of
        parts.append(
            f"In {network} {held} of {of} do, and {worst['vc']} is the worst: {_throughput(worst, metric):.2f} Mb/s of {worst['mcr_mbps']}"
        )
    return (
        f"{kept} of {every_vc} VCs get at least {1 - SLACK:.0%} of their minimum rate. " + ". ".join(parts),
        every(margins),
        least,
    )


@claim("Scheme one guarantees every VC its minimum rate.", *NETWORKS)
def one_guarantees(rows: Rows) -> Verdict:
    """Section 4.3."""
    return Verdict(*_guarantees(rows, 1)[:2])


@claim("Scheme one guarantees it also after the initial burst.", *NETWORKS)
def one_guarantees_late(rows: Rows) -> Verdict:
    """Section 4.3: with the queue above Th each VC gets exactly MCR, and more otherwise; the second half of the runs."""
    told, rule, least = _guarantees(rows, 1, "late_mbps")
    (beside_udp,) = (row for row in least if row["network"] == "tcp-udp")
    share = beside_udp.simulated["repeated_percent"] or 0
    return Verdict(
        f"{told}. Of the frames delivered to {beside_udp['vc']} with UDP {share:.1f} % had been delivered before",
        rule,
    )


@claim("Scheme two guarantees every VC its minimum rate.", *NETWORKS)
def two_guarantees(rows: Rows) -> Verdict:
    """Section 5.2 and chapter 6."""
    return Verdict(*_guarantees(rows, 2)[:2])


@claim(
    "Under scheme one UDP takes nearly all of the excess (the rate beyond the guarantees), and TCP stays close to its minimum rate.",
    "tcp-udp",
)
def udp_takes_the_excess(rows: Rows) -> Verdict:
    """Section 4.3, table 4.2."""
    chosen = rows.where(table="tcp-udp", scheme=1)
    of_udp = chosen.where(kind="udp")
    of_tcp = chosen.where(kind="tcp")
    share = sum(map(_excess, of_udp)) / sum(map(_excess, chosen))
    most = max(map(_excess, of_tcp))
    (smallest,) = of_udp.where(mcr_mbps=3)
    return Verdict(
        f"UDP has {share:.0%} of the rate beyond the guarantees. UDP with an MCR of 3 Mb/s gets "
        f"{_throughput(smallest):.1f} Mb/s; the largest excess of a TCP "
        f"is {most:.2f} Mb/s",
        every(share - 0.9, 1 - most, _throughput(smallest) - 17),
    )


@claim("Scheme two shares the excess equally.", *NETWORKS)
def two_shares_equally(rows: Rows) -> Verdict:
    """Section 5.2: within 0.8 Mb/s peer to peer, and near the ideal of chapter 6 everywhere."""
    spread = _spread(rows.where(table="peer-to-peer", scheme=2))
    parts, off = [], {}
    for network in NETWORKS:
        chosen = rows.where(table=network, scheme=2)
        off[network] = max(abs(_throughput(row) - float(row.simulated["ideal_mbps"])) for row in chosen)
        parts.append(f"In {network} {_spread(chosen):.2f} Mb/s apart, at most {off[network]:.2f} from the ideal")
    near = {"peer-to-peer": 1.0, "tcp-udp": 1.0, "chain": 1.5}
    rule = every(0.8 - spread, (near[network] - off[network] for network in NETWORKS))
    lead = f"Rates beyond the guarantees lie at most {max(_spread(rows.where(table=one, scheme=2)) for one in NETWORKS):.2f} Mb/s apart"
    return Verdict(". ".join([lead, *parts]), rule)


@claim("Scheme one favours VCs with lower minimum rates.", "peer-to-peer")
def one_favours_low_rates(rows: Rows) -> Verdict:
    """Section 3.1 says so; table 4.1 has larger excesses at higher rates."""
    chosen = rows.where(table="peer-to-peer", scheme=1)
    rates = sorted({row["mcr_mbps"] for row in chosen})
    means = {rate: mean(map(_excess, chosen.where(mcr_mbps=rate))) for rate in rates}
    printed = {
        rate: mean(float(row.published["throughput_mbps"] or 0) - rate for row in chosen.where(mcr_mbps=rate))
        for rate in rates
    }
    return Verdict(
        f"With the lowest rate VCs get {means[rates[0]]:.1f} Mb/s more than it on average, with the highest {means[rates[-1]]:.1f}. "
        "Mean excess by MCR, simulated (published) [Mb/s]: "
        + ", ".join(f"{rate}: {means[rate]:.1f} ({printed[rate]:.1f})" for rate in rates),
        every(means[rates[0]] - means[rates[-1]]),
    )


@claim("Scheme one shares the excess less equally than scheme two, above all with UDP.", "peer-to-peer", "tcp-udp")
def one_is_less_fair(rows: Rows) -> Verdict:
    """Sections 4.3 and 5.2."""
    spreads = {
        (network, scheme): _spread(rows.where(table=network, scheme=scheme))
        for network in ("peer-to-peer", "tcp-udp")
        for scheme in (1, 2)
    }
    less = [spreads[network, 1] - spreads[network, 2] for network in ("peer-to-peer", "tcp-udp")]
    return Verdict(
        "rates beyond the guarantees lie apart by up to "
        + "; ".join(
            f"{spreads[network, 1]:.1f} Mb/s with scheme one and {spreads[network, 2]:.1f} with scheme two {whose}"
            for network, whose in (("peer-to-peer", "among TCPs"), ("tcp-udp", "with UDP"))
        ),
        every(less, spreads["tcp-udp", 1] - spreads["peer-to-peer", 1]),
    )


@claim("Goodput varies over short times because windows grow linearly, and less with larger packets.", "short-term")
def beat_downs(rows: Rows) -> Verdict:
    """Chapter 7: a window of at most 62 kB, 1.4 s to get there, 3 ms of queueing."""
    small = rows.where(table="short-term", packet_bytes=1024)
    large = rows.where(table="short-term", packet_bytes=8192)
    (far,) = small.where(vc="VC10")
    (far_large,) = large.where(vc="VC10")
    (near,) = small.where(vc="VC5")
    own = far.simulated
    if None in (*(row.simulated["variation"] for row in (far, far_large, near)), own["ramp_s"]):
        return Verdict("a watched VC delivers nothing after the warm-up, or its window does not grow", every(-1.0))
    varies = {
        name: float(row.simulated["variation"]) for name, row in (("far", far), ("large", far_large), ("near", near))
    }
    expected = {"cwnd_peak_kb": (40, 90), "ramp_s": (0.7, 2.8), "queueing_ms": (1, 5)}
    fits = [by for name, (low, high) in expected.items() for by in (own[name] - low, high - own[name])]
    return Verdict(
        f"The goodput of VC10 varies by {varies['far']:.0%} in half seconds with 1024 bytes, and by {varies['large']:.0%} with 8192. "
        f"VC10 with 1024 bytes: windows up to {own['cwnd_peak_kb']:.0f} kB (text: 62), {own['ramp_s']:.1f} s of linear growth (1.4), "
        f"{own['queueing_ms']:.1f} ms of queueing (3). The goodput of VC5, with a round trip of 1 ms, varies by {varies['near']:.0%}",
        every(fits, varies["far"] - varies["large"], varies["far"] - varies["near"]),
    )
