"""Phrases that several notes share."""

from __future__ import annotations

#: Reason for a missing efficiency.
UNSTATED = 'the scenario states no measure.max_goodput, as a rate or as "fair shares" of the links'
#: Advice that makes efficiencies comparable.
CURE = 'measure.max_goodput = "fair shares" makes it relative to the sum at each point'

#: Why all TCPs of a replication may deliver nothing, and advice.
IN_STEP = (
    "those that begin within ensemble.start_jitter of each other may meet again in one buffer with each timeout, "
    "and a longer one draws them apart"
)
