"""Notes on changes along an axis of a grid or experiment: capacity of links, buffers, numbers of VCs."""

import re
from pathlib import Path

import cellyard as cy
from conftest import Cli


def test_a_grid_of_classes_with_different_buffers_is_noted(cli: Cli, lan: Path) -> None:
    note = (
        "note: --grid vc.*.class compares queues of different size, since each class has its own buffer: "
        "at west->east ubr has 500 cells and gfr has no limit\n"
    )
    grid = ["--grid", "duration=100 ms,200 ms", "--grid", 'vc.*.class=ubr,"gfr"']
    for command in ("check", "run"):
        assert cli(command, lan, *grid).stderr.count(note) == 1
        alike = cli(command, lan, *grid, "--set", "switch.west.gfr.buffer=500 cells")
        assert alike.returncode == 0 and "different size" not in alike.stderr


def test_a_constant_max_goodput_is_noted_if_fair_shares_change(cli: Cli, lan: Path) -> None:
    short, mss = ("run", lan, "--set", "duration=1 ms"), ("--grid", "vc.*.traffic.mss=512 bytes,9140 bytes")
    cure = 'set measure.max_goodput = "fair shares", so that efficiency is relative to the sum at each point'
    note = (
        "note: --grid {} changes what the links can deliver: fair shares add up to 125.198491 Mbps with {} and to {} with {}, "
        f"but efficiency is relative to 125.198491 Mbps in both; {cure}\n"
    )
    rate = ("--grid", "link.west->east.rate=155.52 Mbps,77.76 Mbps")
    for grid, values in {
        mss: ("vc.*.traffic.mss", "512 bytes", "139.686792 Mbps", "9140 bytes"),
        rate: ("link.west->east.rate", "155.52 Mbps", "62.599245 Mbps", "77.76 Mbps"),
    }.items():
        for command in (short, ("check", lan)):
            assert cli(*command, *grid).stderr.count(note.format(*values)) == 1
        fair = cli(*short, *grid, "--set", "measure.max_goodput=fair shares").stderr
        without = cli(*short, *grid, "--set", "measure.max_goodput=default").stderr
        assert "fair shares add up" not in fair and "fair shares add up" not in without
        assert without.count("note: no efficiency: the scenario sets no measure.max_goodput (a rate, or") == 1
    # Each of two axes gets a note, but an axis that leaves the sum unchanged gets none.
    both = cli(*short, *mss, "--grid", "link.*.delay=1 ms,2 ms", "--grid", "host.*.count=5,10").stderr
    assert both.count("changes what the links can deliver") == 1
    for fine in ("traffic.recovery=reno,tahoe", "traffic.mss=1460 bytes", "start=1 ms,2 ms"):
        assert "changes what the links" not in cli(*short, "--grid", f"vc.*.{fine}").stderr
    assert "changes what the links" not in cli(*short, "--grid", "measure.max_goodput=1 Mbps,2 Mbps").stderr
    # Fair shares are not computed for so many VCs.
    many = ("--set", "host.source.count=2001", "--set", "host.sink.count=2001", "--set", "duration=1 us")
    done = cli("run", lan, *many, *mss)
    assert done.returncode == 0 and "changes what the links" not in done.stderr


#: Experiment with an axis that changes how much the links can deliver.
FAIR = """
name = "m"
base = {{ file = "{}" }}
replications = 3
metrics = ["efficiency"]
set = {{ duration = "100 ms", "link.west->east.delay" = "1 ms", "switch.west.ubr" = {{}}, "vc.*.traffic.rwnd" = "10 kB"{} }}
[[axis]]
path = "link.west->east.rate"
values = ["155.52 Mbps", "15.552 Mbps"]
[question]
kind = "compare"
axis = "rate"
"""


def test_efficiency_relative_to_fair_shares_compares_links_of_different_rates(cli: Cli, lan: Path) -> None:
    path = lan.parent / "m.toml"

    def output(command: str, more: str = "") -> str:
        path.write_text(FAIR.format(lan.name, more))
        return " ".join(cli("experiment", command, path).stdout.split())

    note = (
        "note: rate changes what the links can deliver: fair shares add up to 125.198491 Mbps with 155.52 Mbps and to "
        "12.519849 Mbps with 15.552 Mbps, but efficiency is relative to 125.198491 Mbps in both"
    )
    fair = ', "measure.max_goodput" = "fair shares"'
    assert note in output("check") and note in output("run")
    assert "changes what the links" not in output("check", fair)
    # Small windows fill the slow link and not the fast one, unlike with a single largest goodput.
    assert "155.52 Mbps is better than 15.552 Mbps: efficiency is higher by" in output("run")
    assert "15.552 Mbps is better than 155.52 Mbps: efficiency is higher by" in output("run", fair)
    # There is no note, either, when the largest goodput varies with the axis.
    before, _, question = FAIR.format(lan.name, "").partition("[question]")
    most = 'path = "measure.max_goodput"\nvalues = ["125.198491 Mbps", "12.519849 Mbps"]\n'
    together = before.replace("[[axis]]", '[[axis]]\ntogether = "a"', 1)
    path.write_text(f'{together}[[axis]]\ntogether = "a"\n{most}[question]{question}')
    assert "changes what the links" not in cli.ok("experiment", "check", path)
    filled = before.replace("[[axis]]", '[design]\nkind = "latin-hypercube"\npoints = 3\n[[axis]]')
    path.write_text(f'{filled}[question]\nkind = "table"\n')
    assert "note: rate changes what the links can deliver" in cli.ok("experiment", "check", path)
    undefined = "efficiency is undefined: the scenario sets no measure.max_goodput (a rate, or"
    assert undefined in output("check", ', "measure.max_goodput" = "default"')


