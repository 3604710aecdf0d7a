"""The licences of the crates that a wheel contains."""

from __future__ import annotations

import re
import tomllib

from conftest import ROOT

TEXT = (ROOT / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8")


def test_the_licences_of_crates_are_in_what_is_packed_and_of_the_locked_versions() -> None:
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license-files"]
    assert packed == ["LICENSE", "THIRD-PARTY-LICENSES.txt"]
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    known = {(one["name"], one["version"].partition("+")[0]) for one in locked}
    head, *parts = re.split(r"^=+\n", TEXT, flags=re.M)
    listed = set(re.findall(r"^(\S+) ([\d.]+): \S", head, re.M))
    assert {"serde", "pyo3", "numpy", "toml", "libm"} <= {name for name, _ in listed} and listed <= known
    of_texts = {tuple(one.split(" ")) for part in parts for one in part.partition("\n")[0].split(", ")}
    assert of_texts == listed
