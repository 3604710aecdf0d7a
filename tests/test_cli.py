"""Command line: what is printed where, and the exit status."""

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import fmean, stdev

import pytest
from cellyard.system.progress import Progress
from conftest import COMMANDS, EXAMPLES, GROUPS, ROOT, Cli, stored


@pytest.mark.parametrize("words", [(), *GROUPS, *COMMANDS], ids=" ".join)
def test_help_of_every_command_ends_with_an_example(cli: Cli, words: tuple[str, ...]) -> None:
    shown = cli.ok(*words, "--help")
    assert "%%" not in shown
    assert shown.startswith(f"usage: cellyard {' '.join(words)}".strip())
    *_, last = shown.splitlines()
    assert last.startswith("Example: cellyard")


@pytest.mark.parametrize("words", [("--help",), ("check", "--set", "duration=1 ms"), ("run", "--set", "duration=1 ms")])
def test_help_and_small_runs_import_nothing_heavy(words: tuple[str, ...]) -> None:
    heavy = shlex.split("click pydantic rich numpy jinja2 matplotlib html hashlib shtab cellyard.results.types")
    heavy += ["cellyard._engine", "cellyard.system.errors", "dataclasses"] if "--help" in words else []
    line = [*words] if "--help" in words else [*words, str(ROOT / "examples/lan-5.toml")]
    code = (
        "import sys, cellyard.cli.main as c\n"
        f"try: c.main({line!r})\n"
        "except SystemExit as ended: assert not ended.code\n"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_json_document_stands_alone_on_standard_output(cli: Cli, lan: Path) -> None:
    shown = cli.ok("run", lan, "--format", "json")
    document = json.loads(shown)
    (run,) = document["runs"]
    assert [vc["name"] for vc in run["vcs"]] == ["vc1", "vc2"]
    assert {port["name"] for port in run["ports"]} >= {"west->east"}
    assert [c["class"] for c in run["classes"]] == ["ubr"]
    assert run["totals"]["efficiency"] == pytest.approx(run["totals"]["goodput_mbps"] / 125.198491)
    assert set(document["timing"]) == {"cpu_seconds", "wall_seconds"}


def test_csv_has_a_line_per_run_and_files_have_the_rest(cli: Cli, lan: Path, tmp_path: Path) -> None:
    options = ["--grid", "switch.west.ubr.drop=epd,fba", "--replications", 3, "--out", "out"]
    done = cli("run", lan, *options, "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    expected = [(drop, str(n)) for drop in ("epd", "fba") for n in range(3)]
    assert [(line["switch.west.ubr.drop"], line["replication"]) for line in lines] == expected
    assert (tmp_path / "out/runs.csv").read_text() == done.stdout
    vcs = list(csv.DictReader((tmp_path / "out/vcs.csv").open()))
    assert [line["name"] for line in vcs] == 6 * ["vc1", "vc2"]
    lost = list(csv.DictReader((tmp_path / "out/vc_ports.csv").open()))
    assert {line["port"] for line in lost} == {"west->east"} and [line["vc"] for line in lost] == 6 * ["vc1", "vc2"]
    assert [int(line["dropped_cells_full"]) + int(line["dropped_cells_policy"]) for line in lost] == [
        int(line["cells_dropped"]) for line in vcs
    ]
    epd, fba = csv.DictReader((tmp_path / "out/summary.csv").open())
    assert (epd["switch.west.ubr.drop"], fba["switch.west.ubr.drop"], epd["runs"]) == ("epd", "fba", "3")
    mean = fmean(float(line["efficiency"]) for line in lines[:3])
    assert float(epd["efficiency_low"]) < float(epd["efficiency"]) == pytest.approx(mean)


def test_without_max_goodput_a_note_names_the_field(cli: Cli, lan: Path, tmp_path: Path) -> None:
    field = "measure.max_goodput"
    reason = 'the scenario sets no measure.max_goodput (a rate, or "fair shares" of links that keep their rates)'
    assert cli("run", lan).stderr == ""
    assert cli("run", lan, "--set", f"{field}=default").stderr == f"note: no efficiency: {reason}\n"
    grid_notes = cli("run", lan, "--grid", f"{field}=default,100 Mbps", "--replications", 2).stderr
    assert grid_notes == f"note: no efficiency in 2 of 4 runs: {reason}\n"
    for question in (
        'kind = "table"',
        'kind = "precision", within = { efficiency = 0.1 }, most = 6',
        'kind = "compare", axis = "drop"',
        'kind = "find", axis = "drop", require = ["efficiency > 0.1"], checks = 0',
        'kind = "sensitivity", samples = 2',
    ):
        (tmp_path / "e.toml").write_text(
            f'name = "e"\nbase = {{ file = "{lan}" }}\nset = {{ "{field}" = "default", duration = "10 ms" }}\nreplications = 5\n'
            'metrics = ["efficiency"]\naxis = [{ path = "switch.west.ubr.drop", values = ["epd", "fba"] }]\n'
            f"question = {{ {question} }}\n"
        )
        assert f"note: efficiency is undefined: {reason}\n" in cli("experiment", "check", "e.toml").stdout
        ran = cli("experiment", "run", "e.toml", "--format", "json")
        if "sensitivity" in question:
            assert ran.returncode == 2 and f"needs it at every point: {reason}\n" in ran.stderr
        else:
            assert f"efficiency is undefined: {reason}" in json.loads(ran.stdout)["notes"], ran.stderr


def test_csv_has_the_values_of_a_grid_as_numbers(cli: Cli, lan: Path, tmp_path: Path) -> None:
    grid = ["--grid", "switch.west.ubr.buffer=500 cells,unlimited", "--grid", "vc.traffic.granularity=500 ms,1 s"]
    done = cli("run", lan, *grid, "--grid", "switch.west.ubr.drop=epd", "--format", "csv", "--out", "out")
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    names = ("switch.west.ubr.buffer_cells", "vc.traffic.granularity_s", "switch.west.ubr.drop")
    assert tuple(lines[0])[:3] == names
    expected = [("500", "0.5"), ("500", "1"), ("inf", "0.5"), ("inf", "1")]
    assert [tuple(line[name] for name in names) for line in lines] == [(*point, "epd") for point in expected]
    for file in ("summary", "vcs", "vc_ports", "ports", "port_classes", "port_inputs", "classes"):
        assert set(names) <= set(next(csv.DictReader((tmp_path / f"out/{file}.csv").open())))


def test_runs_of_a_point_are_shown_as_means_with_intervals(cli: Cli, lan: Path) -> None:
    few = cli("run", lan, "--replications", 4, "--out", "few").stdout
    document = cli.json("run", lan, "--replications", 4, "--out", "few")
    goodputs = [run["totals"]["goodput_mbps"] for run in document["runs"]]
    half = 3.1824 * stdev(goodputs) / 2  # Student's quantile of three degrees of freedom
    summary = document["summary"][0]
    assert summary["mean"]["goodput_mbps"] == pytest.approx(fmean(goodputs))
    assert summary["interval"]["goodput_mbps"] == pytest.approx(
        [max(fmean(goodputs) - half, 0), fmean(goodputs) + half], rel=1e-4
    )
    low, high = summary["interval"]["fairness"]
    assert 0 <= low <= summary["mean"]["fairness"] <= high <= 1
    assert re.search(r"\nmeans of the runs, 95 % intervals:\nruns  goodput_mbps +95 % interval", few)
    assert (
        "of the runs" not in cli("run", lan, "--grid", "switch.west.ubr.drop=epd,fba").stdout.partition("data cells")[0]
    )


def test_figures_do_not_need_a_writable_home_folder(lan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(lan / "home"))  # below a file
    command = [sys.executable, "-m", "cellyard", "run", str(lan), "--plot", "series.png"]
    command += ["--set", 'probe=[{ what = "cwnd", of = "vc1" }]']
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith("\nwritten to series.png\n")


def test_out_holds_results_and_series(cli: Cli, lan: Path, tmp_path: Path) -> None:
    lan.write_text(lan.read_text() + 'probe = [{ what = "cwnd", of = "vc1" }]\n')
    assert cli("run", lan, "--out", "deep/results").returncode == 0
    folder = tmp_path / "deep/results"
    assert {p.name for p in folder.iterdir()} == {
        "provenance.json", "scenario.toml", "runs.sqlite", "results.json", "SHA256SUMS",
        "runs.csv", "summary.csv", "vcs.csv", "vc_ports.csv", "ports.csv", "port_classes.csv", "port_inputs.csv",
        "classes.csv", "series.csv",
    }  # fmt: skip
    series = list(csv.DictReader((folder / "series.csv").open()))
    assert {line["what"] for line in series} == {"cwnd"}
    assert max(float(line["value"]) for line in series) > 512


def test_a_value_set_twice_is_refused(cli: Cli, lan: Path) -> None:
    for options in (
        ["--seed", 3, "--grid", "seed=1,2"],
        ["--seed", 3, "--set", "seed=1"],
        ["--set", "duration=1 s", "--grid", "duration=1 s,2 s"],
        ["--set", "switch.0.ubr.drop=epd", "--grid", "switch.west.ubr.drop=epd,ppd"],
        ["--grid", "switch[0].ubr.drop=epd,ppd", "--grid", "switch.west.ubr.drop=epd,ppd"],
    ):
        told = cli.refused("run", lan, *options)
        assert "set it once" in told or "set each path once" in told


def test_plain_lines_of_progress_estimate_the_remaining_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cellyard.system.progress.LINE_SECONDS", 0.0)
    monkeypatch.setattr(Progress, "seconds", 10.0)
    with Progress("sweep", 10) as progress:
        for done in (4.0, 6.0, 10.0):  # four were found
            progress.update(done)
    assert capsys.readouterr().err.splitlines() == [
        "sweep: 4 of 10 runs, 10 s",
        "sweep: 6 of 10 runs, 10 s, 0.2 runs/s, about 20 s left",
        "sweep: 10 of 10 runs, 10 s, 0.6 runs/s, about 0 s left",
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_shown_and_checks(cli: Cli, path: Path) -> None:
    shown = cli("example", path.stem)
    assert shown.stdout.partition("\n")[2] == path.read_text()
    checked = cli("check", path)
    assert checked.returncode == 0, checked.stderr
    noun = "packets" if 'format = "ethernet"' in path.read_text() else "cells"
    assert f"bottleneck {noun}" in checked.stderr


def test_example_lists_all_examples_with_descriptions(cli: Cli) -> None:
    listed = cli("example").stdout
    assert EXAMPLES and all(path.stem in listed for path in EXAMPLES)


def test_check_prints_a_scenario_that_reads_back(cli: Cli, lan: Path, tmp_path: Path) -> None:
    shown = cli("check", lan)
    (tmp_path / "resolved.toml").write_text(shown.stdout)
    again = cli("check", "resolved.toml")
    assert (again.stdout, again.stderr) == (shown.stdout, shown.stderr)
    assert "#  155.52 Mb/s, 5 us   ubr queue: 500 cells, epd; strict-priority" in shown.stderr
    brief = cli("check", "--brief", lan)
    assert (brief.stdout, brief.stderr) == (shown.stderr, "")


def test_check_feeds_run(lan: Path) -> None:
    command = f"{sys.executable} -m cellyard check {lan} | {sys.executable} -m cellyard run - --format json"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True)
    assert json.loads(done.stdout)["complete"], done.stderr


def test_check_prints_the_goodput_of_fair_shares(cli: Cli, lan: Path) -> None:
    fair = "fair shares of the links add up to 125.198491 Mbps of goodput"
    assert cli("check", "--brief", lan).stdout.endswith(f"{fair}\n")
    without = cli("check", "--brief", lan, "--set", "measure.max_goodput=default").stdout
    assert without.endswith(f"{fair}; without measure.max_goodput, efficiency is undefined\n")
    other = cli("check", "--brief", lan, "--set", "vc.traffic.mss=1460 bytes").stdout
    assert other.endswith(
        "fair shares of the links add up to 133.879245 Mbps of goodput; efficiency is relative to 125.198491 Mbps\n"
    )
    assert "fair shares" not in cli("check", "--brief", ROOT / "examples/cbr.toml").stdout


def test_check_tells_the_cost_of_all_runs(cli: Cli, lan: Path) -> None:
    one = cli("check", "--brief", lan).stdout
    assert "at most 0.4 million bottleneck cells: about" in one and "replication" not in one
    grid = cli("check", "--brief", lan, "--grid", "duration=1 s,2 s,3 s", "--replications", 10).stdout
    assert grid.startswith("The first of 3 points of the grid:\n")
    # Durations of 1, 2 and 3 s have six times the cells of 1 s, and each runs ten times.
    assert "3 points x 10 replications: 30 runs, at most 22.0 million bottleneck cells: about " in grid
    told = cli.refused("check", lan, "--grid", "duration=1 s,2 m")
    assert "2 m" in told


def test_check_shows_the_effect_of_overrides(cli: Cli, lan: Path) -> None:
    shown = cli("check", lan, "--set", "switch.west.ubr.drop=default", "--set", "vc.weight=2").stderr
    assert "ubr queue: 500 cells, tail-drop" in shown
    assert shown.endswith(
        "note: the weight of vc1 and 1 more has no effect: no port on the route has a per-vc scheduler for the class ubr; "
        "add one or leave out `weight`\n"
    )


def test_run_notes_settings_without_effect_once(cli: Cli, lan: Path) -> None:
    done = cli("run", lan, "--grid", "vc.weight=1,2", "--format", "json")
    assert json.loads(done.stdout)["complete"]
    assert done.stderr.count("note: the weight of vc1") == 1


def test_components_show_parameters_formula_and_source(cli: Cli) -> None:
    shown = cli("components", "fba").stdout
    assert "Z (K_f - R) / (X - R)" in shown and "default: 0.9" in shown and "source" in shown
    overview = cli("components").stdout
    assert all(name in overview for name in ("selective-drop", "guaranteed-rate", "poisson", "link-share"))


def test_the_name_of_a_field_or_of_its_value_leads_to_its_component(cli: Cli) -> None:
    assert "`linux` is a value of `profile` of tcp: see `cellyard components tcp`" in cli.refused("components", "linux")
    assert "`mss` is a field of tcp: see `cellyard components tcp`" in cli.refused("components", "mss")


def test_help_has_a_short_name(cli: Cli) -> None:
    for command in ([], ["run"], ["study", "run"]):
        assert cli(*command, "-h").stdout == cli(*command, "--help").stdout != ""


def test_without_a_command_help_goes_to_standard_error(cli: Cli) -> None:
    for words in ((), ("study",)):
        told = cli.refused(*words)
        assert told == cli(*words, "--help").stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lost", "cellyard: argument COMMAND: command `lost` does not exist (allowed: "),
        ("run", "cellyard run: the following arguments are required: SCENARIO.toml"),
        ("store show", "cellyard store show: argument FILE: no store is named; name a store file"),
        ("run x --sed 3", "cellyard run: unknown option `--sed`; did you mean `--seed`?"),
        ("run x y", "cellyard run: unexpected argument `y`"),
        ("run x --out", "cellyard run: argument --out: expected one argument"),
        ("run x --overwrite=1", "cellyard run: argument --overwrite: ignored explicit argument '1'"),
        (
            "study run x --jobs many",
            "cellyard study run: argument --jobs: `many` must be a whole number from 1 to 1024",
        ),
        ("run x --set \x1b[31m", "cellyard run: argument --set: `\\u001b[31m` must be PATH=VALUE"),
    ],
)
def test_a_wrong_command_line_gets_one_message(cli: Cli, line: str, message: str) -> None:
    done = cli(*line.split())
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith(message), done.stderr


def test_a_repeated_command_takes_finished_runs_from_the_folder(cli: Cli, lan: Path, tmp_path: Path) -> None:
    first, again = (cli.json("run", lan, "--replications", 2, "--out", "out") for _ in range(2))
    assert again["runs"] == first["runs"] and again["timing"]["cpu_seconds"] == 0 < first["timing"]["cpu_seconds"]
    assert stored(tmp_path / "out/runs.sqlite") == 2


def test_a_command_in_a_process_of_its_own_says_and_returns_the_same(cli: Cli, lan: Path) -> None:
    for words in (("run", lan, "--replications", 2), ("check", lan), ("run", lan, "--set", "duration=1 m"), ("study",)):
        command = [sys.executable, "-m", "cellyard", *map(str, words)]
        apart, here = subprocess.run(command, capture_output=True, text=True), cli(*words)
        told = [re.sub(r"\d+\.\d+ s of CPU time|\d+ s on \d", "", text) for text in (apart.stdout, here.stdout)]
        assert told[0] == told[1] and (apart.returncode, apart.stderr) == (here.returncode, here.stderr), words


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("cellyard ru", "run"),
        ("cellyard run --gr", "--grid"),
        ("cellyard example lan-5", "lan-5"),
        ("cellyard components drop-from-", "drop-from-front"),
        ("cellyard study run guar", "guaranteed-rate"),
        ("cellyard store exp", "export"),
    ],
)
def test_the_shell_completes(completion: Path, words: str, completed: str) -> None:
    line = f"source {completion}; COMP_WORDS=({words}); COMP_CWORD={words.count(' ')}; _shtab_cellyard; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [completed], done.stderr


