"""Each sentence of the explorer's stories holds in the run that the page shows, and in most other draws."""

from collections.abc import Callable
from typing import Any

import pytest
from cellyard.results.run import RunResult
from cellyard.results.types import PortResult
from cellyard.scenario import examples
from cellyard.show import explorer

#: Random draws of each story, and the least number of them in which a sentence must hold.
DRAWS, MOST = 20, 18
STORIES = {story["name"]: story for story in explorer.stories()}

Runs = list[RunResult]


def runs(base: str, values: dict[str, str], *, trace: bool = False) -> Runs:
    """Return the run that the page shows of a variant, with a trace if asked for, and other draws of it."""
    ordered = sorted(values.items(), key=lambda item: item[0].count("."))
    share = '[{ what = "link-share", of = "west->east", interval = "20 ms" }]' if base.startswith("vbr") else "[]"
    scenario = examples.scenario(base, overrides=[*ordered, ("probe", share)])
    probes = [{"what": "trace", "of": name} for name in ("vc1", "vc2", "vc3", "vc4", "vc5")]
    shown = scenario.with_values({"probe": probes}) if trace else scenario
    return [shown.run().only, *scenario.run(replications=DRAWS)]


def sides_of(story: dict[str, Any], attempt: dict[str, Any]) -> list[Runs]:
    """Return the runs of both variants, and of both as the last sentence advises."""
    # Traces of millions of drops would take long.
    trace = story["name"] in ("synchronise", "fair-share", "r-and-z")
    both = attempt.get("both", {})
    changes = [{}, {}, both, {**both, **attempt.get("b", {})}]
    sides = zip(2 * story["sides"], changes, strict=True)
    return [runs(side["base"], {**side["set"], **values}, trace=trace) for side, values in sides]


def port(run: RunResult) -> PortResult:
    return run.ports["west->east"]


def total(run: RunResult, name: str) -> float:
    return float(getattr(run.totals, name))


def video_wait(run: RunResult, statistic: str) -> float:
    return float(getattr(run.vcs["vbr"], f"{statistic}_cell_transfer_delay_s"))


def wasted(run: RunResult) -> float:
    return port(run).utilisation - (port(run).efficiency or 0)


def wait(run: RunResult) -> float:
    return total(run, "mean_cell_transfer_delay_s")


def goodputs(run: RunResult) -> list[float]:
    return sorted(vc.goodput_mbps for vc in run.vcs.values())


def reasons(run: RunResult) -> set[str]:
    """Return why first cells, or single cells, were refused; `rest` follows from another reason."""
    dropped = port(run).dropped_cells
    return {name for name in ("policy", "full") if getattr(dropped, name)}


def refused_above(run: RunResult, *, r: float, z: float, buffer: float) -> bool:
    """Return whether each frame was refused above R, and above Z times the fair share of its VC, in a traced run."""
    refused = [cell for cell in run.trace if cell.reason == "policy" and cell.cell == 0]
    return (run.replication is not None or len(refused) > 0) and all(
        (x := cell.waiting_cells or 0) > r * buffer and (cell.waiting_of_vc_cells or 0) * (cell.active_vcs or 0) > z * x
        for cell in refused
    )


def lose_together(run: RunResult) -> bool:
    """Return whether in most overflows at least three of the five VCs lose cells within 10 ms, in a traced run."""
    losses: list[tuple[float, set[str]]] = []
    for cell in sorted(run.trace, key=lambda cell: cell.time_s):
        if not losses or cell.time_s > losses[-1][0] + 0.010:
            losses.append((cell.time_s, set()))
        losses[-1][1].add(cell.vc)
    return run.replication is not None or 2 * sum(len(vcs) >= 3 for _, vcs in losses) > len(losses) > 5


def shares(run: RunResult) -> tuple[list[float], list[float]]:
    """Return the shares of the link that the classes have in intervals of 20 ms: VBR and UBR."""
    by_class = {series.service_class: list(series.value) for series in run.series}
    return by_class["vbr"], by_class["ubr"]


def video_alone(run: RunResult) -> list[float]:
    """Return the shares of UBR in the intervals in which the video sends all the time."""
    on = [place % 30 < 15 for place in range(len(run.series[0].value))]
    return [share for share, sends, before in zip(shares(run)[1], on, [False, *on], strict=False) if sends and before]


#: Goodputs in Mb/s that the guaranteed rates of 5 and 20 Mb/s carry: 1024 bytes in 23 cells.
PROMISED = {name: rate * 1024 / (23 * 53) for name, rate in {"tcp5": 5, "udp5": 5, "tcp20": 20, "udp20": 20}.items()}


def beyond(run: RunResult) -> dict[str, float]:
    """Return the goodputs of the VCs minus what they were promised."""
    return {name: run.vcs[name].goodput_mbps - promised for name, promised in PROMISED.items()}


