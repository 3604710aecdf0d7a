"""What CI promises: the same random draws everywhere, no hidden skip, no command that may fail unseen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import core, given, settings, strategies as st

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))

SKIPS = """\
import pytest

@pytest.mark.parametrize("reason", {reasons!r})
def test_skipped(reason):
    pytest.skip(reason)
"""


def pytest_of(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on a file elsewhere, with the settings of these tests."""
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "conftest"]
    command += [*options, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "CI": "true"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=path.parent, timeout=120)


def test_rust_and_python_draw_from_one_seed() -> None:
    rust = re.search(r'^PROPTEST_RNG_SEED = "(\d+)"$', (ROOT / ".cargo/config.toml").read_text(), re.MULTILINE)
    python = re.search(r"--hypothesis-seed=(\d+)", (ROOT / "pyproject.toml").read_text())
    assert rust and python and rust[1] == python[1]


@given(st.none())
def test_no_profile_hides_the_seed(_: None) -> None:
    assert core.global_force_seed is not None
    assert not settings.default.derandomize and settings.default.database is None


def test_equal_seeds_draw_equal_cases_and_another_seed_draws_others(tmp_path: Path) -> None:
    (tmp_path / "test_drawn.py").write_text(
        "from hypothesis import given, strategies as st\n"
        "@given(st.integers(0, 2**63))\n"
        "def test_drawn(n):\n"
        "    with open('drawn.txt', 'a') as file:\n"
        "        print(n, file=file)\n"
    )

    def drawn(*options: str) -> tuple[str, str]:
        done = pytest_of(tmp_path / "test_drawn.py", *options)
        assert done.returncode == 0, done.stdout + done.stderr
        file = tmp_path / "drawn.txt"
        text = file.read_text()
        file.unlink()
        return text, done.stdout

    (first, told), (again, _), (other, _) = drawn(), drawn(), drawn("--hypothesis-seed=7")
    assert first == again != other
    assert "seed of random tests in Python: 1996\n" in told


@pytest.mark.parametrize(
    ("reasons", "status"),
    [(["strace cannot look here"], 0), (["strace cannot look here", "tshark is not installed"], 1)],
    ids=["allowed", "not allowed"],
)
def test_skips_are_counted_with_their_reason_and_ci_fails_if_one_is_not_allowed(
    tmp_path: Path, reasons: list[str], status: int
) -> None:
    path = tmp_path / "test_skips.py"
    path.write_text(SKIPS.format(reasons=reasons * 2))
    done = pytest_of(path, "--few-skips")
    assert done.returncode == status, done.stdout
    assert "skipped 2 times: strace cannot look here\n" in done.stdout
    assert ("skipped 2 times, not allowed in CI: tshark is not installed\n" in done.stdout) == bool(status)
    assert pytest_of(path).returncode == 0


def test_no_command_of_ci_may_fail_unseen() -> None:
    for path in [ROOT / ".ci/run", *WORKFLOWS]:
        assert not re.search(r"\|\| true|continue-on-error|2>/dev/null$", path.read_text(), re.MULTILINE), path


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_end_and_do_not_run_twice_at_a_time(path: Path) -> None:
    text = path.read_text()
    jobs = re.findall(r"^  (\w+):\n((?:    .*\n|\n|  #.*\n)+)", text[text.index("\njobs:") :], re.MULTILINE)
    assert jobs and re.search(r"^concurrency:$", text, re.MULTILINE)
    for name, body in jobs:
        assert re.search(r"^    timeout-minutes: \d+$", body, re.MULTILINE), name


@pytest.mark.parametrize(
    ("profile", "said"),
    [("release", "--editable ."), ("dev", "--profile dev"), ("fast", "PROFILE is fast; it can be release or dev")],
)
def test_make_build_has_two_profiles(profile: str, said: str) -> None:
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", "build", f"PROFILE={profile}"], cwd=ROOT, capture_output=True, text=True
    )
    assert said in done.stdout + done.stderr
    assert ("--profile dev" in done.stdout) == (profile == "dev")


def test_each_pattern_of_make_mutants_finds_files() -> None:
    patterns = tomllib.loads((ROOT / ".cargo/mutants.toml").read_text())["examine_globs"]
    assert patterns and all(any(ROOT.glob(pattern)) for pattern in patterns)
