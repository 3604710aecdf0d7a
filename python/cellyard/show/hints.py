"""Phrases that several notes share."""

#: Reason for a missing efficiency.
NO_MAX_GOODPUT = 'the scenario sets no measure.max_goodput (a rate, or "fair shares" of links that keep their rates)'
#: Advice that makes efficiencies comparable.
USE_FAIR_SHARES = 'set measure.max_goodput = "fair shares", so that efficiency is relative to the sum at each point'

#: Why all TCPs of a replication may deliver nothing, and advice.
SYNCHRONISED_TCPS = (
    "TCPs that start within ensemble.start_jitter of each other may overflow the same buffer again at each timeout; "
    "a larger ensemble.start_jitter separates them"
)
