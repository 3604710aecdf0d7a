"""The format `ethernet`: packets in what a person reads, cells in names of fields and in units of scenarios."""

import re
from pathlib import Path

import cellyard as cy
import pytest
from cellyard import experiment as ex, plot
from cellyard.errors import ScenarioError
from conftest import ROOT, Cli

LAN = ROOT / "examples/lan-5.toml"
#: Overrides with which `lan-5` loses packets at 100 Gb/s.
FAST = {
    "format": "ethernet",
    "duration": "1 ms",
    "link.*.rate": "100 Gbps",
    "switch.west.ubr.buffer": "20 cells",
    "vc.traffic.mss": "1460 bytes",
    "measure.max_goodput": "fair shares",
}


def scenario() -> cy.Scenario:
    return cy.Scenario(
        name="packets",
        format="ethernet",
        duration="1 ms",
        hosts=[cy.Host(name="a", count=2), cy.Host(name="z")],
        switches=[cy.Switch(name="s", ubr=cy.Queue(buffer="20 cells", drop="tail-drop"))],
        links=[
            cy.Link(from_="a", to="s", rate="100 Gbps", delay="1 us"),
            cy.Link(from_="s", to="z", rate="100 Gbps", delay="1 us"),
        ],
        vcs=[cy.Vc(from_="a", to="z", traffic=cy.Tcp(recovery="sack", mss="1460 bytes"))],
        measure=cy.Measure(max_goodput="fair shares"),
        probes=[cy.QueueProbe(of="s->z"), cy.probe.LinkShare(of="s->z", interval="100 us")],
    )


def test_a_scenario_in_python_has_the_format_and_reads_back() -> None:
    made = scenario()
    assert 'format = "ethernet"' in made.to_toml() and 'buffer = "20 cells"' in made.to_toml()
    assert cy.Scenario.from_toml(made.to_toml()) == made
    result = made.run()
    assert result.totals.cells > 0 and 0 < (result.totals.efficiency or 0) <= 1
    with pytest.raises(ScenarioError, match="did you mean `ethernet`"):
        made.with_values({"format": "Ethernet"})


def test_series_say_packets() -> None:
    result = scenario().run()
    assert [one.unit for one in result.series] == ["packets", "fraction of time"]
    in_cells = scenario().with_values({"format": "aal5"}).run()
    assert [one.unit for one in in_cells.series] == ["cells", "fraction of slots"]


def test_a_packet_too_long_for_the_format_is_one_message(cli: Cli) -> None:
    told = cli.refused("run", LAN, "--set", "format=ethernet", "--set", "vc.traffic.mss=9140 bytes")
    (line,) = told.splitlines()
    assert "9140 bytes" in line
    advice = 'format = { kind = "ethernet", mtu = "9180 bytes" }'
    assert f"(allowed: at most 1460 bytes, or {advice})" in line
    followed = ("--set", "duration=0.1 s", "--set", advice.replace(" = ", "=", 1), "--set", "vc.traffic.mss=9140 bytes")
    assert cli("check", LAN, "--brief", *followed).returncode == 0


def test_jumbo_frames_in_python_the_command_line_and_a_grid(cli: Cli) -> None:
    jumbo = {"format": cy.Ethernet(mtu="9000 bytes"), "vc.traffic.mss": "8960 bytes"}
    made = scenario().with_values(jumbo)
    assert 'format = { kind = "ethernet", mtu = "9000 bytes" }' in made.to_toml()
    assert (
        cy.Scenario.from_toml(made.to_toml())
        == made
        == scenario().with_values({"format.mtu": "9 kB", "vc.traffic.mss": "8960 bytes"})
    )
    cells = cy.Cells(cell="256 bytes", carries="240 bytes")
    assert scenario().with_values({"format": cells}).to_dict()["format"]["cell"] == 256
    # A TCP alone sends 9038 bytes on the line for each 8960 bytes of data.
    alone = made.with_values({"host.a.count": 1, "measure.warm_up": "0.2 ms", "vc.traffic.rwnd": "1 MB"}).run()
    assert alone.totals.goodput_mbps == pytest.approx(100_000 * 8960 / 9038, rel=2e-3)
    assert alone.totals.efficiency == pytest.approx(1, rel=2e-3)
    # Under both limits, packets that fit have the same results.
    axes = ("format.mtu=1500 bytes,9000 bytes", "vc.traffic.mss=512 bytes,1460 bytes")
    grid = [word for axis in axes for word in ("--grid", axis)]
    table = cli("run", LAN, "--set", "format=ethernet", "--set", "duration=0.1 s", *grid).stdout
    rows = [line for line in table.splitlines() if re.match(r"\d+ bytes", line)]
    assert len(rows) == 4 and [row.replace("1500", "9000") for row in rows[:2]] == rows[2:]


