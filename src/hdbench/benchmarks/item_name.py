"""What a benchmark calls its items in sentences: card, letter, page."""

from typing import Annotated

from pydantic import StringConstraints

from hdbench.common.checked import Strict

Word = Annotated[
    str, StringConstraints(pattern=r"^[^\W\d_]([\w' -]*[^\W_])?$", max_length=40, strict=True)
]
"""A word or a few: letters first, and nothing that means something in a page or a terminal."""


class ItemName(Strict):
    """What an item is called.

    Attributes:
        en: one and several in English, as in `per card` and `263 cards`.
        de: the same in German, as in `je Brief` and `von 57 Briefen`; `Eintrag` without it.
    """

    en: tuple[Word, Word]
    de: tuple[Word, Word] | None = None
