"""The licences of the crates that a wheel contains."""

import re
import tomllib

from conftest import ROOT

TEXT = (ROOT / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8")


def test_the_licences_of_the_locked_crates_are_in_the_packages() -> None:
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license-files"]
    assert packed == ["LICENSE", "THIRD-PARTY-LICENSES.txt"]
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    known = {(package["name"], package["version"].partition("+")[0]) for package in locked}
    head, *parts = re.split(r"^=+\n", TEXT, flags=re.M)
    listed = set(re.findall(r"^(\S+) ([\d.]+): \S", head, re.M))
    assert {"serde", "pyo3", "numpy", "toml", "libm"} <= {name for name, _ in listed} and listed <= known
    of_texts = {tuple(name.split(" ")) for part in parts for name in part.partition("\n")[0].split(", ")}
    assert of_texts == listed
