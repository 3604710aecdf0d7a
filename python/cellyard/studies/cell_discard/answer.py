"""The study's question, what a switch should do when its buffer fills under file transfers, answered place by place."""

from __future__ import annotations

from statistics import mean

from cellyard.answer import apart, changes, matters, means, ranked, sentence
from cellyard.plot_rows import named
from cellyard.study import Rows


def _policy(value: object) -> str:
    return named("drop_policy", value)


def _goodput(rows: Rows, environment: str, where: str) -> str:
    goodput = means(rows.where(table="1-2", environment=environment), "drop_policy", "goodput")
    return (
        f"{where} the discard policy {matters(apart(goodput))} the goodput, on average over the segment sizes: "
        f"{ranked(goodput, _policy)}."
    )


@sentence("1-2")
def on_the_lan(rows: Rows) -> str:
    """Goodput by policy on the LAN."""
    return _goodput(rows, "lan", "With ten sources on a LAN")


@sentence("1-2")
def on_the_access_network(rows: Rows) -> str:
    """Goodput by policy on the access network."""
    return _goodput(rows, "access", "With fifty on an asymmetric access network")


@sentence("1-2")
def fairness(rows: Rows) -> str:
    """Which policy is fairest, and by how much more than tail drop."""
    parts = []
    for environment, where in (("lan", "on the LAN"), ("access", "on the access network")):
        of = means(rows.where(table="1-2", environment=environment), "drop_policy", "fairness")
        best = max(of, key=lambda policy: of[policy])
        parts.append(f"{_policy(best)} {where} ({of[best]:.2f}; tail drop {of['tail-drop']:.2f})")
    return f"The fairest is {' and '.join(parts)}."


@sentence("1-2")
def segments_and_delay(rows: Rows) -> str:
    """What large segments do, and what each policy's queue costs."""
    access = rows.where(table="1-2", environment="access")
    gain = mean(access.gains("goodput", "mss_bytes", 1460, 9140))
    queue = means(rows.where(table="1-2"), "drop_policy", "mean_queue_cells")
    shortest = min(queue, key=lambda policy: queue[policy])
    return (
        f"With segments of 9140 instead of 1460 bytes the goodput of the access network {changes(gain)}; the queue is shortest with "
        f"{_policy(shortest)} ({queue[shortest]:.0f} cells on average, with tail drop {queue['tail-drop']:.0f})."
    )


ANSWER = (on_the_lan, on_the_access_network, fairness, segments_and_delay)

#: The sentence that stands for all of them where there is room for one.
IN_SHORT = on_the_access_network
