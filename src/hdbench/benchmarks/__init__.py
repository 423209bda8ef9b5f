"""Benchmarks: what a dataset repository says about itself, and its items."""
