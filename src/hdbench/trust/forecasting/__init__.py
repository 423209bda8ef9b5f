"""Forecast for a whole collection: work and money, for each model and for the rule."""
