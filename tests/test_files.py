"""Result files: complete or absent, all from one command, with one message when writing fails."""

import json
import os
import random
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cellyard.outputs.folder import ResultFolder
from cellyard.runs.batch import Job
from cellyard.scenario import Scenario
from cellyard.store import Store
from cellyard.system import files
from cellyard.system.errors import UsageError
from cellyard.system.files import FileSet, checksums, digest, finish_renames, sealed, unsealed, write_whole
from conftest import LAN, Cli, full_at, stored, wait_for

RUNS = [Job(Scenario.from_toml(LAN).canonical, replication).identity for replication in range(3)]
OLD = {"a.csv": "old a", "b.csv": "old b", "gone.csv": "old"}
NEW = {"a.csv": "new a", "b.csv": "new b", "more.csv": "new"}


def contents(folder: Path) -> dict[str, str]:
    """Return the contents of all files in a folder."""
    return {path.name: path.read_text() for path in folder.iterdir() if not path.name.startswith((".", "runs.sqlite"))}


def put(folder: Path, found: dict[str, str]) -> None:
    with FileSet(folder) as made:
        for name, content in found.items():
            made.add(name, content)


def summed(found: dict[str, str]) -> dict[str, str]:
    return {**found, files.SUMS_FILE: "".join(f"{digest(text)}  {name}\n" for name, text in sorted(found.items()))}


def test_a_set_replaces_the_previous_one_and_its_checksums_match_sha256sum(tmp_path: Path) -> None:
    put(tmp_path, OLD)
    assert contents(tmp_path) == summed(OLD)
    (tmp_path / "mine.txt").write_text("kept")
    put(tmp_path, NEW)
    assert contents(tmp_path) == {**summed(NEW), "mine.txt": "kept"}
    assert not list(tmp_path.glob(".*"))
    assert checksums(tmp_path) == {name: digest(text) for name, text in NEW.items()}
    subprocess.run(["sha256sum", "--check", "--quiet", files.SUMS_FILE], cwd=tmp_path, check=True)


CRASH = """
import os, sys, pathlib
from cellyard.system import files
from cellyard.runs.batch import Job
from cellyard.runs.protocols import NewRun
left = int(sys.argv[1])

def counted(call):
    def made(*arguments, **options):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return call(*arguments, **options)
    return made

for name in ("replace", "unlink"):
    setattr(pathlib.Path, name, counted(getattr(pathlib.Path, name)))
os.replace, os.fsync = counted(os.replace), counted(os.fsync)
with files.FileSet(pathlib.Path(sys.argv[2])) as made:
    for name, text in {new!r}.items():
        made.add(name, text)
print(left)
"""


def test_a_crash_at_any_step_leaves_the_previous_set_or_the_new_one(tmp_path: Path) -> None:
    seen = []
    for steps in range(100):
        folder = tmp_path / str(steps)
        folder.mkdir()
        put(folder, OLD)
        code = CRASH.replace("{new!r}", repr(NEW))
        done = subprocess.run([sys.executable, "-c", code, str(steps), str(folder)], capture_output=True, text=True)
        assert done.returncode in (0, 9), done.stderr
        finish_renames(folder)
        assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
        assert contents(folder) in (summed(OLD), summed(NEW))
        seen.append(contents(folder) == summed(NEW))
        if done.returncode == 0:
            break
    assert done.returncode == 0 and steps > 10
    assert seen == sorted(seen) and {*seen} == {False, True}


def test_a_set_that_fails_leaves_the_previous_one(tmp_path: Path) -> None:
    put(tmp_path, OLD)
    with pytest.raises(ValueError, match="no"), FileSet(tmp_path) as made:
        made.add("a.csv", "new a")
        raise ValueError("no")
    assert contents(tmp_path) == summed(OLD) and len(list(tmp_path.iterdir())) == len(summed(OLD))


