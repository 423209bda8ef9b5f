"""Benchmarks: what a dataset repository says of itself, and its items."""
