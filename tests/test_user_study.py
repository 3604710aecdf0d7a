"""Studies in users' folders: finding, running, reporting, and messages about mistakes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cellyard.cli.main import main
from cellyard.commands import experiment_check
from cellyard.experiment import Experiment
from cellyard.study import folder as user_study, load, studies
from cellyard.system.errors import ExperimentError, UsageError
from conftest import ROOT, Cli

PAGE = (ROOT / "docs/studies.md").read_text(encoding="utf-8")


@pytest.fixture
def tcps(tmp_path: Path) -> Path:
    """Return the study of the documentation, in a separate folder and with short runs."""
    folder = tmp_path / "tcps"
    (folder / "tables").mkdir(parents=True)
    section = PAGE.partition("## Your own study\n")[2].partition("\n## ")[0]
    for name, text in re.findall(r"`tcps/([\w./]+)`.*?```\w+\n(.*?)^```", section, re.M | re.S):
        (folder / name).write_text(text.replace('"2 s"', '"200 ms"'), encoding="utf-8")
    return folder


def test_the_documented_study_runs_beside_what_was_published(tcps: Path, cli: Cli) -> None:
    found = cli.json("study", "run", "./tcps")
    assert found["study"] == "ten-tcps" and found["claims"] == []
    rows = {row["discard"]: row for row in found["rows"]}
    assert {name: row["published"]["efficiency"] for name, row in rows.items()} == {
        "tail-drop": 0.8,
        "ppd": 0.9,
        "epd": 1.0,
    }
    simulated = [rows[name]["simulated"]["efficiency"] for name in ("tail-drop", "ppd", "epd")]
    assert simulated == sorted(simulated) and simulated[0] < simulated[2]


def test_a_report_of_it_needs_neither_claims_nor_figures_and_stands_beside_it(tcps: Path, cli: Cli) -> None:
    with (tcps / "study.toml").open("a") as file:
        file.write('[[assumed]]\nwhat = "TCP"\nvalue = "Reno"\n')
    cli.ok("study", "report", tcps, "--replications", 2)
    assert "ten-tcps" in (cli.folder / "tcps-report/index.html").read_text()
    assert "cellyard study report ./tcps`" in (cli.folder / "tcps-report/README.md").read_text()


def test_its_modules_import_each_other_and_are_taken_where_they_exist(tcps: Path, cli: Cli) -> None:
    (tcps / "helper.py").write_text("def share(run):\n    return run.totals.goodput_mbps / 141.333\n")
    (tcps / "metrics.py").write_text(
        "from . import helper\ndef metrics(run, row):\n    return {'share': helper.share(run)}\n"
    )
    (tcps / "claims.py").write_text(
        "from cellyard.study import Verdict, claim, every\n"
        "@claim('EPD gets most.', '1')\n"
        "def epd(rows):\n"
        "    best = max(rows, key=lambda row: row.simulated['share'])\n"
        "    share = {row['discard']: row.simulated['share'] for row in rows}\n"
        "    return Verdict(best['discard'], every(share['epd'] - share[other] for other in ('tail-drop', 'ppd')))\n"
    )
    with (tcps / "study.toml").open("a") as file:
        file.write('[metrics]\nown = ["share"]\n')
    done = cli("study", "run", "./tcps", "--replications", 6, "--format", "json")
    assert (done.returncode, done.stderr) == (
        0,
        f"running the Python code of {tcps}: scenario.py, claims.py, metrics.py\n",
    )
    found = json.loads(done.stdout)
    assert found["claims"] == [{"text": "EPD gets most.", "verdict": "holds", "evidence": "epd"}]
    assert 0.5 < found["rows"][0]["simulated"]["share"] < 1


def test_an_experiment_varies_a_row_of_a_study_beside_its_description(tcps: Path, cli: Cli) -> None:
    (tcps.parent / "deep").mkdir()
    (tcps.parent / "deep" / "buffer.toml").write_text(
        'name = "buffer"\nreplications = 1\nmetrics = ["efficiency"]\n'
        'base = { study = "../tcps", table = "1", row = { discard = "epd" } }\n'
        '[[axis]]\npath = "switch.west.ubr.buffer"\nvalues = ["500 cells", "1000 cells"]\n'
        '[question]\nkind = "table"\n'
    )
    done = cli("experiment", "run", "deep/buffer.toml")
    assert (done.returncode, done.stderr) == (0, "running the Python code of deep/../tcps: scenario.py\n")
    assert "2 runs" in done.stdout
    (tcps / "scenario.py").unlink()
    told = cli.refused("experiment", "run", "deep/buffer.toml")
    assert "has no scenario.py" in told


#: Code that leaves a trace wherever it runs.
TRACE = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"
EXPERIMENT = """name = "traced"
replications = 2
metrics = ["efficiency"]
base = { study = "%s", table = "1", row = { discard = "epd" } }
[[axis]]
path = "switch.west.ubr.buffer"
values = ["500 cells", "1000 cells"]
[question]
kind = "table"
"""


@pytest.fixture
def traced(tcps: Path) -> Path:
    """Return the study with a trace in each of its modules, next to an experiment that varies a row."""
    for name in ("scenario", "claims", "figures", "metrics"):
        file = tcps / f"{name}.py"
        file.write_text(TRACE + (file.read_text() if file.exists() else "CLAIMS = []\nfigures = metrics = list\n"))
    (tcps.parent / "traced.toml").write_text(EXPERIMENT % "./tcps")
    return tcps


def test_a_check_runs_no_code_of_a_study_and_says_what_it_leaves_out(
    traced: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment_check.command(traced.parent / "traced.toml", memory=None)
    told = capsys.readouterr().out
    assert told.endswith(
        f"2 points, 4 runs\nnot checked, because a check would run {traced}/scenario.py: paths and values of set and axes, "
        "names of VCs and ports in metrics, CPU time, memory, notes\n"
    )
    assert "base: a row of the study ./tcps\n" in told and not (traced / "ran").exists()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"epd"', '"edp"', "no row has discard = edp"),
        ('table = "1"', 'table = "2"', "table `2` does not exist"),
        ("./tcps", "./tcp", "there is no "),
        ("./tcps", "tcps", r"study `tcps` does not exist .*; a study in a folder is named by its path: \./tcps"),
        ('"efficiency"', '"eficiency"', "did you mean `efficiency`"),
        ("replications = 2", "replications = 0", "out of range"),
        ("replications = 2", "seed = -1", "out of range"),
        ('"table"', '"tabel"', "did you mean `table`"),
        ("[question]", 'constraints = ["bufer > 5"]\n[question]', "unknown field"),
    ],
)
def test_a_check_finds_what_is_wrong_with_the_data_without_running_code(
    traced: Path, old: str, new: str, told: str
) -> None:
    file = traced.parent / "traced.toml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises((UsageError, ExperimentError), match=told):
        experiment_check.command(file, memory=None)
    assert not (traced / "ran").exists()


def test_reading_a_description_in_python_runs_code_only_where_that_is_asked_for(traced: Path) -> None:
    file = traced.parent / "traced.toml"
    with pytest.raises(
        UsageError, match=r"code in .*tcps/scenario\.py builds the scenario; set run_code=True to run it"
    ):
        Experiment.read(file)
    assert load(traced).tables["1"].rows and not (traced / "ran").exists()
    assert Experiment.read(file, run_code=True).plan.base.name == "ten TCPs, epd 1500 1000"
    assert (traced / "ran").exists()


def test_no_command_but_run_and_report_runs_code_of_a_study(traced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(traced.parent)
    commands = (["study", "list"], ["study", "run", "tcps"], ["experiment", "check", "traced.toml"])
    for command in (*commands, ["--print-completion", "bash"]):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == (2 if "run" in command else 0)
    assert not (traced / "ran").exists()


def replaced(name: str, old: str, new: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return change


def appended(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text((folder / name).read_text() + text)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda folder: (folder / "scenario.py").unlink(), "tcps: has no scenario.py"),
        (replaced("scenario.py", "def scenario(", "def scene("), "scenario.py: has no scenario"),
        (replaced("scenario.py", "def scenario(", "def scenario(("), r"scenario.py:\d+: "),
        (replaced("scenario.py", "import cellyard", "import nowhere"), "scenario.py:1: ModuleNotFoundError: "),
        (replaced("scenario.py", 'row["packet_bytes"]', 'row["packet"]'), "scenario.py:5: KeyError: 'packet'"),
        (replaced("scenario.py", "mss=f", "ms=f"), r"scenario.py:\d+: TypeError: .*'ms'"),
        (replaced("scenario.py", "return cy.Scenario(", "return dict("), "gives dict, not a cellyard.Scenario"),
        (replaced("scenario.py", '"20 us"', '"20"'), "ten-tcps, table 1, discard = tail-drop, .* missing unit"),
        (
            replaced("study.toml", "[citation]", "replications = 0\n[citation]"),
            "replications = 0 must be a whole number from 1 to",
        ),
        (replaced("study.toml", "year = 1995\n", ""), r"study.toml: \[citation\]: year is missing"),
        (replaced("study.toml", 'name = "ten-tcps"', 'name = "ten/tcps"'), "study.toml: name = 'ten/tcps' names files"),
        (replaced("study.toml", 'name = "ten-tcps"', 'name = "ubr-plus"'), "is that of a study of Cellyard"),
        (replaced("study.toml", "question", "qestion"), "entry `qestion` does not exist; did you mean `question`"),
        (replaced("study.toml", "printed", "rounded"), r"\[\[table\]\] 1: rounded is unknown"),
        (replaced("study.toml", '["efficiency"]', '["eficiency"]'), "did you mean `efficiency`"),
        (replaced("study.toml", '["efficiency"]', '"efficiency"'), "metrics is not a list"),
        (appended("study.toml", "["), "study.toml: is not TOML: "),
        (appended("tables/1.csv", "epd,1500,500,~1\n"), "1.csv:5: efficiency = '~1': is not a number"),
        (appended("tables/1.csv", "epd,1500,500,0,9\n"), "1.csv:5: must have 4 values"),
        (lambda folder: (folder / "tables/1.csv").write_text("discard,efficiency\n"), "1.csv: has no rows"),
        (lambda folder: (folder / "study.toml").unlink(), "there is no .*tcps/study.toml"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_status_2(
    tcps: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], told: str
) -> None:
    monkeypatch.delenv("CELLYARD_TRACEBACK", raising=False)
    change(tcps)
    error = cli.refused("study", "run", "./tcps")
    assert re.search(told, error)
    assert "Traceback" not in error and "internal error" not in error


def test_a_metric_that_is_told_must_be_measured(tcps: Path) -> None:
    replaced("study.toml", "[citation]", 'told = ["fairnes"]\n[citation]')(tcps)
    with pytest.raises(UsageError, match="told: metric `fairnes` does not exist; did you mean `fairness`"):
        _ = load(str(tcps)).measures


def test_what_comes_with_cellyard_keeps_the_rules_and_its_names() -> None:
    for name, study in studies().items():
        assert user_study.read(study.folder)["name"] == name == load(name).argument


def test_a_name_that_is_neither_a_study_nor_a_folder_is_told_what_there_is() -> None:
    with pytest.raises(UsageError, match="study `ubr-plu` does not exist; did you mean `ubr-plus`"):
        load("ubr-plu")
    with pytest.raises(UsageError, match=r"there is no nowhere/study\.toml"):
        load("./nowhere")
