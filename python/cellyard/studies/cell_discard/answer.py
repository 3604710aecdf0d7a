"""The study's question, what a switch should do when its buffer fills under file transfers, answered place by place."""

from dataclasses import replace

from cellyard.plot.rows import named
from cellyard.studies.cell_discard.claims import PLACES
from cellyard.study import Rows
from cellyard.study.answer import changes, matters, of_values, sentence
from cellyard.study.separation import Evidence, Statement, gain


def _policy(value: object) -> str:
    return named("drop_policy", value)


def _goodput(rows: Rows, environment: str, where: str) -> Statement:
    of = of_values(rows.where(table="1-2", environment=environment), "drop_policy", "goodput", _policy)
    return Statement(
        f"{where} the drop policy {matters(of.spread)} the relative goodput: {of.lead()}.",
        tuple(of.evidence(where=PLACES[environment])),
        tuple(of.numbers(PLACES[environment])),
    )


@sentence("1-2")
def on_the_access_network(rows: Rows) -> Statement:
    """Goodput by policy on the access network."""
    return _goodput(rows, "access", "With fifty sources on an asymmetric access network")


@sentence("1-2")
def on_the_lan(rows: Rows) -> Statement:
    """Goodput by policy on the LAN."""
    return _goodput(rows, "lan", "With ten sources on a LAN")


@sentence("1-2")
def fairness(rows: Rows) -> Statement:
    """Which policy is fairest, and by how much more than the least fair."""
    parts, evidence, numbers = [], [], []
    for environment, where in PLACES.items():
        of = of_values(rows.where(table="1-2", environment=environment), "drop_policy", "fairness", _policy)
        parts.append(f"on the {where}: {of.ahead}")
        evidence += of.evidence(best_only=True, where=where)
        numbers += of.numbers(where)
    return Statement(f"Fairest {'; '.join(parts)}.", tuple(evidence), tuple(numbers))


@sentence("1-2")
def segments_and_delay(rows: Rows) -> Statement:
    """What large segments do, and what each policy's queue costs."""
    access = rows.where(table="1-2", environment="access")
    by = gain(access.pairs("mss_bytes", 1460, 9140), "goodput")
    sizes = of_values(access, "mss_bytes", "goodput", lambda size: f"{size} bytes")
    by_policy = of_values(rows.where(table="1-2"), "drop_policy", "mean_queue_cells", _policy, lowest=True)
    queue = replace(by_policy, what="mean queue in cells")
    return Statement(
        f"On the access network the relative goodput {changes(by)} from 1460-byte to 9140-byte segments; the mean queue over both networks "
        f"is shortest with {queue.best}.",
        (Evidence("goodput, access network: 9140 - 1460 bytes", by), *queue.evidence(best_only=True)),
        (*sizes.numbers(PLACES["access"]), *queue.numbers()),
    )


ANSWER = (on_the_access_network, on_the_lan, fairness, segments_and_delay)
