"""The profiles of TCPs: defaults by name, in Python, in files, on axes and over a study's row."""

import json
from pathlib import Path

import cellyard as cy
import pytest
from conftest import Cli, chain

NETWORK = chain(
    *("a", "1 Gbps", "s", "1 Gbps", "b"),
    vc='traffic = { kind = "tcp", mss = "1460 bytes" }',
    delay="10 us",
    count=4,
    name="four",
    duration="20 ms",
    format="ethernet",
    measure='{ max_goodput = "fair shares" }',
    switch='[{ name = "s", ubr = { buffer = "50 cells" } }]',
)
SETS = (
    "recovery = sack, rwnd = 6 MB, initial_window = 10, granularity = 1 ms, min_rto = 200 ms, initial_rto = 1 s, "
    "estimator = rfc6298, delayed_ack = 40 ms, handshake = true"
)


def tcp(scenario: cy.Scenario, vc: int = 0) -> dict[str, object]:
    found: dict[str, object] = scenario.to_dict()["vcs"][vc]["traffic"]
    return found


def with_traffic(traffic: cy.Tcp) -> cy.Scenario:
    return cy.Scenario.from_toml(NETWORK).with_values({"vc.0.traffic": traffic})


def test_a_profile_in_python_sets_what_is_not_stated() -> None:
    linux = tcp(with_traffic(cy.Tcp(profile="linux", mss="1460 bytes")))
    assert (linux["recovery"], linux["rwnd"], linux["initial_window"], linux["handshake"]) == (
        "sack",
        6_000_000,
        10,
        True,
    )
    # A stated value wins, though it is the default of the other profile.
    stated = tcp(with_traffic(cy.Tcp(profile="linux", recovery="reno", handshake=False, delayed_ack="none")))
    assert (stated["recovery"], stated["handshake"], stated["delayed_ack"]) == ("reno", False, None)
    assert stated["rwnd"] == 6_000_000
    assert tcp(with_traffic(cy.Tcp())) == tcp(with_traffic(cy.Tcp(profile="1996", rwnd="65535 bytes")))
    file = cy.Scenario.from_toml(NETWORK).with_values({"vc.traffic.profile": "linux"})
    assert tcp(file) == linux
    assert cy.Scenario.from_toml(file.to_toml()) == file


def test_check_and_run_print_what_a_profile_set(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "four.toml").write_text(NETWORK)
    linux = ("--set", "vc.traffic.profile=linux")
    told = f"note: profile `linux` sets for vc1 and 3 more: {SETS}\n"
    assert told in cli("check", "four.toml", *linux).stderr
    run = cli("run", "four.toml", *linux)
    assert told in run.stderr
    small = cli("run", "four.toml", *linux, "--set", "vc.traffic.mss=default").stderr
    assert f"{told.strip()}; mss, which it does not set, is 512 bytes (Ethernet carries 1460)\n" in small
    assert "profile" not in cli("run", "four.toml", "--set", "vc.traffic.profile=1996").stderr
    changed = cli("check", "four.toml", *linux, "--set", "vc.vc2.traffic.recovery=reno", "--brief").stdout
    assert told.replace("3 more", "2 more") in changed
    assert "handshake = true; stated, with other values: recovery\n" in changed
    error = cli.refused("check", "four.toml", "--set", "vc.traffic.profile=linus")
    assert error.startswith("--set vc")
    assert 'profile="linus": is not one of the choices; did you mean `linux`?' in error


def test_a_profile_works_on_a_grid_and_in_its_figure(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "four.toml").write_text(NETWORK)
    grid = ("--grid", "vc.traffic.profile=1996,linux", "--format", "json")
    old, linux = json.loads(cli("run", "four.toml", *grid, "--store", "runs.sqlite").stdout)["runs"]
    assert [run["set"]["vc.traffic.profile"] for run in (old, linux)] == ["1996", "linux"]
    assert linux["totals"]["goodput_mbps"] > 10 * old["totals"]["goodput_mbps"]
    figure = ("--x", "profile", "--y", "goodput_mbps", "--out", "profiles.svg", "--format", "csv")
    drawn = cli("plot", "runs.sqlite", *figure)
    assert [line.split(",")[0] for line in drawn.stdout.splitlines()[1:]] == ["1996", "linux"], drawn.stderr


@pytest.mark.parametrize("base", ['file = "four.toml"', 'study = "ubr-plus"\ntable = "2-3"\nrow = {ROW}'])
def test_a_profile_is_an_axis_of_an_experiment_over_any_base(tmp_path: Path, cli: Cli, base: str) -> None:
    row = '{ configuration = "lan", sources = 5, buffer_cells = 1000, drop_policy = "epd" }'
    (tmp_path / "four.toml").write_text(NETWORK)
    (tmp_path / "profiles.toml").write_text(
        f'name = "profiles"\nquestion = {{ kind = "table" }}\nmetrics = ["efficiency"]\nreplications = 2\n'
        f'axis = [{{ path = "vc.traffic.profile", values = ["1996", "linux"] }}]\n[base]\n{base.replace("{ROW}", row)}\n'
    )
    checked = cli("experiment", "check", "profiles.toml")
    assert "axis profile: 1996 and linux" in checked.stdout, checked.stderr
    more = 3 if "file" in base else 4
    assert f"note: profile `linux` sets for vc1 and {more} more: " in checked.stdout
    assert "(at profile = linux)" in checked.stdout
    # The study states some of the fields.
    assert ("stated, with other values: recovery, rwnd, granularity" in checked.stdout) == ("study" in base)
    ran = cli("experiment", "run", "profiles.toml")
    assert ran.returncode == 0, ran.stderr
    assert "note: profile `linux` sets for" in ran.stdout + ran.stderr