def test_tables_say_packets_and_keep_the_names_of_fields(cli: Cli) -> None:
    fast = [word for path, value in FAST.items() for word in ("--set", f"{path}={value}")]
    table = cli("run", LAN, *fast).stdout
    assert " packets (each counts as one cell), " in table.splitlines()[0]
    assert "cells_sent" in table and "max_queue_cells" in table and "packets_" not in table
    several = cli("run", LAN, *fast, "--replications", 2).stdout
    assert "data packets dropped, in all and by reason, means of the runs:" in several
    both = cli("run", LAN, *fast[2:], "--grid", "format=aal5,ethernet").stdout
    assert " cells, " in both.splitlines()[0]


def test_a_check_says_packets(cli: Cli) -> None:
    brief = cli("check", LAN, "--brief", "--set", "format=ethernet", "--set", "duration=1 s").stdout
    assert "ubr queue: 1000 packets" in brief and "bottleneck packets" in brief and " cells" not in brief
    program = 'switch.west.ubr.drop={ policy = "program", refuse = "X > 500" }'
    brief = cli("check", LAN, "--brief", "--set", "format=ethernet", "--set", program).stdout
    assert "asked about packets that find the port busy" in brief and "below 501 packets" in brief
    grid = cli("check", LAN, "--brief", "--grid", "format=aal5,ethernet").stdout
    assert "million bottleneck cells: about" in grid.split("2 points x")[1]


def test_figures_say_packets() -> None:
    axis = ex.Axis("switch.s.ubr.buffer", ex.Range("10 cells", "40 cells", steps=4))
    metrics = ["efficiency", "max_queue_cells"]
    measured = ex.Experiment(name="buffer", base=scenario(), metrics=metrics, axes=[axis], replications=2).run()
    assert set(metrics) < set(measured.to_dict()["points"][0])
    (drawn,) = measured.figures()
    labels = [(panel.get_xlabel(), panel.get_ylabel()) for panel in drawn.figure.axes]
    assert labels[1] == ("buffer [packets]", "max queue [packets]")
    formats = ex.Axis("format", ["aal5", "ethernet"])
    assert ex.Experiment(name="both", base=scenario(), metrics=metrics, axes=[formats]).noun == "cell"


def test_series_of_both_formats_have_a_panel_for_each_unit() -> None:
    runs = {text: scenario().with_values({"format": text}).run().series for text in ("aal5", "ethernet")}
    figure = plot.over_time(runs)
    labels = [panel.get_ylabel().partition("\n")[0] for panel in figure.axes]
    assert labels[::2] == ["queue [cells]", "queue [packets]"]
    assert [len(panel.lines) for panel in figure.axes] == [1] * 4


def test_stored_runs_are_drawn_in_packets(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "packets.toml").write_text(scenario().to_toml())
    buffers = "switch.s.ubr.buffer=10 cells,20 cells,40 cells"
    cli("run", "packets.toml", "--grid", buffers, "--store", "runs.db")
    cli("plot", "runs.db", "--x", "switch.s.ubr.buffer", "--y", "efficiency", "--out", "figure.svg")
    assert "buffer [packets]" in (tmp_path / "figure.svg").read_text()


def in_bytes(buffer: str = "60 kB", drop: str = "tail-drop") -> cy.Scenario:
    return scenario().with_values({"switch.s.ubr": {"buffer": buffer, "drop": drop}, "duration": "4 ms"})


