"""What the text says, judged on simulated rows."""

from collections.abc import Mapping
from statistics import mean
from typing import Any

from cellyard.plot.rows import named
from cellyard.study import Row, Rows, claim
from cellyard.study.answer import apart, means
from cellyard.study.separation import gain
from cellyard.study.verdicts import Verdict, every

#: The policies of tables 1 and 2, and those that are more than tail drop.
POLICIES = ("tail-drop", "epd", "fba", "red")
BETTER = POLICIES[1:]

#: Networks in a sentence.
PLACES = {"lan": "LAN", "access": "access network"}

#: Segment sizes.
SIZES = (1460, 9140)

#: Means of goodput or fairness that lie closer together are held for equal.
EQUAL = 0.03


#: A metric by drop policy; all are defined but fairness, which is `None` if no source gets through.
Values = Mapping[str, Any]


def of(rows: Rows, metric: str) -> Values:
    """A metric by drop policy, where each has one row."""
    return {row["drop_policy"]: row.simulated[metric] for row in rows}


def defined(values: Values) -> dict[str, float]:
    """The values that are defined."""
    return {policy: value for policy, value in values.items() if value is not None}


def told(values: Values, digits: int = 2) -> str:
    """Values by policy, the largest first, those that are not defined last."""
    known = defined(values)
    parts = [
        f"{named('drop_policy', each)} {known[each]:.{digits}f}"
        for each in sorted(known, key=lambda each: -known[each])
    ]
    return ", ".join(parts + [f"{named('drop_policy', each)} not defined" for each in values if each not in known])


def _by_size(rows: Rows, environment: str, metric: str) -> dict[int, Values]:
    chosen = rows.where(table="1-2", environment=environment)
    return {size: of(chosen.where(mss_bytes=size), metric) for size in SIZES}


def _sizes(values: Mapping[int, Values], digits: int = 2) -> str:
    return "; ".join(f"MSS {size}: {told(values[size], digits)}" for size in SIZES)


@claim("On the LAN the drop policy matters little for goodput.", "1-2")
def lan_goodput(rows: Rows) -> Verdict:
    """Section 4.1, table 1."""
    goodput = _by_size(rows, "lan", "goodput")
    lead = ", ".join(f"{apart(values):.2f} with an MSS of {size}" for size, values in goodput.items())
    return Verdict(
        f"Policies lie apart by {lead}. {_sizes(goodput, 3)}",
        every(EQUAL - apart(values) for values in goodput.values()),
    )


@claim("With fifty sources on the LAN the drop policy does matter.", "sources")
def fifty_sources(rows: Rows) -> Verdict:
    """Section 4.1, last paragraph: the benefit of a strategy is more obvious; judged by the gain in goodput over tail drop."""
    gains, fair = {}, []
    for sources in (10, 50):
        chosen = rows.where(table="sources", sources=sources)
        goodput = means(chosen, "drop_policy", "goodput")
        gains[sources] = mean(goodput[policy] for policy in BETTER) - goodput["tail-drop"]
    for size in SIZES:
        chosen = rows.where(table="sources", sources=50, mss_bytes=size)
        fair.append(
            f"With fifty and an MSS of {size}, goodput: {told(of(chosen, 'goodput'))}. Fairness: {told(of(chosen, 'fairness'))}"
        )
    return Verdict(
        f"EPD, FBA and RED gain {gains[10]:+.3f} of goodput with ten sources and {gains[50]:+.3f} with fifty, over both segment sizes. "
        f"{'. '.join(fair)}. There the first segments of all sources exceed the buffer, and most runs never get going",
        every(gains[50] - EQUAL, gains[50] - gains[10]),
    )


@claim("FBA is the fairest on the LAN.", "1-2")
def lan_fairness(rows: Rows) -> Verdict:
    """Section 4.1, table 1."""
    return _fairest(_by_size(rows, "lan", "fairness"), "fba")


def _fairest(fairness: Mapping[int, Values], policy: str) -> Verdict:
    known = [defined(values) for values in fairness.values()]
    # A policy without a fairness is not the fairest.
    more = [values[policy] - values[each] if policy in values else -1.0
            for values in known for each in values if each != policy]  # fmt: skip
    best = {
        size: max(values, key=lambda each: values[each])
        for (size, _), values in zip(fairness.items(), known, strict=True)
        if values
    }
    lead = (
        ", ".join(f"{named('drop_policy', each)} with an MSS of {size}" for size, each in best.items())
        or "none is defined"
    )
    return Verdict(
        f"The highest mean: {lead}. Fairness, " + "; ".join(f"MSS {size}: {told(of)}" for size, of in fairness.items()),
        every(more or 0.0),
    )


