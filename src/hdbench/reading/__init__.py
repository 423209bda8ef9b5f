"""Reading answers as models and people really write them."""

READING = 2
"""The version of how answers are read; raise it when another record, or none, may be read from the
same file. Like a metric's `rules` it is in every signature, and the changelog says what each
version changed on the recorded runs."""

READ_AS = ("strict", "reread", "as_given")
"""The options of reading a file of answers, which can change its score."""
