"""Runs to be made: jobs, batches on threads, clusters, and what probes record meanwhile."""
