"""Values that are nearly the same as others: slips of the pen or the keyboard."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

MAX_COMPARED = 20_000_000
"""Maximum number of comparisons of a field's values; they take seconds."""

_SHORT, _LONG = 5, 9
"""Values shorter than the first must match but for case and blanks; from the second on, two edits
are allowed."""

_DIGITS = re.compile(r"\d+")


class _Forms:
    """Values of one length: their forms, and their positions among all."""

    def __init__(self) -> None:
        self.forms: list[str] = []
        self.positions: list[int] = []


_NONE = _Forms()


def near_values(once: Sequence[str], frequent: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the values that differ by a slip from a frequent one, each with the nearest of these.

    A slip is an edit (a character left out, added, replaced, or two swapped), two in nine
    characters or more, none in fewer than five; case and blanks never count. Digits must be the
    same: `Band 1` is not a slip for `Band 2`.

    Args:
        once: the values that may have slips.
        frequent: the values that they may be meant for, the first of which wins among equals.

    Example:
        >>> list(near_values(["Stuttgrat", "Bern"], ["Stuttgart", "Berlin"]))
        [('Stuttgrat', 'Stuttgart')]
    """
    by_length: dict[tuple[int, tuple[str, ...]], _Forms] = defaultdict(_Forms)
    for position, value in enumerate(frequent):
        form = _form(value)
        same_form = by_length[len(form), _digits(form)]
        same_form.forms.append(form)
        same_form.positions.append(position)
    budget = MAX_COMPARED
    for value in once:
        form = _form(value)
        most, digits = edits(len(form)), _digits(form)
        best: tuple[int, int] | None = None
        for length in range(len(form) - most, len(form) + most + 1):
            same_form = by_length.get((length, digits), _NONE)
            budget -= len(same_form.forms)
            if budget < 0:
                return
            # The shorter one decides how many edits are a slip.
            match = process.extractOne(
                form, same_form.forms, scorer=OSA.distance, score_cutoff=min(most, edits(length))
            )
            if match is not None:
                candidate = (int(match[1]), same_form.positions[match[2]])
                best = min(best or candidate, candidate)
        if best is not None:
            yield value, frequent[best[1]]


def edits(length: int) -> int:
    """Return the maximum number of edits that are a slip in a text of some length."""
    return (length >= _SHORT) + (length >= _LONG)


def _form(value: str) -> str:
    return " ".join(unicodedata.normalize("NFC", value).casefold().split())


def _digits(form: str) -> tuple[str, ...]:
    return tuple(_DIGITS.findall(form))
