"""User errors: one clear message, status 2, no traceback, nothing printed or left behind."""

import os
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cellyard as cy
import pytest
from cellyard.errors import Problem, RunError, ScenarioError
from conftest import LAN, ROOT, Cli


def refused(done: subprocess.CompletedProcess[str], *expected: str) -> None:
    """Check that the command ended with status 2 and an error containing ``expected``, and printed nothing else."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert "Traceback" not in done.stderr and "panicked" not in done.stderr
    for part in expected:
        assert part in done.stderr, done.stderr


def test_the_error_about_a_file_of_another_kind_names_the_right_command(cli: Cli, lan: Path, tmp_path: Path) -> None:
    described = cli("example", "--experiments", "buffer").stdout
    assert "[question]" in described
    (tmp_path / "asked.toml").write_text(described)
    for command in ("run", "check"):
        done = cli(command, "asked.toml")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith("asked.toml: is an experiment, not a scenario; use `cellyard experiment check`")
    for command in ("run", "check", "report"):
        done = cli("experiment", command, lan)
        told = f"{lan}: is a scenario, not an experiment; use `cellyard run` or `cellyard check`\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


#: One mistake of each kind; the tests of the reader in the engine have all.
EDITS = {
    "unknown field": ("delay =", "delai =", ["delai", "delay"]),
    "unknown reference": ('to = "sink", traffic', 'to = "sinc", traffic', ["sinc", "sink"]),
    "not TOML": ("host = [", "host = ][", ["lan.toml:4:"]),
    "ten million sources": ("count = 2", "count = 10000000", ["count", "GB"]),
    "deep dotted key": ("name = ", "a" + ".a" * 20_000 + " = 1\nname = ", ["lan.toml"]),
    "deep nesting": ("name = ", "x = " + "[" * 20_000 + "]" * 20_000 + "\nname = ", ["lan.toml"]),
}


@pytest.mark.parametrize("case", EDITS)
def test_bad_scenario(cli: Cli, lan: Path, case: str) -> None:
    old, new, expected = EDITS[case]
    assert old in LAN
    lan.write_text(LAN.replace(old, new, 1))
    done = cli("run", lan)
    refused(done, *expected)
    assert f"{lan}:" in done.stderr
    assert max(map(len, done.stderr.splitlines())) < 600


def test_all_errors_of_a_file_at_once(cli: Cli, lan: Path) -> None:
    lan.write_text(
        LAN.replace('"500 cells"', '"0 cells"').replace('"1 s"', '"1 parsec"').replace('"vanilla"', '"vanila"')
    )
    done = cli("run", lan)
    refused(done, "buffer", "parsec", "vanila")
    assert len(done.stderr.splitlines()) == 3
    assert f"{lan}:2:" in done.stderr


@pytest.mark.parametrize(
    ("option", "values", "least", "most"),
    [
        ("--replications", ["0", "100001", "x", "1.5", ""], 1, 100_000),
        ("--seed", ["-1", str(2**63), "1e3"], 0, 2**63 - 1),
        ("--jobs", ["0", "1025"], 1, 1024),
    ],
)
def test_numbers_out_of_bounds_are_refused_with_both_bounds(
    cli: Cli, lan: Path, option: str, values: list[str], least: int, most: int
) -> None:
    for value in values:
        told = cli.refused("run", lan, f"{option}={value}")
        assert f"`{value}` must be a whole number from {least} to {most} (" in told


def test_a_folder_without_a_name(cli: Cli, lan: Path, tmp_path: Path) -> None:
    for command in (["run", lan], ["study", "run", "ubr-plus"], ["study", "report", "ubr-plus"]):
        told = cli.refused(*command, "--out", "")
        assert "an empty name" in told and "Traceback" not in told
    assert [path.name for path in tmp_path.iterdir()] == ["lan.toml"]


def test_a_folder_with_another_file_named_like_its_store(cli: Cli, lan: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for content in (b"garbage", b"SQLite format 3\0" + b"garbage" * 100, b"\0" * 5000):
        (tmp_path / "out/runs.sqlite").write_bytes(content)
        refused(cli("run", lan, "--out", "out", "--overwrite"), "out/runs.sqlite: is not a store of runs")
        assert (tmp_path / "out/runs.sqlite").read_bytes() == content
        assert not [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith("runs.sqlite-")]


def test_plot_without_series(cli: Cli, lan: Path) -> None:
    probe = ["--set", 'probe=[{ what = "cwnd", of = "vc1" }]']
    refused(cli("run", lan, *probe, "--plot", "a.txt"), "a.txt", ".png, .svg, .pdf")
    refused(cli("run", lan, *probe, "--plot", "none/a.png"), "no folder none")
    refused(
        cli("run", lan, *probe, "--plot", "a.png", "--replications", 10),
        "at most 9 panels, but the series of 10 runs have 10",
    )
    refused(cli("run", lan, "--plot-from", "0 s"), "--plot FILE")
    for text in ("3", "nan", "-1 s", "1 min", ""):
        refused(cli("run", lan, *probe, "--plot", "a.png", f"--plot-to={text}"), "--plot-to", "s, ms or us")
    refused(cli("run", lan, *probe, "--plot", "a.png", "--plot-to", "0 s"), "after 0 s")
    refused(
        cli("run", lan, *probe, "--plot", "a.png", "--plot-from", "5 ms", "--plot-to", "4 ms"), "after --plot-from 5 ms"
    )
    refused(cli("run", lan, *probe, "--plot", "a.png", "--plot-from", "1 s"), "--plot-from", "end of the run")


WINDOWS = """
duration = "1 us"
host = [{ name = "a" }, { name = "b" }]
link = [{ from = "a", to = "b", rate = "1 Tbps" }]
vc = [{ count = 400, from = "a", to = "b", traffic = { kind = "tcp", mss = "1 byte", rwnd = "1 GiB", initial_window = 1000000 } }]
"""


def test_runs_above_the_memory_limit_are_refused(cli: Cli, tmp_path: Path, lan: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_text(WINDOWS)
    refused(cli("run", path, "--memory", "4GB"), "51.", "limit of 4.0 GB", "initial_window", "memory")
    refused(cli("run", lan, "--memory", "4"), "argument --memory: `4` must be a size such as 4GB")
    refused(cli("run", lan, "--memory", "1 kB"), "above the limit of 1.0 kB per run")
    two = cli("run", lan, "--memory", "2 kB", "--replications", 2, "--jobs", 2)
    refused(two, "above the limit of 1.0 kB per run; ", "; 2 jobs share 2.0 kB, and fewer would leave more to each")
    assert "jobs share" not in cli("run", lan, "--memory", "2 kB", "--replications", 2, "--jobs", 1).stderr
    assert "MB of memory" in cli("check", "--brief", lan).stdout
    refused(cli("study", "run", "ubr-plus", "--table", "1", "--memory", "1 kB"), " kB per run; ", "memory")
    refused(
        cli("study", "report", "ubr-plus", "--table", "1", "--memory", "many"),
        "argument --memory: `many` must be a size",
    )


def test_a_check_refuses_what_a_run_refuses_in_the_same_words(cli: Cli, tmp_path: Path, lan: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_text(WINDOWS)
    for arguments in (
        (path, "--memory", "4GB"),
        (lan, "--memory", "1 kB"),
        (lan, "--memory", "4"),
        (lan, "--memory", "200MB", "--replications", "100000"),
        (path, "--memory", "4GB", "--grid", "vc.count=1,400"),
    ):
        check, run = cli("check", *arguments), cli("run", *arguments)
        refused(check, "memory")
        problems = "".join(line for line in run.stderr.splitlines(True) if not line.startswith("note: "))
        assert check.stderr == problems.replace("cellyard run", "cellyard check")
    described = tmp_path / "asked.toml"
    described.write_text(cli("example", "--experiments", "buffer").stdout)
    for command in ("check", "run"):
        refused(cli("experiment", command, described, "--memory", "1 kB"), ", replication 0: may need ", "limit of ")
    assert cli("experiment", "check", described, "--memory", "4GB").returncode == 0


def test_kept_results_count_towards_the_memory_limit(cli: Cli, lan: Path) -> None:
    refused(
        cli("run", lan, "--replications", "100000", "--memory", "200MB"),
        "results kept of other runs",
        "fewer replications",
    )
    assert cli("run", lan, "--replications", "3", "--memory", "200MB", "--set", "duration=1 ms").returncode == 0


def test_a_trace_that_exceeds_the_memory_limit_ends_the_run(cli: Cli, lan: Path) -> None:
    probe = 'probe=[{ what = "trace", of = "vc" }]'
    cells = 'vc.traffic={ kind = "cbr", rate = "155.52 Mbps" }'
    done = cli(
        "run", lan, "--set", probe, "--set", cells, "--set", "vc.class=ubr", "--set", "duration=1 s", "--memory", "50MB"
    )
    refused(done, "traced drops, most of them from the probe trace of vc", "higher memory limit")


def test_unreadable_and_missing_files(cli: Cli, tmp_path: Path) -> None:
    refused(cli("run", "missing.toml"), "missing.toml: cannot read: No such file")
    refused(cli("run", "lan-5"), "; `cellyard example lan-5 > lan-5.toml` writes this example")
    refused(cli("experiment", "check", "buffer.toml"), "; `cellyard example --experiments buffer > buffer.toml` writes")
    refused(cli("check", tmp_path), "cannot read: Is a directory")
    (tmp_path / "latin.toml").write_bytes(b'name = "a"\n# caf\xe9\n')
    refused(cli("run", "latin.toml"), "latin.toml:2: not a text in UTF-8")
    (tmp_path / "huge.toml").write_bytes(b"#" * (17 << 20))
    refused(cli("run", "huge.toml"), "larger than")


def test_files_without_permission(lan: Path, tmp_path: Path) -> None:
    # Root may read and write everything, but not without these capabilities.
    ordinary = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [*ordinary, sys.executable, "-m", "cellyard", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)

    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    refused(run("run", lan, "--out", locked / "out"), "cannot be written: Permission denied")
    lan.chmod(0)
    refused(run("run", lan), "cannot read: Permission denied")


@pytest.mark.parametrize("command", [["run", "lan.toml"], ["study", "run", "ubr-plus", "--table", "1"]], ids=" ".join)
def test_folder_that_cannot_be_written(cli: Cli, lan: Path, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "file").write_text("a file, not a folder")
    refused(cli(*command, "--out", "file/out"), "file/out: cannot be written")
    refused(cli(*command, "--out", "file"), "file: cannot be written: it is no folder; name a folder, or a new one")
    refused(cli("schema", "--out", "file"), "file: cannot be written: it is no folder; name a folder, or a new one")
    refused(cli(*command, "--out", "/proc/nothing/out"), "/proc/nothing/out: cannot be written")
    assert {p.name for p in tmp_path.iterdir()} == {"lan.toml", "file"}


def test_nothing_is_left_behind_by_a_bad_scenario(cli: Cli, lan: Path, tmp_path: Path) -> None:
    refused(cli("run", lan, "--set", "duration=-1 s", "--out", "out"), "duration")
    refused(cli("run", lan, "--grid", "duration=1 s,1 m", "--out", "out"), "duration")
    assert not (tmp_path / "out").exists()


def test_the_error_about_leftovers_of_another_class_has_a_solution(cli: Cli) -> None:
    """Turns an ABR network into UBR by one override after the other, each as the last message suggests."""
    overrides = ["vc.tcp.class=ubr", "probe=default"]
    for way_out in ("vc.0.abr=default", "switch.0.abr.feedback=default"):
        told = cli("run", ROOT / "examples/abr-erica.toml", *(word for one in overrides for word in ("--set", one)))
        refused(told, f"; {way_out} removes it\n")
        overrides.append(way_out)
    cli.ok("run", ROOT / "examples/abr-erica.toml", *(word for override in overrides for word in ("--set", override)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--format", "yaml"], "argument --format: choice `yaml` does not exist (allowed: csv, json, table)"),
        (["--set", "duration"], "--set: `duration` must be PATH=VALUE"),
        (["--set", "duration=10"], "--set duration=10: missing unit (allowed: "),
        (["--grid", "duration=1 s,10"], "--grid duration=10: missing unit (allowed: "),
        (["--set", "duration=10", "--grid", "seed=1,2"], "--set duration=10: missing unit (allowed: "),
        (["--set", "seed=1", "--grid", "duration=10"], "--grid duration=10: missing unit (allowed: "),
        (["--set", "=1 s"], "must be PATH=VALUE"),
        (["--set", "durations=1 s"], "duration"),
        (["--set", "duration=default"], ": duration: is missing (allowed: "),
        (["--set", "host.source.count=4"], "; with host.source.count=4\n"),
        (["--grid", "vc.traffic=tcp,cbr"], "; with vc.traffic=cbr\n"),
        (["--grid", "duration="], "--grid: `duration=` must be PATH=a,b,c"),
        (["--grid", "duration=1 s,,2 s"], "--grid `duration=1 s,,2 s`: empty value between commas"),
        (["--grid", "duration=[1 s,2 s]"], "give the values without brackets, as in duration=a,b,c"),
        (["--grid", 'switch.west.ubr.drop={ policy = "fba"'], "unclosed quote, bracket or brace"),
        (["--grid", "switch.west.ubr.drop=epd],fba"], "unclosed quote, bracket or brace"),
        (["--grid", 'switch.west.ubr.drop="epd,fba'], "unclosed quote, bracket or brace"),
        (
            ["--grid", "seed=" + ",".join(map(str, range(2000))), "--replications", "1000"],
            "2000000 runs, and at most 1000000",
        ),
        (["--set", "switch.west.ubr.bufer=default"], "unknown field"),
        (["--set", 'probe=[{ what = "queue", of = "west->east", interval = "1 ns" }]'], "1000000000 points"),
        (["--kernel", "arithmetic", "--set", "switch.west.ubr.drop=drop-from-front"], "leave out --kernel"),
    ],
)
def test_bad_options_of_run(cli: Cli, lan: Path, options: list[str], expected: str) -> None:
    refused(cli("run", lan, *options), expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["study", "run", "ubr-pluss"], "study `ubr-pluss` does not exist; did you mean `ubr-plus`?"),
        (["study", "run", "ubr-plus", "--table", "2"], "table `2` does not exist; did you mean `2-3`?"),
        (["study", "run", "ubr-plus", "--where", "source=5"], "did you mean `sources`?"),
        (["study", "run", "ubr-plus", "--where", "sources=7"], "no row has sources = 7 (allowed: 5, 15, 2, 10, 20)"),
        (["study", "run", "ubr-plus", "--where", "sources"], "must be KEY=VALUE"),
        (["study", "run", "ubr-plus", "--replications", "100000"], "more than 1000000 runs"),
        (["study", "report", "nothing"], "study `nothing` does not exist"),
        (["study", "report", "ubr-plus", "--table", "2"], "table `2` does not exist; did you mean `2-3`?"),
        (["study", "run"], "NAME"),
        (["components", "fbaa"], "component `fbaa` does not exist; did you mean `fba`?"),
        (["example", "lan5"], "example `lan5` does not exist; did you mean `lan-5`?"),
        (["simulate"], "simulate"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_unknown_names(cli: Cli, arguments: list[str], expected: str) -> None:
    refused(cli(*arguments), expected)


def test_part_of_a_name_suggests_every_name_that_contains_it(cli: Cli, lan: Path) -> None:
    refused(cli("run", lan, "--set", "switch.west.ubr.drop=red"), "did you mean `atm-red`, `cell-red` or `packet-red`?")
    refused(
        cli("run", lan, "--set", "switch.west.ubr.drop=redd"), "did you mean `atm-red`, `cell-red` or `packet-red`?"
    )
    refused(cli("components", "red"), "did you mean `atm-red`, `cell-red` or `packet-red`?")


@pytest.mark.parametrize("is_set", [False, True])
def test_a_mistake_in_a_program_is_shown_with_a_caret(cli: Cli, tmp_path: Path, is_set: bool) -> None:
    program = '{ policy = "program", refuse = "X > R and Y *", R = 400 }'
    wrong = LAN.replace('"epd"', program)
    (tmp_path / "wrong.toml").write_text(LAN if is_set else wrong)
    done = cli("check", "wrong.toml", *(["--set", f"switch.west.ubr.drop={program}"] if is_set else []))
    first, *excerpt = done.stderr.splitlines()
    refused(done, "switch[0].ubr.drop.refuse: expected a number or a name, not the end of the text (column 14)")
    assert excerpt == ["    X > R and Y *", " " * 17 + "^"]
    assert ("; with switch.west.ubr.drop=" in first) is is_set


def test_a_mistake_in_a_program_of_an_experiment_is_shown_with_a_caret(cli: Cli, tmp_path: Path) -> None:
    program = '{ policy = "program", refuse = "X > R and Y *", R = 400 }'
    example = cli("example", "--experiments", "buffer").stdout
    base = next(line for line in example.splitlines() if line.startswith("base ="))
    (tmp_path / "wrong.toml").write_text(LAN.replace('"epd"', program))
    (tmp_path / "base.toml").write_text(example.replace(base, 'base = { file = "wrong.toml" }'))
    changed = "set = { 'switch.west.ubr.drop' = " + program + " }"
    (tmp_path / "set.toml").write_text(example.replace(base, f"{base}\n{changed}"))
    for name in ("set", "base"):
        done = cli("experiment", "check", f"{name}.toml")
        refused(done, "expected a number or a name, not the end of the text")
        assert done.stderr.endswith(f"\n    X > R and Y *\n{' ' * 17}^\n") and "\\u000a" not in done.stderr, done.stderr


def test_a_program_that_fails_in_a_run_is_shown_with_a_caret(cli: Cli, tmp_path: Path) -> None:
    text = "# \\u202e\\n\\tif 1 / (X - X) > 0 {\\r\\n\\trefuse\\n}"
    (tmp_path / "fails.toml").write_text(LAN.replace('"epd"', f'{{ policy = "program", program = "{text}" }}'))
    done = cli("run", "fails.toml", "--format", "json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "two TCPs: the program of the queue ubr of west->east fails at line 2, column 7: division by zero",
        "     if 1 / (X - X) > 0 {",
        "          ^",
    ]


def test_errors_with_an_excerpt_keep_it_between_processes() -> None:
    excerpt = "  \tX >\r\n     ^"
    problem = Problem("f: p: is wrong\n" + excerpt, 1, 1, "p", "", "is wrong", "", None, excerpt)
    assert str(problem) == "f: p: is wrong\n   X >\n     ^" and problem.summary == "f: p: is wrong"
    for error in (RunError("run: fails", excerpt), ScenarioError([problem]), RunError("no excerpt"), RunError()):
        copied = pickle.loads(pickle.dumps(error))
        assert str(copied) == str(error) and vars(copied) == vars(error)
    assert replace(problem, text=problem.summary + "; more").text == "f: p: is wrong; more\n   X >\n     ^"


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of a scenario, with its path as messages print it."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield from leaves(value, f"{path}.{name}" if path else name)
    elif isinstance(tree, list) and tree and isinstance(tree[0], dict):
        for place, value in enumerate(tree):
            yield from leaves(value, f"{path}[{place}]")
    else:
        yield path, tree


@pytest.mark.parametrize("name", ["lan-5", "leaf-spine", "vbr-guaranteed-rate", "abr-erica"])
def test_every_path_that_a_message_prints_is_accepted_as_an_override(name: str) -> None:
    text = cy.examples.text(name)
    scenario = cy.Scenario.from_toml(text)
    paths = dict(leaves(tomllib.loads(scenario.to_toml())))
    written = cy.Scenario.from_toml(scenario.to_toml())
    assert any("[1]" in path for path in paths)
    for path, value in paths.items():
        assert written.with_values({path: value}) == written, path


def test_the_path_of_an_error_in_a_file_is_accepted_as_an_override() -> None:
    text = cy.examples.text("lan-5").replace('buffer = "', 'buffer = "many ').replace('rate = "', 'rate = "fast ')
    with pytest.raises(cy.ScenarioError) as raised:
        cy.Scenario.from_toml(text)
    right = {
        problem.path: "1000 cells" if "buffer" in problem.path else "100 Mbps" for problem in raised.value.problems
    }
    assert len(right) > 2 and cy.Scenario.from_toml(text, overrides=list(right.items())).run()


def test_packets_are_a_unit_of_ethernet_and_a_default_states_nothing(lan: Path) -> None:
    incast = cy.examples.scenario("incast")
    packets = incast.with_values({"switch.switch.ubr.buffer": "20 packets"})
    assert packets == incast.with_values({"switch.switch.ubr.buffer": "20 cells"})
    for value, stated in (("random", True), ("default", False)):
        assert cy.Scenario.from_toml(lan.read_text(), overrides=[("tie_order", value)]).states("tie_order") is stated