@pytest.fixture(scope="module")
def completion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the completion script of bash."""
    path = tmp_path_factory.mktemp("completion") / "cellyard.bash"
    command = [sys.executable, "-m", "cellyard", "--print-completion", "bash"]
    path.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return path


def test_the_first_plot_needs_no_probe_and_draws_the_queue_of_the_bottleneck(cli: Cli, lan: Path) -> None:
    done = cli("run", lan, "--grid", "switch.west.ubr.drop=tail-drop,epd", "--plot", "queue.svg")
    assert done.stderr.startswith("note: no probe records a series, so --plot draws the queue of west->east, which ")
    drawn = (cli.folder / "queue.svg").read_text()
    shown = re.findall(r"<!-- (.*?) -->", drawn)
    assert shown.index("tail-drop") < shown.index("epd") and "two TCPs: queue of west-&gt;east" in shown
    assert any(text.startswith("2 runs, one per panel; TCP: ") for text in shown)
    totals = [run["totals"] for run in cli.json("run", lan, "--plot", "queue.svg")["runs"]]
    assert totals == [run["totals"] for run in cli.json("run", lan)["runs"]]
    # A rate that falls early to 1 Mb/s makes another port the bottleneck.
    slow = ("--set", 'link.east->sink1.changes=[{at="1 ms",rate="1 Mbps"}]')
    assert "draws the queue of east->sink1, which" in cli("run", lan, *slow, "--plot", "queue.svg").stderr
    single = (
        'host=[{name="a"},{name="b"}]',
        'link=[{from="a",to="b",rate="10 Mbps"}]',
        'vc=[{from="a",to="b",traffic="tcp"}]',
    )
    told = cli.refused(
        "run", lan, *(part for one in ("switch=[]", *single) for part in ("--set", one)), "--plot", "a.svg"
    )
    assert "cells can queue at no port" in told
