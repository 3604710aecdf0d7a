"""What the study's question, ABR or UBR, needs to know of UBR: what it costs to do without loss, and what loss costs."""

from __future__ import annotations

from statistics import mean

from cellyard.answer import changes, sentence
from cellyard.study import Rows


@sentence("zero-loss")
def buffers(rows: Rows) -> str:
    """What no loss needs, by number of sources."""
    chosen = rows.where(table="zero-loss", receiver_window_bytes=600000)
    of = {row["sources"]: row.simulated["max_queue_cells"] for row in chosen}
    told = ", ".join(f"{n}: {cells:.0f}" for n, cells in of.items())
    return f"With windows of 600000 bytes UBR needs for no loss, in cells by number of sources, {told}."


@sentence("ubr")
def loss(rows: Rows) -> str:
    """What loss costs."""
    chosen = rows.where(table="ubr")
    without = mean(chosen.where(epd="n/a").values("efficiency"))
    by_buffer = {
        cells: mean(chosen.where(buffer_cells=cells, epd=("no", "yes")).values("efficiency"))
        for cells in (12000, 36000)
    }
    told = " and ".join(
        f"{changes(value - without)} to {value:.2f} with {cells} cells" for cells, value in by_buffer.items()
    )
    return f"From windows that fit into the buffer ({without:.2f}) to larger ones the mean efficiency {told}."


@sentence("ubr")
def epd(rows: Rows) -> str:
    """What EPD adds."""
    told = []
    for cells in (12000, 36000):
        chosen = rows.where(table="ubr", buffer_cells=cells)
        efficiency, fairness = (mean(chosen.gains(metric, "epd", "no", "yes")) for metric in ("efficiency", "fairness"))
        told.append(f"with {cells} cells the efficiency {changes(efficiency)} and the fairness {changes(fairness)}")
    return f"From UBR to EPD, {told[0]}, {told[1]}."


@sentence("granularity")
def timers(rows: Rows) -> str:
    """What the clock of TCP decides."""
    gain = mean(rows.where(table="granularity").gains("efficiency", "granularity_ms", 500, 10))
    return f"With timer ticks of 10 ms instead of 500 ms the mean efficiency {changes(gain)}."


ANSWER = (buffers, loss, epd, timers)
