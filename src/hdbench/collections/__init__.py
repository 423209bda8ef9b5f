"""Collections of one's own: ground truths, runs, what is accepted, and finished records."""
