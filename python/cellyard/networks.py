"""Networks made by functions: the public name of `cellyard.scenario.networks`."""

from cellyard.scenario.networks import MOST_HOPS as MOST_HOPS, parking_lot as parking_lot
