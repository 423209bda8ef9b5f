"""Forecast for an entire collection: work and money, for each model and for the rule."""
