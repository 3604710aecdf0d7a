"""Build the engine with profile-guided optimisation: `make pgo` or `make pgo-wheel`.

`make pgo` builds for `.venv`, and `make pgo-wheel` a wheel in `dist`. The engine is built with
counters, runs examples and rows of studies, and is rebuilt with the resulting profile. Results do
not change.

The plain build stays the default, as this takes two builds and the runs between. It also needs an
llvm-profdata that can read the profiles of this compiler.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "target/pgo"
PROFILE = WORK / "cellyard.profdata"

#: Rows of studies that are profiled besides the examples.
STUDIES = (
    ["ubr-plus", "--table", "2-3", "--where", "sources=5"],
    ["guaranteed-rate", "--where", "configuration=lan", "--where", "sources=5"],
)


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a command, with additional variables."""
    return {**os.environ, **more}


def rustc(*options: str) -> str:
    """Return the output of the compiler."""
    return subprocess.run(["rustc", *options], cwd=ROOT, check=True, capture_output=True, text=True).stdout


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

    Ends the command with a message when there is none.
    """
    about = dict(re.findall(r"(.+): (.+)", rustc("-vV")))
    version = about["LLVM version"].partition(".")[0]
    trial, raw = WORK / "trial", WORK / "trial-raw"
    shutil.rmtree(raw, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    trial.with_suffix(".rs").write_text("fn main() {}\n", encoding="utf-8")
    rustc(f"-Cprofile-generate={raw}", "-o", str(trial), str(trial.with_suffix(".rs")))
    subprocess.run([trial], check=True)
    tried = []
    for program in candidates(version, about["host"]):
        if not (fault := merge(program, raw, WORK / "trial.profdata")):
            return program
        tried.append(f"\n  {program}: {fault.splitlines()[-1]}")
    sys.exit(
        f"no llvm-profdata reads profiles of LLVM {version}: rustup component add llvm-tools, or on Debian apt install llvm-{version}; "
        f"or name one in LLVM_PROFDATA.{' Tried:' if tried else ''}{''.join(tried)}"
    )


def train(library: Path, raw: Path) -> None:
    """Run the training load with the instrumented engine."""
    package = WORK / "python/cellyard"
    shutil.rmtree(package.parent, ignore_errors=True)
    package.mkdir(parents=True)
    for part in (ROOT / "python/cellyard").iterdir():
        if part.suffix != ".so":
            (package / part.name).symlink_to(part)
    shutil.copy(library, package / "_engine.abi3.so")
    shutil.rmtree(raw, ignore_errors=True)
    examples = [["run", path] for path in sorted((ROOT / "examples").glob("*.toml"))]
    for command in [*examples, *(["study", "run", *study, "--jobs", "1"] for study in STUDIES)]:
        print("counting:", *command)
        subprocess.run(
            [sys.executable, "-m", "cellyard", *command],
            env=environment(PYTHONPATH=str(package.parent), LLVM_PROFILE_FILE=f"{raw}/%m.profraw"),
            stdout=subprocess.DEVNULL,
            check=True,
        )


def main() -> None:
    """Count, merge the counts, and build."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--wheel", action="store_true", help="make a wheel in dist instead of the engine of .venv")
    options.add_argument("--profile", action="store_true", help="make the profile alone")
    arguments = options.parse_args()
    program, raw = profdata(), WORK / "raw"
    flags = os.environ.get("RUSTFLAGS", "")
    build = ["cargo", "build", "--quiet", "--release", "--package", "cellyard-python"]
    # Counters are inserted before optimisation across crates.
    counting = environment(
        RUSTFLAGS=f"{flags} -Cprofile-generate={raw}".strip(),
        CARGO_TARGET_DIR=str(WORK / "counting"),
        CARGO_PROFILE_RELEASE_LTO="off",
    )
    subprocess.run(build, cwd=ROOT, env=counting, check=True)
    train(next((WORK / "counting/release").glob("lib_engine.*[!d]")), raw)
    if fault := merge(program, raw, PROFILE):
        sys.exit(f"{program}: {fault}")
    if arguments.profile:
        return
    guided = environment(
        RUSTFLAGS=f"{flags} -Cprofile-use={PROFILE}".strip(),
        CARGO_TARGET_DIR=str(WORK / "guided"),
        PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    )
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    pip_options = ["--no-deps", "--no-build-isolation"]
    last = (
        [*pip, "wheel", *pip_options, "--wheel-dir", "dist", "."]
        if arguments.wheel
        else [*pip, "install", *pip_options, "--editable", "."]
    )
    subprocess.run(last, cwd=ROOT, env=guided, check=True)


if __name__ == "__main__":
    main()
