"""Notes that `run` prints on grids, seeds, starts and measuring times."""

import json
from pathlib import Path

from conftest import Cli

CROWDED_HOST = """\
duration = "1 s"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "s" }]
link = [{ from = "a", to = "s", rate = "1 Mbps" }, { from = "s", to = "b", rate = "10 Mbps" }]
vc = [
  { name = "one", from = "a", to = "b", traffic = { kind = "cbr", rate = "900 kbps" } },
  { name = "two", from = "a", to = "b", traffic = { kind = "cbr", rate = "800 kbps" } },
]
"""


def test_notes_on_points_with_equal_scenarios(cli: Cli, lan: Path) -> None:
    twice = cli("run", lan, "--grid", "switch.west.ubr.drop=epd,fba,epd", "--format", "json")
    assert "note: --grid switch.west.ubr.drop: `epd` is listed 2 times but runs only once\n" in twice.stderr
    assert len(json.loads(twice.stdout)["runs"]) == 2
    names = ["--grid", "switch.west.ubr.drop=epd,fba", "--grid", "duration=1 s,1000 ms"]
    for command in ("run", "check"):
        notes = cli(command, lan, *names).stderr
        assert "note: 2 of 4 points of the grid have the same scenario as another point: " in notes
    alias = cli("run", lan, "--set", "switch.0.ubr.drop=ppd", *names[:2])
    assert "--set sets it too, spelled `switch.0.ubr.drop`; set each path once" in alias.stderr
    fine = cli("run", lan, "--set", "duration=1 s", "--grid", "switch.west.ubr.drop=epd,fba", "--replications", 2)
    assert fine.stderr == ""


def test_notes_on_seeds_without_effect(cli: Cli, lan: Path) -> None:
    done = cli("run", lan, "--grid", "seed=1,2,3")
    assert done.stderr == (
        "note: seed=2 gave exactly the same run as seed=1: nothing in this scenario is random; "
        "--replications adds random draws\n"
    )
    assert cli("run", lan, "--grid", "seed=1,2", "--replications", 2).stderr == ""
    assert cli("run", lan, "--grid", "seed=1,2", "--set", "link.*.lose_probability=0.01").stderr == ""


def test_note_on_simultaneous_tcps_that_deliver_nothing(cli: Cli, tmp_path: Path) -> None:
    """Ten simultaneous frames of 193 cells do not fit a buffer of 1000 cells, nor do their retransmissions."""
    (tmp_path / "step.toml").write_text(
        'duration = "5 s"\ntie_order = "rotating"\nmeasure = { max_goodput = "130 Mbps" }\n'
        'host = [{ name = "a", count = 10 }, { name = "b" }]\n'
        'switch = [{ name = "s", ubr = { buffer = "1000 cells" } }]\n'
        'link = [{ from = "a", to = "s", rate = "144 Mbps" }, { from = "s", to = "b", rate = "144 Mbps" }]\n'
        'vc = [{ from = "a", to = "b", traffic = { kind = "tcp", mss = "9180 bytes" } }]\n'
    )
    note = "note: no TCP delivered anything"
    begins = f"{note}: they start at the same time, and meet again in one buffer after each timeout; --replications"
    assert cli("run", "step.toml").stderr.startswith(begins)
    grid = ("--grid", "vc.vc1.start=0 s,10 ms")
    assert f"{note} in 1 of 2 runs: " in cli("run", "step.toml", *grid).stderr
    for fine in (("--replications", 2), ("--set", "duration=100 us"), ("--set", "switch.s.ubr.buffer=2000 cells")):
        assert cli("run", "step.toml", *fine).stderr == ""
    # The first timeout comes after 3 s.
    short = f"{note}: they start at the same time, and meet in one buffer, and the run ends before the first timeout (initial_rto); "
    assert cli("run", "step.toml", "--set", "duration=2 s").stderr.startswith(short)


