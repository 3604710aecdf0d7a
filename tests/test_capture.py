"""Captures as a user gets them.

tshark reads the files without a warning, and finds the counts that the results state.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cellyard as cy
import pytest
from cellyard.runs.batch import Job
from cellyard.runs.spool import Spool, SpoolError
from conftest import Cli

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed")

CHECKED = [
    option
    for protocol in ("ip.check_checksum", "tcp.check_checksum", "udp.check_checksum", "eth.check_fcs")
    for option in ("-o", f"{protocol}:TRUE")
]


def tshark(path: Path, *arguments: str) -> list[list[str]]:
    """Return the lines of fields that tshark prints for a file, which it must read without a warning."""
    command = [str(TSHARK), "-n", "-r", str(path), *CHECKED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    warnings = [line for line in done.stderr.splitlines() if not line.startswith("Running as user")]
    assert done.returncode == 0 and not warnings, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def fields(path: Path, *names: str, only: str = "") -> list[list[str]]:
    """Return the fields of each packet that passes a filter.

    No packet may be malformed or truncated.
    """
    assert tshark(path, "-Y", "_ws.malformed || _ws.short || _ws.unreassembled") == []
    chosen = [part for name in names for part in ("-e", name)]
    return tshark(path, "-T", "fields", *chosen, *(["-Y", only] if only else []))


def captured(cli: Cli, example: str, *probes: str, settings: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the result of a run of an example with these captures, which are in the folder `out`."""
    listed = ", ".join(f'{{ what = "capture", {probe} }}' for probe in probes)
    overrides = [part for setting in (f"probe=[{listed}]", *settings) for part in ("--set", setting)]
    (Path(example)).write_text(cli("example", example.removesuffix(".toml")).stdout)
    shown = cli.ok("run", example, "--out", "out", "--format", "json", *overrides)
    run: dict[str, Any] = json.loads(shown)["runs"][0]
    return run


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


@needs_tshark
def test_cells_of_a_port_are_those_of_the_results(cli: Cli) -> None:
    run = captured(cli, "lan-5.toml", 'of = "west->east", layer = "cells"', settings=("duration=1 s",))
    port = next(port for port in run["ports"] if port["name"] == "west->east")
    cells = fields(Path("out/west-east-cells.pcapng"), "frame.interface_name", "atm.vci", "frame.comment")
    sent = [cell for cell in cells if cell[0] == "west->east"]
    dropped = [cell for cell in cells if cell[0] == "west->east drops"]
    assert len(sent) == port["sent_cells"] and {cell[1] for cell in sent} == {str(vci) for vci in range(32, 37)}
    assert len(dropped) == sum(port["dropped_cells"].values()) > 100
    comment = re.compile(r"dropped: \w+; queue X=\d+ Y_i=\d+ N_a=\d+( threshold=\d+)?; vc\d data frame \d+ cell \d+")
    assert all(comment.fullmatch(cell[2]) for cell in dropped)
    ends = fields(Path("out/west-east-cells.pcapng"), "frame.number", only="atm.payload_type == 1")
    assert 0 < len(ends) < len(cells) / 10


@needs_tshark
def test_frames_have_right_checksums_and_are_those_of_the_cells(cli: Cli) -> None:
    probes = [f'of = "west->east", layer = "{layer}"' for layer in ("cells", "frames")]
    captured(cli, "lan-5.toml", *probes, settings=("duration=1 s",))
    path = Path("out/west-east-frames.pcapng")
    names = ["frame.interface_name", "atm.aal5t_len", "tcp.checksum.status", "ip.checksum.status", "ip.len"]
    frames = fields(path, *names)
    whole = [frame for frame in frames if frame[0] == "west->east"]
    assert whole and {tuple(frame[2:4]) for frame in frames} == {("1", "1")}
    assert {(frame[1], frame[4]) for frame in whole} == {("560", "552")}
    # tshark states only in words whether the CRC-32 is right.
    words = "\n".join(" ".join(line) for line in tshark(path, "-V"))
    assert words.count("CRC") >= len(frames) and "incorrect" not in words
    cells = fields(Path("out/west-east-cells.pcapng"), "frame.interface_name", only="atm.payload_type == 1")
    incomplete = [frame for frame in fields(path, "frame.comment") if frame[0].startswith("incomplete")]
    ends = sum(cell[0] == "west->east" for cell in cells)
    assert len(whole) <= ends <= len(frames) + len(incomplete)


