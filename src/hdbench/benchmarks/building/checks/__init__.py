"""Checks of a benchmark's folder in the plain form, which find every problem at once."""
