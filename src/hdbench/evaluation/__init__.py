"""Scoring answers against a benchmark, and what has to be known before the figures are believed."""
