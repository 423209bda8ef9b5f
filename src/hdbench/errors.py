"""The one exception that callers show to a person."""


class HdbenchError(ValueError):
    """Something a person can put right: one line that says where, what, and what to do."""
