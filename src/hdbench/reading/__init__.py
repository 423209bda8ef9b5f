"""Reading answers as models and people really write them."""

READING = 2
"""The version of the reading rules; raise it when a change may read another record, or none, from
the same file. Like a metric's `rules`, it is in every signature, and the changelog says what each
version changed for the recorded runs."""

READ_AS = ("strict", "reread", "as_given")
"""The options for reading a file of answers, which can change its score."""