def test_a_damaged_list_is_refused_and_given_up_with_overwrite(tmp_path: Path) -> None:
    (tmp_path / files.LIST_FILE).write_text(sealed({"files": {"a.csv": ""}, "gone": {}}).replace("a.csv", "b.csv"))
    (tmp_path / f"{files.NEW_PREFIX}b.csv").write_text("new")
    with pytest.raises(UsageError, match=r"damaged.*--overwrite"):
        finish_renames(tmp_path)
    finish_renames(tmp_path, overwrite=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../kept", "/kept", "a/../../kept", ".kept", "", "a" * 256, "a\0", "a\nb"])
def test_a_list_that_names_anything_but_files_of_the_folder_is_refused(tmp_path: Path, name: object) -> None:
    folder = tmp_path / "folder"
    (folder / "a").mkdir(parents=True)
    (tmp_path / "kept").write_text("kept")
    (folder / ".kept").write_text("kept")
    lists: list[dict[str, Any]] = [
        {"files": {}, "gone": {str(name): ""}},
        {"files": {str(name): ""}, "gone": {}},
        {"files": {}, "gone": [name]},
        {"files": [], "gone": {}},
        {},
    ]
    for hostile in lists:
        (folder / files.LIST_FILE).write_text(sealed(hostile))
        with pytest.raises(UsageError, match="damaged"):
            finish_renames(folder)
    (folder / files.SUMS_FILE).write_text(f"{'0' * 64}  {name}\n")
    assert "kept" not in str(checksums(folder)) and checksums(folder).keys() <= {"a"}  # for a name with a line break
    assert (tmp_path / "kept").exists() and (folder / ".kept").exists()


def test_a_set_removes_only_unchanged_files_of_an_earlier_set(tmp_path: Path) -> None:
    put(tmp_path, {**OLD, "edited.csv": "old", "linked.csv": "old"})
    (tmp_path / "edited.csv").write_text("my own numbers")
    (tmp_path / "elsewhere").write_text("old")
    (tmp_path / "linked.csv").unlink()
    (tmp_path / "linked.csv").symlink_to("elsewhere")
    (tmp_path / "thesis.tex").write_text("my thesis")
    with (tmp_path / files.SUMS_FILE).open("a") as file:  # as in another user's folder
        file.write(f"{'0' * 64}  thesis.tex\n{'0' * 64}  {'a' * 300}\n{'0' * 64}  mine\0\n")
    put(tmp_path, NEW)
    kept = {"edited.csv": "my own numbers", "linked.csv": "old", "elsewhere": "old", "thesis.tex": "my thesis"}
    assert contents(tmp_path) == {**summed(NEW), **kept}


def test_links_in_a_folder_of_results_are_replaced_and_not_followed(tmp_path: Path) -> None:
    folder, victims = tmp_path / "out", [tmp_path / f"victim{place}" for place in range(4)]
    folder.mkdir()
    names = ("provenance.json", "a.csv", f"{files.NEW_PREFIX}a.csv", files.SUMS_FILE)
    for victim, name in zip(victims, names, strict=True):
        victim.write_text("mine")
        (folder / name).symlink_to(f"../{victim.name}")
    with ResultFolder(folder, command="run", holds="a", content="a", provenance={}, overwrite=True) as made:
        (folder / f"{files.NEW_PREFIX}a.csv").unlink(missing_ok=True)
        (folder / f"{files.NEW_PREFIX}a.csv").symlink_to(f"../{victims[2].name}")  # while the command runs
        assert made.publish(lambda found: found.add("a.csv", "a")) == ""
        (folder / "runs.sqlite").symlink_to("../victim0")
        with pytest.raises(UsageError, match=r"runs\.sqlite: is a link, which is not followed"):
            made.store()
    assert [victim.read_text() for victim in victims] == ["mine"] * 4
    assert not [file for file in folder.iterdir() if file.is_symlink() and file.name != "runs.sqlite"]
    assert (folder / "a.csv").read_text() == "a"


def test_a_sealed_document_is_refused_after_any_change_of_a_bit() -> None:
    document = {"holds": "the scenario µ", "n": [1, 2.5, None]}
    raw = sealed(document).encode()
    assert unsealed(raw.decode()) == document
    for place in range(len(raw)):
        for bit in range(8):
            changed = raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :]
            try:
                assert unsealed(changed.decode()) == document  # only whitespace has changed
            except ValueError:
                continue