@needs_tshark
def test_segments_let_wireshark_find_retransmissions_and_round_trip_times(cli: Cli) -> None:
    run = captured(cli, "lan-5.toml", 'of = "source2", layer = "segments"', settings=("duration=2 s",))
    vc = next(vc for vc in run["vcs"] if vc["from"] == "source2")
    path = Path("out/source2-segments.pcapng")
    real = 'not frame.comment contains "not simulated"'
    assert len(fields(path, "tcp.seq", only=f"tcp.len > 0 && {real}")) == vc["segments"]
    again = fields(path, "tcp.seq", only="tcp.analysis.retransmission || tcp.analysis.out_of_order")
    assert len(again) == vc["retransmitted_segments"] > 0
    assert {status for (status,) in fields(path, "tcp.checksum.status")} == {"1"}
    times = [float(time) for (time,) in fields(path, "tcp.analysis.ack_rtt", only=f"tcp.analysis.ack_rtt && {real}")]
    assert len(times) > 100 and 1e-4 < min(times) < max(times) < 1
    handshake = fields(path, "tcp.flags", only='frame.comment contains "not simulated"')
    assert handshake == [["0x0002"], ["0x0012"], ["0x0010"]]
    conversations = tshark(path, "-q", "-z", "conv,tcp")
    assert sum("5001" in line[0] for line in conversations) == 1
    assert any("source2" in line[0] for line in tshark(path, "-N", "n", "-c", "1"))


@needs_tshark
def test_udp_and_tcp_of_one_port(cli: Cli) -> None:
    captured(cli, "gfr-beside-udp.toml", 'of = "west->east", layer = "frames", to = "0.3 s"')
    found = fields(
        Path("out/west-east-frames.pcapng"), "_ws.col.Protocol", "udp.checksum.status", "tcp.checksum.status"
    )
    assert {tuple(frame) for frame in found} == {("UDP", "1", ""), ("TCP", "", "1")}


@needs_tshark
def test_ethernet_frames_are_right_and_drops_have_their_reason(cli: Cli) -> None:
    probes = [
        'of = "west->east", layer = "frames"',
        'of = "source2->west", layer = "cells"',
        'of = "source2", layer = "segments"',
    ]
    west = 'switch=[{ name = "west", ubr = { buffer = "100 cells" } }, { name = "east" }]'
    run = captured(cli, "lan-5.toml", *probes, settings=('format="ethernet"', west, "duration=1 s"))
    port = next(port for port in run["ports"] if port["name"] == "west->east")
    status = ["eth.fcs.status", "ip.checksum.status", "tcp.checksum.status"]
    names = ["frame.interface_name", "frame.comment", "eth.src", "eth.dst", "frame.len", *status]
    frames = fields(Path("out/west-east-frames.pcapng"), *names)
    sent = [frame for frame in frames if frame[0] == "west->east"]
    dropped = [frame for frame in frames if frame[0] == "west->east drops"]
    assert len(sent) == port["sent_cells"] and {tuple(frame[5:]) for frame in frames} == {("1", "1", "1")}
    assert len(dropped) == sum(port["dropped_cells"].values()) > 10
    comment = re.compile(r"dropped: \w+; queue X=\d+ Y_i=\d+ N_a=\d+ threshold=\d+; vc\d data frame \d+ cell 0")
    assert all(comment.fullmatch(frame[1]) for frame in dropped)
    ends = {(f"02:00:0a:00:00:0{n}", f"02:00:0a:00:00:{n + 5:02x}") for n in range(1, 6)}
    assert {tuple(frame[2:4]) for frame in frames} == ends
    # 512 bytes of data; headers of TCP and IP 40, of Ethernet 14; check sequence 4.
    assert {frame[4] for frame in frames} == {"570"}
    host = Path("out/source2-segments.pcapng")
    real = 'ip.src == 10.0.0.2 && not frame.comment contains "not simulated"'
    segments = fields(host, "tcp.seq_raw", "tcp.len", "tcp.window_size_value", only=real)
    carried = fields(Path("out/source2-west-cells.pcapng"), "tcp.seq_raw", "tcp.len", "tcp.window_size_value")
    assert len(carried) > 100 and carried == segments[: len(carried)]


