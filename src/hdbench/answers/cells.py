"""The cells of a table, and the values that a record has for them."""

import datetime
import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hdbench.answers.schema import AnswerSchema
from hdbench.common.jsonio import parse_json
from hdbench.errors import Message

Cell = (
    str
    | int
    | float
    | bool
    | datetime.date
    | datetime.datetime
    | datetime.time
    | datetime.timedelta
)

DATES = (datetime.date, datetime.time, datetime.timedelta)

Value = str | int | float | bool | list[Any] | dict[str, Any]

MISSING = frozenset({"#N/A", "#NV"})
"""Texts of cells without a value in spreadsheets, English and German; R writes the first, too."""

FAULTS = frozenset(
    {"#REF!", "#BEZUG!", "#NAME?", "#VALUE!", "#WERT!", "#DIV/0!", "#NUM!", "#ZAHL!", "#NULL!"}
)
"""Texts that a spreadsheet shows where a formula failed."""

INTEGER = re.compile(r"([+-]?[0-9]{1,15})(?:\.|[.,]00?)?")  # 1.000 may be a thousand
NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{0,20})?(?:[eE][+-]?[0-9]{1,2})?")
BOOLEANS = {"true": True, "wahr": True, "false": False, "falsch": False}

_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SIGNS, _DELETE = 0x2400, 0x7F


def text_of(cell: Cell) -> str:
    """Return a cell as text, whole numbers without decimals and dates in ISO form.

    Example:
        >>> text_of(1957.0), text_of(0.1 + 0.2), text_of(datetime.date(1926, 2, 16))
        ('1957', '0.3', '1926-02-16')
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        # A spreadsheet shows no more than 15 digits: 0.3 for the sum of 0.1 and 0.2.
        return str(int(cell)) if cell.is_integer() else format(cell, ".15g")
    if isinstance(cell, datetime.datetime):
        whole_day = cell.time() == datetime.time()
        return cell.date().isoformat() if whole_day else cell.isoformat()
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)


def plain(text: str) -> str:
    r"""Return a text that any table can hold, in the same number of characters.

    Control characters, which XML cannot have, become the symbols that Unicode has for them, or
    U+FFFD; a line break is `\n`. What a spreadsheet shows for a missing value or a failed formula
    (`#N/A`) gets an apostrophe before it, since it could not be read back.

    Example:
        >>> plain("a\r\nb\x00")
        'a\nb␀'
    """
    return "'" + text if text in FAULTS or text in MISSING else visible(text)


def visible(text: str) -> str:
    r"""Return a text that XML can hold: what it cannot is replaced as in `plain`.

    Example:
        >>> visible("#N/A\x07\ud800")
        '#N/A␇\ufffd'
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _NO_TEXT.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return "␡" if code == _DELETE else chr(_SIGNS + code) if code < ord(" ") else "\ufffd"


def column_letter(number: int) -> str:
    """Return the letters that a spreadsheet has for a column, the first of which is 1.

    Example:
        >>> column_letter(1), column_letter(28)
        ('A', 'AB')
    """
    letters = ""
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def integer_of(cell: Cell) -> Value:
    """Return a whole number, also from `1957.0` and `1957,0`; other text as it is."""
    text = text_of(cell)
    matched = INTEGER.fullmatch(text.strip())
    return int(matched[1]) if matched else text


def number_of(cell: Cell) -> Value:
    """Return a number; other text as it is."""
    value = integer_of(cell)
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        return float(value)
    return value


def boolean_of(cell: Cell) -> Value:
    """Return true or false, also as German spreadsheets write them; other text as it is."""
    text = text_of(cell)
    return BOOLEANS.get(text.strip().casefold(), text)


def list_of(cell: Cell, separator: str = "|") -> Value:
    """Return the texts in a cell, without surrounding white space, or the values of a JSON list."""
    listed = json_list(cell)
    if listed is not None:
        return listed
    parts = (part.strip() for part in text_of(cell).split(separator))
    return [part for part in parts if part]


def json_list(cell: Cell) -> list[Any] | None:
    """Return the values of a JSON list of texts or objects; None if a cell is not one.

    `[1912]` stays text, as catalogers put what they inferred in brackets.

    Example:
        >>> json_list('["Ehe; Lied", "Zoo"]'), json_list("[Basel]"), json_list("[1912]")
        (['Ehe; Lied', 'Zoo'], None, None)
    """
    if not (isinstance(cell, str) and cell.startswith("[")):
        return None
    value = structured_of(cell)
    if isinstance(value, list) and all(isinstance(item, str | dict) for item in value):
        return value
    return None


def as_it_stands(cell: Cell) -> Value:
    """Text and numbers as the file has them."""
    if isinstance(cell, bool):
        return cell
    if isinstance(cell, int | float) and math.isfinite(cell):
        return int(cell) if cell == int(cell) else cell
    return text_of(cell)


def structured_of(cell: Cell) -> Value:
    """Return an object or list from its JSON; anything else as it stands.

    Example:
        >>> structured_of('[{"family": "Ott"}]'), structured_of("Ott")
        ([{'family': 'Ott'}], 'Ott')
    """
    if isinstance(cell, str) and cell.startswith(("[", "{")):
        with suppress(ValueError):
            value: Value = parse_json(cell)
            return value
    return as_it_stands(cell)


def converter(schema: AnswerSchema | None, path: tuple[str, ...]) -> Callable[[Cell], Value]:
    """Return how the cells of a field become values of the type that the schema gives it.

    Args:
        schema: what records look like; without it values stay as they are.
        path: the field.
    """
    types = schema.type_of(path) if schema else set()
    if "object" in types:  # no type is given, or none that a cell can have
        return structured_of
    if schema and "array" in types:
        return list_of if "string" in schema.type_of((*path, "[]")) else structured_of
    for name, convert in (
        ("string", text_of),
        ("integer", integer_of),
        ("number", number_of),
        ("boolean", boolean_of),
    ):
        if name in types:
            # A number may be written without decimals.
            return number_of if name == "integer" and "number" in types else convert
    return as_it_stands


class OddCells:
    """Odd cells of a table, to be reported: each kind, their number, and the first."""

    def __init__(self) -> None:
        self._first_by_kind: dict[str, tuple[int, str]] = {}

    def add(self, kind: str, place: Callable[[], str]) -> None:
        """Count a cell of a kind; its place is only asked for if it is the first."""
        count, first = self._first_by_kind.get(kind) or (0, place())
        self._first_by_kind[kind] = count + 1, first

    def notes(self, name: str) -> list[str]:
        """Return one line for each kind.

        Args:
            name: what messages call the table.
        """
        return [
            Message(
                "{place}: {kind}: {count:,}, the first is {first}",
                place=name,
                kind=kind,
                count=count,
                first=first,
            )
            for kind, (count, first) in self._first_by_kind.items()
        ]
