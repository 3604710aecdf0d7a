"""The page that compares all mechanisms is complete."""

from __future__ import annotations

import json
import sys
from importlib import import_module

import pytest
from cellyard import _engine
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

#: Mechanisms that are not on the page. Without minimum rates `erica-mcr` equals `erica` to the bit, and a program is
#: whatever its text says.
LEFT_OUT = {"erica-mcr", "program"}


@pytest.mark.parametrize("family", ["drop", "feedback"])
def test_every_policy_and_feedback_is_compared(family: str) -> None:
    pytest.importorskip("matplotlib")
    (known,) = (found for found in json.loads(_engine.registry())["families"] if found["name"] == family)
    used = [getattr(mechanism, family) for mechanism in import_module("mechanisms").MECHANISMS]
    shown = {
        component if isinstance(component, str) else next(iter(component.TAG.values()))
        for component in used
        if component is not None
    }
    assert shown == {component["name"] for component in known["components"]} - LEFT_OUT
