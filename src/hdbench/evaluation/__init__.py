"""Scoring answers against a benchmark, and what to know before believing the figures."""
