"""Tables: the numbers that they show, and how they fit a terminal."""

import csv
import json
import re
from pathlib import Path
from statistics import fmean, stdev
from types import SimpleNamespace

import numpy as np
import pytest
from cellyard.commands import study_list
from cellyard.commands.run_files import series_pieces
from cellyard.show.table import Table
from cellyard.show.text import PIECE_ITEMS, dump, format_range, format_value, json_pieces, json_text
from cellyard.system.progress import Progress
from conftest import ROOT, Cli

EXAMPLE = ROOT / "examples"


def test_a_range_is_distinguishable_and_contains_its_median() -> None:
    assert (format_value(3.29e-4), format_range((3.05e-4, 3.52e-4))) == ("3.29e-04", "3.05e-04..3.52e-04")
    assert (format_value(6.2e-4), format_range((5.9e-4, 0.00102))) == ("6.20e-04", "5.90e-04..0.00102")
    assert (format_value(27.165), format_range((27.151, 27.183))) == ("27.165", "27.151..27.183")
    assert format_range(None) == format_range(()) == ""


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (45.8, "45.8"),
        (45.04, "45"),
        (0.5, "0.5"),
        (1 / 30, "0.0333"),
        (1066.75, "1066.8"),
        (12340.2, "12340"),
        (8, "8"),
    ],
)
def test_means_of_counts_have_one_digit_behind_the_point_at_most(value: float, shown: str) -> None:
    assert format_value(value, is_count=True) == shown
    assert format_range((value, value), is_count=True) == f"{shown}..{shown}"


def test_ranges_in_any_notation_stand_to_the_right() -> None:
    rows = [["epd", "3.05e-04..3.52e-04"], ["fba", "0..0.001"], ["ppd", ""]]
    lines = Table.from_rows(["policy", "range"], rows).text().splitlines()
    assert lines[3] == "fba               0..0.001"


def test_a_wide_table_is_folded_between_columns_that_do_not_belong_together() -> None:
    header = ["policy", "runs", "a", "5-95 %", "b", "published", "diff", "c"]
    row = ["epd", 20, 1, "1..2", 3, "4", "+1", 5]
    folded = Table.from_rows(header, [row, row], keys=2).text(width=30).split("\n\n")
    assert [part.splitlines()[0].split() for part in folded] == [
        ["policy", "runs", "a", "5-95", "%"],
        ["policy", "runs", "b", "published", "diff"],  # wider than 30, but unbreakable
        ["policy", "runs", "c"],
    ]
    assert all(len(part.splitlines()) == 4 for part in folded)
    assert Table.from_rows(header, [row], keys=2).text(width=80).count("policy") == 1
    assert "\n\n" not in str(Table.from_rows(header, [row], keys=2))  # not on a terminal


def test_the_first_line_without_frames_is_about_cells(cli: Cli) -> None:
    first = cli("run", EXAMPLE / "cbr.toml").stdout.splitlines()[2]
    assert first.startswith("goodput_of_cells_mbps 122.3  cell_loss_ratio 0 ") and "timeouts" not in first
    summed = cli("run", EXAMPLE / "cbr.toml", "--replications", 2).stdout.split("\n\n")[1]
    assert "goodput" not in summed and "mean_delay_ms" in summed


#: Scenario of two files and endless data. The large file finishes if the line is fast enough.
FILES = """\
duration = "1 s"
host = [{ name = "source" }, { name = "sink" }]
link = [{ from = "source", to = "sink", rate = "4.24 Mbps", delay = "5 us" }]
vc = [
  { name = "small", from = "source", to = "sink", traffic = { kind = "tcp", file_size = "512 bytes" } },
  { name = "large", from = "source", to = "sink", start = "200 ms", traffic = { kind = "tcp", file_size = "512000 bytes" } },
  { name = "endless", from = "source", to = "sink", start = "20 ms", stop = "100 ms", traffic = "tcp" },
]
"""


