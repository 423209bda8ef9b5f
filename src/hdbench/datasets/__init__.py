"""Datasets: what a benchmark is made from, and how it is built."""
