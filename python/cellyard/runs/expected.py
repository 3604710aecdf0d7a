"""Predicted cost of a run: the engine's share, and that of the process around it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cellyard.show.text import rough_time

#: CPU seconds of a `run` outside the engine: to start Python, for each VC and link to read, check
#: and print, to load numpy for probes, and to write a capture of 100 MB. Measured on one core.
START_SECONDS = 0.11
VC_SECONDS = 22e-6
LINK_SECONDS = 12e-6
ARRAY_SECONDS = 0.15
CAPTURE_SECONDS = 0.2

#: CPU seconds of ``--out``: in any case, per run, and for each VC, link and recorded point of a run.
OUT_SECONDS = 0.05
OUT_RUN_SECONDS = 0.6e-3
OUT_VC_SECONDS = 55e-6
OUT_LINK_SECONDS = 24e-6
OUT_POINT_SECONDS = 0.7e-6

#: Number of bottleneck cells that fill a capture of 100 MB.
CAPTURE_CELLS = 4e6

#: Bytes of the process besides those that the engine predicts: Python, each VC and link as text and
#: results, numpy for probes, and the parts of captures until they are on disk.
START_BYTES = 25e6
VC_BYTES = 1000
LINK_BYTES = 1500
ARRAY_BYTES = 18e6
CAPTURE_BYTES = 12e6


def outline(canonical: str) -> dict[str, Any]:
    """Summary of a scenario in canonical JSON, with its VCs grouped by route. VCs that are alike do not increase its size."""
    from cellyard import _engine

    facts: dict[str, Any] = json.loads(_engine.outline(canonical))
    return facts


def seconds(facts: Mapping[str, Any], *, replicated: bool = False) -> float:
    """Predicted CPU time of the engine for a run; ``replicated``: for a replication, whose sources start at random."""
    return float(facts["expected"]["replication_cpu_s" if replicated else "cpu_s"])


def process_seconds(points: Iterable[Mapping[str, Any]], *, replications: int = 1, out: bool = False) -> float:
    """Predicted CPU time outside the engine of a `run` of ``points``; ``out``: with ``--out``.

    Half of the work for VCs and links is done once a point, except what ``--out`` adds.
    """
    total, arrays = START_SECONDS + OUT_SECONDS * out, 0.0
    for facts in points:
        size = VC_SECONDS * facts["vcs"] + LINK_SECONDS * facts["links"]
        total += size * (1 + replications) / 2
        full = min(facts["max_bottleneck_cells"] / CAPTURE_CELLS, 1.0)
        total += replications * facts["probes"]["captures"] * full * CAPTURE_SECONDS
        arrays = ARRAY_SECONDS if facts["probes"]["all"] else arrays
        if out:
            written = OUT_VC_SECONDS * facts["vcs"] + OUT_LINK_SECONDS * facts["links"]
            total += replications * (OUT_RUN_SECONDS + written + OUT_POINT_SECONDS * facts["probes"]["points"])
    return total + arrays


def process_words(points: Sequence[Mapping[str, Any]], *, replications: int = 1) -> str:
    """Predicted CPU time outside the engine in words."""
    plain, out = (rough_time(process_seconds(points, replications=replications, out=out)) for out in (False, True))
    return f"{plain} to read, check and print ({out} with --out)"


def process_bytes(facts: Mapping[str, Any]) -> float:
    """Predicted memory of the process besides what the engine predicts."""
    probes = facts["probes"]
    size = float(VC_BYTES * facts["vcs"] + LINK_BYTES * facts["links"])
    return START_BYTES + size + ARRAY_BYTES * bool(probes["all"]) + CAPTURE_BYTES * bool(probes["captures"])


def memory(engine_bytes: float, other_bytes: float) -> str:
    """Predicted memory in words.

    >>> memory(1.2e6, 25e6)
    'at most about 26 MB of memory, of which 25 MB is the process itself'
    """
    total, own = (f"{size / 1e6:.0f} MB" for size in (engine_bytes + other_bytes, other_bytes))
    return f"at most about {total} of memory, of which {own} is the process itself"