def test_a_whole_file_keeps_its_link_and_mode_and_a_failure_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "real").read_text() == "new" and (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError) as error:
        write_whole(tmp_path / "folder", "new")
    assert error.value.filename == str(tmp_path / "folder")
    assert {path.name for path in tmp_path.iterdir()} == {"real", "link", "folder"}


def obstacles() -> list[Callable[[Path], None]]:
    """What can have the name of a file and is none, for this user."""
    device = partial(os.mknod, mode=stat.S_IFCHR | 0o666, device=os.makedev(1, 3))  # such as /dev/null
    return [Path.mkdir, os.mkfifo, *([device] if os.geteuid() == 0 else [])]


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("page.html", ["explore", "--save", "page.html"]),
        ("queue.png", ["run", "lan.toml", "--set", 'probe=[{ what = "cwnd", of = "vc1" }]', "--plot", "queue.png"]),
        ("points.svg", ["plot", "runs.sqlite", "--x", "seed", "--y", "totals.efficiency", "--out", "points.svg"]),
        ("experiment.schema.json", ["schema", "experiment", "--out", "."]),
    ],
)
def test_output_into_a_pipe_reaches_its_reader_and_the_pipe_stays(
    cli: Cli, lan: Path, file: str, command: list[str]
) -> None:
    if command[0] == "plot":
        assert cli("run", lan, "--set", "duration=10 ms", "--store", "runs.sqlite").returncode == 0
    assert cli(*command).returncode == 0
    expected = (lan.parent / file).read_bytes()
    (lan.parent / file).unlink()
    os.mkfifo(lan.parent / file)
    with ThreadPoolExecutor() as pool:
        read = pool.submit((lan.parent / file).read_bytes)
        assert cli(*command).returncode == 0
        assert read.result(timeout=60) == expected
    assert (lan.parent / file).is_fifo()
    assert not [path for path in lan.parent.iterdir() if path.name.startswith(".")]


def test_a_device_stays_and_takes_the_content(tmp_path: Path) -> None:
    for make in obstacles():
        make(tmp_path / "other")
        (tmp_path / "link").symlink_to("other")
        kind = stat.S_IFMT((tmp_path / "other").stat().st_mode)
        for name in ("other", "link") if stat.S_ISCHR(kind) else ():
            write_whole(tmp_path / name, "new")
        with pytest.raises(OSError, match=r"directory|pipe, device or socket") as error:
            write_whole(tmp_path / "other", "new", follow=False)
        assert error.value.filename == str(tmp_path / "other")
        assert stat.S_IFMT((tmp_path / "other").lstat().st_mode) == kind and (tmp_path / "link").is_symlink()
        (tmp_path / "link").unlink()
        (tmp_path / "other").rmdir() if stat.S_ISDIR(kind) else (tmp_path / "other").unlink()
    assert list(tmp_path.iterdir()) == []


