"""What ``cellyard run`` prints: one run's VCs, ports and classes, or a line for each point of a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cellyard.text import range_head, span, table

#: Columns of the summary of several runs.
SUMMARY = (
    "goodput_mbps",
    "efficiency",
    "fairness",
    "cell_loss_ratio",
    "max_queue_cells",
    "retransmitted_segments",
    "timeouts",
)

#: Reasons of drops that the table of ports names by what happened.
REASONS = {"policy": "refused", "link": "lost"}


def text(document: Mapping[str, Any]) -> str:
    """The runs, summed up where there are several."""
    runs = document["runs"]
    if not runs:
        return "no run has finished"
    cost = f"{document['cells'] / 1e6:.1f} million cells, {document['timing']['cpu_seconds']:.2f} s of CPU time"
    if len(runs) == 1:
        return f"{runs[0]['name']}: {runs[0]['duration_s']:g} s simulated, {cost}\n\n{_one(runs[0])}"
    paths = list(runs[0].get("set", {}))
    ranged = document["replications"] is not None
    ranges = range_head(*(point["runs"] for point in document["summary"]))
    metrics = [m for m in SUMMARY if document["summary"][0]["median"].get(m) is not None]
    header = [*paths, "runs", *(column for m in metrics for column in ([m, ranges] if ranged else [m]))]
    rows = []
    for point in document["summary"]:
        row = [*(point["set"][path] for path in paths), point["runs"]]
        for metric in metrics:
            row.append(point["median"][metric])
            if ranged:
                row.append(span(point["range"][metric]))
        rows.append(row)
    return f"{document['scenario']}: {len(runs)} runs, {cost}\n\n{table(header, rows)}"


def unwritten(runs: Sequence[Mapping[str, Any]]) -> str:
    """What the table leaves out and no file got."""
    series = [series for run in runs for series in run["series"]]
    if not series:
        return ""
    points = sum(len(one["value"]) for one in series)
    return (
        f"\n{len(series)} series with {points} points: --out DIR writes them, --plot FILE draws those of a single run\n"
    )


def _one(run: Mapping[str, Any]) -> str:
    totals = run["totals"]
    parts = ["  ".join(f"{m} {_short(totals[m])}" for m in SUMMARY if totals[m] is not None), _vcs(run["vcs"])]
    if ports := [port for port in run["ports"] if port["can_queue"]]:
        parts.append(_ports(ports))
    if len(run["classes"]) > 1:
        parts.append(table(list(run["classes"][0]), [list(c.values()) for c in run["classes"]]))
    return "\n\n".join(parts)


def _vcs(vcs: Sequence[Mapping[str, Any]]) -> str:
    columns = {
        "vc": "name",
        "from": "from",
        "to": "to",
        "traffic": "traffic",
        "goodput_mbps": "goodput_mbps",
        "cells_sent": "cells_sent",
        "cells_dropped": "cells_dropped",
        "segments": "segments",
        "retransmitted": "retransmitted_segments",
        "timeouts": "timeouts",
    }
    # Seconds would leave one digit of most delays.
    delays = [vc["mean_cell_transfer_delay_s"] for vc in vcs]
    in_ms = [None if delay is None else 1e3 * delay for delay in delays]
    rows = [[*(vc[key] for key in columns.values()), delay] for vc, delay in zip(vcs, in_ms, strict=True)]
    return table([*columns, "mean_delay_ms"], rows)


def _ports(ports: Sequence[Mapping[str, Any]]) -> str:
    reasons = [REASONS.get(reason, reason) for reason in ports[0]["dropped_cells"]]
    head = ["port", "rate_mbps", "sent_cells", *reasons, "max_queue", "mean_queue", "utilisation"]
    rows = [
        [
            port["name"],
            port["rate_mbps"],
            port["sent_cells"],
            *port["dropped_cells"].values(),
            port["max_queue_cells"],
            port["mean_queue_cells"],
            port["utilisation"],
        ]
        for port in ports
    ]
    return table(head, rows)


def _short(value: float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
