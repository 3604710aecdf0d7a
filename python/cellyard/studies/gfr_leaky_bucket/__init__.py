"""TCP and UDP over a guaranteed frame rate from leaky buckets (Wu, 1999)."""
