"""Execution of runs: jobs, batches on threads, clusters, and data that probes record meanwhile."""