@claim("On the LAN the queue is shortest with RED and remains long with the others.", "1-2")
def lan_queue(rows: Rows) -> Verdict:
    """Section 4.1: about 2800 and 4000 cells against 5500 and 6200."""
    queue = _by_size(rows, "lan", "mean_queue_cells")
    lowest = [values[each] - values["red"] for values in queue.values() for each in POLICIES[:3]]
    red = [values["red"] for values in queue.values()]
    others = min(values[each] for values in queue.values() for each in POLICIES[:3])
    less = [0.75 * mean(values[each] for each in POLICIES[:3]) - values["red"] for values in queue.values()]
    return Verdict(
        f"Mean queue of RED {red[0]:.0f} and {red[1]:.0f} cells (MSS {SIZES[0]} and {SIZES[1]}), of the others at least {others:.0f}. "
        f"Mean queue in cells, {_sizes(queue, 0)}. The text has 2800 and 4000 with RED, 5500 and 6200 with the others",
        every(lowest, less),
    )


@claim("On the access network EPD, FBA and RED carry clearly more than UBR.", "1-2")
def access_goodput(rows: Rows) -> Verdict:
    """Section 4.2, table 2."""
    goodput = _by_size(rows, "access", "goodput")
    more = [values[policy] - values["tail-drop"] - EQUAL for values in goodput.values() for policy in BETTER]
    lead = ", ".join(
        f"{values['tail-drop']:.2f} and {min(values[policy] for policy in BETTER):.2f} with an MSS of {size}"
        for size, values in goodput.items()
    )
    return Verdict(f"Goodput of UBR and of the worst of the three: {lead}. {_sizes(goodput)}", every(more))


@claim("On the access network FBA is the fairest with an MSS of 1460 bytes.", "1-2")
def access_fairness(rows: Rows) -> Verdict:
    """Section 4.2, table 2."""
    return _fairest({1460: _by_size(rows, "access", "fairness")[1460]}, "fba")


@claim("On the access network FBA pays for its fairness with goodput.", "1-2")
def access_price(rows: Rows) -> Verdict:
    """Section 4.2; against the better of EPD and RED, with an MSS of 1460 bytes."""
    chosen = rows.where(table="1-2", environment="access", mss_bytes=1460)
    goodput = of(chosen, "goodput")
    best = max(("epd", "red"), key=lambda policy: goodput[policy])
    other, fba = (chosen.where(drop_policy=policy)[0] for policy in (best, "fba"))
    lost = gain([(other, fba)], "goodput")
    by = f"FBA minus {named('drop_policy', best)}: {lost:.3f}"
    price = max(goodput["epd"], goodput["red"]) - goodput["fba"]
    return Verdict(f"{by} in goodput. MSS 1460: {told(goodput, 3)}", every(price - EQUAL / 3))


@claim("On the access network an MSS of 9140 bytes always carries less than one of 1460.", "1-2")
def large_segments(rows: Rows) -> Verdict:
    """Section 4.2."""
    goodput = _by_size(rows, "access", "goodput")
    loss = {policy: goodput[1460][policy] - goodput[9140][policy] for policy in POLICIES}
    return Verdict(f"goodput lost with the larger MSS: {told(loss)}", every(loss.values()))


@claim("UBR with an MSS of 9140 bytes collapses on the access network: some sources never finish a file.", "1-2")
def collapse(rows: Rows) -> Verdict:
    """Section 4.2, figure 6: 27 sources at 680 kb/s, 23 at 2 kb/s; judged by fairness below 0.3 and files never finished."""
    (row,) = rows.where(table="1-2", environment="access", mss_bytes=9140, drop_policy="tail-drop")
    starved, fairness = row.simulated["unfinished_sources"], row.simulated["fairness"]
    shown = "not defined" if fairness is None else f"{fairness:.2f}"
    return Verdict(
        f"{starved:.0f} of 50 sources finish no file (text: 23); fairness {shown}, goodput {row.simulated['goodput']:.2f}",
        every(0.3 - (fairness or 0.0), starved - 0.5),
    )


