"""The fourth study on its published scenarios: UBR's rows against the table, loss by the windows, the same digest under every kernel."""

from __future__ import annotations

from functools import cache

import pytest
from cellyard.agreement import agreement
from cellyard.reproduce import Reproduction
from cellyard.scenario import Scenario
from cellyard.study import Row, Rows, load, select

STUDY = load("abr-or-ubr")


@cache
def simulated(table: str, replications: int) -> Rows:
    """All rows of a table."""
    reproduction = Reproduction(STUDY, select(STUDY, [table]), replications=replications)
    for _ in reproduction.advance():
        pass
    return reproduction.rows


def printed(row: Row, metric: str) -> float:
    return float(row.published[metric] or 0)


def test_the_table_is_that_published_and_its_rates_are_its_percentages_of_125_2() -> None:
    rows = STUDY.tables["ubr"].rows
    assert len(rows) == 10
    for row in rows:
        rates = [printed(row, f"d{n}_mbps") for n in range(1, 6)]
        jain = sum(rates) ** 2 / (5 * sum(rate**2 for rate in rates))
        assert printed(row, "fairness") == pytest.approx(jain, abs=0.005), row.parameters
        near = abs(printed(row, "efficiency") - sum(rates) / 125.2) < 0.0075
        assert near != ("efficiency" in row.doubtful), row.parameters


def test_windows_that_fit_lose_nothing_and_give_what_was_published_to_a_hundredth() -> None:
    rows = simulated("ubr", 8).where(epd="n/a")
    for row in rows:
        assert row.simulated["cell_loss_ratio"] == 0
        assert row.simulated["efficiency"] == pytest.approx(printed(row, "efficiency"), abs=0.005)
        for n in range(1, 6):
            assert row.simulated[f"d{n}_mbps"] == pytest.approx(printed(row, f"d{n}_mbps"), abs=0.3)


def test_rows_with_loss_are_about_as_efficient_as_published() -> None:
    rows = simulated("ubr", 8)
    for row in rows.where(epd=("no", "yes")):
        assert row.simulated["cell_loss_ratio"] > 0
        assert row.simulated["efficiency"] == pytest.approx(printed(row, "efficiency"), abs=0.12), row.parameters
    assert agreement(rows, "efficiency")["mean_abs_error"] < 0.05
    assert agreement(rows.where(epd="yes"), "fairness")["mean_abs_error"] < 0.06


def test_a_window_that_is_never_reached_changes_nothing() -> None:
    """The slides print the same rates for both windows with 12000 cells: the buffer overflows before."""
    rows = simulated("ubr", 8).where(buffer_cells=12000)
    for epd in ("no", "yes"):
        small, large = rows.where(epd=epd, receiver_window_bytes=(600000, 1800000))
        assert small.simulated == large.simulated


def test_no_loss_needs_the_sum_of_the_windows_less_a_round_trip() -> None:
    """Windows of 703 segments of 12 cells of 5 sources are under way, and 11021 of these cells are on the links."""
    need = 5 * 703 * 12 - 11021
    (row,) = STUDY.tables["ubr"].rows.where(receiver_window_bytes=360000)
    for cells, lost in ((need, False), (need - 1, True)):
        run = STUDY.scenario(row).with_values({"switch.*.ubr.buffer": f"{cells} cells"}).run().only
        assert (run.totals.cell_loss_ratio > 0) == lost, cells


@pytest.mark.parametrize("epd", ["no", "yes"])
def test_rows_give_one_digest_under_every_kernel(epd: str) -> None:
    row, *_ = select(STUDY, ["ubr"], [("epd", epd)])
    values = [("duration", "800 ms"), ("switch.*.ubr.buffer", "2000 cells")]
    scenario = Scenario.from_toml(STUDY.scenario(row).to_toml(), overrides=values)
    runs = [scenario.run(digest=True, kernel=kernel).only for kernel in ("auto", "slotted", "twin")]
    assert len({run.digest for run in runs}) == 1 and runs[0].digest is not None
    assert runs[0].totals.cell_loss_ratio > 0
    assert runs[0].data["vcs"] == runs[2].data["vcs"] and runs[0].data["ports"] == runs[2].data["ports"]
