"""Experiments whose runs end before their files do: no answer contradicts that of longer runs."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cellyard.experiment import Axis, Compare, Experiment, Find, Outcome, Precision, Sensitivity, Table
from cellyard.experiment.questions.question import Question
from cellyard.statistics.bounded import Bounded, Value
from cellyard.store import open_store
from known_answers import BASE, by, drawn
from test_bounded import LATE, incast

BUFFER = "switch.tor.ubr.buffer"
POLICY = Axis("switch.tor.ubr.drop", ["tail-drop", "epd", "selective-drop", "fba"], name="policy")


def asked(question: Question, axis: Axis, *, duration: str, metrics: Any = ("p99_transfer_s",), **more: Any) -> Outcome:
    return Experiment(name="incast", base=incast(duration), axes=[axis], metrics=metrics, question=question).run(**more)


def table(outcome: Outcome, name: str) -> list[dict[str, Any]]:
    assert outcome.answer
    return outcome.answer.tables[name]


CELLS = (16, 32, 170, 340, 510, 680, 850, 1020)
FIND = Axis(BUFFER, [f"{cells} cells" for cells in CELLS], name="buffer")


def test_no_buffer_that_is_found_contradicts_the_truth(tmp_path: Path) -> None:
    metrics = {"p99": "p99_transfer_s", "last": "max(vc.*.completed_s)", "half": "p50_transfer_s"}
    with open_store(tmp_path / "runs.sqlite", create=True) as store:
        for require in ("p99 < 0.25", "last < 0.25", "p99 < 1", "p99 < 3.5", "half < 0.25", "not p99 > 0.25"):
            question = Find("buffer", [require])
            truth, *shorter = (
                asked(question, FIND, duration=duration, metrics=metrics, store=store)
                for duration in ("60 s", "0.3 s", "3 s")
            )
            (whole,) = table(truth, "found")
            assert whole["assumption"] != "not known"
            for outcome in shorter:
                (record,) = table(outcome, "found")
                if record["assumption"] != "not known":
                    assert record["buffer"] == whole["buffer"]
                    continue
                assert record["buffer"] is None and "run longer: `duration`" in outcome.text
                low, high = (record[name] and axis_cells(record[name]) for name in ("bracket_from", "bracket_to"))
                right = whole["buffer"] and axis_cells(whole["buffer"])
                assert (low or CELLS[0]) <= (right or CELLS[-1] + 1) <= (high or CELLS[-1] + 1)
            # What is found in a short run is decided if bounds allow.
            short = table(shorter[0], "found")[0]
            if require == "p99 < 0.25":
                assert short["buffer"] == whole["buffer"] == "680 cells"
            if require == "p99 < 1":
                assert short["assumption"] == "not known"
                assert "if all of these runs meet the requirement" in shorter[0].text


def axis_cells(text: Any) -> int:
    return int(str(text).split()[0])


def test_comparisons_do_not_contradict_those_of_longer_runs() -> None:
    def better(duration: str) -> list[str]:
        outcome = asked(Compare("policy", against="tail-drop"), POLICY, duration=duration)
        return [record["better"] for record in table(outcome, "comparisons")]

    truth = better("60 s")
    assert "not known" not in truth
    assert better("0.3 s") == ["not known"] * 3
    for short, right in zip(better("3 s"), truth, strict=True):
        assert short in (right, "not known")


QUEUE = Axis("switch.west.ubr.buffer", ["1000 cells", "1001 cells", "1002 cells"], name="buffer")


def told(question: Question, measure: Any, *, replications: int = 20, axis: Axis = QUEUE) -> Outcome:
    return Experiment(
        name="made", base=BASE, axes=[axis], metrics=["p99_transfer_s"], question=question, replications=replications
    ).run(runner=by(measure))


def late_from(value: float) -> Any:
    """Durations of about the buffer less 999; those above ``value`` are only known to be above it."""

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, Value]:
        duration = at["buffer"] - 999 + 0.1 * drawn(i).random()
        return {"p99_transfer_s": duration if duration < value else Bounded(value, math.inf)}

    return measure


def test_pairs_are_compared_by_signs_where_their_bounds_do_not_overlap() -> None:
    outcome = told(Compare("buffer", against="1000 cells"), late_from(1.5))
    records = table(outcome, "comparisons")
    assert [record["better"] for record in records] == ["1000 cells"] * 2
    assert [(record["difference"], record["pairs"]) for record in records] == [(None, 20)] * 2
    # All 20 signs are equal, and Holm's correction doubles the probability.
    assert records[0]["p"] == pytest.approx(2 * 2 * 0.5**20)
    assert "p99_transfer_s is lower in 20 of 20 pairs of runs, p < 0.001; by how much is not known." in outcome.text
    # If some pairs overlap, these count against the claim.
    some = told(Compare("buffer", against="1000 cells"), late_from(1.05))
    assert {record["better"] for record in table(some, "comparisons")} == {"not known"}
    assert "run longer: `duration`" in some.text
    # Of many comparisons the summary names what is known.
    values = [f"{cells} cells" for cells in range(1000, 1006)]
    many = told(
        Compare("buffer", against="1000 cells"), late_from(2.5), axis=Axis(QUEUE.paths[0], values, name="buffer")
    )
    assert many.text.startswith(
        "p99_transfer_s is higher with each of the 5 others than with 1000 cells; the largest estimated loss of those known is "
        "1 s [1, 1], with 1001 cells."
    )
    pairwise = told(Compare("buffer"), late_from(1.5), axis=Axis(QUEUE.paths[0], values, name="buffer"))
    assert "Best in p99_transfer_s is 1000 cells: better in all its 5 comparisons;" in pairwise.text


def test_a_mean_is_not_known_if_one_value_is_not() -> None:
    outcome = told(Precision({"p99_transfer_s": 0.1}, most=200), late_from(2.5))
    records = table(outcome, "precision")
    assert [record["reached"] for record in records] == ["yes", "yes", "not known"]
    assert records[2]["runs"] == 20 and records[2]["p99_transfer_s.mean"] is None  # more replications do not help
    assert "p99_transfer_s (only bounded in 20 runs)" in outcome.text and "run longer" in outcome.text

    tabled = told(Table(), late_from(1.05))
    assert "is not known at every point" in tabled.text
    (first, second, _) = tabled.to_dict()["points"]
    assert second["p99_transfer_s"]["mean"] is None and second["p99_transfer_s"]["mean_above"] == 1.05
    assert 0 < first["p99_transfer_s"]["not_known"] < 20 and first["p99_transfer_s"]["p5"] < 1.05
    some = told(Table(), late_from(2.5))
    assert "Among the 2 of 3 points known, p99_transfer_s is highest at buffer = 1001 cells" in some.text


def test_the_influence_of_axes_on_a_metric_that_is_not_known_is_not_known() -> None:

    def influence(value: float) -> Outcome:
        axes = [QUEUE, Axis("switch.east.ubr.buffer", ["1000 cells", "1001 cells"], name="other")]
        return Experiment(
            name="made",
            base=BASE,
            axes=axes,
            metrics=["p99_transfer_s"],
            question=Sensitivity(samples=4),
            replications=2,
        ).run(runner=by(late_from(value)))

    outcome = influence(2.5)
    assert "The influence of the axes on p99_transfer_s is not known." in outcome.text and "run longer" in outcome.text
    assert all(record["total"] is None for record in table(outcome, "indices"))
    assert "largest influence on p99_transfer_s" in influence(9).text


def test_a_search_that_is_decided_either_way_shows_the_range_of_shares() -> None:
    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, Value]:
        return {"p99_transfer_s": 2.0 if at["buffer"] == 1000 else LATE if i % 20 == 0 else 0.1}

    outcome = told(Find("buffer", ["p99_transfer_s < 1"], share=0.9), measure)
    (record,) = table(outcome, "found")
    assert record["buffer"] == "1001 cells" and "With 1001 cells, 19 to 20 of 20 replications meet" in outcome.text
    assert record["share"] == 0.95 and record["share_high"] == 1.0
    strict = told(Find("buffer", ["p99_transfer_s < 1"], share=1.0), measure)
    assert "it is 1001 cells if all of these runs meet the requirement, and no value if none does" in strict.text


def test_notes_state_what_values_leave_out() -> None:
    """Delays are those of cells that arrived, and of VCs with such cells; means are of runs that define the metric."""
    metrics = {
        "delay": "p99_cell_transfer_delay_s",
        "worst": "max(vc.*.max_cell_transfer_delay_s)",
        "lost": "cell_loss_ratio",
    }
    base = incast("0.3 s").with_values({"vc.vc64.start": "0.4 s"})
    outcome = Experiment(name="incast", base=base, metrics=metrics, question=Table(), replications=2).run()
    lost = max(1.0 * float(record["lost"]) for record in outcome.records())
    (note,) = [
        note for note in outcome.notes if note.startswith("delay and worst cover only cells that arrived: up to ")
    ]
    assert note.endswith(" of the cells of the network, a class or a VC were lost")
    assert float(note.split("up to ")[1].split(" %")[0]) >= 100 * lost > 10
    assert "worst leaves out VCs or classes of which no cell arrived, in 2 of 2 runs" in outcome.notes
    smooth = incast("1 ms", senders=1)
    of_one = Experiment(
        name="smooth", base=smooth, metrics=["p99_cell_transfer_delay_s"], question=Table(), replications=2
    )
    assert not any("cells that arrived" in note for note in of_one.run().notes)

    undefined = told(Table(), lambda at, i: {"p99_transfer_s": None if i == 3 and at["buffer"] == 1000 else 1.0 + i})
    assert "means leave out runs in which a metric is undefined: p99_transfer_s in 1 of 60 runs" in undefined.notes


def test_figures_frames_and_files_have_bounds() -> None:
    for question in (Table(), Compare("buffer", against="1000 cells")):
        assert told(question, late_from(1.5)).figures()
    outcome = told(Table(), late_from(1.5))
    wide = list(outcome.records("wide"))
    assert {record.get("p99_transfer_s_above") for record in wide} == {None, 1.5}
    assert {record.get("value_above") for record in outcome.records("long")} == {None, 1.5}
    assert outcome.to_frame().height == 60
