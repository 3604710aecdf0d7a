"""The question `find`: searches compared with a full grid, also under noise."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
from cellyard import examples, experiment as ex
from cellyard.commands.texts import of_experiment as experiment_text
from cellyard.statistics.bounded import Bounded
from cellyard.statistics.inference import share_interval
from cellyard.system.errors import ExperimentError
from known_answers import BUFFER, asked, buffers, by, drawn, made


@pytest.mark.parametrize("case", range(20))
def test_find_agrees_with_a_full_grid(case: int) -> None:
    """Compares borders, sizes, directions, noise and non-monotonic requirements with every value of the axis."""
    r = drawn("case", case)
    size, want = r.choice([3, 7, 16, 33, 60]), r.choice(["smallest", "largest"])
    border, bump = r.randrange(-1, size + 1), r.randrange(size) if case % 3 == 0 else None
    values = [f"{100 + 10 * i} cells" for i in range(size)]
    replications, share = 10, 0.8

    def measure(at: Mapping[str, Any], i: int) -> Mapping[str, float]:
        place = (at["buffer"] - 100) // 10
        far = place - border if want == "smallest" else border - place
        if bump == place:
            far = -5
        return {"cell_loss_ratio": 0.001 - 0.0002 * far + drawn(case, at["buffer"], i).gauss(0, 0.0001)}

    question = ex.Find("buffer", ["cell_loss_ratio < 0.001"], share=share, want=want, checks=1 + size // 2)  # type: ignore[arg-type]
    outcome = asked(
        measure,
        ex.Axis(BUFFER, values),
        set={"switch.west.ubr.drop": "tail-drop"},
        metrics=["cell_loss_ratio"],
        question=question,
        replications=replications,
    )
    grid = list(range(100, 100 + 10 * size, 10))[:: 1 if want == "smallest" else -1]
    met = [
        sum(measure({"buffer": number}, i)["cell_loss_ratio"] < 0.001 for i in range(replications)) for number in grid
    ]
    held = [place for place in range(size) if met[place] >= share * replications]
    tried = {grid.index(int(point["buffer_cells"])) for point in outcome.points()}
    failed = [
        place
        for place in sorted(tried)
        if held and place > held[0] and share_interval(met[place], replications, 0.95)[1] < share
    ]
    safe = [place for place in held if place > max(failed, default=-1)]
    (found,) = outcome.answer.tables["found"]
    assert found["buffer"] == (f"{grid[safe[0]]} cells" if safe else None)
    assert (found["assumption"] == "wrong") == bool(failed)
    first = outcome.answer.sentences[0]
    assert first.startswith(f"The {want} buffer that gives" if safe else "Of the values" if failed else "No")
    assert (" value shown to fail, is " in first) == bool(safe and failed)


def cells(most: int) -> ex.Axis:
    return ex.Axis(BUFFER, ex.Range("1 cells", f"{most} cells"))


POLICIES = ex.Axis("switch.west.ubr.drop", ["epd", "tail-drop"], name="policy")


def find(
    efficiency: Callable[[Mapping[str, Any], int], Any], *axes: ex.Axis, replications: int = 20, **question: Any
) -> Any:
    """Return the outcome of a search for the buffer from which on the efficiency exceeds a half."""
    search = ex.Find("buffer", ["efficiency > 0.5"], **question)
    return asked(
        lambda at, i: {"efficiency": float(efficiency(at, i))}, *axes, question=search, replications=replications
    )


def finding(measure: Callable[[float], float], *, size: int, monotone: bool = True) -> tuple[str, dict[str, Any]]:
    outcome = find(lambda at, _: measure(at["buffer"]), cells(size), monotone=monotone, replications=1)
    return outcome.text, outcome.answer.tables["found"][0]


def test_find_says_that_its_assumption_was_checked() -> None:
    text, found = finding(lambda x: float(x >= 4321), size=10_000)
    assert found["buffer"] == "4321 cells"
    assert found["values_tried"] <= 2 + 14 + 6
    assert (found["bracket_from"], found["bracket_to"]) == ("4320 cells", "4321 cells") or found["share_low"] < 0.5
    assert (
        "The search assumes that all larger values suffice too; none of the values tried is shown to contradict this."
        in text
    )


@pytest.mark.parametrize("monotone", [True, False])
def test_find_names_the_value_beyond_which_nothing_fails_and_the_others_that_hold(monotone: bool) -> None:
    text, found = finding(lambda x: float(20 <= x < 40 or x >= 60), size=64, monotone=monotone)
    assert text == (
        "The smallest buffer that gives efficiency > 0.5 in 95 % of the replications, with no larger value shown to fail, is "
        "60 cells, but fresh replications do not confirm it. With 60 cells, 1 of 1 replication meets this condition. With "
        "59 cells, 0 do. Of 1 fresh replication with 60 cells, which the search did not use, 1 meets this condition. So at "
        "least 20.7 % of all runs do (95 % confidence). If the share stays at 100 %, about 73 replications would confirm it. Of the "
        "smaller values tried, 20 cells to 39 cells suffice too, but 40 cells fails again, with 0 of 1 replication. All 64 "
        "values of buffer were tried, from 1 cells to 64 cells."
    )
    assert (found["buffer"], found["share"], found["values_tried"]) == ("60 cells", 1.0, 64)
    assert found["assumption"] == ("wrong" if monotone else "none: every value tried")
    mirrored = find(
        lambda at, _: at["buffer"] <= 5 or 26 <= at["buffer"] <= 45, cells(64), want="largest", monotone=monotone
    )
    assert mirrored.text.startswith(
        "The largest buffer that gives efficiency > 0.5 in 95 % of the replications, with no smaller value shown to fail, is "
        "5 cells, but "
    )
    assert (
        "Of the larger values tried, 26 cells to 45 cells suffice too, but 25 cells fails again, with 0 of"
        in mirrored.text
    )
    text = find(lambda at, i: at["buffer"] <= 2 or at["buffer"] > 5, cells(9), POLICIES, replications=1).text
    assert "At policy = epd: the smallest buffer is 6 cells, with no larger value shown to fail" in text
    assert re.search(r"; of the smaller values tried, [\w ]+ suffices? too, but \d cells fails again\.", text)
    assert (
        "Too few fresh replications to confirm the value, or too low a share of them, at policy = epd (100 %) and "
        "policy = tail-drop (100 %); more `replications` show which."
    ) in text


def test_find_says_where_the_requirement_holds_if_the_last_value_fails() -> None:
    text, found = finding(lambda x: float(20 <= x < 40), size=64)
    assert text == (
        "Of the values of buffer tried, 20 cells to 39 cells suffice, but 40 cells fails again: not every larger value is safe. "
        "A value suffices if it gives efficiency > 0.5 in 95 % of the replications. With 20 cells, 1 of 1 replication meets this "
        "condition. With 40 cells, 0 do. All 64 values of buffer were tried, from 1 cells to 64 cells."
    )
    assert (found["buffer"], found["share"], found["bracket_from"], found["assumption"]) == (None, None, None, "wrong")
    text, _ = finding(lambda x: float(x % 3 == 0), size=64)
    assert text.startswith("Of the values of buffer tried, 3 cells and 20 more suffice, but 4 cells fails again")
    # The requirement holds at the wanted end, and only there.
    text, found = finding(lambda x: float(x <= 40), size=64)
    assert text.startswith("Of the values of buffer tried, 1 cells to 40 cells suffice, but 41 cells fails again")
    assert '`want = "largest"` searches for the border.' in text and found["buffer"] is None
    text = find(lambda at, i: at["buffer"] == 5, cells(9), POLICIES, replications=1).text
    assert (
        "At policy = epd: of the values of buffer tried, 5 cells suffices, but 6 cells fails again: not every" in text
    )


def test_a_long_axis_is_narrowed_to_the_value_beyond_which_nothing_fails() -> None:
    experiment = made(cells(10_000), question=ex.Find("buffer", ["efficiency > 0.5"]), replications=20)
    outcome = experiment.run(runner=by(lambda at, _: {"efficiency": float(at["buffer"] == 1 or at["buffer"] >= 4321)}))
    (found,) = outcome.answer.tables["found"]
    assert (found["buffer"], found["bracket_from"], found["assumption"]) == ("4321 cells", None, "wrong")
    assert len(outcome.measured) == found["values_tried"] <= experiment.expected().points
    assert f"{found['values_tried']} of 10000 values of buffer were tried" in outcome.text


@pytest.mark.parametrize("monotone", [True, False])
def test_a_bracket_without_an_assumption_contains_the_last_border(monotone: bool) -> None:
    """In each of 200 searches the share is 0.9 in an island and at the end, and below the required 0.8 between.

    At most the stated 5 % of the brackets may miss the border, the tenth value. If exactly 5 % did, more
    than 20 would with a chance of 0.1 %.
    """
    chance = [0.3, 0.5, 0.9, 0.95, 0.9, 0.7, 0.6, 0.7, 0.75, 0.82, 0.95, 0.99, 0.999, 0.9999]
    border, outside, named = 10, 0, 0
    for repetition in range(200):

        def met(at: Mapping[str, Any], i: int, repetition: int = repetition) -> bool:
            return bool(drawn("island", repetition, at["buffer"], i).random() < chance[at["buffer"] - 1])

        found = find(met, cells(len(chance)), share=0.8, replications=60, monotone=monotone).answer.tables["found"][0]
        if monotone and found["assumption"] != "wrong":
            continue
        low, high = (found[end] and int(found[end].split()[0]) for end in ("bracket_from", "bracket_to"))
        outside += not (low or 0) <= border <= (high or math.inf)
        named += high is not None
    assert outside <= 20 and named >= 100


@pytest.mark.parametrize(
    ("met", "fresh", "share", "advice"),
    [
        ([16, 20, 20], 16, 0.8, "With 95 % confidence, 2 cells suffices."),
        ([16, 16, 16], 18, 0.8, "If the share stays at 90 %, about 62 replications would confirm it."),
        ([20, 20, 20], 20, 0.95, "If the share stays at 100 %, about 73 replications would confirm it."),
        ([16, 16, 16], 16, 0.8, "This share is not clearly above the required one, so a larger value may be needed."),
        ([20, 20, 20], 20, 1.0, "No number of replications can show a share of 100 %; state a lower `share`."),
    ],
)
def test_find_says_what_would_confirm_a_value(met: list[int], fresh: int, share: float, advice: str) -> None:
    def holds(at: Mapping[str, Any], i: int) -> bool:
        return bool(i < met[at["buffer"] - 1] if i < 20 else i < 20 + fresh)

    outcome = find(holds, cells(3), share=share)
    first, _, counted, shown, said, *_ = outcome.answer.sentences
    assert first.endswith("is 1 cells or less, but fresh replications do not confirm it; no smaller value was tried.")
    assert said == advice
    low = share_interval(fresh, 20, 0.95)[0]
    assert f" {fresh} meet this condition." in counted and f"at least {100 * low:.1f} %" in shown
    if match := re.search(r"about (\d+) replications", advice):
        needed = int(match[1])
        assert share_interval(math.ceil(needed * fresh / 20), needed, 0.95)[0] >= share
        assert share_interval(math.floor((needed - 1) * fresh / 20), needed - 1, 0.95)[0] < share


def test_a_value_is_confirmed_by_as_many_replications_as_find_asks_for() -> None:
    text = {n: find(lambda at, i: at["buffer"] > 1, cells(9), replications=n).text for n in (20, 72, 73)}
    assert "about 73 replications would confirm it" in text[20]
    assert ["do not confirm" in text[n] for n in (72, 73)] == [True, False]


@pytest.mark.parametrize("name", ["buffer", "utilisation"])
def test_no_sentence_of_a_ready_answer_has_more_than_four_numbers_or_nested_brackets(name: str) -> None:
    """Read from the page, whose answers other tests compare with runs."""
    page = (Path(__file__).parent.parent / "docs/ready-experiments.md").read_text(encoding="utf-8")
    answer = " ".join(page.partition(f"run {name}.toml\n")[2].partition("\n...")[0].split())
    sentences = re.split(r"(?<=[.?]) ", answer)
    assert len(sentences) > 4
    for sentence in sentences:
        assert len(re.findall(r"\d+(?:\.\d+)?", sentence)) <= 4, sentence
        assert not re.search(r"\([^)]*\(", sentence), sentence


def test_the_points_of_find_say_how_many_runs_meet_the_conditions() -> None:
    outcome = find(lambda at, i: i < 10 * at["buffer"], cells(3), share=0.8)
    found = {point["buffer_cells"]: (point["runs"], point["met"], point["share"]) for point in outcome.points()}
    assert found == {1: (20, 10, 0.5), 2: (40, 20, 0.5), 3: (20, 20, 1.0)}  # 20 of them are fresh
    table = experiment_text({**outcome.to_dict(), "timing": {"cpu_seconds": 1.0, "wall_seconds": 1.0}})
    assert re.search(r"buffer_cells +runs +met +share +efficiency", table)
    late = asked(
        lambda at, i: {"efficiency": Bounded(0.4, 0.6) if i == 0 else 1.0},
        ex.Axis(BUFFER, ["5 cells"]),
        question=ex.Find("buffer", ["efficiency > 0.5"]),
    )
    (point,) = late.points()
    assert (point["runs"], point["met"], point["share"]) == (40, 39, None)
    for name in ("met", "share"):
        with pytest.raises(ExperimentError, match=r"other than .*met, share"):
            made(ex.Axis(BUFFER, ["1 cells"], name=name))
        with pytest.raises(ExperimentError, match="reserved name"):
            made(metrics={name: "efficiency"})


def test_find_without_the_assumption_tries_every_value() -> None:
    text, found = finding(lambda x: float(x >= 3), size=64, monotone=False)
    assert (found["buffer"], found["values_tried"]) == ("3 cells", 64)
    assert "All 64 values of buffer were tried" in text and "assumes" not in text


@pytest.mark.parametrize(("share", "width"), [(0.95, 5), (0.95, 60), (0.5, 300)])
def test_find_is_exact_under_noise_and_its_bracket_is_narrow(share: float, width: float) -> None:
    """Compares 8 searches of 64 values with a full grid.

    Both use common random numbers and fixed seeds. 50 replications cannot show a share of 95 %.
    """
    values, many, widths = range(100, 1380, 20), 100 if share == 0.95 else 50, []
    for repetition in range(8):
        border = drawn("border", share, width, repetition).uniform(200, 1200)
        seen: dict[tuple[int, int], float] = {}

        def holds(
            x: int, i: int, border: float = border, seen: dict[tuple[int, int], float] = seen, r: int = repetition
        ) -> float:
            if (x, i) not in seen:
                p = 1 / (1 + math.exp(max(-500.0, min(500.0, 4 * (border - x) / width))))
                seen[x, i] = float(drawn(share, width, r, x, i).random() < p)
            return seen[x, i]

        outcome = find(lambda at, i: holds(at["buffer"], i), buffers(*values), share=share, replications=many)
        (found,) = outcome.answer.tables["found"]
        expected = min(x for x in values if sum(holds(x, i) for i in range(many)) >= share * many)
        assert found["buffer"] == f"{expected} cells"
        ends = (found["bracket_from"], found["bracket_to"] or f"{values[-1]} cells")
        first, last = (int(end.split()[0]) for end in ends)
        assert first <= expected <= last
        widths.append((last - first) // 20)
        fresh = [holds(expected, many + i) for i in range(many)]
        assert (found["share_low"], found["share_high"]) == share_interval(round(sum(fresh)), many, 0.95)
        first_sentence = outcome.answer.sentences[0]
        assert first_sentence.endswith(", but fresh replications do not confirm it.") == (found["share_low"] < share)
    assert sorted(widths)[4] <= (2 if width == 5 else 4 if width == 60 else 8)


@pytest.mark.parametrize(("want", "expected"), [("smallest", "500 cells"), ("largest", "unlimited")])
def test_find_takes_unlimited_as_the_largest_value(want: str, expected: str) -> None:
    for values in (["1000 cells", "500 cells", "unlimited", "100 cells"], ["unlimited", "100 cells", "500 cells"]):
        outcome = find(lambda at, _: want == "largest" or at["buffer"] >= 500, ex.Axis(BUFFER, values), want=want)
        assert outcome.answer.tables["found"][0]["buffer"] == expected


def test_find_says_how_many_values_it_tried_where_none_holds() -> None:
    text, found = finding(lambda x: 0.0, size=1000)
    tried = found["values_tried"]
    assert tried < 20 and found["buffer"] is None
    assert text.startswith(
        "None of the values of buffer tried gives efficiency > 0.5 in 95 % of the replications. The share is 0 % at each. "
        f"{tried} of 1000 values of buffer were tried, from 1 cells to 1000 cells. The search assumes that all larger"
    )
    text, _ = finding(lambda x: 0.0, size=1000, monotone=False)
    assert text.startswith("No value of buffer gives efficiency > 0.5")
    for want, end in (("smallest", "9 cells"), ("largest", "1 cells")):
        near = {"9 cells": lambda at: at["buffer"] + 3, "1 cells": lambda at: 13 - at["buffer"]}[end]
        text = find(lambda at, i, near=near: i < near(at), cells(9), want=want).text  # type: ignore[misc]
        assert f"95 % of the replications. The largest share is 60 %, with {end}. " in text
        assert " of 9 values of buffer were tried, from 1 cells to 9 cells." in text
    text = find(lambda at, i: 0.0, cells(1000), POLICIES, replications=1).text
    assert "At policy = epd: none of the values of buffer tried meets it; the share is 0 % at each." in text


@pytest.mark.parametrize("want", ["smallest", "largest"])
def test_the_bracket_of_find_ends_at_no_value_that_fails(want: str) -> None:
    """Only one value holds, before others that are a little too low, so that nothing shows where the border ends."""

    def met(at: Mapping[str, Any], i: int) -> bool:
        return bool(at["buffer"] == 5 or ((at["buffer"] > 5) == (want == "smallest") and i < 18))

    outcome = find(met, cells(9), monotone=False, want=want)
    (found,) = outcome.answer.tables["found"]
    end = ("4 cells", None) if want == "smallest" else (None, "6 cells")
    assert (found["buffer"], found["bracket_from"], found["bracket_to"]) == ("5 cells", *end)
    where = (
        "at least 4 cells; no upper limit is shown"
        if want == "smallest"
        else "at most 6 cells; no lower limit is shown"
    )
    assert f"With 95 % confidence, the true {want} value is {where}." in outcome.text


#: Quantiles of the buffer from which on a replication meets the requirement.
BORDERS: dict[str, Callable[[float], float]] = {
    "normal": lambda p: 700 + 120 * NormalDist().inv_cdf(p),
    "uniform": lambda p: 300 + 800 * p,
    "exponential": lambda p: 250 - 150 * math.log(1 - p),
    "lognormal": lambda p: 200 + 150 * math.exp(NormalDist().inv_cdf(p)),
    "two modes": lambda p: 300 + 200 * p if p < 0.7 else 900 + 200 * (p - 0.7),
}


def searching(efficiency: Callable[[Any, int], Any], values: Iterable[int], share: float, n: int) -> Any:
    return find(efficiency, buffers(*values), share=share, replications=n).answer.tables["found"][0]


@pytest.mark.parametrize(("share", "replications"), [(0.5, 20), (0.8, 20)])
def test_the_bracket_of_find_contains_the_border(share: float, replications: int) -> None:
    """Runs 30 searches of each of five laws with fixed seeds. At most the stated 5 % may miss the border."""
    values, outside, known = range(100, 1380, 20), 0, 0
    for name, quantile in BORDERS.items():
        border = next(x for x in values if x >= quantile(share))
        for repetition in range(30):
            draws = [quantile(drawn(name, repetition, i).uniform(1e-9, 1 - 1e-9)) for i in range(2 * replications)]

            met = lambda at, i, draws=draws: draws[i] <= at["buffer"]  # noqa: E731
            found = searching(met, values, share, replications)
            low, high = (found[end] and int(found[end].split()[0]) for end in ("bracket_from", "bracket_to"))
            outside += not (low or 0) <= border <= (high or math.inf)
            known += high is not None
    assert outside <= 0.05 * 150 and known >= 90


@pytest.mark.parametrize(
    ("met", "share", "bracket"),
    [
        # At a share of 95 %, 17 or fewer of 20 have probability 7.5 %, and 16 or fewer 1.6 %.
        ([17, 17, 20, 20], 0.95, (1, None)),
        ([16, 16, 20, 20], 0.95, (2, None)),
        # The shortest run of successes that shows 80 % is 17 of 17: 0.8^17 = 2.3 %.
        ([11, 11, 18, 20, 20], 0.8, (2, 4)),
        # The value before or after an end must show the same.
        ([14, 11, 18, 20, 18], 0.8, (1, None)),
    ],
)
def test_the_ends_of_a_bracket_are_shown_by_exact_tests(
    met: list[int], share: float, bracket: tuple[int, int | None]
) -> None:
    found = searching(lambda at, i: i < met[at["buffer"] - 1], range(1, len(met) + 1), share, 20)
    assert (found["bracket_from"], found["bracket_to"]) == tuple(end and f"{end} cells" for end in bracket)


@pytest.mark.parametrize("want", ["smallest", "largest"])
def test_find_says_that_its_value_is_the_end_of_the_axis(want: str) -> None:
    """The border may lie beyond the first value tried, so its end is not known in the table, too."""
    size = 9

    def outcome(values: ex.Range | list[str], axes: int) -> Any:
        policies = [POLICIES]
        return find(lambda at, i: 1.0, ex.Axis(BUFFER, values), *policies[: axes - 1], want=want, replications=80)

    single = outcome(ex.Range("1 cells", f"{size} cells"), 1)
    end, word = ("1 cells", "less") if want == "smallest" else (f"{size} cells", "more")
    assert single.answer.sentences[0] == (
        f"The {want} buffer that gives efficiency > 0.5 in 95 % of the replications is {end} or {word}; "
        f"no {'smaller' if want == 'smallest' else 'larger'} value was tried."
    )
    (found,) = single.answer.tables["found"]
    bracket = (found["bracket_from"], found["bracket_to"])
    assert found["buffer"] == end and bracket == ((None, end) if want == "smallest" else (end, None))
    assert "With 95 % confidence" not in single.text
    several = outcome(ex.Range("1 cells", f"{size} cells"), 2)
    assert f"At policy = epd: the {want} buffer is {end} or {word}." in several.text
    unlimited = outcome(["1 cells", "2 cells", "unlimited"], 1)
    assert "unlimited or more" not in unlimited.text


def test_find_warns_of_a_share_that_the_replications_cannot_show_and_of_a_range_without_steps() -> None:
    experiment = made(
        ex.Axis(BUFFER, ex.Range("250 cells", "8000 cells")),
        metrics=["cell_loss_ratio"],
        question=ex.Find("buffer", ["cell_loss_ratio < 0.02"]),
        replications=10,
    )
    share, steps = (note for note in experiment.notes if "replication" in note)
    # If all n succeed, the lower bound is n / (n + 1.96^2).
    assert share == "10 replications cannot show a share of 95 %, even if all of them meet the conditions; 73 can"
    assert "7751 values are searched" in steps
    assert share_interval(73, 73, 0.95)[0] >= 0.95 > share_interval(72, 72, 0.95)[0]


def test_require_takes_units_and_a_wrong_one_names_those_allowed() -> None:
    def search(require: str) -> Any:
        return made(
            ex.Axis("switch.switch.ubr.buffer", ["10 packets", "20 packets", "30 packets"]),
            base=examples.scenario("incast"),
            metrics=["p99_transfer_s", "max_queue_cells"],
            question=ex.Find("buffer", [require, "max_queue_cells >= 20 packets"]),
        )

    measure = by(lambda at, i: {"p99_transfer_s": 0.5 / at["buffer"], "max_queue_cells": at["buffer"]})
    outcome = search("p99_transfer_s < 26 ms").run(runner=measure)
    assert outcome.text.startswith(
        "The smallest buffer that gives p99_transfer_s < 26 ms and max_queue_cells >= 20 packets in 95 % of the "
        "replications is 20 packets, but "
    )
    plain = search("p99_transfer_s < 0.026 and not 1 > max_queue_cells").run(runner=measure)
    assert plain.text.startswith(
        "The smallest buffer that gives p99_transfer_s < 0.026 s and not 1 packets > max_queue_cells and "
        "max_queue_cells >= 20 packets in 95 % of the replications is 20 packets, but "
    )
    with pytest.raises(ExperimentError, match="s, ms, us, ns"):
        search("p99_transfer_s < 20 kB")