def test_no_note_where_tcps_share_no_port_or_delivered_before_the_measuring_time(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "apart.toml").write_text(
        'duration = "10 s"\nhost = [{ name = "a", count = 2 }, { name = "b", count = 2 }]\n'
        'link = [{ from = "a", to = "b", rate = "10 Mbps", lose_probability = 1 }]\n'
        'vc = [{ from = "a", to = "b", traffic = { kind = "tcp" } }]\n'
    )
    assert "no TCP delivered" not in cli("run", "apart.toml").stderr
    (tmp_path / "early.toml").write_text(
        'duration = "4 s"\nmeasure = { warm_up = "3 s" }\nhost = [{ name = "a", count = 2 }, { name = "b" }]\n'
        'switch = [{ name = "s", ubr = { buffer = "200 cells" } }]\n'
        'link = [{ from = "a", to = "s", rate = "100 Mbps" }, { from = "s", to = "b", rate = "100 Mbps" }]\n'
        'vc = [{ from = "a", to = "b", traffic = { kind = "tcp", file_size = "200 kB" } }]\n'
    )
    done = cli("run", "early.toml", "--format", "json")
    vcs = json.loads(done.stdout)["runs"][0]["vcs"]
    assert all(vc["frames_lost"] and vc["delivered_bytes"] and not vc["goodput_mbps"] for vc in vcs)
    assert "no TCP delivered" not in done.stderr


def test_note_on_tcps_that_finish_no_file_while_others_do(cli: Cli, tmp_path: Path) -> None:
    """Three TCPs meet in a buffer for one of their frames; all durations belong to a fourth, which starts later."""
    (tmp_path / "incast.toml").write_text(
        'duration = "2 s"\ntie_order = "rotating"\nmeasure = { max_goodput = "130 Mbps" }\n'
        'host = [{ name = "a", count = 4 }, { name = "b" }]\n'
        'switch = [{ name = "s", ubr = { buffer = "200 cells" } }]\n'
        'link = [{ from = "a", to = "s", rate = "144 Mbps" }, { from = "s", to = "b", rate = "144 Mbps" }]\n'
        'vc = [{ from = "a", to = "b", traffic = { kind = "tcp", mss = "9180 bytes", file_size = "20 kB", files = "unlimited" } }]\n'
    )
    start = ("--set", "vc.vc1.start=10 ms")
    done = cli("run", "incast.toml", *start)
    assert done.stderr == (
        "note: 3 of 4 TCPs that send files did not finish: times that depend on them are bounds; run longer (duration) to know them; "
        "3 of these delivered nothing, and the run ends before the first timeout (initial_rto)\n"
    )
    several = cli("run", "incast.toml", *start, "--grid", "switch.s.ubr.buffer=200 cells,unlimited").stderr
    assert several.startswith("note: 3 of 8 TCPs that send files, over all runs, did not finish: ")
    assert cli("run", "incast.toml", *start, "--set", "switch.s.ubr.buffer=unlimited").stderr == ""


def test_note_on_goodput_of_data_that_came_before_the_measuring_time(cli: Cli, tmp_path: Path) -> None:
    """Many TCPs have gaps when the warm-up ends, although the line is always full."""
    (tmp_path / "gaps.toml").write_text(
        'name = "gaps"\nduration = "20 s"\nhost = [{ name = "source", count = 40 }, { name = "sink", count = 40 }]\n'
        'switch = [{ name = "west", ubr = { buffer = "8000 cells", drop = "epd" } }, { name = "east" }]\n'
        "link = [\n"
        '    { from = "source", to = "west", rate = "155.52 Mbps", delay = "5 us" },\n'
        '    { from = "west", to = "east", rate = "45 Mbps", delay = "10 ms" },\n'
        '    { from = "east", to = "sink", rate = "155.52 Mbps", delay = "5 us" },\n'
        "]\n"
        'vc = [{ from = "source", to = "sink", traffic = { kind = "tcp", recovery = "new-reno" } }]\n'
    )
    beyond = "note: the goodput through west->east is up to 1.00"
    for warm_up, has_note in (("0 s", False), ("2 s", True), ("4 s", False)):
        notes = cli("run", "gaps.toml", "--set", f"measure.warm_up={warm_up}").stderr
        assert (beyond in notes) is has_note, notes


