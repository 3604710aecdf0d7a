"""Tables: what numbers they show, and how they fit a terminal."""

from __future__ import annotations

from pathlib import Path

from cellyard.text import cell, span, table
from conftest import EXAMPLES, Cli


def test_a_range_is_told_apart_from_a_point_and_holds_its_median() -> None:
    assert (cell(3.29e-4), span((3.05e-4, 3.52e-4))) == ("3.29e-04", "3.05e-04..3.52e-04")
    assert (cell(6.2e-4), span((5.9e-4, 0.00102))) == ("6.20e-04", "5.90e-04..0.00102")
    assert (cell(27.165), span((27.151, 27.183))) == ("27.165", "27.151..27.183")
    assert span(None) == span(()) == ""


def test_ranges_in_any_notation_stand_to_the_right() -> None:
    lines = table(["policy", "range"], [["epd", "3.05e-04..3.52e-04"], ["fba", "0..0.001"], ["ppd", ""]]).splitlines()
    assert lines[3] == "fba               0..0.001"


def test_a_wide_table_is_folded_between_columns_that_do_not_belong_together() -> None:
    header = ["policy", "runs", "a", "5-95 %", "b", "published", "diff", "c"]
    row = ["epd", 20, 1, "1..2", 3, "4", "+1", 5]
    folded = table(header, [row, row], keys=2, width=30).split("\n\n")
    assert [part.splitlines()[0].split() for part in folded] == [
        ["policy", "runs", "a", "5-95", "%"],
        ["policy", "runs", "b", "published", "diff"],  # wider than 30, but one thing
        ["policy", "runs", "c"],
    ]
    assert all(len(part.splitlines()) == 4 for part in folded)
    assert table(header, [row], keys=2, width=80).count("policy") == 1
    assert "\n\n" not in table(header, [row], keys=2)  # not on a terminal


def test_the_first_line_without_frames_tells_of_cells(cli: Cli) -> None:
    (cbr,) = [path for path in EXAMPLES if path.stem == "cbr"]
    first = cli("run", cbr).stdout.splitlines()[2]
    assert first.startswith("goodput_of_cells_mbps 122.3  cell_loss_ratio 0 ") and "timeouts" not in first
    summed = cli("run", cbr, "--replications", 2).stdout
    assert "goodput" not in summed and "mean_delay_ms" in summed


def test_delays_are_in_milliseconds_in_every_table(cli: Cli, tmp_path: Path) -> None:
    (vbr,) = [path for path in EXAMPLES if path.stem == "vbr-guaranteed-rate"]
    shown = cli("run", vbr, "--set", "duration=1 s").stdout
    assert "_s " not in shown.replace("cells_s", "") and shown.count("mean_delay_ms") == 2