def test_a_set_is_unchanged_if_a_pipe_device_or_folder_has_the_name_of_a_file(tmp_path: Path) -> None:
    draw = random.Random(1)
    names = [*NEW, files.SUMS_FILE, files.LIST_FILE]
    for number in range(40):
        folder = tmp_path / str(number)
        folder.mkdir()
        put(folder, OLD)
        blocked = draw.sample(names, draw.randint(1, 3))
        for name in blocked:
            (folder / name).unlink(missing_ok=True)
            draw.choice(obstacles())(folder / name)
        kept = {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
        made = FileSet(folder)
        with pytest.raises(OSError) as error, made:
            for name, content in NEW.items():
                made.add(name, content)
        assert Path(error.value.filename).name in blocked and made.state == "unchanged"
        assert {path.name: path.read_text() for path in folder.iterdir() if path.is_file()} == kept
        assert {path.name for path in folder.iterdir()} == {*kept, *blocked}


@pytest.mark.parametrize(
    "name", [files.LIST_FILE, "provenance.json", files.SUMS_FILE, "vcs.csv", "runs.sqlite", "runs.sqlite-wal"]
)
def test_a_folder_with_a_pipe_or_folder_for_one_of_our_files_is_refused_before_any_run(
    cli: Cli, lan: Path, name: str
) -> None:
    options = ["--set", "duration=10 ms", "--out", "out"]
    assert cli("run", lan, *options).returncode == 0
    out = lan.parent / "out"
    (out / name).unlink(missing_ok=True)
    before = contents(out)
    for make in obstacles():
        make(out / name)
        for more in ([], ["--overwrite"]):
            done = cli("run", lan, *options, *more, "--seed", 2, timeout=30)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr.startswith(f"out/{name}: ") and done.stderr.count("\n") == 1
        done = cli("store", "show", "out", timeout=30)
        assert done.stderr.count("\n") == (name.startswith("runs."))
        assert not (out / name).is_file()
        (out / name).rmdir() if (out / name).is_dir() else (out / name).unlink()
        assert contents(out) == before


def test_a_rename_that_fails_in_a_committed_set_is_reported_and_completed_by_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder() -> ResultFolder:
        return ResultFolder(tmp_path, command="run", holds="a", content="a", provenance={})

    rename = os.replace

    def failing(source: Path, target: Path) -> None:
        if target.name == "b.csv":
            raise PermissionError(1, "Operation not permitted")
        rename(source, target)

    def both(made: FileSet) -> None:
        made.add("a.csv", "a")
        made.add("b.csv", "b")

    with folder() as first, monkeypatch.context() as patched:
        patched.setattr(os, "replace", failing)
        assert first.publish(both) == (
            f"{tmp_path}/b.csv: cannot be written: Operation not permitted; the result files are partly replaced until the "
            "next command on this folder completes them, and 0 finished runs are kept"
        )
    assert not (tmp_path / "b.csv").exists()
    with folder():
        assert (tmp_path / "b.csv").read_text() == "b" and not (tmp_path / files.LIST_FILE).exists()


def test_an_interrupt_just_after_a_set_is_committed_completes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, OLD)
    renamed = Path.replace

    def interrupted(source: Path, target: Path) -> None:
        renamed(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        put(tmp_path, NEW)
    assert contents(tmp_path) == summed(NEW)
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_the_label_of_a_folder_changes_together_with_its_files(tmp_path: Path) -> None:
    def folder(content: str, *, overwrite: bool = False) -> ResultFolder:
        return ResultFolder(
            tmp_path, command="run", holds=content, content=content, provenance={"n": content}, overwrite=overwrite
        )

    with folder("a") as first:
        assert first.publish(lambda made: made.add("a.csv", "a")) == ""
    with folder("b", overwrite=True):
        assert unsealed((tmp_path / "provenance.json").read_text())["holds"] == "a"
    with folder("b", overwrite=True) as second:
        second.publish(lambda made: made.add("b.csv", "b"))
    label = {"holds": "b", "content": "b", "n": "b", "made_by": {"b.csv": "run"}}
    assert unsealed((tmp_path / "provenance.json").read_text()) == label
    assert set(contents(tmp_path)) == {"b.csv", "provenance.json", files.SUMS_FILE}
    (tmp_path / "provenance.json").write_text('{"holds": "b", "content": "b"}')  # as an earlier version wrote it
    with pytest.raises(UsageError, match=r"provenance\.json: .* checksum .* earlier version.*--overwrite"):
        folder("b")
    folder("b", overwrite=True).__exit__(None, None, None)
    folder("b").__exit__(None, None, None)


@pytest.mark.parametrize("shell_command", ["rm -r out", "rm -r out; touch out", "mv out other; mkdir out"])
def test_a_folder_removed_during_the_run_gets_one_message_and_results_are_printed(
    cli: Cli, lan: Path, shell_command: str
) -> None:
    options = shlex.split("--set 'duration=20 s' --replications 30 --jobs 1 --out out --format json")
    process = cli.begun("run", lan, *options)
    wait_for(lambda: stored(lan.parent / "out/runs.sqlite"), process)
    subprocess.run(shell_command, shell=True, check=True, cwd=lan.parent)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1 and len(json.loads(out)["runs"]) == 30
    # A slow machine also prints its progress.
    messages = [line for line in err.splitlines() if " of 30 runs, " not in line]
    assert messages == [
        "out: cannot be written: the folder was removed, moved or replaced while the command ran; the result files are "
        "unchanged, and 0 finished runs are kept in out/runs.sqlite"
    ]
    assert not (lan.parent / "out").is_dir() or contents(lan.parent / "out") == {}


@pytest.mark.parametrize(("size", "file"), [(80_000, "runs.sqlite"), (220_000, "results.json")])
def test_a_full_disk_gets_one_message_and_keeps_what_fits(cli: Cli, lan: Path, size: int, file: str) -> None:
    out = lan.parent / "out"
    assert cli("run", lan, "--replications", 1, "--out", "out").returncode == 0
    before = contents(out)
    options = ("run", lan, "--replications", 40, "--out", "out", "--format", "json")
    done = cli.apart(*options, preexec_fn=full_at(size))
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["runs"]) == 40
    kept = stored(out / "runs.sqlite")
    assert done.stderr.startswith(f"out/{file}: cannot be written: ") and done.stderr.count("\n") == 1
    assert done.stderr.endswith(
        f"; the result files are unchanged, and {kept} finished runs are kept in out/runs.sqlite\n"
    )
    assert 1 < kept < 40 if file == "runs.sqlite" else kept == 40
    assert contents(out) == before
    again = cli(*options)
    assert (again.returncode, again.stderr) == (0, "")
    assert json.loads(again.stdout)["runs"] == json.loads(done.stdout)["runs"]
    assert stored(out / "runs.sqlite") == 40