def test_a_buffer_in_bytes_is_reported_in_bytes() -> None:
    """A packet of 1500 bytes takes 1518: 39 fit in 60 000 bytes, and no ACK comes here."""
    run = in_bytes().run().only
    port = run.ports["s->z"]
    (queue,) = port.classes
    assert (queue.buffer_cells, queue.buffer_bytes) == (None, 60_000)
    assert queue.max_queue_bytes == port.max_queue_bytes == 39 * 1518 and port.max_queue_cells == 39
    (recorded,) = [one for one in run.series if one.what == "queue"]
    assert recorded.unit == "bytes" and max(recorded.value) == 39 * 1518
    in_cells = scenario().run().only.ports["s->z"]
    assert (in_cells.max_queue_bytes, in_cells.classes[0].buffer_bytes) == (None, None)


def test_a_buffer_in_time_is_so_many_bytes_at_the_rate_of_the_port(cli: Cli, tmp_path: Path) -> None:
    made = in_bytes("5 us")
    assert made.run().only.ports["s->z"].classes[0].buffer_bytes == 62_500
    assert 'buffer = "5 us"' in made.to_toml() and cy.Scenario.from_toml(made.to_toml()) == made
    (tmp_path / "made.toml").write_text(made.to_toml())
    assert "ubr queue: 62500 bytes, tail-drop" in cli("check", "made.toml").stderr


def test_a_traced_drop_at_a_queue_of_bytes_is_in_bytes() -> None:
    made = in_bytes().with_values({"probe": [cy.probe.Trace(of=vc["name"]) for vc in in_bytes().to_dict()["vcs"]]})
    drop = made.run().only.trace[0]
    assert drop.reason == "full" and drop.threshold_bytes == 60_000
    waiting, of_vc = drop.waiting_bytes, drop.waiting_of_vc_bytes
    assert waiting is not None and of_vc is not None and waiting + 1518 > 60_000 >= waiting > of_vc
    assert (drop.waiting_cells, drop.waiting_of_vc_cells, drop.threshold_cells) == (None, None, None)


def test_per_vc_shares_are_fair_in_bytes(cli: Cli, tmp_path: Path) -> None:
    """Five UDPs of other lengths, each faster than its share of 100 Mb/s."""
    text = (
        'name = "bytes"\nduration = "1 s"\nformat = "ethernet"\nmeasure = { warm_up = "100 ms" }\n'
        'host = [{ name = "a", count = 5 }, { name = "z", count = 5 }]\n'
        'switch = [{ name = "s", scheduler = { kind = "per-vc", unit = "UNIT" }, ubr = { drop = "selective-drop" } }]\n'
        'link = [{ from = "a", to = "s", rate = "1 Gbps" }, { from = "s", to = "z", rate = "1 Gbps" }]\n'
    )
    sizes = (1472, 1472, 1472, 100, 18)
    vcs = "".join(
        f'[[vc]]\nname = "vc{n}"\nfrom = "a{n}"\nto = "z1"\n'
        f'traffic = {{ kind = "udp", datagram_size = "{size} bytes", rate = "40 Mbps" }}\n'
        for n, size in enumerate(sizes, 1)
    )
    slow = ("link.s->z1.rate", "100 Mbps")
    shares = {}
    for unit in ("byte", "cell"):
        made = cy.Scenario.from_toml(text.replace("UNIT", unit) + vcs, overrides=[slow])
        shares[unit] = [vc.throughput_mbps for vc in made.run().only.vcs.values()]
    assert shares["byte"] == pytest.approx([20] * 5, rel=0.01)
    # A packet of each in turn: shares are as their bytes on the line.
    lines = [1538, 1538, 1538, 166, 84]
    assert shares["cell"] == pytest.approx([100 * line / sum(lines) for line in lines], rel=0.02)
    (tmp_path / "cells.toml").write_text(text.replace("UNIT", "byte").replace('format = "ethernet"\n', "") + vcs)
    done = cli("check", "cells.toml")
    assert done.returncode == 2 and 'scheduler.unit = "byte": counts bytes of packets' in done.stderr, done
