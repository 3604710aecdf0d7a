"""The study's question, what a switch should do when its buffer fills under file transfers, answered place by place."""

from __future__ import annotations

from cellyard.plot.rows import named
from cellyard.study import Rows
from cellyard.study.answer import changes, matters, of_values, sentence
from cellyard.study.separation import Evidence, Statement, gain

PLACES = {"lan": "on the LAN", "access": "on the access network"}


def _policy(value: object) -> str:
    return named("drop_policy", value)


def _goodput(rows: Rows, environment: str, where: str) -> Statement:
    of = of_values(rows.where(table="1-2", environment=environment), "drop_policy", "goodput", _policy)
    return Statement(
        f"{where} the discard policy {matters(of.spread)} the goodput, on average over the segment sizes: {of.ranked()}.",
        tuple(of.evidence(where=environment)),
    )


@sentence("1-2")
def on_the_lan(rows: Rows) -> Statement:
    """Goodput by policy on the LAN."""
    return _goodput(rows, "lan", "With ten sources on a LAN")


@sentence("1-2")
def on_the_access_network(rows: Rows) -> Statement:
    """Goodput by policy on the access network."""
    return _goodput(rows, "access", "With fifty on an asymmetric access network")


@sentence("1-2")
def fairness(rows: Rows) -> Statement:
    """Which policy is fairest, and by how much more than tail drop."""
    parts, evidence = [], []
    for environment, where in PLACES.items():
        of = of_values(rows.where(table="1-2", environment=environment), "drop_policy", "fairness", _policy)
        highest = of.centres[of.order[0]]
        parts.append(f"{of.best} {where} ({highest:.2f}; tail drop {of.centres['tail-drop']:.2f})")
        evidence += of.evidence(best_only=True, where=environment)
    return Statement(f"The fairest is {' and '.join(parts)}.", tuple(evidence))


@sentence("1-2")
def segments_and_delay(rows: Rows) -> Statement:
    """What large segments do, and what each policy's queue costs."""
    by = gain(rows.where(table="1-2", environment="access").pairs("mss_bytes", 1460, 9140), "goodput")
    queue = of_values(rows.where(table="1-2"), "drop_policy", "mean_queue_cells", _policy, lowest=True)
    shortest = queue.centres[queue.order[0]]
    return Statement(
        f"With segments of 9140 instead of 1460 bytes the goodput of the access network {changes(by)}; the queue is shortest with "
        f"{queue.best} ({shortest:.0f} cells on average, with tail drop {queue.centres['tail-drop']:.0f}).",
        (Evidence("goodput, access: 9140 - 1460 bytes", by), *queue.evidence(best_only=True)),
    )


ANSWER = (on_the_lan, on_the_access_network, fairness, segments_and_delay)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = on_the_access_network
