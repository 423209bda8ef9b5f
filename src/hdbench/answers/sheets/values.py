"""Kinds of cells in a column, and the values that a record has for them."""

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from hdbench.answers.cells import (
    BOOLEANS,
    MISSING,
    boolean_of,
    integer_of,
    json_list,
    number_of,
    text_of,
)
from hdbench.answers.sheets.fields import Kind
from hdbench.answers.sheets.words import meanings
from hdbench.errors import Message

BLANK = frozenset({"", "-", "–", "—", "n/a", "n. a.", "k. a.", "k.a."}) | {
    word.casefold() for word in MISSING
}
"""Contents of a cell without a value, case-folded: `k. A.` is German for `n/a`."""

SEPARATORS = ("|", ";", "\n", " / ")
"""Separators of the texts in a list, the surest first."""

MIN_ROWS = 2
"""Minimum number of rows in which a separator makes a column a list."""

MAX_PART = 60
"""Maximum number of characters in the parts of a list divided by semicolons."""

YEARS = range(1000, 2101)

PERSONS = frozenset({"author", "editor", "last_name", "receiver", "sender"})
"""The meanings of fields in which a comma is within a name."""

_INTEGER = re.compile(r"-?[1-9][0-9]{0,14}|0")
_NUMBER = re.compile(r"-?(?:[1-9][0-9]{0,14}|0)(?:\.[0-9]{1,15})?")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY = re.compile(r"([0-9]{1,2})\. ?([0-9]{1,2})\. ?([0-9]{4})")
_SPELLINGS = {"ja": True, "yes": True, "oui": True, "sì": True, "si": True} | {
    "nein": False,
    "no": False,
    "non": False,
}


class CellKind(NamedTuple):
    """Kind of the cells of a column.

    Attributes:
        kind: which of the kinds they all have.
        separator: what divides the texts of a list.
        why: the reason, for a person to check.
    """

    kind: Kind
    separator: str | None
    why: str


def is_blank(cell: str) -> bool:
    """Return whether a cell, without white space around it, has no value.

    Example:
        >>> [is_blank(cell) for cell in ["", "-", "N/A", "0", "s. a."]]
        [True, True, True, False, False]
    """
    return len(cell) <= 5 and cell.casefold() in BLANK  # noqa: PLR2004  the longest


def kind_of(cells: Sequence[str]) -> CellKind:
    """Return what the cells of a column are, none of them blank.

    A number must be written as JSON writes it, so that no leading or last zero is lost; a date as
    `1912-09-17`. Anything else is text, as it stands.

    Example:
        >>> kind_of(["1912", "1913"])
        CellKind(kind='integer', separator=None, why='whole numbers')
        >>> kind_of(["1912", "17.9.1912", "1913"]).why
        "text, as '17.9.1912' is no plain whole number"
        >>> kind_of(["Müller | Ott", "Sutter", "Ott | Wyss"])
        CellKind(kind='list', separator='|', why="lists, divided by '|' in 2 cells")
    """
    distinct = list(dict.fromkeys(cells))
    if not distinct:
        return CellKind("text", None, Message("empty"))
    tests: list[tuple[Kind, Callable[[str], bool], Message]] = [
        ("boolean", lambda cell: cell.casefold() in BOOLEANS, Message("true or false")),
        ("integer", is_integer, Message("whole numbers")),
        ("number", _is_number, Message("numbers")),
        ("date", _is_iso_date, Message("dates")),
    ]
    for kind, test, why in tests:
        if all(map(test, distinct)):
            return CellKind(kind, None, why)
    listed = sum(json_list(cell) is not None for cell in distinct)
    if listed:
        why = Message("lists in JSON in {count:,} cells", count=listed)
        return CellKind("list", separator_of(cells), why)
    separator = separator_of(cells)
    if separator:
        count = sum(separator in cell for cell in cells)
        why = Message(
            "lists, divided by {separator!r} in {count:,} cells", separator=separator, count=count
        )
        return CellKind("list", separator, why)
    odd = odd_ones(cells)
    why = Message("text")
    if odd:
        why = Message("text, as {odd!r} is no plain whole number", odd=odd[0][:40])
    return CellKind("text", None, why)


def is_integer(cell: str) -> bool:
    """Return whether a cell is a whole number without leading zeros."""
    return _INTEGER.fullmatch(cell) is not None


def is_year(cell: str) -> bool:
    """Return whether a cell is a year of four digits."""
    return len(cell) == 4 and is_integer(cell) and int(cell) in YEARS  # noqa: PLR2004


def is_date(cell: str) -> bool:
    """Return whether a cell is a date such as `1912-09-17` or `17.9.1912`."""
    return _is_iso_date(date_of(cell))


def odd_ones(cells: Sequence[str]) -> list[str]:
    """Return the cells that are not whole numbers, if most of the others are."""
    odd = [cell for cell in cells if not is_integer(cell)]
    return odd if 2 * len(odd) < len(cells) else []


