"""Parts of sentences that several notes share."""

from __future__ import annotations

#: Why there is no efficiency.
UNSTATED = 'the scenario states no measure.max_goodput, as a rate or as "fair shares" of the links'
#: What makes efficiencies comparable.
CURE = 'measure.max_goodput = "fair shares" makes it relative to the sum at each point'

#: Why the TCPs of a replication may all deliver nothing, and what helps.
IN_STEP = (
    "those that begin within ensemble.start_jitter of each other may meet again in one buffer with each timeout, "
    "and a longer one draws them apart"
)
