"""Rows of totals, which spreadsheets have below their data."""

from collections.abc import Sequence

from hdbench.answers.cells import column_letter
from hdbench.answers.sheets.words import plain
from hdbench.errors import Message

WORDS = frozenset(
    {"total", "totals", "sum", "summe", "summen", "gesamt", "gesamtsumme", "insgesamt"}
    | {"zwischensumme", "totaux", "somme", "totale", "somma"}
)
"""Words for a total in English, German, French and Italian."""


def is_total(text: str) -> bool:
    """Return whether a cell begins with a word for a total.

    Example:
        >>> [is_total(text) for text in ("Summe:", "TOTAL 1912", "Gesamtausgabe", "")]
        [True, True, False, False]
    """
    return plain(text.partition(" ")[0]) in WORDS


def place_of(place: str, cells: Sequence[str], key: int) -> str:
    """Return the place of a row, with the cell by which it looks like one of totals, if it does.

    Such a row has a word for a total or no id, and otherwise nothing but numbers.

    Args:
        place: the row's place.
        cells: its cells.
        key: the index of the column with ids.

    Example:
        >>> place_of("a.csv:9", ["", "Summe:", "1.212,50 €"], 0)
        "a.csv:9 (column B: 'Summe:', a total?)"
        >>> place_of("a.csv:8", ["0007", "Summe der Theologie", "1912"], 0)
        'a.csv:8'
    """
    if cells[key] and not is_total(cells[key]):
        return place
    words = [index for index, text in enumerate(cells) if is_total(text)]
    others = [index for index, text in enumerate(cells) if text and index not in words]
    if any(map(str.isalpha, "".join(cells[index] for index in others))) or not (words or others):
        return place
    index = (words or others)[0]
    return Message(
        "{place} (column {letter}: {text!r}, a total?)",
        place=place,
        letter=column_letter(index + 1),
        text=cells[index][:40],
    )
