"""Statistics of replications: quantiles and ranges, intervals, tests and the law of Student."""
