"""Stores on full and read-only disks: file systems in memory, which only root may mount."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import Cli, stored

#: Size of the disk in KiB; the runs take several times as much.
SMALL_KIB = 400
RUNS = 400


class Disk:
    """A separate file system."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "runs.sqlite"

    def mount(self, options: str) -> bool:
        """Mount or remount the disk, and return whether that was possible."""
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(self.folder)]
        try:
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        except OSError:
            return False

    def names(self) -> set[str]:
        """Return the names of the files, without the log and the index of the store."""
        return {path.name for path in self.folder.iterdir() if not path.name.startswith("runs.sqlite-")}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    found = Disk(tmp_path / "disk")
    found.folder.mkdir()
    if sys.platform != "linux" or not found.mount(f"size={SMALL_KIB}k"):
        pytest.skip("no file system can be mounted here")
    try:
        yield found
    finally:
        subprocess.run(["umount", "-l", str(found.folder)], check=False)


def test_a_full_disk_is_one_error_and_finished_runs_are_kept(cli: Cli, lan: Path, disk: Disk) -> None:
    options = ("run", lan, "--set", "duration=5 ms", "--replications", RUNS, "--format", "csv")
    whole = cli(*options).stdout
    done = cli(*options, "--store", disk.store)
    kept = stored(disk.store)
    message = (
        f"{disk.store}: cannot be written: No space left on device; {kept} finished runs are kept in {disk.store}\n"
    )
    assert (done.returncode, done.stderr, done.stdout) == (1, message, whole) and 5 < kept < RUNS
    # The store opens and its runs are used, but nothing new fits.
    printed = cli.ok("store", "show", disk.store)
    assert f"{kept} runs" in printed
    assert cli(*options, "--store", disk.store).stdout == whole and stored(disk.store) == kept
    # No other file that is to be written leaves anything behind.
    names = disk.names()
    with suppress(OSError), (disk.folder / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(1024))
    for arguments, place in (
        (("--store", disk.folder / "new.sqlite"), "new.sqlite: cannot be read and written"),
        (("--out", disk.folder / "out"), "out/provenance.json: cannot be written"),
    ):
        told = cli.refused(*options, *arguments)
        assert told == f"{disk.folder / place}: No space left on device\n"
    assert disk.names() == names | {"filler"}
    # With more space, the same command continues.
    assert disk.mount("remount,size=16m")
    done = cli(*options, "--store", disk.store)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", whole) and stored(disk.store) == RUNS


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "lan.toml", "--store", "STORE"),
        ("run", "lan.toml", "--store", "NEW"),
        ("store", "show", "STORE"),
        ("store", "prune", "STORE", "--damaged"),
        ("store", "merge", "STORE", "other.sqlite"),
        ("store", "merge", "NEW", "other.sqlite"),
        ("store", "merge", "other.sqlite", "STORE"),
    ],
    ids=" ".join,
)
def test_a_read_only_disk_is_one_error_and_stays_unchanged(
    cli: Cli, lan: Path, tmp_path: Path, disk: Disk, arguments: tuple[str, ...]
) -> None:
    for store in (disk.store, "other.sqlite"):
        assert cli("run", lan, "--set", "duration=5 ms", "--store", store).returncode == 0
    before = disk.store.read_bytes()
    assert disk.mount("remount,ro")
    paths = {"STORE": str(disk.store), "NEW": str(disk.folder / "new.sqlite")}
    told = cli.refused(*(paths.get(argument, argument) for argument in arguments))
    why = "its folder is not writable: Read-only file system" if "NEW" in arguments else "Read-only file system"
    (path,) = {paths[argument] for argument in arguments if argument in paths}
    assert told == f"{path}: cannot be read and written: {why}\n"
    assert disk.store.read_bytes() == before and disk.names() == {"runs.sqlite"}
    assert {file.name for file in tmp_path.iterdir()} == {"disk", "lan.toml", "other.sqlite"}
