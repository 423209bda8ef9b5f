"""Intervals and comparisons: they know per-item statistics and `Metric.rates`, nothing else."""
