"""Compile the engine for WebAssembly, which the explorer loads: `make explorer`.

The result is `python/cellyard/explorer/engine.wasm`. The compiler of this project is used if it has
the target, or if rustup can fetch it. Debian's compiler comes second: its target has another name
for the standard library, which is compiled as well. Only Python's own modules are needed.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import paths

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "python/cellyard/explorer/engine.wasm"
#: Is not in a source distribution, which contains the compiled engine instead.
CRATE = ROOT / "crates/wasm"
TARGET = "wasm32-unknown-unknown"
#: Programs and sources of Debian, all of which are needed there.
DEBIAN = ("/usr/bin/cargo", "/usr/bin/wasm-ld-19", "/usr/lib/rustlib/src/rust/library/std/Cargo.toml")
#: Longest time in seconds in which rustup fetches the target, 20 MB.
FETCH = 300


class CannotBuildError(Exception):
    """The engine cannot be compiled here; the message says what is missing."""


def has_target() -> bool:
    """Return whether the first compiler on the PATH has the standard library of the target."""
    if not shutil.which("cargo"):
        return False
    try:
        asked = subprocess.run(
            ["rustc", "--print", "target-libdir", "--target", TARGET], cwd=ROOT, capture_output=True, text=True
        )
    except OSError:
        return False
    return asked.returncode == 0 and Path(asked.stdout.strip()).is_dir()


def fetch_target() -> None:
    """Let rustup add the target to its compiler, if there is a rustup and it can."""
    if rustup := shutil.which("rustup"):
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([rustup, "target", "add", TARGET], cwd=ROOT, capture_output=True, timeout=FETCH)


def build() -> None:
    """Compile the engine; raises `CannotBuildError`."""
    command, environment = ["cargo"], {**os.environ, **paths.variables(TARGET)}
    if not has_target():
        fetch_target()
    if not has_target():
        if not all(Path(needed).exists() for needed in DEBIAN):
            raise CannotBuildError(
                f"there is no compiler for {TARGET}; run `rustup target add {TARGET}`, "
                "or on Debian `apt install rustc-web cargo-web rust-web-src lld-19`"
            )
        # -Z is for nightly compilers, unless RUSTC_BOOTSTRAP is set.
        command = ["/usr/bin/cargo", "-Z", "build-std=std,panic_abort"]
        command += ["--config", f"target.{TARGET}.linker='wasm-ld-19'"]
        environment |= {"PATH": "/usr/bin:/bin", "RUSTC": "/usr/bin/rustc", "RUSTC_BOOTSTRAP": "1"}
    folder = Path(environment.get("CARGO_TARGET_DIR") or ROOT / "target")
    what = ["--locked", "--profile", "explorer", "--package", "cellyard-wasm", "--target", TARGET]
    if subprocess.run(
        [*command, "build", "--quiet", "--target-dir", folder, *what], cwd=ROOT, env=environment
    ).returncode:
        ENGINE.unlink(missing_ok=True)
        raise CannotBuildError(f"{command[0]} cannot compile it for {TARGET}")
    shutil.copyfile(ROOT / folder / TARGET / "explorer/cellyard_wasm.wasm", ENGINE)


def build_if_possible() -> None:
    """Compile the engine where its sources are; where this is impossible, print what is missing."""
    if not CRATE.exists():
        return
    try:
        build()
    except CannotBuildError as error:
        print(f"the explorer's engine is not built: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        build()
    except CannotBuildError as error:
        sys.exit(f"the explorer's engine is not built: {error}")