def test_result_files_are_written_even_if_runs_cannot_be_stored(tmp_path: Path) -> None:
    with ResultFolder(tmp_path, command="run", holds="a", content="a", provenance={}) as folder:
        with folder.store() as store:
            store.add(RUNS[0], {"n": 1})
            (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
            store.connection.execute(f"PRAGMA max_page_count = {pages}")
            store.add(RUNS[1], {"n": 2, "much": list(range(100_000))})
            store.connection.execute("PRAGMA max_page_count = 1000000")
            store.add(RUNS[2], {"n": 3})
        message = folder.publish(lambda made: made.add("a.csv", "a"))
    assert message == (
        f"{tmp_path}/runs.sqlite: cannot be written: No space left on device; all other files are complete, and 2 finished runs "
        f"are kept in {tmp_path}/runs.sqlite"
    )
    assert (tmp_path / "a.csv").read_text() == "a"
    with Store(tmp_path / "runs.sqlite") as store:
        assert [store.get(run) for run in RUNS] == [{"n": 1}, None, {"n": 3}]


def test_a_plot_that_cannot_be_written_gets_one_message_after_the_results(cli: Cli, lan: Path) -> None:
    (lan.parent / "a.png").mkdir()
    done = cli("run", lan, "--plot", "a.png", "--set", 'probe=[{ what = "cwnd", of = "vc1" }]')
    assert done.returncode == 1 and done.stdout.startswith("two TCPs: ") and "written to" not in done.stdout
    assert done.stderr == "a.png: cannot be written: Is a directory\n"
    assert [path.name for path in lan.parent.iterdir() if path.name.startswith(".")] == []


def test_files_are_synced_before_they_are_renamed(lan: Path) -> None:
    if not shutil.which("strace"):
        pytest.skip("needs strace")
    command = ["strace", "-f", "-e", "trace=rename,renameat,renameat2,fsync,openat", sys.executable, "-m", "cellyard"]
    done = subprocess.run([*command, "run", str(lan), "--out", "out"], cwd=lan.parent, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"strace cannot look here: {done.stderr[-200:]}")
    written = [
        line for line in done.stderr.splitlines() if "out/" in line and ("O_TRUNC" in line or "O_WRONLY" in line)
    ]
    assert written and all(".cellyard-" in line for line in written)
    assert done.stderr.count("fsync(") > done.stderr.count("rename(") > 8
    assert (lan.parent / "out/results.json").exists()
