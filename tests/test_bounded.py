"""Values of which only bounds are known: arithmetic, comparisons, and what runs that end too early give."""

import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cellyard as cy
import pytest
from cellyard.experiment.description.expression import Condition, Formula
from cellyard.results.path import metric_path
from cellyard.statistics.bounded import Bounded, ends_of
from cellyard.statistics.ranges import interval, mean, median
from cellyard.study import metrics as study_metrics
from cellyard.study.reproduce import Reproduction
from cellyard.study.rows import Row
from conftest import Cli, chain

LATE = Bounded(0.3, math.inf)


def incast(duration: str, senders: int = 64) -> cy.Scenario:
    """Senders of a file each into one port, which most leave with losses and a timeout of 0.2 s."""
    traffic = (
        'kind = "tcp", recovery = "sack", rwnd = "4 MB", initial_rto = "1 s", granularity = "1 ms", mss = "1460 bytes"'
    )
    vc = f'traffic = {{ {traffic}, file_size = "256 kB", initial_window = 10, min_rto = "200 ms" }}'
    text = chain("sender", "10 Gbps", "tor", "10 Gbps", "receiver", vc=vc, delay="5 us", count=senders, name="incast")
    values = {"format": "ethernet", "duration": duration, "switch.tor.ubr.buffer": "170 cells"}
    return cy.Scenario.from_toml(text, overrides=values)


def drawn(draw: random.Random) -> tuple[Any, float]:
    """A value, perhaps only its bounds, and what it really is."""
    right = draw.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])
    low, high = right - draw.choice([0.0, 1.0, math.inf]), right + draw.choice([0.0, 0.5, math.inf])
    return (right if low == high else Bounded(low, high)), right


def test_results_of_arithmetic_and_comparisons_include_every_possible_outcome() -> None:
    draw = random.Random(4)
    formulas = [
        Formula(text)
        for text in ("a + b", "a - b * c", "a / b", "-a + 2 * abs(b)", "min(a, b, c)", "max(a, b) / 2", "1 / a")
    ]
    conditions = [
        Condition(text)
        for text in (
            "a < b", "a <= b", "a > 1", "a >= b", "a == b", "a != b", "not a < b", "not a == 1",
            "a < b and b < c", "a < b or b < c", "a < b < c", "a + b < 2 * c", "not (a < 1 or b == c)",
        )
    ]  # fmt: skip
    unknown = decided = 0
    for _ in range(3000):
        pairs = {name: drawn(draw) for name in "abc"}
        values = {name: pair[0] for name, pair in pairs.items()}
        right = {name: pair[1] for name, pair in pairs.items()}
        for formula in formulas:
            found, result = formula.value(values), formula.value(right)
            if found is not None and result is not None:
                low, high = ends_of(found)
                assert low - 1e-9 <= ends_of(result)[0] <= high + 1e-9, (formula.text, values, right)
        for condition in conditions:
            judged = condition.holds(values)
            unknown, decided = unknown + (judged is None), decided + (judged is not None)
            assert judged in (None, condition.holds(right)), (condition.text, values, right)
    assert unknown > 5000 and decided > 5000


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("p99 < 0.25", False), ("p99 < 0.3", False), ("p99 <= 0.3", None), ("p99 < 0.4", None), ("p99 > 0.25", True),
        ("not p99 < 0.25", True), ("not p99 < 0.4", None), ("p99 < 0.4 and lost > 1", False),
        ("p99 < 0.4 or lost == 0", True), ("2 * p99 < 0.5", False), ("min(p99, 0.1) == 0.1", True),
        ("undefined < 1", False), ("undefined < 1 or p99 < 0.4", False),
    ],
)  # fmt: skip
def test_a_condition_is_decided_only_by_what_is_known(text: str, judged: bool | None) -> None:
    assert Condition(text).holds({"p99": LATE, "lost": 0, "undefined": None}) is judged


def test_statistics_of_runs_are_known_where_no_bound_decides_them() -> None:
    values: list[Any] = [0.1, 0.2, LATE]
    assert median(values) == 0.2
    assert ends_of(mean(values)) == (pytest.approx(0.2), math.inf)
    ends = interval(values)
    assert ends and ends[0] == 0.1 and ends_of(ends[1]) == (0.3, math.inf)


def test_times_of_files_under_way_are_bounded_by_the_end_of_the_run() -> None:
    short, full = (incast(duration).run().only for duration in ("0.3 s", "3 s"))
    totals = short.totals
    assert totals.finished_transfers + (totals.unfinished_transfers or 0) == 64 and totals.finished_transfers < 32
    assert (totals.p50_transfer_s, totals.p99_transfer_s) == (None, None)
    assert (totals.p50_transfer_s_above, totals.p99_transfer_s_above) == (0.3, 0.3)
    assert full.totals.unfinished_transfers == 0 and full.totals.p99_transfer_s_above is None
    for name, read in PATHS.items():
        low, high = ends_of(metric_path(name).value_in(short))
        right = metric_path(name).value_in(full)
        assert isinstance(right, float) and right == pytest.approx(read(full))
        assert low <= right <= high and low != high