def columns(shown: str) -> list[dict[str, str]]:
    """Return the rows of a table as values by head, skipping its heading, if any.

    For a repeated head, the last column counts.
    """
    head, rule, *rows = [line for line in shown.splitlines() if not line.endswith(":")]
    ends = [place for place, mark in enumerate(rule + " ") if mark == " " and rule[place - 1] == "-"]
    spans = list(zip([0, *(end + 2 for end in ends)], ends, strict=False))
    heads = [head[start:end].strip() for start, end in spans]
    return [dict(zip(heads, (row[start:end].strip() for start, end in spans), strict=True)) for row in rows]


def test_the_list_of_studies_is_as_wide_as_its_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    piped = study_list.overview()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    shown = study_list.overview()
    monkeypatch.undo()
    assert max(map(len, piped.splitlines())) > 120 and max(map(len, shown.splitlines())) <= 80
    words = [re.sub(r"-{2,}", "", text).split() for text in (piped, shown)]
    assert sorted(words[0]) == sorted(words[1])


def test_progress_counts_whole_runs() -> None:
    assert Progress("lan", 120)._count_text(119.73, None) == "119 of 120 runs"
    assert Progress("lan", 120)._count_text(120.0, None) == "120 of 120 runs"
    assert Progress("lan", 120, at_most=True)._count_text(60.0, None) == "60 of at most 120 runs"


def test_the_table_shows_when_files_began_and_were_complete(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "files.toml").write_text(FILES)
    names = ("vc", "began_ms", "completed_ms", "file_goodput_mbps")
    vcs = columns(cli("run", "files.toml").stdout.split("\n\n")[2])
    # Twelve cells travel there and two back, each taking 0.1 ms, plus twice 5 us.
    assert [tuple(vc[name] for name in names) for vc in vcs] == [
        ("small", "0", "1.410", "2.905"),
        ("large", "200.0", "> 1000.0", "< 4.240"),  # 512 kB in 800 ms would be more than the rate of the link
        ("endless", "", "", ""),
    ]
    plain = cli("run", "files.toml", "--set", "vc.*.traffic=tcp").stdout
    assert "mean_delay_ms" in plain and not any(name in plain for name in names[1:])


def test_the_table_shows_in_how_many_runs_files_were_complete(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "files.toml").write_text(FILES)
    grid = ("--grid", "link.0.rate=4.24 Mbps,42.4 Mbps")
    _, _, together, of_vcs, *_ = cli("run", "files.toml", *grid, "--replications", 3).stdout.split("\n\n")
    assert together.startswith("files of all VCs and runs together; an interval needs 6 replications:\n")
    assert [(point["finished"], point["unfinished"]) for point in columns(together)] == [("3", "3"), ("6", "0")]
    assert [point["max_transfer_ms"].startswith("> ") for point in columns(together)] == [True, False]
    files = columns(of_vcs)
    names = ("link.0.rate", "vc", "complete")
    assert [tuple(file[name] for name in names) for file in files] == [
        ("4.24 Mbps", "small", "3 of 3"),
        ("4.24 Mbps", "large", "0 of 3"),
        ("42.4 Mbps", "small", "3 of 3"),
        ("42.4 Mbps", "large", "3 of 3"),
    ]
    for file in files:
        assert file["began_ms"] and file["completed_ms"] and file["file_goodput_mbps"]
        assert (file["completed_ms"] == "> 1000.0") == (file["complete"] == "0 of 3")
        assert (file["file_goodput_mbps"].startswith("< ")) == (file["complete"] == "0 of 3")
    # Random draws shift the start by at most 100 us, and the file takes equally long.
    assert float(files[0]["completed_ms"]) - float(files[0]["began_ms"]) == pytest.approx(1.41, abs=0.01)
    assert files[0]["95 % interval"] == "all equal"
    alone = columns(cli("run", "files.toml", *grid).stdout.split("\n\n")[2])
    assert list(alone[0]) == ["link.0.rate", "vc", "began_ms", "completed_ms", "file_goodput_mbps"]
    assert [file["completed_ms"].startswith("> ") for file in alone] == [False, True, False, False]


