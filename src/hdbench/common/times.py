"""How long something takes, as people say it."""

from hdbench.common.translation import translated
from hdbench.errors import Message

SHORT_HOURS = 1.5
"""Number of hours up to which a time is said in minutes."""

_MANY_HOURS = 10
"""Number of hours from which their tenths do not matter."""


def time_message(hours: float) -> Message:
    """Return a time in minutes or hours, with as many digits as say something.

    Example:
        >>> [str(time_message(hours)) for hours in (0.001, 0.2, 1.66, 1234.5)]
        ['1 minute', '12 minutes', '1.7 hours', '1,234 hours']
    """
    if hours < SHORT_HOURS:
        minutes = max(1, round(60 * hours))
        return Message("1 minute", plural="{count} minutes", count=minutes)
    if hours < _MANY_HOURS:
        return Message("{hours:,.1f} hours", hours=hours)
    return Message("{hours:,.0f} hours", hours=hours)


def time_in_words(hours: float, language: str) -> str:
    """Return a time as `time_message` does, in a language."""
    return translated(time_message(hours), language)