@needs_tshark
@pytest.mark.parametrize("mtu", [9000, 65_535])
def test_jumbo_frames_are_whole(cli: Cli, mtu: int) -> None:
    probes = ['of = "west->east", layer = "frames"', 'of = "source1", layer = "segments"']
    settings = (
        f'format={{ kind = "ethernet", mtu = "{mtu} bytes" }}',
        f"vc.traffic.mss={mtu - 40} bytes",
        "vc.traffic.rwnd=1 MB",
        f'vc.vc5.traffic={{ kind = "udp", datagram_size = "{mtu - 28} bytes", rate = "10 Mbps" }}',
        "duration=0.2 s",
    )
    captured(cli, "lan-5.toml", *probes, settings=settings)
    names = ["frame.len", "frame.cap_len", "ip.len", "eth.fcs.status", "ip.checksum.status"]
    status = ["tcp.checksum.status", "udp.checksum.status"]
    frames = fields(Path("out/west-east-frames.pcapng"), *names, *status)
    whole = [str(mtu + 18), str(mtu + 18), str(mtu), "1", "1"]
    assert {tuple(frame) for frame in frames} == {(*whole, "1", ""), (*whole, "", "1")}
    segments = fields(Path("out/source1-segments.pcapng"), "frame.len", only="tcp.len > 0")
    assert segments and {frame[0] for frame in segments} == {str(mtu)}


@pytest.mark.parametrize("layer", ["cells", "frames", "segments"])
def test_no_file_exceeds_the_limit_and_a_limit_without_room_for_a_packet_is_refused(
    cli: Cli, lan: Path, layer: str
) -> None:
    place = "source1" if layer == "segments" else "west->east"
    probe = f'probe=[{{ what = "capture", of = "{place}", layer = "{layer}" }}]'
    command = ("run", lan, "--set", probe, "--out", "out", "--capture-limit")
    refused = cli(*command, "1 kB")
    found = re.fullmatch(
        r"capture_limit = 1000 B: must be at least (\d+) B, for the head of a file, which holds the scenario, and a packet\n",
        refused.stderr,
    )
    assert refused.returncode == 2 and found and not Path("out").exists(), refused.stderr
    least = int(found[1])
    assert cli(*command, f"{least - 1} B").returncode == 2
    done = cli(*command, f"{least} B")
    assert done.returncode == 0 and ".pcapng ends at " in done.stderr and "--capture-limit" in done.stderr
    [file] = Path("out").glob("*.pcapng")
    content = file.read_bytes()
    assert least - 1500 < len(content) <= least and f"its limit of {least} bytes is reached".encode() in content[-300:]


def test_files_are_named_by_place_layer_and_run_and_checked_as_all_others(cli: Cli, lan: Path) -> None:
    probes = ", ".join(
        f'{{ what = "capture", of = "{place}", layer = "{layer}", to = "10 ms" }}'
        for place, layer in (("source", "segments"), ("west->east", "cells"), ("west->east", "cells"))
    )
    names = [
        f"{name}.pcapng" for name in ("source1-segments", "source2-segments", "west-east-cells", "west-east-cells-2")
    ]
    cli.ok("run", lan, "--set", f"probe=[{probes}]", "--out", "out")
    assert {file.name for file in Path("out").glob("*.pcapng")} == set(names)
    sums = Path("out/SHA256SUMS").read_text()
    assert all(name in sums for name in names)
    # A repeated command takes the run from the store, except for the files.
    first = [Path("out", name).read_bytes() for name in names]
    cli.ok("run", lan, "--set", f"probe=[{probes}]", "--out", "out")
    assert [Path("out", name).read_bytes() for name in names] == first
    cli.ok("run", lan, "--set", f"probe=[{probes}]", "--out", "out", "--replications", "2")
    assert {file.name for file in Path("out").glob("*.pcapng")} == {
        f"run-{run}-{name}" for run in range(2) for name in names
    }