def test_many_files_have_their_quantiles_and_not_a_line_each(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "files.toml").write_text(FILES.replace('name = "small",', 'name = "small", count = 42,'))
    *_, together, left_out, _ = cli("run", "files.toml", "--replications", 6, "--out", "out").stdout.split("\n\n")
    (shown,) = columns(together)
    assert (shown["finished"], shown["unfinished"]) == ("252", "6") and shown["95 % interval"]
    assert left_out == "43 VCs with files: --out DIR writes all of them to vcs.csv"
    sizes = [row["file_size_bytes"] for row in csv.DictReader((tmp_path / "out/vcs.csv").open())]
    assert sum(size != "" for size in sizes) == 6 * 43
    (summary,) = csv.DictReader((tmp_path / "out/summary.csv").open())
    assert (summary["files_unfinished_transfers"], summary["files_p99_transfer_s_high"]) == ("6", "")


def test_delays_are_in_milliseconds_in_every_table(cli: Cli) -> None:
    shown = cli("run", EXAMPLE / "vbr-guaranteed-rate.toml", "--set", "duration=1 s").stdout
    assert "_s " not in shown.replace("cells_s", "") and shown.count("mean_delay_ms") == 2


def test_ports_show_efficiency_beside_utilisation(cli: Cli, lan: Path) -> None:
    (run,) = cli.json("run", lan)["runs"]
    ports = {line["port"]: line for line in columns(cli("run", lan).stdout.split("\n\n")[3])}
    known = {port["name"]: port["efficiency"] for port in run["ports"] if port["can_queue"]}
    assert {name: float(line["efficiency"]) if line["efficiency"] else None for name, line in ports.items()} == {
        name: value and pytest.approx(value, rel=1e-2) for name, value in known.items()
    }
    assert None in known.values() and 0 < float(ports["west->east"]["efficiency"]) < 1
    assert "utilisation" in (of_cells := cli("run", EXAMPLE / "cbr.toml").stdout) and "efficiency" not in of_cells


def test_ports_without_cells_are_omitted(cli: Cli) -> None:
    """VCs of single cells have no reverse traffic.

    Ports towards the sources can queue, but never do.
    """
    setting = ("--set", "duration=1 ms", "--set", "measure.warm_up=0 s", "--set", "link.0.rate=100 Mbps")
    (run,) = cli.json("run", EXAMPLE / "poisson.toml", *setting)["runs"]
    assert sum(port["can_queue"] for port in run["ports"]) > 1
    reached = [port["name"] for port in run["ports"] if port["arrived_cells"] and port["can_queue"]]
    assert [
        line["port"] for line in columns(cli("run", EXAMPLE / "poisson.toml", *setting).stdout.split("\n\n")[3])
    ] == reached


def test_losses_are_shown_by_port_and_reason(cli: Cli, tmp_path: Path) -> None:
    setting = ("--set", "duration=1 s", "--set", 'link.3.ubr={ buffer = "500 cells", drop = "tail-drop" }')
    *_, shown, _ = cli("run", EXAMPLE / "two-hops.toml", *setting, "--out", "out").stdout.split("\n\n")
    lost = columns(shown)
    assert list(lost[0]) == ["vc", "port", "all", "policy", "full"]  # nothing was lost for another reason
    records = list(csv.DictReader((tmp_path / "out/vc_ports.csv").open()))
    counts = {(r["vc"], r["port"]): (r["dropped_cells_policy"], r["dropped_cells_full"]) for r in records}
    assert all(record[f"dropped_cells_{reason}"] == "0" for record in records for reason in ("rest", "front", "link"))
    found = {(line["vc"], line["port"]): (line["policy"], line["full"]) for line in lost}
    assert found == {place: dropped for place, dropped in counts.items() if dropped != ("0", "0")}
    assert {port for _, port in found} == {"west->mid", "mid->east"}
    assert all(int(line["all"]) == int(line["policy"]) + int(line["full"]) for line in lost)
    totals = {vc["name"]: int(vc["cells_dropped"]) for vc in csv.DictReader((tmp_path / "out/vcs.csv").open())}
    assert [totals[line["vc"]] for line in lost] == sorted((totals[line["vc"]] for line in lost), reverse=True)