def separator_of(cells: Iterable[str]) -> str | None:
    """Return the separator of a list: `|`, or semicolons between short texts, in several rows.

    A semicolon must be in one cell of five, since texts have some too.
    """
    cells = _not_json(cells)
    if sum("|" in cell for cell in cells) >= MIN_ROWS:
        return "|"
    divided = [cell.split(";") for cell in cells if ";" in cell]
    is_list = len(divided) >= max(MIN_ROWS, len(cells) / 5) and all(
        0 < len(part.strip()) <= MAX_PART for parts in divided for part in parts
    )
    return ";" if is_list else None


def any_separator(cells: Iterable[str]) -> str | None:
    """Return the separator in a field that is known to be a list: the surest that occurs."""
    cells = _not_json(cells)
    return next((sign for sign in SEPARATORS if any(sign in cell for cell in cells)), None)


def list_separator(name: str, cells: Iterable[str]) -> str | None:
    """Return what divides the texts in a field that is known to be a list.

    Titles and other long texts have semicolons and slashes of their own: only `|` divides them.

    Args:
        name: the field's path.
        cells: the cells of its column.

    Example:
        >>> list_separator("subjects[]", ["Ehe; Lied"]), list_separator("title[]", ["Ehe; Lied"])
        (';', None)
    """
    if _has_long_texts(name):
        return "|" if any("|" in cell for cell in _not_json(cells)) else None
    return any_separator(cells)


def note_undivided(
    place: str, title: str, name: str, cells: Iterable[str], separator: str | None
) -> list[str]:
    """Return a note on the cells of a list that may be several values and were taken for one.

    Commas are between the parts of a person's name, and titles have signs of their own.

    Args:
        place: what messages call the table.
        title: the column's heading.
        name: the path of the field, which is a list.
        cells: the cells of the column.
        separator: what divides the texts of the list.

    Example:
        >>> print(*note_undivided("a.csv", "Tags", "tags[]", ["Ehe, Lied", "Ehe; Lied"], ";"))
        a.csv: Tags: cells of a list read as one value: 1, the first is 'Ehe, Lied' (if it is \
several, divide all lists by ';' only)
    """
    if _has_long_texts(name):
        return []
    signs = SEPARATORS if PERSONS & set(meanings(name)) else (*SEPARATORS, ",")
    undivided = [
        cell
        for cell in _not_json(cells)
        if not (separator and separator in cell) and any(sign in cell for sign in signs)
    ]
    if not undivided:
        return []
    return [
        Message(
            "{place}: {column}: cells of a list read as one value: {count:,}, the first is "
            "{first!r} (if it is several, divide all lists by {separator!r} only)",
            place=place,
            column=title,
            count=len(undivided),
            first=undivided[0][:40],
            separator=separator or "|",
        )
    ]


def _has_long_texts(name: str) -> bool:
    return bool({"text", "title", "abstract"} & set(meanings(name)[-1:]))


def _not_json(cells: Iterable[str]) -> list[str]:
    return [cell for cell in cells if json_list(cell) is None]


def value_of(cell: str, kind: Kind, separator: str | None) -> Any:
    """Return the value of a cell that is not blank; its text, if it is not of that kind.

    Example:
        >>> value_of("1912", "integer", None), value_of("17.9.1912", "integer", None)
        (1912, '17.9.1912')
        >>> value_of("17.9.1912", "date", None), value_of("Ott | Wyss", "list", "|")
        ('1912-09-17', ['Ott', 'Wyss'])
    """
    if kind == "text":
        return cell
    if kind == "integer":
        return integer_of(cell)
    if kind == "number":
        return number_of(cell)
    if kind == "date":
        return date_of(cell)
    if kind == "boolean":
        return _SPELLINGS.get(cell.casefold(), boolean_of(cell))
    return parts_of(cell, separator)


def is_of(value: Any, kind: Kind) -> bool:
    """Return whether a value is of a kind, and not the text of a cell that is not."""
    if kind == "date":
        return _is_iso_date(value)
    return kind in ("text", "list") or not isinstance(value, str)


def parts_of(cell: str, separator: str | None) -> list[Any]:
    """Return the texts in a cell that are not blank, or the values of a JSON list."""
    listed = json_list(cell)
    if listed is not None:
        return listed
    parts = [part.strip() for part in cell.split(separator)] if separator else [cell]
    return [part for part in parts if not is_blank(part)]


def date_of(cell: str) -> str:
    """Return a date in ISO form, also from `17.9.1912`; other text as it is."""
    match = _DAY.fullmatch(cell)
    if match:
        day, month, year = map(int, match.groups())
        with suppress(ValueError):
            return datetime.date(year, month, day).isoformat()
    return cell


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None and (
        is_integer(cell) or text_of(float(cell)) == cell
    )


def _is_iso_date(cell: str) -> bool:
    if not _ISO.fullmatch(cell):
        return False
    try:
        datetime.date.fromisoformat(cell)
    except ValueError:
        return False
    return True