def test_run_says_which_values_cover_only_the_measuring_time(cli: Cli, lan: Path) -> None:
    line = (
        "goodput, efficiency, fairness and delays cover the measuring time ({}); all other values cover the whole run"
    )
    lines = cli("run", lan, "--set", "measure.window=20 ms").stdout.splitlines()
    assert line.format("0.02 s") in lines
    head = lines[lines.index("ports, in the measuring time only:") + 1].split()
    assert head[:5] == ["port", "arrived_cells", "sent_cells", "dropped_cells", "cell_loss_ratio"]
    grid = cli("run", lan, "--grid", "measure.window=20 ms,30 ms").stdout
    assert line.format("0.02 to 0.03 s") in grid.splitlines()
    assert "measuring time" not in cli("run", lan).stdout


def test_note_on_an_efficiency_above_one(cli: Cli, lan: Path) -> None:
    notes = cli("run", lan, "--set", "measure.max_goodput=10 Mbps").stderr
    assert notes.startswith("note: efficiency is up to ") and notes.count("note") == 1
    assert cli("run", lan).stderr == ""


def test_notes_on_a_host_whose_link_cannot_take_its_cells(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "crowded.toml").write_text(CROWDED_HOST)
    before = "note: the cell sources of the host a offer 1.700 Mb/s to the link a->s, which has 1.000 Mb/s: "
    after = (
        "note: the host a never sent 1652 of its 4010 data cells, which count neither as lost nor as delayed: "
        "its cell sources offer 1.70 times the capacity of its link\n"
    )
    checked = cli("check", "crowded.toml").stderr
    assert before in checked and "a never sent" not in checked
    ran = cli("run", "crowded.toml")
    assert ran.stderr.startswith(before) and ran.stderr.endswith(after) and ran.stderr.count("note: ") == 2
    assert "not_sent" in ran.stdout
    # In 1 s, both offer 850 kb/s to a link that carries 1 Mb/s, but has no rate in the last quarter.
    pause = ("--set", "vc.two.traffic.rate=100 kbps", "--set", 'link.a->s.changes=[{at="0.75 s",rate="0 bps"}]')
    ran = cli("run", "crowded.toml", *pause)
    waits = (
        "note: the cell sources of the host a offer 1.000 Mb/s in the mean to the link a->s, whose rate changes: "
        "up to 31250 bytes wait at the host"
    )
    assert ran.stderr.startswith(waits) and "times the capacity" in ran.stderr and "not_sent" in ran.stdout
    late = "note: the host a never sent 531 of its 2125 data cells, which count neither as lost nor as delayed: "
    one = (
        "--set",
        "vc.two.stop=1 ms",
        "--set",
        'link.a->s.changes=[{at="0.5 s",rate="10 Mbps"},{at="0.75 s",rate="0 bps"}]',
    )
    ran = cli("run", "crowded.toml", *one)
    assert late + "its cell sources offer more than its link carries for some time, as its rate changes\n" in ran.stderr
    # Only the point of the grid that exceeds the limit is named; with room for all, none is.
    grid_notes = cli("run", "crowded.toml", "--grid", "vc.two.traffic.rate=100 kbps,800 kbps").stderr
    assert "note: the host a never sent 1652 of its 4010 data cells" in grid_notes and "up to 1.70 times" in grid_notes
    calm = ("--set", "vc.two.traffic.rate=100 kbps")
    ran = cli("run", "crowded.toml", *calm)
    assert ran.stderr == "" and "not_sent" not in ran.stdout
    assert "note" not in cli("check", "crowded.toml", *calm).stderr