def test_without_losses_there_is_no_table_of_losses(cli: Cli, lan: Path) -> None:
    assert (
        cli("run", lan, "--set", "switch.west.ubr.buffer=500 cells").stdout.count("dropped, in all and by reason:") == 1
    )
    assert cli("run", lan, "--set", "switch.west.ubr.buffer=5000 cells").stdout.count("by reason") == 0


def test_a_long_table_of_losses_states_what_it_omits(cli: Cli, lan: Path, tmp_path: Path) -> None:
    hosts = ("--set", "host.source.count=23", "--set", "host.sink.count=23")
    *_, shown, left_out, _ = cli("run", lan, *hosts, "--out", "out").stdout.split("\n\n")
    dropped = [int(line["all"]) for line in columns(shown)]
    lost = [int(vc["cells_dropped"]) for vc in csv.DictReader((tmp_path / "out/vcs.csv").open())]
    assert dropped == sorted(lost, reverse=True)[:20] and min(lost) > 0
    rest = sum(lost) - sum(dropped)
    assert left_out == f"3 more lines with {rest} cells: --out DIR writes all of them to vc_ports.csv"


def test_losses_of_several_runs_are_means_by_vc_port_and_reason(cli: Cli, lan: Path, tmp_path: Path) -> None:
    shown, _ = cli("run", lan, "--replications", 3, "--out", "out").stdout.split("\n\n")[-2:]
    title, table_of_losses = shown.split("\n", 1)
    assert title == "data cells dropped, in all and by reason, means of the runs:"
    lost = columns(table_of_losses)
    assert list(lost[0]) == ["vc", "port", "all", "policy"]
    refused: dict[str, list[int]] = {}
    for record in csv.DictReader((tmp_path / "out/vc_ports.csv").open()):
        if record["port"] == "west->east":
            refused.setdefault(record["vc"], []).append(int(record["dropped_cells_policy"]))
    assert {line["vc"] for line in lost} == set(refused) and {line["port"] for line in lost} == {"west->east"}
    for line in lost:
        assert len(set(refused[line["vc"]])) > 1
        assert float(line["policy"]) == float(line["all"]) == pytest.approx(sum(refused[line["vc"]]) / 3, abs=0.05)
    assert [float(line["policy"]) for line in lost] == sorted((float(line["policy"]) for line in lost), reverse=True)


