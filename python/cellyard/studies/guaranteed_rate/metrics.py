"""What no path of study.toml can say: how much of its guarantee each VC gets."""

import cellyard as cy
from cellyard.studies.guaranteed_rate.scenario import goodput_of
from cellyard.study import Row, load

#: Part of its guarantee from which on a VC counts as served.
KEPT = 0.95


def metrics(run: cy.RunResult, row: Row) -> dict[str, float | int | None]:
    """Of rows with guarantees for each VC, or with what they are compared with."""
    if "guarantee" not in row.parameters:
        return {"kept_vcs": None, "least_of_guarantee": None}
    shared = load("guaranteed-rate").info["shared"]
    mss = shared[row["configuration"]]["mss_bytes"]
    parts = [
        run.vcs[f"tcp{number}"].goodput_mbps / goodput_of(rate, mss)
        for number, rate in enumerate(shared["guarantees_mbps"], 1)
    ]
    return {"kept_vcs": sum(part >= KEPT for part in parts), "least_of_guarantee": min(parts)}
