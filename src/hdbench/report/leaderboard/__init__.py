"""Leaderboards: runs of one kind ranked, what changes under other rules, and their formats."""
