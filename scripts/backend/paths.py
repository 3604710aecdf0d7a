"""Mend what maturin packs: no path of the building machine in code and lists, and links that an index can follow."""

import base64
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import front_page

ROOT = Path(__file__).resolve().parents[2]


def prefixes() -> dict[str, str]:
    """Return folders that the compiler would name in messages of panics, and what it names instead."""
    home = Path.home()
    cargo = Path(os.environ.get("CARGO_HOME") or home / ".cargo")
    # The last prefix that fits counts. The home of a system user may be the root of all files.
    folders = {home: "home", cargo: "cargo", ROOT: "cellyard"}
    return {str(folder): name for folder, name in folders.items() if folder != Path(folder.anchor)}


def variables(*targets: str) -> dict[str, str]:
    """Return the variables of cargo that keep these folders out of code for the targets.

    Each target has its own variable, which other flags may be in. `RUSTFLAGS` would hide it.
    """
    # Cargo splits these variables at spaces.
    flags = [f"--remap-path-prefix={old}={new}" for old, new in prefixes().items() if " " not in old]
    common = next((name for name in ("CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS") if name in os.environ), None)
    names = [common] if common else [f"CARGO_TARGET_{name.upper().replace('-', '_')}_RUSTFLAGS" for name in targets]
    between = "\x1f" if common == "CARGO_ENCODED_RUSTFLAGS" else " "
    return {name: between.join([*filter(None, [os.environ.get(name)]), *flags]) for name in names}


@contextmanager
def hidden() -> Iterator[None]:
    """Set the variables for the engine of this machine, which maturin builds, for a while."""
    asked = subprocess.run(["rustc", "--print", "host-tuple"], cwd=ROOT, capture_output=True, text=True)
    apple = ["aarch64-apple-darwin", "x86_64-apple-darwin"] if sys.platform == "darwin" else []
    before = dict(os.environ)
    os.environ.update(variables(*dict.fromkeys([*asked.stdout.split(), *apple])))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def clean(wheel: Path) -> None:
    """Replace the folder of the sources in a wheel's list of crates, and relative links in its metadata.

    The wheel's RECORD gets the new digests.
    """
    with zipfile.ZipFile(wheel) as packed:
        files = [(info, packed.read(info)) for info in packed.infolist()]
    digests: dict[str, str] = {}
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for info, content in files:
            name = info.filename
            if name.endswith(".dist-info/RECORD"):
                lines = [digests.get(line.partition(",")[0], line) for line in content.decode().splitlines()]
                content = "".join(f"{line}\n" for line in lines).encode()
            elif name.endswith((".cyclonedx.json", ".dist-info/METADATA")):
                content = content.replace(ROOT.as_uri().encode(), b"file:///cellyard")
                if name.endswith("METADATA"):
                    content = front_page.for_index(content.decode()).encode()
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                digests[name] = f"{name},sha256={digest},{len(content)}"
            packed.writestr(info, content)


def clean_sdist(archive: Path) -> None:
    """Replace relative links in the metadata of a source distribution; its README.md keeps them."""
    with tarfile.open(archive) as packed:
        files = [(info, reader.read()) for info in packed if (reader := packed.extractfile(info))]
    unpacked = io.BytesIO()
    with tarfile.open(fileobj=unpacked, mode="w") as packed:
        for info, content in files:
            if info.name.count("/") == 1 and info.name.endswith("/PKG-INFO"):
                content = front_page.for_index(content.decode()).encode()
                info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    archive.write_bytes(gzip.compress(unpacked.getvalue(), mtime=0))