def recovers_by(run: RunResult, *, fast: bool) -> bool:
    return run.totals.timeouts > 0 and (run.totals.fast_retransmits > 0) == fast


Check = Callable[[RunResult, RunResult], bool]

#: Each sentence, and whether it holds for a run of A and one of B.
SENTENCES: dict[str, Check] = {
    # why-epd
    "Five TCPs (Reno, with fast retransmit) share one link.": lambda a, b: (
        len(a.vcs) == len(b.vcs) == 5 and recovers_by(a, fast=True) and recovers_by(b, fast=True)
    ),
    "Tail drop (A) refuses single cells once the buffer of 1000 cells is full.": lambda a, b: (
        reasons(a) == {"full"} and port(a).dropped_cells.rest == 0 and port(a).max_queue_cells == 1000
    ),
    "Early packet discard (EPD, variant B) refuses whole frames once fewer than 200 cells of the buffer are free.": (
        lambda a, b: reasons(b) == {"policy"} and 800 < port(b).max_queue_cells < 900
    ),
    "Its TCPs wait for fewer timeouts, and its efficiency is higher by at least 0.1.": lambda a, b: (
        b.totals.timeouts < a.totals.timeouts and total(b, "efficiency") > total(a, "efficiency") + 0.1
    ),
    "Wasted cells do not explain this: even in A, cells of lost frames and repeated data take less than 1 % of the link.": (
        lambda a, b: wasted(a) < 0.01
    ),
    "The cost: the queue of B is longer on average, so cells wait longer on average.": lambda a, b: (
        port(b).mean_queue_cells > port(a).mean_queue_cells and wait(b) > wait(a)
    ),
    # synchronise
    "Vanilla TCP (A) has slow start, but no fast retransmit: it repairs a loss only when its timer expires.": (
        lambda a, b: recovers_by(a, fast=False)
    ),
    "When the buffer overflows, most of the five TCPs lose cells within 10 ms.": lambda a, b: lose_together(a),
    "They wait for their timers together, so the link is idle for more than 40 % of the time.": lambda a, b: (
        port(a).utilisation < 0.6
    ),
    "With selective acknowledgements (SACK, B) the link is idle for less than 10 % of the time.": lambda a, b: (
        port(b).utilisation > 0.9
    ),
    "The cost: in this run one TCP of B carries more than half of all data, and two others together less than 10 %.": (
        lambda a, b: goodputs(b)[-1] > 0.5 * sum(goodputs(b)) and sum(goodputs(b)[:2]) < 0.1 * sum(goodputs(b))
    ),
    # fair-share
    "Tail drop (A) refuses the cell that arrives at a full buffer, regardless of its sender.": lambda a, b: (
        reasons(a) == {"full"} and all(vc.cells_dropped for vc in a.vcs.values())
    ),
    "Selective Drop (B) refuses frames of VCs that hold more than their share of a long queue.": lambda a, b: (
        refused_above(b, r=0.9, z=0.8, buffer=1000) and reasons(b) == {"policy"}
    ),
    "In this run of five SACK TCPs, one sender of A gets more than half of the goodput.": lambda a, b: (
        goodputs(a)[-1] > 0.5 * sum(goodputs(a))
    ),
    "In B, the fastest sender gets less than twice the goodput of the slowest.": lambda a, b: (
        goodputs(b)[-1] < 2 * goodputs(b)[0]
    ),
    "The cost: the mean queue of B is longer, so cells wait longer on average.": lambda a, b: (
        port(b).mean_queue_cells > port(a).mean_queue_cells and wait(b) > wait(a)
    ),
    # r-and-z
    "Selective Drop refuses a frame if the queue X is above R and its VC holds more than Z X / N_a, where N_a VCs have cells waiting.": (
        lambda a, b: refused_above(a, r=0.5, z=0.8, buffer=3000) and refused_above(b, r=0.9, z=0.8, buffer=3000)
    ),
    "With R at half of the buffer (A) it acts early, and the queue never exceeds 60 % of the buffer.": lambda a, b: (
        port(a).max_queue_cells <= 0.6 * 3000
    ),
    "With R at 0.9 (B) more of the buffer is used before any frame is refused, and fewer timeouts follow.": (
        lambda a, b: port(b).max_queue_cells > port(a).max_queue_cells and b.totals.timeouts < a.totals.timeouts
    ),
    "The cost: the mean queue of B is longer by at least half.": lambda a, b: (
        port(b).mean_queue_cells >= 1.5 * port(a).mean_queue_cells
    ),
    "The efficiency is about the same: it differs by less than 0.05.": lambda a, b: (
        abs(total(b, "efficiency") - total(a, "efficiency")) < 0.05
    ),
    # guaranteed-rate
    "A video stream of higher priority fills the whole link for 300 ms, then rests for 300 ms.": lambda a, b: (
        min(shares(a)[0][:15]) > 0.99 and max(shares(a)[0][16:30]) < 0.01
    ),
    "Without a guarantee (A) no cell of a TCP leaves meanwhile.": lambda a, b: max(video_alone(a)) < 0.01,
    "A tenth of the link for the class UBR (B) keeps the TCPs sending, and fewer timers expire.": lambda a, b: (
        min(video_alone(b)) > 0 and b.totals.timeouts < a.totals.timeouts
    ),
    "The cost falls on the video: its cells wait for milliseconds in B, and for less than 0.1 ms in A.": (
        lambda a, b: video_wait(a, "max") < 1e-4 < 1e-3 < video_wait(b, "mean")
    ),
    "The longest queue of the port is more than three times as long in B.": lambda a, b: (
        port(b).max_queue_cells > 3 * port(a).max_queue_cells
    ),
    # abr-moves-the-queue
    "Over UBR (A) TCPs fill the buffer of the switch until frames are refused.": lambda a, b: (
        reasons(a) == {"policy"} and port(a).max_queue_cells > 800
    ),
    "Over ABR (B) the switch sends each source a rate in resource management cells, and data wait in the hosts.": (
        lambda a, b: all(
            held.cells_not_sent > 1000 > 100 > free.cells_not_sent
            for held, free in zip(b.vcs.values(), a.vcs.values(), strict=True)
        )
    ),
    "Nothing is lost in B, the TCPs get equal shares, and the mean queue is less than half of A's.": lambda a, b: (
        port(b).dropped_cells.total == 0
        and total(b, "fairness") > 0.999
        and port(b).mean_queue_cells < 0.5 * port(a).mean_queue_cells
    ),
    "The cost: before the rates settle, the queue of B grows more than twice as long as that of A.": lambda a, b: (
        port(b).max_queue_cells > 2 * port(a).max_queue_cells
    ),
    "B carries no more data for it: the efficiencies differ by less than 0.15.": lambda a, b: (
        abs(total(b, "efficiency") - total(a, "efficiency")) < 0.15
    ),
    # gfr
    "Two TCPs and two UDPs that never slow down share one queue; tcp5 and udp5 are promised 5 Mb/s, tcp20 and udp20 20 Mb/s.": (
        lambda a, b: set(a.vcs) == set(PROMISED) and a.vcs["udp5"].frames_sent > 0
    ),
    "With tail drop (A) the link is always busy, and at least one promise of 20 Mb/s is broken.": lambda a, b: (
        port(a).utilisation > 0.999 and min(beyond(a)["tcp20"], beyond(a)["udp20"]) < 0
    ),
    "In this run nearly every frame of A loses a cell: less than a tenth of the link carries whole frames.": (
        lambda a, b: (port(a).efficiency or 0) < 0.1
    ),
    "A guaranteed frame rate (B) counts the cells of each VC and refuses frames beyond its promise once the queue is long.": (
        lambda a, b: port(b).dropped_cells.policy > 0.99 * port(b).dropped_cells.total
    ),
    "Each VC of B gets its promise and about a quarter of the rest.": lambda a, b: all(
        0.2 < more / sum(beyond(b).values()) < 0.3 for more in beyond(b).values()
    ),
    "The cost: the switch must count the cells of each VC, and up to 1 % of the link is idle in B.": lambda a, b: (
        0.99 < port(b).utilisation < port(a).utilisation
    ),
    # red
    "Twenty servers send files through one link to slow lines.": lambda a, b: (
        len(a.vcs) == 20 and a.totals.finished_transfers > 0 and b.totals.finished_transfers > 0
    ),
    "With tail drop (A) the queue fills to the last cell, and after the losses the link is idle for part of the time.": (
        lambda a, b: port(a).max_queue_cells == 4000 and port(a).utilisation < 0.9
    ),
    "Random early detection (RED, B) refuses some frames while the average queue is between two thresholds.": (
        lambda a, b: "policy" in reasons(b)
    ),
    "Its mean queue is shorter, its cells wait less, and it delivers more.": lambda a, b: (
        port(b).mean_queue_cells < port(a).mean_queue_cells
        and wait(b) < wait(a)
        and total(b, "goodput_mbps") > total(a, "goodput_mbps")
    ),
    "The cost: it refuses frames although the buffer of 4000 cells is never full.": lambda a, b: (
        reasons(b) == {"policy"} and port(b).max_queue_cells < 4000
    ),
    # your-policy
    "The drop policy of this switch is a text: the condition on which it refuses a frame.": lambda a, b: (
        port(a).dropped_cells.policy > 0 and port(b).dropped_cells.policy > 0
    ),
    "In A it refuses frames of every VC once fewer than 200 cells of the buffer K are free.": lambda a, b: (
        reasons(a) == {"policy"} and 800 < port(a).max_queue_cells < 900
    ),
    "In B it does so above R, if the VC also holds more than Z times its share X / N, where N VCs have cells waiting.": (
        lambda a, b: reasons(b) == {"policy"} and port(b).max_queue_cells > 900
    ),
    "B uses more of the buffer and loses fewer cells, at about the same efficiency.": lambda a, b: (
        port(b).max_queue_cells > port(a).max_queue_cells
        and total(b, "cell_loss_ratio") < total(a, "cell_loss_ratio")
        and abs(total(b, "efficiency") - total(a, "efficiency")) < 0.05
    ),
    "The cost: the mean wait is longer.": lambda a, b: wait(b) > wait(a),
}

