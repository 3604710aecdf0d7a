"""Statistics of replications: quantiles and ranges, intervals, tests, and Student's law."""
