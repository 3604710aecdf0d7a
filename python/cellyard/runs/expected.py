"""Predicted cost of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def outline(canonical: str) -> dict[str, Any]:
    """Summary of a scenario in canonical JSON, with its VCs grouped by route. VCs that are alike do not increase its size."""
    from cellyard import _engine

    facts: dict[str, Any] = json.loads(_engine.outline(canonical))
    return facts


def seconds(facts: Mapping[str, Any]) -> float:
    """Predicted CPU time of a run."""
    return float(facts["expected"]["cpu_s"])