def test_python_writes_captures_into_a_folder(tmp_path: Path) -> None:
    probe = {"what": "capture", "of": "west->east", "layer": "frames"}
    scenario = cy.examples.scenario("lan-5").with_values({"duration": "0.2 s", "probe": [probe]})
    bare = scenario.run()
    assert not list(tmp_path.glob("**/*.pcapng"))
    result = scenario.run(captures=tmp_path / "made")
    assert result.only.totals == bare.only.totals
    (path,) = (tmp_path / "made").iterdir()
    content = path.read_bytes()
    assert path.name == "west-east-frames.pcapng" and content.startswith(b"\x0a\x0d\x0d\x0a")
    assert str(Job(scenario.canonical).identity).encode() in content
    scenario.run(captures=tmp_path / "made", capture_limit="100 kB")
    assert 98_000 < len(path.read_bytes()) <= 100_000
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"capture_limit": "much"}, "must be a size"),
        ({"kernel": "twin"}, "reference engine"),
    ]
    for options, expected in wrong:
        with pytest.raises(cy.UsageError, match=expected):
            scenario.run(captures=tmp_path / "none", **options)
    with pytest.raises(cy.UsageError, match="captures has no effect"):
        cy.examples.scenario("lan-5").run(captures=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_capture_that_does_not_fit_on_the_disk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise SpoolError(28, os.strerror(28), "out")

    monkeypatch.setattr(Spool, "write", full)
    probes = [{"what": "capture", "of": "west->east", "layer": "cells"}, {"what": "queue", "of": "west->east"}]
    scenario = cy.examples.scenario("lan-5").with_values({"duration": "10 ms", "probe": probes})
    with pytest.raises(SpoolError, match="No space left"):
        scenario.run(captures=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ('of = "west->east"', ["probe[0].layer"]),
        ('of = "west->east", layer = "packets"', ["probe[0].layer", "cells, frames, segments"]),
        ('of = "source1", layer = "cells"', ["no link has this name", "the layer cells is recorded at a link"]),
        (
            'of = "west->east", layer = "segments"',
            ["no host has this name", "the layer segments is recorded at a host"],
        ),
        ('of = "west", layer = "segments"', ["no host has this name"]),
        ('of = "source1", layer = "segments", vc = "vc2"', ["does not begin or end at source1"]),
        (
            'of = "west->east", layer = "cells", from = "1 s"',
            ["probe[0].from", "is not before the end of the run", "1 s"],
        ),
        ('of = "west->east", layer = "cells", from = "3 ms", to = "2 ms"', ["probe[0].to", "3 ms"]),
        ('of = "west->east", layer = "cells", interval = "1 ms"', ["probe[0].interval"]),
    ],
)
def test_invalid_capture_probes_are_refused(cli: Cli, lan: Path, probe: str, expected: list[str]) -> None:
    told = cli.refused("check", lan, "--set", f'probe=[{{ what = "capture", {probe} }}]')
    assert "Traceback" not in told
    for part in expected:
        assert part in told, told


def test_options_that_prevent_captures_are_refused(cli: Cli, lan: Path) -> None:
    probe = ("--set", 'probe=[{ what = "capture", of = "west->east", layer = "cells" }]')
    done = cli("run", lan, *probe)
    assert done.returncode == 0 and "captures are not written without --out DIR" in done.stderr
    for arguments, expected in [
        (["--capture-limit", "1MB"], 'the scenario has no probe with what = "capture"'),
        ([*probe, "--out", "out", "--capture-limit", "much"], "argument --capture-limit: `much` must be a size"),
        ([*probe, "--out", "out", "--kernel", "twin"], "the reference engine"),
        ([*probe, "--out", "out", "--workers", "1"], "omit the cluster"),
    ]:
        told = cli.refused("run", lan, *arguments)
        assert expected in told
        assert not Path("out").exists()
