"""Command line: what is printed where, and the exit status."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cellyard.scenario import Scenario
from cellyard.system.progress import Progress
from command_line import COMMANDS, GROUPS
from conftest import EXAMPLES, ROOT, Cli, stored


@pytest.mark.parametrize("words", [(), *GROUPS, *COMMANDS], ids=" ".join)
def test_help_of_every_command_ends_with_an_example(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: cellyard {' '.join(words)}".strip())
    *_, last = done.stdout.splitlines()
    assert last.startswith("Example: cellyard")


def test_help_costs_little_more_than_the_interpreter() -> None:
    """Compares CPU seconds, the least of eight starts; the bound leaves a wide margin for slow machines."""
    command = [sys.executable, "-m", "cellyard", "--help"]

    def cpu_seconds() -> float:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return used.ru_utime + used.ru_stime

    assert min(cpu_seconds() for _ in range(8)) < 0.3


@pytest.mark.parametrize("words", [("--help",), ("check", "--set", "duration=1 ms"), ("run", "--set", "duration=1 ms")])
def test_help_and_small_runs_import_nothing_heavy(words: tuple[str, ...]) -> None:
    heavy = [
        "click",
        "pydantic",
        "rich",
        "numpy",
        "jinja2",
        "matplotlib",
        "html",
        "hashlib",
        "shtab",
        "cellyard.results.types",
    ]
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
    done = cli("run", lan, "--format", "json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
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
    median = sorted(float(line["efficiency"]) for line in lines[:3])[1]
    assert float(epd["efficiency"]) == median >= float(epd["efficiency_low"])


def test_without_max_goodput_a_note_names_the_field(cli: Cli, lan: Path, tmp_path: Path) -> None:
    field = "measure.max_goodput"
    reason = 'the scenario sets no measure.max_goodput (a rate, or "fair shares" of the links)'
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


def test_a_range_of_few_runs_goes_from_the_smallest_to_the_largest(cli: Cli, lan: Path) -> None:
    few = cli("run", lan, "--replications", 4, "--out", "few").stdout
    assert "goodput_mbps  min-max" in " ".join(few.split()).replace(" ", "  ") and "5-95 %" not in few
    document = json.loads(cli("run", lan, "--replications", 4, "--out", "few", "--format", "json").stdout)
    goodputs = [run["totals"]["goodput_mbps"] for run in document["runs"]]
    assert document["summary"][0]["range"]["goodput_mbps"] == [min(goodputs), max(goodputs)]
    assert "\nmedians of the runs, min-max:\nruns  goodput_mbps" in few
    assert "\nmedians of the runs, 5-95 %:\nruns  goodput_mbps" in cli("run", lan, "--replications", 11).stdout
    assert (
        "of the runs" not in cli("run", lan, "--grid", "switch.west.ubr.drop=epd,fba").stdout.partition("data cells")[0]
    )


def test_plot_draws_the_series_of_a_single_run(cli: Cli, lan: Path, tmp_path: Path) -> None:
    probe = 'probe=[{ what = "sequence", of = "vc" }, { what = "queue", of = "west->east", interval = "1 ms" }]'
    done = cli("run", lan, "--set", probe, "--plot", "series.png")
    assert done.stdout.endswith("\nwritten to series.png\n")
    assert (tmp_path / "series.png").read_bytes().startswith(b"\x89PNG")


def test_figures_do_not_need_a_writable_home_folder(
    cli: Cli, lan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(lan / "home"))  # below a file
    done = cli("run", lan, "--set", 'probe=[{ what = "cwnd", of = "vc1" }]', "--plot", "series.png")
    assert (done.returncode, done.stderr) == (0, "")


def test_reads_standard_input(lan: Path) -> None:
    command = [sys.executable, "-m", "cellyard", "run", "-", "--format", "json"]
    done = subprocess.run(command, input=lan.read_text(), capture_output=True, text=True)
    assert json.loads(done.stdout)["scenario"] == "two TCPs"


def test_a_forced_kernel_runs_and_leaves_the_folder_alone(cli: Cli, lan: Path, tmp_path: Path) -> None:
    probe = 'probe=[{ what = "cwnd", of = "vc1" }]'
    cli("run", lan, "--set", probe, "--kernel", "twin", "--out", "out")
    cli("run", lan, "--set", probe, "--out", "out")
    assert (tmp_path / "out/series.csv").exists()


def test_table_shows_vcs_and_ports(cli: Cli, lan: Path) -> None:
    done = cli("run", lan)
    assert "vc2" in done.stdout and "west->east" in done.stdout and "efficiency" in done.stdout


def test_set_changes_the_outcome(cli: Cli, lan: Path) -> None:
    plain = json.loads(cli("run", lan, "--format", "json").stdout)
    more = json.loads(cli("run", lan, "--set", "switch.west.ubr.buffer=5000 cells", "--format", "json").stdout)
    assert more["runs"][0]["totals"]["cell_loss_ratio"] == 0 < plain["runs"][0]["totals"]["cell_loss_ratio"]


def test_one_member_of_a_group_is_set_alone(cli: Cli, lan: Path) -> None:
    def runs(*options: str) -> list[dict[str, dict[str, object]]]:
        document = json.loads(cli("run", lan, *options, "--format", "json").stdout)
        return [{vc["name"]: vc for vc in run["vcs"]} for run in document["runs"]]

    plain, *_ = runs()
    unchanged, late = runs("--grid", "vc.vc2.start=0 s,500 ms")
    (fixed,) = runs("--set", "vc.vc2.start=500 ms")
    assert unchanged == plain and late == fixed
    assert [vc["began_s"] for vc in late.values()] == [0.0, 0.5]
    resolved = cli("check", lan, "--set", "vc.vc2.start=500 ms").stdout
    command = [sys.executable, "-m", "cellyard", "run", "-", "--format", "json"]
    again = json.loads(subprocess.run(command, input=resolved, capture_output=True, text=True, check=True).stdout)
    assert {vc["name"]: vc for vc in again["runs"][0]["vcs"]} == fixed
    assert Scenario.read(lan, overrides={"vc.vc2.start": "500 ms"}).to_toml() == resolved
    assert Scenario.read(lan).with_values({"vc.vc2.start": "0 s"}) == Scenario.read(lan)


def test_grid_runs_every_combination(cli: Cli, lan: Path) -> None:
    grid = ["--grid", "switch.west.ubr.drop=tail-drop,epd", "--grid", "vc.traffic.rwnd=8192 bytes, 65535 bytes"]
    document = json.loads(cli("run", lan, *grid, "--format", "json").stdout)
    assert [list(run["set"].values()) for run in document["runs"]] == [
        ["tail-drop", "8192 bytes"],
        ["tail-drop", "65535 bytes"],
        ["epd", "8192 bytes"],
        ["epd", "65535 bytes"],
    ]
    assert len({run["totals"]["goodput_mbps"] for run in document["runs"]}) > 1


def test_seed_and_replication_change_an_ensemble_and_jobs_do_not(cli: Cli, lan: Path) -> None:
    def runs(*options: object) -> list[dict[str, object]]:
        document = json.loads(cli("run", lan, "--replications", 4, "--format", "json", *options).stdout)
        found: list[dict[str, object]] = document["runs"]
        return found

    one_job = runs("--jobs", 1)
    assert one_job == runs("--jobs", 2) == runs("--jobs", 4)
    assert len({json.dumps(run["vcs"]) for run in one_job}) > 1
    assert one_job != runs("--seed", 2)


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


def test_out_holds_no_file_of_an_earlier_command(cli: Cli, lan: Path, tmp_path: Path) -> None:
    cli("run", lan, "--out", "out", "--set", 'probe=[{ what = "cwnd", of = "vc1" }]')
    assert (tmp_path / "out/series.csv").exists()
    cli("run", lan, "--out", "out", "--set", "probe=[]")
    assert not (tmp_path / "out/series.csv").exists()


def test_a_value_set_twice_is_refused(cli: Cli, lan: Path) -> None:
    for options in (
        ["--seed", 3, "--grid", "seed=1,2"],
        ["--seed", 3, "--set", "seed=1"],
        ["--set", "duration=1 s", "--grid", "duration=1 s,2 s"],
        ["--set", "switch.0.ubr.drop=epd", "--grid", "switch.west.ubr.drop=epd,ppd"],
        ["--grid", "switch[0].ubr.drop=epd,ppd", "--grid", "switch.west.ubr.drop=epd,ppd"],
    ):
        done = cli("run", lan, *options)
        assert done.returncode == 2
        assert "set it once" in done.stderr or "set each path once" in done.stderr


def test_rerun_takes_finished_runs_from_the_folder(cli: Cli, lan: Path, tmp_path: Path) -> None:
    first = json.loads(cli("run", lan, "--replications", 2, "--out", "out", "--format", "json").stdout)
    store = tmp_path / "out/runs.sqlite"
    assert stored(store) == 2
    again = json.loads(cli("run", lan, "--replications", 3, "--out", "out", "--format", "json").stdout)
    assert again["runs"][:2] == first["runs"]
    assert stored(store) == 3
    found = json.loads(cli("run", lan, "--replications", 3, "--out", "out", "--format", "json").stdout)
    assert found["runs"] == again["runs"] and found["timing"]["cpu_seconds"] == 0
    assert cli("run", lan, "--replications", 3, "--out", "out", "--seed", 5).returncode == 0
    assert stored(store) == 6


def test_progress_goes_to_standard_error_as_plain_lines(lan: Path) -> None:
    code = (
        "import cellyard.system.progress as p; p.LINE_SECONDS = 0.0\n"
        f"from cellyard.cli.main import main; main(['run', {str(lan)!r}, '--replications', '2'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "two TCPs: 2 of 2 runs" in done.stderr
    assert "of 2 runs" not in done.stdout and "\x1b" not in done.stderr


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


def test_bar_on_a_terminal(lan: Path) -> None:
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "cellyard", "run", str(lan), "--replications", "8"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, text=True)
    os.close(follower)
    out, _ = process.communicate(timeout=60)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert b"runs" in shown and b"\x1b" in shown
    assert "\x1b" not in out


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
    refused = cli("check", lan, "--grid", "duration=1 s,2 m")
    assert refused.returncode == 2 and refused.stdout == "" and "2 m" in refused.stderr


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


def test_trace_has_the_threshold(cli: Cli, lan: Path, tmp_path: Path) -> None:
    cli("run", lan, "--out", "out", "--set", 'probe=[{ what = "trace", of = "vc" }]', "--set", "vc.traffic.rwnd=100 kB")
    lines = list(csv.DictReader((tmp_path / "out/trace.csv").open()))
    first_cells = [line for line in lines if line["cell"] == "0"]
    assert first_cells
    for line in first_cells:
        assert line["reason"] == "policy"
        assert float(line["threshold_cells"]) == 300 < int(line["waiting_cells"])


def test_components_show_parameters_formula_and_source(cli: Cli) -> None:
    shown = cli("components", "fba").stdout
    assert "Z (K_f - R) / (X - R)" in shown and "default: 0.9" in shown and "source" in shown
    overview = cli("components").stdout
    assert all(name in overview for name in ("selective-drop", "guaranteed-rate", "poisson", "link-share"))


def test_closed_pipe_ends_quietly(lan: Path) -> None:
    command = f"{sys.executable} -m cellyard components tcp | head -1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True)
    assert done.stdout == "tcp (traffic)\n" and "Traceback" not in done.stderr


def test_help_has_a_short_name(cli: Cli) -> None:
    for command in ([], ["run"], ["study", "run"]):
        assert cli(*command, "-h").stdout == cli(*command, "--help").stdout != ""


def test_without_a_command_help_goes_to_standard_error(cli: Cli) -> None:
    for words in ((), ("study",)):
        done = cli(*words)
        assert (done.returncode, done.stdout) == (2, "") and done.stderr == cli(*words, "--help").stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lost", "cellyard: argument COMMAND: invalid choice: 'lost'"),
        ("run", "cellyard run: the following arguments are required: SCENARIO.toml"),
        ("store show", "cellyard store show: argument FILE: no store is named; name a store file"),
        ("run x --sed 3", "cellyard run: unknown option --sed; did you mean --seed?"),
        ("run x y", "cellyard run: unexpected argument 'y'"),
        ("run x --out", "cellyard run: argument --out: expected one argument"),
        ("run x --overwrite=1", "cellyard run: argument --overwrite: ignored explicit argument '1'"),
        (
            "study run x --jobs many",
            "cellyard study run: argument --jobs: 'many' must be a whole number from 1 to 1024",
        ),
        ("run x --set \x1b[31m", "cellyard run: argument --set: '\\u001b[31m' must be PATH=VALUE"),
    ],
)
def test_a_wrong_command_line_gets_one_message(cli: Cli, line: str, message: str) -> None:
    done = cli(*line.split())
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith(message), done.stderr


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
