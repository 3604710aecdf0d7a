"""What no path of study.toml can say: the text's own goodput and fairness, what transfers take, and cells sent for nothing."""

from collections.abc import Sequence
from statistics import mean
from typing import Any

import cellyard as cy
from cellyard.studies.cell_discard.scenario import PORT
from cellyard.study import Row
from cellyard.system.format import aal5


def metrics(run: cy.RunResult, row: Row) -> dict[str, float | None]:
    """Numbers of the data of all VCs; if both ends send files, of those that servers send."""
    vcs = list(run.vcs.values())
    port = run.ports[PORT]
    sent_mbit = port.sent_cells * aal5().cell_bits / 1e6
    # Files never end, so the last of each source is unfinished in every run: finished files count.
    senders: list[Any] = [*vcs, *(back for vc in vcs for back in vc.back)]
    durations = sorted(transfer.duration_s for sender in senders for transfer in sender.transfers)
    useful_mbit = sum(vc.throughput_mbps for vc in vcs) * run.measured_s
    return {
        "goodput": run.totals.efficiency,
        "fairness": fairness([vc.goodput_mbps for vc in vcs]),
        "mean_queue_cells": port.mean_queue_cells,
        "p50_transfer_s": quantile(durations, 50),
        "p95_transfer_s": quantile(durations, 95),
        "unfinished_sources": float(sum(vc.finished_transfers == 0 for vc in vcs)),
        "wasted_percent": 100 * (1 - useful_mbit / sent_mbit) if sent_mbit else None,
        "cell_loss_percent": 100 * run.totals.cell_loss_ratio,
    }


def quantile(ordered: Sequence[float], percent: int) -> float | None:
    """The shortest duration that ``percent`` of them do not exceed.

    >>> quantile([1, 2, 3, 4], 50), quantile([], 50)
    (2, None)
    """
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else None


def fairness(goodputs: Sequence[float]) -> float | None:
    """The text's index (equations 2 and 3): 1 less the mean distance from the mean, relative to it; below 0 if few get nearly all.

    >>> fairness([2, 2, 2, 2]), fairness([4, 4, 0, 0])
    (1.0, 0.0)
    """
    middle = mean(goodputs)
    return 1 - mean(abs(each - middle) for each in goodputs) / middle if middle else None
