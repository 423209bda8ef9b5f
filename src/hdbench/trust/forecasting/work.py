"""The work of checking values: looks, edits and keystrokes, and how long they take."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from hdbench.answers.letters import folded
from hdbench.errors import HdbenchError

KEYSTROKES_PER_MINUTE = 214.0
"""0.28 s per key: an average typist at 40 words per minute; see `PACE_SOURCE`."""

SECONDS_PER_LOOK = 2.7
"""Twice 1.35 s of mental preparation, to find a value on the image and to compare it; see
`PACE_SOURCE`. That these two are enough is our assumption: reading faded handwriting takes longer,
and looking at values that are empty on both sides less."""

PACE_SOURCE = (
    "Card, Moran and Newell, The keystroke-level model for user performance time with interactive "
    "systems, Communications of the ACM 23(7), 1980"
)
"""Source of both."""


Number = TypeVar("Number", float, NDArray[np.float64])


class Pace(NamedTuple):
    """Pace of a person: an assumption, to be replaced by measurements.

    Attributes:
        keystrokes_per_minute: how fast a person types.
        seconds_per_look: how long it takes to compare a value with its image.
    """

    keystrokes_per_minute: float = KEYSTROKES_PER_MINUTE
    seconds_per_look: float = SECONDS_PER_LOOK

    def hours(self, looks: Number, keystrokes: Number) -> Number:
        """Return the hours that a person takes.

        Args:
            looks: how many values are looked at: a number or an array.
            keystrokes: how many keys are pressed to correct them.

        Example:
            >>> Pace(60, 2.0).hours(looks=900, keystrokes=1800)
            1.0
        """
        return looks * self.seconds_per_look / 3600 + keystrokes / self.keystrokes_per_minute / 60


DEFAULT_PACE = Pace()


MOST = 1_000_000
"""The highest pace and wage: anything above is a typing error."""


def check_amount(option: str, value: float, least: int = 0) -> None:
    """Refuse a pace or a wage that cannot be meant.

    Raises:
        HdbenchError: it is below `least`, or above `MOST`.
    """
    if not least <= value <= MOST:
        raise HdbenchError(
            "{option} {value}: must be from {least} to {most:,}",
            option=option,
            value=f"{value:g}",
            least=least,
            most=MOST,
        )


class Work(NamedTuple):
    """The work of checking some values.

    Attributes:
        looks: the number of values.
        edits: how many of them differ from the truth to the letter.
        keystrokes: the least number of letters to insert, remove or replace in them.
    """

    looks: int
    edits: int
    keystrokes: int


def keystrokes(value: str, truth: str) -> int:
    """Return the Levenshtein distance of two texts in which only letters count; see `folded`.

    It is 0 exactly if the value is right to the letter. Moving between fields is not included.

    Example:
        >>> keystrokes("Diss. 1961, 744", "diss. 1961, 745"), keystrokes("", "Basel")
        (1, 5)
    """
    return Levenshtein.distance(folded(value), folded(truth))


def work(pairs: Iterable[tuple[str, str]]) -> Work:
    """Return the work of checking values.

    Args:
        pairs: each value with its truth, as texts.

    Example:
        >>> work([("Basel", "Basel"), ("1924", "1942"), ("", "8°")])
        Work(looks=3, edits=2, keystrokes=4)
    """
    distances = [keystrokes(value, truth) for value, truth in pairs]
    return Work(len(distances), sum(distance > 0 for distance in distances), sum(distances))