def test_vcs_of_an_ensemble_are_shown_with_means_and_intervals(cli: Cli, lan: Path, tmp_path: Path) -> None:
    *_, shown, _, _ = cli("run", lan, "--replications", 3, "--out", "out").stdout.split("\n\n")
    title, table_of_vcs = shown.split("\n", 1)
    assert title == "VCs, means of the runs, 95 % intervals:"
    metrics = ("goodput_mbps", "cell_loss_ratio", "timeouts", "mean_delay_ms")
    heads = [head for metric in metrics for head in (metric, "95 % interval")]
    assert re.split("  +", table_of_vcs.split("\n")[0].strip()) == ["vc", "traffic", *heads]
    goodputs: dict[str, list[float]] = {}
    timeouts: dict[str, list[int]] = {}
    for record in csv.DictReader((tmp_path / "out/vcs.csv").open()):
        goodputs.setdefault(record["name"], []).append(float(record["goodput_mbps"]))
        timeouts.setdefault(record["name"], []).append(int(record["timeouts"]))
    lines = columns(table_of_vcs)
    assert [line["vc"] for line in lines] == list(goodputs)
    for line in lines:
        assert float(line["goodput_mbps"]) == pytest.approx(fmean(goodputs[line["vc"]]), rel=1e-3)
        assert float(line["timeouts"]) == pytest.approx(fmean(timeouts[line["vc"]]), rel=1e-2)
        half = 4.3027 * stdev(goodputs[line["vc"]]) / 3**0.5  # Student's quantile of two degrees of freedom
        ends = [max(fmean(goodputs[line["vc"]]) + sign * half, 0) for sign in (-1, 1)]
        (shown_ends,) = re.findall(rf"^{line['vc']} +tcp +\S+ +(\S+)\.\.(\S+)", table_of_vcs, re.M)
        assert [*map(float, shown_ends)] == pytest.approx(ends, rel=1e-3)
    contract = ("--set", 'vc.vc2.contract={ mcr = "1 Mbps" }', "--set", "duration=100 ms")
    assert "throughput_mbps" in cli("run", lan, *contract, "--replications", 2).stdout
    hosts = ("--set", "host.source.count=23", "--set", "host.sink.count=23", "--set", "duration=100 ms")
    assert (
        "\n3 more VCs: --out DIR writes all of them to vcs.csv" in cli("run", lan, *hosts, "--replications", 2).stdout
    )
    grid = ("--grid", "switch.west.ubr.drop=epd,fba")
    assert "VCs, means" not in cli("run", lan, *grid, "--replications", 2).stdout


def test_losses_of_a_grid_are_shown_by_point_and_port(cli: Cli, lan: Path, tmp_path: Path) -> None:
    grid = ("--grid", "switch.west.ubr.drop=tail-drop,epd,fba", "--out", "out")
    lost = columns(cli("run", lan, *grid).stdout.split("\n\n")[-2])
    counts: dict[str, list[int]] = {}
    for record in csv.DictReader((tmp_path / "out/vc_ports.csv").open()):
        reasons = [int(record[f"dropped_cells_{reason}"]) for reason in ("policy", "full")]
        before = counts.setdefault(record["switch.west.ubr.drop"], [0, 0])
        counts[record["switch.west.ubr.drop"]] = [a + b for a, b in zip(before, reasons, strict=True)]
    assert list(lost[0]) == ["switch.west.ubr.drop", "port", "all", "policy", "full"]
    assert {line["switch.west.ubr.drop"]: [int(line["policy"]), int(line["full"])] for line in lost} == counts
    assert counts["tail-drop"][0] == 0 < counts["epd"][0]
    # Numbers of a point are means if there are several runs.
    means = cli("run", lan, *grid[:2], "--replications", 2).stdout.split("\n\n")[-1]
    assert means.startswith("data cells dropped, in all and by reason, means of the runs:\nswitch.west.ubr.drop  port")


def test_throughput_is_shown_for_contracts_and_offered_rates(cli: Cli, lan: Path) -> None:
    short = ("--set", "duration=100 ms")

    def shown_heads(*arguments: str) -> list[dict[str, str]]:
        return columns(cli("run", lan, *short, *arguments).stdout.split("\n\n")[2])

    assert "throughput_mbps" not in shown_heads()[0]
    udp = shown_heads("--set", "vc.vc1.traffic=udp")
    contract = shown_heads("--set", 'vc.vc2.contract={ mcr = "1 Mbps" }')
    # Each datagram of 1024 bytes takes 23 cells of 53 bytes.
    assert float(udp[0]["throughput_mbps"]) == pytest.approx(float(udp[0]["goodput_mbps"]) * 23 * 53 / 1024, abs=0.06)
    assert all(float(vc["throughput_mbps"]) >= float(vc["goodput_mbps"]) for vc in udp + contract)