def test_runs_report_the_goodput_that_efficiency_is_relative_to(cli: Cli, lan: Path) -> None:
    fair = ("--set", "duration=100 ms", "--set", "measure.max_goodput=fair shares")
    grid = ("--grid", "link.west->east.rate=155.52 Mbps,77.76 Mbps")
    runs = cli.json("run", lan, *fair, *grid)["runs"]
    for run, most in zip(runs, (125.198491, 62.599245), strict=True):
        assert run["totals"]["max_goodput_mbps"] == most
        assert run["totals"]["efficiency"] == run["totals"]["goodput_mbps"] / most
    assert "max_goodput_mbps" in cli("run", lan, *fair, *grid).stdout
    assert "max_goodput_mbps 125.2" in cli("run", lan, *fair).stdout
    assert "max_goodput_mbps" not in cli("run", lan, *fair[:2]).stdout
    assert cli("check", lan, *fair).stdout.count('max_goodput = "fair shares"\n') == 1
    told = cli.refused("run", lan, *fair, "--set", "vc.start=100 ms")
    assert told == (
        '--set measure.max_goodput="fair shares": cannot be computed: no VC that carries frames starts before the end of the run '
        "(allowed: a rate, or a VC with traffic tcp or udp)\n"
    )


def test_vcs_whose_numbers_change_along_an_axis_of_counts_are_noted(cli: Cli, tmp_path: Path) -> None:
    text = (
        'duration = "10 ms"\nmeasure = { max_goodput = "1 Mbps" }\n'
        'host = [{ name = "near", count = 2 }, { name = "mid", count = 2 }, { name = "sink" }]\nswitch = [{ name = "s" }]\n'
        'link = [{ from = "near", to = "s", rate = "1 Mbps" }, { from = "mid", to = "s", rate = "1 Mbps" },\n'
        '  { from = "s", to = "sink", rate = "1 Mbps" }]\n'
        'vc = [{ from = "near", to = "sink", traffic = "tcp" }, { from = "mid", to = "sink", traffic = "tcp" }]\n'
    )
    (tmp_path / "n.toml").write_text(text)
    note = "changes which VC is called vc3: mid1 to sink with 2, near3 to sink with 4; give each entry of `vc` a `name`"
    assert f"note: --grid host.near.count {note}\n" in cli("run", "n.toml", "--grid", "host.near.count=2,4").stderr
    assert "changes which VC" not in cli("run", "n.toml", "--grid", "host.mid.count=1,2,4").stderr
    experiment = (
        'name = "e"\nbase = { file = "n.toml" }\nreplications = 2\nmetrics = ["vc.vc3.goodput_mbps"]\nquestion = "table"\n'
        '[[axis]]\npath = "host.near.count"\nvalues = [2, 4]\n'
    )
    (tmp_path / "e.toml").write_text(experiment)
    assert f"note: count {note}\n" in cli("experiment", "check", "e.toml").stdout
    # None of the measured VCs changes.
    (tmp_path / "e.toml").write_text(experiment.replace("vc3", "vc2"))
    assert "changes which VC" not in cli("experiment", "check", "e.toml").stdout
    (tmp_path / "n.toml").write_text(
        re.sub(r'\{ from = "(\w+)", to = "sink",', r'{ name = "\1", from = "\1", to = "sink",', text)
    )
    assert "changes which VC" not in cli("run", "n.toml", "--grid", "host.near.count=2,4").stderr


def test_fair_shares_are_read_back_and_found_in_a_store(cli: Cli, lan: Path) -> None:
    made = cy.Scenario.from_toml(lan.read_text(), overrides=[("measure.max_goodput", "fair shares")])
    assert 'max_goodput = "fair shares"' in made.to_toml() and cy.Scenario.from_toml(made.to_toml()) == made
    assert made.to_dict()["measure"]["max_goodput"] == "fair shares"
    assert cy.Measure(max_goodput="fair shares").max_goodput == "fair shares"
    field = "measure.max_goodput"
    cli("run", lan, "--set", "duration=10 ms", "--grid", f"{field}=fair shares,100 Mbps", "--store", "runs.sqlite")
    printed = cli.ok("plot", "runs.sqlite", "--x", field, "--y", "efficiency", "--out", "x.svg", "--format", "csv")
    assert "fair shares" in printed
