"""Intervals and comparisons: they know per-item statistics and `Metric.rates`, and nothing else."""