@claim("EPD does well by every criterion.", "1-2")
def epd_is_good(rows: Rows) -> Verdict:
    """Section 4.2: satisfactory everywhere; judged as never far behind the best in goodput, and fairer than UBR if both are defined."""
    behind, fairer = {}, []
    for environment in ("lan", "access"):
        for size in SIZES:
            goodput, fairness = (_by_size(rows, environment, metric)[size] for metric in ("goodput", "fairness"))
            behind[environment, size] = max(goodput.values()) - goodput["epd"]
            if {"epd", "tail-drop"} <= defined(fairness).keys():
                fairer.append(fairness["epd"] - fairness["tail-drop"])
    beyond = f"by {min(fairer):+.2f} to {max(fairer):+.2f}" if fairer else "not defined"
    if 0 < len(fairer) < len(behind):
        beyond += f", defined for {len(fairer)} of {len(behind)} pairs"
    return Verdict(
        f"at most {max(behind.values()):.3f} of goodput behind the best; fairness beyond that of UBR {beyond}",
        every((0.1 - less for less in behind.values()), fairer or 0.0),
    )


def score(row: Row) -> float:
    """Goodput and fairness as one number: 0 if no source gets through, which is the worst and has no fairness."""
    return float(row.simulated["goodput"] or 0.0) + float(row.simulated["fairness"] or 0.0)


def ranked_parameters(rows: Rows) -> list[tuple[str, float]]:
    """Parameters by their mean score over the segment sizes, the best first."""
    scores = {
        given: mean(score(row) for row in rows.where(parameters=given))
        for given in dict.fromkeys(row["parameters"] for row in rows)
    }
    return sorted(scores.items(), key=lambda each: -each[1])


@claim("On the LAN RED is best with an upper threshold near the buffer size, which is against its idea.", "red")
def red_on_the_lan(rows: Rows) -> Verdict:
    """Section 4.1, last paragraph; by goodput plus fairness, averaged over the segment sizes."""
    ranked = ranked_parameters(rows.where(table="red", environment="lan"))
    low, high = (
        [value for given, value in ranked if given.endswith(ends)] for ends in (("=2000", "=4000"), ("=6000", "=8000"))
    )
    return Verdict(
        f"Goodput plus fairness: mean with max_th of 6000 or 8000 cells {mean(high):.3f}, of 2000 or 4000 {mean(low):.3f}. "
        f"Best: {ranked[0][0]} ({ranked[0][1]:.3f}), worst: {ranked[-1][0]} ({ranked[-1][1]:.3f})",
        every(mean(high) - mean(low)),
    )


PUBLISHED = {
    ("lan", "red"): "w_q=0.002 max_p=0.02 min_th=2000 max_th=6000",
    ("access", "red"): "w_q=0.001 max_p=0.1 min_th=1000 max_th=8000",
    ("lan", "fba"): "K=8000 R=6000 Z=0.9",
    ("access", "fba"): "K=8000 R=4000 Z=0.75",
    ("lan", "epd"): "threshold=90%",
    ("access", "epd"): "threshold=90%",
}


@claim("The parameters that the tables print are the best of their kind.", "red", "fba", "epd")
def best_parameters(rows: Rows) -> Verdict:
    """Section 3.2; by goodput plus fairness, averaged over the segment sizes, among the parameters tried here."""
    parts, short = [], []
    for (environment, policy), given in PUBLISHED.items():
        ranked = ranked_parameters(rows.where(table=policy, environment=environment))
        values = dict(ranked)
        short.append(ranked[0][1] - values[given])
        place = list(values).index(given) + 1
        parts.append(
            f"On the {PLACES[environment]}, {named('drop_policy', policy)} ranks {place} of {len(ranked)}"
            + (f", {short[-1]:.3f} behind {ranked[0][0]}" if place > 1 else "")
        )
    first = sum(behind == 0 for behind in short)
    lead = f"The printed parameters are the best in {first} of {len(short)} cases, and at most {max(short):.3f} behind"
    return Verdict(". ".join([lead, *parts]), every(2 * EQUAL - behind for behind in short))


@claim("If data and ACKs share a VC, a mark on data can discard an ACK, and RED loses goodput.", "two-way")
def acks_marked(rows: Rows) -> Verdict:
    """Section 2.3, drawbacks of ATM-RED; judged by what two-way files cost RED on the LAN beyond what they cost FBA and EPD.

    On the access network the clients' slow links decide, regardless of the policy.
    """
    costs = {}
    for environment in ("lan", "access"):
        chosen = rows.where(table="two-way", environment=environment)
        one, both = (of(chosen.where(two_way=way), "goodput") for way in ("no", "yes"))
        costs[environment] = {policy: one[policy] - both[policy] for policy in BETTER}
    lan = costs["lan"]
    return Verdict(
        f"files of both ends cost RED {lan['red']:.3f} of goodput on the LAN, EPD {lan['epd']:.3f} and FBA {lan['fba']:.3f}. "
        + ". ".join(f"On the {PLACES[environment]}: {told(cost, 3)}" for environment, cost in costs.items()),
        every(lan["red"] - lan[other] - EQUAL / 3 for other in ("epd", "fba")),
    )