PATHS: Mapping[str, Callable[[cy.RunResult], float]] = {
    "totals.p99_transfer_s": lambda run: sorted(vc.transfers[0].duration_s for vc in run.vcs.values())[-1],
    "max(vc.*.completed_s)": lambda run: max(vc.completed_s or math.inf for vc in run.vcs.values()),
    "mean(vc.*.max_transfer_s)": lambda run: sum(vc.max_transfer_s or math.inf for vc in run.vcs.values()) / 64,
    "min(vc.*.file_goodput_mbps)": lambda run: min(vc.file_goodput_mbps or math.inf for vc in run.vcs.values()),
}


def test_files_that_are_due_count_and_those_after_a_stop_do_not() -> None:
    files = cy.examples.scenario("file-transfers")  # twelve files, one after the other, in 2 s

    def counts(**changes: Any) -> tuple[Any, ...]:
        run = files.with_values({name.replace("__", "."): value for name, value in changes.items()}).run().only
        vc = run.vcs["files"]
        assert run.totals.unfinished_transfers == vc.unfinished_transfers
        return vc.finished_transfers, vc.unfinished_transfers, vc.completed_s_above

    finished, unfinished, above = counts(duration="0.5 s")
    assert finished + unfinished == 12 and 0 < finished < 11 and above == 0.5
    assert counts(duration="0.5 s", vc__files__traffic__files="unlimited") == (finished, 1, None)
    assert counts(duration="0.5 s", vc__files__stop="0.4 s")[:2] in ((finished, 0), (finished, 1), (finished - 1, 1))
    assert counts(duration="0.5 s", vc__files__start="0.6 s") == (0, 12, 0.5)


def test_files_of_both_ends_count() -> None:
    both = cy.examples.scenario("file-transfers").with_values(
        {"duration": "0.5 s", "vc.files.traffic.both_ways": "true"}
    )
    run = both.run().only
    vc, (back,) = run.vcs["files"], run.vcs["files"].back
    assert (vc.unfinished_transfers or 0) + (back.unfinished_transfers or 0) == run.totals.unfinished_transfers
    assert len(back.transfers) == back.finished_transfers == 12 - (back.unfinished_transfers or 0) > 0
    assert (back.completed_s_above, back.max_transfer_s) == (0.5, None)
    assert back.max_transfer_s_above == max(transfer.duration_s for transfer in back.transfers)


def test_replications_that_did_not_finish_are_not_left_out_of_medians() -> None:
    results = incast("0.3 s").run(replications=4)
    assert results.values("p99_transfer_s") == [] and results.median("p99_transfer_s") is None
    mixed = cy.Results([*incast("60 s").run(replications=3), *results])
    assert len(mixed.values("p99_transfer_s")) == 3 and mixed.median("p99_transfer_s") is None
    assert mixed.interval("p99_transfer_s") is None
    assert cy.Results([*incast("60 s").run(replications=6), results[0]]).median("finished_transfers") == 64


def test_tables_show_bounds(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "incast.toml"
    path.write_text(incast("0.3 s").to_toml())
    done = cli("run", path)
    assert "> 300.0" in done.stdout and "TCPs that send files did not finish" in done.stdout + done.stderr
    assert "> 300.0" in cli("run", path, "--replications", "4").stdout
    (summary,) = cli.json("run", path, "--replications", "4")["summary"]
    mean = summary["mean"]
    bounds = [mean[f"p99_transfer_s{end}"] for end in ("", "_above", "_below")]
    assert bounds == [None, pytest.approx(0.3, abs=1e-3), None] and summary["interval"]["p99_transfer_s"] is None


def test_a_study_has_no_median_of_the_replications_that_finished() -> None:
    stated = {"totals": ["efficiency", "p99_transfer_s"], "last": "max(vc.*.completed_s)", "vcs": ["p50_transfer_s"]}
    measures = study_metrics.read(stated, Path("study.toml"), lambda: None)  # type: ignore[arg-type, return-value]
    assert measures.bounded == {"p99_transfer_s", "last", "vc_p50_transfer_s"}
    row = Row("1", {}, {})
    found = measures.of(incast("0.3 s").run().only, row)
    assert (found["p99_transfer_s"], found["last"]) == (None, None) and None in found["vc_p50_transfer_s"]
    reproduction = Reproduction.__new__(Reproduction)
    reproduction.study = SimpleNamespace(measures=measures)  # type: ignore[assignment]
    assert reproduction._known("last", [1.0, None]) == [] and reproduction._known("last", [1.0]) == [1.0]
    assert reproduction._known("efficiency", [1.0, None]) == [1.0]
