"""What a run is expected to take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

TICKS_PER_SECOND = 25_272_000_000_000


def outline(canonical: str) -> dict[str, Any]:
    """What a scenario in canonical JSON amounts to in all, and its VCs by the ways they take; it does not grow with VCs that are alike."""
    from cellyard import _engine

    facts: dict[str, Any] = json.loads(_engine.outline(canonical))
    return facts


def seconds(facts: Mapping[str, Any]) -> float:
    """Expected CPU time of a run."""
    return float(facts["expected"]["cpu_s"])