def test_documents_are_the_same_whole_and_in_pieces() -> None:
    points = 2 * PIECE_ITEMS + 1
    series = [
        {"of": "a", "time_s": np.arange(points) / 3, "value": np.zeros(points)},
        {"of": "b", "time_s": np.zeros(0), "value": np.zeros(0)},
    ]
    run = {"totals": {"x": None}, "vcs": [{"n": n} for n in range(points)], "series": series, "trace": []}
    assert "".join(json_pieces(run)) == json_text(run)
    assert max(map(len, json_pieces(run))) < len(json_text(run)) / 2
    document = {"scenario": "s", "runs": [run, run], "summary": [], "timing": {}}
    assert json.loads(dump(document)) == json.loads(json_text(document))
    records = [{"a": n, **({"b": "x, y"} if n == PIECE_ITEMS else {})} for n in range(points)]
    lines = Table.from_records(records).csv().splitlines()
    assert len(lines) == points + 1 and lines[0] == "a,b" and lines[PIECE_ITEMS + 1] == f'{PIECE_ITEMS},"x, y"'


def test_points_written_in_pieces_equal_one_table() -> None:
    series = {"what": "queue", "of": "a->b", "class": None, "vc": "v,w", "unit": "cells", "statistic": None}
    points = {"time_s": np.arange(2 * PIECE_ITEMS + 1) / 7, "value": np.arange(2 * PIECE_ITEMS + 1) % 5 / 1.0}
    runs = [{"set": {"drop": drop}, "replication": None, "series": [series | points]} for drop in ("epd", "fba")]
    expected = [
        {"drop": drop, "replication": None, **series, "time_s": time, "value": value}
        for drop in ("epd", "fba")
        for time, value in zip(points["time_s"].tolist(), points["value"].tolist(), strict=True)
    ]
    assert "".join(series_pieces(runs)) == Table.from_records(expected).csv()


def test_endless_files_are_shown_by_their_transfers(cli: Cli, lan: Path) -> None:
    files = ("--set", "vc.*.traffic.file_size=10 kB", "--set", "vc.*.traffic.files=unlimited", "--set", "duration=1 s")
    several = cli("run", lan, *files, "--replications", 2).stdout
    assert "finished_transfers" in several
    assert "complete" not in several and "file_goodput" not in several
    assert "completed_ms" not in cli("run", lan, *files).stdout


def test_a_grid_shows_components_by_their_names(cli: Cli, lan: Path) -> None:
    grid = """switch.west.ubr.drop=epd,{ policy = "fba", z = 0.5 }"""
    shown = cli("run", lan, "--grid", grid, "--set", "duration=100 ms").stdout
    assert [line["switch.west.ubr.drop"] for line in columns(shown.split("\n\n")[1])] == ["epd", "fba"]
    alike = """switch.west.ubr.drop={ policy = "fba", z = 0.5 },{ policy = "fba", z = 0.8 }"""
    shown = cli("run", lan, "--grid", alike, "--set", "duration=100 ms", "--format", "json").stdout
    assert [run["set"]["switch.west.ubr.drop"][-5:] for run in json.loads(shown)["runs"]] == ["0.5 }", "0.8 }"]


def test_grid_values_may_be_ranges(cli: Cli, lan: Path) -> None:
    grid = """switch.west.ubr.buffer={ from = "500 cells", to = "4000 cells", steps = 4, scale = "log" }"""
    table = cli("run", lan, "--grid", grid, "--set", "duration=100 ms").stdout.split("\n\n")[1]
    found = [line["switch.west.ubr.buffer"] for line in columns(table)]
    assert found == ["500 cells", "1000 cells", "2000 cells", "4000 cells"]
    told = cli.refused("run", lan, "--grid", 'switch.west.ubr.buffer={ from = "5 cells", to = "2 cells" }')
    assert "is not above `from`" in told
