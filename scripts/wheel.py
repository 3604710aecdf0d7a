"""Build the wheel and the source distribution, and try both as a user would: `make wheel`.

Both are written to `dist`. The wheel is for the machine that builds it and CPython 3.11 or newer
(abi3): on Linux with glibc 2.17 or newer (manylinux2014), for which Zig links it, and on macOS for
both of its processors.

A profile of Cellyard's runs guides the compiler, which takes one more build (scripts/pgo.py). With
`--plain`, or if no llvm-profdata reads the profiles, there is none. A profile changes no result.

A second wheel is built from the source distribution alone, without a profile. Each wheel is
installed with all optional packages in a new environment, without Rust on the PATH, and follows the
front page (scripts/tour.py). Both must give the same results.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

import pgo

sys.path.insert(0, str(Path(__file__).parent / "backend"))

import paths

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
TOOLS = ROOT / ".venv/wheel-tools"
#: What builds the wheel, pinned by hash.
PINS = ROOT / "scripts/wheel-tools.txt"

#: Options of maturin.
OPTIONS = {"linux": "--zig --compatibility manylinux2014", "darwin": "--target universal2-apple-darwin"}
#: Folder of programs in an environment, and folders of the system that are on the PATH next to it.
PROGRAMS, SYSTEM = ("Scripts", [r"C:\Windows\System32"]) if os.name == "nt" else ("bin", ["/usr/bin", "/bin"])
#: Files that a wheel must have; the first two are below its folder of metadata.
IN_WHEEL = (
    "licenses/LICENSE",
    "licenses/THIRD-PARTY-LICENSES.txt",
    "cellyard/schemas/scenario.schema.json",
    "cellyard/explorer/engine.wasm",
)
IN_SOURCES = (
    "README.md",
    "Cargo.lock",
    "THIRD-PARTY-LICENSES.txt",
    "crates/engine/src/lib.rs",
    "python/cellyard/py.typed",
    "python/cellyard/explorer/engine.wasm",
    "scripts/backend/cellyard_backend.py",
)


def run(*command: str | Path, folder: Path = ROOT, **variables: str) -> None:
    """Run a command; exits if it fails."""
    print("$", *command, flush=True)
    if subprocess.run([str(word) for word in command], cwd=folder, env={**os.environ, **variables}).returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")


def environment(folder: Path) -> Path:
    """Make a new environment, and return its folder of programs."""
    venv.create(folder, with_pip=True, clear=True)
    return folder / PROGRAMS


def tools() -> Path:
    """Return the folder of the programs that build and check wheels, which are installed if they are not yet."""
    stamp = TOOLS / "installed"
    if not stamp.exists() or stamp.read_text() != PINS.read_text():
        python = environment(TOOLS) / "python"
        # Dependencies are listed as well; some are of other systems.
        pinned = ["--no-deps", "--require-hashes", "--requirement", PINS]
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pinned)
        stamp.write_text(PINS.read_text())
    return TOOLS / PROGRAMS


def build(
    programs: Path, sources: Path, out: Path, options: str = OPTIONS.get(sys.platform, ""), **variables: str
) -> Path:
    """Build the wheel of these sources, which are a folder or an archive, and return it."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    variables |= {"CARGO_TARGET_DIR": str(ROOT / "target/wheel"), "MATURIN_PEP517_ARGS": options}
    pip = [programs / "python", "-m", "pip", "--disable-pip-version-check", "--verbose"]
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", out, sources, PATH=path, **variables)
    (wheel,) = out.glob("*.whl")
    return wheel


def guided(programs: Path) -> dict[str, str]:
    """Return the variables of a build that a profile guides; none if no profile can be made."""
    try:
        program = pgo.profdata()
        with tempfile.TemporaryDirectory(prefix="cellyard-counting-") as made:
            # Zig cannot link the counters. It makes cargo build for a named target, so this build names it too.
            options = f"--target {pgo.host()}" if sys.platform == "linux" else OPTIONS.get(sys.platform, "")
            wheel = build(programs, ROOT, Path(made), options, **pgo.counting())
            python = environment(Path(made) / "venv") / "python"
            run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, folder=Path(made))
            return pgo.guided(program, python)
    except pgo.NoProfileError as error:
        print(f"the wheel is built without a profile: {error}", flush=True)
        return {}


def complete(archive: Path) -> None:
    """Check what an archive contains; exits with what is missing, or names a folder of this machine."""
    if archive.suffix == ".whl":
        wanted = IN_WHEEL
        with zipfile.ZipFile(archive) as packed:
            names = packed.namelist()
            folders = [f"{folder}{os.sep}".encode() for folder in paths.prefixes()]
            naming = [name for name in names if any(folder in packed.read(name) for folder in folders)]
        if naming:
            sys.exit(f"{archive.name} names folders of this machine in {', '.join(naming)}")
    else:
        wanted = IN_SOURCES
        with tarfile.open(archive) as carried:
            names = carried.getnames()
    if missing := [name for name in wanted if not any(f"/{one}".endswith(f"/{name}") for one in names)]:
        sys.exit(f"{archive.name} lacks {', '.join(missing)}")


def toured(wheel: Path) -> str:
    """Install a wheel with all optional packages and follow the front page; return the digests of its results."""
    with tempfile.TemporaryDirectory(prefix="cellyard-wheel-") as made:
        programs, digests = environment(Path(made) / "venv"), Path(made) / "digests"
        plain = {"PATH": os.pathsep.join([str(programs), *SYSTEM]), "PYTHONPATH": ""}
        # Only wheels, so that no compiler is used, even if the system has one.
        options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
        what = f"cellyard[all] @ {wheel.as_uri()}"
        run(programs / "python", "-m", "pip", "install", *options, what, folder=Path(made), **plain)
        tour = ROOT / "scripts/tour.py"
        run(programs / "python", tour, "--digests", digests, folder=Path(made), **plain)
        return digests.read_text(encoding="utf-8")


def from_sources(programs: Path, sources: Path) -> str:
    """Build and try the wheel of a source distribution; return the digests of its results."""
    with tempfile.TemporaryDirectory(prefix="cellyard-sources-") as made:
        wheel = build(programs, sources, Path(made))
        complete(wheel)
        return toured(wheel)


def main() -> None:
    """Build, check and try."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--wheel-only", action="store_true", help="make no source distribution")
    options.add_argument("--plain", action="store_true", help="use no profile, which saves a build")
    options.add_argument("--digests", type=Path, metavar="FILE", help="write the digests of all examples to this file")
    asked = options.parse_args()
    programs = tools()
    shutil.rmtree(DIST, ignore_errors=True)
    wheel = build(programs, ROOT, DIST, **({} if asked.plain else guided(programs)))
    complete(wheel)
    if not asked.wheel_only:
        run(shutil.which("maturin", path=str(programs)) or "maturin", "sdist", "--out", DIST)
        (sources,) = DIST.glob("*.tar.gz")
        paths.clean_sdist(sources)
        run(programs / "python", "-m", "twine", "check", "--strict", *DIST.iterdir())
    digests = toured(wheel)
    for sources in DIST.glob("*.tar.gz"):
        complete(sources)
        if from_sources(programs, sources) != digests:
            sys.exit("the wheel of the source distribution gives other results")
    if asked.digests:
        asked.digests.write_text(digests, encoding="utf-8")
    print("built and tried:", *(path.relative_to(ROOT) for path in DIST.iterdir()))


if __name__ == "__main__":
    main()
