"""The study of ABR on its published scenarios: UBR and ABR rows, loss by window, and one workload."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from cellyard.study import Row, Rows, load, select
from cellyard.study.agreement import agreement
from cellyard.study.separation import gain
from conftest import reproduced

STUDY = load("abr-or-ubr")


@cache
def simulated(table: str, replications: int) -> Rows:
    """Return all rows of a table, simulated."""
    return reproduced(STUDY, select(STUDY, [table]), replications=replications).rows


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
    """The slides print the same rates for both windows with 12000 cells, as the buffer overflows before."""
    rows = simulated("ubr", 8).where(buffer_cells=12000)
    for epd in ("no", "yes"):
        small, large = rows.where(epd=epd, receiver_window_bytes=(600000, 1800000))
        assert small.simulated == large.simulated


def test_no_loss_needs_the_sum_of_the_windows_less_a_round_trip() -> None:
    """Five sources have windows of 703 segments of 12 cells each in flight.

    The links hold 11021 of these cells.
    """
    need = 5 * 703 * 12 - 11021
    (row,) = STUDY.tables["ubr"].rows.where(receiver_window_bytes=360000)
    for cells, lost in ((need, False), (need - 1, True)):
        run = STUDY.scenario(row).with_values({"switch.*.ubr.buffer": f"{cells} cells"}).run().only
        assert (run.totals.cell_loss_ratio > 0) == lost, cells


def test_the_abr_table_is_that_published_and_its_percentages_are_of_what_erica_aims_at() -> None:
    rows = STUDY.tables["abr"].rows
    assert [(row["sources"], row["tbe_cells"], row["buffer_cells"]) for row in rows] == [
        (2, 128, 256), (2, 128, 1024), (2, 512, 1024), (2, 512, 2048), (5, 128, 640), (5, 128, 1280), (5, 512, 2560), (5, 512, 5720),
    ]  # fmt: skip
    aimed_at = 149.76 * (0.9 - 0.8 / 2) * 512 / 636 * 31 / 32
    for row in rows:
        rates = [printed(row, f"d{n}_mbps") for n in range(1, row["sources"] + 1)]
        assert printed(row, "throughput_mbps") == pytest.approx(sum(rates), abs=0.25), row.parameters
        assert printed(row, "percent_of_max") == pytest.approx(
            100 * printed(row, "throughput_mbps") / aimed_at, abs=0.15
        )


def test_abr_rows_have_about_the_published_throughput_in_the_published_order() -> None:
    rows = simulated("abr", 4)
    for row in rows:
        assert row.simulated["throughput_mbps"] == pytest.approx(printed(row, "throughput_mbps"), abs=3.0), (
            row.parameters
        )
    found = agreement(rows, "throughput_mbps")
    assert found["mean_abs_error"] < 2 and found["rank_correlation"] > 0.85
    by_throughput = sorted(rows, key=lambda row: float(row.simulated["throughput_mbps"]))
    assert [row["buffer_cells"] for row in (by_throughput[0], by_throughput[-1])] == [256, 5720]


def test_abr_rows_lose_about_as_many_cells_as_published() -> None:
    *lossy, free = simulated("abr", 4)
    assert free.simulated["cell_loss_percent"] == 0 and free.simulated["percent_of_max"] > 95
    for row in lossy:
        ratio = row.simulated["cell_loss_percent"] / printed(row, "cell_loss_percent")
        assert 1 / 3.5 < ratio < 3.5, row.parameters


def test_services_carry_one_workload_in_one_network() -> None:
    for row in STUDY.tables["services"].rows.where(service="ubr"):
        alike = STUDY.tables["services"].rows.where(**{k: row[k] for k in ("configuration", "vbr", "sources")})
        assert len(alike) == (7 if row["vbr"] == "yes" else 6)
        found = [STUDY.scenario(one).to_dict() for one in alike]
        for one in found:
            assert [vc["traffic"] for vc in one["vcs"]] == [vc["traffic"] for vc in found[0]["vcs"]]
            assert [(link["from"], link["to"], link["rate"], link["delay"]) for link in one["links"]] == [
                (link["from"], link["to"], link["rate"], link["delay"]) for link in found[0]["links"]
            ]
            assert (one["duration"], one["measure"]) == (found[0]["duration"], found[0]["measure"])


def test_rows_keep_their_values_by_replication_and_pairs_of_them_draw_alike() -> None:
    chosen = select(STUDY, ["services"], {"configuration": "lan", "vbr": "yes", "sources": "5"})
    shortened = replace(STUDY, info={**STUDY.info, "shared": short(STUDY.info["shared"])})
    reproduction = reproduced(shortened, chosen.where(service=("ubr", "abr")), replications=6)
    ubr, abr = reproduction.rows
    assert len(ubr.samples["efficiency"]) == 6 and len(set(ubr.samples["efficiency"])) > 1
    by = gain([(ubr, abr)], "efficiency")
    assert by and by.low and by.high and by.low < by.mean < by.high
    assert by.mean == pytest.approx(abr.simulated["efficiency"] - ubr.simulated["efficiency"])
    same = gain([(ubr, ubr)], "efficiency")
    assert same == (0, 0, 0)


def short(shared: Any) -> dict[str, Any]:
    """Return the shared values with 50 ms for the LAN of the table `services`."""
    services = {**shared["services"], "lan": {**shared["services"]["lan"], "duration": "50 ms"}}
    return {**shared, "services": services}


def test_where_narrows_the_services_to_ones_own_network() -> None:
    rows = select(STUDY, ["services"], {"configuration": "wan", "vbr": "yes", "sources": "15"})
    assert [row["service"] for row in rows] == ["ubr", "epd", "selective-drop", "fba", "guaranteed-rate", "gfr", "abr"]
