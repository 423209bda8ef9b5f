"""The rows of a table of ground truths, and the one among them that names its columns."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hdbench.answers.bounds import MAX_COLUMNS
from hdbench.answers.cells import NUMBER, Cell, text_of
from hdbench.answers.fields import shown
from hdbench.answers.ids import has_ending
from hdbench.errors import HdbenchError, Message

MAX_TITLE = 200
"""Maximum number of characters in a column's name."""


class TableRow(NamedTuple):
    """A row: where it is, and its cells."""

    place: str
    cells: Sequence[Cell]


def find_header(name: str, rows: list[TableRow]) -> tuple[int, TableRow]:
    """Return the number of rows above the header, and the header.

    Raises:
        HdbenchError: there is none.
    """
    filled = [sum(not is_empty(cell) for cell in row.cells) for row in rows]
    if not any(filled):
        raise HdbenchError(
            "{place}: empty: needs the names of the columns in its first row", place=name
        )
    # A title, merged over all columns, fills one cell.
    several = max(filled) > 1
    above = next(number for number, count in enumerate(filled) if count > several)
    header = rows[above]
    texts = [text for text in texts_of(header) if text]
    if any(has_ending(text) for text in texts) or _are_values(texts):
        raise HdbenchError(
            "{place}: the first row with several cells has values, not names of columns: name "
            "every column in a row above it",
            place=header.place,
        )
    return above, header


def _are_values(texts: list[str]) -> bool:
    """Return whether more than half of a row are numbers, as they are in no header."""
    return 2 * sum(NUMBER.fullmatch(text) is not None for text in texts) > len(texts)


def titles_of(texts: list[str], place: str, notes: list[str]) -> list[str]:
    """Return the names of the columns, each once: `Autor (2)` for a second one, and `column 3`.

    Raises:
        HdbenchError: there are too many.
    """
    if len(texts) > MAX_COLUMNS:
        raise HdbenchError("{place}: more than {most:,} columns", place=place, most=MAX_COLUMNS)
    if any(len(text) > MAX_TITLE for text in texts):
        raise HdbenchError(
            "{place}: a column's name has more than {most:,} characters",
            place=place,
            most=MAX_TITLE,
        )
    taken, seen = set(texts), set[str]()
    counts: Counter[str] = Counter()  # so that each number is tried only once
    names: list[str] = []
    again: list[str] = []
    for number, text in enumerate(texts, start=1):
        title = base = text or f"column {number}"
        while (not text or text in seen) and title in taken:
            counts[base] += 1
            title = f"{base} ({counts[base] + 1})"
        if text in seen:
            again.append(title)
        seen |= {text} - {""}
        taken.add(title)
        names.append(title)
    if again:
        notes.append(
            Message(
                "{place}: columns of the same name are told apart: {names}",
                place=place,
                names=shown(again),
            )
        )
    return names


def texts_of(row: TableRow) -> list[str]:
    """Return the cells as text, without white space around it."""
    return [
        cell.strip() if isinstance(cell, str) else text_of(cell)  # most are texts
        for cell in row.cells
    ]


def is_empty(cell: Cell) -> bool:
    """Return whether a cell has nothing but white space."""
    return isinstance(cell, str) and (not cell or cell.isspace())