#: What each story advises to try: whether it holds for runs of A, B, and both as changed.
ATTEMPTS: dict[str, Callable[[RunResult, RunResult, RunResult, RunResult], bool]] = {
    "Set the buffer to 4000 cells in both variants: the efficiencies then differ by less than 0.1.": (
        lambda a, b, tried_a, tried_b: abs(total(tried_b, "efficiency") - total(tried_a, "efficiency")) < 0.1
    ),
    "Choose reno in B: the efficiency then lies between those of vanilla and SACK.": lambda a, b, tried_a, tried_b: (
        total(a, "efficiency") < total(tried_b, "efficiency") < total(b, "efficiency")
    ),
    'Change the seed under "Everything else": the fairness of A differs from run to run, and that of B stays above 0.9.': (
        lambda a, b, tried_a, tried_b: total(a, "fairness") != total(b, "fairness") > 0.9
    ),
    "Lower Z to 0.2 in B: more frames are refused above R, and fewer timeouts follow.": lambda a, b, tried_a, tried_b: (
        port(tried_b).dropped_cells.total > port(b).dropped_cells.total and tried_b.totals.timeouts < b.totals.timeouts
    ),
    "Set gr to 0.05 in B: the video waits for less than half as long, and at most two more timers expire.": (
        lambda a, b, tried_a, tried_b: (
            video_wait(tried_b, "mean") < 0.5 * video_wait(b, "mean")
            and tried_b.totals.timeouts <= b.totals.timeouts + 2
        )
    ),
    "Limit the buffer of the class ABR in B to 1000 cells: the first burst then loses cells.": (
        lambda a, b, tried_a, tried_b: port(b).max_queue_cells > 1000 and port(tried_b).dropped_cells.total > 0
    ),
    "Choose gcra-epd in B: each TCP gets within a third of its promise, and the UDPs take the rest.": (
        lambda a, b, tried_a, tried_b: (
            all(abs(beyond(tried_b)[tcp]) < PROMISED[tcp] / 3 for tcp in ("tcp5", "tcp20"))
            and all(beyond(tried_b)[udp] > 20 for udp in ("udp5", "udp20"))
        )
    ),
    "Raise max p to 0.5 in B: in this run the mean wait falls further, and so does the goodput.": (
        lambda a, b, tried_a, tried_b: (
            wait(tried_b) < wait(b) < wait(a) and total(tried_b, "goodput_mbps") < total(b, "goodput_mbps")
        )
    ),
    'Change the condition of B to "X > R and Y * N > 2 * Z * X": the buffer is full at times, and the efficiency falls.': (
        lambda a, b, tried_a, tried_b: (
            "full" in reasons(tried_b) and total(tried_b, "efficiency") < total(b, "efficiency")
        )
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_each_sentence_of_a_story_holds(name: str) -> None:
    story = STORIES[name]
    found = sides_of(story, explorer.attempt(name))
    draws = list(zip(*found[:2], strict=True))
    held = {sentence: [SENTENCES[sentence](*draw) for draw in draws] for sentence in story["text"]}
    held[story["attempt"]] = [ATTEMPTS[story["attempt"]](*draw) for draw in zip(*found, strict=True)]
    failed = {
        sentence: f"shown: {shown}, in {sum(others)} draws"
        for sentence, (shown, *others) in held.items()
        if not shown or ("in this run" not in sentence.lower() and sum(others) < MOST)
    }
    assert failed == {}


def test_what_is_checked_is_told_one_sentence_at_a_time() -> None:
    told = [sentence for story in STORIES.values() for sentence in (*story["text"], story["attempt"])]
    assert set(told) == {*SENTENCES, *ATTEMPTS}
    assert all(sentence.endswith(".") and ". " not in sentence for sentence in told)


def test_the_seed_changes_who_wins_with_tail_drop() -> None:
    side = STORIES["fair-share"]["sides"][0]
    fairness = [total(run, "fairness") for run in runs(side["base"], side["set"])]
    assert max(fairness) - min(fairness) > 0.3
