"""The package can be installed with everything that the documentation uses."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from conftest import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_all_is_every_other_extra_for_users() -> None:
    extras: dict[str, list[str]] = dict(PROJECT["optional-dependencies"])
    every = extras.pop("all")
    del extras["dev"]
    assert sorted(every) == sorted(one for extra in extras.values() for one in extra)


def test_a_hint_about_a_missing_package_names_one_of_an_extra() -> None:
    listed = {re.split(r"[<>=]", one)[0] for one in PROJECT["optional-dependencies"]["all"]}
    hints = set()
    for path in sorted((ROOT / "python/cellyard").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"cellyard\[[a-z]", text), path
        hints |= set(re.findall(r"pip install ([\w-]+)", text))
    assert hints == {"distributed", "matplotlib", "optuna", "scipy"} <= listed
