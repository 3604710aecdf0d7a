"""Profiles that guide the compiler: scripts/wheel.py builds an engine with counters, runs it, and builds again.

Both builds must be the same for cargo except for the flags here. Cargo's settings, such as
link-time optimisation or the target, are part of the names of functions, and counts of functions
with other names are ignored without a message.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "target/pgo"
PROFILE = WORK / "cellyard.profdata"
RAW = WORK / "raw"

#: Rows of studies that are profiled besides the examples.
STUDIES = (
    ["ubr-plus", "--table", "2-3", "--where", "sources=5"],
    ["guaranteed-rate", "--where", "configuration=lan", "--where", "sources=5"],
)


class NoProfileError(Exception):
    """No profile can be made here; the message says what is missing."""


def rustc(*options: str) -> str:
    """Return the output of the compiler."""
    return subprocess.run(["rustc", *options], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def about() -> dict[str, str]:
    """Return what the compiler says of itself."""
    return dict(re.findall(r"(.+): (.+)", rustc("-vV")))


def host() -> str:
    """Return the target of this machine."""
    return about()["host"]


def candidates(version: str, host: str) -> Iterator[str]:
    """Return programs that may read the profiles, in order of preference.

    They are the program that is named, that of the compiler, and those of LLVM from its version
    downwards.
    """
    if named := os.environ.get("LLVM_PROFDATA"):
        yield named
        return
    found = [Path(rustc("--print", "sysroot").strip()) / f"lib/rustlib/{host}/bin/llvm-profdata"]
    names = [*(f"llvm-profdata-{number}" for number in range(int(version) + 1, 17, -1)), "llvm-profdata"]
    for name in [*map(str, found), *names]:
        if path := shutil.which(name):
            yield path


def merge(program: str, raw: Path, profile: Path) -> str:
    """Merge the counts into a profile; return the error message, if any."""
    try:
        done = subprocess.run([program, "merge", "-o", profile, raw], capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return done.stderr.strip() or "fails" if done.returncode else ""


def profdata() -> str:
    """Return a program that can read this compiler's profiles, as tried on a small program.

    Raises `NoProfileError` when there is none.
    """
    compiler = about()
    version = compiler["LLVM version"].partition(".")[0]
    trial, raw = WORK / "trial", WORK / "trial-raw"
    shutil.rmtree(raw, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    trial.with_suffix(".rs").write_text("fn main() {}\n", encoding="utf-8")
    rustc(f"-Cprofile-generate={raw}", "-o", str(trial), str(trial.with_suffix(".rs")))
    subprocess.run([trial], check=True)
    tried = []
    for program in candidates(version, compiler["host"]):
        if not (fault := merge(program, raw, WORK / "trial.profdata")):
            return program
        tried.append(f"\n  {program}: {fault.splitlines()[-1]}")
    raise NoProfileError(
        f"no llvm-profdata reads profiles of LLVM {version}: rustup component add llvm-tools, or on Debian apt install llvm-{version}; "
        f"or name one in LLVM_PROFDATA.{' Tried:' if tried else ''}{''.join(tried)}"
    )


def variables(option: str) -> dict[str, str]:
    """Return the variables of a build with an option of the compiler.

    They concern the processor of this machine alone, since the target of the explorer has no counters.
    """
    name = f"CARGO_TARGET_{host().upper().replace('-', '_')}_RUSTFLAGS"
    if "RUSTFLAGS" in os.environ:  # cargo would then ignore the variable of a target
        os.environ[name] = os.environ.pop("RUSTFLAGS")
    return {name: f"{os.environ.get(name, '')} {option}".strip()}


def counting() -> dict[str, str]:
    """Return the variables of the build with counters."""
    return variables(f"-Cprofile-generate={RAW}")


def guided(program: str, python: Path) -> dict[str, str]:
    """Run the engine with counters of an environment; return the variables of the build that their profile guides."""
    shutil.rmtree(RAW, ignore_errors=True)
    examples = [["run", path] for path in sorted((ROOT / "examples").glob("*.toml"))]
    for command in [*examples, *(["study", "run", *study, "--jobs", "1"] for study in STUDIES)]:
        print("counting:", *command, flush=True)
        environment = {**os.environ, "PYTHONPATH": "", "LLVM_PROFILE_FILE": f"{RAW}/%m.profraw"}
        subprocess.run(
            [python, "-m", "cellyard", *command], cwd=WORK, env=environment, stdout=subprocess.DEVNULL, check=True
        )
    if fault := merge(program, RAW, PROFILE):
        raise NoProfileError(f"{program}: {fault}")
    return variables(f"-Cprofile-use={PROFILE}")
