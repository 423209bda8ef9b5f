"""Results: the figures of one set of answers, as values and as files."""
