"""Which items of a benchmark a run has: a run records it in English, readers see it translated."""

import re
from itertools import zip_longest

from hdbench.errors import Message

NAMED = "{count} named ids"
FIRST = "the first {count}"
PART = "part {number} of {of}"
STOPPED = "stopped after {count}"
OF_ALL = "of {count} items"

_STEPS = [
    (template, re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[0-9]{1,9})", re.escape(template))))
    for template in (NAMED, FIRST, PART, STOPPED, OF_ALL)
]
_SEPARATOR = re.compile("(; |, (?=of ))")


def subset_in_words(recorded: str) -> str:
    """Return what a run recorded as a message, or as it is where hdbench would not write it so.

    Example:
        >>> from hdbench.common.translation import translated
        >>> translated(subset_in_words("the first 20, of 711 items"), "de")
        'die ersten 20, von 711 Einträgen'
        >>> translated(subset_in_words("those with a date"), "de")
        'those with a date'
    """
    pieces = _SEPARATOR.split(recorded)
    steps = {f"step{number}": _message(step) for number, step in enumerate(pieces[::2])}
    if None in steps.values():
        return recorded
    named = zip_longest(steps, pieces[1::2], fillvalue="")
    return Message("".join(f"{{{name}}}{separator}" for name, separator in named), **steps)


def _message(step: str) -> Message | None:
    for template, pattern in _STEPS:
        if match := pattern.fullmatch(step):
            return Message(
                template, **{name: int(text) for name, text in match.groupdict().items()}
            )
    return None
